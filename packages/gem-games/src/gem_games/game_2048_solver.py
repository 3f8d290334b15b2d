"""Play 2048 well: look a move and a new tile ahead and judge the boards by simple features.

The features are those that strong programs share: empty cells, pairs that can join, and rows and columns whose tiles
fall from one corner, so that large tiles lie together and out of the way of small ones.
"""

from __future__ import annotations

from itertools import pairwise

from gem_games.game_2048_board import cells, empty_cells, moves, transposed

__all__ = ["choose_move"]

_ROW = 0xFFFF
_STUCK = -1e6  # what a board without a move is worth
_EMPTY, _PAIR = 120.0, 60.0  # against the disorder that they make good for; found by trying
_CROWDED = 4  # with so few empty cells or fewer, one move more is looked at
_ROOMY = 7  # with more of them, every other one tells enough


class _Worth(dict[int, float]):
    """What a row or a column is worth, each worked out when it is first met."""

    def __missing__(self, row: int) -> float:
        tiles = [row >> shift & 15 for shift in (0, 4, 8, 12)]
        filled = [tile for tile in tiles if tile]
        pairs = sum(one == other for one, other in pairwise(filled))
        # Every row and column should fall from its first cell on: then the largest tiles meet in the first corner.
        disorder = sum(max(0, other**4 - one**4) for one, other in pairwise(tiles))
        worth = _EMPTY * tiles.count(0) + _PAIR * pairs - disorder
        self[row] = worth
        return worth


_WORTH = _Worth()


def choose_move(board: int, goal: int) -> str | None:
    """Return a good move.

    Args:
        board: The board, as `game_2048_board` describes it.
        goal: The exponent to reach; a move that reaches it is taken at once.

    Returns:
        The direction, or None where no move is possible.
    """
    best, choice = _STUCK * 2, None
    depth = 2 if len(empty_cells(board)) <= _CROWDED else 1
    known: dict[int, float] = {}
    for direction, after in moves(board):
        if goal in cells(after):
            return direction
        worth = _expected(after, depth, known)
        if worth > best:
            best, choice = worth, direction
    return choice


def _expected(board: int, depth: int, known: dict[int, float]) -> float:
    """Return the mean worth of a board on which a new tile comes, with `depth` more moves to look at."""
    empty = empty_cells(board)
    roomy = len(empty) > _CROWDED
    if len(empty) > _ROOMY:
        empty = empty[::2]
    total = 0.0
    for shift in empty:
        # Nine new tiles of ten are a 2; the tenth makes little difference where there is room.
        two = _best(board | 1 << shift, depth, known)
        total += two if roomy else 0.9 * two + 0.1 * _best(board | 2 << shift, depth, known)
    return total / len(empty)


def _best(board: int, depth: int, known: dict[int, float]) -> float:
    """Return the worth of the best move on a board."""
    worth = known.get(board) if depth == 1 else None
    if worth is None:
        worth = _STUCK
        for _, after in moves(board):
            value = _value(after) if depth == 1 else _expected(after, depth - 1, known)
            if value > worth:
                worth = value
        if depth == 1:
            known[board] = worth
    return worth


def _value(board: int) -> float:
    """Return the worth of all rows and columns."""
    worth, columns = _WORTH, transposed(board)
    return (
        worth[board & _ROW]
        + worth[board >> 16 & _ROW]
        + worth[board >> 32 & _ROW]
        + worth[board >> 48]
        + worth[columns & _ROW]
        + worth[columns >> 16 & _ROW]
        + worth[columns >> 32 & _ROW]
        + worth[columns >> 48]
    )
