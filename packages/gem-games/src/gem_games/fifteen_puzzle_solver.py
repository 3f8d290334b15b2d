"""Solve a sliding puzzle: shortest for boards of up to three rows, as well as a bounded search can for larger ones.

A board is `bytes`: the tile in each cell, row by row, 0 for the blank.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush

__all__ = ["OPPOSITE", "distances", "find_path", "shortest_path", "slides", "solved_board"]

OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}

_NEAR = 16  # half of the 31 moves that the farthest board of three rows needs
_WEIGHT = 2  # what the distance ahead counts: solutions get a little longer, the search many times shorter


def solved_board(rows: int) -> bytes:
    """Return the board in order, the blank in the last cell."""
    return bytes([*range(1, rows * rows), 0])


@lru_cache(maxsize=16)
def slides(rows: int) -> tuple[dict[str, int], ...]:
    """Return, for each cell where the blank may be, from which cell a tile slides into it, by the tile's direction."""
    return tuple(
        {
            direction: cell + step
            for direction, step, legal in (
                ("up", rows, cell < rows * (rows - 1)),
                ("down", -rows, cell >= rows),
                ("left", 1, cell % rows < rows - 1),
                ("right", -1, cell % rows > 0),
            )
            if legal
        }
        for cell in range(rows * rows)
    )


@lru_cache(maxsize=16)
def distances(rows: int) -> tuple[tuple[int, ...], ...]:
    """Return, by tile and cell, how many cells the tile is away from its place; the blank is never away."""
    cells = range(rows * rows)
    return (
        (0,) * (rows * rows),
        *(tuple(abs(c // rows - p // rows) + abs(c % rows - p % rows) for c in cells) for p in range(rows * rows - 1)),
    )


def shortest_path(board: bytes, rows: int) -> list[str]:
    """Return a shortest solution.

    Args:
        board: A solvable board.
        rows: 2 or 3; larger boards have too many positions.

    Returns:
        Directions in which tiles slide; empty if the board is solved.
    """
    near = _near(rows)
    came: dict[bytes, tuple[bytes, str]] = {}
    wave, seen = [board], {board}
    met = board if board in near else None
    while met is None:
        following = []
        for before in wave:
            for direction, after in _next_boards(before, rows):
                if after not in seen:
                    seen.add(after)
                    came[after] = (before, direction)
                    following.append(after)
        wave = following
        met = next((after for after in wave if after in near), None)
    path = _path(came, met)
    left = near[met]
    while left:
        left -= 1
        direction, met = next(step for step in _next_boards(met, rows) if near.get(step[1]) == left)
        path.append(direction)
    return path


def find_path(board: bytes, rows: int, most: int, *, limit: int = 3_000) -> list[str] | None:
    """Look for a solution of at most `most` moves by weighted A*.

    Args:
        board: A solvable board.
        rows: Its number of rows.
        most: The moves that the solution may have.
        limit: How many boards are looked at before giving up.

    Returns:
        Directions in which tiles slide, or None where none was found, which does not mean that there is none.
    """
    away, ways = distances(rows), slides(rows)
    in_row, in_column = _tangles(rows)
    lines = range(rows)
    ahead = sum(away[tile][cell] for cell, tile in enumerate(board))
    ahead += sum(in_row[n][board[n * rows : n * rows + rows]] + in_column[n][board[n::rows]] for n in lines)
    queue = [(_WEIGHT * ahead, ahead, 0, board, board.index(0))]
    came: dict[bytes, tuple[bytes, str]] = {}
    reached = {board: 0}
    while queue and limit:
        _, ahead, moves, board, blank = heappop(queue)
        if not ahead:
            return _path(came, board)
        if moves > reached[board]:
            continue
        limit -= 1
        moves += 1
        for direction, source in ways[blank].items():
            tile = board[source]
            cells = bytearray(board)
            cells[blank], cells[source] = tile, 0
            after = bytes(cells)
            if reached.get(after, moves + 1) <= moves:
                continue
            closer = ahead - away[tile][source] + away[tile][blank]
            # Only the lines that a tile leaves or enters can get or lose tangles: those across its way.
            for cell in (source, blank):
                if direction in ("up", "down"):
                    number, first = cell // rows, cell - cell % rows
                    line = slice(first, first + rows)
                    closer += in_row[number][after[line]] - in_row[number][board[line]]
                else:
                    number = cell % rows
                    line = slice(number, None, rows)
                    closer += in_column[number][after[line]] - in_column[number][board[line]]
            if moves + closer <= most:
                reached[after] = moves
                came[after] = (board, direction)
                heappush(queue, (moves + _WEIGHT * closer, closer, moves, after, source))
    return None


class _Tangles(dict[bytes, int]):
    """Moves that the tiles of a line need beyond their distances, each line worked out when it is first met.

    Of two tiles that belong into the line they are in, but the other way round, one must leave it and come back: two
    moves (linear conflict: Hansson, Mayer and Yung, 1992). `home` has, for each tile, its place in the line or -1.
    """

    def __init__(self, home: list[int]) -> None:
        super().__init__()
        self._home = home

    def __missing__(self, line: bytes) -> int:
        places = [place for tile in line if (place := self._home[tile]) >= 0]
        # Those that can stay are the longest run of places that rises.
        stay = [1] * len(places)
        for later, place in enumerate(places):
            stay[later] += max((stay[n] for n in range(later) if places[n] < place), default=0)
        result = self[line] = 2 * (len(places) - max(stay, default=0))
        return result


@lru_cache(maxsize=16)
def _tangles(rows: int) -> tuple[list[_Tangles], list[_Tangles]]:
    """Return the tangles by row and by column."""
    tiles = range(-1, rows * rows - 1)  # each one's place: its number less one; the blank has none
    in_row = [_Tangles([t % rows if t >= 0 and t // rows == n else -1 for t in tiles]) for n in range(rows)]
    in_column = [_Tangles([t // rows if t >= 0 and t % rows == n else -1 for t in tiles]) for n in range(rows)]
    return in_row, in_column


@lru_cache(maxsize=2)
def _near(rows: int) -> dict[bytes, int]:
    """Return the boards that are at most `_NEAR` moves from the solved one (all, where that is all), with how many."""
    near = {solved_board(rows): 0}
    wave = list(near)
    for moves in range(1, _NEAR + 1):
        following = []
        for before in wave:
            for _, after in _next_boards(before, rows):
                if after not in near:
                    near[after] = moves
                    following.append(after)
        wave = following
    return near


def _next_boards(board: bytes, rows: int) -> Iterator[tuple[str, bytes]]:
    """Yield the boards one move away."""
    blank = board.index(0)
    for direction, source in slides(rows)[blank].items():
        cells = bytearray(board)
        cells[blank], cells[source] = cells[source], 0
        yield direction, bytes(cells)


def _path(came: dict[bytes, tuple[bytes, str]], board: bytes) -> list[str]:
    """Return the moves that led a search to a board."""
    path = []
    while board in came:
        board, direction = came[board]
        path.append(direction)
    return path[::-1]
