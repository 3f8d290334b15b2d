"""What gem-rollout registers with GEM: nothing yet."""

gem_api = 1
