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

    A digit that its row, column or box already has is refused; any other is entered, right or wrong, and can be changed
    or taken out later. The replies do not tell whether it is right. As rules are never broken, the board that is full
    is the solution.

    Progress: the share of the empty cells that hold their right digit. Taking it out takes its share back.

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
        self._right = 0

    def _rules(self) -> str:
        scale, side = self.scale, side_of(self.scale)
        return (
            f"Sudoku. Fill the board so that each row, each column and each of the {scale} boxes of {side} by {side} "
            f"cells holds every digit from 1 to {scale} once. Each turn you put a digit into a cell; one that its row, "
            "column or box already has is refused. The cells given at the start stay as they are; those that you "
            "filled you can change, or empty with a 0. There is exactly one solution, and you are not told whether a "
            f"digit is part of it. You win when all {self._empty} empty cells are filled; you have {self.max_turns} "
            f"turns. Rows and columns are numbered from 1 to {scale}."
        )

    def _how(self) -> str:
        example = box(f"1 2 {self.scale}")
        return f"Fill a cell, row, column, then digit: {example} puts {self.scale} into row 1, column 2."

    def _board(self) -> str:
        return (
            f"{self._drawn(self._cells)}\n"
            f"A dot is an empty cell, a ' follows a digit that you entered. Empty cells left: {self._left}."
        )

    def _drawn(self, cells: list[str] | str) -> str:
        marked = [now + (" " if now == given else "'") for now, given in zip(cells, self._puzzle, strict=True)]
        return _frame(self.scale).format(*marked)

    def _read(self, text: str) -> tuple[int, int, int] | None:
        return integers(text, 3)  # type: ignore[return-value]  # three of them

    def _play(self, move: tuple[int, int, int]) -> str:
        row, column, number = move
        scale = self.scale
        if not (1 <= row <= scale and 1 <= column <= scale):
            return f"There is no such cell: rows and columns go from 1 to {scale}."
        if not 0 <= number <= scale:
            return f"There is no such digit: they go from 1 to {scale}, and 0 empties a cell that you filled."
        cell = (row - 1) * scale + column - 1
        where = f"row {row}, column {column}"
        if self._puzzle[cell] != ".":
            return f"You cannot change {where}: its {self._puzzle[cell]} was given."
        before, digit = self._cells[cell], str(number or ".")
        if digit == before:
            return f"There is a {digit} in {where} already." if number else f"There is nothing in {where}."
        if number:
            rivals = self._rivals(cell, digit)
            if rivals:
                return f"{digit} cannot go into {where}: there is one in its {' and its '.join(rivals)} already."
        self._cells[cell] = digit
        self._left += (before != ".") - (digit != ".")
        self._right += (digit == self._solution[cell]) - (before == self._solution[cell])
        if self._left:
            return f"You put {digit} into {where}." if number else f"You emptied {where}."
        self._won = True
        return f"You put {digit} into {where}. The board is complete: you win!"

    def _rivals(self, cell: int, digit: str) -> list[str]:
        """Name the units of a cell in which another cell has the digit."""
        cells = self._cells
        return [
            name
            for name, unit in zip(("row", "column", "box"), units_of(self.scale)[cell], strict=True)
            if any(cells[other] == digit and other != cell for other in unit)
        ]

    def _progress(self) -> float:
        return self._right / self._empty

    def _ending(self) -> str:
        return self._drawn(self._cells) if self._won else f"The solution:\n{self._drawn(self._solution)}"

    def sample_random_action(self) -> str:
        """Put any digit that breaks no rule into any empty cell; where none fits, empty a cell."""
        cells, chance = self._cells, self.action_rng.random
        empty = [cell for cell, digit in enumerate(cells) if digit == "."]
        start = int(chance() * len(empty))
        for cell in empty[start:] + empty[:start]:
            seen = {cells[other] for unit in units_of(self.scale)[cell] for other in unit}
            digits = [digit for digit in "123456789"[: self.scale] if digit not in seen]
            if digits:
                return self._entry(cell, digits[int(chance() * len(digits))])
        filled = [cell for cell, digit in enumerate(cells) if digit != self._puzzle[cell]] or [0]
        return self._entry(filled[int(chance() * len(filled))], "0")

    def oracle_action(self) -> str | None:
        """Put right what is wrong, else fill the first empty cell; None when the board is complete."""
        wrong = [cell for cell, digit in enumerate(self._cells) if digit not in (".", self._solution[cell])]
        for cell in wrong:
            if not self._rivals(cell, self._solution[cell]):
                return self._entry(cell, self._solution[cell])
        if wrong:  # each stands in the way of another
            return self._entry(wrong[0], "0")
        return self._entry(self._cells.index("."), self._solution[self._cells.index(".")]) if self._left else None

    def _entry(self, cell: int, digit: str) -> str:
        return box(f"{cell // self.scale + 1} {cell % self.scale + 1} {digit}")


@lru_cache(maxsize=4)
def _frame(scale: int) -> str:
    """Return a board with its numbers, and places for what stands in its cells (two characters each)."""
    side = side_of(scale)

    def row(number: object, cells: list[str], edge: str) -> str:
        boxes = ["".join(cells[start : start + side]) for start in range(0, scale, side)]
        return f"{number}  {edge} " + f"{edge} ".join(boxes) + edge

    line = "   " + ("+" + "-" * (2 * side + 1)) * side + "+"
    lines = [row(" ", [f"{number} " for number in range(1, scale + 1)], " ").rstrip(), line]
    for number in range(1, scale + 1):
        lines.append(row(number, ["{}"] * scale, "|"))
        if number % side == 0:
            lines.append(line)
    return "\n".join(lines)
