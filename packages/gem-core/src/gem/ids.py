"""The grammar of ids, names and targets.

An id is `family:name`, optionally `-vN`, optionally a variant after it; what follows the colon is otherwise opaque.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from gem.errors import InvalidId

__all__ = ["IdParts", "check_id", "check_name", "check_target", "close_matches", "did_you_mean", "split_id"]

_ID = re.compile(r"(?P<family>[A-Za-z0-9][\w.-]*):(?P<rest>[^\s](?:[^\n\r\t\0]*[^\s])?)")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_VERSION = re.compile(r"(?P<name>.+?)-v(?P<version>\d+)(?P<variant>-.*)?")


class IdParts(NamedTuple):
    """An id taken apart: `game:Sokoban-v0-easy` is game, Sokoban, 0, `-easy`; a plain name has no family."""

    family: str
    name: str
    version: int | None
    variant: str

    @property
    def stem(self) -> str:
        """The id without its version, which all versions share."""
        return f"{self.family}:{self.name}{self.variant}" if self.family else f"{self.name}{self.variant}"


def check_id(id: Any) -> str:
    """Return an id without the blanks round it.

    Raises:
        InvalidId: It is no id: ids are `family:name`.
    """
    if not isinstance(id, str):
        raise InvalidId(f"An id is a string such as 'game:GuessTheNumber-v0'; got {id!r} of type {type(id).__name__}.")
    if not _ID.fullmatch(id.strip()) or not id.strip().isprintable():  # a listing has one line for each
        raise InvalidId(f"{id!r} is no id: ids are family:name, such as 'game:GuessTheNumber-v0'.")
    return id.strip()


def check_name(name: Any) -> str:
    """Return a plain name (of a wrapper, tool, sandbox, kind) without the blanks round it.

    Raises:
        InvalidId: It holds something else than letters, digits, `_`, `-` and `.`.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name.strip()):
        raise InvalidId(f"{name!r} is no name: names are letters, digits, '_', '-' and '.', such as 'concat_chat'.")
    return name.strip()


def split_id(key: str) -> IdParts:
    """Take an id, or a plain name, apart; a version is `-vN` at the end or before a variant that begins with `-`."""
    family, colon, rest = key.partition(":")
    if not colon:
        family, rest = "", key
    match = _VERSION.fullmatch(rest)
    if match is None:
        return IdParts(family, rest, None, "")
    return IdParts(family, match["name"], int(match["version"]), match["variant"] or "")


def check_target(text: str, what: str) -> str:
    """Return a target string.

    Raises:
        ValueError: It is not `module:attribute`.
    """
    module, colon, attribute = text.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
        raise ValueError(f"{what} is 'module:attribute', such as 'gem_games.sokoban:Sokoban'; got {text!r}.")
    return text


def close_matches(text: str, known: Iterable[str]) -> list[str]:
    """List up to three of the known names that look like `text`, best first, capitals apart.

    Args:
        text: What was asked for.
        known: What there is.
    """
    from difflib import get_close_matches  # only an error needs it

    by_lower: dict[str, str] = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)
        by_lower.setdefault(name.lower().partition(":")[2], name)  # a family forgotten or mistaken
    by_lower.pop("", None)
    text = text.strip().lower()
    found = get_close_matches(text, list(by_lower), n=6) or get_close_matches(
        text.partition(":")[2], list(by_lower), n=6
    )
    return list(dict.fromkeys(by_lower[match] for match in found))[:3]


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """Return " Did you mean a, b or c?" with the known names that look like `text`, or an empty text without any."""
    close = [name for name in close_matches(text, known) if name != text]
    if not close:
        return ""
    return f" Did you mean {' or '.join(filter(None, (', '.join(close[:-1]), close[-1])))}?"
