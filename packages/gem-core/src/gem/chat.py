"""The one place that renders chats: first prompts, what later turns add to them, and prefix checks.

Text only: nothing here encodes. A tokenizer is anything with the method of Hugging Face tokenizers
``apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **kwargs) -> str``.

Rendering the whole chat anew each turn is slow, and many templates then show past replies other than they were sampled
(they drop the reasoning, trim, write tool calls their own way), so that a trainer sees tokens which the policy never
produced. The way out is to append: ``prompt + action + template.delta(new_messages, after=action)``, where the delta is
what the template renders after the text of a dummy reply when the new messages follow it. What came before stays as it
is, to the character, and a turn costs the same however long the history is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from gem.errors import TemplateError

__all__ = ["ChatTemplate", "Message", "append_break", "without_bos"]

Message: TypeAlias = Mapping[str, Any]
"""A chat message: `role`, and `content` as a text or a list of content parts."""

_ASK = "gem asks"
_REPLY = "gem replies"
# Whoever escapes, quotes or re-flows what it is given changes this one.
_PROBE = 'gem "probe" \\ é\n<x> {{ y }}'
# Fallback for templates that end the last turn otherwise than the ones before: `<|end|>`, `</s>`, `[/INST]`.
_TOKEN = re.compile(r"\s*(?:<[^<>\s]+>|\[/?[A-Za-z_]+\])")


class _Frame(NamedTuple):
    """What the template puts round a single new message, and whether it strips the message's text."""

    before: str
    after: str
    strips: bool


