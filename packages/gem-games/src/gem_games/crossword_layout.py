"""Lay crosswords out: words from a bank of clues, each crossing one that is there already."""

from __future__ import annotations

import random
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["Bank", "Crossword", "Entry", "bank_of", "lay_out"]

_ACROSS, _DOWN = 1, 256  # steps on the sheet that words are laid out on, far from its edges
_START = 128 * _DOWN + 128
_TRIES = 100  # to find a place for a word, before the crossword is begun anew


class Bank(NamedTuple):
    """Words and their clues; words are in capitals."""

    words: tuple[str, ...]
    clues: dict[str, str]
    having: dict[str, tuple[tuple[str, int], ...]]
    """By letter, the words that have it, and where."""


class Entry(NamedTuple):
    """A word in a crossword: where it starts, and whether it runs down or across."""

    row: int
    column: int
    down: bool
    word: str


class Crossword(NamedTuple):
    """A crossword with its solution."""

    width: int
    cells: bytes
    """Letters row by row, a dot for a cell without one."""
    entries: tuple[Entry, ...]
    """In reading order."""


@lru_cache(maxsize=2)
def bank_of(level: str) -> Bank:
    """Return the bank of a level, "plain" or "hard", from the package's file of clues: level, word and clue a line."""
    text = files("gem_games").joinpath("crossword_clues.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines()]
    clues = {word.upper(): clue for its_level, word, clue in lines if its_level == level}
    letters = sorted(set("".join(clues)))
    having = {
        letter: tuple((word, place) for word in clues for place, its in enumerate(word) if its == letter)
        for letter in letters
    }
    return Bank(tuple(clues), clues, having)


def lay_out(rng: random.Random, bank: Bank, count: int) -> Crossword:
    """Draw a crossword.

    Words meet only where they cross: side by side or end to end they would make words that have no clue.

    Args:
        rng: Where all chance comes from.
        bank: The words.
        count: How many to take, 1 to 10.

    Returns:
        A crossword of `count` different words, each of which crosses another (where there is more than one).
    """
    while True:  # hardly ever twice: every cell of a single word is a place to cross it
        placed = _placed(rng, bank, count)
        if placed is not None:
            return _framed(placed)


def _placed(rng: random.Random, bank: Bank, count: int) -> dict[str, tuple[int, int]] | None:
    """Place words on the sheet; return where each starts and its step, or None where one finds no place."""
    chance = rng.random
    word, step = bank.words[int(chance() * len(bank.words))], _DOWN if chance() < 0.5 else _ACROSS
    placed = {word: (_START, step)}
    letters = dict(zip(range(_START, _START + step * len(word), step), word, strict=True))
    steps = dict.fromkeys(letters, step)  # by cell, the step of its word; none where two cross
    free = list(letters)  # cells of one word
    while len(placed) < count:
        for _ in range(_TRIES):
            crossing = free[int(chance() * len(free))]
            choice = bank.having[letters[crossing]]
            word, place = choice[int(chance() * len(choice))]
            step = _ACROSS + _DOWN - steps[crossing]
            start = crossing - place * step
            if word not in placed and _fits(letters, steps, word, start, step):
                break
        else:
            return None
        placed[word] = (start, step)
        for cell, letter in zip(range(start, start + step * len(word), step), word, strict=True):
            if cell in letters:
                free.remove(cell)
                del steps[cell]
            else:
                letters[cell] = letter
                steps[cell] = step
                free.append(cell)
    return placed


def _fits(letters: dict[int, str], steps: dict[int, int], word: str, start: int, step: int) -> bool:
    """Say whether a word can go there: nothing before or after it, nothing beside it but words that it crosses."""
    if start - step in letters or start + step * len(word) in letters:
        return False
    side = _ACROSS + _DOWN - step
    cell = start
    for letter in word:
        if cell in letters:
            if letters[cell] != letter or steps.get(cell) != side:
                return False
        elif cell - side in letters or cell + side in letters:
            return False
        cell += step
    return True


def _framed(placed: dict[str, tuple[int, int]]) -> Crossword:
    """Cut the crossword out of the sheet."""
    starts = [start for start, _ in placed.values()]
    ends = [start + step * (len(word) - 1) for word, (start, step) in placed.items()]
    top, left = min(starts) // _DOWN, min(start % _DOWN for start in starts)
    height, width = max(ends) // _DOWN - top + 1, max(end % _DOWN for end in ends) - left + 1
    cells = bytearray(b".") * (height * width)
    entries = []
    for word, (start, step) in placed.items():
        row, column = start // _DOWN - top, start % _DOWN - left
        entries.append(Entry(row, column, step == _DOWN, word))
        stride = width if step == _DOWN else 1
        first = row * width + column
        cells[first : first + stride * len(word) : stride] = word.encode()
    return Crossword(width, bytes(cells), tuple(sorted(entries)))
