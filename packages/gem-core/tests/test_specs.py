"""Specs are values: frozen, checked, picklable, and JSON there and back."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.errors import InvalidId
from gem.ids import check_id, split_id
from gem.specs import ComponentSpec, EnvSpec, FamilySpec, SandboxSpec, ToolSpec, WrapperSpec

ALL = [
    EnvSpec(
        "game:Sokoban-v0-easy",
        "gem_games.sokoban:Sokoban",
        kwargs={"dim_room": (6, 6), "names": ["a", {"b": None}], "rate": math.inf},
        description="Push boxes.",
        tags=("game", "text"),
        reward_range=(-math.inf, 1.0),
        requires=("gem-games",),
        origin="gem-games",
    ),
    FamilySpec("rg", "gem_math.reasoning_gym:resolve", "gem_math/names.txt", description="All of them."),
    WrapperSpec("concat_chat", "gem.wrappers.observation:ConcatChat", stage="observation", needs=("tokenizer",)),
    ToolSpec("python_code", "gem_tools.python_code:PythonCodeTool", kwargs={"timeout": 5}),
    SandboxSpec(
        "docker", "gem_tools.docker:Docker", capabilities=("files",), rank=10, available="gem_tools.docker:why"
    ),
    ComponentSpec("retriever", "bm25", "gem_search.bm25:Retriever"),
]


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: type(spec).__name__)
def test_a_spec_comes_back_equal_from_json_pickle_and_copies(spec: Any) -> None:
    assert type(spec).from_json(spec.to_json()) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert copy.deepcopy(spec) == spec
    assert hash(spec) == hash(copy.deepcopy(spec))


names = st.text("ab$_é", min_size=1, max_size=4).filter(lambda name: not name.startswith("$"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(names, json_values, max_size=3))
def test_kwargs_come_back_from_json_tuples_as_tuples(kwargs: dict[str, Any]) -> None:
    assert dict(EnvSpec.from_json(EnvSpec("t:A", "m:C", kwargs=kwargs).to_json()).kwargs) == kwargs


def test_kwargs_cannot_be_changed_but_replaced() -> None:
    spec = EnvSpec("t:A", "m:C", kwargs={"size": 3})
    with pytest.raises(TypeError):
        spec.kwargs["size"] = 4  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.id = "t:B"  # type: ignore[misc]
    changed = dataclasses.replace(spec, kwargs={**spec.kwargs, "size": 5})
    assert (spec.kwargs["size"], changed.kwargs["size"]) == (3, 5)


def test_a_callable_entry_point_is_no_json_and_says_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"written down as strings, 'module:attribute'"):
        EnvSpec("t:A", dict).to_json()
    with pytest.raises(TypeError, match=r"t:A: kwargs\['path'\] is .*JSON cannot hold"):
        EnvSpec("t:A", "m:C", kwargs={"path": Path("/x")}).to_json()


def test_json_of_a_newer_spec_names_the_unknown_field() -> None:
    with pytest.raises(TypeError, match=r"EnvSpec has no field colour; was this written by a newer"):
        EnvSpec.from_json('{"id": "t:A", "entry_point": "m:C", "colour": "red"}')


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "game",
        "game-v0",
        "Sokoban",
        ":x",
        "game:",
        "game: ",
        "a b:c",
        "game:x\ny",
        "game:x\u2028y",
        "game:x\a",
        None,
        3,
    ],
)
def test_what_has_no_family_is_no_id(bad: Any) -> None:
    with pytest.raises(InvalidId, match=r"ids are family:name|An id is a string"):
        check_id(bad)


@pytest.mark.parametrize(
    "id", ["game:Sokoban-v0", "  game:Sokoban \n", "remote:http://host:80/x?y=1", "rg:a_b", "eval:2Wiki", "t:ü"]
)
def test_what_follows_the_family_is_opaque(id: str) -> None:
    assert check_id(id) == id.strip()


@pytest.mark.parametrize(
    ("id", "parts"),
    [
        ("game:Sokoban", ("game", "Sokoban", None, "")),
        ("game:Sokoban-v0", ("game", "Sokoban", 0, "")),
        ("game:Sokoban-v12-extra-hard", ("game", "Sokoban", 12, "-extra-hard")),
        ("game:v2ray-v2ray-v1", ("game", "v2ray-v2ray", 1, "")),
        ("game:-v1", ("game", "-v1", None, "")),
        ("a:b:c-v1", ("a", "b:c", 1, "")),
        ("concat-v2", ("", "concat", 2, "")),
    ],
)
def test_an_id_is_taken_apart_at_its_version(id: str, parts: tuple[Any, ...]) -> None:
    assert split_id(id) == parts


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"entry_point": "no_colon"}, "The entry point of t:A is 'module:attribute'"),
        ({"entry_point": "a b:c"}, "such as 'gem_games.sokoban:Sokoban'; got 'a b:c'"),
        ({"entry_point": 3}, "'module:attribute' or a callable; got 3"),
        ({"reward_range": (1, 0)}, r"is \(lowest, highest\)"),
        ({"description": "two\nlines"}, "is one line"),
        ({"kwargs": [1]}, "are a dict of keyword arguments"),
        ({"tags": [1]}, "tags of t:A are strings"),
    ],
)
def test_a_field_that_cannot_be_says_so(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        EnvSpec(**{"id": "t:A", "entry_point": "m:C", **fields})


def test_wrappers_have_a_stage_and_can_need_a_tokenizer_alone() -> None:
    with pytest.raises(ValueError, match=r"one of tool, observation, tracking; got 'first'"):
        WrapperSpec("w", "m:C", stage="first")
    with pytest.raises(ValueError, match=r"can need a 'tokenizer' alone"):
        WrapperSpec("w", "m:C", stage="tool", needs=("model",))


def test_kwargs_that_cannot_be_copied_say_what_to_do() -> None:
    import threading

    with pytest.raises(TypeError, match=r"kwargs of t:A cannot be copied.*Pass such a value when you make it"):
        EnvSpec("t:A", "m:C", kwargs={"lock": threading.Lock()}).own_copy()