class ChatTemplate:
    """A chat template, with what has to be known about it to feed it.

    Each of these is found out by rendering a small probe, once:

    * whether contents are texts or lists of content parts;
    * whether the role ``tool`` and the role ``system`` are rendered with their text unaltered. If not, tool results
      become user turns and the system prompt begins the first user turn;
    * the text that ends a turn.

    User turns in a row are joined with a line break, since many templates refuse them.

    Args:
        tokenizer: What has ``apply_chat_template``. It is used as it is, never copied with this object, and its
            template must not be exchanged afterwards.
        tools: Function schemas (OpenAI's JSON) for templates that show them natively.
        chat_template_kwargs: Further arguments for the template, such as ``{"enable_thinking": False}``.

    Raises:
        TypeError: If the tokenizer has no ``apply_chat_template``.
        TemplateError: If the template does not show the text of a user's message.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if not callable(getattr(tokenizer, "apply_chat_template", None)):
            raise TypeError(
                f"A chat is rendered by a tokenizer's apply_chat_template, which {type(tokenizer).__name__} lacks. "
                "Pass a Hugging Face tokenizer, or an object with that method."
            )
        self.tokenizer = tokenizer
        self._kwargs = dict(chat_template_kwargs or {})
        if tools:
            self._kwargs["tools"] = list(tools)
        self._roles: dict[str, bool] = {}
        self._part_kinds: dict[str, bool] = {}
        self._frames: dict[str, _Frame | None] = {}
        self._tail: str | None = None
        self._parts = False
        self._parts = self._wants_parts()

    def __deepcopy__(self, memo: dict[int, Any]) -> ChatTemplate:
        """Return itself: all it holds is the tokenizer, which is shared, and what it found out about it."""
        return self

    # --- rendering ----------------------------------------------------------------------------------------------------

    def render(self, messages: Iterable[Message], *, add_generation_prompt: bool = True) -> str:
        """Render a whole chat.

        Args:
            messages: The messages, oldest first; they are not changed.
            add_generation_prompt: Whether the text ends where the model's next reply begins.

        Returns:
            The prompt.

        Raises:
            TemplateError: If the template cannot render them.
        """
        return self._apply(self._normal(messages), add_generation_prompt)

    def delta(self, new_messages: Iterable[Message], *, after: str = "") -> str:
        """Return the text that follows a reply when these messages answer it, up to where the next reply begins.

        The cost depends on the new messages alone. ``prompt + action + delta(new_messages, after=action)`` is the next
        prompt.

        Args:
            new_messages: What came since the reply: tool results, user messages.
            after: The reply as sampled. If it already ends with the end-of-turn text that the delta begins with, the
                delta starts after it: of ``<end>`` and a line break the one that is missing is added.

        Returns:
            The text to append.

        Raises:
            TemplateError: If the template cannot render them, or does not show replies.
        """
        messages = self._normal(new_messages)
        text = self._framed(messages[0]) if len(messages) == 1 else None
        if text is None:
            text = self._following(messages)
        return text[self._ended(text, after) :] if after else text

    def reply(self, action: str) -> dict[str, Any]:
        """Return the assistant message of a reply as sampled, without the end-of-turn text that a template adds."""
        text = action.rstrip()
        # The very last turn may end otherwise than the ones before it (`<|return|>` against `<|end|>`).
        for end in (self.end_of_turn.strip(), (self._tail or "").strip()):
            if end and text.endswith(end):
                return {"role": "assistant", "content": text.removesuffix(end)}
        return {"role": "assistant", "content": action}

    # --- what is known of the template --------------------------------------------------------------------------------

    @property
    def tool_role(self) -> str:
        """The role of tool results: ``tool``, or ``user`` where the template does not show their text unaltered."""
        return "tool" if self.supports_role("tool") else "user"

    @property
    def end_of_turn(self) -> str:
        """The text between a reply and the next turn's opening, with the line break that belongs to it."""
        text = self._following(self._normal([{"role": "user", "content": _ASK}]))
        return text[: self._end(text)]

    def supports_role(self, role: str) -> bool:
        """Tell whether a message of this role is shown with its text unaltered, in the place where it would stand."""
        if role not in self._roles:
            probe = {"role": role, "content": self._content(_PROBE)}
            try:
                if role == "system":
                    text = self._apply([probe, {"role": "user", "content": self._content(_ASK)}])
                else:
                    text = self._following([probe])
            except TemplateError:
                text = ""
            self._roles[role] = _PROBE in text
        return self._roles[role]

    def _wants_parts(self) -> bool:
        """Find out whether contents must be lists of parts."""
        fault: TemplateError | None = None
        for content in (_PROBE, [{"type": "text", "text": _PROBE}]):
            try:
                if _PROBE in self._apply([{"role": "user", "content": content}]):
                    return content is not _PROBE
            except TemplateError as error:
                fault = fault or error
        raise TemplateError(
            "The chat template does not show the text of a user's message, given as a text or as content parts. "
            f"Set another template on the tokenizer. {fault or ''}".strip()
        ) from fault

    def _shows(self, part: Mapping[str, Any]) -> bool:
        """Find out whether the template takes content parts of this part's type, rather than fail or drop them."""
        kind = str(part.get("type"))
        if kind not in self._part_kinds:
            text = {"type": "text", "text": _PROBE}
            try:
                bare = self._apply([{"role": "user", "content": [text]}])
                shown = self._apply([{"role": "user", "content": [part, text]}])
            except TemplateError:
                bare = shown = ""
            self._part_kinds[kind] = _PROBE in shown and shown != bare
        return self._part_kinds[kind]

    # --- messages -----------------------------------------------------------------------------------------------------

    def _normal(self, messages: Iterable[Message]) -> list[dict[str, Any]]:
        """Return the messages with roles and contents that the template takes."""
        normal: list[dict[str, Any]] = []
        system: Any = None
        for message in messages:
            role, content = message["role"], message.get("content")
            if role == "system" and not self.supports_role("system"):
                system = content if system is None else _joined(system, content, "\n\n")
                continue
            if role == "tool" and self.tool_role == "user":
                message, role = {"role": "user"}, "user"
            if role == "user" and system is not None:
                content, system = _joined(system, content, "\n\n"), None
            if role == "user" and normal and normal[-1]["role"] == "user":
                normal[-1]["content"] = _joined(normal[-1]["content"], content, "\n")
            else:
                normal.append({**message, "content": content})
        if system is not None:
            normal.append({"role": "user", "content": system})
        for message in normal:
            message["content"] = self._content(message["content"])
        return normal

    def _content(self, content: Any) -> Any:
        """Return a message's content in the form that the template takes.

        Raises:
            TemplateError: If it holds parts that the template cannot show.
        """
        if content is None or isinstance(content, str):
            return [{"type": "text", "text": content}] if self._parts and content is not None else content
        others = [part for part in content if part.get("type") != "text"]
        if not others and not self._parts:
            return "".join(part["text"] for part in content)
        lost = sorted({str(part.get("type")) for part in others if not self._shows(part)})
        if lost:
            raise TemplateError(
                f"The chat template does not show content parts of type {', '.join(lost)}. "
                "Use the tokenizer or processor of a model that takes them, or leave these parts out."
            )
        return list(content)

    # --- the template itself ------------------------------------------------------------------------------------------

    def _apply(self, messages: list[dict[str, Any]], add_generation_prompt: bool = True) -> str:
        try:
            text = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=add_generation_prompt, **self._kwargs
            )
        except Exception as error:  # templates raise whatever their expressions do
            roles = ", ".join(message["role"] for message in messages)
            raise TemplateError(f"The chat template cannot render messages of the roles {roles}: {error}") from error
        if not isinstance(text, str):
            raise TemplateError(f"apply_chat_template(tokenize=False) returned a {type(text).__name__}, not a str.")
        return text

    def _following(self, messages: list[dict[str, Any]], add_generation_prompt: bool = True) -> str:
        """Return what the template renders after the text of a dummy reply that these messages follow."""
        start = [
            {"role": "user", "content": self._content(_ASK)},
            {"role": "assistant", "content": self._content(_REPLY)},
        ]
        text = self._apply([*start, *messages], add_generation_prompt)
        _, found, following = text.partition(_REPLY)
        if not found:
            raise TemplateError("The chat template does not show the text of a reply: no history can be built on it.")
        return following

    def _framed(self, message: dict[str, Any]) -> str | None:
        """Return the delta of one message from what the template is known to put round it; None if that is unsure."""
        role, content = message["role"], message["content"]
        if self._parts and len(content) == 1 and content[0].get("type") == "text":
            content = content[0]["text"]
        # What begins with a tag or speaks of thinking (`/nothink`) may be what a template looks for.
        if len(message) != 2 or not isinstance(content, str) or content[:1] in ("", "<") or "think" in content:
            return None
        if role not in self._frames:
            self._frames[role] = self._frame(role)
        frame = self._frames[role]
        if frame is None:
            return None
        if frame.strips:
            content = content.strip()
        return frame.before + content + frame.after if content else None

    def _frame(self, role: str) -> _Frame | None:
        """Find out what surrounds a message of this role, if its text is shown as it is or stripped."""
        padded = f"\n {_PROBE}\n "
        before, found, after = self._following([{"role": role, "content": self._content(_PROBE)}]).partition(_PROBE)
        text = self._following([{"role": role, "content": self._content(padded)}])
        if found and text == before + padded + after:
            return _Frame(before, after, strips=False)
        if found and text == before + _PROBE + after:
            return _Frame(before, after, strips=True)
        return None

    def _ended(self, text: str, action: str) -> int:
        """Return how much of the delta's end-of-turn text the action already ends with."""
        end = text[: self._end(text)]
        cuts = {len(end), len(end.rstrip()), *(token.end() for token in _TOKEN.finditer(end))}
        for cut in sorted(cuts, reverse=True):
            sampled = end[:cut].lstrip() or end[:cut]
            if sampled and action.endswith(sampled):
                return cut
        return 0

    def _end(self, text: str) -> int:
        """Return the length of the end-of-turn text that a delta begins with."""
        if self._tail is None:
            self._tail = self._following([], add_generation_prompt=False)
        if self._tail and text.startswith(self._tail):
            return len(self._tail)
        token = _TOKEN.match(text)
        if token is None:
            return 0
        return len(text) - len(text[token.end() :].lstrip())


