"""`concat`, `concat_with_action`, `concat_chat_on_reset`: the episode so far as text (contract W, W2, E2)."""

from __future__ import annotations

from typing import Any

import pytest

from gem.core import Env, StepResult
from gem.wrappers.observation import Concat, ConcatChatOnReset, ConcatWithAction


class Board(Env):
    """Says `turn N` and shows a board that is only worth reading while it is current."""

    def __init__(self, board: str = "") -> None:
        self.board = board

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        self.turn = 0
        return self._seen("rules", info)

    def step(self, action: str) -> StepResult:
        self.turn += 1
        observation, info = self._seen(f"turn {self.turn}", {})
        return observation, 0.0, False, False, info

    def _seen(self, text: str, info: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if not self.board:
            return text, info
        suffix = f"\n{self.board}{self.turn}"
        return text + suffix, {**info, "suffix": suffix}


class Upper:
    """A tokenizer whose template shouts."""

    def apply_chat_template(self, messages: list[dict[str, Any]], **kwargs: Any) -> str:
        return "".join(f"[{m['role']}]{m['content']}\n" for m in messages) + "[assistant]"


def last(env: Env, actions: str = "abc") -> str:
    observation = env.reset(seed=1)[0]
    for action in actions:
        observation = env.step(action)[0]
    return str(observation)


def test_concat_joins_observations_each_on_a_line_of_its_own() -> None:
    assert last(Concat(Board())) == "rules\nturn 1\nturn 2\nturn 3"
    assert Concat(Board()).reset(seed=1)[0] == "rules"


def test_concat_with_action_keeps_the_whole_action_between_them() -> None:
    assert last(ConcatWithAction(Board()), ["<think>x</think>a", "b"]) == "rules\n<think>x</think>a\nturn 1\nb\nturn 2"


def test_old_boards_are_dropped_and_the_newest_stays_the_tail() -> None:
    env = Concat(Board("board"))
    assert last(env) == "rules\nturn 1\nturn 2\nturn 3\nboard3"
    observation, *_, info = env.step("d")
    assert observation.endswith(info["suffix"])


@pytest.mark.parametrize(
    ("limit", "shown", "with_actions"),
    [
        (0, "rules\nturn 3", "rules\nturn 3"),
        (1, "rules\nturn 2\nturn 3", "rules\nturn 2\nc\nturn 3"),
        (2, "rules\nturn 1\nturn 2\nturn 3", "rules\nturn 1\nb\nturn 2\nc\nturn 3"),
        (3, "rules\nturn 1\nturn 2\nturn 3", "rules\na\nturn 1\nb\nturn 2\nc\nturn 3"),
        (None, "rules\nturn 1\nturn 2\nturn 3", "rules\na\nturn 1\nb\nturn 2\nc\nturn 3"),
    ],
)
def test_a_history_of_k_shows_the_instructions_and_the_k_plus_1_newest(
    limit: int | None, shown: str, with_actions: str
) -> None:
    assert last(Concat(Board(), max_history_length=limit)) == shown
    assert last(ConcatWithAction(Board(), max_history_length=limit)) == with_actions


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_a_history_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(ValueError, match=f"got {limit!r}"):
        Concat(Board(), max_history_length=limit)


def test_a_second_episode_begins_with_a_clean_history() -> None:
    env = ConcatWithAction(Board())
    last(env)
    assert last(env, "x") == "rules\nx\nturn 1"


def test_concat_chat_on_reset_renders_the_first_observation_alone() -> None:
    env = ConcatChatOnReset(Board(), tokenizer=Upper(), system_prompt="be brief")
    assert last(env, "ab") == "[system]be brief\n[user]rules\n[assistant]\na\nturn 1\nb\nturn 2"


def test_an_observation_that_is_no_text_is_refused_by_name() -> None:
    class Picture(Board):
        def _seen(self, text: str, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
            return {"problem": text, "images": []}, info

    with pytest.raises(TypeError, match=r"Concat joins texts.*dict of problem, images.*concat_chat"):
        Concat(Picture()).reset(seed=1)


def test_spawned_and_restored_histories_go_on_alike() -> None:
    env = ConcatWithAction(Board("board"), max_history_length=1)
    last(env, "ab")
    state, twin = env.get_state(), env.spawn(same_state=True)
    observation = env.step("c")[0]
    assert twin.step("c")[0] == observation
    env.step("d")
    env.set_state(state)
    assert env.step("c")[0] == observation
