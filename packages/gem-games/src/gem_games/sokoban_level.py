r"""A Sokoban level as bit masks: bit `row * width + column` of an int stands for a cell.

Whole sets of cells are then moved, grown and compared by single operations on integers, which is what makes generating
and solving fast in plain Python. Every level is walled in, so that no shift runs over the edge of a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["OPPOSITE", "Level", "cells", "parse_level", "region", "shift", "steps", "walk", "waves"]

OPPOSITE = {"U": "D", "D": "U", "L": "R", "R": "L"}
"""Each direction's opposite; a direction is one of these letters: up, down, left, right."""

_TILES = {"#": "", " ": "f", ".": "fg", "$": "fb", "*": "fbg", "@": "fp", "+": "fpg"}


@dataclass(frozen=True)
class Level:
    """The start of a Sokoban game.

    Attributes:
        height: Rows, walls included.
        width: Columns, walls included.
        floor: Where the player and boxes can be.
        goals: Where boxes should be.
        boxes: Where they are.
        player: The cell of the player, as an index.
    """

    height: int
    width: int
    floor: int
    goals: int
    boxes: int
    player: int

    def rows(self, boxes: int, player: int, blank: str = " ") -> list[str]:
        """Return the rows as text, with boxes and player where they are now.

        Args:
            boxes: The cells of the boxes.
            player: The cell of the player.
            blank: The character of an empty floor.
        """
        floor, goals, at = self.floor, self.goals, 1 << player
        characters = []
        for cell in range(self.height * self.width):
            bit = 1 << cell
            if not floor & bit:
                characters.append("#")
            elif boxes & bit:
                characters.append("*" if goals & bit else "$")
            elif bit == at:
                characters.append("+" if goals & bit else "@")
            else:
                characters.append("." if goals & bit else blank)
        text = "".join(characters)
        return [text[start : start + self.width] for start in range(0, len(text), self.width)]


def steps(width: int) -> dict[str, int]:
    """Return what each direction adds to a cell's index."""
    return {"U": -width, "D": width, "L": -1, "R": 1}


def shift(mask: int, step: int) -> int:
    """Move every cell of a mask by `step`."""
    return mask << step if step > 0 else mask >> -step


def cells(mask: int) -> Iterator[int]:
    """Yield the cells of a mask, lowest first."""
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit


def region(start: int, free: int, width: int) -> int:
    """Return the cells of `free` that can be walked to from those of `start`, themselves included."""
    seen = start
    while True:
        grown = seen | (seen << 1 | seen >> 1 | seen << width | seen >> width) & free
        if grown == seen:
            return seen
        seen = grown


def waves(start: int, free: int, width: int) -> list[int]:
    """Return the cells that are 0, 1, 2, ... steps of walking over `free` away from the cell `start`."""
    wave = seen = 1 << start
    found = []
    while wave:
        found.append(wave)
        wave = (wave << 1 | wave >> 1 | wave << width | wave >> width) & free & ~seen
        seen |= wave
    return found


def walk(found: list[int], end: int, width: int) -> str | None:
    """Return a shortest walk to the cell `end`, a letter a step, given the `waves` from its start; None without one."""
    distance = next((number for number, wave in enumerate(found) if wave >> end & 1), None)
    if distance is None:
        return None
    letters = []
    for wave in reversed(found[:distance]):
        for letter, step in steps(width).items():
            if wave >> (end - step) & 1:
                letters.append(letter)
                end -= step
                break
    return "".join(reversed(letters))


def parse_level(text: str) -> Level:
    """Read a level in the usual notation, as Boxoban's files have it.

    Args:
        text: Rows of `#` wall, `@` player, `$` box, `.` goal, `*` box on a goal, `+` player on a goal and blanks for
            the floor. Rows may differ in length; empty lines round them and lines that begin with `;` do not count.

    Returns:
        The level.

    Raises:
        ValueError: It is no level that can be played; the message says where and why.
    """
    if not isinstance(text, str):
        raise ValueError(f"level is the text of a Sokoban level; got {type(text).__name__}.")
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith(";")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    height, width = len(lines), max(map(len, lines), default=0)
    if height > 100 or width > 100:
        raise ValueError(f"A level has at most 100 rows and 100 columns; this one has {height} and {width}.")
    masks = dict.fromkeys("fgbp", 0)
    for row, line in enumerate(lines):
        for column, character in enumerate(line.ljust(width)):
            if character not in _TILES:
                raise ValueError(
                    f"Row {row}, column {column} of the level (from 0) is {character!r}, which is none of # @ $ . * + "
                    "and a blank."
                )
            for kind in _TILES[character]:
                masks[kind] |= 1 << (row * width + column)
    players, boxes, goals = (masks[kind].bit_count() for kind in "pbg")
    if players != 1:
        raise ValueError(f"A level has exactly one player (@, or + on a goal); this one has {players}.")
    if boxes == 0 or boxes != goals:
        raise ValueError(
            f"A level has as many goals as boxes, at least one; this one has {boxes} boxes and {goals} goals."
        )
    if masks["b"] == masks["g"]:
        raise ValueError("The level is solved already: every box is on a goal.")
    return _enclosed(height, width, masks)


def _enclosed(height: int, width: int, masks: dict[str, int]) -> Level:
    """Check that the walls close, and turn what lies outside them into wall."""
    row = (1 << width) - 1
    edge = row | row << (width * (height - 1))
    for number in range(height):
        edge |= (1 | 1 << (width - 1)) << (width * number)
    inside = masks["p"]
    while True:  # checked at each step, since a shift over the edge would come out on the other side
        if inside & edge:
            raise ValueError(
                "The level is not closed: the player can walk out to its edge. Put walls (#) all round it."
            )
        grown = inside | (inside << 1 | inside >> 1 | inside << width | inside >> width) & masks["f"]
        if grown == inside:
            break
        inside = grown
    lost = next(cells((masks["b"] | masks["g"]) & ~inside), None)
    if lost is not None:
        raise ValueError(
            f"The box or goal at row {lost // width}, column {lost % width} of the level (from 0) lies where the "
            "player can never come."
        )
    return Level(height, width, inside, masks["g"], masks["b"], masks["p"].bit_length() - 1)
