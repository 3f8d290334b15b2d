"""Sokoban: push every box onto a goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gem_games.base import Game, box, grid, whole_number
from gem_games.sokoban_generator import generate, shortest_plan
from gem_games.sokoban_level import OPPOSITE, Level, parse_level, shift, steps
from gem_games.sokoban_solver import solve

__all__ = ["SokobanEnv"]

_WORDS = {"up": "U", "down": "D", "left": "L", "right": "R"}
_NAMES = {letter: word for word, letter in _WORDS.items()}
_SMALLEST, _LARGEST = 5, 20
_EMPTY = Level(0, 0, 0, 0, 0, 0)  # before the first reset


class SokobanEnv(Game[str]):
    r"""Push all boxes onto goals in a walled room; a box can be pushed, never pulled, and only one at a time.

    Generated levels have no box on a goal yet, and a solution within `max_turns` moves (given at least
    `3 * num_boxes - 2`; no level is sure to be had for fewer).

    Progress: the boxes on goals, of those that were not there at the start. Pushing one off takes its share back.

    Args:
        dim_room: Rows and columns of the room, its outer walls included, 5 to 20 each; None draws 6 to 8 at each reset.
        num_boxes: At most the longer inner side of the room; None draws 2 to 4 at each reset.
        max_turns: The moves allowed; None draws, at each reset, 8 to 13 per box.
        level: A level to play instead of generated ones, in the usual notation (`#` wall, `@` player, `$` box, `.`
            goal, `*` box on a goal, `+` player on a goal, blank floor), such as one of Boxoban's; `dim_room` and
            `num_boxes` then come from it. `max_turns` is taken as given, so give enough.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds, or the level cannot be played.
    """

    dim_room: tuple[int, int]
    num_boxes: int

    def __init__(
        self,
        dim_room: Sequence[int] | None = (7, 7),
        num_boxes: int | None = 3,
        max_turns: int | None = 35,
        level: str | None = None,
        **scoring: Any,
    ) -> None:
        super().__init__(**scoring)
        max_turns = whole_number("max_turns", max_turns, 1)
        self._given = None if level is None else parse_level(level)
        if self._given is not None:
            self._keep(
                dim_room=(self._given.height, self._given.width),
                num_boxes=self._given.boxes.bit_count(),
                max_turns=max_turns,
            )
        else:
            sides = _checked_sides(dim_room)
            most = max(sides or (6, 6)) - 2
            num_boxes = whole_number("num_boxes", num_boxes, 1)
            if num_boxes is not None and num_boxes > most:
                raise ValueError(
                    f"num_boxes is at most {most} in a room of {sides or 'at least 6 by 6'} (its longer inner side); "
                    f"got {num_boxes}. Give a larger dim_room, or a level of your own."
                )
            self._keep(dim_room=sides, num_boxes=num_boxes, max_turns=max_turns)
        self._level, self._boxes, self._player = _EMPTY, 0, 0
        self._forget()

    def _draw(self) -> None:
        if "dim_room" in self._open:
            self.dim_room = (self.rng.randint(6, 8), self.rng.randint(6, 8))
        if "num_boxes" in self._open:
            self.num_boxes = self.rng.randint(2, min(4, max(self.dim_room) - 2))
        if "max_turns" in self._open:
            self.max_turns = self.num_boxes * self.rng.randint(8, 13)

    def _deal(self) -> None:
        self._forget()
        if self._given is not None:
            self._level = self._given
        else:
            # A quarter of the turns is left to spare, where that is not too few for any level.
            moves = max(self.max_turns * 3 // 4, shortest_plan(self.num_boxes))
            self._level, self._plan = generate(self.rng, *self.dim_room, self.num_boxes, moves)
        self._boxes, self._player = self._level.boxes, self._level.player
        self._settled = (self._boxes & self._level.goals).bit_count()  # on goals from the start

    def _forget(self) -> None:
        self._plan = ""  # the oracle's next moves, as long as they are known
        self._hopeless: int | None = None  # boxes for which it found no solution

    def _rules(self) -> str:
        return (
            f"Sokoban. Push all boxes ({self.num_boxes}) onto goals within {self.max_turns} moves. You move one cell "
            "up, down, left or right. Walking into a box pushes it one cell further, if the cell behind it is free: "
            "neither a wall nor another box. Boxes cannot be pulled. You win when every goal holds a box."
        )

    def _how(self) -> str:
        return "Push every box onto a goal. Move with \\boxed{up}, \\boxed{down}, \\boxed{left} or \\boxed{right}."

    def _board(self) -> str:
        return f"{self._drawn()}\n# wall, _ floor, . goal, $ box, * box on a goal, @ you, + you on a goal"

    def _read(self, text: str) -> str | None:
        return _WORDS.get(text.lower()) if len(text) <= 5 else None

    def _play(self, move: str) -> str:
        step = steps(self._level.width)[move]
        ahead = 1 << (self._player + step)
        if not self._level.floor & ahead:
            return f"You cannot move {_NAMES[move]}: there is a wall."
        if not self._boxes & ahead:
            self._player += step
            self._plan = self._replanned(move, self._plan)
            return f"You moved {_NAMES[move]}."
        beyond = shift(ahead, step)
        if not self._level.floor & beyond or self._boxes & beyond:
            obstacle = "box" if self._boxes & beyond else "wall"
            return f"You cannot push the box {_NAMES[move]}: there is a {obstacle} behind it."
        self._player += step
        self._boxes ^= ahead | beyond
        self._plan = self._plan[1:] if self._plan.startswith(move) else ""
        goals = self._level.goals
        self._won = self._boxes == goals
        onto = " onto a goal" if goals & beyond else ""
        there = f"{(self._boxes & goals).bit_count()} of {self.num_boxes} boxes are on goals."
        feedback = f"You pushed a box {_NAMES[move]}{onto}: {there}"
        return f"{feedback} You win!" if self._won else feedback

    def _replanned(self, walked: str, plan: str) -> str:
        """Return the plan after a walk: its rest if it wanted that, else the way back and then all of it."""
        if not plan or plan.startswith(walked):
            return plan[1:]
        return OPPOSITE[walked] + plan

    def _progress(self) -> float:
        on_goals = (self._boxes & self._level.goals).bit_count()
        return (on_goals - self._settled) / (self.num_boxes - self._settled)

    def _ending(self) -> str:
        return self._drawn()

    def _drawn(self) -> str:
        return grid(self._level.rows(self._boxes, self._player, "_"), self._level.width)

    def sample_random_action(self) -> str:
        """Move in any direction."""
        return box(("up", "down", "left", "right")[int(self.action_rng.random() * 4)])

    def oracle_action(self) -> str | None:
        """Follow the known solution, or search for one where the player has strayed; None where none is found."""
        if not self._plan and self._boxes != self._level.goals and self._boxes != self._hopeless:
            self._plan = solve(self._level, self._boxes, self._player)[0] or ""
            self._hopeless = None if self._plan else self._boxes
        return box(_NAMES[self._plan[0]]) if self._plan else None


def _checked_sides(dim_room: Any) -> tuple[int, int] | None:
    """Return rows and columns of the room, or None."""
    if dim_room is None:
        return None
    if not isinstance(dim_room, (list, tuple)) or len(dim_room) != 2 or None in dim_room:
        raise ValueError(f"dim_room is a pair of numbers, rows and columns, such as (7, 7); got {dim_room!r}.")
    rows, cols = (whole_number("Each side of dim_room", side, _SMALLEST, _LARGEST) for side in dim_room)
    return int(rows or 0), int(cols or 0)
