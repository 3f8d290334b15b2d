"""Crosswords: fill a crossword letter by letter from its clues."""

from __future__ import annotations

from typing import Any

from gem_games.base import Game, box, grid, integers, whole_number
from gem_games.crossword_layout import Crossword, bank_of, lay_out

__all__ = ["CrosswordsEnv"]

_MOST = 10
_LONGEST = 9  # letters of a word of the bank
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OPEN, _BLOCK = ord("_"), ord(".")
_COVERED = bytes(_OPEN if chr(code) in _ALPHABET else code for code in range(256))
_NONE = Crossword(1, b".", ())  # before the first reset


class CrosswordsEnv(Game[tuple[int, int, str]]):
    """Fill a crossword, one letter a turn; each word has a clue and crosses another.

    A letter is entered only where it belongs, so that what is filled is right and stays. Any other uses a turn.

    Progress: the share of the cells that are filled. It never falls, and each cell pays once.

    Args:
        num_words: 1 to 10; None draws 2 to 5 at each reset.
        hardcore: Whether words and clues are harder ones; None draws it at each reset.
        max_turns: The turns allowed; None draws, at each reset, 9 to 11 for each word (none has more than 9 letters).
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds.
    """

    num_words: int
    hardcore: bool

    def __init__(
        self, num_words: int | None = 3, hardcore: bool | None = False, max_turns: int | None = 30, **scoring: Any
    ) -> None:
        super().__init__(**scoring)
        self._keep(
            num_words=whole_number("num_words", num_words, 1, _MOST),
            hardcore=None if hardcore is None else bool(hardcore),
            max_turns=whole_number("max_turns", max_turns, 1),
        )
        for level in ("plain", "hard"):
            bank_of(level)  # reads it, so that no reset waits for that
        self._show(_NONE, "")

    def _draw(self) -> None:
        if "num_words" in self._open:
            self.num_words = self.rng.randint(2, 5)
        if "hardcore" in self._open:
            self.hardcore = self.rng.random() < 0.5
        if "max_turns" in self._open:
            self.max_turns = self.num_words * self.rng.randint(_LONGEST, _LONGEST + 2)

    def _deal(self) -> None:
        bank = bank_of("hard" if self.hardcore else "plain")
        crossword = lay_out(self.rng, bank, self.num_words)
        clues = [
            f"{number}. {'down' if down else 'across'} from row {row}, column {column}, {len(word)} letters: "
            f"{bank.clues[word]}."
            for number, (row, column, down, word) in enumerate(crossword.entries, 1)
        ]
        self._show(crossword, "\n".join(clues))

    def _show(self, crossword: Crossword, clues: str) -> None:
        self._width, self._solution, self._entries = crossword
        self._clues = clues
        self._shown = bytearray(self._solution.translate(_COVERED))
        self._left = self._letters = self._shown.count(_OPEN)

    def _rules(self) -> str:
        return (
            f"Crossword. Fill in {self.num_words} words from their clues; they cross, and share a letter where they "
            "do. Each turn you enter one letter. Only right letters are entered: any other leaves the cell open and "
            f"uses the turn. You win when all {self._left} cells are filled; you have {self.max_turns} turns. Rows "
            "and columns are numbered from 0."
        )

    def _how(self) -> str:
        return f"Enter a letter, row, column, then letter: {box('0 1 E')} puts E into row 0, column 1."

    def _board(self) -> str:
        board = self._drawn(self._shown)
        return f"{board}\nAn underscore is an open cell; no letter goes where a dot is.\n{self._clues}"

    def _drawn(self, cells: bytes | bytearray) -> str:
        text, width = cells.decode(), self._width
        return grid([text[start : start + width] for start in range(0, len(text), width)], width)

    def _read(self, text: str) -> tuple[int, int, str] | None:
        text = text.strip(" ()[]")
        letter = text[-1:]
        numbers = integers(text[:-1], 2) if letter.isascii() and letter.isalpha() else None
        return None if numbers is None else (numbers[0], numbers[1], letter.upper())

    def _play(self, move: tuple[int, int, str]) -> str:
        row, column, letter = move
        height, width = len(self._shown) // self._width, self._width
        if not (0 <= row < height and 0 <= column < width):
            return f"There is no such cell: rows go from 0 to {height - 1}, columns from 0 to {width - 1}."
        cell, where = row * width + column, f"row {row}, column {column}"
        shown = self._shown[cell]
        if shown == _BLOCK:
            return f"No letter goes into {where}."
        if shown != _OPEN:
            return f"You cannot change {where}: its {chr(shown)} is right."
        if self._solution[cell] != ord(letter):
            return f"{letter} is not the letter in {where}: it stays open."
        self._shown[cell] = self._solution[cell]
        self._left -= 1
        done = self._completed(row, column)
        if self._left:
            return f"{letter} is right in {where}.{done}"
        self._won = True
        return f"{letter} is right in {where}.{done} That is the whole crossword: you win!"

    def _completed(self, row: int, column: int) -> str:
        """Name the words that the letter just entered completes."""
        text = ""
        for first_row, first_column, down, word in self._entries:
            ahead, aside = (row - first_row, column - first_column)[:: 1 if down else -1]
            if aside == 0 and 0 <= ahead < len(word):
                stride = self._width if down else 1
                first = first_row * self._width + first_column
                if _OPEN not in self._shown[first : first + stride * len(word) : stride]:
                    text += f" That completes {word}."
        return text

    def _progress(self) -> float:
        return 1.0 - self._left / self._letters

    def _ending(self) -> str:
        return self._drawn(self._shown) if self._won else f"The solution:\n{self._drawn(self._solution)}"

    def sample_random_action(self) -> str:
        """Enter any letter into any open cell."""
        chance, shown = self.action_rng.random, self._shown
        cells = [cell for cell, character in enumerate(shown) if character == _OPEN] or [0]
        return self._entering(cells[int(chance() * len(cells))], _ALPHABET[int(chance() * 26)])

    def oracle_action(self) -> str | None:
        """Fill the first open cell; None when there is none."""
        cell = self._shown.find(_OPEN)
        return None if cell < 0 else self._entering(cell, chr(self._solution[cell]))

    def _entering(self, cell: int, letter: str) -> str:
        return box(f"{cell // self._width} {cell % self._width} {letter}")
