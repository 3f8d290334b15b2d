"""What is registered, as values: frozen, comparable, picklable, and JSON there and back.

A spec holds names, not code: its entry point is a string such as `"gem_games.sokoban:Sokoban"`, imported when something
is made from it. (A user's script may register a class or function itself; that spec pickles where its entry point does,
and refuses JSON.)
"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

from gem.ids import check_id, check_name, check_target

__all__ = [
    "STAGES",
    "ComponentSpec",
    "EntryPoint",
    "EnvSpec",
    "FamilySpec",
    "FrozenDict",
    "SandboxSpec",
    "Spec",
    "TargetSpec",
    "ToolSpec",
    "WrapperSpec",
    "copy_kwargs",
]

EntryPoint = str | Callable[..., Any]
"""`"module:attribute"`, or the class or function itself."""

STAGES = ("tool", "observation", "tracking")
"""The order in which kinds of wrappers go round an environment, innermost first."""

_PLAIN = frozenset({type(None), bool, int, float, str})

SelfSpec = TypeVar("SelfSpec", bound="Spec")
SelfTarget = TypeVar("SelfTarget", bound="TargetSpec")


class FrozenDict(Mapping[str, Any]):
    """A dict that cannot be changed, yet can be copied and pickled (a `MappingProxyType` can be neither)."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        """Take a shallow copy of `items`."""
        self._items = dict(items or {})

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._items,)

    def __repr__(self) -> str:
        return repr(self._items)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What all specs share.

    Attributes:
        description: One line.
        tags: Words to find it by.
        requires: Requirements to install where an import fails, such as `"gem-math[rg]"`.
        origin: Who registered it: a distribution's name, or "user".
    """

    description: str = ""
    tags: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    origin: str = "user"

    noun: ClassVar[str] = "thing"

    def __post_init__(self) -> None:
        """Bring the fields into their one form.

        Raises:
            InvalidId: The id or name breaks the grammar.
            TypeError: A field has the wrong type.
            ValueError: A field has a value that it cannot have.
        """
        for name in ("tags", "requires"):
            self._set(name, _words(getattr(self, name), f"{name} of {self.key}"))
        if "\n" in self.description:
            raise ValueError(f"The description of {self.key} is one line of text; got {self.description!r}.")

    @property
    def key(self) -> str:
        """What it is registered under."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return the spec as JSON.

        Raises:
            TypeError: An entry point is a callable, or a keyword argument is no JSON value (tuples are kept as tuples).
        """
        import json  # a listing gets by without it

        values = {f.name: _encode(getattr(self, f.name), f"{self.key}: {f.name}") for f in fields(self)}
        for name, value in values.items():  # these fields come back as tuples from a plain list too
            if name != "kwargs" and isinstance(value, dict) and "$tuple" in value:
                values[name] = value["$tuple"]
        return json.dumps(values, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls: type[SelfSpec], text: str) -> SelfSpec:
        """Return the spec that `to_json` wrote.

        Raises:
            TypeError: A field is unknown or missing.
            ValueError: The text is no JSON, or a field has a value that it cannot have.
        """
        import json

        values = {name: _decode(value) for name, value in json.loads(text).items()}
        unknown = sorted(set(values) - {f.name for f in fields(cls)})
        if unknown:
            raise TypeError(f"{cls.__name__} has no field {', '.join(unknown)}; was this written by a newer gem-core?")
        return cls(**values)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


class _HasTarget:
    entry_point: EntryPoint  # a field of every class below, where it stands second


