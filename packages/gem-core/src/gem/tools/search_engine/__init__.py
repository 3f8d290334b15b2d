"""Old paths of the search servers, which gem-search has."""
