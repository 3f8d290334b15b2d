"""One plugin's load: import it, check that it fits, call its hooks, and keep what it staged or why it failed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import pluggy

from gem import hookspecs
from gem.discovery import Candidate
from gem.errors import EntryPointError, GemError, PluginError
from gem.ids import did_you_mean
from gem.registrar import Stage

__all__ = ["Attempt", "collect", "current_stage"]

_NEVER_RUN = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE and CO_ASYNC_GENERATOR of `inspect`
_active = threading.local()


class Attempt:
    """One plugin's load.

    Args:
        candidate: The plugin.
        stage: Where it registers.

    Attributes:
        cause: Why it failed, in one line; empty where it did not.
        traceback: Where it failed, or where it hangs.
    """

    def __init__(self, candidate: Candidate, stage: Stage) -> None:
        """Prepare; nothing is imported yet."""
        self.candidate = candidate
        self.stage = stage
        self.cause = ""
        self.traceback = ""

    def run_here(self) -> None:
        """Load in the caller's thread, without a limit; Ctrl-C is the user's."""
        try:
            self._run()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: a plugin that exits must not take the process with it
            self._fail(error)

    def run_in_thread(self, limit: float) -> None:
        """Load in a daemon thread, which is left behind where it takes longer than `limit` seconds."""
        thread = threading.Thread(target=self._run_caught, name=f"gem-plugin-{self.candidate.name}", daemon=True)
        thread.start()
        thread.join(limit)
        if thread.is_alive():
            import traceback  # imported where something failed alone

            frame = sys._current_frames().get(thread.ident or 0)
            self.traceback = "".join(traceback.format_stack(frame)) if frame else ""
            self.cause = f"it did not finish loading within {limit:g} s (GEM_PLUGIN_TIMEOUT)"

    def _run_caught(self) -> None:
        try:
            self._run()
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: here they are the plugin's
            self._fail(error)

    def _run(self) -> None:
        _active.stage = self.stage
        try:
            collect(_import_plugin(self.candidate.target), self.stage)
        finally:
            _active.stage = None

    def _fail(self, error: BaseException) -> None:
        import traceback

        try:
            text = " ".join(str(error).split())
        except Exception:  # an exception that cannot even say what it is
            text = ""
        if isinstance(error, GemError):
            self.cause = text
        elif isinstance(error, SystemExit):
            self.cause = f"it called sys.exit({error.code!r}) while it loaded"
        else:
            self.cause = f"{type(error).__name__}: {text}" if text else type(error).__name__
        self.traceback = "".join(traceback.format_exception(type(error), error, error.__traceback__))


def collect(plugin: Any, stage: Stage) -> Stage:
    """Call the hooks of one plugin.

    Args:
        plugin: Its module (or an object with the same attributes).
        stage: Where it registers; nothing is committed.

    Returns:
        The stage.

    Raises:
        PluginError: It is for another version of GEM, or a hook is misspelt, unmarked or has a wrong argument.
        Exception: Whatever its hooks raise.
    """
    _check_api(plugin, stage.origin)
    manager = pluggy.PluginManager("gem")
    manager.add_hookspecs(hookspecs)
    registers = stage.registers()
    _check_hooks(plugin, list(registers))
    try:
        manager.register(plugin)
    except pluggy.PluginValidationError as error:
        raise PluginError(" ".join(str(error).split())) from error
    for hook, register in registers.items():
        getattr(manager.hook, hook)(register=register)
    return stage


def current_stage() -> Stage | None:
    """Return the stage of the plugin that this thread is loading, or None."""
    return getattr(_active, "stage", None)


def _import_plugin(target: str) -> Any:
    name, _, attribute = target.partition("[")[0].strip().partition(":")
    plugin: Any = import_module(name.strip())
    for part in attribute.strip().split(".") if attribute.strip() else ():
        if not hasattr(plugin, part):
            raise EntryPointError(f"its entry point is {target!r}, but {name!r} has no {part!r}", name=name)
        plugin = getattr(plugin, part)
    return plugin


def _check_api(plugin: Any, owner: str) -> None:
    api = getattr(plugin, "gem_api", None)
    ours = f"this gem-core has plugin API {hookspecs.API}"
    if api is None:
        raise PluginError(
            f"it does not say which plugin API it is for, and {ours}: add gem_api = {hookspecs.API} to it"
        )
    major = str(api).partition(".")[0]
    if isinstance(api, bool) or not major.isdigit():
        raise PluginError(f"its gem_api is {api!r}, which is no version, and {ours}: say gem_api = {hookspecs.API}")
    if int(major) != hookspecs.API:
        newer = "a newer gem-core" if int(major) > hookspecs.API else f"a newer {owner}"
        raise PluginError(f"it is for plugin API {api}, and {ours}: install {newer}")


def _check_hooks(plugin: Any, hooks: Sequence[str]) -> None:
    """Refuse hooks that would never be called, which pluggy passes over in silence."""
    home = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
    for name in dir(plugin):
        function = getattr(plugin, name, None)
        marked = getattr(function, "gem_impl", None) is not None
        # A helper that was imported may be called gem_something; what is written here, or marked, is meant as a hook.
        if not callable(function) or not (marked or (name.startswith("gem_") and _home(function) == home)):
            continue
        hook = (getattr(function, "gem_impl", None) or {}).get("specname") or name
        if hook not in hooks:
            hint = did_you_mean(hook, hooks) or f" There are {', '.join(hooks)}."
            raise PluginError(f"it has a hook {hook!r}, and there is no such hook.{hint}")
        if not marked:
            raise PluginError(f"its {name} is not marked, so it would never be called: put @gem.hookimpl above it")
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _NEVER_RUN:
            raise PluginError(f"its {name} is async or yields, so its body would never run: make it a plain function")


def _home(function: Any) -> str:
    return str(getattr(function, "__module__", ""))
