"""Word search: find words in a square of letters."""

from __future__ import annotations

import random
from math import isqrt
from typing import Any

from gem_games.base import Game, box, grid, integers, whole_number
from gem_games.words import words_of_length

__all__ = ["WordSearchEnv"]

_MOST = 20
_LENGTHS = (4, 5, 6, 7, 8)
_TRIES = 40  # per word and square, before a larger square is taken
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"


_Line = tuple[int, int, int, int]
"""Cells in a straight line, as the rows and columns of its two ends: row, column, last row, last column."""


class WordSearchEnv(Game[_Line]):
    """Find listed words in a square of letters.

    A word is found where its letters stand in a straight line, wherever that is: in any of the eight directions, placed
    there or come about by chance, and whether its cells are named from its first letter or from its last. No word
    listed is part of another.

    Progress: the share of the words that are found. A word pays once.

    Args:
        num_words: 1 to 20; None draws 3 to 8 at each reset.
        hardcore: Whether words are rarer, run in all eight directions and hide among their own letters, instead of
            common ones that run across and down among any letters; None draws it at each reset.
        max_turns: The turns allowed; None draws, at each reset, two to four for each word.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds.
    """

    num_words: int
    hardcore: bool

    def __init__(
        self, num_words: int | None = 5, hardcore: bool | None = False, max_turns: int | None = 20, **scoring: Any
    ) -> None:
        super().__init__(**scoring)
        self._keep(
            num_words=whole_number("num_words", num_words, 1, _MOST),
            hardcore=None if hardcore is None else bool(hardcore),
            max_turns=whole_number("max_turns", max_turns, 1),
        )
        words_of_length(_LENGTHS[0])  # reads the lists, so that no reset waits for them
        self._size, self._letters, self._lines = _LENGTHS[-1], "", dict[str, _Line]()
        self._left, self._found = list[str](), list[str]()

    def _draw(self) -> None:
        if "num_words" in self._open:
            self.num_words = self.rng.randint(3, 8)
        if "hardcore" in self._open:
            self.hardcore = self.rng.random() < 0.5
        if "max_turns" in self._open:
            self.max_turns = self.num_words * self.rng.randint(2, 4)

    def _deal(self) -> None:
        words = _draw_words(self.rng, self.num_words, self.hardcore)
        self._size, letters, self._lines = _hide(self.rng, words, self.hardcore)
        self._letters = letters.decode()
        self._shown = bytearray(letters)  # in lower case where a word was found
        self._left = sorted(words)
        self._found = []

    def _rules(self) -> str:
        if self.hardcore:
            ways = "run in any of the eight directions: across, down or diagonally, forwards or backwards"
        else:
            ways = "run from left to right or from top to bottom"
        return (
            f"Word search. {self.num_words} words are hidden in a square of letters. They {ways}, and may cross. Each "
            "turn you name the cells of a word's first and last letter. You win when you have found every word; you "
            f"have {self.max_turns} turns. Rows and columns are numbered from 0."
        )

    def _how(self) -> str:
        return (
            f"Name the row and column of a word's first letter, then of its last: {box('0 1 0 4')} means the four "
            "letters from row 0, column 1 to row 0, column 4."
        )

    def _board(self) -> str:
        left = f"Words to find: {', '.join(self._left)}."
        if not self._found:
            return f"{self._drawn()}\n{left}"
        return f"{self._drawn()}\n{left}\nFound, in lower case above: {', '.join(self._found)}."

    def _drawn(self) -> str:
        text, size = self._shown.decode(), self._size
        return grid([text[start : start + size] for start in range(0, len(text), size)], size)

    def _read(self, text: str) -> _Line | None:
        return integers(text, 4)  # type: ignore[return-value]  # four of them

    def _play(self, move: _Line) -> str:
        row, column, last_row, last_column = move
        size = self._size
        if min(move) < 0 or max(move) >= size:
            return f"There is no such cell: rows and columns go from 0 to {size - 1}."
        down, across = abs(last_row - row), abs(last_column - column)
        if down and across and down != across:
            return "That is not a straight line: a word runs across, down or diagonally."
        first, last = sorted((row * size + column, last_row * size + last_column))
        cells = slice(first, last + 1, (last - first) // (max(down, across) or 1) or 1)
        text = self._letters[cells]
        word = text if text in self._lines else text[::-1]
        if word in self._found:
            return f"You have found {word} already."
        if word not in self._lines:
            read = text if row * size + column == first else word
            return f"{read} stands there, which is not one of the words to find."
        self._left.remove(word)
        self._found.append(word)
        self._shown[cells] = word.lower().encode() if word == text else word[::-1].lower().encode()
        if self._left:
            return f"You found {word}."
        self._won = True
        return f"You found {word}. That is every word: you win!"

    def _progress(self) -> float:
        return len(self._found) / self.num_words

    def _ending(self) -> str:
        if self._won:
            return self._drawn()
        places = "\n".join(
            f"{word}: row {row}, column {column} to row {last_row}, column {last_column}"
            for word, (row, column, last_row, last_column) in sorted(self._lines.items())
            if word not in self._found
        )
        return f"{self._drawn()}\nNot found:\n{places}"

    def sample_random_action(self) -> str:
        """Name any line as long as a word that is left, running as the words do."""
        chance = self.action_rng.random
        length = len(self._left[int(chance() * len(self._left))]) if self._left else _LENGTHS[0]
        return _named(_random_line(self.action_rng, self._size, length, self.hardcore))

    def oracle_action(self) -> str | None:
        """Name the place of the first word left; None when there is none."""
        return _named(self._lines[self._left[0]]) if self._left else None


def _named(line: _Line) -> str:
    return box(" ".join(map(str, line)))


def _draw_words(rng: random.Random, count: int, rare: bool) -> list[str]:
    """Draw different words of which none is part of another, read forwards or backwards."""
    chance, words = rng.random, list[str]()
    while len(words) < count:  # the words drawn rule out few of the thousands there are
        choice = words_of_length(_LENGTHS[int(chance() * len(_LENGTHS))], rare=rare)
        word = choice[int(chance() * len(choice))].upper()
        turned = word[::-1]
        for other in words:
            if word in other or turned in other or other in word or other in turned:
                break
        else:
            words.append(word)
    return words


def _random_line(rng: random.Random, size: int, length: int, any_way: bool) -> _Line:
    """Draw a line of a square: across or down, or any way."""
    chance, room = rng.random, size - length + 1
    way = int(chance() * (8 if any_way else 2))
    start = int(chance() * room)
    end = start + length - 1
    if way < 4:
        other = int(chance() * size)
        if way < 2:
            return (start, other, end, other) if way else (other, start, other, end)
        return (end, other, start, other) if way == 2 else (other, end, other, start)
    left = int(chance() * room)
    right = left + length - 1
    if way < 6:
        return (start, left, end, right) if way == 4 else (start, right, end, left)
    return (end, left, start, right) if way == 6 else (end, right, start, left)


def _hide(rng: random.Random, words: list[str], hardcore: bool) -> tuple[int, bytes, dict[str, _Line]]:
    """Lay words out in a square.

    Returns:
        The side of the square, its letters row by row, and the place of each word.
    """
    pool = "".join(words).encode()
    size = max(isqrt(3 * len(pool)) + 1, max(map(len, words)) + 1)
    ordered = sorted(words, key=len, reverse=True)
    while (placed := _lay(rng, ordered, size, hardcore)) is None:
        size += 1  # a larger square always has room in the end
    letters, lines = placed
    pool = pool if hardcore else _ALPHABET
    between = rng.randbytes(size * size).translate((pool * (256 // len(pool) + 1))[:256])
    return size, bytes([letter or other for letter, other in zip(letters, between, strict=True)]), lines


def _lay(rng: random.Random, words: list[str], size: int, any_way: bool) -> tuple[bytearray, dict[str, _Line]] | None:
    """Place words in a square of empty cells (zeros); None where one finds no room in a fair number of tries."""
    letters, lines = bytearray(size * size), {}
    for word in words:
        forwards = word.encode()
        for _ in range(_TRIES):
            line = _random_line(rng, size, len(word), any_way)
            first, last = line[0] * size + line[1], line[2] * size + line[3]
            text = forwards
            if first > last:
                first, last, text = last, first, forwards[::-1]
            cells = slice(first, last + 1, (last - first) // (len(text) - 1))
            if _fits(letters[cells], text):
                letters[cells] = text
                lines[word] = line
                break
        else:
            return None
    return letters, lines


def _fits(there: bytearray, text: bytes) -> bool:
    """Say whether a text can stand where cells are empty (zeros) or hold letters."""
    if any(there):
        for old, new in zip(there, text):  # noqa: B905  # as long as each other
            if old and old != new:
                return False
    return True
