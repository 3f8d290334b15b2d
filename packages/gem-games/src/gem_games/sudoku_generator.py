"""Make Sudoku puzzles with one solution and exactly the givens asked for.

A board is a set of bits, one per cell from the top left; per digit one integer holds the cells where it can stand. Cells
with a single digit left are then found for the whole board by a few operations on nine integers, which is what makes
a puzzle cost a millisecond instead of the tens that lists of lists take.

A puzzle is dug out of a random full board: givens are taken away in random order, each only where the solution stays
the only one. A digging that ends with too many givens is tried again a few times. For numbers that digging seldom
reaches, and should all tries fail, there are puzzles with the fewest givens there can be, of which we take a random
symmetric image and give back as many digits as asked for; so every legal number is met, in bounded time.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import NamedTuple

__all__ = ["FEWEST", "generate", "solutions"]

FEWEST = {4: 4, 9: 17}
"""The scales, and the fewest givens with which a puzzle of that scale can have one solution.

For 9 see G. McGuire, B. Tugemann, G. Civario, There is no 16-clue Sudoku, 2012; for 4 all boards were counted.
"""

_DUG = {4: 4, 9: 26}  # what digging reaches in most tries
_TRIES = 6

# Full boards row by row, in which the cells that are not given are letters: a stands for 1. Those of scale 9 are among
# the puzzles with 17 givens collected by Gordon Royle.
_SPARSE = {
    4: ("b3adad2c4acbcbd1", "c1db4ba3acb4bdca", "dabccb14acdb24ca"),
    9: (
        "ficghde1b4hgeabicfa2eifchgdicbf5a4h7ef8bdg3iagd1c9hfbe3ai4ge2fhh5f1bigdcbgd8c6aei",
        "gicfhde1b4hfeabicga2eigchdficbg5a6h4eg8bdf3iafd1c9hgbe3ai4fe2ghh5g1bidfcbfd8c7aei",
        "fgchide12iabg35dhfhde6abi7c7ihbfa3edebf4gc8ia1cdehibfgdfi12hgceb8gcefa4ic5aidg6bh",
        "fgihced12ab36idgehedhba7icf41fg2chiehib5fa3gd7cedhi6ba28giefa4cifa3db5hgcedaghbfi",
        "cdfgieh12be8d3afigigahfbe4c12i5gfdchhceba47fig6dchibea5a7idh3bfdic62gahefhb1ecigd",
    ),
}


_Branch = tuple[list[int], int, int, list[int]]
"""The state before a choice: places and settled cells, the cell chosen and the digits not yet tried there."""


class _Tables(NamedTuple):
    """What depends on the scale alone."""

    full: int
    """All cells."""
    bits: tuple[int, ...]
    """The bit of each cell."""
    peers: dict[int, int]
    """By bit, the other cells of its row, column and box."""
    others: dict[int, int]
    """By bit, all cells but its peers."""
    units: dict[int, tuple[int, int, int]]
    """By bit, its row, column and box."""
    boxes: tuple[tuple[int, ...], ...]
    """The bits of the boxes on the diagonal."""


@lru_cache(maxsize=4)
def _tables(scale: int) -> _Tables:
    side = 2 if scale == 4 else 3
    bits = tuple(1 << cell for cell in range(scale * scale))
    places = [(row, col, row // side * side + col // side) for row in range(scale) for col in range(scale)]
    units, peers = {}, {}
    for bit, place in zip(bits, places, strict=True):
        row, col, box = (
            sum(other for other, its in zip(bits, places, strict=True) if its[kind] == place[kind]) for kind in range(3)
        )
        units[bit] = (row, col, box)
        peers[bit] = (row | col | box) & ~bit
    full = sum(bits)
    return _Tables(
        full,
        bits,
        peers,
        {bit: full & ~mask for bit, mask in peers.items()},
        units,
        tuple(
            tuple(bit for bit, place in zip(bits, places, strict=True) if place[2] == diagonal * (side + 1))
            for diagonal in range(side if scale == 9 else 1)  # any filling of these can be completed
        ),
    )


def generate(rng: random.Random, scale: int, clues: int) -> tuple[str, str]:
    """Make a puzzle.

    Args:
        rng: Where all chance comes from.
        scale: 4 or 9, the number of rows, of columns and of digits.
        clues: The number of givens, `FEWEST[scale]` to `scale**2 - 1`.

    Returns:
        The puzzle and its only solution, row by row, a dot for each empty cell.
    """
    if clues >= _DUG[scale]:
        for _ in range(_TRIES):
            board = _full_board(rng, scale)
            givens = _dig(rng, scale, board, clues)
            if givens.bit_count() == clues:
                solution = _text(board, scale)
                return _masked(solution, givens), solution
    return _sparse(rng, scale, clues)


def solutions(puzzle: str, most: int = 2) -> list[str]:
    """Solve a puzzle.

    Args:
        puzzle: The digits row by row, a dot for each empty cell: 16 or 81 characters.
        most: When to stop.

    Returns:
        Up to `most` different solutions.
    """
    scale = 4 if len(puzzle) == 16 else 9
    tables = _tables(scale)
    boards = [0] * scale
    givens = 0
    for bit, character in zip(tables.bits, puzzle, strict=True):
        if character != ".":
            boards[int(character) - 1] |= bit
            givens |= bit
    places = _places(tables, boards, givens, [_reach(tables, board) for board in boards])
    found: list[str] = []
    pending: list[_Branch] = []
    while len(found) < most:
        solved = _solve(tables, places, givens, pending)
        if solved is None:
            break
        found.append(_text(solved, scale))
        places = [0] * scale  # leads nowhere, so that the next branch is taken
    return found


def _reach(tables: _Tables, board: int) -> int:
    """Return the peers of all cells of a board."""
    reach = 0
    for bit in _split(board):
        reach |= tables.peers[bit]
    return reach


def _places(tables: _Tables, boards: list[int], givens: int, reach: list[int]) -> list[int]:
    """Return per digit where it can stand: where it is given, and the empty cells that no given one sees."""
    free = tables.full & ~givens
    return [(board & givens & ~seen) | (free & ~seen) for board, seen in zip(boards, reach, strict=True)]


def _solve(
    tables: _Tables, places: list[int], done: int, pending: list[_Branch], rng: random.Random | None = None
) -> list[int] | None:
    """Find a solution.

    Args:
        tables: Those of the scale.
        places: Per digit the cells where it can stand; changed.
        done: The cells whose digit is settled, and has been taken from the places of their peers.
        pending: Where the branches not followed are put, and whence they are taken when one leads nowhere.
        rng: Draws the digit to follow; without one the smallest is followed.

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


