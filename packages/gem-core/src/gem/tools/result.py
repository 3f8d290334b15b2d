"""What a tool answers, and how any value or error becomes text that a model can read (contract T4)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gem.errors import Fault

__all__ = ["NO_OUTPUT", "ToolResult", "as_result", "as_text", "cut", "describe_error"]

NO_OUTPUT = "(no output)"
"""What the model reads where a tool returned nothing: an empty message looks like a broken one."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one tool call.

    Attributes:
        text: What the model reads. With `fault`, what the operator reads: it is never shown to the model.
        is_error: Whether the call failed. This flag is the status; the text is never searched for one.
        fault: None, or the kind of the fault (`sandbox`, `server`, `grader`) when the infrastructure failed, so that
            the result says nothing about the agent. Raising `gem.Fault` is the same.
    """

    text: str
    is_error: bool = False
    fault: str | None = None

    def __post_init__(self) -> None:
        """Refuse a fault that is no kind of fault."""
        if self.fault is not None and self.fault not in Fault.KINDS:
            raise ValueError(f"A result's fault is None or one of {', '.join(Fault.KINDS)}; got {self.fault!r}.")


def as_result(value: Any, limit: int) -> ToolResult:
    """Return whatever a tool returned as a result with plain text.

    Args:
        value: A `ToolResult`, or any value that `as_text` reads.
        limit: The longest text in characters; see `cut`.

    Returns:
        The result; a result nested in a result is unwrapped, and the outer one's flags count.
    """
    text = cut(as_text(value), limit)
    if not isinstance(value, ToolResult):
        return ToolResult(text)
    return ToolResult(text, bool(value.is_error), value.fault)


def as_text(value: Any) -> str:
    """Return any value as readable text.

    Args:
        value: Text; bytes (read as UTF-8, what is not is replaced); None; a list of content parts, each in a line of
            its own; an MCP result (`{"content": [...]}`); other plain values, written as JSON.

    Returns:
        The text, never empty. A lone surrogate is replaced: neither a tokenizer nor UTF-8 takes one.
    """
    return _encodable(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, ToolResult):
        return _text(value.text)
    if value is None:
        return NO_OUTPUT
    if isinstance(value, str):
        return value or NO_OUTPUT
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace") or NO_OUTPUT
    if isinstance(value, Mapping):
        return _part_text(value) if _is_part(value) else _json(value)
    if isinstance(value, (list, tuple)):
        if any(_is_part(item) for item in value):
            return "\n".join(_text(item) for item in value if item is not None) or NO_OUTPUT
        return _json(value) if value else NO_OUTPUT
    text = getattr(value, "text", None)  # a content part of an MCP client
    return text if isinstance(text, str) and text else str(value)


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:  # through UTF-16, so that two halves of a pair become the character they mean
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def cut(text: str, limit: int) -> str:
    """Shorten a text to `limit` characters of its head and tail, with a notice between them.

    Args:
        text: Any text.
        limit: The longest text that is left as it is, in characters; the notice comes on top.

    Returns:
        The text, or its two ends and how much is missing between them.
    """
    if len(text) <= limit:
        return text
    tail = limit // 2
    head = limit - tail
    notice = f"\n[... {len(text) - limit} of {len(text)} characters left out ...]\n"
    return text[:head] + notice + text[len(text) - tail :]


# Paths of two parts or more, alone or in quotes (where they may hold blanks); a slash after a word or another slash is
# a fraction or a URL. The name at the end stays: it is what makes the message useful.
_QUOTED_PATH = re.compile(r"(['\"])/(?:[^/'\"\n]*/)+([^/'\"\n]*)\1")
_PATH = re.compile(r"(?<![\w./-])/(?:[^\s/'\":,;()<>]+/)+([^\s/'\":,;()<>]*)")
_QUERY = re.compile(r"(\w://[^\s?'\"]*)\?[^\s'\"]*")


def describe_error(error: BaseException) -> str:
    """Name an exception for the model: type and message, without host paths and queries of URLs (they hold keys)."""
    try:
        message = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        if isinstance(error, OSError) and error.strerror:
            message = str(error.strerror)
    except Exception:  # an exception that cannot even say what it is
        message = ""
    message = _QUERY.sub(r"\1?...", cut(_encodable(message), 2000).replace("file://", ""))
    message = _PATH.sub(r"\1", _QUOTED_PATH.sub(r"\1\2\1", message)).strip()
    return f"{type(error).__name__}: {message}" if message else f"{type(error).__name__} (no message)"


def _is_part(value: Any) -> bool:
    """Tell a content part from plain data."""
    if isinstance(value, Mapping):
        return isinstance(value.get("type"), str) or isinstance(value.get("content"), list)
    return value is not None and not isinstance(value, (int, float, list, tuple))


def _part_text(part: Mapping[Any, Any]) -> str:
    """Read a part's text; a part without text (an image, a file) is named by its type."""
    if isinstance(part.get("text"), str):
        return part["text"] or NO_OUTPUT
    if isinstance(part.get("content"), list):
        return _text(part["content"])
    if {"data", "source", "image_url", "resource"} & part.keys():
        return f"[{part['type']}]"
    return _json(part)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=as_text)
