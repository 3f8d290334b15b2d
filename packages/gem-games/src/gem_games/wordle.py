"""Wordle: find a hidden word from coloured letters."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

from gem_games.base import Game, box, whole_number
from gem_games.words import LONGEST, SHORTEST, is_word, read_letters, words_of_length

__all__ = ["WordleEnv", "mark"]

_POOL = 40  # how many guesses the solver compares
_EXAMPLES = "the this which should because although otherwise themselves furthermore nevertheless".upper().split()
"""By length, from `SHORTEST`; real words, but none of them is ever hidden."""


class WordleEnv(Game[str]):
    """Find a hidden word; each letter of a guess is marked G, Y or X.

    G is a letter in the right place, Y one that the word has elsewhere, X one that it has not. A letter that comes
    twice in the guess and once in the word is X one time: it is G where it is right, else Y where it comes first. A
    guess may be repeated. With `only_real_words`, one that is no English word is refused: it uses a turn and is not
    marked.

    Progress: half for the share of the places that ever were G, half for the share of the letters that are known to be
    in the word. Neither falls, so a guess earns only what it newly tells.

    Args:
        word_length: The letters of the word, 3 to 12; None draws 3 to 6 at each reset.
        only_real_words: Whether guesses must be English words.
        max_turns: The guesses allowed; None draws 10 to 20 at each reset.
        scoring: `reward`, `format_error_reward`, `end_on_format_error`: see `Game`.

    Raises:
        ValueError: A parameter is out of bounds.
    """

    word_length: int

    def __init__(
        self, word_length: int | None = 5, only_real_words: bool = True, max_turns: int | None = 15, **scoring: Any
    ) -> None:
        super().__init__(**scoring)
        self.only_real_words = bool(only_real_words)
        word_length = whole_number("word_length", word_length, SHORTEST, LONGEST)
        self._keep(word_length=word_length, max_turns=whole_number("max_turns", max_turns, 1))
        self._deal()

    def _draw(self) -> None:
        if "word_length" in self._open:
            self.word_length = self.rng.randint(3, 6)
        if "max_turns" in self._open:
            self.max_turns = self.rng.randint(10, 20)

    def _deal(self) -> None:
        self._word = self.rng.choice(words_of_length(self.word_length))
        self.guesses: list[tuple[str, str]] = []  # each with its marks
        self._lines = ""  # the same, as the board shows them
        self._placed: set[int] = set()  # places that were G
        self._known: dict[str, int] = {}  # how often the word has a letter at least

    def _rules(self) -> str:
        real = "Only English words count." if self.only_real_words else "Any letters make a guess."
        return (
            f"Wordle. I think of an English word of {self.word_length} letters. You have {self.max_turns} guesses. "
            f"{real} I mark each letter of a guess: G if it is in the right place, Y if the word has it in another "
            "place, X if the word has no such letter, or no more of it. You win when you name the word."
        )

    def _how(self) -> str:
        guess = "an English word of" if self.only_real_words else "any"
        return f"Put {guess} {self.word_length} letters in a box, like {box(_EXAMPLES[self.word_length - SHORTEST])}."

    def _board(self) -> str:
        if self._lines:
            return f"Guesses so far (G: right place, Y: other place, X: no such letter, or no more of it):{self._lines}"
        return "No guesses yet."

    def _read(self, text: str) -> str | None:
        return read_letters(text)

    def _play(self, guess: str) -> str:
        if len(guess) != self.word_length:
            return f"The word has {self.word_length} letters, your guess {len(guess)}."
        if guess == self._word:
            self._won = True
            return f"{guess.upper()} is the word: you win!"
        if self.only_real_words and not is_word(guess):
            return f"{guess.upper()} is not a word that I know."
        marks = mark(guess, self._word)
        self.guesses.append((guess, marks))
        shown = guess.upper()
        self._lines += f"\n{len(self.guesses):>3}.  {' '.join(shown)}\n      {' '.join(marks)}"
        if marks.count("X") < len(marks):
            self._learn(guess, marks)
        return f"{shown} is not the word."

    def _learn(self, guess: str, marks: str) -> None:
        seen: dict[str, int] = {}
        for place, (letter, result) in enumerate(zip(guess, marks, strict=True)):
            if result != "X":
                seen[letter] = seen.get(letter, 0) + 1
                if result == "G":
                    self._placed.add(place)
        for letter, count in seen.items():
            if count > self._known.get(letter, 0):
                self._known[letter] = count

    def _progress(self) -> float:
        return (len(self._placed) + sum(self._known.values())) / (2 * self.word_length)

    def _ending(self) -> str:
        return "" if self._won else f"The word was {self._word.upper()}."

    def sample_random_action(self) -> str:
        """Guess any of the words that are hidden."""
        words = words_of_length(self.word_length)
        return box(words[int(self.action_rng.random() * len(words))].upper())

    def oracle_action(self) -> str:
        """Guess, without peeking, a word that tells the words still possible apart."""
        words = words_of_length(self.word_length)
        if not self.guesses:
            return box(_opening(self.word_length).upper())
        left = list(words)
        for guess, marks in self.guesses:
            left = [word for word in left if mark(guess, word) == marks]
        return box(_telling(left, words).upper())


def mark(guess: str, word: str) -> str:
    """Mark the letters of a guess as long as the word: G in the right place, Y elsewhere, X not, or not once more."""
    marks = ["X"] * len(word)
    rest = []
    for place, letter in enumerate(word):
        if guess[place] == letter:
            marks[place] = "G"
        else:
            rest.append(letter)
    for place, letter in enumerate(guess):
        if letter in rest and marks[place] == "X":
            marks[place] = "Y"
            rest.remove(letter)
    return "".join(marks)


@lru_cache(maxsize=LONGEST)
def _opening(length: int) -> str:
    """Return the word whose letters are the most frequent."""
    words = words_of_length(length)
    often = Counter(letter for word in words for letter in set(word))
    return max(words, key=lambda word: sum(map(often.__getitem__, set(word))))


def _telling(left: list[str], words: tuple[str, ...]) -> str:
    """Return the word whose marks split the possible words into the most parts; a possible one if it does as well."""
    if len(left) <= 2:
        return left[0]
    often = Counter(letter for word in left for letter in set(word))
    # A letter in all of the possible words tells nothing, one in half of them most.
    worth = {letter: min(count, len(left) - count) for letter, count in often.items()}
    tellers = sorted(words, key=lambda word: -sum(worth.get(letter, 0) for letter in set(word)))[:_POOL]
    against = left[:: len(left) // 100 + 1]
    return max(left[:_POOL] + tellers, key=lambda guess: len({mark(guess, word) for word in against}))
