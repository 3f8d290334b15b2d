"""Find what is registered, or say why it cannot be found and what to do about it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import Any, TypeVar

from gem.errors import InvalidId, PluginError, PluginWarning, UnknownId
from gem.ids import check_id, did_you_mean
from gem.known_packages import package_of
from gem.plugins import PluginReport, catalog, ensure_loaded, reports
from gem.registry import Registry
from gem.specs import EntryPoint, EnvSpec, FamilySpec, Spec
from gem.targets import construct, resolve

__all__ = ["describe_envs", "env_ids", "find", "find_env", "matches"]

S = TypeVar("S", bound=Spec)


def find(registry: Registry[S], text: str) -> S:
    """Find a spec by name: exact, else, with all plugins loaded, by the rule of `gem.registry`.

    Raises:
        UnknownId: There is none; the text names close matches, failed plugins and the package to install.
    """
    if not isinstance(text, str):
        raise TypeError(f"The name of a {registry.noun} is a string; got {text!r} of type {type(text).__name__}.")
    spec = registry.get(text.strip())
    if spec is None:
        ensure_loaded()
        spec = registry.find(text)
    if spec is None:
        raise _unknown(registry.noun, text.strip(), registry.keys(), registry.versions(text))
    return spec


def find_env(id: str) -> EnvSpec:
    """Find an environment by id, in open families too.

    Raises:
        InvalidId: It is no id.
        MissingDependency: The family's resolver lacks a package.
        UnknownId: Nobody registered it.
    """
    try:
        id = check_id(id)
    except InvalidId as error:
        raise InvalidId(f"{error}{did_you_mean(str(id), env_ids())}") from None
    spec = catalog.envs.get(id)
    if spec is None:
        ensure_loaded()
        spec = catalog.envs.find(id)
    if spec is None:
        prefix, _, name = id.partition(":")
        family = catalog.families.find(prefix)
        spec = _resolve(family, name) if family is not None else None
    if spec is None:
        raise _unknown("environment", id, env_ids(), catalog.envs.versions(id))
    return spec


def env_ids(pattern: str | None = None) -> list[str]:
    """List the ids of all environments, those that open families name included, sorted; no environment is imported."""
    return [entry["id"] for entry in describe_envs(pattern)]


def describe_envs(pattern: str | None = None) -> list[dict[str, Any]]:
    """Describe all environments as plain values; no environment is imported.

    Args:
        pattern: Only ids that it matches: a shell pattern with `*`, `?` or `[`, else a part of the id, capitals apart.

    Returns:
        Dicts with `id`, `description`, `tags`, `reward_range`, `requires` and `origin`, sorted by id.
    """
    ensure_loaded()
    entries = {
        spec.id: {
            "id": spec.id,
            "description": spec.description,
            "tags": list(spec.tags),
            "reward_range": list(spec.reward_range) if spec.reward_range else None,
            "requires": list(spec.requires),
            "origin": spec.origin,
        }
        for spec in catalog.envs
    }
    for family in catalog.families:
        for name in _names(family):
            entry: dict[str, Any] = {
                "id": f"{family.prefix}:{name}",
                "description": family.description,
                "tags": list(family.tags),
                "reward_range": None,
                "requires": list(family.requires),
                "origin": family.origin,
            }
            entries.setdefault(f"{family.prefix}:{name}", entry)
    return [entries[id] for id in sorted(entries) if matches(id, pattern)]


def matches(name: str, pattern: str | None) -> bool:
    """Say whether a name matches a pattern, as `describe_envs` reads it."""
    if not pattern:
        return True
    name, pattern = name.lower(), pattern.strip().lower()
    return fnmatchcase(name, pattern) if any(c in pattern for c in "*?[") else pattern in name


def _resolve(family: FamilySpec, name: str) -> EnvSpec | None:
    """Ask a family for a name, and, if it knows none, for the listed one that differs in `-` and `_` alone."""
    owner = f"the family {family.prefix!r} of {family.origin}"
    resolver = resolve(family.resolver, owner, family.requires)
    spec = construct(resolver, (name,), {}, owner, family.requires)
    if spec is None:
        folded = [listed for listed in _names(family) if listed.replace("-", "_") == name.replace("-", "_")]
        if len(folded) == 1 and folded[0] != name:
            spec = construct(resolver, (folded[0],), {}, owner, family.requires)
    if spec is None:
        return None
    if not isinstance(spec, EnvSpec) or not spec.id.startswith(f"{family.prefix}:"):
        raise PluginError(
            f"The resolver of {owner} returned {spec!r} for {name!r}; it returns an EnvSpec whose id begins with "
            f"'{family.prefix}:', or None where there is no such name."
        )
    return spec


_unlisted: set[str] = set()


def _names(family: FamilySpec) -> list[str]:
    """List a family's names; one whose listing fails is warned of once and lists none, so that it hides no other."""
    try:
        return _listed(family)
    except Exception as error:
        if family.prefix not in _unlisted:
            _unlisted.add(family.prefix)
            cause = f"{type(error).__name__}: {error}".rstrip(".")
            warnings.warn(
                f"The names of the family {family.prefix!r} of {family.origin} cannot be listed ({cause}). Everything "
                "else is listed without them.",
                PluginWarning,
                stacklevel=4,
            )
        return []


