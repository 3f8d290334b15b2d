"""Make Sudoku puzzles with one solution and exactly the givens asked for.

A puzzle is dug out of a random full board: givens are taken away in random order, each only where the solution stays
the only one. A digging that ends with too many givens is tried again a few times. For numbers that digging seldom
reaches, and should all tries fail, there are puzzles with the fewest givens there can be, of which we take a random
symmetric image and give back as many digits as asked for; so every legal number is met, in bounded time.
"""

from __future__ import annotations

import random

from gem_games.sudoku_solver import free_places, peers_of, search, side_of, split, tables_of, text_of, units_of

__all__ = ["FEWEST", "generate"]

FEWEST = {4: 4, 9: 17}
"""The scales, and the fewest givens with which a puzzle of that scale can have one solution.

For 9 see G. McGuire, B. Tugemann, G. Civario, There is no 16-clue Sudoku, 2012; of scale 4 all can be tried.
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
                solution = text_of(board, scale)
                return _masked(solution, givens), solution
    return _sparse(rng, scale, clues)


def _full_board(rng: random.Random, scale: int) -> list[int]:
    """Draw a full board: boxes that do not see each other, then the rest by search."""
    tables = tables_of(scale)
    boards = [0] * scale
    givens = 0
    for corner in (0,) if scale == 4 else (0, 30, 60):  # whatever these boxes hold, the rest can be filled
        for digit, cell in enumerate(rng.sample(units_of(scale)[corner][2], scale)):
            boards[digit] |= tables.bits[cell]
            givens |= tables.bits[cell]
    places = free_places(tables, boards, givens, [peers_of(tables, board) for board in boards])
    return search(tables, places, givens, [], rng) or boards


def _dig(rng: random.Random, scale: int, boards: list[int], clues: int) -> int:
    """Take givens away in random order, as long as the solution stays the only one.

    Those go first that can be told from the rest at a glance: it is quick, and keeps puzzles plain to solve.

    Returns:
        The givens that are left: `clues` of them, or more where none can go.
    """
    tables = tables_of(scale)
    units = tables.units
    givens, surplus = tables.full, scale * scale - clues
    kept = boards.copy()  # per digit where it is given
    reach = [tables.full & ~board for board in boards]  # per digit the cells that see it where it is given
    digit_of = {bit: digit for digit, board in enumerate(boards) for bit in split(board)}
    order = list(tables.bits)
    rng.shuffle(order)
    hard = []
    for bit in order:
        digit = digit_of[bit]
        rest = givens ^ bit
        seen = peers_of(tables, kept[digit] ^ bit)
        free = ~(rest | seen)
        row, column, box = units[bit]
        elsewhere = row & free != bit and column & free != bit and box & free != bit
        if elsewhere and any(not mask & bit and number != digit for number, mask in enumerate(reach)):
            hard.append(bit)  # neither has the digit one place in a unit, nor the cell one digit
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
        reach[digit] = peers_of(tables, kept[digit] ^ bit)
        places = free_places(tables, kept, rest, reach)
        places[digit] &= ~bit
        if search(tables, places, rest, []):  # a solution with another digit in that cell
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
    side = side_of(scale)
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


def _masked(solution: str, givens: int) -> str:
    """Write the givens of a board, a dot for each other cell."""
    return "".join(digit if givens >> cell & 1 else "." for cell, digit in enumerate(solution))
