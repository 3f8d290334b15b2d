"""What gem-math registers with GEM: nothing yet."""

gem_api = 1
