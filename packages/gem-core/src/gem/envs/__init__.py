"""Old paths of what makes environments."""
