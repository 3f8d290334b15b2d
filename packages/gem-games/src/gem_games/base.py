r"""What all games share, so that a game's own file reads like its rules.

A game says what its parameters are and fills in a few hooks; turns, limits, rewards, malformed replies and what stands
in `info` come from here. The smallest one::

    class HigherCard(Game[str]):
        def __init__(self, max_turns: int | None = 3, **scoring):
            super().__init__(**scoring)
            self._keep(max_turns=whole_number("max_turns", max_turns, 1))

        def _deal(self):
            self.higher = self.rng.choice(["left", "right"])

        def _rules(self):
            return "One of two cards is higher. Find it."

        def _how(self):
            return "Name a card: \\boxed{left} or \\boxed{right}."

        def _read(self, text):
            return text if text in ("left", "right") else None

        def _play(self, move):
            self._won = move == self.higher
            return f"The {move} card is " + ("the higher one." if self._won else "the lower one.")
"""

from __future__ import annotations

import math
import operator
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from gem.core import Env, StepResult
from gem.parsing import boxed

__all__ = ["PARTIAL", "Game", "box", "direction", "grid", "integer", "integers", "whole_number"]

Move = TypeVar("Move")

PARTIAL = 0.5
"""What full progress without the solution is worth under `reward="dense"`; the solution brings the return to 1."""

_MANY = 10**18  # stands for any number too long to be meant
_SEPARATORS = str.maketrans(",;()[]", "      ")


class Game(Env, Generic[Move]):
    r"""A single-player game played with actions inside `\boxed{...}`.

    An observation is what just happened, then a tail that says all there is to know now: the board, the turns left and
    how to write an action. The first one begins with the rules. The tail is repeated in `info["suffix"]` while the game
    goes on (contract E2).

    Rewards (contract E5). With `reward="dense"` a step pays the difference of a potential: `PARTIAL` times the game's
    progress while it goes on, 1 once it is solved. What was earned is taken back when progress is undone, so nothing
    can be farmed; a solved game returns exactly 1, any other at most `PARTIAL`, and merely ending pays nothing. With
    `reward="sparse"` a solve pays 1 and all else 0.

    A reply without a readable action costs `format_error_reward` and ends the game, or uses a turn with
    `end_on_format_error=False`. A readable action that the rules do not allow pays 0 and uses a turn.

    A subclass calls `self._keep(...)` in its constructor and overrides the hooks `_deal`, `_rules`, `_how`, `_read` and
    `_play`; most also override `_board`, `_progress`, `_ending`, `sample_random_action` and `oracle_action`, and
    `_draw` where a parameter may be None.

    Args:
        reward: "dense" or "sparse".
        format_error_reward: What a malformed reply pays, 0 or less.
        end_on_format_error: Whether a malformed reply ends the game.

    Attributes:
        max_turns: The turns of an episode; when they are used up it is truncated.
        turn: The turns used so far.
    """

    answer_format = "boxed"
    max_turns: int
    turn: int

    def __init__(
        self, *, reward: str = "dense", format_error_reward: float = -0.1, end_on_format_error: bool = True
    ) -> None:
        if reward not in ("dense", "sparse"):
            raise ValueError(f'reward is "dense" or "sparse"; got {reward!r}.')
        self.reward = reward
        self.format_error_reward = _penalty(format_error_reward)
        self.end_on_format_error = bool(end_on_format_error)
        self.turn = 0
        self._open: frozenset[str] = frozenset()
        self._won = self._lost = False
        self._value = 0.0
        self._dense = reward == "dense"
        self._how_to = ""

    # --- what a game fills in -----------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Draw the parameters named in `self._open` from `self.rng`, in keeping with those that are given."""
        raise NotImplementedError

    @abstractmethod
    def _deal(self) -> None:
        """Draw the hidden state of a new episode from `self.rng`; its progress is 0 and it is not solved."""

    @abstractmethod
    def _rules(self) -> str:
        """Return the rules, as the first observation tells them."""

    @abstractmethod
    def _how(self) -> str:
        """Say in one sentence, for the whole episode, how to write an action; every example in it can be read."""

    @abstractmethod
    def _read(self, text: str) -> Move | None:
        """Return the move that the text in the box means, or None where it means none; any text may come."""

    @abstractmethod
    def _play(self, move: Move) -> str:
        """Apply a move and say what happened.

        Where that ends the game, set `self._won` or `self._lost`; where the rules forbid the move, leave all as it was.
        """

    def _board(self) -> str:
        """Return all that is known now, as lines of text."""
        return ""

    def _progress(self) -> float:
        """Return how much of the task is done, up to 1: what `reward="dense"` pays for, so it must not be farmable."""
        return 0.0

    def _ending(self) -> str:
        """Return what the player sees last, once the game is over: the whole board, the answer that was not found."""
        return ""

    # --- what they all do ---------------------------------------------------------------------------------------------

    def _keep(self, **parameters: Any) -> None:
        """Keep checked parameters as attributes; those that are None are drawn at each reset, and once now."""
        self._open = frozenset(name for name, value in parameters.items() if value is None)
        vars(self).update({name: value for name, value in parameters.items() if value is not None})
        if self._open:
            self._draw()

    def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        """Begin a game; see `Env.reset`. There are no options."""
        _, info = super().reset(seed=seed, **options)
        if self._open:
            self._draw()
        self.turn = 0
        self._won = self._lost = False
        self._value = 0.0
        self._deal()
        self._how_to = self._how()
        info["suffix"] = tail = self._tail()
        price = "ends the game" if self.end_on_format_error else "uses a turn"
        return f"{self._rules()} A reply without a readable action {price}.{tail}", info

    def step(self, action: str) -> StepResult:
        """Play the move in the last box of `action`."""
        self.turn += 1
        text = boxed(action)
        move = None if text is None else self._read(text)
        gained = 0.0
        if move is None:
            # What follows says how to write one, unless there is no next turn.
            feedback = "Your reply holds no action that can be read; the last box in it counts."
            gained, self._lost = self.format_error_reward, self.end_on_format_error
        else:
            feedback = self._play(move)
            if self._won:
                return self._farewell(feedback), 1.0 - self._value, True, False, {"success": True}
            if self._dense:
                value = PARTIAL * self._progress()
                gained, self._value = value - self._value, value
        if self._lost:
            return self._farewell(f"{feedback}\nThe game is over."), gained, True, False, {"success": False}
        if self.turn >= self.max_turns:
            feedback = self._farewell(f"{feedback}\nThat was the last turn: the game is over.")
            return feedback, gained, False, True, {"success": False, "truncated_by": "max_turns"}
        tail = self._tail()
        return feedback + tail, gained, False, False, {"suffix": tail}

    def _farewell(self, feedback: str) -> str:
        ending = self._ending()
        return f"{feedback}\n{ending}" if ending else feedback

    def _tail(self) -> str:
        """Return the part of an observation that is only worth reading while it is current."""
        board = self._board()
        if board:
            return f"\n{board}\nTurns left: {self.max_turns - self.turn}. {self._how_to}"
        return f"\nTurns left: {self.max_turns - self.turn}. {self._how_to}"