@dataclass(frozen=True, kw_only=True)
class TargetSpec(Spec, _HasTarget):
    """What the specs of single things share: what makes the thing, and with which arguments.

    Attributes:
        entry_point: `"module:attribute"`, or the class or function itself.
        kwargs: Its keyword arguments, read-only; everything that is made gets a deep copy of its own.
    """

    kwargs: Mapping[str, Any] = field(default_factory=FrozenDict, hash=False)

    def __post_init__(self) -> None:
        """Check the entry point and freeze the kwargs too."""
        super().__post_init__()
        if isinstance(self.entry_point, str):
            check_target(self.entry_point, f"The entry point of {self.key}")
        elif not callable(self.entry_point):
            raise TypeError(
                f"The entry point of {self.key} is 'module:attribute' or a callable; got {self.entry_point!r}.",
            )
        if not isinstance(self.kwargs, Mapping):
            raise TypeError(f"The kwargs of {self.key} are a dict of keyword arguments; got {self.kwargs!r}.")
        self._set("kwargs", FrozenDict(self.kwargs))

    def own_kwargs(self) -> dict[str, Any]:
        """Return a deep copy of the kwargs; raises TypeError where a value cannot be copied."""
        return copy_kwargs(self.kwargs, self.key)

    def own_copy(self: SelfTarget) -> SelfTarget:
        """Return an equal spec whose kwargs share nothing with this one's."""
        return self.with_kwargs(self.own_kwargs()) if self.kwargs else self

    def with_kwargs(self: SelfTarget, kwargs: Mapping[str, Any]) -> SelfTarget:
        """Return this spec with other kwargs."""
        spec = object.__new__(type(self))  # `dataclasses.replace` would check all fields again, at every `make`
        vars(spec).update(vars(self), kwargs=FrozenDict(kwargs))
        return spec


@dataclass(frozen=True)
class EnvSpec(TargetSpec):
    """One environment id.

    Attributes:
        id: `family:name`, optionally `-vN`, optionally a variant after it.
        reward_range: Bounds of the unwrapped episode's return under the registered kwargs, or None where unknown.
    """

    noun: ClassVar[str] = "environment"

    id: str
    entry_point: EntryPoint
    reward_range: tuple[float, float] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the id and the reward range too."""
        self._set("id", check_id(self.id))
        super().__post_init__()
        if self.reward_range is not None:
            low, high = (float(bound) for bound in self.reward_range)
            if not low <= high:
                raise ValueError(f"The reward_range of {self.id} is (lowest, highest); got {self.reward_range!r}.")
            self._set("reward_range", (low, high))

    @property
    def key(self) -> str:
        """The id."""
        return self.id


@dataclass(frozen=True)
class FamilySpec(Spec):
    """An open family: every id that begins with its prefix, without listing each.

    Attributes:
        prefix: The family, such as `rg`.
        resolver: `"module:function"`, or the function: given the name after the prefix it returns an `EnvSpec`, or None
            where there is none of that name. Imported only when an id of this prefix is asked for.
        names: What a listing shows: `"module:function"` that returns names, or a text file with one name a line, given
            as a path or as `"package/path/in/it.txt"`. None lists nothing.
    """

    noun: ClassVar[str] = "environment family"

    prefix: str
    resolver: EntryPoint
    names: EntryPoint | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        """Check the prefix and the resolver too."""
        self._set("prefix", check_id(f"{self.prefix}:x")[:-2])
        super().__post_init__()
        if isinstance(self.resolver, str):
            check_target(self.resolver, f"The resolver of {self.key}")
        if isinstance(self.names, os.PathLike):
            self._set("names", os.fspath(self.names))

    @property
    def key(self) -> str:
        """The prefix."""
        return self.prefix


@dataclass(frozen=True)
class _NamedSpec(TargetSpec):
    name: str
    entry_point: EntryPoint

    def __post_init__(self) -> None:
        self._set("name", check_name(self.name))
        super().__post_init__()

    @property
    def key(self) -> str:
        """The name."""
        return self.name


@dataclass(frozen=True)
class WrapperSpec(_NamedSpec):
    """One wrapper name. The entry point is called as `target(env, **kwargs)`.

    Attributes:
        name: Such as `concat_chat`.
        stage: `tool`, `observation` or `tracking`: where it goes; wrappers of an earlier stage are further in.
        needs: What `make` hands on to it: `("tokenizer",)`, or nothing.
    """

    noun: ClassVar[str] = "wrapper"

    stage: str = field(kw_only=True)
    needs: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Check stage and needs too."""
        super().__post_init__()
        if self.stage not in STAGES:
            raise ValueError(f"The stage of the wrapper {self.name} is one of {', '.join(STAGES)}; got {self.stage!r}.")
        self._set("needs", _words(self.needs, f"needs of {self.name}"))
        if set(self.needs) - {"tokenizer"}:
            raise ValueError(f"The wrapper {self.name} can need a 'tokenizer' alone; got {self.needs!r}.")


