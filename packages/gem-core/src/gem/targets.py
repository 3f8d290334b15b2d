"""From an entry point to a thing: import it, check its arguments, call it, and say clearly what is missing."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from gem.errors import EntryPointError, GemError, MissingDependency
from gem.ids import did_you_mean

__all__ = ["construct", "import_target", "resolve"]

_RECORDING = ("gem.core", "gem.tools.base")
_MISSING = re.compile(r".* missing \d+ required (?:positional|keyword-only) arguments?: (.*)", re.DOTALL)


def resolve(entry_point: str | Callable[..., Any], owner: str, requires: Iterable[str] = ()) -> Callable[..., Any]:
    """Return what an entry point names.

    Args:
        entry_point: `"module:attribute"`, or the callable itself.
        owner: Whose it is, for errors: `"game:Sokoban-v0"`.
        requires: What to install where an import fails.

    Raises:
        EntryPointError: The module or the attribute is absent.
        MissingDependency: The module is there, and something that it imports is not.
    """
    return entry_point if callable(entry_point) else import_target(entry_point, owner, requires)


def import_target(target: str, owner: str, requires: Iterable[str] = ()) -> Any:
    """Import `"module:attribute"`; arguments and errors as in `resolve`."""
    module_name, _, attribute = target.partition(":")
    try:
        value: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        # Absent is the module itself, or a package above it; anything else is a dependency of what was found.
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise EntryPointError(
                f"{owner} is registered as {target!r}, but there is no module {error.name!r}: "
                "the package that registered it is broken or half uninstalled; install it again.",
                name=error.name,
            ) from error
        raise missing_dependency(owner, error, requires) from error
    except GemError:
        raise
    except ImportError as error:
        raise missing_dependency(owner, error, requires) from error
    for part in attribute.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            raise EntryPointError(
                f"{owner} is registered as {target!r}, but {module_name!r} (found at "
                f"{getattr(value, '__file__', None) or value!r}) has no {part!r}.{did_you_mean(part, _public(value))}",
                name=module_name,
            ) from error
    return value


def construct(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    owner: str,
    requires: Iterable[str] = (),
    how: str = "",
) -> Any:
    """Call a target.

    Args:
        target: A class or function.
        args: Positional arguments.
        kwargs: Keyword arguments.
        owner: Whose it is, for errors.
        requires: What to install where an import inside the call fails.
        how: A sentence on how arguments are given, for the error about one that is missing.

    Raises:
        TypeError: A keyword argument is unknown or missing; the text lists those that there are, or that it needs.
        MissingDependency: An import inside the call failed.
    """
    names, open_ended = _parameters(target) if kwargs else ((), True)
    if not open_ended:
        _check_names(kwargs, names[len(args) :], owner)
    try:
        return target(*args, **kwargs)
    except GemError:
        raise
    except ImportError as error:
        raise missing_dependency(owner, error, requires) from error
    except TypeError as error:
        # Where a constructor hands its keyword arguments up, only the call shows which ones nobody takes.
        if names and "unexpected keyword argument" in str(error):
            _check_names(kwargs, names[len(args) :], owner, error)
        lacking = _MISSING.match(str(error))
        if lacking and error.__traceback__ and error.__traceback__.tb_next is None:  # the call itself, nothing in it
            raise TypeError(f"{owner} needs {lacking[1].replace(chr(39), '')}.{' ' * bool(how)}{how}") from error
        raise


def _check_names(kwargs: Mapping[str, Any], names: tuple[str, ...], owner: str, cause: TypeError | None = None) -> None:
    unknown = [name for name in kwargs if name not in names]
    if unknown:
        takes = f"it takes {', '.join(names)}" if names else "it takes none"
        raise TypeError(
            f"{owner} has no argument {', '.join(unknown)}; {takes}.{did_you_mean(unknown[0], names)}"
        ) from cause


def missing_dependency(owner: str, error: ImportError, requires: Iterable[str]) -> MissingDependency:
    """Say what an import inside `owner` failed on and what to install."""
    what = f"the module {error.name!r}" if error.name else "a module"
    wanted = [f"'{requirement}'" if "[" in requirement else requirement for requirement in requires]
    advice = f"pip install {' '.join(wanted)}" if wanted else "install the package that has it, or a version that fits"
    return MissingDependency(f"{owner} needs {what}, which cannot be imported ({error}): {advice}.", name=error.name)


def _parameters(target: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """Return the names of the arguments a target takes, and whether it may take others."""
    try:
        return _signature(target)
    except (TypeError, ValueError):  # it cannot be hashed, or does not tell
        return (), True


@functools.lru_cache(maxsize=512)
def _signature(target: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    if not inspect.isclass(target):
        return _names(target)
    functions = [vars(cls)["__init__"] for cls in target.__mro__ if "__init__" in vars(cls) and cls is not object]
    if not functions:
        functions = [vars(cls)["__new__"] for cls in target.__mro__ if "__new__" in vars(cls) and cls is not object][:1]
        functions = [inspect.unwrap(getattr(function, "__func__", function)) for function in functions]
        # The `__new__` of environments and tools takes everything in order to record it; it hands on nothing.
        functions = [function for function in functions if getattr(function, "__module__", "") not in _RECORDING]
    names: dict[str, None] = {}
    for depth, function in enumerate(functions):
        own, open_ended = _names(function)
        names.update(dict.fromkeys(own[1:]))
        if not open_ended:
            return tuple(names), depth > 0
    return tuple(names), bool(functions)


def _names(function: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    parameters = inspect.signature(function).parameters.values()
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = tuple(parameter.name for parameter in parameters if parameter.kind not in starred)
    return names, any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def _public(value: object) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]
