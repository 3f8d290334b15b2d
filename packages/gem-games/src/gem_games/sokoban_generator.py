"""Sokoban levels by reverse play: begin with all boxes on goals and pull them away, so that a way back is known.

The room is carved by a random walk, as in gym-sokoban (Schrader 2018); the play is a random walk over pulls that
favours those which take boxes away from the goals. Nothing is searched, and the number of tries is bounded, so that
generation always ends, and soon.
"""

from __future__ import annotations

import random

from gem_games.sokoban_level import OPPOSITE, Level, cells, shift, steps, walk, waves

__all__ = ["generate", "shortest_plan"]

_TRIES = 30
# What a step of the carving walk clears, as (row, column) offsets: gym-sokoban's five shapes.
_SHAPES = (
    ((0, -1), (0, 0), (0, 1)),
    ((-1, 0), (0, 0), (1, 0)),
    ((0, -1), (0, 0), (1, 0)),
    ((0, -1), (0, 0), (1, -1), (1, 0)),
    ((0, 0), (0, 1), (1, 0)),
)


def shortest_plan(num_boxes: int) -> int:
    """Return a number of moves within which a level of so many boxes can always be made."""
    return 3 * num_boxes - 2


def generate(rng: random.Random, height: int, width: int, num_boxes: int, moves: int) -> tuple[Level, str]:
    """Make a level in which no box is on a goal yet.

    Args:
        rng: The source of all randomness.
        height: Rows, walls included, 5 or more.
        width: Columns, walls included, 5 or more.
        num_boxes: At most the longer inner side of the room.
        moves: The longest solution allowed, at least `shortest_plan(num_boxes)`.

    Returns:
        The level and a solution, a letter a move.
    """
    best: tuple[Level, str] | None = None
    farthest = 0
    for _ in range(_TRIES):
        found = _pull(rng, height, width, _carve(rng, height, width), num_boxes, moves)
        if found is not None and found[0] > farthest:
            farthest, best = found[0], found[1:]
            # Nearer starts are solved at a glance, and only taken where nothing else is found.
            if farthest >= 2 * num_boxes - 1:
                break
    return best or _in_the_open(height, width, num_boxes)


def _carve(rng: random.Random, height: int, width: int) -> int:
    """Return the floor of a connected room that fills half to three quarters of the space within the walls."""
    space = _inside(height, width)
    shapes = [sum(1 << ((row + 1) * width + column + 1) for row, column in shape) for shape in _SHAPES]
    area = (height - 2) * (width - 2)
    wanted = rng.randint(area // 2, area * 3 // 4)
    cell = rng.choice(list(cells(space)))
    floor, heading = 1 << cell, 1
    for _ in range(10 * area):
        if rng.random() < 0.35:
            heading = rng.choice((1, -1, width, -width))
        if space >> (cell + heading) & 1:
            cell += heading
        floor |= shapes[int(rng.random() * len(shapes))] << (cell - width - 1) & space
        if floor.bit_count() >= wanted:
            break
    return floor


def _pull(
    rng: random.Random, height: int, width: int, floor: int, num_boxes: int, moves: int
) -> tuple[int, Level, str] | None:
    """Pull boxes away from random goals.

    Returns:
        The farthest start met on the way: how many pushes its boxes are from the nearest goals in sum, the level and a
        solution; None where a box was always on a goal.
    """
    around = steps(width)
    pullable = 0  # where a lone box could be pulled from: two free cells in a row beside it
    for step in around.values():
        pullable |= floor & shift(floor, -step) & shift(floor, -2 * step)
    if pullable.bit_count() < 2 * num_boxes + 1:
        return None
    goals = boxes = sum(1 << cell for cell in rng.sample(list(cells(pullable)), num_boxes))
    player = rng.choice(list(cells(floor & ~boxes)))
    distance = _distances(goals, floor, width)
    played: list[str] = []
    length = score = best_score = 0
    best: tuple[int, int, int] | None = None
    while True:
        free = floor & ~boxes
        reached = waves(player, free, width)
        near = sum(reached[: max(0, moves - length)] if played else reached)
        options, weights = [], []
        for letter, step in around.items():
            # The player stands beside the box, away from where it comes from, and steps back onto a free cell.
            for stand in cells(near & shift(boxes, step) & shift(free, -step)):
                gain = distance[stand] - distance[stand - step]
                options.append((stand, letter, step, gain))
                weights.append(8 if goals >> (stand - step) & 1 else 4 if gain > 0 else 1)
        if not options:
            break
        stand, letter, step, gain = rng.choices(options, weights)[0]
        if played:  # walking before the first pull would come after the last push
            played.append(walk(reached, stand, width) or "")
            length += len(played[-1])
        played.append(letter)
        length += 1
        score += gain
        player = stand + step
        boxes ^= 1 << stand | 1 << (stand - step)
        if not boxes & goals and score > best_score:
            best_score, best = score, (len(played), boxes, player)
        if length >= moves:
            break
    if best is None:
        return None
    count, boxes, player = best
    plan = "".join(OPPOSITE[letter] for letter in reversed("".join(played[:count])))
    level, back = _stroll(rng, Level(height, width, floor, goals, boxes, player), moves - len(plan))
    return best_score, level, back + plan


def _stroll(rng: random.Random, level: Level, most: int) -> tuple[Level, str]:
    """Walk the player away from the first box to push; return the level and the way back."""
    free = level.floor & ~level.boxes
    reached = waves(level.player, free, level.width)[: max(0, min(most, 5)) + 1]
    place = rng.choice(list(cells(sum(reached))))
    back = walk(waves(place, free, level.width), level.player, level.width) or ""
    return Level(level.height, level.width, level.floor, level.goals, level.boxes, place), back


def _distances(goals: int, floor: int, width: int) -> dict[int, int]:
    """Return, by cell, how many pulls take a box there from the nearest goal in the otherwise empty room."""
    distance = dict.fromkeys(cells(goals), 0)
    wave, seen, number = goals, goals, 0
    while wave:
        number += 1
        grown = 0
        for step in steps(width).values():
            grown |= shift(wave, step) & floor & shift(floor, -step)
        wave = grown & ~seen
        seen |= wave
        distance.update(dict.fromkeys(cells(wave), number))
    return distance


def _inside(height: int, width: int) -> int:
    """Return all cells within the outer walls."""
    return sum(((1 << (width - 2)) - 1) << (row * width + 1) for row in range(1, height - 1))


def _in_the_open(height: int, width: int, num_boxes: int) -> tuple[Level, str]:
    """Return the level that always works: an empty room, goals along a side, a box in front of each."""
    across, along, back, side, down = 1, width, "L", "R", "U"
    if num_boxes > height - 2:
        across, along, back, side, down = width, 1, "U", "D", "L"
    first = width + 1
    floor = _inside(height, width)
    goals = sum(1 << (first + number * along) for number in range(num_boxes))
    player = first + (num_boxes - 1) * along + 2 * across
    plan = back + (side + down + back) * (num_boxes - 1)
    return Level(height, width, floor, goals, shift(goals, across), player), plan
