"""Build an environment, or any other registered thing, from its spec."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gem.core import Env, Wrapper
from gem.seeding import check_seed
from gem.specs import EnvSpec, FrozenDict, TargetSpec
from gem.targets import construct, resolve
from gem.wrappers.checks import EnvChecks
from gem.wrapping import Wrappers, apply_wrappers, get_wrapper_fns

__all__ = ["EnvFn", "build", "build_env"]


def build(spec: TargetSpec, kwargs: Mapping[str, Any]) -> Any:
    """Build what a spec describes; `kwargs` beat the registered ones, which are copied. Errors as in `gem.make`."""
    target = resolve(spec.entry_point, spec.key, spec.requires)
    return construct(target, (), {**spec.own_kwargs(), **kwargs}, spec.key, spec.requires)


def build_env(
    spec: EnvSpec,
    kwargs: Mapping[str, Any],
    *,
    seed: int | None = None,
    wrappers: Wrappers = None,
    tokenizer: Any = None,
    checks: bool = True,
) -> Env:
    """Build the environment that a spec describes; arguments and errors as in `gem.make`."""
    seed = None if seed is None else check_seed(seed)
    wraps = get_wrapper_fns(wrappers, tokenizer)  # what is wrong with them shows before anything is built
    env = build(spec, kwargs)
    if not isinstance(env, Env):
        raise TypeError(f"{spec.id} ({spec.entry_point!r}) returned {env!r}, which is no gem.Env.")
    inner = env.unwrapped
    inner.spec = spec.with_kwargs({**spec.own_kwargs(), **kwargs})
    inner._pending_seed = seed
    layer = env
    while isinstance(layer, Wrapper) and not isinstance(layer, EnvChecks):
        layer = layer.env
    checked = isinstance(layer, EnvChecks) or getattr(type(env), "checks_itself", False)
    if checks and not checked:  # a function that itself calls `make` has them on already
        env = EnvChecks(env)
    return apply_wrappers(env, wraps) if wraps else env


@dataclass(frozen=True)
class EnvFn:
    """Builds one environment of a vector, as often as it is called; picklable where what it holds is.

    Attributes:
        spec: What to build.
        kwargs: Arguments beside the registered ones.
        wrappers: Round it, as in `make`.
        tokenizer: For wrappers that need one.
        index: Its place in the vector.
    """

    spec: EnvSpec
    kwargs: Mapping[str, Any] = field(default_factory=FrozenDict, hash=False)
    wrappers: Any = None
    tokenizer: Any = None
    index: int = 0

    def __call__(self) -> Env:
        """Build it; errors as in `make`."""
        target = resolve(self.spec.entry_point, self.spec.id, self.spec.requires)
        shared = getattr(target, "shared", ())
        # Lists and dicts are this build's own: no environment, nor one that replaces it, sees what another did to them.
        kwargs = {
            name: copy.deepcopy(value) if isinstance(value, (dict, list, set)) and name not in shared else value
            for name, value in self.kwargs.items()
        }
        return build_env(self.spec, kwargs, wrappers=self.wrappers, tokenizer=self.tokenizer)
