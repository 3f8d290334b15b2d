"""English words: common ones to hide and find, and a larger list to tell whether a word is real.

The common words are the nouns, verbs and adjectives of wonderwords (MIT) without its list of profanities, as far as the
word counts of pyspellchecker (MIT; from film subtitles) say that people meet them; the larger list is pyspellchecker's
dictionary. Both are plain files inside those libraries: nothing is downloaded. They are read once per process, when a
word is first asked for, and shared by all environments. Which words there are depends on the versions installed.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from gem.errors import MissingDependency

__all__ = ["LONGEST", "SHORTEST", "is_word", "read_letters", "words_of_length"]

SHORTEST, LONGEST = 3, 12
"""The lengths for which there are at least a hundred common words."""

_COMMON = 100  # how often it occurs in the subtitles; below are apse, dhow, edger, oleo, shoat


class _Words(NamedTuple):
    common: dict[int, tuple[str, ...]]
    rare: dict[int, tuple[str, ...]]
    real: dict[int, str]
    """Per length the words of the larger list, one a line: a seventh of the memory of a set of them."""


def words_of_length(length: int, *, rare: bool = False) -> tuple[str, ...]:
    """Return words fit to be hidden.

    Args:
        length: The number of letters, `SHORTEST` to `LONGEST`.
        rare: Give the least common third of the words, some of which are known to few.

    Returns:
        Different words in lower-case ASCII letters, in alphabetical order; no names, as far as the lists say.
        Always the same object.

    Raises:
        ValueError: There are no words of that length.
    """
    words = (_load().rare if rare else _load().common).get(length)
    if words is None:
        raise ValueError(f"There are words of {SHORTEST} to {LONGEST} letters; none of {length!r} are kept.")
    return words


def is_word(text: str) -> bool:
    """Say whether a text in lower case is an English word of `SHORTEST` to `LONGEST` letters, rare ones included."""
    return text in _real_words(len(text)) if SHORTEST <= len(text) <= LONGEST else False


def read_letters(text: str) -> str | None:
    """Read a word or letter that a player wrote, in any case and perhaps with blanks between its letters.

    Returns:
        Lower-case ASCII letters; None for anything else.
    """
    letters = text if text.isalpha() else "".join(text.split())
    return letters.lower() if letters.isascii() and letters.isalpha() else None


@lru_cache(maxsize=LONGEST)
def _real_words(length: int) -> frozenset[str]:
    return frozenset(_load().real[length].split("\n"))


@lru_cache(maxsize=1)
def _load() -> _Words:
    """Read the lists of both libraries."""
    counts: dict[str, int] = json.loads(gzip.decompress(_file("spellchecker", "resources/en.json.gz")))
    listed = {name: _lines(f"{name}list.txt") for name in ("noun", "verb", "adjective", "profanity")}
    hidden = listed["noun"].union(listed["verb"], listed["adjective"]).difference(listed["profanity"])
    hideable: dict[int, list[str]] = defaultdict(list)
    for word in filter(_plain, hidden.intersection(counts)):
        hideable[len(word)].append(word)
    real: dict[int, list[str]] = defaultdict(list)
    for word in filter(_plain, counts):
        real[len(word)].append(word)
    common, rare = {}, {}
    for length, words in hideable.items():
        words.sort(key=lambda word: (counts[word], word))
        rare[length] = tuple(sorted(words[: len(words) // 3]))
        common[length] = tuple(sorted(word for word in words if counts[word] >= _COMMON))
    return _Words(common, rare, {length: "\n".join(words) for length, words in real.items()})


def _lines(name: str) -> set[str]:
    return set(_file("wonderwords", f"assets/{name}").decode("utf-8").splitlines())


def _file(package: str, name: str) -> bytes:
    """Read a file of a package, which is not imported: wonderwords cannot be where the locale is not UTF-8."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise MissingDependency(
            f"The word lists need the package {package}, which gem-games depends on: install gem-games again."
        )
    return (Path(folders[0]) / name).read_bytes()


def _plain(word: str) -> bool:
    return SHORTEST <= len(word) <= LONGEST and word.isascii() and word.isalpha() and word.islower()
