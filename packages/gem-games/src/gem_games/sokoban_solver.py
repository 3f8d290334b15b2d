"""Solve a Sokoban position by A* over pushes; walking is free for the search and filled in afterwards."""

from __future__ import annotations

from heapq import heappop, heappush

from gem_games.sokoban_level import Level, cells, region, shift, steps, walk, waves

__all__ = ["solve"]

_UNREACHABLE = 1 << 20


def solve(level: Level, boxes: int, player: int, *, limit: int = 20_000) -> tuple[str | None, bool]:
    """Look for a solution with few pushes.

    Args:
        level: The level; its floor and goals count.
        boxes: Where the boxes are now.
        player: Where the player is now.
        limit: How many positions are looked at before giving up.

    Returns:
        The moves, a letter each, or None; and whether the search went to its end, so that None means "there is none".
    """
    width, floor, goals = level.width, level.floor, level.goals
    around = steps(width)
    table = _push_distances(level)
    alive = sum(1 << cell for cell in table)  # a box anywhere else never comes to a goal
    if boxes & ~alive:
        return None, True

    def ahead(boxes: int) -> int:
        return _left_to_push(boxes, table)

    start = region(1 << player, floor & ~boxes, width)
    root = (boxes, start & -start)
    parents: dict[tuple[int, int], tuple[tuple[int, int], int, str] | None] = {root: None}
    pushed = {root: 0}
    # Ahead counts twice: solutions get a little longer, the search many times shorter.
    queue = [(2 * ahead(boxes), 0, boxes, start, root)]
    count = 0
    while queue:
        _, done, boxes, reached, key = heappop(queue)
        if boxes == goals:
            return _replay(level, root[0], player, _pushes(parents, key)), True
        if done > pushed[key]:
            continue
        count += 1
        if count > limit:
            return None, False
        free = floor & ~boxes
        for letter, step in around.items():
            for box in cells(boxes & shift(reached, step) & shift(free & alive, -step)):
                after = boxes ^ (1 << box | 1 << (box + step))
                if _frozen(after, box + step, floor, goals, width):
                    continue
                came = region(1 << box, floor & ~after, width)
                child = (after, came & -came)
                if pushed.get(child, _UNREACHABLE) > done + 1:
                    pushed[child] = done + 1
                    parents[child] = (key, box, letter)
                    heappush(queue, (done + 1 + 2 * ahead(after), done + 1, after, came, child))
    return None, True


def _push_distances(level: Level) -> dict[int, dict[int, int]]:
    """Return, by cell and goal, how many pushes take a lone box from the one to the other; dead cells are absent."""
    table: dict[int, dict[int, int]] = {}
    for goal in cells(level.goals):
        wave = seen = 1 << goal
        number = 0
        while wave:
            for cell in cells(wave):
                table.setdefault(cell, {})[goal] = number
            grown = 0
            for step in steps(level.width).values():
                grown |= shift(wave, step) & level.floor & shift(level.floor, -step)
            wave = grown & ~seen
            seen |= wave
            number += 1
    return table


def _left_to_push(boxes: int, table: dict[int, dict[int, int]]) -> int:
    """Return a guess at the pushes left: boxes take, nearest pair first, the goals still free."""
    pairs = sorted((far, box, goal) for box in cells(boxes) for goal, far in table[box].items())
    total, placed, taken = 0, set(), set()
    for far, box, goal in pairs:
        if box not in placed and goal not in taken:
            placed.add(box)
            taken.add(goal)
            total += far
    # Nearest first can leave a box without any goal that it reaches; another pairing may do, so this is no dead end.
    return total + 10 * (boxes.bit_count() - len(placed))


def _frozen(boxes: int, moved: int, floor: int, goals: int, width: int) -> bool:
    """Tell whether the box just moved made a two by two block of boxes and walls, in which a box is off its goal."""
    solid = boxes | ~floor
    for corner in (moved, moved - 1, moved - width, moved - width - 1):
        block = (3 | 3 << width) << corner
        if solid & block == block and boxes & block & ~goals:
            return True
    return False


def _pushes(
    parents: dict[tuple[int, int], tuple[tuple[int, int], int, str] | None], key: tuple[int, int]
) -> list[tuple[int, str]]:
    """Return the pushes (the box's cell and a direction) that lead to a position."""
    found = []
    while (parent := parents[key]) is not None:
        key, box, letter = parent
        found.append((box, letter))
    return found[::-1]


def _replay(level: Level, boxes: int, player: int, pushes: list[tuple[int, str]]) -> str:
    """Return all moves of a solution: the walks between the pushes filled in."""
    moves = []
    for box, letter in pushes:
        step = steps(level.width)[letter]
        reached = waves(player, level.floor & ~boxes, level.width)
        moves.append((walk(reached, box - step, level.width) or "") + letter)
        player = box
        boxes ^= 1 << box | 1 << (box + step)
    return "".join(moves)
