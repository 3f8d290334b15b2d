"""What gem-search registers with GEM: nothing yet."""

gem_api = 1
