"""The word lists: enough words for every game, real ones, the same wherever they are read."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gem_games.words import LONGEST, SHORTEST, is_word, words_of_length

LENGTHS = range(SHORTEST, LONGEST + 1)


@pytest.mark.parametrize("length", LENGTHS)
def test_words_of_each_length_are_many_plain_and_sorted(length: int) -> None:
    words = words_of_length(length)
    assert len(words) >= 100
    assert list(words) == sorted(set(words))
    for word in words:
        assert len(word) == length
        assert word.isascii()
        assert word.isalpha()
        assert word.islower()


@pytest.mark.parametrize(("length", "least"), [(3, 250), (4, 800), (5, 1000), (6, 1000), (7, 1000), (8, 800)])
def test_words_of_the_registered_lengths_are_enough_not_to_be_learned_by_heart(length: int, least: int) -> None:
    assert len(words_of_length(length)) >= least


@pytest.mark.parametrize("length", LENGTHS)
def test_rare_words_are_other_than_most_common_ones(length: int) -> None:
    rare = words_of_length(length, rare=True)
    assert 40 <= len(rare) < len(words_of_length(length))
    assert list(rare) == sorted(set(rare))
    assert not {"time", "house", "people", "nothing"} & set(rare)


@pytest.mark.parametrize("length", LENGTHS)
def test_hidden_words_are_real_words(length: int) -> None:
    assert all(map(is_word, words_of_length(length)))
    assert all(map(is_word, words_of_length(length, rare=True)))


def test_hidden_words_hold_no_profanity_and_no_first_names() -> None:
    hidden = {word for length in LENGTHS for rare in (False, True) for word in words_of_length(length, rare=rare)}
    assert not hidden & {"shit", "bitch", "fucking", "asshole", "emily", "lincoln", "gillian", "jennings", "london"}


def test_words_of_length_gives_the_same_object_each_time() -> None:
    assert words_of_length(5) is words_of_length(5)


@pytest.mark.parametrize("length", [-1, 0, 2, 13, 10**9])
def test_words_of_length_refuses_a_length_without_words(length: int) -> None:
    with pytest.raises(ValueError, match=f"3 to 12 letters; none of {length} are kept"):
        words_of_length(length)


def test_is_word_knows_inflected_forms_that_are_never_hidden() -> None:
    assert is_word("towels")
    assert is_word("vowed")
    assert "towels" not in words_of_length(6)


@pytest.mark.parametrize(
    "text",
    ["", "a", "zzxqj", "hou se", "house\n", "HOUSE", "\x00\x00\x00", "héron", "🙂🙂🙂", "x" * 10**6, "\n", "a\nb"],
)
def test_is_word_refuses_anything_else(text: str) -> None:
    assert not is_word(text)


def test_words_are_read_as_utf8_whatever_the_locale() -> None:
    code = "import gem_games.words as w; print([w.words_of_length(length) for length in range(3, 13)])"
    told = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **settings}, capture_output=True, text=True, check=True
        ).stdout
        for settings in (
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "7"},
        )
    }
    assert len(told) == 1
    assert told.pop().strip()
