"""What gem-tools registers with GEM: nothing yet."""

gem_api = 1
