"""What gem-games registers with GEM."""

gem_api = 1