def _penalty(value: Any) -> float:
    """Check what a malformed reply pays."""
    if not isinstance(value, (int, float)) or not -math.inf < value <= 0:
        raise ValueError(
            "format_error_reward is a number, 0 or less (a positive one would pay for breaking the format); "
            f"got {value!r}."
        )
    return float(value)


def box(content: object) -> str:
    r"""Return `\boxed{content}`."""
    return f"\\boxed{{{content}}}"


def direction(text: str) -> str | None:
    """Read "up", "down", "left" or "right" in any case; None for anything else."""
    word = text.lower() if len(text) <= 5 else ""
    return word if word in ("up", "down", "left", "right") else None


def integer(text: str) -> int | None:
    """Read a whole number written with ASCII digits and perhaps a sign; None for anything else.

    One of more than 18 digits comes out as 10**18 (or its negative): beyond every board, and cheap to read.
    """
    if len(text) <= 18 and text.isdigit() and text.isascii():  # the usual case, first
        return int(text)
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isdigit() and digits.isascii()):
        return None
    number = int(digits) if len(digits) <= 18 else min(int(digits.lstrip("0")[:19] or "0"), _MANY)
    return -number if text[0] == "-" else number


def integers(text: str, count: int | None = None) -> tuple[int, ...] | None:
    """Read `count` whole numbers, or one or more, apart by blanks, commas or brackets; None for anything else."""
    numbers = tuple(map(integer, text.translate(_SEPARATORS).split()))
    if len(numbers) != (count or len(numbers) or 1) or None in numbers:
        return None
    return numbers  # type: ignore[return-value]  # none of them is None


def whole_number(name: str, value: Any, least: int, most: int | None = None) -> int | None:
    """Check a parameter.

    Args:
        name: The parameter, for the message.
        value: An integer, numpy's included; None passes through.
        least: The smallest legal value.
        most: The largest legal value, or None.

    Returns:
        The value as `int`, or None.

    Raises:
        ValueError: It is no integer or outside the bounds.
    """
    if value is None:
        return None
    legal = f"{least} or larger" if most is None else f"{least} to {most}"
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        raise ValueError(f"{name} is a whole number, {legal}; got {value!r}.")
    return number


def grid(rows: Iterable[Sequence[str]], width: int) -> str:
    """Draw cells of one character in rows, with the numbers of rows and columns (from 0) beside and above.

    Args:
        rows: The cells by row, `width` in each.
        width: The number of columns.

    Returns:
        Aligned lines without a line break at the end.
    """
    if width <= 10:  # every column number is one character, as the cells are
        lines = ["    " + " ".join("0123456789"[:width])]
        lines += [f"{number:>2}  " + " ".join(cells) for number, cells in enumerate(rows)]
    else:
        lines = ["    " + " ".join(f"{column:>2}" for column in range(width))]
        lines += [f"{number:>2}   " + "  ".join(cells) for number, cells in enumerate(rows)]
    return "\n".join(lines)
