"""Which plugins are installed, read from what installers wrote down; nothing is imported, and no damage stops it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions

__all__ = ["Candidate", "Damage", "discover", "owners_of"]

GROUP = "gem"
"""The one entry-point group."""

_SECTION = re.compile(rf"^\s*\[\s*{GROUP}\s*\]", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Candidate:
    """A plugin that an installed distribution declares.

    Attributes:
        name: The entry point's name.
        distribution: The distribution's name.
        version: Its version.
        target: The entry point's value: a module, or `"module:object"`.
    """

    name: str
    distribution: str
    version: str
    target: str


@dataclass(frozen=True, order=True)
class Damage:
    """A distribution whose metadata cannot be read, so that nobody knows what it declares.

    Attributes:
        distribution: Its name, as far as it can be told.
        cause: One line.
        traceback: The whole story.
    """

    distribution: str
    cause: str
    traceback: str


def discover() -> tuple[list[Candidate], list[Damage]]:
    """Read the entry points of all installed distributions.

    Returns:
        The plugins, sorted by name, and what could not be read. Of two distributions with one name, the first on the
        path counts, as for imports.
    """
    found: dict[str, list[Candidate]] = {}
    damages: list[Damage] = []
    torn: dict[str, Damage] = {}
    for distribution in _installed(damages):
        try:
            candidates = list(_candidates(distribution))
        except Exception as error:  # anything can be wrong with a file that somebody's installer wrote
            torn.setdefault(_name(distribution), _damage(_name(distribution), error))
        else:
            if candidates:
                found.setdefault(_normal(candidates[0].distribution), candidates)
    return sorted(candidate for candidates in found.values() for candidate in candidates), sorted(
        [*damages, *torn.values()]
    )


def owners_of(package: str) -> list[str]:
    """List the distributions that installed `<package>/__init__.py`, as their records say.

    An editable install records none of its files and does not count.
    """
    line = re.compile(rf"^\"?{re.escape(package)}/__init__\.py\"?(?:,|$)", re.MULTILINE)
    owners = []
    for distribution in _installed([]):
        try:
            record = distribution.read_text("RECORD") or distribution.read_text("SOURCES.txt") or ""
        except (OSError, UnicodeDecodeError):
            continue
        if line.search(record):
            owners.append(f"{_name(distribution)} {_version(distribution)}".strip())
    return sorted(set(owners))


def _installed(damages: list[Damage]) -> Iterator[Distribution]:
    try:
        yield from distributions()
    except Exception as error:  # a path entry with a finder of its own that fails
        damages.append(_damage("the search for distributions", error))


def _candidates(distribution: Distribution) -> Iterator[Candidate]:
    text = distribution.read_text("entry_points.txt")
    if not text or not _SECTION.search(text):
        return  # most of what is installed: parsing all of it would cost more than everything else here
    for entry in distribution.entry_points:
        if entry.group == GROUP:
            yield Candidate(entry.name, _name(distribution), _version(distribution), entry.value)


def _name(distribution: Distribution) -> str:
    return _field(distribution, "Name") or _folder(distribution)[0]


def _version(distribution: Distribution) -> str:
    return _field(distribution, "Version") or _folder(distribution)[1]


def _field(distribution: Distribution, name: str) -> str:
    try:
        metadata = distribution.metadata
        return str(metadata[name]) if name in metadata else ""
    except Exception:  # no METADATA, or one that is no such thing: the folder's name has to do
        return ""


def _folder(distribution: Distribution) -> tuple[str, str]:
    path = getattr(distribution, "_path", None)
    stem = re.sub(r"\.(dist-info|egg-info)$", "", getattr(path, "name", "") or "unknown")
    name, _, version = stem.partition("-")
    return name, version


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _damage(name: str, error: Exception) -> Damage:
    import traceback  # imported where something failed alone

    cause = f"its metadata cannot be read ({type(error).__name__}: {error})"
    return Damage(name, " ".join(cause.split()), traceback.format_exc())
