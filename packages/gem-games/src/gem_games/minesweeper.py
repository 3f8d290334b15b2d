"""Minesweeper: open every cell that holds no mine."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gem_games.base import Game, box, grid, integers, whole_number

__all__ = ["MinesweeperEnv"]

_CLOSED, _MINE, _ZERO = ord("."), ord("*"), ord("0")
_LARGEST = 50


class MinesweeperEnv(Game[tuple[int, int]]):
    """Open all cells without a mine; an opened cell shows how many of its neighbours (up to 8) hold one.

    The first cell opened is safe: mines are kept away from it and, where there is room, from its neighbours. A cell
    without neighbouring mines opens its neighbours too. There are no flags: a turn always opens a cell.

    Progress: the share of the safe cells that are open. Opening a mine loses the game and keeps what was earned.

    Args:
        rows: 2 to 50; None draws 5 to 8 at each reset.
        cols: 2 to 50; None draws 5 to 8 at each reset.
        num_mines: 1 to `rows * cols - 1`; None draws a tenth to a fifth of the cells at each reset.
        max_turns: The turns allowed; None draws, at each reset, from the number of safe cells to that of all cells.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds, or the mines leave no safe cell for the first turn.
    """

    rows: int
    cols: int
    num_mines: int

    def __init__(
        self,
        rows: int | None = 8,
        cols: int | None = 8,
        num_mines: int | None = 10,
        max_turns: int | None = 100,
        **scoring: Any,
    ) -> None:
        super().__init__(**scoring)
        rows = whole_number("rows", rows, 2, _LARGEST)
        cols = whole_number("cols", cols, 2, _LARGEST)
        num_mines = whole_number("num_mines", num_mines, 1)
        smallest = (rows or 5) * (cols or 5)
        if num_mines is not None and num_mines >= smallest:
            raise ValueError(
                f"num_mines is at most {smallest - 1} on a board of {smallest} cells, so that the first cell can be "
                f"safe; got {num_mines}."
            )
        max_turns = whole_number("max_turns", max_turns, 1)
        self._keep(rows=rows, cols=cols, num_mines=num_mines, max_turns=max_turns)
        self._deal()

    def _draw(self) -> None:
        if "rows" in self._open:
            self.rows = self.rng.randint(5, 8)
        if "cols" in self._open:
            self.cols = self.rng.randint(5, 8)
        cells = self.rows * self.cols
        if "num_mines" in self._open:
            self.num_mines = self.rng.randint(max(1, cells // 10), max(1, cells // 5))
        if "max_turns" in self._open:
            self.max_turns = self.rng.randint(cells - self.num_mines, cells)

    def _deal(self) -> None:
        cells = self.rows * self.cols
        # Where mines go if they may: enough of them that the first cell and its eight neighbours can be left out.
        self._candidates = tuple(self.rng.sample(range(cells), min(cells, self.num_mines + 9)))
        self._counts = b""  # per cell, the character it shows once open; empty until the first turn places the mines
        self._shown = bytearray(b".") * cells
        self._left = cells - self.num_mines  # safe cells still closed

    def _place_mines(self, first: int) -> None:
        around = _neighbours(self.rows, self.cols)
        near = {first, *around[first]}
        order = [cell for cell in self._candidates if cell not in near]
        order += [cell for cell in self._candidates if cell in near and cell != first]  # only where there is no room
        counts = bytearray(b"0") * len(around)
        mines = order[: self.num_mines]
        for mine in mines:
            for cell in around[mine]:
                counts[cell] += 1
        for mine in mines:
            counts[mine] = _MINE
        self._counts = bytes(counts)

    def _rules(self) -> str:
        return (
            f"Minesweeper. {self.num_mines} of the {self.rows * self.cols} cells of the board hide a mine. Each turn "
            "you open a cell. One with a mine loses the game. Any other shows how many of its up to 8 neighbours, "
            "diagonals included, hold a mine, and where that is 0 they are opened too. The first cell you open is "
            "safe. You win when all cells without a mine are open. Rows and columns are numbered from 0."
        )

    def _how(self) -> str:
        row, column = self.rows - 1, min(1, self.cols - 1)
        return f"Open a safe cell, row then column: {box(f'{row} {column}')} is row {row}, column {column}."

    def _board(self) -> str:
        return (
            f"{self._drawn(self._shown)}\n"
            "A dot is a closed cell, a number counts the mines next to it. "
            f"Mines: {self.num_mines}. Safe cells still closed: {self._left}."
        )

    def _drawn(self, cells: bytes | bytearray) -> str:
        text, cols = cells.decode(), self.cols
        return grid([text[start : start + cols] for start in range(0, len(text), cols)], cols)

    def _read(self, text: str) -> tuple[int, int] | None:
        return integers(text, 2)  # type: ignore[return-value]  # two of them

    def _play(self, move: tuple[int, int]) -> str:
        row, column = move
        if not (0 <= row < self.rows and 0 <= column < self.cols):
            return f"There is no such cell: rows go from 0 to {self.rows - 1}, columns from 0 to {self.cols - 1}."
        cell = row * self.cols + column
        if self._shown[cell] != _CLOSED:
            return f"Row {row}, column {column} is already open."
        if not self._counts:
            self._place_mines(cell)
        if self._counts[cell] == _MINE:
            self._lost = True
            return f"Row {row}, column {column} holds a mine: you lose."
        opened = self._open_from(cell)
        feedback = f"Row {row}, column {column} is safe" + (f"; {opened} cells opened." if opened > 1 else ".")
        if self._left:
            return feedback
        self._won = True
        return f"{feedback} All safe cells are open: you win!"

    def _open_from(self, cell: int) -> int:
        """Open a safe cell, and around each 0 its neighbours; return how many were opened."""
        around, shown, counts = _neighbours(self.rows, self.cols), self._shown, self._counts
        shown[cell] = counts[cell]
        opened, zeros = 1, [cell] if counts[cell] == _ZERO else []
        while zeros:
            for other in around[zeros.pop()]:
                if shown[other] == _CLOSED:
                    shown[other] = counts[other]
                    opened += 1
                    if counts[other] == _ZERO:
                        zeros.append(other)
        self._left -= opened
        return opened

    def _progress(self) -> float:
        return 1.0 - self._left / (len(self._shown) - self.num_mines)

    def _ending(self) -> str:
        return f"The whole board, a * for each mine:\n{self._drawn(self._counts)}" if self._counts else ""

    def sample_random_action(self) -> str:
        """Open any closed cell."""
        closed = [cell for cell, shown in enumerate(self._shown) if shown == _CLOSED] or [0]
        return self._opening(closed[int(self.action_rng.random() * len(closed))])

    def oracle_action(self) -> str | None:
        """Open a closed cell that has no mine, those around which most opens first; None when there is none."""
        if not self._counts:
            return self._opening(len(self._shown) // 2)
        closed = [c for c, shown in enumerate(self._shown) if shown == _CLOSED and self._counts[c] != _MINE]
        return self._opening(min(closed, key=self._counts.__getitem__)) if closed else None

    def _opening(self, cell: int) -> str:
        return box(f"{cell // self.cols} {cell % self.cols}")


@lru_cache(maxsize=64)
def _neighbours(rows: int, cols: int) -> tuple[tuple[int, ...], ...]:
    """Return the up to 8 neighbours of each cell of a board."""
    return tuple(
        tuple(
            r * cols + c
            for r in range(max(0, row - 1), min(rows, row + 2))
            for c in range(max(0, col - 1), min(cols, col + 2))
            if (r, c) != (row, col)
        )
        for row in range(rows)
        for col in range(cols)
    )
