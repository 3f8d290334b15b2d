"""Where specs are kept and found again: plain objects, without I/O and without globals.

Names are found by one rule: blanks round them are stripped; the exact name first, then the newest version of it, then
both once more with `-` and `_` taken for the same.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from gem.errors import DuplicateId
from gem.ids import close_matches, split_id
from gem.specs import ComponentSpec, EnvSpec, FamilySpec, SandboxSpec, Spec, ToolSpec, WrapperSpec

__all__ = ["Catalog", "Registry"]

S = TypeVar("S", bound=Spec)


class Registry(Generic[S]):
    """Specs of one kind by their key.

    Args:
        noun: What they are, for error messages: "environment".
    """

    def __init__(self, noun: str) -> None:
        """Start empty."""
        self.noun = noun
        self._specs: dict[str, S] = {}
        self._index: _Index | None = None

    def check(self, spec: S) -> None:
        """Say whether `add` would take a spec.

        Raises:
            DuplicateId: Somebody registered another spec under its key.
        """
        held = self._specs.get(spec.key)
        if held is not None and not _same(held, spec):
            whose = f"{spec.origin} registers {self.noun} {spec.key!r}"
            if held.origin == spec.origin:
                raise DuplicateId(f"{whose} twice, with different settings; each id names one thing.")
            raise DuplicateId(f"{whose}, which {held.origin} has registered already; one of the two has to rename it.")

    def add(self, spec: S, *, replace: bool = False) -> None:
        """Keep a spec under its key; an equal one there already is no change.

        Args:
            spec: What to keep.
            replace: Take the place of another spec of that key.

        Raises:
            DuplicateId: Somebody registered another spec under its key, and `replace` is False.
        """
        if not replace:
            self.check(spec)
        self._specs[spec.key] = spec
        self._index = None

    def get(self, key: str) -> S | None:
        """Return the spec under exactly this key, or None."""
        return self._specs.get(key)

    def find(self, text: str) -> S | None:
        """Return the spec that a user means by `text`, or None: exact, then newest version, then `-` and `_` folded."""
        text = text.strip()
        if text in self._specs:
            return self._specs[text]
        key = self._lookup().find(text)
        return self._specs.get(key) if key is not None else None

    def versions(self, text: str) -> list[str]:
        """List the registered keys that differ from `text` by their version alone, oldest first."""
        return self._lookup().versions(text.strip())

    def close(self, text: str) -> list[str]:
        """List up to three registered keys that look like `text`, best first."""
        return close_matches(text, list(self._specs))

    def origin(self, key: str) -> str | None:
        """Say who registered a key, or None where nobody has."""
        spec = self._specs.get(key)
        return spec.origin if spec is not None else None

    def keys(self) -> list[str]:
        """List all keys, sorted."""
        return sorted(self._specs)

    def __iter__(self) -> Iterator[S]:
        """Iterate over the specs, sorted by key; those added meanwhile do not disturb it."""
        return iter([self._specs[key] for key in self.keys()])

    def __len__(self) -> int:
        return len(self._specs)

    def __contains__(self, key: object) -> bool:
        return key in self._specs

    def _lookup(self) -> _Index:
        index = self._index
        if index is None:
            index = self._index = _Index(list(self._specs))
        return index


class Catalog:
    """All registries of a process, or of a test.

    Attributes:
        envs: Environments by id.
        families: Open families by prefix.
        wrappers: Wrappers by name.
        tools: Tools by name.
        sandboxes: Sandbox backends by name.
        components: Components by `kind:name`.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.envs: Registry[EnvSpec] = Registry(EnvSpec.noun)
        self.families: Registry[FamilySpec] = Registry(FamilySpec.noun)
        self.wrappers: Registry[WrapperSpec] = Registry(WrapperSpec.noun)
        self.tools: Registry[ToolSpec] = Registry(ToolSpec.noun)
        self.sandboxes: Registry[SandboxSpec] = Registry(SandboxSpec.noun)
        self.components: Registry[ComponentSpec] = Registry(ComponentSpec.noun)
        self._by_type = {
            EnvSpec: self.envs,
            FamilySpec: self.families,
            WrapperSpec: self.wrappers,
            ToolSpec: self.tools,
            SandboxSpec: self.sandboxes,
            ComponentSpec: self.components,
        }
        self._lock = threading.Lock()

    def origin(self, spec: Spec) -> str | None:
        """Say who registered what stands under a spec's key, or None where nobody has."""
        return self._registry(spec).origin(spec.key)

    def commit(self, specs: Iterable[Spec], *, replace: bool = False) -> None:
        """Add all of these specs, or none where one is refused.

        Raises:
            DuplicateId: One of the keys is taken, and `replace` is False.
        """
        staged = list(specs)
        with self._lock:
            if not replace:
                for spec in staged:
                    self._registry(spec).check(spec)
            for spec in staged:
                self._registry(spec).add(spec, replace=True)

    def _registry(self, spec: Spec) -> Registry[Spec]:
        return self._by_type[type(spec)]  # type: ignore[return-value]


class _Index:
    """What the rule of `Registry.find` needs beside the keys; rebuilt after a change, since lookups outnumber those."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._stems: dict[str, list[tuple[int, str]]] = {}
        self._folded: dict[str, list[str]] = {}
        self._folded_stems: dict[str, list[tuple[int, str]]] = {}
        for key in sorted(keys):
            parts = split_id(key)
            version = -1 if parts.version is None else parts.version
            self._stems.setdefault(parts.stem, []).append((version, key))
            self._folded.setdefault(_fold(key), []).append(key)
            self._folded_stems.setdefault(split_id(_fold(key)).stem, []).append((version, key))

    def find(self, text: str) -> str | None:
        wanted = split_id(text)
        if wanted.version is None and wanted.stem in self._stems:
            return max(self._stems[wanted.stem])[1]
        folded = _fold(text)
        if folded in self._folded:
            return _only(self._folded[folded])
        wanted = split_id(folded)
        if wanted.version is None and wanted.stem in self._folded_stems:
            newest = max(version for version, _ in self._folded_stems[wanted.stem])
            return _only([key for version, key in self._folded_stems[wanted.stem] if version == newest])
        return None

    def versions(self, text: str) -> list[str]:
        return [key for _, key in sorted(self._folded_stems.get(split_id(_fold(text)).stem, []))]


def _fold(text: str) -> str:
    return text.replace("_", "-")


def _only(keys: Sequence[str]) -> str | None:
    return keys[0] if len(keys) == 1 else None  # two that differ in - and _ alone: neither is meant for sure


def _same(one: Spec, other: Spec) -> bool:
    try:
        return one == other
    except ValueError:  # kwargs that hold arrays compare to arrays
        return False
