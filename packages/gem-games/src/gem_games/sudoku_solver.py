"""Solve Sudoku puzzles of 4 or 9 rows, in sets of bits.

A board is a set of bits, one per cell from the top left; per digit one integer holds the cells where it can stand.
Cells with a single digit left are then found for the whole board by a few operations on nine integers, which is what
makes a search cost tens of microseconds instead of the milliseconds that lists of lists take.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import NamedTuple

__all__ = [
    "Branch",
    "Tables",
    "free_places",
    "peers_of",
    "search",
    "side_of",
    "solutions",
    "split",
    "tables_of",
    "text_of",
    "units_of",
]

Branch = tuple[list[int], int, int, list[int]]
"""The state before a choice: places and settled cells, the cell chosen and the digits not yet tried there."""


class Tables(NamedTuple):
    """What depends on the scale alone; cells are bits."""

    full: int
    """All cells."""
    bits: tuple[int, ...]
    """Each cell, from the top left."""
    peers: dict[int, int]
    """By cell, the other cells of its row, column and box."""
    others: dict[int, int]
    """By cell, all cells but its peers."""
    units: dict[int, tuple[int, int, int]]
    """By cell, its row, column and box."""


def side_of(scale: int) -> int:
    """Return the number of rows of a box."""
    return 2 if scale == 4 else 3


@lru_cache(maxsize=4)
def units_of(scale: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return, per cell from the top left, the numbers of the cells of its row, of its column and of its box."""
    side = side_of(scale)
    places = [(row, col, row // side * side + col // side) for row in range(scale) for col in range(scale)]
    return tuple(
        tuple(tuple(other for other, its in enumerate(places) if its[kind] == place[kind]) for kind in range(3))
        for place in places
    )


@lru_cache(maxsize=4)
def tables_of(scale: int) -> Tables:
    """Return the tables of a scale."""
    bits = tuple(1 << cell for cell in range(scale * scale))
    full = sum(bits)
    units, peers = {}, {}
    for bit, its_units in zip(bits, units_of(scale), strict=True):
        row, column, box = (sum(bits[cell] for cell in unit) for unit in its_units)
        units[bit] = (row, column, box)
        peers[bit] = (row | column | box) & ~bit
    return Tables(full, bits, peers, {bit: full & ~mask for bit, mask in peers.items()}, units)


def solutions(puzzle: str, most: int = 2) -> list[str]:
    """Solve a puzzle.

    Args:
        puzzle: The digits row by row, a dot for each empty cell: 16 or 81 characters.
        most: When to stop.

    Returns:
        Up to `most` different solutions.
    """
    scale = 4 if len(puzzle) == 16 else 9
    tables = tables_of(scale)
    boards = [0] * scale
    givens = 0
    for bit, character in zip(tables.bits, puzzle, strict=True):
        if character != ".":
            boards[int(character) - 1] |= bit
            givens |= bit
    places = free_places(tables, boards, givens, [peers_of(tables, board) for board in boards])
    found: list[str] = []
    pending: list[Branch] = []
    while len(found) < most:
        solved = search(tables, places, givens, pending)
        if solved is None:
            break
        found.append(text_of(solved, scale))
        places = [0] * scale  # leads nowhere, so that the next branch is taken
    return found


def split(board: int) -> list[int]:
    """Return the bits of a board."""
    bits = []
    while board:
        bit = board & -board
        board ^= bit
        bits.append(bit)
    return bits


def text_of(boards: list[int], scale: int) -> str:
    """Write a full board row by row."""
    digits = bytearray(scale * scale)
    for digit, board in enumerate(boards, ord("1")):
        for bit in split(board):
            digits[bit.bit_length() - 1] = digit
    return digits.decode()


def peers_of(tables: Tables, board: int) -> int:
    """Return the peers of all cells of a board."""
    reach = 0
    for bit in split(board):
        reach |= tables.peers[bit]
    return reach


def free_places(tables: Tables, boards: list[int], givens: int, reach: list[int]) -> list[int]:
    """Return per digit where it can stand: where it is given, and the empty cells that no given one sees."""
    free = tables.full & ~givens
    return [(board & givens & ~seen) | (free & ~seen) for board, seen in zip(boards, reach, strict=True)]


def search(
    tables: Tables, places: list[int], done: int, pending: list[Branch], rng: random.Random | None = None
) -> list[int] | None:
    """Find a solution.

    Args:
        tables: Those of the scale.
        places: Per digit the cells where it can stand; changed.
        done: The cells whose digit is settled, and has been taken from the places of their peers.
        pending: Where the branches not followed are put, and whence they are taken when one leads nowhere.
        rng: Draws the digit to follow; without one the largest is followed.

    Returns:
        Per digit the cells where it stands, or None where there is no solution.
    """
    full, others = tables.full, tables.others
    while True:
        once = twice = thrice = 0
        for mask in places:
            thrice |= twice & mask
            twice |= once & mask
            once |= mask
        if once == full:
            singles = full & ~twice & ~done
            if singles:
                done |= singles
                for digit, mask in enumerate(places):
                    settled = mask & singles
                    if settled:
                        while settled:
                            bit = settled & -settled
                            settled ^= bit
                            mask &= others[bit]
                        places[digit] = mask
                continue
            if done == full:
                return places
            pairs = (twice & ~thrice) or (full & ~done)
            bit = pairs & -pairs
            digits = [digit for digit, mask in enumerate(places) if mask & bit]
            if rng is not None:
                rng.shuffle(digits)
            done |= bit
        elif pending:
            places, done, bit, digits = pending.pop()
        else:
            return None
        digit = digits.pop()
        if digits:
            pending.append((places, done, bit, digits))
        kept = places[digit] & others[bit]
        places = [mask & ~bit for mask in places]
        places[digit] = kept
