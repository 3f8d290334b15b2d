"""Guess the number: find a hidden number by bisection."""

from __future__ import annotations

from math import log
from typing import Any

from gem_games.base import Game, box, integer, whole_number

__all__ = ["GuessTheNumberEnv"]

_LIMIT = 10**15


class GuessTheNumberEnv(Game[int]):
    """Find a hidden number; each guess is answered by "higher" or "lower".

    Progress: `log(n / m) / log(n)`, where `m` of the `n` numbers are still possible. A guess that tells nothing new
    pays nothing.

    Args:
        min_number: The smallest number it can be; None draws -50 to 50 at each reset.
        max_number: The largest; None draws 5 to 100 numbers at each reset.
        max_turns: The guesses allowed; None draws, at each reset, up to four more than bisection needs.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds, or `max_number` is below `min_number`.
    """

    min_number: int
    max_number: int

    def __init__(
        self, min_number: int | None = 1, max_number: int | None = 20, max_turns: int | None = 10, **scoring: Any
    ) -> None:
        super().__init__(**scoring)
        min_number = whole_number("min_number", min_number, -_LIMIT, _LIMIT)
        max_number = whole_number("max_number", max_number, -_LIMIT if min_number is None else min_number, _LIMIT)
        self._keep(min_number=min_number, max_number=max_number, max_turns=whole_number("max_turns", max_turns, 1))
        self._deal()

    def _draw(self) -> None:
        count = self.rng.randint(5, 100)
        if "max_number" not in self._open:
            if "min_number" in self._open:
                self.min_number = self.max_number + 1 - count
        else:
            if "min_number" in self._open:
                self.min_number = self.rng.randint(-50, 50)
            self.max_number = self.min_number + count - 1
        if "max_turns" in self._open:
            needed = (self.max_number - self.min_number + 1).bit_length()
            self.max_turns = needed + self.rng.randint(0, 4)

    def _deal(self) -> None:
        self.low, self.high = self.min_number, self.max_number  # where the number can still be
        count = self.high - self.low + 1
        self._scale = log(count)
        self._target = self.low + int(self.rng.random() * count)

    def _rules(self) -> str:
        return (
            f"Guess the number. I think of a whole number from {self.min_number} to {self.max_number}, both included. "
            f"You have {self.max_turns} guesses; after each I say whether my number is higher or lower. You win when "
            "you name it."
        )

    def _how(self) -> str:
        return f"Put your guess in a box, like {box(self.min_number)}."

    def _board(self) -> str:
        return f"My number is from {self.low} to {self.high}."

    _read = staticmethod(integer)

    def _play(self, guess: int) -> str:
        if not self.min_number <= guess <= self.max_number:
            return f"That number is not from {self.min_number} to {self.max_number}."
        if guess < self._target:
            if guess >= self.low:
                self.low = guess + 1
            return f"{guess} is wrong: my number is higher."
        if guess > self._target:
            if guess <= self.high:
                self.high = guess - 1
            return f"{guess} is wrong: my number is lower."
        self._won = True
        return f"{guess} is right: you win!"

    def _progress(self) -> float:
        # Where one number alone is possible from the start, there is nothing to narrow down.
        return 1.0 - log(self.high - self.low + 1) / self._scale if self._scale else 0.0

    def _ending(self) -> str:
        return "" if self._won else f"My number was {self._target}."

    def sample_random_action(self) -> str:
        """Guess any number of the range."""
        low = self.min_number
        return box(low + int(self.action_rng.random() * (self.max_number - low + 1)))

    def oracle_action(self) -> str:
        """Guess the middle of what is possible, without peeking."""
        return box((self.low + self.high) // 2)
