"""What every game gets from `gem_games.base`, shown on a game of one die."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_games import base
from gem_games.base import Game, box, grid, integer, integers, whole_number


class Stairs(Game[int]):
    """Climb to the fifth stair, up or down by 1 or 2 at a time; below the ground you fall."""

    def __init__(self, max_turns: int | None = 10, **scoring: Any) -> None:
        super().__init__(**scoring)
        self._keep(max_turns=whole_number("max_turns", max_turns, 1))

    def _draw(self) -> None:
        self.max_turns = self.rng.randint(5, 9)

    def _deal(self) -> None:
        self.stair = 0

    def _rules(self) -> str:
        return "Climb to stair 5."

    def _how(self) -> str:
        return "Say how far: \\boxed{2}."

    def _board(self) -> str:
        return f"You stand on stair {self.stair}."

    def _read(self, text: str) -> int | None:
        return integer(text)

    def _play(self, move: int) -> str:
        if abs(move) not in (1, 2):
            return "Too far."
        self.stair += move
        self._won = self.stair >= 5
        self._lost = self.stair < 0
        return "You climb." if move > 0 else "You go down."

    def _progress(self) -> float:
        return max(0.0, self.stair / 5)

    def _ending(self) -> str:
        return f"You end on stair {self.stair}."


def play(env: Game[Any], *moves: object) -> list[Any]:
    env.reset(seed=1)
    return [env.step(box(move)) for move in moves]


def test_first_observation_has_rules_and_the_suffix_of_what_is_current() -> None:
    env = Stairs()
    observation, info = env.reset(seed=7)
    assert observation.startswith("Climb to stair 5.")
    assert info["suffix"] == "\nYou stand on stair 0.\nTurns left: 10. Say how far: \\boxed{2}."
    assert observation.endswith(info["suffix"])
    assert info["seed"] == 7


def test_later_observations_tell_what_happened_then_all_that_is_known() -> None:
    env = Stairs()
    observation, reward, terminated, truncated, info = play(env, 2)[0]
    assert observation == "You climb.\nYou stand on stair 2.\nTurns left: 9. Say how far: \\boxed{2}."
    assert (terminated, truncated) == (False, False)
    assert info == {"suffix": "\nYou stand on stair 2.\nTurns left: 9. Say how far: \\boxed{2}."}
    assert isinstance(reward, float)


def test_instructions_say_what_a_reply_without_an_action_costs() -> None:
    assert "A reply without a readable action ends the game." in Stairs().reset(seed=1)[0]
    assert "A reply without a readable action uses a turn." in Stairs(end_on_format_error=False).reset(seed=1)[0]


def test_dense_rewards_add_up_to_one_on_a_solve() -> None:
    steps = play(Stairs(), 2, -1, 2, 1, 2)
    assert [step[1] for step in steps] == pytest.approx([0.2, -0.1, 0.2, 0.1, 0.6])
    assert sum(step[1] for step in steps) == pytest.approx(1.0, abs=1e-9)
    assert steps[-1][2:] == (True, False, {"success": True})


def test_going_back_and_forth_earns_nothing() -> None:
    steps = play(Stairs(max_turns=100), *[1, -1] * 40)
    assert sum(step[1] for step in steps) == pytest.approx(0.0, abs=1e-9)


def test_sparse_rewards_pay_the_solve_alone() -> None:
    assert [step[1] for step in play(Stairs(reward="sparse"), 2, 2, 1)] == [0.0, 0.0, 1.0]


def test_losing_ends_the_game_without_success() -> None:
    observation, reward, terminated, truncated, info = play(Stairs(), 1, -2)[-1]
    assert (terminated, truncated, info) == (True, False, {"success": False})
    assert reward == pytest.approx(-0.1)
    assert observation.endswith("You end on stair -1.")


def test_used_up_turns_truncate_alone() -> None:
    _, _, terminated, truncated, info = play(Stairs(max_turns=2), 1, 1)[-1]
    assert (terminated, truncated, info) == (False, True, {"success": False, "truncated_by": "max_turns"})


def test_a_solve_on_the_last_turn_terminates_alone() -> None:
    assert play(Stairs(max_turns=3), 2, 2, 1)[-1][2:] == (True, False, {"success": True})


def test_a_loss_on_the_last_turn_terminates_alone() -> None:
    assert play(Stairs(max_turns=1), -1)[-1][2:] == (True, False, {"success": False})


def test_an_invalid_move_pays_nothing_and_uses_a_turn() -> None:
    observation, reward, terminated, truncated, _ = play(Stairs(), 2, 9)[-1]
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert observation.startswith("Too far.\nYou stand on stair 2.\nTurns left: 8.")


@pytest.mark.parametrize("action", ["", "no box", "\\boxed{}", "\\boxed{up}", "<think>\\boxed{1}</think>", "\\boxed{1"])
def test_a_reply_without_a_readable_action_is_penalised_and_ends_the_game(action: str) -> None:
    env = Stairs()
    env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info) == (-0.1, True, False, {"success": False})
    assert "no action that can be read" in observation
    assert "Say how far" not in observation, "there is no next turn to write an action in"


def test_a_malformed_reply_can_be_made_to_use_a_turn_and_subtract_its_penalty() -> None:
    env = Stairs(end_on_format_error=False, format_error_reward=-0.25)
    env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step("hm")
    assert (reward, terminated, truncated) == (-0.25, False, False)
    assert observation.endswith(info["suffix"])
    total = reward + sum(env.step(box(move))[1] for move in (2, 2, 1))
    assert total == pytest.approx(0.75, abs=1e-9)


def test_malformed_replies_use_up_the_turns_too() -> None:
    env = Stairs(end_on_format_error=False, max_turns=1)
    env.reset(seed=1)
    assert env.step("hm")[2:] == (False, True, {"success": False, "truncated_by": "max_turns"})


def test_an_open_parameter_is_drawn_at_each_reset_from_the_seed() -> None:
    env = Stairs(max_turns=None)
    drawn = []
    for seed in range(30):
        env.reset(seed=seed)
        drawn.append(env.max_turns)
    assert set(drawn) == {5, 6, 7, 8, 9}
    env.reset(seed=4)
    assert env.max_turns == drawn[4]


def test_a_turn_limit_that_is_set_on_the_env_stays() -> None:
    env = Stairs()
    env.set_attr("max_turns", 2)
    assert play(env, 1, 1)[-1][3]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"reward": "some"}, r'reward is "dense" or "sparse"; got \'some\''),
        ({"format_error_reward": 0.1}, "format_error_reward is a number, 0 or less .* got 0.1"),
        ({"format_error_reward": float("nan")}, "format_error_reward is a number, 0 or less .* got nan"),
        ({"format_error_reward": "no"}, "format_error_reward is a number, 0 or less .* got 'no'"),
        ({"max_turns": 0}, "max_turns is a whole number, 1 or larger; got 0"),
        ({"max_turns": 2.5}, "max_turns is a whole number, 1 or larger; got 2.5"),
        ({"max_turns": True}, "max_turns is a whole number, 1 or larger; got True"),
    ],
)
def test_a_parameter_out_of_bounds_is_refused_with_what_was_seen(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Stairs(**arguments)


@pytest.mark.parametrize(
    "text, number",
    [
        ("0", 0),
        ("-3", -3),
        ("+4", 4),
        ("007", 7),
        ("0" * 30 + "12", 12),
        ("9" * 5000, 10**18),
        ("-" + "9" * 5000, -(10**18)),
        ("0" * 10_000, 0),
        ("", None),
        ("-", None),
        ("--1", None),
        ("1_000", None),
        ("1.0", None),
        ("1 2", None),
        ("٣", None),
        ("²", None),
        ("seven", None),
        ("\0", None),
    ],
)
def test_integer_reads_ascii_whole_numbers_alone(text: str, number: int | None) -> None:
    assert integer(text) == number


@given(st.integers(-(10**17), 10**17))
def test_integer_reads_back_every_number(number: int) -> None:
    assert integer(str(number)) == number


@given(st.text())
def test_integer_takes_any_text(text: str) -> None:
    number = integer(text)
    assert number is None or abs(number) <= 10**18


def test_the_smallest_game_of_the_docstring_plays() -> None:
    code = textwrap.dedent((base.__doc__ or "").split("::\n")[1])
    names: dict[str, Any] = {"Game": Game, "whole_number": whole_number}
    exec(code, names)
    env = names["HigherCard"]()
    wins = 0
    for card in ("left", "right"):
        env.reset(seed=1)
        wins += env.step(box(card))[4].get("success", False)
    assert wins == 1


def test_integers_reads_exactly_as_many_as_asked() -> None:
    assert integers("3 2", 2) == (3, 2)
    assert integers("(3, 2)", 2) == (3, 2)
    assert integers("3\n2", 2) == (3, 2)
    assert integers("3", 2) is None
    assert integers("3 2 1", 2) is None
    assert integers("3 x", 2) is None


def test_grid_aligns_cells_under_their_numbers() -> None:
    assert grid(["ab", "cd"], 2) == "    0 1\n 0  a b\n 1  c d"
    lines = grid(["." * 12] * 11, 12).split("\n")
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == [str(column) for column in range(12)]
