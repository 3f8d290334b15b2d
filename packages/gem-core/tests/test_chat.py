"""Chats rendered by real templates: appended turns are exact, and nothing of the past changes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gem.chat import ChatTemplate, append_break, without_bos
from gem.errors import TemplateError

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 3}}\n</tool_call>'
RESULT = 'Result: "7" \\ é\n  <b>x < y</b>\n{{ 7 }}'


class FakeTokenizer:
    """A tokenizer whose template is a function; it remembers how many messages each rendering had."""

    def __init__(self, turn: Callable[[dict[str, Any], bool], str], opening: str = "<assistant>") -> None:
        self.turn = turn
        self.opening = opening
        self.sizes: list[int] = []

    def apply_chat_template(
        self, messages: list[dict[str, Any]], tokenize: bool = True, add_generation_prompt: bool = False, **kwargs: Any
    ) -> str:
        assert not tokenize
        self.sizes.append(len(messages))
        text = "".join(self.turn(message, message is messages[-1]) for message in messages)
        return "<s>" + text + (self.opening if add_generation_prompt else "")


def chatml(message: dict[str, Any], last: bool) -> str:
    return f"<{message['role']}>{message['content']}<end>\n"


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def tool(text: str) -> dict[str, str]:
    return {"role": "tool", "content": text}


@pytest.fixture(scope="module")
def from_file(data_folder: Path) -> Callable[..., ChatTemplate]:
    """Return what makes a ChatTemplate of one of the real templates, rendered by transformers itself."""
    transformers = pytest.importorskip("transformers")
    whole = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(data_folder / "tokenizers" / "gpt2_tokenizer.json"), bos_token="<s>", eos_token="</s>"
    )

    def make(name: str, **options: Any) -> ChatTemplate:
        tokenizer = copy.copy(whole)
        tokenizer.chat_template = (data_folder / "chat_templates" / f"{name}.jinja").read_text(encoding="utf-8")
        return ChatTemplate(tokenizer, **options)

    return make


@pytest.fixture(scope="module")
def templates(data_folder: Path, from_file: Callable[..., ChatTemplate]) -> dict[str, ChatTemplate]:
    """Return all real templates by name."""
    names = sorted(path.stem for path in (data_folder / "chat_templates").glob("*.jinja"))
    assert len(names) == 53
    return {name: from_file(name) for name in names}


# --- all real templates -----------------------------------------------------------------------------------------------


def test_exact_history_is_append_only_on_every_template(templates: dict[str, ChatTemplate]) -> None:
    for name, template in templates.items():
        end = template.end_of_turn
        turns = [
            (f"<think>\nI add.\n</think>\n\nLet me see. {CALL}", [tool(RESULT), user("And now?")]),
            (f"<think>again</think>{CALL}{CALL}", [tool("first 7"), tool("second 8")]),
            ("  no reasoning \\boxed{7}\n\n", [user("Wrong.\nTry again.")]),
            (f"cut by the template: {end.strip()}", [user("Higher.")]),
            (f"it says {end} inside{end}", [user("Lower.")]),
        ]
        prompt = template.render([{"role": "system", "content": "Play well."}, user("What is 3 + 4?")])
        for action, messages in turns:
            delta = template.delta(messages, after=action)
            following = prompt + action + delta
            assert append_break(prompt, action, following) is None
            assert following.startswith(prompt + action), name
            place = 0
            for message in messages:
                place = delta.index(message["content"], place) + len(message["content"])
            whole = template.delta(messages)
            assert whole.endswith(delta), name
            # Exactly one end of turn at the seam (GLM ends a turn with the next role's token, which depends on it).
            if end.strip() and whole.startswith(end):
                bare = action.removesuffix(end).removesuffix(end.strip())
                seam = (action + delta)[len(bare) :]
                assert seam.startswith(end.rstrip()), name
                assert not seam.removeprefix(end.rstrip()).lstrip().startswith(end.strip()), name
            prompt = following


def test_deltas_equal_what_the_template_renders_after_a_reply(templates: dict[str, ChatTemplate]) -> None:
    for name, template in templates.items():
        reply = {"role": "assistant", "content": "Four"}
        for messages in ([user("Higher.")], [tool(RESULT)], [tool("1"), tool("2")], [tool("1"), user("Go on.")]):
            whole = template.render([user("Guess."), reply, *messages])
            assert whole.endswith("Four" + template.delta(messages)), name


def test_tool_results_keep_their_text_on_every_template(templates: dict[str, ChatTemplate]) -> None:
    as_user = {name for name, template in templates.items() if template.tool_role == "user"}
    families = {"cohere", "cohere2", "diffusion_gemma", "gemma", "gemma3", "gptoss", "llava_next", "phi3", "phi3_5"}
    # These two write a tool's text as a JSON string, quotes and line breaks escaped.
    assert as_user == families | {f"{name}_training" for name in families} | {"llama3_1", "llama3_2"}
    for name, template in templates.items():
        assert RESULT in template.delta([tool(RESULT)]), name


def test_system_prompt_is_shown_on_every_template(templates: dict[str, ChatTemplate]) -> None:
    messages = [{"role": "system", "content": "Play well."}, user("Begin.")]
    folded = {name for name, template in templates.items() if not template.supports_role("system")}
    assert folded == {"gemma", "gemma_training"}
    for name, template in templates.items():
        prompt = template.render(messages)
        assert 0 < prompt.find("Play well.") < prompt.find("Begin."), name


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.text(max_size=20) | st.sampled_from([" a\n", "\ta", "/nothink", "<tool_response>a</tool_response>", ""])
)
def test_known_frames_give_the_same_delta_as_the_template(content: str, templates: dict[str, ChatTemplate]) -> None:
    for name, template in templates.items():
        for role in {"user", template.tool_role}:
            message = template._normal([{"role": role, "content": content}])
            assert template.delta([{"role": role, "content": content}]) == template._following(message), name


def test_contents_given_as_parts_are_taken_where_the_template_takes_them(
    from_file: Callable[..., ChatTemplate], templates: dict[str, ChatTemplate]
) -> None:
    text, image = {"type": "text", "text": "What is this?"}, {"type": "image"}
    for name, template in templates.items():
        assert "What is this?" in template.render([{"role": "user", "content": [text]}]), name
    assert "<|image_pad|>" in templates["qwen2_5_vl"].render([{"role": "user", "content": [image, text]}])
    assert "<image>" in templates["idefics3"].render([{"role": "user", "content": [image, text]}])
    for name in ("qwen3", "llama3", "glm4moe"):
        with pytest.raises(TemplateError, match="does not show content parts of type image"):
            templates[name].render([{"role": "user", "content": [image, text]}])


def test_template_arguments_reach_the_template(from_file: Callable[..., ChatTemplate]) -> None:
    schema = {"type": "function", "function": {"name": "add", "description": "", "parameters": {}}}
    template = from_file("qwen3", tools=[schema], chat_template_kwargs={"enable_thinking": False})
    assert '"name": "add"' in template.render([user("Hi")])
    delta = template.delta([user("Again")])
    assert '"name": "add"' not in delta
    assert delta.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")


@pytest.mark.slow
def test_real_qwen_tokens_of_a_reply_stay_as_sampled(qwen_tokenizer: Any) -> None:
    template = ChatTemplate(qwen_tokenizer)
    assert qwen_tokenizer.convert_tokens_to_ids(["<|im_start|>", "<think>"]) == [151644, 151667]

    def encode(text: str) -> list[int]:
        return list(qwen_tokenizer(text, add_special_tokens=False)["input_ids"])

    prompt = template.render([user("Guess a number from 1 to 20.")])
    ids = encode(prompt)
    for action in (
        f"<think>\nhalf\n</think>\n\n\\boxed{{10}} {CALL}",
        "<think>a</think>\\boxed{15}<|im_end|>",
        "数字 🙂",
    ):
        delta = template.delta([tool("Higher."), tool("Much.")], after=action)
        prompt += action + delta
        ids += encode(action) + encode(delta)
        assert encode(prompt) == ids
    again = template.render(
        [user("Guess a number from 1 to 20."), template.reply("<think>half</think>x"), user("Go on.")]
    )
    assert "half" not in again  # the template itself would have dropped the reasoning


# --- seams (small templates) ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action, delta",
    [
        ("reply", "<end>\n<tool>7<end>\n<assistant>"),
        ("reply<end>", "\n<tool>7<end>\n<assistant>"),
        ("reply<end>\n", "<tool>7<end>\n<assistant>"),
        ("it says <end> here", "<end>\n<tool>7<end>\n<assistant>"),
        ("it says <end> here<end>", "\n<tool>7<end>\n<assistant>"),
        ("<", "<end>\n<tool>7<end>\n<assistant>"),
        ("", "<end>\n<tool>7<end>\n<assistant>"),
    ],
)
def test_delta_adds_exactly_what_the_end_of_turn_lacks(action: str, delta: str) -> None:
    assert ChatTemplate(FakeTokenizer(chatml)).delta([tool("7")], after=action) == delta


def test_delta_knows_the_end_of_turn_of_a_template_that_ends_the_last_turn_otherwise() -> None:
    def turn(message: dict[str, Any], last: bool) -> str:
        return f"<{message['role']}>{message['content']}" + ("<return>" if last else "<end>")

    template = ChatTemplate(FakeTokenizer(turn))
    assert template.end_of_turn == "<end>"
    assert template.delta([user("7")], after="reply<end>") == "<user>7<return><assistant>"
    assert template.reply("reply<return>") == template.reply("reply<end>\n") == template.reply("reply")


def test_reply_drops_only_the_end_of_turn() -> None:
    template = ChatTemplate(FakeTokenizer(chatml))
    assert template.reply("<end> a <end>\n") == {"role": "assistant", "content": "<end> a "}
    assert template.reply(" a\n") == {"role": "assistant", "content": " a\n"}


def test_reasoning_that_a_template_drops_stays_in_an_appended_history() -> None:
    def drops(message: dict[str, Any], last: bool) -> str:
        content = message["content"]
        if message["role"] == "assistant" and not last:
            content = content.split("</think>")[-1]
        return chatml({**message, "content": content}, last)

    template = ChatTemplate(FakeTokenizer(drops))
    prompt, chat = template.render([user("Guess.")]), [user("Guess.")]
    for number in range(3):
        action = f"<think>{number}</think>\\boxed{{{number}}}"
        following = prompt + action + template.delta([user("Higher.")], after=action)
        chat += [template.reply(action), user("Higher.")]
        reason = append_break(prompt, action, template.render(chat))
        assert append_break(prompt, action, following) is None
        assert reason is not None
        assert f"'<think>{number if number == 0 else 0}</think>" in reason
        prompt = following
    assert [prompt.count(f"<think>{number}</think>") for number in range(3)] == [1, 1, 1]


def test_cost_of_a_turn_does_not_grow_with_the_history() -> None:
    tokenizer = FakeTokenizer(chatml)
    template = ChatTemplate(tokenizer)
    prompt = template.render([user("Guess.")])
    for turn in range(100):
        action = f"\\boxed{{{turn}}}"
        prompt += action + template.delta([user(f"{turn} is wrong")], after=action)
    assert max(tokenizer.sizes) <= 3
    assert len(tokenizer.sizes) < 10
    assert prompt == "<s><user>Guess.<end>\n<assistant>" + "".join(
        f"\\boxed{{{turn}}}<end>\n<user>{turn} is wrong<end>\n<assistant>" for turn in range(100)
    )


def test_append_break_names_the_place() -> None:
    assert append_break("ask", "act", "askact more") is None
    assert "character 4, in the action as sampled, 'ct' became 'xt more'" in str(
        append_break("ask", "act", "askaxt more")
    )
    assert "character 1, in the last prompt" in str(append_break("ask", "act", "aXk"))


# --- messages ---------------------------------------------------------------------------------------------------------


def test_messages_are_left_as_they_were(from_file: Callable[..., ChatTemplate]) -> None:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "S"}, user("a"), user("b")]
    before = copy.deepcopy(messages)
    for name in ("gemma", "idefics3", "qwen3"):
        from_file(name).render(messages)
        from_file(name).delta(messages[1:])
    assert messages == before


def test_user_turns_in_a_row_become_one(from_file: Callable[..., ChatTemplate]) -> None:
    prompt = from_file("gemma").render([{"role": "system", "content": "S"}, user("a"), user("b")])
    assert prompt == "<s><start_of_turn>user\nS\n\na\nb<end_of_turn>\n<start_of_turn>model\n"
    assert "a\nb" in from_file("llava_next").delta([tool("a"), user("b")])


def test_template_is_shared_by_copies_of_what_holds_it() -> None:
    template = ChatTemplate(FakeTokenizer(chatml))
    assert copy.deepcopy({"template": template})["template"] is template


def test_what_cannot_render_chats_is_refused() -> None:
    with pytest.raises(TypeError, match="apply_chat_template, which str lacks"):
        ChatTemplate("tokenizer")
    with pytest.raises(TemplateError, match="does not show the text of a user's message"):
        ChatTemplate(FakeTokenizer(lambda message, last: "hello"))

    def no_replies(message: dict[str, Any], last: bool) -> str:
        return chatml(message, last) if message["role"] == "user" else ""

    with pytest.raises(TemplateError, match="does not show the text of a reply"):
        ChatTemplate(FakeTokenizer(no_replies)).delta([user("a")])


def test_error_of_a_template_names_roles_and_cause() -> None:
    def strict(message: dict[str, Any], last: bool) -> str:
        if message["role"] == "critic":
            raise KeyError("critic")
        return chatml(message, last)

    with pytest.raises(TemplateError, match="messages of the roles user, critic: 'critic'") as caught:
        ChatTemplate(FakeTokenizer(strict)).render([user("a"), {"role": "critic", "content": "b"}])
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "text, bos, left",
    [
        ("<s>silver", "<s>", "silver"),
        ("silver", "<s>", "silver"),
        ("<s><s>a", "<s>", "<s>a"),
        ("silver", None, "silver"),
        ("silver", "", "silver"),
    ],
)
def test_begin_of_text_token_is_removed_once(text: str, bos: str | None, left: str) -> None:
    assert without_bos(text, bos) == left
