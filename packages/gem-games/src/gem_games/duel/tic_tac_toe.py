"""Tic-tac-toe: three in a row on a board of three by three."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from gem.single_agent import Player
from gem_games.base import box, integer
from gem_games.duel.base import AGENTS, BoardDuel
from gem_games.duel.opponents import MinimaxPlayer, RandomPlayer
from gem_games.duel.search import Position

__all__ = ["LINES", "MARKS", "TicTacToeEnv", "TicTacToePosition"]

MARKS = dict(zip(AGENTS, "XO", strict=True))
LINES = tuple(
    sum(1 << cell for cell in cells)
    for cells in ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
)
"""The rows, columns and diagonals of a board, as bits of its cells."""

FULL = (1 << 9) - 1
HAS_LINE = tuple(any(marks & line == line for line in LINES) for marks in range(FULL + 1))
"""Whether marks have a line, by their bits."""

_ORDER = (4, 0, 2, 6, 8, 1, 3, 5, 7)  # the centre and the corners lie on more lines


class TicTacToePosition(NamedTuple):
    """Where a game stands; a bit is a cell, row by row.

    Attributes:
        mine: The marks of the player to move.
        theirs: The other player's.
    """

    mine: int = 0
    theirs: int = 0

    @property
    def lost(self) -> bool:
        """Whether the other player has three in a row."""
        return HAS_LINE[self.theirs]

    def moves(self) -> list[str]:
        """Return the free cells, from 1."""
        taken = self.mine | self.theirs
        return [str(cell + 1) for cell in _ORDER if not taken >> cell & 1]

    def after(self, move: str) -> TicTacToePosition:
        """Return the position after marking a cell."""
        return TicTacToePosition(self.theirs, self.mine | 1 << (int(move) - 1))

    def estimate(self) -> int:
        """Count the lines still open to either side."""
        return sum((not self.theirs & line) - (not self.mine & line) for line in LINES)


class TicTacToeEnv(BoardDuel):
    """Be the first to have three marks in a row.

    `player_0` places X and moves first, `player_1` places O. A win pays 1, a loss -1, a draw 0.

    Args:
        invalid_moves: See `Duel`.
    """

    moves = tuple("123456789")
    players: ClassVar[Mapping[str, Player]] = {"random": RandomPlayer(), "minimax": MinimaxPlayer()}
    start: ClassVar[Position] = TicTacToePosition()
    solver: ClassVar[Player | None] = MinimaxPlayer()

    def _rules(self, agent: str) -> str:
        return (
            "Tic-tac-toe. Two players mark the cells of a board of three by three in turn; player_0 places X and moves "
            "first, player_1 places O. Who first has three marks in a row, column or diagonal wins; a full board "
            f"without them is a draw. You are {agent}."
        )

    def _board(self, agent: str) -> str:
        marks = {move: MARKS[player] for player, move in self.log}
        cells = [marks.get(cell, cell) for cell in self.moves]
        rows = [" " + " | ".join(cells[row : row + 3]) for row in (0, 3, 6)]
        return "\n---+---+---\n".join(rows) + f"\nYou are {MARKS[agent]}; a number is a free cell."

    def _how(self, agent: str) -> str:
        return f"Write the number of a free cell in a box, like {box(self.legal_moves()[0])}."

    def _read(self, text: str) -> str | None:
        number = integer(text)
        return str(number) if number is not None and 1 <= number <= 9 else None
