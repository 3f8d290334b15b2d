"""The rules of Wordle."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import PARTIAL, box
from gem_games.wordle import WordleEnv, mark
from gem_games.words import LONGEST, SHORTEST, is_word, words_of_length


def with_word(word: str, **parameters: Any) -> WordleEnv:
    """Return an env that has just been reset, whose word is `word`."""
    env = WordleEnv(**{"word_length": len(word), **parameters})
    env.reset(seed=0)
    env._word = word
    return env


@pytest.mark.parametrize(
    "word, guess, marks",
    [
        ("crane", "crane", "GGGGG"),
        ("crane", "slump", "XXXXX"),
        ("crane", "nacre", "YYYYG"),
        ("abbey", "babes", "YYGGX"),
        ("abbey", "keeps", "XYXXX"),  # one e: the first of two is marked
        ("those", "geese", "XXXGG"),  # one e, in its place: the others are not marked
        ("eerie", "three", "XXGYG"),
        ("speed", "erase", "YXXYY"),
        ("llama", "label", "GYXXY"),
        ("mom", "mmm", "GXG"),
    ],
)
def test_each_letter_of_the_word_marks_one_letter_of_the_guess(word: str, guess: str, marks: str) -> None:
    assert mark(guess, word) == marks


def test_marks_agree_with_the_rules_on_all_short_words() -> None:
    words = ["".join(letters) for letters in product("abc", repeat=4)]
    for word in words:
        for guess in words:
            marks = mark(guess, word)
            assert [g == "G" for g in marks] == [a == b for a, b in zip(guess, word, strict=True)]
            for letter in "abc":
                marked = [place for place in range(4) if guess[place] == letter and marks[place] != "X"]
                assert len(marked) == min(guess.count(letter), word.count(letter))
                # Those in another place are the first ones that are left.
                loose = [marks[place] for place in range(4) if guess[place] == letter and marks[place] != "G"]
                assert loose == sorted(loose, reverse=True)


def test_the_board_keeps_every_marked_guess() -> None:
    env = with_word("crane")
    legend = "Guesses so far (G: right place, Y: other place, X: no such letter, or no more of it):\n"
    first = f"{legend}  1.  C A N O E\n      G Y Y X G\n"
    assert env.step("\\boxed{canoe}")[0].startswith(f"CANOE is not the word.\n{first}Turns left: 14. ")
    assert env.step("\\boxed{crank}")[4]["suffix"].startswith(
        f"\n{first}  2.  C R A N K\n      G G G G X\nTurns left: 13. "
    )
    assert env.step("\\boxed{CRANE}") == ("CRANE is the word: you win!", 1 - PARTIAL, True, False, {"success": True})


@pytest.mark.parametrize("text", ["crane", "CRANE", " Crane\n", "c r a n e", "C R\tA N E"])
def test_a_word_can_be_written_in_several_ways(text: str) -> None:
    assert with_word("crane").step(f"I say {box(text)}.")[4] == {"success": True}


@pytest.mark.parametrize("text", ["", "cr4ne", "crane!", "cräne", "ｃｒａｎｅ", "cran\0", "🙂", "cra-ne", "\u212arane"])
def test_what_is_no_word_of_ascii_letters_is_malformed(text: str) -> None:
    assert with_word("crane").step(box(text))[1:4] == (-0.1, True, False)


@pytest.mark.parametrize("text", ["crate s", "cat", "c", "x" * 100_000])
def test_a_word_of_another_length_is_invalid_and_uses_a_turn(text: str) -> None:
    observation, reward, terminated, truncated, info = with_word("crane").step(box(text))
    assert observation.startswith("The word has 5 letters, your guess ")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["suffix"].startswith("\nNo guesses yet.\nTurns left: 14. ")


def test_only_real_words_count_where_that_is_asked() -> None:
    observation, reward, terminated, truncated, info = with_word("crane").step("\\boxed{crxne}")
    assert observation.startswith("CRXNE is not a word that I know.")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["suffix"].startswith("\nNo guesses yet.\nTurns left: 14. Put an English word of 5 letters in a box")
    observation, reward, *_ = with_word("crane", only_real_words=False).step("\\boxed{crxne}")
    assert reward == pytest.approx(PARTIAL * 0.8)
    assert "G G X G G" in observation


def test_inflected_and_rare_words_are_real() -> None:
    env = with_word("crane", max_turns=50)
    for text in ("birds", "vowed", "their", "would", "shoat"):
        assert "is not the word." in env.step(box(text))[0]


# GAME-17
def test_what_is_seen_depends_on_the_marks_alone() -> None:
    env, other = with_word("crane"), with_word("crate")
    assert repr(env) == repr(other)
    for text in ("crxne", "cranes", "slump", "grape", "brace", "brace"):
        assert env.step(box(text)) == other.step(box(text))
    assert env.step(box("acorn")) != other.step(box("acorn"))  # only one of the words has an N


# GAME-15
def test_three_words_of_the_wrong_length_are_no_win() -> None:
    env = with_word("crane", max_turns=3)
    results = [env.step("\\boxed{cranes}") for _ in range(3)]
    assert [result[1] for result in results] == [0.0] * 3
    assert results[-1][2:] == (False, True, {"success": False, "truncated_by": "max_turns"})
    assert results[-1][0].endswith("That was the last turn: the game is over.\nThe word was CRANE.")


def test_what_a_guess_newly_tells_is_paid_once() -> None:
    env = with_word("eerie")
    paid = [env.step(box(text))[1] for text in ("three", "three", "speed", "reran", "crane", "eerie")]
    # r and two e known, r and one e placed; nothing new, twice; a second e placed; nothing new; all.
    assert paid == pytest.approx([PARTIAL * 0.5, 0, 0, PARTIAL * 0.1, 0, 1 - PARTIAL * 0.6])


def test_placing_every_letter_without_the_word_pays_partial_at_most() -> None:
    env = with_word("mom", only_real_words=False)
    total = sum(env.step(box(text))[1] for text in ("mxx", "xox", "xxm", "mxm", "oxo"))
    assert total == pytest.approx(PARTIAL)


def test_sparse_rewards_pay_the_word_alone() -> None:
    env = with_word("crane", reward="sparse")
    assert [env.step(box(text))[1] for text in ("canoe", "crank", "crane")] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("seed", range(20))
def test_repeating_what_paid_earns_no_more_than_partial(seed: int) -> None:
    env = WordleEnv()
    env.reset(seed=seed)
    kept, total, ended = env.sample_random_action(), 0.0, False
    while not ended:
        _, reward, terminated, truncated, info = env.step(kept or env.sample_random_action())
        kept, total, ended = (kept if reward > 0 else None), total + reward, terminated or truncated
    assert info["success"] or total <= PARTIAL + 1e-9


@pytest.mark.parametrize("length", range(SHORTEST, LONGEST + 1))
@pytest.mark.parametrize("real", [False, True])
def test_the_example_is_a_word_that_is_never_hidden(length: int, real: bool) -> None:
    observation, _ = WordleEnv(length, real).reset(seed=1)
    example = re.findall(r"\\boxed\{([A-Z]+)\}", observation)
    assert len(example) == 1
    assert len(example[0]) == length
    assert is_word(example[0].lower())
    assert example[0].lower() not in words_of_length(length)


def test_hidden_words_have_the_length_asked_for_and_differ() -> None:
    env = WordleEnv(None, max_turns=None)
    words = set()
    for seed in range(100):
        env.reset(seed=seed)
        assert len(env._word) == env.word_length
        words.add(env._word)
    assert len(words) > 90
    assert {len(word) for word in words} == {3, 4, 5, 6}


@pytest.mark.parametrize("parameters", [{"word_length": 2}, {"word_length": 13}, {"max_turns": 0}])
def test_parameters_that_make_no_game_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="is a whole number, "):
        WordleEnv(**parameters)


@pytest.mark.slow
@pytest.mark.parametrize("length, turns, stride", [(3, 10, 1), (4, 10, 4), (5, 6, 1), (6, 10, 4)])
def test_the_oracle_finds_every_word_without_peeking(length: int, turns: int, stride: int) -> None:
    env = WordleEnv(length, max_turns=turns)
    for word in words_of_length(length)[::stride]:
        env.reset(seed=0)
        env._word = word
        while not (ended := env.step(env.oracle_action()))[2]:
            assert not ended[3], word


def test_the_oracle_is_the_same_for_two_words_that_got_the_same_marks() -> None:
    env, other = with_word("width"), with_word("bough")
    assert env.oracle_action() == other.oracle_action()
    for each in (env, other):
        each.step("\\boxed{canal}")
    assert env.oracle_action() == other.oracle_action()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(SHORTEST, LONGEST), st.booleans(), st.integers(1, 25))
def test_random_legal_play_keeps_marks_true(seed: int, length: int, real: bool, turns: int) -> None:
    env = WordleEnv(length, real, turns)
    env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        _, reward, terminated, truncated, _ = env.step(env.sample_random_action())
        total, ended = total + reward, terminated or truncated
        assert reward >= 0
        assert len(env._placed) <= length
        assert all(count <= env._word.count(letter) for letter, count in env._known.items())
        assert env._word in [
            word for word in words_of_length(length) if all(mark(g, word) == m for g, m in env.guesses)
        ]
    assert len(env.guesses) == env.turn - env._won
    assert total == pytest.approx(1.0) if env._won else total <= PARTIAL + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.text(), st.text("abcdefCRANE ").map(box), st.text(max_size=6).map(box)), min_size=1))
def test_any_text_is_answered(texts: list[str]) -> None:
    env = WordleEnv(end_on_format_error=False)
    env.reset(seed=1)
    for text in texts:
        _, reward, terminated, truncated, _ = env.step(text)
        assert -0.1 <= reward <= 1
        if terminated or truncated:
            break