def _listed(family: FamilySpec) -> list[str]:
    if family.names is None:
        return []
    owner = f"the listing of the family {family.prefix!r} of {family.origin}"
    source: EntryPoint = os.fspath(family.names) if isinstance(family.names, os.PathLike) else family.names
    if callable(source) or (":" in source and not os.path.exists(source)):
        return [str(name) for name in construct(resolve(source, owner, family.requires), (), {}, owner)]
    with open(_data_file(source, owner), encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


def _data_file(path: str, owner: str) -> str:
    """Return where a data file is: an absolute path as it stands, else inside the package that it begins with."""
    if os.path.isabs(path):
        return path
    package, _, rest = path.partition("/")
    spec = find_spec(package)  # finds a top-level package without importing it
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if os.path.isfile(os.path.join(folder, rest)):
            return os.path.join(folder, rest)
    raise PluginError(f"The data file of {owner}, {path!r}, is not in the package {package!r}; install it again.")


def _unknown(noun: str, text: str, known: list[str], versions: list[str]) -> UnknownId:
    """Say what is known instead: versions or close matches, then failed plugins, then the package to install."""
    parts = [f"There is no {noun} {text!r}."]
    close = did_you_mean(text, known)
    if versions:
        parts.append(f"Known versions: {', '.join(versions)}.")
    elif close:
        parts.append(close.strip())
    failed = [report for report in reports() if report.status == "failed"]
    having = [report for report in failed if text in report.keys]
    if failed:
        which = having or failed
        parts.append(f"{'It is in' if having else 'It may be in'} a plugin that failed: {'; '.join(map(str, which))}.")
    parts.extend(_where_to_get(noun, text, guessed=bool(versions or close)))
    if not (versions or close) and known:
        parts.insert(1, _families(known) if noun == "environment" else f"There are: {', '.join(known)}.")
    return UnknownId(" ".join(parts))


def _where_to_get(noun: str, text: str, *, guessed: bool) -> Iterable[str]:
    package = package_of(noun, text)
    report = _installed(package) if package else None
    if package and report is None:
        yield f"{text} comes with {package}: pip install {package}"
    elif report is not None and report.status == "left out":
        yield f"{text} comes with {package}, which GEM_PLUGINS leaves out: add {report.name} to it."
    elif report is not None and report.status == "loaded" and not guessed:
        yield f"{package} {report.version} is installed and has none; a newer one may: pip install -U {package}"


def _installed(package: str) -> PluginReport | None:
    return next((report for report in reports() if report.distribution.replace("_", "-").lower() == package), None)


def _families(known: list[str]) -> str:
    prefixes = sorted({id.partition(":")[0] for id in known} | set(catalog.families.keys()))
    return f"Families: {', '.join(prefixes)}; `python -m gem envs` lists all."
