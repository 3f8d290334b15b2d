"""Make what is registered: environments, vectors of them, tools, sandboxes and components; and register and list them.

Nothing heavy is imported here; what is made imports what it needs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gem.lookup import describe_envs, env_ids, find, find_env
from gem.plugins import catalog, current_stage, ensure_loaded
from gem.registrar import build_spec
from gem.specs import EntryPoint, EnvSpec

if TYPE_CHECKING:
    from gem.core import Env
    from gem.sandbox import Sandbox
    from gem.tools.base import Tool
    from gem.vector.base import VectorEnv
    from gem.vector.mixture import Mixture
    from gem.vector.monitor import Monitor
    from gem.wrapping import Wrappers

__all__ = [
    "list_envs",
    "make",
    "make_component",
    "make_sandbox",
    "make_tool",
    "make_vec",
    "print_envs",
    "register",
    "spec",
]


def register(
    id: str,
    entry_point: EntryPoint,
    *,
    description: str = "",
    tags: Iterable[str] = (),
    reward_range: tuple[float, float] | None = None,
    requires: Iterable[str] = (),
    kwargs: Mapping[str, Any] | None = None,
    replace: bool = False,
    **env_kwargs: Any,
) -> None:
    """Register an environment from a script; a package does it in a plugin (`gem.hookspecs`).

    Registering the same thing again changes nothing, so a module may be run twice.

    Args:
        id: `family:name`, optionally `-vN`, optionally a variant after it.
        entry_point: A class, a function that returns an environment, or either as `"module:attribute"`.
        description: One line.
        tags: Words to find it by.
        reward_range: Bounds of an episode's return.
        requires: What to `pip install` where an import fails.
        kwargs: Keyword arguments of the entry point, as a dict.
        replace: Take the place of what is registered under this id.
        env_kwargs: Keyword arguments of the entry point, as such. Each environment gets copies of its own.

    Raises:
        DuplicateId: The id names something else already, and `replace` is False.
        InvalidId: It is no id.
        TypeError: An argument has the wrong type, or cannot be copied.
        ValueError: An argument has a value that it cannot have.
    """
    stage = current_stage()  # a plugin that calls this while it loads registers as that plugin
    spec = build_spec(
        EnvSpec,
        id,
        entry_point,
        description=description,
        tags=tags,
        reward_range=reward_range,
        requires=requires,
        kwargs=kwargs,
        origin=stage.origin if stage else "user",
        **env_kwargs,
    )
    if stage is not None:
        stage.add(spec)
        return
    if replace:
        ensure_loaded()  # what is to be replaced may be a plugin's
    catalog.commit([spec], replace=replace)


def make(
    id: str | EnvSpec,
    *,
    seed: int | None = None,
    wrappers: Wrappers = None,
    tokenizer: Any = None,
    checks: bool = True,
    **kwargs: Any,
) -> Env:
    """Make an environment.

    Args:
        id: A registered id, or a spec.
        seed: For the first reset that is given none; a data set's own seed is `data_seed`.
        wrappers: What goes round it, innermost first: `"python_tool,concat_chat"`, or a list of names, `(name, kwargs)`
            pairs and callables.
        tokenizer: For wrappers that need one.
        checks: Put the checks of contract E8 and E9 round it: steps out of turn and actions of the wrong type raise.
        kwargs: Arguments of the environment, which beat the registered ones.

    Returns:
        The environment; `env.unwrapped.spec` says how to make it again.

    Raises:
        EntryPointError: What is registered under the id does not exist.
        InvalidId: `id` is no id.
        MissingDependency: The environment needs a package that is not installed.
        TypeError: It has no such argument, or a wrapper needs a tokenizer.
        UnknownId: Nobody registered the id; the text says what to do.
        ValueError: The seed is negative.
        WrapperOrderError: The wrappers cannot work in this order.
    """
    from gem.building import build_env

    spec = id if isinstance(id, EnvSpec) else find_env(id)
    return build_env(spec, kwargs, seed=seed, wrappers=wrappers, tokenizer=tokenizer, checks=checks)


def make_vec(
    env_ids: str | EnvSpec | Sequence[str | EnvSpec] | Mixture,
    *,
    num_envs: int | None = None,
    wrappers: Wrappers = None,
    vec_kwargs: Sequence[Mapping[str, Any]] | None = None,
    async_mode: bool = False,
    backend: str | None = None,
    autoreset: Any = "same_step",
    seed: int | None = None,
    tokenizer: Any = None,
    monitors: Sequence[Monitor] = (),
    step_timeout: float | None = None,
    reset_timeout: float | None = None,
    **kwargs: Any,
) -> VectorEnv:
    """Make environments that are stepped together.

    Args:
        env_ids: One id; a list, which is repeated in turn up to `num_envs`; or a mixture by weight (`gem.vector.mix`).
        num_envs: How many; None is 1 for an id or a mixture, and the length of a list.
        wrappers: Round each environment, as in `make`.
        vec_kwargs: Arguments for each environment, which beat `kwargs`: as many dicts as there are environments, or,
            repeated in turn, as the list has ids.
        async_mode: The same as `backend="thread"`.
        backend: "sync" (the default), "thread", "process" or "ray".
        autoreset: "same_step", "next_step" or "disabled"; see `gem.VectorEnv`.
        seed: Environment i gets `gem.seeding.derive(seed, i)` for its first reset.
        tokenizer: For wrappers that need one.
        monitors: Told at the end of every episode.
        step_timeout: Seconds that a step may take.
        reset_timeout: Seconds that a reset may take.
        kwargs: Arguments for all environments; `env3_kwargs={...}` goes to environment 3 alone and beats all others.

    Returns:
        The vector.

    Raises:
        TypeError: An environment has no such argument.
        ValueError: The numbers do not fit together, or the backend is unknown.
        GemError: As in `make`.
    """
    ids = _vector_ids(env_ids, num_envs, seed)
    found = {id: find_env(id) for id in ids if isinstance(id, str)}
    specs = [id if isinstance(id, EnvSpec) else found[id] for id in ids]
    kwargs, single = _split_kwargs(kwargs, len(ids))
    each = _vec_kwargs(vec_kwargs, len(ids), env_ids)
    wrappers = (
        wrappers if isinstance(wrappers, str) or wrappers is None else list(wrappers)
    )  # it is gone through n times
    from gem.building import EnvFn
    from gem.vector.base import VectorEnv  # numpy comes with it

    env_fns = [
        EnvFn(spec, {**kwargs, **each[i], **single.get(i, {})}, wrappers=wrappers, tokenizer=tokenizer, index=i)
        for i, spec in enumerate(specs)
    ]
    if backend is None:
        backend = "thread" if async_mode else "sync"
    elif async_mode and backend == "sync":
        raise ValueError("async_mode=True is backend='thread'; leave one of async_mode and backend='sync' out.")
    return VectorEnv(
        env_fns,
        backend=backend,
        autoreset=autoreset,
        seed=seed,
        step_timeout=step_timeout,
        reset_timeout=reset_timeout,
        monitors=monitors,
    )


def make_tool(name: str, **options: Any) -> Tool:
    """Make a tool; raises UnknownId, EntryPointError, MissingDependency and TypeError as `make` does.

    Args:
        name: Such as `python_code`.
        options: Its arguments, which beat the registered ones.
    """
    from gem.building import build

    return build(find(catalog.tools, name), options)  # type: ignore[no-any-return]


def make_component(kind: str, name: str, **options: Any) -> Any:
    """Make a component of a kind that a package owns; errors as in `make_tool`.

    Args:
        kind: Such as `retriever`.
        name: Such as `bm25`.
        options: Its arguments, which beat the registered ones.
    """
    from gem.building import build

    return build(find(catalog.components, f"{str(kind).strip()}:{str(name).strip()}"), options)


def make_sandbox(name: str | None = None, *, requires: Iterable[str] = (), **options: Any) -> Sandbox:
    """Make a sandbox.

    Args:
        name: A backend; None takes the first that can be used here (docker, else bubblewrap, else process, which warns
            of what it does not protect).
        requires: Capabilities that it has to declare (`gem.sandbox.CAPABILITIES`).
        options: Arguments of the backend.

    Returns:
        The sandbox.

    Raises:
        CapabilityError: What can be used here does not declare what is required.
        Fault: No sandbox can be had here (kind `sandbox`); the text says why, for each backend.
        MissingDependency: No backend is installed.
        UnknownId: Nobody registered `name`.
    """
    from gem.sandbox_choice import choose_sandbox

    return choose_sandbox(name, (requires,) if isinstance(requires, str) else tuple(requires), options)


def spec(id: str) -> EnvSpec:
    """Return the spec of an id, without importing its environment; raises InvalidId and UnknownId as `make` does."""
    return find_env(id).own_copy()


def list_envs(pattern: str | None = None) -> list[str]:
    """List the ids of all environments, sorted; imports none of them.

    Args:
        pattern: Only ids that it matches: a shell pattern with `*`, `?` or `[`, else a part of the id, capitals apart.
    """
    return env_ids(pattern)


def print_envs(pattern: str | None = None) -> None:
    """Print the ids of all environments, and what each is, to the standard output; arguments as in `list_envs`."""
    entries = describe_envs(pattern)
    width = max((len(entry["id"]) for entry in entries), default=0)
    for entry in entries:
        sys.stdout.write(f"{entry['id']:<{width}}  {entry['description']}".rstrip() + "\n")


def _vector_ids(env_ids: Any, num_envs: Any, seed: int | None) -> list[str | EnvSpec]:
    if num_envs is not None and (isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1):
        raise ValueError(f"num_envs is a number of environments, 1 or more; got {num_envs!r}.")
    if isinstance(env_ids, (str, EnvSpec)):
        return [env_ids] * (num_envs or 1)
    if hasattr(env_ids, "assign"):  # a Mixture; its module need not be imported to see that
        return list(env_ids.assign(num_envs or 1, seed))
    ids = list(env_ids)
    if not ids:
        raise ValueError("A vector needs at least one id; got an empty list.")
    count = len(ids) if num_envs is None else num_envs
    return [ids[i % len(ids)] for i in range(count)]


def _split_kwargs(kwargs: Mapping[str, Any], count: int) -> tuple[dict[str, Any], dict[int, Mapping[str, Any]]]:
    shared, single = {}, {}
    for name, value in kwargs.items():
        match = re.fullmatch(r"env(\d+)_kwargs", name)
        if match is None:
            shared[name] = value
        elif int(match[1]) >= count:
            raise ValueError(f"{name} is for an environment that does not exist: there are {count}, counted from 0.")
        else:
            single[int(match[1])] = value
    return shared, single


def _vec_kwargs(vec_kwargs: Sequence[Mapping[str, Any]] | None, count: int, env_ids: object) -> list[Mapping[str, Any]]:
    if vec_kwargs is None:
        return [{}] * count
    given = list(vec_kwargs)
    listed = len(env_ids) if isinstance(env_ids, Sequence) and not isinstance(env_ids, str) else 1
    if len(given) == count:
        return given
    if given and len(given) == listed:
        return [given[i % listed] for i in range(count)]
    raise ValueError(f"vec_kwargs has one dict per environment; got {len(given)} for {count}.")
