"""Sudoku: fill a board so that no digit repeats in a row, column or box."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gem_games.base import Game, box, integers, whole_number
from gem_games.sudoku_generator import FEWEST, generate
from gem_games.sudoku_solver import side_of, units_of

__all__ = ["SudokuEnv"]


class SudokuEnv(Game[tuple[int, int, int]]):
    """Fill the empty cells of a board that has one solution.

    A digit is entered only where it belongs, so that a board never goes wrong and filled cells stay as they are. Any
    other uses a turn, and the reply tells which it was: one that a row, column or box already has, or one that breaks
    no rule and is just not the solution's.

    Progress: the share of the empty cells that are filled. It never falls, and each cell pays once.

    Args:
        scale: The number of rows, of columns and of digits: 4 or 9; None draws one of them at each reset.
        clues: The number of givens: 4 to 15 where `scale` is 4, 17 to 80 where it is 9. None draws 5 to 9 or 30 to 50
            at each reset.
        max_turns: The turns allowed; None draws, at each reset, up to a quarter more than there are empty cells.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds, or no puzzle with one solution has that many givens.
    """

    scale: int
    clues: int

    def __init__(
        self, scale: int | None = 9, clues: int | None = 36, max_turns: int | None = 60, **scoring: Any
    ) -> None:
        super().__init__(**scoring)
        scale = whole_number("scale", scale, 4, 9)
        if scale is not None and scale not in FEWEST:
            raise ValueError(f"scale is 4 or 9; got {scale!r}.")
        clues = whole_number("clues", clues, 1)
        self._scales = tuple(
            each for each in FEWEST if scale in (None, each) and (clues is None or FEWEST[each] <= clues < each**2)
        )
        if not self._scales:
            legal = " or ".join(
                f"{least} to {each**2 - 1} where scale is {each}"
                for each, least in FEWEST.items()
                if scale in (None, each)
            )
            raise ValueError(
                f"clues is the number of givens, {legal} (with fewer no puzzle has a single solution, with more none "
                f"is left to fill); got {clues!r}."
            )
        self._keep(scale=scale, clues=clues, max_turns=whole_number("max_turns", max_turns, 1))
        self._show("." * self.scale**2, "." * self.scale**2)

    def _draw(self) -> None:
        if "scale" in self._open:
            self.scale = self.rng.choice(self._scales)
        if "clues" in self._open:
            self.clues = self.rng.randint(5, 9) if self.scale == 4 else self.rng.randint(30, 50)
        if "max_turns" in self._open:
            empty = self.scale**2 - self.clues
            self.max_turns = empty + self.rng.randint(0, max(2, empty // 4))

    def _deal(self) -> None:
        self._show(*generate(self.rng, self.scale, self.clues))

    def _show(self, puzzle: str, solution: str) -> None:
        self._cells = list(puzzle)
        self._puzzle, self._solution = puzzle, solution
        self._left = self._empty = puzzle.count(".")

    def _rules(self) -> str:
        scale, side = self.scale, side_of(self.scale)
        return (
            f"Sudoku. Fill the board so that each row, each column and each of the {scale} boxes of {side} by {side} "
            f"cells holds every digit from 1 to {scale} once. Each turn you put a digit into an empty cell. The "
            "puzzle has exactly one solution, and only its digits are entered: any other leaves the cell empty and "
            f"uses the turn. You win when all {self._empty} empty cells are filled; you have {self.max_turns} turns. "
            f"Rows and columns are numbered from 1 to {scale}."
        )

    def _how(self) -> str:
        example = box(f"1 2 {self.scale}")
        return f"Fill an empty cell, row, column, then digit: {example} puts {self.scale} into row 1, column 2."

    def _board(self) -> str:
        return f"{self._drawn(self._cells)}\nA dot is an empty cell. Empty cells left: {self._left}."

    def _drawn(self, cells: list[str] | str) -> str:
        return _frame(self.scale).format(*cells)

    def _read(self, text: str) -> tuple[int, int, int] | None:
        return integers(text, 3)  # type: ignore[return-value]  # three of them

    def _play(self, move: tuple[int, int, int]) -> str:
        row, column, digit = move
        scale = self.scale
        if not (1 <= row <= scale and 1 <= column <= scale):
            return f"There is no such cell: rows and columns go from 1 to {scale}."
        if not 1 <= digit <= scale:
            return f"There is no such digit: they go from 1 to {scale}."
        cell = (row - 1) * scale + column - 1
        where = f"row {row}, column {column}"
        if self._puzzle[cell] != ".":
            return f"You cannot change {where}: its {self._puzzle[cell]} was given."
        if self._cells[cell] != ".":
            return f"You cannot change {where}: its {self._cells[cell]} is right."
        character = str(digit)
        if character != self._solution[cell]:
            rivals = [
                name
                for name, unit in zip(("row", "column", "box"), units_of(scale)[cell], strict=True)
                if any(self._cells[other] == character for other in unit)
            ]
            if rivals:
                return f"{digit} cannot go into {where}: there is one in its {' and its '.join(rivals)} already."
            return f"{digit} breaks no rule in {where}, but the solution has another digit there: it stays empty."
        self._cells[cell] = character
        self._left -= 1
        if self._left:
            return f"{digit} is right in {where}."
        self._won = True
        return f"{digit} is right in {where}. The board is complete: you win!"

    def _progress(self) -> float:
        return 1.0 - self._left / self._empty

    def _ending(self) -> str:
        return self._drawn(self._cells) if self._won else f"The solution:\n{self._drawn(self._solution)}"

    def sample_random_action(self) -> str:
        """Put any digit that breaks no rule into any empty cell."""
        cells, scale = self._cells, self.scale
        empty = [cell for cell, character in enumerate(cells) if character == "."] or [0]
        cell = empty[int(self.action_rng.random() * len(empty))]
        seen = {cells[other] for unit in units_of(scale)[cell] for other in unit}
        digits = [digit for digit in "123456789"[:scale] if digit not in seen] or ["1"]
        return self._entry(cell, digits[int(self.action_rng.random() * len(digits))])

    def oracle_action(self) -> str | None:
        """Fill the first empty cell; None when there is none."""
        cell = next((cell for cell, character in enumerate(self._cells) if character == "."), None)
        return None if cell is None else self._entry(cell, self._solution[cell])

    def _entry(self, cell: int, digit: str) -> str:
        return box(f"{cell // self.scale + 1} {cell % self.scale + 1} {digit}")


@lru_cache(maxsize=4)
def _frame(scale: int) -> str:
    """Return a board with places for its cells and with the numbers of rows and columns, as a format string."""
    side = side_of(scale)

    def row(number: object, cells: list[str], edge: str) -> str:
        boxes = [" ".join(cells[start : start + side]) for start in range(0, scale, side)]
        return f"{number}  {edge} " + f" {edge} ".join(boxes) + f" {edge}"

    line = "   " + ("+" + "-" * (2 * side + 1)) * side + "+"
    lines = [row(" ", [str(number) for number in range(1, scale + 1)], " ").rstrip(), line]
    for number in range(1, scale + 1):
        lines.append(row(number, ["{}"] * scale, "|"))
        if number % side == 0:
            lines.append(line)
    return "\n".join(lines)
