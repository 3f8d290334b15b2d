"""StepLimit: contract E3, W, and the case WRAP-09."""

from __future__ import annotations

import asyncio

import pytest

from gem.errors import ResetNeeded
from gem.wrappers.limits import StepLimit


@pytest.mark.parametrize("limit", [-1, 0, 2.5, "3", None, True])
def test_wrong_limits_are_refused(quiz, limit):
    with pytest.raises((TypeError, ValueError), match=r"max_steps is .* got"):
        StepLimit(quiz, max_steps=limit)


def test_the_episode_is_cut_at_the_limit_and_stays_cut(quiz):
    env = StepLimit(quiz, max_steps=2)
    for _ in range(2):
        env.reset()
        assert env.step("a")[2:4] == (False, False)
        _, _, terminated, truncated, info = asyncio.run(env.astep("b"))
        assert (terminated, truncated, info["truncated_by"], info["success"]) == (False, True, "step_limit", False)
        with pytest.raises(ResetNeeded):
            env.step("c")


def test_a_task_that_ends_on_the_limit_is_both_and_keeps_its_reward(quiz):
    env = StepLimit(quiz, max_steps=1)
    env.reset()
    _, reward, terminated, truncated, info = env.step(f"\\boxed{{{quiz.number + 1}}}")
    assert (reward, terminated, truncated) == (1.0, True, True)
    assert (info["success"], info["truncated_by"]) == (True, "step_limit")


def test_what_cut_the_episode_first_keeps_its_name(quiz):
    env = StepLimit(StepLimit(quiz, max_steps=1), max_steps=1)
    env.reset()
    assert env.step("a")[4]["truncated_by"] == "step_limit"
    quiz.max_turns = 1
    env.reset()
    assert "truncated_by" not in env.step("a")[4]  # the quiz's own limit, which it does not name


def test_copies_count_on_from_where_they_are(quiz):
    env = StepLimit(quiz, max_steps=2)
    env.reset()
    env.step("a")
    copy, state = env.spawn(same_state=True), env.get_state()
    assert env.step("b")[3] is True
    assert copy.step("b")[3] is True
    env.set_state(state)
    assert env.step("b")[3] is True
