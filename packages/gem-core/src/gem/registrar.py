"""What hooks are handed as `register`: it turns their calls into specs and stages them, to be committed all or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from gem.errors import DuplicateId
from gem.specs import (
    ComponentSpec,
    EntryPoint,
    EnvSpec,
    FamilySpec,
    SandboxSpec,
    Spec,
    TargetSpec,
    ToolSpec,
    WrapperSpec,
    copy_kwargs,
)

__all__ = ["Register", "RegisterEnvs", "Stage", "build_spec"]

_RESERVED: dict[type[TargetSpec], frozenset[str]] = {
    EnvSpec: frozenset({"seed", "wrappers", "tokenizer", "checks"}),  # `gem.make` takes these itself
    WrapperSpec: frozenset({"env", "tokenizer"}),  # these it is called with
}


class Stage:
    """What one plugin has registered so far; nothing of it counts before it is committed.

    Args:
        origin: Whose it is: a distribution's name, or "user".

    Attributes:
        specs: What was registered, in order.
    """

    def __init__(self, origin: str) -> None:
        """Start empty."""
        self.origin = origin
        self.specs: list[Spec] = []
        self._keys: set[tuple[type[Spec], str]] = set()

    def add(self, spec: Spec) -> None:
        """Stage a spec.

        Raises:
            DuplicateId: Another one of its kind and key is staged already.
        """
        if (type(spec), spec.key) in self._keys:
            raise DuplicateId(f"{self.origin} registers {spec.key!r} twice; a name names one thing.")
        self._keys.add((type(spec), spec.key))
        self.specs.append(spec)

    def registers(self) -> dict[str, Register]:
        """Return the `register` of every hook, by the hook's name."""
        return {
            "gem_register_envs": RegisterEnvs(self, EnvSpec),
            "gem_register_wrappers": Register(self, WrapperSpec),
            "gem_register_tools": Register(self, ToolSpec),
            "gem_register_sandboxes": Register(self, SandboxSpec),
            "gem_register_components": Register(self, ComponentSpec),
        }


class Register:
    """The `register` of a hook: what its spec has as a field describes the thing, the rest goes to its target."""

    def __init__(self, stage: Stage, spec_type: type[TargetSpec]) -> None:
        """Register specs of one type into one stage."""
        self._stage = stage
        self._spec_type = spec_type

    def __call__(self, *names: Any, kwargs: Mapping[str, Any] | None = None, **options: Any) -> None:
        """Register one thing; `gem.hookspecs` says what each hook takes.

        Args:
            names: The spec's first fields, such as id and entry point.
            kwargs: Keyword arguments of the target, as a dict.
            options: Fields of the spec, and further keyword arguments of the target.

        Raises:
            DuplicateId: The plugin has registered this name already.
            InvalidId: It is no id or name.
            TypeError: An argument is missing or has the wrong type.
            ValueError: An argument has a value that it cannot have.
        """
        self._stage.add(build_spec(self._spec_type, *names, kwargs=kwargs, origin=self._stage.origin, **options))


class RegisterEnvs(Register):
    """The `register` of `gem_register_envs`, which knows open families too."""

    def family(
        self,
        prefix: str,
        resolver: EntryPoint,
        names: EntryPoint | os.PathLike[str] | None = None,
        description: str = "",
        *,
        tags: Iterable[str] = (),
        requires: Iterable[str] = (),
    ) -> None:
        """Register an open family; `gem.specs.FamilySpec` says what the fields are. Errors as in a call."""
        words = {"tags": tuple(tags), "requires": tuple(requires)}
        spec = FamilySpec(prefix, resolver, names, description=description, origin=self._stage.origin, **words)
        self._stage.add(spec)


def build_spec(
    spec_type: type[TargetSpec],
    *names: Any,
    kwargs: Mapping[str, Any] | None,
    origin: str,
    **options: Any,
) -> TargetSpec:
    """Build a spec that shares nothing with the arguments it was built from.

    Args:
        spec_type: The kind of spec.
        names: Its first fields.
        kwargs: Keyword arguments of the target.
        origin: Who registers it.
        options: Further fields of the spec; what is none goes to the target like `kwargs`.

    Raises:
        InvalidId: It is no id or name.
        TypeError: An argument is missing, given twice or of the wrong type.
        ValueError: An argument has a value that it cannot have, or a name that is reserved.
    """
    known = {f.name for f in fields(spec_type)} - {"kwargs", "origin"}
    settings = {name: value for name, value in options.items() if name in known}
    arguments = {name: value for name, value in options.items() if name not in known}
    key = ":".join(str(name) for name in names[:1])
    twice = sorted(set(arguments) & set(kwargs or {}))
    if twice:
        raise TypeError(f"{key} gets {', '.join(twice)} twice: in kwargs={{...}} and beside it.")
    arguments = {**(kwargs or {}), **arguments}
    reserved = sorted(_RESERVED.get(spec_type, frozenset()) & set(arguments))
    if reserved:
        raise ValueError(
            f"{key} cannot have {', '.join(reserved)} as a registered argument: whoever makes it passes that. "
            "(The seed of an environment's own data is data_seed.)",
        )
    return spec_type(*names, kwargs=copy_kwargs(arguments, key), origin=origin, **settings)
