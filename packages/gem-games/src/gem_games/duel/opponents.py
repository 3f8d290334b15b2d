"""Who plays the other side: players that know the game (a policy that only reads observations is any callable)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gem_games.base import box
from gem_games.duel.search import best_moves

__all__ = ["MinimaxPlayer", "MixedPlayer", "RandomPlayer"]


@dataclass(frozen=True)
class RandomPlayer:
    """Play any legal move."""

    def choose(self, game: Any, agent: str, rng: random.Random) -> str:
        """Return a legal move of `game`, which is a `Duel`."""
        return box(rng.choice(game.legal_moves()))


@dataclass(frozen=True)
class MinimaxPlayer:
    """Play what minimax finds best, any of the best moves alike.

    It needs a game whose `position` is a `gem_games.duel.search.Position`, so one that hides nothing.

    Attributes:
        depth: How many moves ahead it looks; None looks to the end of the game.
    """

    depth: int | None = None

    def choose(self, game: Any, agent: str, rng: random.Random) -> str:
        """Return a move that is best as far as the depth shows."""
        return box(rng.choice(best_moves(game.position, self.depth)))


@dataclass(frozen=True)
class MixedPlayer:
    """Play moves by chance as a table says, one row for each thing that a player can know.

    Attributes:
        table: What each move's chance is, by what the player knows (`game.known(agent)`).
    """

    table: Mapping[Any, Mapping[str, float]]

    def choose(self, game: Any, agent: str, rng: random.Random) -> str:
        """Draw a move by its chance."""
        row = self.table[game.known(agent)]
        return box(rng.choices(list(row), list(row.values()))[0])
