"""The arguments of a vector env, checked before any environment is touched (contract V3)."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gem.seeding import check_seed, derive
from gem.vector.slot import ResetRequest

__all__ = ["ActionCheck", "check_indices", "reset_requests"]

_OWN_OPTIONS = re.compile(r"env(\d+)_kwargs")


class ActionCheck:
    """Says for which environments actions are, and refuses what is not one valid action for each.

    Args:
        action_types: The type of a valid action, by environment.
        everyone: The indices to return for a list of actions.
    """

    def __init__(self, action_types: Sequence[type], everyone: Sequence[int]) -> None:
        """Note whether all environments take the same type, which can then be checked in one go."""
        self._types = action_types
        self._everyone = everyone
        self._size = len(everyone)
        self._only = {self._types[0]} if len(set(self._types)) == 1 else None

    def __call__(self, actions: Any) -> tuple[Sequence[int], Sequence[Any]]:
        """Return `(indices, actions)`.

        Args:
            actions: One action per environment, or `{index: action}` for some of them.

        Raises:
            TypeError: `actions` is neither, an index is not an integer, or an action is not of its environment's type.
            ValueError: There are too few or too many, or an index is out of range.
        """
        if type(actions) is list and len(actions) == self._size and set(map(type, actions)) == self._only:
            return self._everyone, actions  # the usual case, before all others
        if isinstance(actions, Mapping):
            indices: Sequence[int] = check_indices(list(actions), len(self._types))
            actions = list(actions.values())
        else:
            if not isinstance(actions, (list, tuple)):
                actions = _to_list(actions, "actions", "a list with one action per environment, or {index: action}")
            if len(actions) != len(self._types):
                raise ValueError(
                    f"There are {len(self._types)} environments and {len(actions)} actions; to step only some, "
                    "pass {index: action}."
                )
            indices = self._everyone
        for index, action in zip(indices, actions, strict=True):
            if not isinstance(action, self._types[index]):
                raise TypeError(
                    f"Env {index} takes actions of type {self._types[index].__name__}; got "
                    f"{type(action).__name__}. Nothing was stepped."
                )
        return indices, actions


def check_indices(indices: Any, num_envs: int) -> list[int]:
    """Return the indices of environments as a list.

    Args:
        indices: Integers without duplicates, or a mask of `num_envs` booleans.
        num_envs: How many environments there are.

    Raises:
        TypeError: They are no sequence, or one is not an integer.
        ValueError: One is out of range or comes twice.
    """
    if not isinstance(indices, (list, tuple)):
        indices = _to_list(indices, "indices", "a list of integers, or a mask with one boolean per environment")
    booleans = sum(_is_boolean(index) for index in indices)
    if booleans and booleans == len(indices) == num_envs:
        return [place for place, chosen in enumerate(indices) if chosen]
    checked: list[int] = []
    for index in indices:
        if _is_boolean(index) or not hasattr(index, "__index__"):
            raise TypeError(f"The index of an environment is an integer; got {index!r} of type {type(index).__name__}.")
        number = operator.index(index)
        if not 0 <= number < num_envs:
            raise ValueError(f"There is no environment {number}: they are numbered 0 to {num_envs - 1}.")
        checked.append(number)
    if len(set(checked)) != len(checked):
        twice = sorted({index for index in checked if checked.count(index) > 1})
        raise ValueError(f"Each environment can be named once; got {twice} more than once.")
    return checked


def reset_requests(
    indices: Sequence[int], seed: Any, options: Mapping[str, Any], pending: Mapping[int, int]
) -> list[ResetRequest]:
    """Return what each environment's `reset` gets.

    Args:
        indices: The environments to reset.
        seed: An integer (environment i gets `derive(seed, i)`), a sequence with one seed or None per environment to
            reset, or None.
        options: Options for all, and `env3_kwargs={...}` for environment 3 alone.
        pending: Seeds for those that `seed` says nothing about.

    Raises:
        TypeError: A seed is not an integer, or `env3_kwargs` is not a mapping.
        ValueError: A seed is negative, there are too few or too many, or `env3_kwargs` names an environment that is
            not reset.
    """
    seeds: list[int | None]
    if seed is None:
        seeds = [None] * len(indices)
    elif not _is_sequence(seed):
        seeds = [derive(check_seed(seed), index) for index in indices]
    else:
        given = list(seed)
        if len(given) != len(indices):
            raise ValueError(
                f"{len(indices)} environments are to be reset and {len(given)} seeds are given; it takes one each."
            )
        seeds = [None if one is None else check_seed(one) for one in given]
    own: dict[int, Mapping[str, Any]] = {}
    common: dict[str, Any] = {}
    for name, value in options.items():
        match = _OWN_OPTIONS.fullmatch(name)
        if match is None:
            common[name] = value
        elif int(match[1]) not in indices:
            raise ValueError(
                f"{name} is for environment {int(match[1])}, which is not among those to reset: {list(indices)}."
            )
        elif not isinstance(value, Mapping):
            raise TypeError(f"{name} is a dict of reset options; got {type(value).__name__}.")
        else:
            own[int(match[1])] = value
    return [
        (pending.get(index) if chosen is None else chosen, {**common, **own.get(index, {})})
        for index, chosen in zip(indices, seeds, strict=True)
    ]


def _to_list(values: Any, name: str, expected: str) -> list[Any]:
    """Return a sequence as a list, or refuse it."""
    if _is_sequence(values):
        return list(values)
    shown = f"{values!r}"[:80]
    raise TypeError(f"{name}: expected {expected}; got {shown} of type {type(values).__name__}.")


def _is_sequence(values: Any) -> bool:
    """Return whether this is a sequence of things: numpy's arrays are, texts and sets are not."""
    return (isinstance(values, Sequence) and not isinstance(values, (str, bytes, bytearray))) or (
        getattr(values, "ndim", 0) == 1
    )


def _is_boolean(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # numpy's too, under the names it had before and since 2.0
