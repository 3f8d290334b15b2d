"""The rules of Hangman."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import PARTIAL, box
from gem_games.hangman import HangmanEnv
from gem_games.words import LONGEST, SHORTEST, words_of_length


def with_word(word: str, **parameters: Any) -> HangmanEnv:
    """Return an env that has just been reset, whose word is `word`."""
    env = HangmanEnv(**{"word_length": len(word), **parameters})
    env.reset(seed=0)
    env._word = word.upper()
    return env


def test_the_board_shows_letters_and_what_was_wrong() -> None:
    env = with_word("llama")
    assert env.step("\\boxed{a}")[0].startswith("The word has A.\nThe word: _ _ A _ A\nNot in it: -\nTurns left: 14. ")
    assert env.step("\\boxed{E}")[0].startswith("The word has no E.\nThe word: _ _ A _ A\nNot in it: E\n")
    assert env.step("\\boxed{drama}")[4]["suffix"].startswith(
        "\nThe word: _ _ A _ A\nNot in it: E\nWrong words: DRAMA\nTurns left: 12. "
    )
    assert env.step("\\boxed{L}")[0].startswith("The word has L.\nThe word: L L A _ A\n")
    assert env.step("\\boxed{m}")[::2] == ("M was the last letter of LLAMA: you win!", True, {"success": True})


def test_naming_the_word_wins_at_once() -> None:
    assert with_word("crane").step("I say \\boxed{c r a n e}.") == (
        "CRANE is the word: you win!",
        1.0,
        True,
        False,
        {"success": True},
    )


def test_a_part_of_the_word_is_not_the_word() -> None:
    env = with_word("cat")
    assert env.step("\\boxed{concatenate}")[0].startswith("The word has 3 letters, your guess 11.")
    assert env.step("\\boxed{at}")[0].startswith("The word has 3 letters, your guess 2.")


def test_what_was_tried_before_is_refused_and_uses_a_turn() -> None:
    env = with_word("crane")
    for text, said in (("e", "The word has E."), ("z", "The word has no Z."), ("blame", "BLAME is not the word.")):
        assert env.step(box(text))[0].startswith(said)
        observation, reward, terminated, truncated, info = env.step(box(text.upper()))
        assert observation.startswith(f"You have already tried {text.upper()}.")
        assert (reward, terminated, truncated) == (0.0, False, False)
    assert "\nThe word: _ _ _ _ E\nNot in it: Z\nWrong words: BLAME\nTurns left: 9. " in info["suffix"]


@pytest.mark.parametrize("text", ["", "4", "e!", "é", "ｅ", "\0", "🙂", "e,a", "\u212a"])
def test_what_is_no_ascii_letter_is_malformed(text: str) -> None:
    assert with_word("crane").step(box(text))[1:4] == (-0.1, True, False)


def test_each_shown_place_pays_its_share_of_partial() -> None:
    env = with_word("llama")
    paid = [env.step(box(text))[1] for text in ("l", "l", "z", "a", "drama", "m")]
    assert paid == pytest.approx([PARTIAL * 0.4, 0, 0, PARTIAL * 0.4, 0, 1 - PARTIAL * 0.8])


def test_sparse_rewards_pay_the_word_alone() -> None:
    env = with_word("mom", reward="sparse")
    assert [env.step(box(text))[1] for text in ("o", "m")] == [0.0, 1.0]


@pytest.mark.parametrize("seed", range(20))
def test_repeating_what_paid_earns_no_more_than_partial(seed: int) -> None:
    env = HangmanEnv()
    env.reset(seed=seed)
    kept, total, ended = env.sample_random_action(), 0.0, False
    while not ended:
        _, reward, terminated, truncated, info = env.step(kept or env.sample_random_action())
        kept, total, ended = (kept if reward > 0 else None), total + reward, terminated or truncated
    assert info["success"] or total <= PARTIAL + 1e-9


def test_the_word_is_told_only_once_the_game_is_lost() -> None:
    env = with_word("crane", max_turns=2)
    assert "CRANE" not in env.step("\\boxed{x}")[0]
    observation, _, terminated, truncated, info = env.step("\\boxed{y}")
    assert observation.endswith("That was the last turn: the game is over.\nThe word was CRANE.")
    assert (terminated, truncated, info) == (False, True, {"success": False, "truncated_by": "max_turns"})


@pytest.mark.parametrize("hardcore", [False, True])
def test_hardcore_hides_rare_words_and_says_so(hardcore: bool) -> None:
    env = HangmanEnv(7, hardcore)
    words = set()
    for seed in range(50):
        observation, _ = env.reset(seed=seed)
        words.add(env._word.lower())
    assert words <= set(words_of_length(7, rare=hardcore))
    assert len(words) > 40
    assert ("a rather rare English word" in observation) == hardcore


@pytest.mark.parametrize("parameters", [{"word_length": 2}, {"word_length": 13}, {"max_turns": 0}])
def test_parameters_that_make_no_game_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="is a whole number, "):
        HangmanEnv(**parameters)


def test_the_oracle_does_not_peek_before_the_last_turn() -> None:
    env, other = with_word("crane", max_turns=3), with_word("width", max_turns=3)
    assert env.oracle_action() == other.oracle_action() == env.oracle_action()
    for each in (env, other):
        each.step("\\boxed{q}")
    assert env.oracle_action() == other.oracle_action()
    for each in (env, other):
        each.step("\\boxed{x}")
    assert (env.oracle_action(), other.oracle_action()) == ("\\boxed{CRANE}", "\\boxed{WIDTH}")


@pytest.mark.parametrize("hardcore", [False, True])
@pytest.mark.parametrize("length", range(SHORTEST, LONGEST + 1))
def test_the_oracle_always_wins(length: int, hardcore: bool) -> None:
    env = HangmanEnv(length, hardcore, max_turns=10)
    for seed in range(20):
        env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            _, reward, ended, truncated, _ = env.step(env.oracle_action())
            total += reward
            assert not truncated
        assert total == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(SHORTEST, LONGEST), st.booleans(), st.integers(1, 30))
def test_random_legal_play_never_repeats_and_shows_only_what_is_there(
    seed: int, length: int, hardcore: bool, turns: int
) -> None:
    env = HangmanEnv(length, hardcore, turns)
    env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        observation, reward, terminated, truncated, _ = env.step(env.sample_random_action())
        total, ended = total + reward, terminated or truncated
        assert "already tried" not in observation
        assert reward >= 0
        assert env.shown == "".join(letter if letter in env.tried else "_" for letter in env._word)
        assert set(env._missed) == set(env.tried) - set(env._word)
    assert total == pytest.approx(1.0) if env._won else total <= PARTIAL + 1e-9
    assert env.sample_random_action().startswith("\\boxed{")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.text(), st.text("abcdefCRANE ").map(box), st.text(max_size=6).map(box)), min_size=1))
def test_any_text_is_answered(texts: list[str]) -> None:
    env = HangmanEnv(end_on_format_error=False)
    env.reset(seed=1)
    for text in texts:
        _, reward, terminated, truncated, _ = env.step(text)
        assert -0.1 <= reward <= 1
        if terminated or truncated:
            break
