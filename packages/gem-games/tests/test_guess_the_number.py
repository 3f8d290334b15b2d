"""The rules of GuessTheNumber."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import box
from gem_games.guess_the_number import GuessTheNumberEnv


def with_target(target: int, **parameters: int) -> GuessTheNumberEnv:
    """Return an env whose hidden number is `target`."""
    env = GuessTheNumberEnv(**parameters)
    for seed in range(1000):
        env.reset(seed=seed)
        if env._target == target:
            return env
    raise AssertionError("no seed gives that number")


def test_feedback_narrows_down_what_each_observation_states() -> None:
    env = with_target(13)
    assert env.step("\\boxed{10}")[0].startswith("10 is wrong: my number is higher.\nMy number is from 11 to 20.")
    assert env.step("\\boxed{15}")[0].startswith("15 is wrong: my number is lower.\nMy number is from 11 to 14.")
    observation, _, terminated, truncated, info = env.step("\\boxed{13}")
    assert (observation, terminated, truncated, info) == ("13 is right: you win!", True, False, {"success": True})


def test_zero_is_a_guess() -> None:
    env = with_target(0, min_number=0, max_number=3)
    assert env.step("\\boxed{0}")[1:] == (1.0, True, False, {"success": True})


@pytest.mark.parametrize("guess", ["200", "-3", "0", "9" * 10_000])
def test_a_guess_out_of_range_is_invalid_not_malformed(guess: str) -> None:
    env = GuessTheNumberEnv()
    env.reset(seed=1)
    observation, reward, terminated, truncated, _ = env.step(box(guess))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert observation.startswith("That number is not from 1 to 20.\nMy number is from 1 to 20.\nTurns left: 9.")


def test_a_far_guess_on_the_last_turn_pays_nothing() -> None:
    env = with_target(5, max_turns=1)
    observation, reward, *rest = env.step("\\boxed{200}")
    assert (reward, *rest) == (0.0, False, True, {"success": False, "truncated_by": "max_turns"})
    assert observation.endswith("My number was 5.")


def test_ending_near_pays_no_more_than_what_was_ruled_out() -> None:
    env = with_target(5, max_turns=1)
    assert env.step("\\boxed{4}")[1] == pytest.approx(0.5 * (1 - math.log(16) / math.log(20)))


def test_the_rules_are_told_with_the_parameters_in_force() -> None:
    observation, _ = GuessTheNumberEnv(min_number=-5, max_number=12, max_turns=6).reset(seed=1)
    assert "from -5 to 12, both included. You have 6 guesses" in observation


def test_what_is_seen_depends_on_the_answers_alone() -> None:
    """GAME-17: until the end nothing tells two numbers apart that got the same answers."""
    env, other = GuessTheNumberEnv(), GuessTheNumberEnv()
    env.reset(seed=1)
    other.reset(seed=1)
    env._target, other._target = 13, 14
    assert repr(env) == repr(other)
    for guess in (0, 10, 16, 12, 12, 15):
        assert env.step(box(guess)) == other.step(box(guess))
    assert env.step(box(13))[0] != other.step(box(13))[0]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 21), max_size=30))
def test_any_guesses_keep_the_number_possible_and_the_return_in_range(seed: int, guesses: list[int]) -> None:
    env = GuessTheNumberEnv(max_turns=40)
    env.reset(seed=seed)
    total = 0.0
    for guess in guesses:
        _, reward, terminated, _, info = env.step(box(guess))
        total += reward
        assert reward >= 0
        if terminated:
            assert info["success"]
            assert total == pytest.approx(1.0, abs=1e-9)
            return
        assert env.min_number <= env.low <= env._target <= env.high <= env.max_number
        assert total <= 0.5 + 1e-9


def test_a_repeated_guess_pays_once() -> None:
    env = with_target(13)
    first = env.step("\\boxed{6}")[1]
    assert first > 0
    assert [env.step("\\boxed{6}")[1] for _ in range(5)] == [0.0] * 5


@pytest.mark.parametrize("count", [1, 2, 3, 20, 50, 100, 1000])
def test_the_oracle_needs_no_more_turns_than_bisection(count: int) -> None:
    env = GuessTheNumberEnv(min_number=1, max_number=count, max_turns=count.bit_length())
    for seed in range(100):
        env.reset(seed=seed)
        ended = False
        while not ended:
            _, _, terminated, truncated, info = env.step(env.oracle_action())
            ended = terminated or truncated
        assert info["success"]


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"min_number": 5, "max_number": 4}, "max_number is a whole number, 5 to .*; got 4"),
        ({"min_number": 1.5}, "min_number is a whole number, .*; got 1.5"),
        ({"max_number": "20"}, "max_number is a whole number, .*; got '20'"),
        ({"max_turns": 0}, "max_turns is a whole number, 1 or larger; got 0"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GuessTheNumberEnv(**parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given_parameters", [{"min_number": 7}, {"max_number": -7}, {"min_number": 3, "max_number": 9}]
)
def test_given_parameters_stay_when_others_are_drawn(given_parameters: dict[str, int]) -> None:
    env = GuessTheNumberEnv(**{"min_number": None, "max_number": None, "max_turns": None, **given_parameters})
    for seed in range(50):
        env.reset(seed=seed)
        assert {name: getattr(env, name) for name in given_parameters} == given_parameters
        assert env.min_number < env.max_number
        assert env.max_turns >= (env.max_number - env.min_number + 1).bit_length()
