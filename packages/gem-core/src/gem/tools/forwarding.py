"""The error of the old import paths whose new home is a sibling that is not installed."""

from __future__ import annotations

from typing import NoReturn

from gem.errors import MissingDependency

__all__ = ["refuse"]


def refuse(error: ModuleNotFoundError, old: str, new: str, package: str) -> NoReturn:
    """Raise the error that says which package holds what an old import path forwards to.

    Args:
        error: What importing the new home raised.
        old: The old module.
        new: The new home.
        package: The distribution that has it.

    Raises:
        MissingDependency: The new home is not installed.
        ModuleNotFoundError: It is, but lacks something else, which `error` names.
    """
    root = new.partition(".")[0]
    if error.name not in (root, new):
        raise error
    way_out = f"pip install {package}"
    if error.name == new:
        way_out = f"the one installed does not have it, so pip install -U {package}"
    message = f"{old} forwards to {new}, which comes with {package}: {way_out}"
    raise MissingDependency(message, name=error.name) from error
