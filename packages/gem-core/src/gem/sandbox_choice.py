"""Which sandbox backend `gem.make_sandbox` takes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from gem.building import build
from gem.errors import CapabilityError, Fault, MissingDependency
from gem.lookup import find
from gem.plugins import catalog, ensure_loaded
from gem.sandbox import Sandbox
from gem.specs import SandboxSpec
from gem.targets import construct, resolve

__all__ = ["choose_sandbox"]


def choose_sandbox(name: str | None, requires: tuple[str, ...], options: Mapping[str, Any]) -> Sandbox:
    """Make the sandbox of that name, or the first that can be used here; errors as in `gem.make_sandbox`."""
    if name is not None:
        spec = find(catalog.sandboxes, name)
        reason = _unavailable(spec)
        if reason:
            raise Fault("sandbox", f"the sandbox {spec.name} cannot be used here: {reason}")
        return _build(spec, requires, options)
    ensure_loaded()
    if not len(catalog.sandboxes):
        raise MissingDependency("No sandbox backend is installed; gem-tools has three: pip install gem-tools")
    reasons = []
    lacking: CapabilityError | None = None
    for spec in sorted(catalog.sandboxes, key=lambda spec: (spec.rank, spec.name)):
        reason = _unavailable(spec)
        if reason:
            reasons.append(f"{spec.name}: {reason}")
            continue
        try:
            sandbox = _build(spec, requires, options)
        except CapabilityError as error:
            lacking = error
        except Fault as error:
            reasons.append(f"{spec.name}: {error.message}")
        else:
            if spec.warning:
                warnings.warn(f"{spec.name} is the sandbox in use: {spec.warning}", UserWarning, stacklevel=3)
            return sandbox
    if lacking is not None:
        raise CapabilityError(f"{lacking} Not usable here: {'; '.join(reasons)}." if reasons else str(lacking))
    raise Fault("sandbox", f"no sandbox can be had here. {'; '.join(reasons)}")


def _unavailable(spec: SandboxSpec) -> str:
    """Return why a backend cannot be used here, or an empty text where it can."""
    if spec.available is None:
        return ""
    owner = f"the probe of the sandbox {spec.name}"
    try:
        reason = construct(resolve(spec.available, owner, spec.requires), (), {}, owner, spec.requires)
    except MissingDependency as error:
        return str(error)
    return str(reason or "")


def _build(spec: SandboxSpec, requires: tuple[str, ...], options: Mapping[str, Any]) -> Sandbox:
    sandbox: Sandbox = build(spec, options)
    try:
        return sandbox.require(*requires)
    except CapabilityError:
        sandbox.close()
        raise