@dataclass(frozen=True)
class ToolSpec(_NamedSpec):
    """One tool name, such as `python_code`, made by `gem.make_tool`."""

    noun: ClassVar[str] = "tool"


@dataclass(frozen=True)
class SandboxSpec(_NamedSpec):
    """One sandbox backend, made by `gem.make_sandbox`.

    Attributes:
        name: Such as `docker`.
        capabilities: What it may declare at best; each sandbox says itself what it keeps on this machine.
        rank: Where it stands among those that `make_sandbox()` tries; the lowest is tried first.
        available: `"module:function"` (or the function), called without arguments: it returns None where the backend
            can be used on this machine, else a sentence that says why not and how to get it. Without one it always can.
        warning: What `make_sandbox()` warns of, once, when it settles for this one without having been asked to.
    """

    noun: ClassVar[str] = "sandbox"

    capabilities: tuple[str, ...] = field(default=(), kw_only=True)
    rank: int = field(default=100, kw_only=True)
    available: EntryPoint | None = field(default=None, kw_only=True)
    warning: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check the probe too."""
        super().__post_init__()
        self._set("capabilities", _words(self.capabilities, f"capabilities of {self.name}"))
        if isinstance(self.available, str):
            check_target(self.available, f"The probe of the sandbox {self.name}")


@dataclass(frozen=True)
class ComponentSpec(TargetSpec):
    """One component of a kind that a package owns (retriever, grader, agent, monitor), made by `gem.make_component`.

    Attributes:
        kind: Such as `retriever`.
        name: Such as `bm25`.
    """

    noun: ClassVar[str] = "component"

    kind: str
    name: str
    entry_point: EntryPoint

    def __post_init__(self) -> None:
        """Check both names too."""
        self._set("kind", check_name(self.kind))
        self._set("name", check_name(self.name))
        super().__post_init__()

    @property
    def key(self) -> str:
        """`kind:name`."""
        return f"{self.kind}:{self.name}"


def copy_kwargs(kwargs: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """Return a deep copy of registered kwargs.

    Raises:
        TypeError: A value cannot be copied.
    """
    own = dict(kwargs._items if type(kwargs) is FrozenDict else kwargs)
    if _PLAIN.issuperset(map(type, own.values())):  # as nearly always: nothing in it could be changed
        return own
    try:
        return copy.deepcopy(own)
    except Exception as error:
        raise TypeError(
            f"The registered kwargs of {owner} cannot be copied, and whatever is made from them needs its own: "
            f"{error}. Pass such a value when you make it, or let the entry point build it."
        ) from error


def _words(value: Any, what: str) -> tuple[str, ...]:
    words = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(word, str) for word in words):
        raise TypeError(f"The {what} are strings; got {value!r}.")
    return words


def _encode(value: Any, where: str) -> Any:
    """Return a JSON value: tuples and infinities, which JSON lacks, under a key of their own."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, list):
        return [_encode(item, where) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_encode(item, where) for item in value]}
    if isinstance(value, Mapping) and all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: _encode(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise TypeError(
        f"{where} is {value!r}, which JSON cannot hold. Entry points are written down as strings, 'module:attribute', "
        "and kwargs as plain values.",
    )


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"$tuple"}:
            return tuple(_decode(item) for item in value["$tuple"])
        if set(value) == {"$float"}:
            return float(value["$float"])
        return {key: _decode(item) for key, item in value.items()}
    return value
