"""Minimax with alpha-beta cuts and a table of positions, for any game that hides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

__all__ = ["WIN", "Position", "best_moves"]

WIN = 1_000_000
"""What a win is worth at least; an estimate stays far below. An earlier win is worth more."""

_ENDLESS = 10_000  # deeper than any game here is long
_EXACT, _AT_LEAST, _AT_MOST = 0, 1, 2

_Table = dict[tuple[Any, int], tuple[int, int]]


class Position(Protocol):
    """Where a game stands, seen by the player to move: a value that can be hashed and never changes."""

    @property
    def lost(self) -> bool:
        """Whether the last move has won the game, so that the player to move has lost it."""

    def moves(self) -> Sequence[str]:
        """Return the moves there are, promising ones first; none of them means a draw, where nobody has won."""

    def after(self, move: str) -> Position:
        """Return the position after a move, seen by the other player."""

    def estimate(self) -> int:
        """Guess how good it is for the player to move: 0 is even."""


@lru_cache(maxsize=1 << 14)
def best_moves(position: Any, depth: int | None = None) -> tuple[str, ...]:
    """Return all moves that are best, in the order of `position.moves()`.

    Args:
        position: A `Position` in which the game goes on.
        depth: How many moves to look ahead, 1 or more; None looks to the end.

    Returns:
        The moves of the highest minimax value: fastest wins, else draws or the best estimate, else slowest losses.
    """
    left = _ENDLESS if depth is None else depth
    table: _Table = {}
    best, found = -2 * WIN, []
    for move in position.moves():
        # From one below the best so far, so that an equal value is told from a lower one.
        value = -_value(position.after(move), left - 1, -2 * WIN, -(best - 1), table)
        if value > best:
            best, found = value, [move]
        elif value == best:
            found.append(move)
    return tuple(found)


def _value(position: Position, left: int, low: int, high: int, table: _Table) -> int:
    """Return the minimax value for the player to move, exact where it lies between the bounds.

    Args:
        position: What to value.
        left: How many moves may still be looked ahead.
        low: At or below it, any value at or below it will do.
        high: At or above it, any value at or above it will do.
        table: What is known of positions, by how far was looked ahead from them.
    """
    if position.lost:
        return -WIN - left  # the more moves were left, the sooner it came
    moves = position.moves()
    if not moves:
        return 0
    if left == 0:
        return position.estimate()
    known = table.get((position, left))
    if known is not None:
        value, kind = known
        if kind == _EXACT or (kind == _AT_LEAST and value >= high) or (kind == _AT_MOST and value <= low):
            return value
    best, floor = -2 * WIN, low
    for move in moves:
        value = -_value(position.after(move), left - 1, -high, -floor, table)
        if value > best:
            best = value
            floor = max(floor, value)
            if value >= high:
                break
    table[position, left] = (best, _AT_LEAST if best >= high else _AT_MOST if best <= low else _EXACT)
    return best