def _joined(first: Any, second: Any, between: str) -> Any:
    """Join two contents; the result has parts if one of them has."""
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return first + between + second
    first, second = ([{"type": "text", "text": c}] if isinstance(c, str) else list(c) for c in (first, second))
    return [*first, {"type": "text", "text": between}, *second]


def append_break(prompt: str, action: str, next_prompt: str) -> str | None:
    """Say where a prompt departs from the one before it and the action as sampled.

    Args:
        prompt: The prompt that the action answered.
        action: The action as sampled.
        next_prompt: The prompt that came next.

    Returns:
        None if `next_prompt` begins with both, to the character; else a sentence with the place and both texts.
    """
    if next_prompt.startswith(prompt + action):
        return None
    kept = prompt + action
    low, high = 0, len(kept)  # the longest common beginning lies between; halved, so that comparing is left to C
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if next_prompt.startswith(kept[:middle]) else (low, middle - 1)
    where = "the last prompt" if low < len(prompt) else "the action as sampled"
    return (
        f"The prompt is not the last one with the action appended: at character {low}, in {where}, "
        f"{kept[low : low + 40]!r} became {next_prompt[low : low + 40]!r}."
    )


def without_bos(text: str, bos_token: str | None) -> str:
    """Remove the begin-of-text token once, for engines that add it themselves.

    Args:
        text: A rendered prompt.
        bos_token: The tokenizer's ``bos_token``; None or empty removes nothing.

    Returns:
        ``silver`` for ``<s>silver`` and for ``silver``; ``<s>a`` for ``<s><s>a``.
    """
    return text.removeprefix(bos_token) if bos_token else text
