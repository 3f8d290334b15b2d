"""How an environment is copied, restored and built again: what `spawn`, `get_state`, `set_state` stand on (E11)."""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Mapping
from typing import Any

from gem.errors import StateError

__all__ = ["class_name", "copy_attributes", "named_arguments"]


def class_name(thing: object) -> str:
    """Return the full name of a thing's class, which marks its state."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def copy_attributes(
    owner: Any, attributes: Mapping[str, Any], *, without: frozenset[str], memo: dict[Any, Any]
) -> dict[str, Any]:
    """Copy what belongs to an episode.

    Args:
        owner: Whose attributes they are; what its `shared` lists is neither copied nor in the result.
        attributes: The attributes by name.
        without: Names to leave out.
        memo: Objects that keep their identity or have a known copy, by `id`. It is one memo for all attributes, so
            that those which share an object go on sharing its copy.

    Returns:
        The copies by name.

    Raises:
        StateError: An attribute cannot be copied.
    """
    for name in owner.shared:
        value = vars(owner).get(name)
        memo[id(value)] = value
    for value in attributes.values():
        if type(value) is random.Random:  # deepcopy would walk through its 625 numbers
            twin = random.Random()
            twin.setstate(value.getstate())
            memo[id(value)] = twin
    copies: dict[str, Any] = {}
    for name, value in attributes.items():
        if name in without or name in owner.shared:
            continue
        try:
            copies[name] = copy.deepcopy(value, memo)
        except Exception as error:
            raise StateError(
                f"{owner!r} cannot be copied: its attribute {name!r} ({type(value).__name__}) cannot ({error}). "
                f"List it in `{type(owner).__name__}.shared` if all copies may share it, "
                "or override spawn, get_state and set_state."
            ) from error
    return copies


def named_arguments(
    cls: type, arguments: tuple[tuple[Any, ...], dict[str, Any]], *, shared: tuple[str, ...]
) -> dict[str, Any]:
    """Return recorded constructor arguments by name, plain containers copied, so that two objects never share one.

    Args:
        cls: The class whose `__init__` they went to.
        arguments: Positional and keyword arguments.
        shared: Names of arguments that are passed on as they are.
    """
    args, kwargs = arguments
    names = list(inspect.signature(cls.__init__).parameters)[1:] if args else []  # type: ignore[misc]
    named = {**dict(zip(names, args, strict=False)), **kwargs}
    return {
        name: copy.deepcopy(value) if isinstance(value, (dict, list, set)) and name not in shared else value
        for name, value in named.items()
    }
