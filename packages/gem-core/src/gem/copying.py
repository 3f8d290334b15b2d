"""How an environment is copied, restored and built again: what `spawn`, `get_state`, `set_state` stand on (E11)."""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from gem.errors import StateError

__all__ = ["StandIn", "class_name", "constructor_arguments", "copy_attributes", "leave_out", "put_back", "replace"]


@dataclass(frozen=True)
class StandIn:
    """Stands in a state for an object that the state is about: the environment itself, a layer inside it, a tool.

    An attribute that leads back to one (`self.moves = {"up": self.go_up}`, a board that knows its environment) would
    otherwise bring a second one into the state, and what is restored would act on that.
    """

    depth: int

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        return memo.get(self, self)

    def __getattr__(self, name: str) -> _StandInMethod:
        if name == "depth" or name.startswith("__"):  # copy and pickle look for these
            raise AttributeError(name)
        return _StandInMethod(self, name)


@dataclass(frozen=True)
class _StandInMethod:
    """What a pickled method of a `StandIn` becomes, since a method is pickled as its object and its name."""

    owner: StandIn
    name: str

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        owner = memo.get(self.owner)
        return self if owner is None else getattr(owner, self.name)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:  # `functools.partial` takes only what can be called
        raise StateError(f"{self.name}() belongs to a state that has not been restored.")


def leave_out(layers: Sequence[Any]) -> dict[Any, Any]:
    """Return the memo by which `copy_attributes` makes a state without these objects."""
    return {id(layer): StandIn(depth) for depth, layer in enumerate(layers)}


def put_back(layers: Sequence[Any]) -> dict[Any, Any]:
    """Return the memo by which `copy_attributes` restores a state with these objects in it."""
    return {StandIn(depth): layer for depth, layer in enumerate(layers)}


def replace(layers: Sequence[Any], twins: Sequence[Any]) -> dict[Any, Any]:
    """Return the memo by which `copy_attributes` puts each twin in the place of its original."""
    return {id(layer): twin for layer, twin in zip(layers, twins, strict=True)}


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


def constructor_arguments(
    cls: type,
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    changes: Mapping[str, Any],
    *,
    shared: tuple[str, ...],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return recorded constructor arguments, plain containers copied, so that two objects never share one.

    Args:
        cls: The class whose `__init__` they went to.
        arguments: Positional and keyword arguments.
        changes: Arguments to put in the place of recorded ones, or beside them, by name.
        shared: Names of arguments that are passed on as they are.

    Returns:
        Positional and keyword arguments; what was given by position stays there.
    """
    args, kwargs = arguments
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:] if args else []  # type: ignore[misc]
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in by_position][: len(args)]

    def own(name: str, value: Any) -> Any:
        if name in changes:
            return changes[name]
        return copy.deepcopy(value) if isinstance(value, (dict, list, set)) and name not in shared else value

    rest = [own("", value) for value in args[len(names) :]]
    positional = [own(name, value) for name, value in zip(names, args, strict=False)]
    added = {name: value for name, value in changes.items() if name not in names}
    return (*positional, *rest), {**{name: own(name, value) for name, value in kwargs.items()}, **added}
