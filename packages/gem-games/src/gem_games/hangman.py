"""Hangman: uncover a hidden word letter by letter."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from gem_games.base import Game, box, whole_number
from gem_games.words import LONGEST, SHORTEST, read_letters, words_of_length

__all__ = ["HangmanEnv"]

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class HangmanEnv(Game[str]):
    """Uncover a hidden word: a letter that it has is shown wherever it stands; naming the whole word wins too.

    Only turns are counted, there is no gallows: a right guess uses one like a wrong guess. What was tried before is
    refused.

    Progress: the share of the word that is shown. Nothing shown is ever covered again.

    Args:
        word_length: The letters of the word, 3 to 12; None draws 3, 5 or 7 at each reset.
        hardcore: Whether the word is one of the rarer ones.
        max_turns: The guesses allowed; None draws, at each reset, 2 to 6 more than twice the letters of the word and at
            least 10.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds.
    """

    word_length: int

    def __init__(
        self, word_length: int | None = 5, hardcore: bool = False, max_turns: int | None = 15, **scoring: Any
    ) -> None:
        super().__init__(**scoring)
        self.hardcore = bool(hardcore)
        word_length = whole_number("word_length", word_length, SHORTEST, LONGEST)
        self._keep(word_length=word_length, max_turns=whole_number("max_turns", max_turns, 1))
        self._deal()

    def _draw(self) -> None:
        if "word_length" in self._open:
            self.word_length = self.rng.choice((3, 5, 7))
        if "max_turns" in self._open:
            self.max_turns = max(10, 2 * self.word_length + self.rng.randint(2, 6))

    def _deal(self) -> None:
        self._word = self.rng.choice(words_of_length(self.word_length, rare=self.hardcore)).upper()
        self.shown = "_" * self.word_length  # the word, its unknown letters covered
        self.tried = ""  # letters
        self._missed = ""  # those that the word does not have
        self._words: tuple[str, ...] = ()  # whole words that were wrong

    def _rules(self) -> str:
        kind = "a rather rare English word" if self.hardcore else "an English word"
        return (
            f"Hangman. I think of {kind} of {self.word_length} letters. You have {self.max_turns} guesses. Guess a "
            "letter, and I show every place where the word has it; or guess the whole word. You win when all letters "
            "are shown or you name the word."
        )

    def _how(self) -> str:
        return f"Put one letter, like {box('E')}, or the whole word of {self.word_length} letters in a box."

    def _board(self) -> str:
        board = f"The word: {' '.join(self.shown)}\nNot in it: {' '.join(self._missed) or '-'}"
        return f"{board}\nWrong words: {' '.join(self._words)}" if self._words else board

    def _read(self, text: str) -> str | None:
        return read_letters(text)

    def _play(self, guess: str) -> str:
        guess = guess.upper()
        if len(guess) > 1:
            return self._play_word(guess)
        if guess in self.tried:
            return f"You have already tried {guess}."
        self.tried += guess
        if guess not in self._word:
            self._missed += guess
            return f"The word has no {guess}."
        self.shown = "".join(
            letter if letter == guess else shown for letter, shown in zip(self._word, self.shown, strict=True)
        )
        if self.shown == self._word:
            self._won = True
            return f"{guess} was the last letter of {self._word}: you win!"
        return f"The word has {guess}."

    def _play_word(self, guess: str) -> str:
        if len(guess) != self.word_length:
            return f"The word has {self.word_length} letters, your guess {len(guess)}."
        if guess in self._words:
            return f"You have already tried {guess}."
        if guess == self._word:
            self._won = True
            return f"{guess} is the word: you win!"
        self._words += (guess,)
        return f"{guess} is not the word."

    def _progress(self) -> float:
        return 1.0 - self.shown.count("_") / self.word_length

    def _ending(self) -> str:
        return "" if self._won else f"The word was {self._word}."

    def sample_random_action(self) -> str:
        """Guess any letter that was not tried."""
        letters = [letter for letter in _ALPHABET if letter not in self.tried] or _ALPHABET
        return box(letters[int(self.action_rng.random() * len(letters))])

    def oracle_action(self) -> str:
        """Guess a letter that half of the words still possible have, or the word once it is clear.

        It does not peek, but for the last turn, when it names the word even if others are possible (short words).
        """
        if self.turn == self.max_turns - 1:
            return box(self._word)
        left = self._possible()
        if len(left) <= 2:
            return box(left[0].upper())
        often = Counter(letter for word in left for letter in set(word))
        for letter in self.tried.lower():
            del often[letter]
        chosen = max(often, key=lambda letter: (min(often[letter], len(left) - often[letter]), letter))
        return box(chosen.upper())

    def _possible(self) -> list[str]:
        """List the words with which the board would stand as it does."""
        covered = f"[^{self.tried}]" if self.tried else "."
        pattern = re.compile(self.shown.replace("_", covered), re.IGNORECASE)
        words = words_of_length(self.word_length, rare=self.hardcore)
        return [word for word in words if pattern.fullmatch(word) and word.upper() not in self._words]
