"""Put registered wrappers round an environment by name (contract W)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gem.core import Env
from gem.errors import WrapperOrderError
from gem.lookup import find
from gem.plugins import catalog, ensure_loaded
from gem.specs import STAGES, FrozenDict, WrapperSpec
from gem.targets import construct, resolve

__all__ = ["WRAPPER_FACTORY", "WrapperFactory", "WrapperFn", "Wrappers", "apply_wrappers", "get_wrapper_fns"]

Wrappers = str | Iterable[str | tuple[str, Mapping[str, Any]] | Callable[[Env], Env]] | None
"""`"python_tool,concat_chat"`, or a list of names, `(name, kwargs)` pairs and callables; innermost first."""


@dataclass(frozen=True)
class WrapperFn:
    """Puts one registered wrapper round an environment; picklable, so that workers can use it.

    Attributes:
        spec: The wrapper.
        tokenizer: What is handed to a wrapper that needs one.
        kwargs: Arguments beside the registered ones, which they beat.
    """

    spec: WrapperSpec
    tokenizer: Any = None
    kwargs: Mapping[str, Any] = field(default_factory=FrozenDict, hash=False)

    def __call__(self, env: Env, tokenizer: Any = None, **kwargs: Any) -> Env:
        """Wrap `env`.

        Args:
            env: What goes inside.
            tokenizer: For wrappers that need one; others ignore it.
            kwargs: Further arguments of the wrapper.

        Returns:
            The wrapped environment.

        Raises:
            TypeError: The wrapper needs a tokenizer and gets none, or has no such argument.
        """
        spec = self.spec
        owner = f"The wrapper {spec.name}"
        arguments = {**spec.own_kwargs(), **self.kwargs, **kwargs}
        if "tokenizer" in spec.needs:
            tokenizer = self.tokenizer if tokenizer is None else tokenizer
            if tokenizer is None:
                raise TypeError(
                    f"{owner} needs a tokenizer: pass tokenizer=... beside wrappers=..., such as "
                    "transformers.AutoTokenizer.from_pretrained(<model>)."
                )
            arguments["tokenizer"] = tokenizer
        target = resolve(spec.entry_point, owner, spec.requires)
        how = f"Arguments stand beside the name: wrappers=[({spec.name!r}, {{<argument>: <value>}})]."
        wrapped = construct(target, (env,), arguments, owner, spec.requires, how=how)
        if not isinstance(wrapped, Env):
            raise TypeError(f"{owner} ({spec.entry_point!r}) returned {wrapped!r}, which is no environment.")
        return wrapped


class WrapperFactory(Mapping[str, WrapperFn]):
    """All registered wrappers by name, as they are now: `WRAPPER_FACTORY["concat_chat"](env, tokenizer=tok)`."""

    def __getitem__(self, name: str) -> WrapperFn:
        """Return what puts a wrapper on.

        Raises:
            UnknownId: (a KeyError) Nobody registered it.
        """
        return WrapperFn(find(catalog.wrappers, name))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, sorted."""
        ensure_loaded()
        return iter(catalog.wrappers.keys())

    def __len__(self) -> int:
        ensure_loaded()
        return len(catalog.wrappers)

    def __repr__(self) -> str:
        return f"<WRAPPER_FACTORY: {', '.join(self)}>"


WRAPPER_FACTORY = WrapperFactory()


def get_wrapper_fns(wrappers: Wrappers, tokenizer: Any = None) -> list[Callable[[Env], Env]]:
    """Return what puts each of these wrappers on, innermost first.

    Args:
        wrappers: A comma string, or a list of names, `(name, kwargs)` pairs and callables `env -> env`.
        tokenizer: For those that need one.

    Returns:
        Callables `env -> env`, to be applied in this order.

    Raises:
        TypeError: An entry is none of these, or a wrapper needs a tokenizer and there is none.
        UnknownId: Nobody registered a name.
        WrapperOrderError: A wrapper of an earlier stage (tool, observation, tracking) comes after one of a later stage.
    """
    if wrappers is None:
        return []
    fns = [_wrapper_fn(entry, tokenizer) for entry in _entries(wrappers)]
    _check_order([fn for fn in fns if isinstance(fn, WrapperFn)])
    return fns


def apply_wrappers(env: Env, wrappers: Wrappers, tokenizer: Any = None) -> Env:
    """Put wrappers round an environment, the first one innermost; arguments and errors as in `get_wrapper_fns`."""
    for wrap in get_wrapper_fns(wrappers, tokenizer):
        wrapped = wrap(env)
        if not isinstance(wrapped, Env):
            raise TypeError(f"The wrapper {wrap!r} returned {wrapped!r}; it returns the wrapped environment.")
        env = wrapped
    return env


def _entries(wrappers: Any) -> list[Any]:
    if isinstance(wrappers, str):
        return [name for name in (part.strip() for part in wrappers.split(",")) if name]
    if isinstance(wrappers, Mapping) or callable(wrappers):
        raise TypeError(f"wrappers is a comma string or a list; got {wrappers!r}. One alone goes into a list: [...].")
    return list(wrappers)


def _wrapper_fn(entry: Any, tokenizer: Any) -> Callable[[Env], Env]:
    if isinstance(entry, str):
        return WrapperFn(find(catalog.wrappers, entry), tokenizer)
    if (
        isinstance(entry, (tuple, list))
        and len(entry) == 2
        and isinstance(entry[0], str)
        and isinstance(entry[1], Mapping)
    ):
        return WrapperFn(find(catalog.wrappers, entry[0]), tokenizer, FrozenDict(entry[1]))
    if callable(entry):
        return entry  # type: ignore[no-any-return]
    raise TypeError(f"A wrapper is a name, a (name, kwargs) pair or a callable env -> env; got {entry!r}.")


def _check_order(fns: list[WrapperFn]) -> None:
    """Refuse an order that cannot work: a tool would never see what an observation wrapper has joined, for one."""
    stages = [STAGES.index(fn.spec.stage) for fn in fns]
    if stages != sorted(stages):
        ordered = sorted(fns, key=lambda fn: STAGES.index(fn.spec.stage))  # stable: within a stage as written
        written = ", ".join(f"{fn.spec.name} ({fn.spec.stage})" for fn in fns)
        raise WrapperOrderError(
            f"Wrappers go on as written, innermost first, and in the order {', '.join(STAGES)}; got {written}. "
            f"This order works: wrappers={','.join(fn.spec.name for fn in ordered)!r}."
        )
