"""`concat_chat`: exact history is append-only to the character, template history is what the template shows (W3)."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from gem.core import Env, StepResult
from gem.errors import HistoryError
from gem.tools.tool_env_wrapper import ToolEnvWrapper
from gem.wrappers.chat import ConcatChat
from gem.wrappers.checks import EnvChecks

THINK_AND_CALL = (
    '<think>3 and 4, so add.</think>\n<tool_call>\n{"name": "add", "arguments": {"a": 3, "b": 4}}\n</tool_call>'
)


class Game(Env):
    """Never ends; shows a board that is only worth reading while it is current."""

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        self.turn = 0
        return "Rules.\nboard 0", {**info, "suffix": "\nboard 0"}

    def step(self, action: str) -> StepResult:
        self.turn += 1
        suffix = f"\nboard {self.turn}"
        return f"Turn {self.turn}.{suffix}", 0.0, False, False, {"suffix": suffix}


class ChatML:
    """Qwen's frame, written out, with a template that drops the reasoning of past replies."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def apply_chat_template(
        self, messages: list[dict[str, Any]], tokenize: bool = True, add_generation_prompt: bool = False, **kwargs: Any
    ) -> str:
        self.sizes.append(len(messages))
        tools = f"<|im_start|>system\n{len(kwargs['tools'])} tools<|im_end|>\n" if "tools" in kwargs else ""
        turns = []
        for message in messages:
            content = message["content"]
            if message["role"] == "assistant" and message is not messages[-1]:
                content = content.rpartition("</think>")[2]
            turns.append(f"<|im_start|>{message['role']}\n{content}<|im_end|>\n")
        return tools + "".join(turns) + ("<|im_start|>assistant\n" if add_generation_prompt else "")


def test_a_prompt_is_the_last_one_the_action_as_sampled_and_the_delta() -> None:
    env = ConcatChat(Game(), ChatML())
    prompt, info = env.reset(seed=1)
    assert prompt == info["prompt_delta"] == "<|im_start|>user\nRules.\nboard 0<|im_end|>\n<|im_start|>assistant\n"
    for turn in (1, 2):
        action = f"<think>hm {turn}</think> move"
        following, *_, info = env.step(action)
        delta = f"<|im_end|>\n<|im_start|>user\nTurn {turn}.\nboard {turn}<|im_end|>\n<|im_start|>assistant\n"
        assert info["prompt_delta"] == delta
        assert following == prompt + action + delta
        assert "suffix" not in info, "the board is not the tail of what is shown"
        prompt = following
    assert env.append_only
    assert env.append_only_reason is None


@pytest.mark.parametrize("end", ["<|im_end|>", "<|im_end|>\n", ""])
def test_the_end_of_a_turn_stands_there_once_whether_it_was_sampled_or_not(end: str) -> None:
    env = ConcatChat(Game(), ChatML())
    env.reset(seed=1)
    assert "move<|im_end|>\n<|im_start|>user\nTurn 1." in env.step(f"move{end}")[0]


def test_turn_100_renders_no_more_than_turn_2() -> None:
    tokenizer = ChatML()
    env = ConcatChat(Game(), tokenizer)
    env.reset(seed=1)
    for _ in range(100):
        env.step("move")
    assert max(tokenizer.sizes) <= 4


def test_exact_history_is_append_only_on_every_real_template_with_a_think_and_a_tool_call(
    template_tokenizers: Callable[[], dict[str, Any]], calculator: Any
) -> None:
    tokenizers = template_tokenizers()
    assert len(tokenizers) == 53
    for name, tokenizer in tokenizers.items():
        env = ConcatChat(ToolEnvWrapper(EnvChecks(Game()), tools=[calculator]), tokenizer)
        prompt, _ = env.reset(seed=1)
        for action in (THINK_AND_CALL, "<think>7.</think> move", THINK_AND_CALL, "move"):
            following, *_, info = env.step(action)
            assert following == prompt + action + info["prompt_delta"], name
            assert ("7" in info["prompt_delta"]) == info["use_tool"], name
            prompt = following
        assert prompt.count("<think>3 and 4, so add.</think>") == 2, name
        assert "Turn 2." in prompt, name


def test_results_of_tool_calls_have_the_role_tool_and_those_of_tags_are_user_turns(calculator: Any, shout: Any) -> None:
    env = ConcatChat(ToolEnvWrapper(Game(), tools=[calculator, shout]), ChatML())
    env.reset(seed=1)
    delta = env.step(THINK_AND_CALL + "<shout>hi</shout>")[4]["prompt_delta"]
    assert "<|im_start|>tool\n7<|im_end|>" in delta
    assert "<|im_start|>user\nHI" in delta


@pytest.mark.parametrize("history", ["exact", "template"])
def test_a_result_stands_in_the_history_once(history: str, calculator: Any) -> None:
    """TRN-09: neither the tool's result nor the observation is put in by two hands."""
    env = ConcatChat(ToolEnvWrapper(Game(), tools=[calculator]), ChatML(), history=history)
    env.reset(seed=1)
    env.step(THINK_AND_CALL.replace("4", "87654"))
    prompt = env.step("move")[0]
    assert prompt.count("87657") == 1
    assert prompt.count("Turn 1.") == 1


@pytest.mark.parametrize("history", ["exact", "template"])
def test_a_second_episode_begins_with_a_clean_chat(history: str) -> None:
    """WRAP-07: what came before does not pile up, and the system prompt comes once."""
    env = ConcatChat(Game(), ChatML(), history=history, system_prompt="Play well.")
    first, _ = env.reset(seed=1)
    turn = env.step("move")
    assert env.reset(seed=1)[0] == first
    assert env.step("move") == turn
    assert turn[0].count("Rules.") == turn[0].count("Play well.") == 1


