r"""Find answers, code and tool calls in what a model wrote: one rule for all, in linear time.

Three rules hold for every function here:

* **Reasoning is invisible.** ``<think>...</think>`` is a region; nothing inside it is an answer, code or a call, and
  nothing reaches across it (an ``<answer>`` opened before a region and closed after it is not complete).
* **A closing tag belongs to the last opening tag before it.** ``use <search> tags. <search>cats</search>`` searches for
  ``cats``; an opening tag that is never closed is prose. Tags are case-sensitive and carry no attributes.
* **Any text is valid input.** Nothing raises, and the cost grows linearly with the text: places are found with
  ``str.find`` and ``str.rfind`` over ground that is walked once, or with patterns that cannot backtrack over it twice.

Spans are half-open character offsets into the text as given: ``text[a:b]`` is the whole construct with its tags.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gem.call_json import MAX_CALL_CHARS, MAX_CALL_DEPTH, decode_call, encode_call

__all__ = [
    "MAX_CALL_CHARS",
    "MAX_CALL_DEPTH",
    "PYTHON_TAGS",
    "Match",
    "ToolCall",
    "answer",
    "boxed",
    "extract",
    "fenced",
    "fenced_blocks",
    "reasoning_spans",
    "render_tool_calls",
    "tagged",
    "tool_calls",
    "without_reasoning",
]

PYTHON_TAGS = frozenset({"python", "py", "python3", ""})
"""Fence tags (lower case) that mean Python; the empty one is a fence without a tag."""

_THINK, _END_THINK = "<think>", "</think>"
_CALL, _END_CALL = "<tool_call>", "</tool_call>"


@dataclass(frozen=True, slots=True)
class Match:
    """One construct found in a text.

    Attributes:
        content: What stands between the tags.
        span: Half-open character offsets of the whole construct, tags included.
    """

    content: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call, well-formed or not.

    Attributes:
        id: Unique within its text and the same each time it is parsed: ``call_0``, ``call_1``, ...
        name: The function to call; empty where a malformed call names none.
        arguments: Plain JSON values by parameter name; empty where the call is malformed.
        span: Half-open character offsets of the call in its text.
        error: None, or a sentence from which the model can repair a malformed call.
    """

    id: str
    name: str
    arguments: dict[str, Any] = field(hash=False)
    span: tuple[int, int]
    error: str | None = None


# --- reasoning --------------------------------------------------------------------------------------------------------


def reasoning_spans(text: str) -> list[tuple[int, int]]:
    """Return the regions of reasoning, in order and disjoint.

    An unclosed ``<think>`` reaches to the end of the text. A ``</think>`` with no region open closes the one that the
    chat template opened before the text: it reaches back to the start, over everything between.

    Args:
        text: What the model wrote.

    Returns:
        Half-open character spans, tags included.
    """
    spans: list[tuple[int, int]] = []
    pos, size = 0, len(text)
    while True:
        start = text.find(_THINK, pos)
        # Every closing tag up to the next opening one is a lone one; the last of them says it all.
        lone = text.rfind(_END_THINK, pos, size if start < 0 else start)
        if lone >= 0:
            spans = [(0, lone + len(_END_THINK))]
        if start < 0:
            return spans
        end = text.find(_END_THINK, start)
        if end < 0:
            spans.append((start, size))
            return spans
        pos = end + len(_END_THINK)
        spans.append((start, pos))


def without_reasoning(text: str) -> str:
    """Return the text with its regions of reasoning cut out, otherwise unchanged."""
    return "".join(text[start:end] for start, end in _visible(text))


def _visible(text: str) -> list[tuple[int, int]]:
    """Return the spans of the text outside its reasoning: the only ground that the other functions walk."""
    visible, pos = [], 0
    for start, end in reasoning_spans(text):
        if start > pos:
            visible.append((pos, start))
        pos = end
    if pos < len(text):
        visible.append((pos, len(text)))
    return visible


# --- answers ----------------------------------------------------------------------------------------------------------


