"""Nested tic-tac-toe (also called ultimate): a board of nine boards, where a move says where the next one goes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import ClassVar, NamedTuple, cast

from gem.single_agent import Player
from gem_games.base import box, integers
from gem_games.duel.base import BoardDuel
from gem_games.duel.opponents import MinimaxPlayer, RandomPlayer
from gem_games.duel.search import Position
from gem_games.duel.tic_tac_toe import FULL, HAS_LINE, LINES, MARKS

__all__ = ["NestedTicTacToeEnv", "NestedTicTacToePosition"]

_EMPTY = (0,) * 9
_ORDER = (4, 0, 2, 6, 8, 1, 3, 5, 7)
_LINE_WORTH = (0, 1, 4, 0)  # of a line that only one player has marks on, by their number; three are a win


class NestedTicTacToePosition(NamedTuple):
    """Where a game stands; a bit is a cell or a board, row by row.

    Attributes:
        mine: By board, the marks of the player to move.
        theirs: By board, the other player's.
        my_boards: The boards that the player to move has won.
        their_boards: Those that the other player has won.
        closed: The boards that are won or full.
        target: The board to play in, from 0; -1 is any that is open.
    """

    mine: tuple[int, ...] = _EMPTY
    theirs: tuple[int, ...] = _EMPTY
    my_boards: int = 0
    their_boards: int = 0
    closed: int = 0
    target: int = -1

    @property
    def lost(self) -> bool:
        """Whether the other player has won three boards in a row."""
        return HAS_LINE[self.their_boards]

    def moves(self) -> list[str]:
        """Return the free cells that may be played, as board and cell, both from 1."""
        boards = (self.target,) if self.target >= 0 else _ORDER
        return [
            _MOVES[board][cell]
            for board in boards
            if not self.closed >> board & 1
            for cell in _ORDER
            if not (self.mine[board] | self.theirs[board]) >> cell & 1
        ]

    def after(self, move: str) -> NestedTicTacToePosition:
        """Return the position after marking a cell."""
        board, cell = int(move[0]) - 1, int(move[2]) - 1
        marks = self.mine[board] | 1 << cell
        won = HAS_LINE[marks] << board
        closed = self.closed | won | ((marks | self.theirs[board]) == FULL) << board
        return NestedTicTacToePosition(
            self.theirs,
            (*self.mine[:board], marks, *self.mine[board + 1 :]),
            self.their_boards,
            self.my_boards | won,
            closed,
            -1 if closed >> cell & 1 else cell,
        )

    def estimate(self) -> int:
        """Weigh the lines of boards won, and less so the lines inside the boards that are open."""
        drawn = self.closed & ~(self.my_boards | self.their_boards)
        mine, theirs = self.my_boards, self.their_boards
        total = 20 * (_worth(mine, theirs | drawn) - _worth(theirs, mine | drawn))
        for board in range(9):
            if not self.closed >> board & 1:
                mine, theirs = self.mine[board], self.theirs[board]
                total += _worth(mine, theirs) - _worth(theirs, mine)
        return total


@cache
def _worth(marks: int, others: int) -> int:
    """Weigh the lines of a board that one player can still have."""
    return sum(_LINE_WORTH[(marks & line).bit_count()] for line in LINES if not others & line)


_MOVES = tuple(tuple(f"{board} {cell}" for cell in range(1, 10)) for board in range(1, 10))


class NestedTicTacToeEnv(BoardDuel):
    """Win three boards in a row on a board of nine boards; a move in cell c sends the other player to board c.

    `player_0` places X and moves first, `player_1` places O. A win pays 1, a loss -1, a draw 0; a small board pays
    nothing.

    Args:
        invalid_moves: See `Duel`.
    """

    moves = tuple(move for board in _MOVES for move in board)
    players: ClassVar[Mapping[str, Player]] = {"random": RandomPlayer(), "minimax": MinimaxPlayer(depth=2)}
    start: ClassVar[Position] = NestedTicTacToePosition()
    solver: ClassVar[Player | None] = MinimaxPlayer(depth=3)

    def _rules(self, agent: str) -> str:
        return (
            "Nested tic-tac-toe. Nine boards of three by three make one large board. Both the boards and the cells of "
            "each are numbered 1 to 9, row by row:\n1 2 3\n4 5 6\n7 8 9\nTwo players mark cells in turn; player_0 "
            "places X and moves first, player_1 places O. Three marks in a row, column or diagonal win a board. The "
            "number of the cell just marked is the number of the board that the other player must play in; where that "
            "board is won or full, they may play in any that is open. Who first wins three boards in a row, column or "
            f"diagonal of the large board wins; if no open board is left, the game is a draw. You are {agent}."
        )

    def _board(self, agent: str) -> str:
        marks = {move: MARKS[player] for player, move in self.log}
        lines = []
        for row in range(9):
            parts = []
            for column in range(0, 9, 3):
                moves = _MOVES[row // 3 * 3 + column // 3][row % 3 * 3 : row % 3 * 3 + 3]
                parts.append(" ".join(marks.get(move, ".") for move in moves))
            lines.append(" " + " | ".join(parts))
        lines[3:3] = lines[7:7] = ["-------+-------+-------"]
        return "\n".join([*lines, self._decided(), f"You are {MARKS[agent]}."])

    def _decided(self) -> str:
        position = cast(NestedTicTacToePosition, self.position)
        to_move = len(self.log) % 2
        by_mark = {"XO"[to_move]: position.my_boards, "XO"[1 - to_move]: position.their_boards}
        by_mark = {"X": by_mark["X"], "O": by_mark["O"], "nobody": position.closed & ~(by_mark["X"] | by_mark["O"])}
        parts = [
            f"{mark} {', '.join(str(board + 1) for board in range(9) if boards >> board & 1)}"
            for mark, boards in by_mark.items()
            if boards
        ]
        return f"Boards won: {'; '.join(parts)}." if parts else "No board is won yet."

    def _how(self, agent: str) -> str:
        target = cast(NestedTicTacToePosition, self.position).target
        where = "any open board" if target < 0 else f"board {target + 1}"
        return f"Play in {where}: write board and cell in a box, like {box(self.legal_moves()[0])}."

    def _read(self, text: str) -> str | None:
        numbers = integers(text, 2)
        return f"{numbers[0]} {numbers[1]}" if numbers and all(1 <= number <= 9 for number in numbers) else None
