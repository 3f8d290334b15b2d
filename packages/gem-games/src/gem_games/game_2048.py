"""2048: slide and join numbered tiles until one shows the target."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gem_games.base import Game, box, direction, whole_number
from gem_games.game_2048_board import DIRECTIONS, HIGHEST, cells, empty_cells, moved, moves
from gem_games.game_2048_solver import choose_move

__all__ = ["Game2048Env"]

_DRAWN_TARGETS = (16, 32, 64)
_ROW = 0xFFFF


class Game2048Env(Game[str]):
    """Slide all tiles of a 4 by 4 board to one side; equal tiles that meet become one of twice the number.

    After each move that changes the board a new tile comes on an empty cell, any with the same chance: a 2 nine times
    of ten, else a 4. A tile sum of about 4.4 + 2.2 t after t moves bounds what can be reached. When no move can change
    the board any more, the game is lost.

    Progress: on a scale of powers of two, how far the largest tile has come from the largest one at the start towards
    the target. It never falls.

    Args:
        target_tile: A power of two from 8 to 32768; None draws 16, 32 or 64 at each reset (of those that `max_turns`,
            where given, suffices for).
        max_turns: The moves allowed; None takes ten and five eighths of `target_tile`, some third more than are needed:
            20 for 16, 50 for 64.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds.
    """

    target_tile: int

    def __init__(self, target_tile: int | None = 256, max_turns: int | None = 200, **scoring: Any) -> None:
        super().__init__(**scoring)
        target_tile = whole_number("target_tile", target_tile, 8, 1 << HIGHEST)
        if target_tile is not None and target_tile.bit_count() != 1:
            raise ValueError(f"target_tile is a power of two, 8 to {1 << HIGHEST}; got {target_tile}.")
        self._keep(target_tile=target_tile, max_turns=whole_number("max_turns", max_turns, 1))
        self._deal()

    def _draw(self) -> None:
        if "target_tile" in self._open:
            limit = None if "max_turns" in self._open else self.max_turns
            fitting = [tile for tile in _DRAWN_TARGETS if limit is None or _turns_for(tile) <= limit]
            self.target_tile = self.rng.choice(fitting or _DRAWN_TARGETS[:1])
        if "max_turns" in self._open:
            self.max_turns = _turns_for(self.target_tile)

    def _deal(self) -> None:
        self._cells = 0
        self._goal = self.target_tile.bit_length() - 1
        self._width = len(str(self.target_tile))
        for _ in range(2):
            self._add_tile()
        self._start = self._largest = max(cells(self._cells))

    def _add_tile(self) -> None:
        """Put a new tile on an empty cell."""
        empty = empty_cells(self._cells)
        shift = empty[int(self.rng.random() * len(empty))]
        self._cells |= (1 if self.rng.random() < 0.9 else 2) << shift

    def _rules(self) -> str:
        return (
            "2048. Each turn you slide all tiles of a 4 by 4 board up, down, left or right, as far as they go. Two "
            "equal tiles that meet become one with their sum; a tile made so joins no other in the same turn. Then a "
            "new tile comes on an empty cell: a 2, or one time in ten a 4. A move that would not change the board is "
            f"not allowed. You win when a tile shows {self.target_tile}, within {self.max_turns} turns; you lose when "
            "no move is left."
        )

    def _how(self) -> str:
        return (
            f"Make a tile of {self.target_tile}. "
            "Slide with \\boxed{up}, \\boxed{down}, \\boxed{left} or \\boxed{right}."
        )

    def _board(self) -> str:
        board, width = self._cells, self._width
        return (
            f"{_drawn_row(board & _ROW, width)}\n{_drawn_row(board >> 16 & _ROW, width)}\n"
            f"{_drawn_row(board >> 32 & _ROW, width)}\n{_drawn_row(board >> 48, width)}"
        )

    def _read(self, text: str) -> str | None:
        return direction(text)

    def _play(self, move: str) -> str:
        after = moved(self._cells, move)
        if after == self._cells:
            return f"Sliding {move} does not change the board, so it is not allowed."
        self._cells = after
        largest = max(cells(after))
        grown = f" The largest tile is now {1 << largest}." if largest > self._largest else ""
        self._largest = largest
        if largest >= self._goal:
            self._won = True
            return f"The tiles slid {move}.{grown} You win!"
        self._add_tile()
        if not empty_cells(self._cells) and not moves(self._cells):
            self._lost = True
            return f"The tiles slid {move}.{grown} No move is left: you lose."
        return f"The tiles slid {move}.{grown}"

    def _progress(self) -> float:
        return (self._largest - self._start) / (self._goal - self._start)

    def _ending(self) -> str:
        return self._board()

    def sample_random_action(self) -> str:
        """Slide in any direction that changes the board."""
        directions = list(DIRECTIONS)
        draw = self.action_rng.random
        while len(directions) > 1:
            move = directions.pop(int(draw() * len(directions)))
            if moved(self._cells, move) != self._cells:
                return box(move)
        return box(directions[0])  # the last one left, or none is legal: the game is over

    def oracle_action(self) -> str | None:
        """Look a move and a new tile ahead, without peeking at where it will come; None where no move is left."""
        move = choose_move(self._cells, self._goal)
        return None if move is None else box(move)


def _turns_for(target: int) -> int:
    return 10 + target * 5 // 8


@lru_cache(maxsize=4096)
def _drawn_row(row: int, width: int) -> str:
    """Draw a row, its cells as wide as the target."""
    tiles = [row >> shift & 15 for shift in (0, 4, 8, 12)]
    return " ".join([f"{1 << tile if tile else '.':>{width}}" for tile in tiles])
