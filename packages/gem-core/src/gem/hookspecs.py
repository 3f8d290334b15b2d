"""Everything that a plugin can register with GEM, on one screen.

A plugin is a module that an entry point of the group `gem` names. It imports `gem.hookimpl` and nothing else, says
`gem_api = 1`, and implements any of the hooks below. Targets are strings, `"module:attribute"`: nothing is imported
before something is made from it. A plugin registers all that it registers, or, if anything fails, nothing.

    from gem import hookimpl

    gem_api = 1

    @hookimpl
    def gem_register_envs(register):
        register("hello:Greet-v0", "gem_hello.env:Greet", description="Say the word.", reward_range=(0, 1), max_turns=3)

All `register` callables take `description=""` (one line), `tags=()`, `requires=()` (what to `pip install` where an
import fails), and the target's keyword arguments, as such or, where a name clashes, in `kwargs={...}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from gem.registrar import Register, RegisterEnvs

__all__ = ["API", "hookimpl"]

API = 1
"""The major version of this page: a plugin states the one it was written for as `gem_api`."""

hookspec = pluggy.HookspecMarker("gem")
hookimpl = pluggy.HookimplMarker("gem")


@hookspec
def gem_register_envs(register: RegisterEnvs) -> None:
    """Register environments.

    `register(id, entry_point, *, reward_range=None, **env_kwargs)`: one id, made by `gem.make(id)`.
    `register.family(prefix, resolver, names=None)`: an open family, such as every data set of a library.
    `resolver(name)` returns a `gem.EnvSpec` or None, and is imported for that prefix alone; `names` (a function or a
    text file) is what a listing shows.
    """


@hookspec
def gem_register_wrappers(register: Register) -> None:
    """Register wrappers for `gem.make(..., wrappers="name")`.

    `register(name, entry_point, *, stage, needs=(), **wrapper_kwargs)`: the target is called with the environment, and
    with the tokenizer where `needs=("tokenizer",)`. `stage` is `tool`, `observation` or `tracking`; they go on in this
    order.
    """


@hookspec
def gem_register_tools(register: Register) -> None:
    """Register tools for `gem.make_tool(name)`: `register(name, entry_point, **tool_kwargs)`."""


@hookspec
def gem_register_sandboxes(register: Register) -> None:
    """Register sandbox backends for `gem.make_sandbox(name)`.

    `register(name, entry_point, *, capabilities=(), rank=100, available=None, warning="", **sandbox_kwargs)`: the
    lowest `rank` whose probe `available()` returns None (else a sentence that says why not) is what `make_sandbox()`
    takes, with a `warning` of what it does not protect.
    """


@hookspec
def gem_register_components(register: Register) -> None:
    """Register what packages own: retriever, search_provider, grader, judge, agent, engine, trainer_adapter, monitor.

    `register(kind, name, entry_point, **component_kwargs)`, made by `gem.make_component(kind, name)`.
    """