def extract(text: str, answer_format: str | None) -> str | None:
    r"""Return the answer that an environment with this ``answer_format`` reads.

    Args:
        text: What the model wrote.
        answer_format: ``"boxed"``, ``"answer"``, ``"fenced"``, or None for the whole text outside the reasoning.

    Returns:
        The answer, or None where there is none.

    Raises:
        ValueError: If there is no such format.
    """
    if answer_format is None:
        return without_reasoning(text).strip() or None
    finders = {"boxed": boxed, "answer": answer, "fenced": fenced}
    if answer_format not in finders:
        raise ValueError(
            f"answer_format is {answer_format!r}, but it must be one of 'boxed', 'answer', 'fenced' and None.",
        )
    return finders[answer_format](text)


def answer(text: str) -> str | None:
    """Return the content of the last ``<answer>...</answer>``, stripped; None where there is none."""
    matches = tagged(text, "answer")
    return matches[-1].content.strip() if matches else None


def tagged(text: str, tag: str) -> list[Match]:
    """Return every ``<tag>...</tag>`` outside the reasoning, in order, contents as written.

    Args:
        text: What the model wrote.
        tag: The tag's name, without brackets.

    Returns:
        The matches; ``</tag>x<tag>`` and unclosed tags give none.
    """
    opening, closing = f"<{tag}>", f"</{tag}>"
    found = []
    for start, end in _visible(text):
        for opened, closed in _pairs(text, opening, closing, start, end):
            found.append(Match(text[opened + len(opening) : closed], (opened, closed + len(closing))))
    return found


