"""Mastermind: find a hidden code from black and white pegs."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations, product
from math import perm
from operator import eq
from typing import Any

from gem_games.base import Game, box, integers, whole_number

__all__ = ["MastermindEnv", "pegs"]

_LONGEST, _LARGEST = 12, 100
_LISTED = 5_000  # of more codes than this no list is made


class MastermindEnv(Game[tuple[int, ...]]):
    """Find a hidden code of numbers; each guess is marked with black and white pegs.

    A black peg is a right number in the right place, a white peg a right number in another place; no number of the code
    gets two pegs. A guess may repeat a number or an earlier guess even where the code cannot.

    Progress: the best guess so far, `(black + white / 2) / code_length`. It never falls, so a guess earns only what it
    is better by.

    Args:
        code_length: How many numbers the code has, 1 to 12; None draws 2 to 4 at each reset.
        num_numbers: The largest of them, 1 to 100; None draws 4 to 8 at each reset, more for a long code.
        max_turns: The guesses allowed; None draws, at each reset, `code_length + num_numbers` and up to eight more.
        duplicate_numbers: Whether a number can stand in the code twice.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds, or there are too few numbers for a code without duplicates.
    """

    code_length: int
    num_numbers: int

    def __init__(
        self,
        code_length: int | None = 4,
        num_numbers: int | None = 6,
        max_turns: int | None = 20,
        duplicate_numbers: bool = False,
        **scoring: Any,
    ) -> None:
        super().__init__(**scoring)
        code_length = whole_number("code_length", code_length, 1, _LONGEST)
        num_numbers = whole_number("num_numbers", num_numbers, 1, _LARGEST)
        self.duplicate_numbers = bool(duplicate_numbers)
        if code_length and num_numbers and code_length > num_numbers and not self.duplicate_numbers:
            raise ValueError(
                f"A code of {code_length} different numbers needs num_numbers of at least {code_length}; "
                f"got {num_numbers}. Allow duplicate_numbers, or change one of them."
            )
        self._keep(code_length=code_length, num_numbers=num_numbers, max_turns=whole_number("max_turns", max_turns, 1))
        self._deal()

    def _draw(self) -> None:
        if "code_length" in self._open:
            longest = 4
            if "num_numbers" not in self._open and not self.duplicate_numbers:
                longest = min(longest, self.num_numbers)
            self.code_length = self.rng.randint(min(2, longest), longest)
        if "num_numbers" in self._open:
            fewest = max(4, self.code_length)
            self.num_numbers = self.rng.randint(fewest, min(fewest + 4, _LARGEST))
        if "max_turns" in self._open:
            self.max_turns = self.code_length + self.num_numbers + self.rng.randint(0, 8)

    def _deal(self) -> None:
        numbers = range(1, self.num_numbers + 1)
        draw = self.rng.choices if self.duplicate_numbers else self.rng.sample
        self._code = tuple(draw(numbers, k=self.code_length))
        self.guesses: list[tuple[tuple[int, ...], int, int]] = []  # each with its black and white pegs
        self._lines = ""  # the same, as the board shows them
        self._best = 0  # pegs of the best guess, a black one counted as two

    def _rules(self) -> str:
        twice = "A number can come" if self.duplicate_numbers else "No number comes"
        return (
            f"Mastermind. I have a secret code of {self.code_length} numbers from 1 to {self.num_numbers}. {twice} "
            f"twice in it. You have {self.max_turns} guesses. I mark each with pegs: a black peg for each right number "
            "in the right place, a white peg for each right number in another place; no number of the code gets two "
            "pegs. You win when you name the code."
        )

    def _how(self) -> str:
        example = " ".join(str(place % self.num_numbers + 1) for place in range(self.code_length))
        return f"Put your guess in a box, blanks between its numbers, like {box(example)}."

    def _board(self) -> str:
        duplicates = "duplicates possible" if self.duplicate_numbers else "no duplicates"
        head = f"The code: {self.code_length} numbers from 1 to {self.num_numbers}, {duplicates}."
        return f"{head} Guesses so far:{self._lines}" if self._lines else f"{head} No guesses yet."

    def _read(self, text: str) -> tuple[int, ...] | None:
        if self.num_numbers < 10 and len(text) == self.code_length and text.isdigit() and text.isascii():
            return tuple(map(int, text))  # 1234 can only mean 1 2 3 4
        return integers(text)

    def _play(self, guess: tuple[int, ...]) -> str:
        if len(guess) != self.code_length:
            return f"The code has {self.code_length} numbers, your guess {len(guess)}."
        if min(guess) < 1 or max(guess) > self.num_numbers:
            return f"The numbers go from 1 to {self.num_numbers}; your guess has another."
        black, white = pegs(guess, self._code)
        written = " ".join(map(str, guess)) if self.num_numbers < 10 else " ".join(f"{number:>3}" for number in guess)
        if black == self.code_length:
            self._won = True
            return f"{' '.join(map(str, guess))} is the code: you win!"
        self.guesses.append((guess, black, white))
        marks = f"{written}: {black} black, {white} white"
        self._lines += f"\n{len(self.guesses):>3}.  {marks}"
        self._best = max(self._best, 2 * black + white)
        return f"{marks}."

    def _progress(self) -> float:
        return self._best / (2 * self.code_length)

    def _ending(self) -> str:
        return "" if self._won else f"The code was {' '.join(map(str, self._code))}."

    def _codes(self) -> tuple[tuple[int, ...], ...]:
        return _codes(self.code_length, self.num_numbers, self.duplicate_numbers)

    def sample_random_action(self) -> str:
        """Guess any code that can be."""
        codes = self._codes()
        if codes:
            guess = codes[int(self.action_rng.random() * len(codes))]
        else:
            draw = self.action_rng.choices if self.duplicate_numbers else self.action_rng.sample
            guess = tuple(draw(range(1, self.num_numbers + 1), k=self.code_length))
        return box(" ".join(map(str, guess)))

    def oracle_action(self) -> str:
        """Guess a code that would have got the same pegs so far; only where there are over 5,000 codes, peek."""
        codes: Any = self._codes() or (self._code,)
        for guess, black, white in self.guesses:
            codes = [code for code in codes if sum(map(eq, guess, code)) == black and pegs(guess, code)[1] == white]
        return box(" ".join(map(str, codes[len(codes) // 2])))


def pegs(guess: tuple[int, ...], code: tuple[int, ...]) -> tuple[int, int]:
    """Mark a guess of the code's length.

    Returns:
        The black pegs (right number, right place) and the white ones (right number, other place), at most one for each
        number of the code.
    """
    black = sum(map(eq, guess, code))
    shared = 0
    for number in set(guess):
        if number in code:
            shared += min(guess.count(number), code.count(number))
    return black, shared - black


@lru_cache(maxsize=32)
def _codes(length: int, numbers: int, duplicates: bool) -> tuple[tuple[int, ...], ...]:
    """List every code that can be, or none where they are too many."""
    if (numbers**length if duplicates else perm(numbers, length)) > _LISTED:
        return ()
    choice = range(1, numbers + 1)
    return tuple(product(choice, repeat=length) if duplicates else permutations(choice, length))
