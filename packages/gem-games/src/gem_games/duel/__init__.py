"""Games of two players; `versus` makes one side of such a game a plain environment."""
