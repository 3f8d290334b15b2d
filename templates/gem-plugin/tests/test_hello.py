"""The package keeps GEM's contract, and does what it says."""

from __future__ import annotations

import pytest

import gem


@pytest.mark.parametrize("id", ["hello:Greet-v0", "hello:Greet-v0-hard"])
def test_the_environments_keep_the_contract(id: str) -> None:
    gem.testing.check_env(id, seeds=10)


def test_the_tool_and_the_plugin_keep_the_contract() -> None:
    call = '<tool_call>{"name": "look_up", "arguments": {"language": "french"}}</tool_call>'
    gem.testing.check_tool("phrasebook", calls=[call])
    gem.testing.check_plugin("hello")


def test_a_wrong_word_costs_a_try_and_the_right_one_solves() -> None:
    env = gem.make("hello:Greet-v0")
    env.reset(seed=1)
    _, reward, terminated, truncated, _ = env.step("\\boxed{moin}")
    assert (reward, terminated, truncated) == (0.0, False, False)
    _, reward, terminated, _, info = env.step(env.oracle_action())
    assert (reward, terminated, info["success"]) == (1.0, True, True)


def test_the_phrasebook_answers_and_the_episode_goes_on() -> None:
    env = gem.make("hello:Greet-v0", wrappers="phrasebook_tool")
    env.reset(seed=1)
    call = gem.parsing.ToolCall("1", "look_up", {"language": env.language}, (0, 0))
    observation, _, terminated, truncated, info = env.step(gem.parsing.render_tool_calls([call]))
    assert info["use_tool"]
    assert not terminated
    assert not truncated
    assert env.step(f"\\boxed{{{info['tool_results'][0]['text']}}}")[1] == 1.0
    assert info["tool_results"][0]["text"] in observation
