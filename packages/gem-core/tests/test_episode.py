"""EpisodeTracking: contract W, and the cases WRAP-06 and WRAP-07."""

from __future__ import annotations

import asyncio

from gem.core import Wrapper
from gem.wrappers.episode import EpisodeTracking


def test_steps_and_rewards_are_counted_and_reported(quiz):
    env = EpisodeTracking(quiz)
    _, info = env.reset()
    assert (info["step_counter"], info["cumulative_rewards"]) == (0, 0.0)
    assert (info["prev_ep_step_counter"], info["prev_ep_cumulative_rewards"]) == (0, 0.0)
    env.step("a")
    *_, info = asyncio.run(env.astep(f"\\boxed{{{quiz.number + 1}}}"))
    assert (info["step_counter"], info["cumulative_rewards"]) == (2, 1.0)
    assert (env.step_counter, env.cumulative_rewards) == (2, 1.0)
    _, info = env.reset()
    assert (info["step_counter"], info["cumulative_rewards"]) == (0, 0.0)
    assert (info["prev_ep_step_counter"], info["prev_ep_cumulative_rewards"]) == (2, 1.0)


def test_reset_options_pass_through(quiz):
    assert EpisodeTracking(quiz).reset(seed=1, idx=3)[1]["idx"] == 3


def test_the_inner_info_is_not_changed(quiz):
    given = []

    class Keep(Wrapper):
        def after_step(self, action, result):
            given.append(result[4])
            return result

    env = EpisodeTracking(Keep(quiz))
    env.reset()
    env.step("a")
    assert given == [{}]


def test_copies_keep_the_score(quiz):
    env = EpisodeTracking(quiz)
    env.reset()
    env.step("a")
    copy = env.spawn(same_state=True)
    copy.step("b")
    assert (env.step_counter, copy.step_counter, env.spawn().step_counter) == (1, 2, 0)
