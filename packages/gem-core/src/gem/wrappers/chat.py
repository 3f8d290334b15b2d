"""The wrapper that shows an episode as a chat, the way the model was trained to read one (contract W3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from gem.chat import ChatTemplate, append_break
from gem.core import Env, StepResult, Wrapper
from gem.errors import HistoryError
from gem.wrappers.observation import check_history_length, without_suffix

__all__ = ["ConcatChat"]

_Messages = list[dict[str, Any]]


class ConcatChat(Wrapper):
    """Show the episode so far as a chat that ends where the model's reply begins (`concat_chat`).

    Observations are user turns. Results of `<tool_call>` blocks have the role `tool` where the template shows it;
    results of tags and fences, and everything else, are user turns.

    With `history="exact"` the next prompt is the last prompt, the action as it was sampled, and what the template puts
    between it and the next reply: append-only to the character, whatever the template does to past turns, and turn 100
    costs what turn 2 costs. With `history="template"` the whole chat is rendered anew each turn as the template would
    (it may drop past reasoning), which is what an evaluation of a chat model sees; a trainer then has to treat every
    turn as a prompt of its own.

    `info["prompt_delta"]` is the text that was added after the action (after a reset: the prompt). An observation
    that is a dict with `images` becomes content parts, and what comes out is a dict again, with the prompt in place
    of the text and the images of the whole prompt.

    Args:
        env: The environment.
        tokenizer: What has `apply_chat_template`, such as a Hugging Face tokenizer.
        max_history_length: With `k`, the instructions (the first observation) and the `k + 1` newest observations
            with the actions between them. None shows all. Needs `history="template"`.
        history: "exact" or "template".
        system_prompt: A system message before the first observation.
        chat_template_kwargs: Arguments for the template, such as `{"enable_thinking": False}`.
        tools: Function schemas for templates that show them natively; True takes those of the tool wrapper inside.
        stale: "drop" leaves the tail that is only worth reading while it is current (`info["suffix"]`, a board) out
            of older turns, "keep" keeps it. "drop" needs `history="template"`.

    Raises:
        HistoryError: A setting needs `history="template"`.
        TemplateError: The template cannot show a chat at all.
        ValueError: A setting has no such value.
    """

    shared = ("_template", "tokenizer")

    def __init__(
        self,
        env: Env,
        tokenizer: Any,
        max_history_length: int | None = None,
        *,
        history: str = "exact",
        system_prompt: str | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        tools: Sequence[Mapping[str, Any]] | bool | None = None,
        stale: str = "keep",
    ) -> None:
        super().__init__(env)
        if history not in ("exact", "template") or stale not in ("keep", "drop"):
            raise ValueError(
                f'history is "exact" or "template" and stale is "keep" or "drop"; got {history!r} and {stale!r}.'
            )
        check_history_length(max_history_length)
        if history == "exact" and (max_history_length is not None or stale == "drop"):
            setting = 'stale="drop"' if stale == "drop" else f"max_history_length={max_history_length}"
            raise HistoryError(
                f'{setting} takes text out of past turns, and history="exact" only ever appends: '
                'use history="template", or leave it out.'
            )
        self.tokenizer = tokenizer
        self.max_history_length = max_history_length
        self.history = history
        self.system_prompt = system_prompt
        self.stale = stale
        schemas = _schemas_of(env) if tools is True else list(tools or ())
        self._template = ChatTemplate(tokenizer, tools=schemas, chat_template_kwargs=chat_template_kwargs)
        self.append_only_reason: str | None = None
        """Why prompts are not append-only: None with `history="exact"`."""
        if history == "template":
            self.append_only_reason = 'history="template" renders the whole chat anew each turn.'
        self._opening: _Messages = []
        # The reply, and what answers it as long as it is current and once it is old.
        self._turns: deque[tuple[dict[str, Any], _Messages, _Messages]] = deque()
        self._prompt = ""
        self._images: list[Any] = []

    @property
    def append_only(self) -> bool:
        """Whether each prompt is the last one, the action as sampled, and something after it."""
        return self.append_only_reason is None

    def after_reset(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Begin a chat."""
        current, old = self._user(observation, info)
        system: _Messages = [] if self.system_prompt is None else [{"role": "system", "content": self.system_prompt}]
        self._opening = [*system, *old] if self.stale == "drop" else [*system, *current]
        limit = self.max_history_length
        self._turns = deque(maxlen=None if limit is None else limit + 1)
        self._prompt = self._template.render([*system, *current])
        self._images = _images_in(current)
        return self._shown(observation), _without_tail(info, self._prompt)

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Add the turn."""
        observation, reward, terminated, truncated, info = result
        current, old = self._answer(observation, info)
        last = self._prompt
        if self.history == "exact":
            # An episode that ended without a word has nothing to render.
            delta = self._template.delta(current, after=action) if current else ""
            self._prompt = last + action + delta
            self._images += _images_in(current)
        else:
            self._turns.append((self._template.reply(action), current, old))
            messages = self._messages()
            self._prompt = self._template.render(messages)
            self._images = _images_in(messages)
            broken = append_break(last, action, self._prompt)
            self.append_only_reason = broken or self.append_only_reason
            delta = self._prompt if broken else self._prompt[len(last) + len(action) :]
        return self._shown(observation), reward, terminated, truncated, _without_tail(info, delta)

    def _messages(self) -> _Messages:
        """Return what the limit and `stale` leave of the chat."""
        messages = list(self._opening)
        turns = list(self._turns)
        first_is_old = self._turns.maxlen is not None and len(turns) == self._turns.maxlen
        for number, (reply, current, old) in enumerate(turns):
            if number or not first_is_old:  # the first observation shown follows the instructions, not an action
                messages.append(reply)
            messages += old if self.stale == "drop" and number < len(turns) - 1 else current
        return messages

    def _answer(self, observation: Any, info: dict[str, Any]) -> tuple[_Messages, _Messages]:
        """Return what answers an action, as long as it is current and once it is old."""
        results = info.get("tool_results") if info.get("use_tool") else None
        if not results:
            return self._user(observation, info) if observation != "" else ([], [])
        messages = [{"role": "tool" if one["native"] else "user", "content": one["text"]} for one in results]
        return messages, messages

    def _user(self, observation: Any, info: dict[str, Any]) -> tuple[_Messages, _Messages]:
        current = {"role": "user", "content": _content(observation)}
        if not isinstance(observation, str) or not info.get("suffix"):
            return [current], [current]
        return [current], [{"role": "user", "content": without_suffix(observation, info)}]

    def _shown(self, observation: Any) -> Any:
        if not self._images:
            return self._prompt
        text_key = _text_key(observation) if isinstance(observation, Mapping) else "problem"
        return {text_key: self._prompt, "images": list(self._images)}


def _schemas_of(env: Env) -> list[Mapping[str, Any]]:
    tools = getattr(env, "tools", ())
    return [schema for tool in tools for schema in tool.schemas]


def _text_key(observation: Mapping[str, Any]) -> str:
    return next((key for key in observation if key != "images"), "problem")


def _content(observation: Any) -> Any:
    """Return an observation as the content of a message: a text, or its images and then its text as parts."""
    if isinstance(observation, str):
        return observation
    if not isinstance(observation, Mapping) or "images" not in observation:
        raise TypeError(
            "concat_chat shows observations that are texts, or dicts of a text and `images`; "
            f"got a {type(observation).__name__}."
        )
    images = [{"type": "image", "image": image} for image in observation["images"]]
    return [*images, {"type": "text", "text": str(observation[_text_key(observation)])}]


def _images_in(messages: _Messages) -> list[Any]:
    contents = (message["content"] for message in messages if isinstance(message["content"], list))
    return [part["image"] for content in contents for part in content if part["type"] == "image"]


def _without_tail(info: dict[str, Any], delta: str) -> dict[str, Any]:
    """Return the info with the delta and without `suffix`, which is not the observation's tail any more."""
    return {**{key: value for key, value in info.items() if key != "suffix"}, "prompt_delta": delta}