def test_template_history_renders_the_whole_chat_as_the_template_would() -> None:
    env = ConcatChat(Game(), ChatML(), history="template", system_prompt="Be brief.")
    first, _ = env.reset(seed=1)
    assert first.startswith("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nRules.")
    prompt = env.step("<think>hm</think>move<|im_end|>")[0]
    assert "<|im_start|>assistant\nmove<|im_end|>\n<|im_start|>user\nTurn 1." in prompt
    assert "hm" not in prompt
    assert not env.append_only
    assert "'<think>hm</think>move" in str(env.append_only_reason)


@pytest.mark.parametrize(
    ("limit", "turns"),
    [
        (0, "U Rules.\nboard 0\nTurn 3.\nboard 3"),
        (1, "U Rules.\nboard 0\nTurn 2.\nboard 2|A c|U Turn 3.\nboard 3"),
        (3, "U Rules.\nboard 0|A a|U Turn 1.\nboard 1|A b|U Turn 2.\nboard 2|A c|U Turn 3.\nboard 3"),
    ],
)
def test_a_limited_history_shows_the_instructions_and_the_newest_turns(limit: int, turns: str) -> None:
    env = ConcatChat(Game(), ChatML(), history="template", max_history_length=limit)
    env.reset(seed=1)
    for action in "abc":
        prompt = env.step(action)[0]
    shown = (
        prompt.replace("<|im_end|>\n", "|").replace("<|im_start|>user\n", "U ").replace("<|im_start|>assistant\n", "A ")
    )
    assert shown == f"{turns}|A "


def test_stale_boards_can_be_dropped() -> None:
    env = ConcatChat(Game(), ChatML(), history="template", stale="drop")
    assert "board 0" in env.reset(seed=1)[0]
    env.step("a")
    prompt = env.step("b")[0]
    assert [f"board {turn}" in prompt for turn in range(3)] == [False, False, True]


@pytest.mark.parametrize("setting", [{"max_history_length": 2}, {"max_history_length": 0}, {"stale": "drop"}])
def test_what_takes_text_out_of_past_turns_is_refused_with_exact_history(setting: dict[str, Any]) -> None:
    with pytest.raises(HistoryError, match='history="template"'):
        ConcatChat(Game(), ChatML(), **setting)


@pytest.mark.parametrize("setting", [{"history": "full"}, {"stale": "yes"}, {"max_history_length": -1}])
def test_settings_without_a_meaning_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=str(next(iter(setting.values())))):
        ConcatChat(Game(), ChatML(), **setting)


def test_native_templates_are_given_the_schemas_of_the_tools_inside(calculator: Any) -> None:
    env = ConcatChat(ToolEnvWrapper(Game(), tools=[calculator]), ChatML(), tools=True)
    assert env.reset(seed=1)[0].startswith("<|im_start|>system\n2 tools")


def test_images_become_content_parts_and_stay_beside_the_prompt(
    template_tokenizers: Callable[[], dict[str, Any]],
) -> None:
    class Picture(Game):
        def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
            return {"problem": "What is it?", "images": ["a picture"]}, super().reset(seed=seed, **options)[1]

    env = ConcatChat(Picture(), template_tokenizers()["qwen2_5_vl"])
    observation, _ = env.reset(seed=1)
    assert observation["images"] == ["a picture"]
    assert "<|image_pad|><|vision_end|>What is it?" in observation["problem"]
    following = env.step("a cat")[0]
    assert following["images"] == ["a picture"]
    assert following["problem"].startswith(observation["problem"] + "a cat")


def test_an_episode_that_ends_without_a_word_adds_nothing() -> None:
    class Question(Game):
        def step(self, action: str) -> StepResult:
            return "", 1.0, True, False, {"success": True}

    env = ConcatChat(Question(), ChatML())
    prompt, _ = env.reset(seed=1)
    assert env.step("42")[0] == prompt + "42"


def test_copies_and_states_go_on_alike_and_leave_the_tokenizer_out() -> None:
    tokenizer = ChatML()
    env = ConcatChat(Game(), tokenizer)
    env.reset(seed=1)
    env.step("a")
    tokenizer.lock = (x for x in ())  # type: ignore[attr-defined]  # nothing that has the tokenizer in it could be pickled
    state = pickle.loads(pickle.dumps(env.get_state()))
    twin = env.spawn(same_state=True)
    assert twin.tokenizer is tokenizer
    prompt = env.step("b")[0]
    assert twin.step("b")[0] == prompt
    env.set_state(state)
    assert env.step("b")[0] == prompt


def test_a_chat_on_the_real_qwen_template_and_tokenizer(qwen_tokenizer: Any, calculator: Any) -> None:
    env = ConcatChat(ToolEnvWrapper(EnvChecks(Game()), tools=[calculator]), qwen_tokenizer)
    prompt, _ = env.reset(seed=1)
    ids = qwen_tokenizer(prompt)["input_ids"]
    for action in (THINK_AND_CALL, "move"):
        sampled = qwen_tokenizer(action)["input_ids"]
        following, *_, info = env.step(f"{action}<|im_end|>")
        # What a trainer does: the sampled ids as they are, then the new text alone.
        ids += sampled + qwen_tokenizer("<|im_end|>" + info["prompt_delta"])["input_ids"]
        assert qwen_tokenizer.decode(ids) == following
    assert "<tool_response>\n7\n</tool_response>" in following