def _full_board(rng: random.Random, scale: int) -> list[int]:
    """Draw a full board: boxes that do not see each other, then the rest by search."""
    tables = _tables(scale)
    boards = [0] * scale
    givens = 0
    for box in tables.boxes:
        for digit, bit in enumerate(rng.sample(box, scale)):
            boards[digit] |= bit
            givens |= bit
    places = _places(tables, boards, givens, [_reach(tables, board) for board in boards])
    return _solve(tables, places, givens, [], rng) or boards


def _dig(rng: random.Random, scale: int, boards: list[int], clues: int) -> int:
    """Take givens away in random order, as long as the solution stays the only one.

    Those go first that can be told from the rest at a glance: it is quick, and keeps puzzles plain to solve.

    Returns:
        The givens that are left: `clues` of them, or more where none can go.
    """
    tables = _tables(scale)
    peers, units = tables.peers, tables.units
    givens, surplus = tables.full, scale * scale - clues
    kept = boards.copy()  # per digit where it is given
    reach = [tables.full] * scale  # per digit the cells that see it
    digit_of = {bit: digit for digit, board in enumerate(boards) for bit in _split(board)}
    order = list(tables.bits)
    rng.shuffle(order)
    hard = []
    for bit in order:
        digit = digit_of[bit]
        rest = givens ^ bit
        seen = 0
        for other in _split(kept[digit] ^ bit):
            seen |= peers[other]
        free = ~(rest | seen)
        row, column, box = units[bit]
        if row & free != bit and column & free != bit and box & free != bit:  # elsewhere in each of them, too
            if any(not mask & bit and number != digit for number, mask in enumerate(reach)):  # another digit in its cell
                hard.append(bit)
                continue
        kept[digit] ^= bit
        reach[digit] = seen
        givens = rest
        surplus -= 1
        if not surplus:
            return givens
    for bit in hard:
        digit = digit_of[bit]
        rest = givens ^ bit
        before = reach[digit]
        reach[digit] = _reach(tables, kept[digit] ^ bit)
        places = _places(tables, kept, rest, reach)
        places[digit] &= ~bit
        if _solve(tables, places, rest, []):  # a solution with another digit in that cell
            reach[digit] = before
            continue
        kept[digit] ^= bit
        givens = rest
        surplus -= 1
        if not surplus:
            break
    return givens


def _sparse(rng: random.Random, scale: int, clues: int) -> tuple[str, str]:
    """Draw a symmetric image of a stored puzzle, and give as many of its empty cells as asked for."""
    side = 2 if scale == 4 else 3
    stored = rng.choice(_SPARSE[scale])
    rows, columns = (
        [side * band + line for band in rng.sample(range(side), side) for line in rng.sample(range(side), side)]
        for _ in range(2)
    )
    cells = [scale * row + column for row in rows for column in columns]
    if rng.random() < 0.5:
        cells = [cell % scale * scale + cell // scale for cell in cells]
    digits = rng.sample("123456789"[:scale], scale)
    image = [stored[cell] for cell in cells]
    solution = "".join(digits["123456789abcdefghi".index(character) % 9] for character in image)
    empty = [cell for cell, character in enumerate(image) if character.isalpha()]
    hidden = set(rng.sample(empty, scale * scale - clues))
    return "".join("." if cell in hidden else digit for cell, digit in enumerate(solution)), solution


def _split(board: int) -> list[int]:
    """Return the bits of a board."""
    bits = []
    while board:
        bit = board & -board
        board ^= bit
        bits.append(bit)
    return bits


def _text(boards: list[int], scale: int) -> str:
    """Write a full board row by row."""
    digits = bytearray(scale * scale)
    for digit, board in enumerate(boards, ord("1")):
        for bit in _split(board):
            digits[bit.bit_length() - 1] = digit
    return digits.decode()


def _masked(solution: str, givens: int) -> str:
    """Write the givens of a board, a dot for each other cell."""
    return "".join(digit if givens >> cell & 1 else "." for cell, digit in enumerate(solution))