def _pairs(text: str, opening: str, closing: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each pair opens and closes; a closing tag belongs to the last opening one since the pair before."""
    # Looking for an opening tag first passes over any number of lone closing ones at once.
    while (first := text.find(opening, start, end)) >= 0 and (closed := text.find(closing, first, end)) >= 0:
        yield text.rfind(opening, first, closed), closed
        start = closed + len(closing)


_BOX = "\\boxed"
_BOX_OPENS = re.compile(r"\s*\{")
_PLAIN_BOX = re.compile(r"\\boxed\s*\{([^{}\\]*)\}")


def boxed(text: str) -> str | None:
    r"""Return the content of the last complete ``\boxed{...}`` outside the reasoning, stripped.

    Braces inside are balanced, ``\{`` and ``\}`` are plain characters, blanks before the brace are tolerated. "Last" is
    the one that begins last: of ``\boxed{\boxed{3}}`` it is ``3``.

    Args:
        text: What the model wrote.

    Returns:
        The content, possibly empty, or None where no box is complete.
    """
    # What nearly every action is, read without walking over braces: a last box that holds neither braces nor escapes.
    start = text.rfind(_BOX)
    if start >= 0 and "think>" not in text and (plain := _PLAIN_BOX.match(text, start)):
        return str(plain[1]).strip()
    for start, end in reversed(_visible(text)):
        box = _last_box(text, start, end)
        if box is not None:
            return box.strip()
    return None


def _last_box(text: str, start: int, end: int) -> str | None:
    """Match braces from the right, so that the first box met with a closing brace to spare is the answer."""
    start = text.find(_BOX, start, end)
    if start < 0:
        return None
    closers: list[int] = []  # closing braces not yet matched, the nearest last
    opens = closes = box = end  # where the next one to the left of `end` is: searched again only when it was used
    brace = -1
    while True:
        if closes >= end:
            closes = text.rfind("}", start, end)
        if not closers:
            if closes < 0:
                return None
            # With nothing to close them, the opening braces from here to the next closing one do not matter.
            end = closes
            if not _is_escaped(text, closes, start):
                closers.append(closes)
            continue
        if opens >= end:
            opens = text.rfind("{", start, end)
        if opens < 0:
            return None
        end = max(opens, closes)
        if _is_escaped(text, end, start):
            continue
        if end == closes:
            closers.append(end)
            continue
        closer = closers.pop()
        while box > end or brace > end:  # the nearest box whose brace is here or to the left
            box = text.rfind(_BOX, start, min(box, end))
            if box < 0:
                return None
            opened = _BOX_OPENS.match(text, box + len(_BOX), end + 1)
            brace = opened.end() - 1 if opened else -1
        if brace == end:
            return text[end + 1 : closer]


def _is_escaped(text: str, place: int, start: int) -> bool:
    """Tell whether an odd number of backslashes stands before the place."""
    first = place
    while first > start and text[first - 1] == "\\":
        first -= 1
    return (place - first) % 2 == 1


# --- fenced code ------------------------------------------------------------------------------------------------------

_TAG_AND_BREAK = re.compile(r"[ \t]*(?:([^\s`]+)[ \t]*)?\r?\n")
# What can close a block: a fence that ends a line, or one that begins a line before prose ("``` This prints 3.").
_CLOSES = re.compile(r"\n[ \t]*```[ \t]+[^\s`]+[ \t]+(?!```[ \t]*\r?$)\S|```[ \t]*\r?$", re.MULTILINE)


class _Fence(NamedTuple):
    """A run of backticks: its place and length, its indentation (None: other text precedes it), its tag, its end."""

    start: int
    size: int
    indent: str | None
    tag: str
    end: int


def fenced(text: str) -> str | None:
    """Return the last fenced block that is Python or has no tag, as written; None where there is none."""
    blocks = fenced_blocks(text, PYTHON_TAGS)
    return blocks[-1].content if blocks else None


def fenced_blocks(text: str, languages: Collection[str] | None = None) -> list[Match]:
    """Return the fenced code blocks outside the reasoning, in order.

    A block opens with three or more backticks, an optional tag and the end of the line. It closes at the next fence, at
    least as long, that ends a line or begins one before prose; not at one on its own line that is indented four columns
    deeper (a fence in a docstring). Where a tagged fence begins a line before that, the block was never closed and the
    later one counts. A block left open at the end of the text counts.

    Args:
        text: What the model wrote.
        languages: Tags to keep, in lower case (``""``: without a tag); None keeps all.

    Returns:
        Matches whose content is the code without the last line break, and without the fence's own indentation.
    """
    found = []
    for start, end in _visible(text):
        for opened, content_end, block_end in _blocks(text, start, end):
            if languages is not None and opened.tag.lower() not in languages:
                continue
            code = text[opened.end : content_end]
            if opened.indent:
                code = "\n".join(line.removeprefix(opened.indent) for line in code.split("\n"))
            found.append(Match(code.removesuffix("\n").removesuffix("\r"), (opened.start, block_end)))
    return found


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[_Fence, int, int]]:
    """Yield each block's opening fence (whose end is where its code begins), and where its code and itself end."""
    # Asked once: where no fence is followed by what may follow a closing one, the patterns need not look at each.
    may_close = text.endswith("```", start, end) or any(text.find(f"```{c}", start, end) >= 0 for c in "\n \t\r")
    while (opened := _opening_fence(text, start, end)) is not None:
        closed = _closing_fence(text, opened, end) if may_close else None
        again = end if closed is None else closed.start
        while (again := text.rfind("\n```", opened.end - 1, again)) >= 0:
            later = _fence(text, again + 1, again + 1, end)
            if later is not None and later.tag:
                opened = later
                break
        if closed is None:
            if end == len(text):
                yield opened, end, end
            return
        # The indentation of a fence alone on its line is not code.
        yield opened, closed.start - len(closed.indent or ""), closed.end
        start = closed.end


def _opening_fence(text: str, start: int, end: int) -> _Fence | None:
    """Return the first fence that is followed by a tag at most and a line break."""
    while (first := text.find("```", start, end)) >= 0 and (stop := text.find("\n", first, end)) >= 0:
        # Of several on a line only the last can open a block; those before it are code set inline.
        fence = _fence(text, max(start, text.rfind("\n", start, first) + 1), text.rfind("```", first, stop), end)
        if fence is not None:
            return fence
        start = stop + 1
    return None


def _fence(text: str, line: int, place: int, end: int) -> _Fence | None:
    """Return the opening fence whose last three backticks are here, if a tag at most and a line break follow."""
    tail = _TAG_AND_BREAK.match(text, place + 3, end)
    if tail is None:
        return None
    start, indent = _run(text, line, place)
    return _Fence(start, place + 3 - start, indent, tail[1] or "", tail.end())


def _run(text: str, line: int, place: int) -> tuple[int, str | None]:
    """Return where the run of backticks that reaches here begins, and its indentation if nothing else precedes it."""
    if line == place:
        return place, ""
    before = text[line:place].rstrip("`")
    return line + len(before), before if not before or before.isspace() else None


def _closing_fence(text: str, opened: _Fence, end: int) -> _Fence | None:
    """Return the fence that closes the block: long enough, and not indented as part of the code."""
    deepest = len(opened.indent or "") + 3
    start = opened.end
    while (found := _CLOSES.search(text, start - 1, end)) is not None:
        place = text.find("```", found.start())
        begin, indent = _run(text, text.rfind("\n", 0, place) + 1, place)
        start = place + 3
        if start - begin >= opened.size and len(indent or "") <= deepest:
            return _Fence(begin, start - begin, indent, "", start)
    return None


# --- tool calls -------------------------------------------------------------------------------------------------------


def tool_calls(text: str) -> list[ToolCall]:
    """Return the ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>`` blocks outside the reasoning, in order.

    Malformed calls are returned too, with ``error`` set. Arguments that are null or absent are ``{}``; a JSON text in
    their place is decoded; stray quotes after the JSON are ignored; raw line breaks in strings are accepted. NaN,
    infinities and numbers too large for a float are errors, since they are not JSON. A block left open at the end of
    the text, or where reasoning begins, is taken if it is a complete call and is an error call if not; an opening tag
    followed by another is prose.

    Args:
        text: What the model wrote.

    Returns:
        The calls in the order of their spans, with ids ``call_0``, ``call_1``, ...
    """
    calls: list[ToolCall] = []
    for start, end in _visible(text):
        pos = start
        for opened, closed in _pairs(text, _CALL, _END_CALL, start, end):
            first = text.find(_CALL, pos, closed)
            pos = closed + len(_END_CALL)
            call = _call(text, opened, closed, pos, len(calls))
            if call.error is not None and first < opened:
                # The last opening tag may stand in a string of the call that an earlier one opened.
                earlier = _call(text, first, closed, pos, len(calls))
                call = call if earlier.error else earlier
            calls.append(call)
        opened = text.rfind(_CALL, pos, end)
        if opened >= 0:
            call = _call(text, opened, end, end, len(calls))
            if call.error is not None:
                error = f"The tool call has no closing {_END_CALL}. Write the whole call again and close it."
                call = ToolCall(call.id, call.name, {}, call.span, error)
            calls.append(call)
    return calls


def _call(text: str, opened: int, closed: int, end: int, number: int) -> ToolCall:
    """Read one block: the JSON stands between the tag at `opened` and `closed`, the block ends at `end`."""
    name, arguments, error = decode_call(text, opened + len(_CALL), closed)
    return ToolCall(f"call_{number}", name, arguments, (opened, end), error)


def render_tool_calls(calls: Iterable[ToolCall | Mapping[str, Any]]) -> str:
    r"""Write tool calls as the text that ``tool_calls`` reads: the door for native tool calls into text environments.

    What looks like a tag inside the JSON is written ``\u003c...``, so that arguments may hold ``</tool_call>`` or
    ``<think>``. Names and arguments survive the round trip; ids are given anew, by position.

    Args:
        calls: ``ToolCall`` values, or OpenAI-style dicts ``{"id": ..., "function": {"name": ..., "arguments": ...}}``
            whose arguments are an object or its JSON text.

    Returns:
        One ``<tool_call>`` block per call, a line break between two; empty for no calls.

    Raises:
        TypeError: If arguments hold what JSON cannot.
        ValueError: If arguments hold a NaN or an infinity.
    """
    blocks = []
    for call in calls:
        if isinstance(call, ToolCall):
            name, arguments = call.name, call.arguments
        else:
            function = call.get("function", call)
            name, arguments = function.get("name"), function.get("arguments")
        blocks.append(f"{_CALL}\n{encode_call(name, arguments)}\n{_END_CALL}")
    return "\n".join(blocks)
