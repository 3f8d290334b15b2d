"""Names are found by one rule, and a name names one thing."""

from __future__ import annotations

import pytest

from gem.errors import DuplicateId
from gem.ids import close_matches
from gem.registry import Catalog, Registry
from gem.specs import EnvSpec, ToolSpec, WrapperSpec


def registry(*ids: str) -> Registry[EnvSpec]:
    made: Registry[EnvSpec] = Registry("environment")
    for id in ids:
        made.add(EnvSpec(id, "m:C", origin="gem-t"))
    return made


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("t:A-v0", "t:A-v0"),
        ("  t:A-v0\n", "t:A-v0"),
        ("t:A", "t:A-v10"),  # the newest version, by number, not by letter
        ("t:A-easy", "t:A-v2-easy"),
        ("t:A_v0", "t:A-v0"),
        ("t:my_env", "t:my-env"),
        ("t:my-other_env", "t:my_other-env-v1"),
        ("t:plain", "t:plain"),  # exact before a newer version
        ("t:A-v3", None),
        ("t:a-v0", None),  # capitals are part of an id
        ("u:A-v0", None),
        ("t:x-y-z", None),  # two that differ in - and _ alone: neither is meant for sure
        ("t:x_y-z", "t:x_y-z"),
    ],
)
def test_lookup_is_exact_then_newest_then_folded(asked: str, found: str | None) -> None:
    ids = ["t:A-v0", "t:A-v2", "t:A-v10", "t:A-v1-easy", "t:A-v2-easy", "t:my-env", "t:my_other-env-v1", "t:plain"]
    spec = registry(*ids, "t:plain-v1", "t:x_y-z", "t:x-y_z").find(asked)
    assert (spec and spec.id) == found


def test_an_unknown_version_lists_the_known_ones() -> None:
    assert registry("t:A-v0", "t:A-v10", "t:A-v2", "t:A-v0-easy").versions("t:A-v7") == ["t:A-v0", "t:A-v2", "t:A-v10"]


def test_lookups_see_what_was_added_after_the_last_one() -> None:
    known = registry("t:A-v0")
    assert known.find("t:A").id == "t:A-v0"  # type: ignore[union-attr]
    known.add(EnvSpec("t:A-v1", "m:C"))
    assert known.find("t:A").id == "t:A-v1"  # type: ignore[union-attr]


def test_a_taken_name_names_both_owners() -> None:
    known = registry("t:A")
    with pytest.raises(DuplicateId, match="gem-b registers environment 't:A', which gem-t has registered already"):
        known.add(EnvSpec("t:A", "m:C", origin="gem-b"))
    known.add(EnvSpec("t:A", "m:C", origin="gem-t"))  # the same once more changes nothing
    known.add(EnvSpec("t:A", "m:D", origin="gem-b"), replace=True)
    assert known.origin("t:A") == "gem-b"
    assert known.origin("t:B") is None


def test_a_commit_is_all_or_nothing() -> None:
    catalog = Catalog()
    catalog.commit([EnvSpec("t:A", "m:C", origin="one")])
    with pytest.raises(DuplicateId, match="two registers environment 't:A', which one"):
        catalog.commit(
            [
                EnvSpec("t:B", "m:C", origin="two"),
                ToolSpec("t", "m:T", origin="two"),
                EnvSpec("t:A", "m:C", origin="two"),
            ]
        )
    assert catalog.envs.keys() == ["t:A"]
    assert len(catalog.tools) == 0


def test_kinds_do_not_clash_with_each_other() -> None:
    catalog = Catalog()
    catalog.commit([ToolSpec("search", "m:T"), WrapperSpec("search", "m:W", stage="tool")])
    assert "search" in catalog.tools
    assert "search" in catalog.wrappers


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("game:GuesTheNumber-v0", "game:GuessTheNumber-v0"),
        ("game:guessthenumber-v0", "game:GuessTheNumber-v0"),
        ("GuessTheNumber-v0", "game:GuessTheNumber-v0"),
        ("games:Sokoban-v0", "game:Sokoban-v0"),
    ],
)
def test_close_matches_forgive_typing_capitals_and_a_wrong_family(asked: str, first: str) -> None:
    known = ["game:GuessTheNumber-v0", "game:GuessTheNumber-v0-easy", "game:Sokoban-v0", "math:GSM8K"]
    assert close_matches(asked, known)[0] == first


def test_nothing_is_close_to_what_is_far() -> None:
    assert close_matches("zzzzzz", ["game:Sokoban-v0"]) == []


def test_iteration_is_sorted_and_survives_additions() -> None:
    known = registry("t:b", "t:a")
    seen = []
    for spec in known:
        seen.append(spec.id)
        known.add(EnvSpec(f"{spec.id}x", "m:C"))
    assert seen == ["t:a", "t:b"]
