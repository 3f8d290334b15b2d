"""Connect four: four in a row on a board where pieces fall to the lowest free cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from gem.single_agent import Player
from gem_games.base import box, integer
from gem_games.duel.base import BoardDuel
from gem_games.duel.opponents import MinimaxPlayer, RandomPlayer
from gem_games.duel.search import Position
from gem_games.duel.tic_tac_toe import MARKS

__all__ = ["COLUMNS", "ROWS", "ConnectFourEnv", "ConnectFourPosition"]

ROWS, COLUMNS = 6, 7

# A column is seven bits from the bottom: six cells and one that stays empty, so that no line runs on into the next.
_HEIGHT = ROWS + 1
_STEPS = (1, _HEIGHT - 1, _HEIGHT, _HEIGHT + 1)  # up, and to the right: down, level, up
_COLUMN = (1 << ROWS) - 1
_BOARD = sum(_COLUMN << column * _HEIGHT for column in range(COLUMNS))
_ORDER = (3, 2, 4, 1, 5, 0, 6)  # more lines cross the middle
_MIDDLE = _COLUMN << 3 * _HEIGHT
_BESIDE = _COLUMN << 2 * _HEIGHT | _COLUMN << 4 * _HEIGHT


class ConnectFourPosition(NamedTuple):
    """Where a game stands, as bits (Tromp's and Pons's board of seven bits a column).

    Attributes:
        mine: The pieces of the player to move.
        theirs: The other player's.
    """

    mine: int = 0
    theirs: int = 0

    @property
    def lost(self) -> bool:
        """Whether the other player has four in a row."""
        for step in _STEPS:
            pairs = self.theirs & self.theirs >> step
            if pairs & pairs >> 2 * step:
                return True
        return False

    def moves(self) -> list[str]:
        """Return the columns with a free cell, from 1."""
        taken = self.mine | self.theirs
        return [str(column + 1) for column in _ORDER if not taken >> (column * _HEIGHT + ROWS - 1) & 1]

    def after(self, move: str) -> ConnectFourPosition:
        """Return the position after a piece has fallen."""
        bottom = 1 << (int(move) - 1) * _HEIGHT
        taken = self.mine | self.theirs
        column = _COLUMN * bottom
        return ConnectFourPosition(self.theirs, self.mine | (taken & column) + bottom)

    def estimate(self) -> int:
        """Count the free cells that would make four, and then the pieces near the middle."""
        free = _BOARD & ~(self.mine | self.theirs)
        mine, theirs = self.mine, self.theirs
        return (
            12 * ((_completing(mine) & free).bit_count() - (_completing(theirs) & free).bit_count())
            + 2 * ((mine & _MIDDLE).bit_count() - (theirs & _MIDDLE).bit_count())
            + (mine & _BESIDE).bit_count()
            - (theirs & _BESIDE).bit_count()
        )


def _completing(pieces: int) -> int:
    """Return the cells that make four in a row with three of the pieces, taken or not."""
    cells = 0
    for step in _STEPS:
        up, down = pieces << step, pieces >> step
        ups, downs = up & pieces << 2 * step, down & pieces >> 2 * step
        cells |= ups & (pieces << 3 * step | down) | downs & (up | pieces >> 3 * step)
    return cells


class ConnectFourEnv(BoardDuel):
    """Be the first to have four pieces in a row.

    `player_0` drops X and moves first, `player_1` drops O. A win pays 1, a loss -1, a draw 0.

    Args:
        invalid_moves: See `Duel`.
    """

    moves = tuple("1234567")
    players: ClassVar[Mapping[str, Player]] = {"random": RandomPlayer(), "minimax": MinimaxPlayer(depth=4)}
    start: ClassVar[Position] = ConnectFourPosition()
    solver: ClassVar[Player | None] = MinimaxPlayer(depth=4)

    def _rules(self, agent: str) -> str:
        return (
            f"Connect four. Two players drop pieces in turn into the {COLUMNS} columns of a board with {ROWS} rows; a "
            "piece falls to the lowest free cell of its column. player_0 drops X and moves first, player_1 drops O. "
            "Who first has four pieces in a row, across, upright or diagonal, wins; a full board without them is a "
            f"draw. You are {agent}."
        )

    def _board(self, agent: str) -> str:
        columns: list[list[str]] = [[] for _ in range(COLUMNS)]
        for player, move in self.log:
            columns[int(move) - 1].append(MARKS[player])
        rows = [" ".join(column[row] if row < len(column) else "." for column in columns) for row in range(ROWS)]
        return "\n".join(["1 2 3 4 5 6 7", *reversed(rows), f"You are {MARKS[agent]}."])

    def _how(self, agent: str) -> str:
        return f"Write the number of a column that is not full in a box, like {box(self.legal_moves()[0])}."

    def _read(self, text: str) -> str | None:
        number = integer(text)
        return str(number) if number is not None and 1 <= number <= COLUMNS else None
