"""Check a plugin: it holds names and not code, fits this GEM, and registers what exists."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from gem.discovery import discover
from gem.errors import GemError, MissingDependency, UnknownId
from gem.plugins import collect
from gem.registrar import Stage
from gem.specs import FamilySpec, Spec, TargetSpec
from gem.targets import resolve
from gem.testing.report import Report, shown

__all__ = ["check_plugin"]

_CLAUSE = "plugin"


def check_plugin(target: str | ModuleType) -> Report:
    """Check a plugin without loading any other one.

    Args:
        target: The plugin's module, its dotted name, or the name of an installed entry point of the group `gem`.

    Returns:
        What was checked, and what was skipped and why.

    Raises:
        ContractError: It imports more than `gem.hookimpl`, is for another GEM, has a wrong hook, or registers what does
        not exist. UnknownId: There is no such module or entry point.
    """
    name = _module_name(target)
    report = Report(name)
    _check_imports(report, name)
    stage = _collected(report, name)
    if [spec.key for spec in stage.specs] != [spec.key for spec in _collected(report, name).specs]:
        report.fail(_CLAUSE, "hooks called twice register the same; they do not.")
    for spec in stage.specs:
        _check_spec(report, spec)
    if not stage.specs:
        report.skip(_CLAUSE, "it registers nothing")
    report.passed(_CLAUSE)
    return report


def _module_name(target: str | ModuleType) -> str:
    if isinstance(target, ModuleType):
        return target.__name__
    candidates = discover()[0]
    for candidate in candidates:
        if target in (candidate.name, candidate.distribution):
            return candidate.target
    try:
        found = find_spec(target)
    except ModuleNotFoundError:
        found = None
    if found is None:
        installed = ", ".join(candidate.name for candidate in candidates) or "none"
        raise UnknownId(f"There is neither a module nor an installed plugin {target!r}. Installed: {installed}.")
    return target


def _check_imports(report: Report, name: str) -> None:
    """Import it in a fresh process: nothing is printed, and nothing is imported beside the packages it lies in."""
    code = (
        f"import sys, json, gem\ngem.hookimpl\nbefore = set(sys.modules)\nimport {name}\n"
        "sys.stderr.write('\\n' + json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    *_, last = ["", *done.stderr.strip().split("\n")]
    if done.returncode:
        report.fail(_CLAUSE, f"its module can be imported; it failed with {last}.")
    if done.stdout:
        report.fail(_CLAUSE, f"importing it prints nothing; it printed {shown(done.stdout)}.")
    parents = {name[:at] for at, character in enumerate(name) if character == "."} | {name}
    extra = [m for m in json.loads(last) if m not in parents and m.partition(".")[0] not in _ALLOWED]
    if extra:
        message = "it imports gem.hookimpl and nothing else (targets are strings)"
        report.fail(_CLAUSE, f"{message}; it imported {', '.join(extra[:10])}.")


_ALLOWED = {*sys.stdlib_module_names, "gem", "pluggy"}


def _collected(report: Report, name: str) -> Stage:
    try:
        return collect(import_module(name), Stage(name))
    except Exception as error:
        report.fail(_CLAUSE, f"its hooks can be called; {type(error).__name__}: {error}")


def _check_spec(report: Report, spec: Spec) -> None:
    if not spec.description:
        report.fail(_CLAUSE, f"{spec.key} has a description of one line, which listings show; it has none.")
    try:
        if type(spec).from_json(spec.to_json()) != spec or pickle.loads(pickle.dumps(spec)) != spec:
            report.fail(_CLAUSE, f"the spec of {spec.key} comes back from JSON and pickle; {shown(spec)} does not.")
    except TypeError as error:
        report.fail(_CLAUSE, f"the spec of {spec.key} holds names and plain values: {error}")
    for target in _targets(spec):
        try:
            resolve(target, spec.key, spec.requires)
        except MissingDependency as error:
            report.skip(_CLAUSE, str(error))
        except GemError as error:
            report.fail(_CLAUSE, f"what it registers exists: {error}")


def _targets(spec: Spec) -> list[Any]:
    if isinstance(spec, FamilySpec):
        return [spec.resolver]
    return [spec.entry_point] if isinstance(spec, TargetSpec) else []
