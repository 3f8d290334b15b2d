"""Load plugins: late, once, in order, each on its own; report what failed, and let nothing of it stop anything else.

A plugin is loaded and its hooks are called in a daemon thread with a time limit, into a stage of its own that is
committed only if all went well. What a plugin does wrong (raise, exit, hang, take a taken id, be written for another
GEM, misspell a hook) is one warning and one line of `python -m gem plugins`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from gem.attempt import Attempt, collect, current_stage
from gem.discovery import Candidate, Damage, discover
from gem.errors import DuplicateId, PluginWarning
from gem.registrar import Stage
from gem.registry import Catalog
from gem.specs import Spec

__all__ = ["Loader", "PluginReport", "catalog", "collect", "current_stage", "ensure_loaded", "failures", "reports"]

DEFAULT_TIMEOUT = 5.0
"""Seconds that one plugin may take to load and register; `GEM_PLUGIN_TIMEOUT` sets another limit."""

_CORE = Candidate("core", "gem-core", "", "gem.builtin")


@dataclass(frozen=True)
class PluginReport:
    """What became of one plugin.

    Attributes:
        name: The entry point's name.
        distribution: Who installed it.
        version: The distribution's version.
        target: The module that the entry point names.
        status: "loaded", "failed", or "left out" (by `GEM_PLUGINS`).
        cause: Why it failed, in one line.
        traceback: Where it failed.
        registered: How many it registered, by kind.
        keys: What it registered, or would have.
        seconds: How long it took.
    """

    name: str
    distribution: str
    version: str
    target: str
    status: str
    cause: str = ""
    traceback: str = ""
    registered: Mapping[str, int] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        """Name the plugin and, if it failed, the cause."""
        name = f"{self.name} ({self.distribution} {self.version})".replace(" )", ")")
        return f"{name}: {self.cause}" if self.cause else name

    def summary(self) -> str:
        """Say what it registered: "12 environments, 1 tool"."""
        return ", ".join(f"{n} {_plural(noun, n)}" for noun, n in self.registered.items()) or "nothing"


class Loader:
    """Loads what is installed into a catalog, once.

    Args:
        catalog: Where everything goes.
    """

    def __init__(self, catalog: Catalog) -> None:
        """Start with nothing loaded."""
        self.catalog = catalog
        self._lock = threading.RLock()
        self._loaded = False
        self._reports: dict[Candidate, PluginReport] = {}
        self._damages: list[Damage] = []
        self._warnings: list[str] = []

    def ensure_loaded(self) -> None:
        """Load all plugins, unless that was done or this very thread is doing it.

        Warns:
            PluginWarning: Once for each plugin that failed.
        """
        if self._loaded or current_stage() is not None:
            return  # a plugin that looks something up while it loads sees what there is so far
        with self._lock:
            if not self._loaded:
                self._load_all()
                self._loaded = True
            pending, self._warnings = self._warnings, []
        # After all is loaded: where warnings are errors, the first one must not keep the other plugins out.
        for message in pending:
            warnings.warn(message, PluginWarning, stacklevel=3)

    def reports(self) -> list[PluginReport]:
        """Say what became of every plugin, core first, the rest by name."""
        self.ensure_loaded()
        damaged = [
            PluginReport("?", damage.distribution, "", "", "failed", damage.cause, damage.traceback)
            for damage in self._damages
        ]
        return [*self._reports.values(), *damaged]

    def renew_lock(self) -> None:
        """Start with a free lock: in a forked child, the thread that held the old one is gone."""
        self._lock = threading.RLock()

    def _load_all(self) -> None:
        candidates, self._damages = discover()
        selection = self._selection(candidates)
        limit = self._limit()
        for candidate in [_CORE, *candidates]:
            if candidate in self._reports:  # Ctrl-C broke off an earlier attempt after this one
                continue
            if selection is not None and candidate is not _CORE and candidate not in selection:
                report = _report(candidate, "left out")
            else:
                report = self._load(candidate, limit)
            self._reports[candidate] = report
            if report.status == "failed":
                self._warnings.append(
                    f"The plugin {str(report).rstrip('.')}. Everything else works without it; `python -m gem "
                    "plugins -v` shows where it failed, and GEM_PLUGINS chooses which plugins load."
                )
        self._warnings += [f"{damage.distribution}: {damage.cause}. Install it again." for damage in self._damages]

    def _selection(self, candidates: Sequence[Candidate]) -> set[Candidate] | None:
        text = os.environ.get("GEM_PLUGINS")
        if text is None:
            return None
        chosen: set[Candidate] = set()
        for wanted in filter(None, (part.strip() for part in text.split(","))):
            named = {c for c in candidates if _fold(wanted) in (_fold(c.name), _fold(c.distribution))}
            if not named:
                there = ", ".join(c.name for c in candidates) or "none"
                self._warnings.append(
                    f"GEM_PLUGINS names {wanted!r}, which is no installed plugin; there are: {there}."
                )
            chosen |= named
        return chosen

    def _limit(self) -> float:
        text = os.environ.get("GEM_PLUGIN_TIMEOUT", "")
        try:
            limit = float(text) if text.strip() else DEFAULT_TIMEOUT
        except ValueError:
            limit = 0.0
        if not 0.0 < limit <= threading.TIMEOUT_MAX:
            self._warnings.append(f"GEM_PLUGIN_TIMEOUT is a number of seconds above 0; got {text!r}, using 5.")
            return DEFAULT_TIMEOUT
        return limit

    def _load(self, candidate: Candidate, limit: float) -> PluginReport:
        stage = Stage(candidate.distribution)
        attempt = Attempt(candidate, stage)
        start = time.perf_counter()
        if candidate is _CORE or candidate.target.partition(".")[0].partition(":")[0] in _being_imported():
            attempt.run_here()
        else:
            attempt.run_in_thread(limit)
        cause, trace = attempt.cause, attempt.traceback
        if not cause:
            try:
                self._commit(stage)
            except DuplicateId as error:
                import traceback  # imported where something failed alone

                cause, trace = str(error), traceback.format_exc()
        counts: dict[str, int] = {}
        for spec in stage.specs if not cause else ():
            counts[spec.noun] = counts.get(spec.noun, 0) + 1
        return _report(
            candidate,
            "failed" if cause else "loaded",
            cause=cause,
            traceback=trace,
            registered=counts,
            keys=tuple(spec.key for spec in stage.specs),
            seconds=time.perf_counter() - start,
        )

    def _commit(self, stage: Stage) -> None:
        """Commit a stage, except what the user's own script registered first: that is meant to be what counts."""
        theirs: list[Spec] = []
        for spec in stage.specs:
            if self.catalog.origin(spec) == "user":
                self._warnings.append(
                    f"{spec.key} was registered by your own code before {stage.origin}, which has it too; yours counts."
                )
            else:
                theirs.append(spec)
        self.catalog.commit(theirs)


catalog = Catalog()
"""The default instance: what `gem.make` and the listings look in."""

_loader = Loader(catalog)
ensure_loaded = _loader.ensure_loaded
reports = _loader.reports

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_loader.renew_lock)


def failures() -> list[PluginReport]:
    """List the plugins that failed."""
    return [report for report in reports() if report.status == "failed"]


def _plural(noun: str, count: int) -> str:
    if count == 1:
        return noun
    return {"environment family": "environment families", "sandbox": "sandboxes"}.get(noun, f"{noun}s")


def _report(candidate: Candidate, status: str, **more: Any) -> PluginReport:
    return PluginReport(candidate.name, candidate.distribution, candidate.version, candidate.target, status, **more)


def _being_imported() -> set[str]:
    """Return the top-level names of the packages whose modules this very thread is in the middle of importing.

    Another thread that imported one of them would wait for this thread, which waits for it.
    """
    names: set[str] = set()
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            names.add(str(frame.f_globals.get("__name__", "")).partition(".")[0])
        frame = frame.f_back
    return names


def _fold(name: str) -> str:
    return name.lower().replace("_", "-")
