"""The board of 2048 as one number, so that a move is four look-ups.

A cell is four bits that hold the tile's exponent (11 for 2048, 0 for an empty cell). A row is 16 bits, its first cell
the lowest ones; the board is four rows, the first one the lowest.
"""

from __future__ import annotations

__all__ = ["DIRECTIONS", "HIGHEST", "cells", "empty_cells", "moved", "moves", "transposed"]

DIRECTIONS = ("up", "down", "left", "right")
HIGHEST = 15
"""The largest exponent that four bits hold."""

_ROW = 0xFFFF
_SHIFTS = tuple(range(0, 64, 4))


class _Slides(dict[int, int]):
    """Rows slid to one end, each worked out when it is first met: few of the 65,536 ever are."""

    def __init__(self, *, reverse: bool) -> None:
        super().__init__()
        self._order = -1 if reverse else 1

    def __missing__(self, row: int) -> int:
        slid: list[int] = []
        joined = False  # a tile that was joined on this move joins no other
        for shift in (0, 4, 8, 12)[:: self._order]:
            tile = row >> shift & 15
            if slid and slid[-1] == tile != HIGHEST and not joined:
                slid[-1], joined = tile + 1, True
            elif tile:
                slid.append(tile)
                joined = False
        result = sum(tile << shift for tile, shift in zip(slid, (0, 4, 8, 12)[:: self._order], strict=False))
        self[row] = result
        return result


_FIRST, _LAST = _Slides(reverse=False), _Slides(reverse=True)


def transposed(board: int) -> int:
    """Return the board with rows and columns exchanged."""
    # Within blocks of two by two cells, then the blocks.
    board = (board & 0xF0F00F0FF0F00F0F) | (board & 0x0000F0F00000F0F0) << 12 | (board & 0x0F0F00000F0F0000) >> 12
    return (board & 0xFF00FF0000FF00FF) | (board & 0x00FF00FF00000000) >> 24 | (board & 0x00000000FF00FF00) << 24


def _slid(board: int, table: _Slides) -> int:
    return (
        table[board & _ROW]
        | table[board >> 16 & _ROW] << 16
        | table[board >> 32 & _ROW] << 32
        | table[board >> 48] << 48
    )


def moved(board: int, direction: str) -> int:
    """Return the board after a move, before a new tile comes; the same board where nothing can move that way."""
    if direction == "left":
        return _slid(board, _FIRST)
    if direction == "right":
        return _slid(board, _LAST)
    return transposed(_slid(transposed(board), _FIRST if direction == "up" else _LAST))


def moves(board: int) -> list[tuple[str, int]]:
    """Return the legal moves and the boards that they lead to."""
    columns = transposed(board)
    after = (
        transposed(_slid(columns, _FIRST)),
        transposed(_slid(columns, _LAST)),
        _slid(board, _FIRST),
        _slid(board, _LAST),
    )
    return [move for move in zip(DIRECTIONS, after, strict=True) if move[1] != board]


def cells(board: int) -> list[int]:
    """Return the exponents of the 16 cells, row by row."""
    return [board >> shift & 15 for shift in _SHIFTS]


def empty_cells(board: int) -> list[int]:
    """Return where the empty cells are, as the shift of each one's four bits."""
    return [shift for shift in _SHIFTS if not board >> shift & 15]
