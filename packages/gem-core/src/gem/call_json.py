"""The JSON of one tool call, `{"name": ..., "arguments": {...}}`: read what models write, write what reads back.

`gem.parsing` finds the blocks in a text; this module knows what may stand in one.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

__all__ = ["MAX_CALL_CHARS", "MAX_CALL_DEPTH", "decode_call", "encode_call"]

MAX_CALL_CHARS = 100_000
"""Longest JSON text of one tool call, in characters; a longer one is an error that repeats none of it."""

MAX_CALL_DEPTH = 64
"""Deepest nesting of a tool call's JSON; deeper values would break whoever copies, pickles or prints them."""


class _CallError(ValueError):
    """A sentence about what is wrong with a call; never leaves this module."""


def decode_call(text: str, start: int = 0, end: int | None = None) -> tuple[str, dict[str, Any], str | None]:
    """Read the call that stands in `text[start:end]`.

    Arguments that are null or absent are ``{}``; a JSON text in their place is decoded; stray quotes after an object
    are ignored; raw line breaks in strings are accepted. NaN, infinities and numbers too large for a float are errors,
    since they are not JSON.

    Args:
        text: The text that holds the call.
        start: Where its JSON begins.
        end: Where it ends; None is the end of the text.

    Returns:
        Name, arguments and None; or the name if there is one, no arguments, and a sentence that says what is wrong,
        from which the model can repair the call. The sentence never repeats the arguments.
    """
    name = ""
    size = (len(text) if end is None else end) - start
    try:
        if size > MAX_CALL_CHARS:
            raise _CallError(f"The tool call is {size} characters long; the limit is {MAX_CALL_CHARS}. Send less.")
        call = _decode(text[start:end], "The tool call")
        if not isinstance(call, dict):
            raise _CallError(
                f"The tool call is a JSON {_kind(call)}, but it must be one object with name and arguments. "
                "Write each call in a block of its own.",
            )
        given = call.get("name")
        if not isinstance(given, str) or not given:
            raise _CallError('The tool call has no name. Write {"name": "...", "arguments": {...}}.')
        name = given
        return name, _arguments(call.get("arguments")), None
    except _CallError as fault:
        return name, {}, str(fault)


_TAG_BEGINS = re.compile(r"<(?=[/A-Za-z])")


def encode_call(name: Any, arguments: Any) -> str:
    r"""Write the JSON that `decode_call` reads back, on one line.

    What looks like a tag inside the JSON is written ``\u003c...``, so that no parser of the surrounding text sees it.

    Args:
        name: The function's name.
        arguments: An object, or its JSON text as providers send it. A text that is no JSON object is kept as it is,
            so that whoever reads the call can say what is wrong with it.

    Returns:
        The JSON text.

    Raises:
        TypeError: If the arguments hold what JSON cannot.
        ValueError: If the arguments hold a NaN, an infinity or themselves.
    """
    if isinstance(arguments, str):
        with contextlib.suppress(_CallError):
            arguments = _arguments(arguments)
    body = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False, allow_nan=False)
    return _TAG_BEGINS.sub(r"\\u003c", body)


def _arguments(given: Any) -> dict[str, Any]:
    """Return the arguments as an object, decoding the JSON text that some models write in its place."""
    if isinstance(given, str):
        given = _decode(given, "The text of arguments") if given.strip() else None
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise _CallError(f"The arguments are a JSON {_kind(given)}, but they must be an object of values by name.")
    return given


def _not_json(constant: str) -> NoReturn:
    raise _CallError(f"{constant} is not JSON. Use a number, a string or null in its place.")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _not_json("A number too large for a float")


# Not strict: raw line breaks and tabs inside strings are what models write when they pass code.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_not_json, parse_float=_finite)


def _decode(text: str, what: str) -> Any:
    """Decode one JSON value, forgiving stray quotes after an object.

    Raises:
        _CallError: If it is no JSON, is followed by more than stray quotes, or is nested too deeply.
    """
    text = text.strip()
    try:
        try:
            value, end = _DECODER.raw_decode(text)
        except json.JSONDecodeError:
            # `{"name": "f", "arguments": {}""}`: no valid JSON has a brace before two quotes outside a string.
            if '}""' not in text:
                raise
            text = text.replace('}""', "}")
            value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError as fault:
        raise _CallError(f"{what} is not valid JSON: {fault.msg} at character {fault.pos}. Write it again.") from None
    except RecursionError:
        raise _CallError(_TOO_DEEP.format(what)) from None
    except _CallError:
        raise
    except ValueError:  # an integer of thousands of digits, which Python refuses to convert
        raise _CallError(f"{what} holds a number with too many digits. Send it as a string.") from None
    if text[end:].strip(" \t\r\n\"'`"):
        raise _CallError(f"{what} goes on after its JSON ends at character {end}. Write exactly one JSON object.")
    level = [value]
    for _ in range(MAX_CALL_DEPTH):
        level = [child for node in level for child in _children(node)]
        if not level:
            return value
    raise _CallError(_TOO_DEEP.format(what))


_TOO_DEEP = f"{{}} is nested too deeply; the limit is {MAX_CALL_DEPTH} levels. Send flatter arguments."


def _children(node: Any) -> Iterable[Any]:
    """Return the values that a JSON value holds."""
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _kind(value: Any) -> str:
    """Name a JSON value's type as JSON does."""
    if value is None:
        return "null"
    kinds = {list: "list", str: "string", bool: "boolean", int: "number", float: "number"}
    return kinds.get(type(value), "object")
