"""Many environments as one: batches, autoreset and faults are written once, executors only run the environments.

The names are imported on first use, so that a listing never pays for numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gem.vector.base import VectorEnv
    from gem.vector.executor import Executor
    from gem.vector.mixture import Mixture, mix
    from gem.vector.monitor import Monitor

_HOMES = {
    "Executor": "gem.vector.executor",
    "Mixture": "gem.vector.mixture",
    "Monitor": "gem.vector.monitor",
    "VectorEnv": "gem.vector.base",
    "mix": "gem.vector.mixture",
}

__all__ = ["Executor", "Mixture", "Monitor", "VectorEnv", "mix"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gem.vector' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return [*__all__]
