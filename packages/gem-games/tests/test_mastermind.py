"""The rules of Mastermind."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem_games.base import PARTIAL, box
from gem_games.mastermind import MastermindEnv, pegs


def with_code(code: tuple[int, ...], **parameters: Any) -> MastermindEnv:
    """Return an env that has just been reset, whose code is `code`."""
    env = MastermindEnv(**{"code_length": len(code), **parameters})
    env.reset(seed=0)
    env._code = code
    return env


# GAME-02
@pytest.mark.parametrize(
    "code, guess, told",
    [
        ((1, 1, 1, 2), (1, 1, 2, 2), (3, 0)),
        ((4, 2, 2, 5), (2, 2, 4, 2), (1, 2)),
        ((1, 2, 3, 4), (1, 1, 1, 1), (1, 0)),
        ((1, 2, 3, 4), (2, 2, 1, 1), (1, 1)),
        ((1, 1, 2, 2), (2, 2, 1, 1), (0, 4)),
        ((1, 2, 3, 4), (4, 3, 2, 1), (0, 4)),
        ((1, 2, 3, 4), (5, 6, 5, 6), (0, 0)),
        ((1, 2, 3, 4), (1, 2, 3, 4), (4, 0)),
    ],
)
def test_pegs_count_no_number_twice(code: tuple[int, ...], guess: tuple[int, ...], told: tuple[int, int]) -> None:
    assert pegs(guess, code) == told


def pegs_by_hand(guess: tuple[int, ...], code: tuple[int, ...]) -> tuple[int, int]:
    """Mark as one does with real pegs: take matched numbers away, one by one."""
    pairs = [(a, b) for a, b in zip(guess, code, strict=True) if a != b]
    left = [b for _, b in pairs]
    white = 0
    for a, _ in pairs:
        if a in left:
            left.remove(a)
            white += 1
    return len(guess) - len(pairs), white


def test_pegs_are_those_that_one_gives_by_hand() -> None:
    codes = list(product(range(1, 4), repeat=4))
    for code in codes:
        for guess in codes:
            black, white = pegs(guess, code)
            assert (black, white) == pegs_by_hand(guess, code)
            assert black + white <= 4
            assert pegs(code, guess) == (black, white)


def test_the_board_keeps_every_marked_guess() -> None:
    env = with_code((1, 2, 3, 4))
    assert env.step("\\boxed{1 3 5 6}")[0].startswith(
        "1 3 5 6: 1 black, 1 white.\nThe code: 4 numbers from 1 to 6, no duplicates. Guesses so far:\n"
        "  1.  1 3 5 6: 1 black, 1 white\nTurns left: 19. "
    )
    observation, *_, info = env.step("\\boxed{6 6 6 6}")
    assert info["suffix"].startswith(
        "\nThe code: 4 numbers from 1 to 6, no duplicates. Guesses so far:\n"
        "  1.  1 3 5 6: 1 black, 1 white\n  2.  6 6 6 6: 0 black, 0 white\nTurns left: 18. "
    )
    assert observation.endswith(info["suffix"])
    assert env.step("\\boxed{1 2 3 4}")[::2] == ("1 2 3 4 is the code: you win!", True, {"success": True})


def test_two_digit_numbers_stay_aligned() -> None:
    env = with_code((1, 12, 3), num_numbers=12)
    env.step("\\boxed{1 2 3}")
    assert (
        "\n  1.    1   2   3: 2 black, 0 white\n  2.   10  11  12: 0 black, 1 white\n"
        in env.step("\\boxed{10 11 12}")[0]
    )


@pytest.mark.parametrize("text", ["1 2 3 4", "1,2,3,4", "[1, 2, 3, 4]", "1234", "  1  2 3\n4 ", "+1 2 3 04"])
def test_a_guess_can_be_written_in_several_ways(text: str) -> None:
    assert with_code((1, 2, 3, 4)).step(f"so {box(text)}.")[4] == {"success": True}


@pytest.mark.parametrize("text", ["1 2 3", "1 2 3 4 5", "1", "12345", "12"])
def test_a_guess_of_the_wrong_length_is_invalid_and_uses_a_turn(text: str) -> None:
    env = with_code((1, 2, 3, 4))
    observation, reward, terminated, truncated, info = env.step(box(text))
    assert observation.startswith("The code has 4 numbers, your guess ")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert "No guesses yet." in info["suffix"]
    assert "Turns left: 19." in info["suffix"]


@pytest.mark.parametrize("text", ["0 1 2 3", "1 2 3 7", "-1 2 3 4", "1 2 3 " + "9" * 10_000, "0123", "9999"])
def test_a_number_out_of_range_is_invalid_not_malformed(text: str) -> None:
    observation, reward, terminated, truncated, _ = with_code((1, 2, 3, 4)).step(box(text))
    assert observation.startswith("The numbers go from 1 to 6; your guess has another.")
    assert (reward, terminated, truncated) == (0.0, False, False)


@pytest.mark.parametrize("text", ["", "red green", "1 2 x 4", "1.5 2 3 4", "¹ 2 3 4", "１２３４", "1-2-3-4"])
def test_what_is_no_list_of_numbers_is_malformed(text: str) -> None:
    assert with_code((1, 2, 3, 4)).step(box(text))[1:4] == (-0.1, True, False)


def test_only_what_is_better_than_the_best_guess_pays() -> None:
    env = with_code((1, 2, 3, 4))
    paid = [
        env.step(box(text))[1] for text in ("4 3 2 1", "4 3 2 1", "5 6 5 6", "1 2 4 3", "1 2 5 6", "2 1 4 3", "1 2 3 4")
    ]
    assert paid == pytest.approx([PARTIAL * 0.5, 0, 0, PARTIAL * 0.25, 0, 0, 1 - PARTIAL * 0.75])


def test_sparse_rewards_pay_the_code_alone() -> None:
    env = with_code((1, 2, 3, 4), reward="sparse")
    assert [env.step(box(text))[1] for text in ("4 3 2 1", "1 2 3 5", "1 2 3 4")] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("seed", range(20))
def test_repeating_what_paid_earns_no_more_than_partial(seed: int) -> None:
    env = MastermindEnv()
    env.reset(seed=seed)
    kept, total, ended = env.sample_random_action(), 0.0, False
    while not ended:
        action = kept or env.sample_random_action()
        _, reward, terminated, truncated, info = env.step(action)
        kept, total, ended = (action if reward > 0 else None), total + reward, terminated or truncated
    assert info["success"] or total <= PARTIAL + 1e-9


def test_the_code_is_told_only_once_the_game_is_lost() -> None:
    env = with_code((6, 5, 4, 3), max_turns=2)
    assert "6 5 4 3" not in env.step("\\boxed{1 1 1 1}")[0]
    observation, _, terminated, truncated, info = env.step("\\boxed{1 1 1 1}")
    assert observation.endswith("That was the last turn: the game is over.\nThe code was 6 5 4 3.")
    assert (terminated, truncated, info) == (False, True, {"success": False, "truncated_by": "max_turns"})


def test_codes_have_duplicates_only_where_they_may() -> None:
    for duplicates in (False, True):
        env = MastermindEnv(4, 4, duplicate_numbers=duplicates)
        lengths = set()
        for seed in range(60):
            observation, _ = env.reset(seed=seed)
            lengths.add(len(set(env._code)))
            assert len(env._code) == 4
            assert set(env._code) <= {1, 2, 3, 4}
        assert ("A number can come twice" in observation) == duplicates
        assert lengths == {4} if not duplicates else len(lengths) > 1


@pytest.mark.parametrize(
    "parameters, text",
    [
        ({"code_length": 5, "num_numbers": 4}, "5 different numbers needs num_numbers of at least 5; got 4"),
        ({"code_length": 0}, "code_length is a whole number, 1 to 12; got 0"),
        ({"num_numbers": 101}, "num_numbers is a whole number, 1 to 100; got 101"),
        ({"max_turns": 0}, "max_turns is a whole number, 1 or larger; got 0"),
    ],
)
def test_parameters_that_make_no_game_are_refused(parameters: dict[str, int], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        MastermindEnv(**parameters)


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {"code_length": None, "num_numbers": None, "max_turns": None},
        {"code_length": None, "num_numbers": 1},
        {"code_length": None, "num_numbers": 3},
        {"code_length": 1, "num_numbers": None},
        {"code_length": 9, "num_numbers": None},
        {"code_length": 12, "num_numbers": 12},
        {"code_length": 12, "num_numbers": 100, "max_turns": None},
    ],
)
def test_any_mixture_of_given_and_drawn_parameters_plays(parameters: dict[str, int | None], duplicates: bool) -> None:
    env = MastermindEnv(**parameters, duplicate_numbers=duplicates)
    for seed in range(30):
        env.reset(seed=seed)
        assert {name: getattr(env, name) for name, value in parameters.items() if value is not None}.items() <= {
            name: value for name, value in parameters.items() if value is not None
        }.items()
        assert duplicates or env.code_length <= env.num_numbers
        assert "black" in env.step(env.sample_random_action())[0] or env.code_length == 1 or env._won


@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("numbers", [4, 6, 8])
@pytest.mark.parametrize("duplicates", [False, True])
def test_the_oracle_finds_codes_within_the_fewest_turns_ever_drawn(length: int, numbers: int, duplicates: bool) -> None:
    env = MastermindEnv(length, numbers, length + numbers, duplicates)
    for seed in range(25):
        env.reset(seed=seed)
        while not (ended := env.step(env.oracle_action()))[2]:
            assert not ended[3], seed


def test_the_oracle_does_not_peek() -> None:
    env, other = with_code((1, 2, 3, 4)), with_code((6, 1, 5, 2))
    assert env.oracle_action() == other.oracle_action()
    for each in (env, other):
        each.step("\\boxed{1 6 6 6}" if each is env else "\\boxed{6 3 3 3}")
    assert env.oracle_action() != other.oracle_action()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(5, 12), st.booleans(), st.integers(1, 25))
def test_random_legal_play_keeps_the_pegs_in_order(
    seed: int, length: int, numbers: int, duplicates: bool, turns: int
) -> None:
    env = MastermindEnv(length, numbers, turns, duplicates)
    env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        _, reward, terminated, truncated, _ = env.step(env.sample_random_action())
        total, ended = total + reward, terminated or truncated
        for guess, black, white in env.guesses:
            assert pegs_by_hand(guess, env._code) == (black, white)
            assert black + white <= length
            assert black < length
        assert len(env.guesses) == env.turn - env._won
    assert total == pytest.approx(1.0) if env._won else total <= PARTIAL + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.text(), st.text("0123456789 ,-+[]").map(box)), min_size=1, max_size=6))
def test_any_text_is_answered(texts: list[str]) -> None:
    env = MastermindEnv(end_on_format_error=False)
    env.reset(seed=1)
    for text in texts:
        _, reward, terminated, truncated, _ = env.step(text)
        assert -0.1 <= reward <= 1
        if terminated or truncated:
            break
