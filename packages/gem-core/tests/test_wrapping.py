"""Wrappers by name: one live mapping, one order, and errors that show what works."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem.core import Env, Wrapper
from gem.errors import EntryPointError, UnknownId, WrapperOrderError
from gem.plugins import catalog, ensure_loaded
from gem.registrar import Stage
from gem.wrapping import WRAPPER_FACTORY, apply_wrappers, get_wrapper_fns


class Plain(Env):
    def step(self, action: Any) -> Any:
        return "seen", 0.0, True, False, {}


class Marked(Wrapper):
    def __init__(self, env: Env, mark: str = "m", words: list[str] | None = None) -> None:
        super().__init__(env)
        self.mark, self.words = mark, words


class Chatty(Wrapper):
    def __init__(self, env: Env, tokenizer: Any, limit: int = 0) -> None:
        super().__init__(env)
        self.tokenizer, self.limit = tokenizer, limit


@pytest.fixture(autouse=True)
def _own_wrappers() -> Iterator[None]:
    ensure_loaded()
    kept = dict(catalog.wrappers._specs)
    stage = Stage("gem-t")
    register = stage.registers()["gem_register_wrappers"]
    register("t_tool", Marked, stage="tool", mark="tool", words=["a"])
    register("t_text", Marked, stage="observation", mark="text")
    register("t_chat", Chatty, stage="observation", needs="tokenizer")
    register("t_count", Marked, stage="tracking", mark="count")
    register("t_absent", "gem.wrappers.observation:NoSuchWrapper", stage="tracking")
    register("t_broken", lambda env: None, stage="tracking")
    catalog.commit(stage.specs)
    yield
    catalog.wrappers._specs, catalog.wrappers._index = kept, None


def layers(env: Env) -> list[str]:
    names = []
    while isinstance(env, Wrapper):
        names.append(getattr(env, "mark", type(env).__name__) if isinstance(env, Marked) else type(env).__name__)
        env = env.env
    return names


@pytest.mark.parametrize(
    "wrappers",
    [
        "t_tool,t_text,t_count",
        " t_tool , t_text,,t_count,",
        ["t_tool", "t_text", "t_count"],
        ("t-tool", ("t_text", {}), "t_count"),
        [("t_tool", {"mark": "tool"}), "t_text", lambda env: Marked(env, "count")],
    ],
)
def test_all_ways_of_naming_wrappers_put_the_first_one_innermost(wrappers: Any) -> None:
    assert layers(apply_wrappers(Plain(), wrappers)) == ["count", "text", "tool"]


@pytest.mark.parametrize("nothing", [None, "", " , ", []])
def test_no_wrappers_leave_the_env_as_it_is(nothing: Any) -> None:
    env = Plain()
    assert apply_wrappers(env, nothing) is env


def test_make_and_make_vec_wrap_outside_the_checks() -> None:
    spec = gem.EnvSpec("t:Plain", Plain)
    wrappers = ["t_tool", ("t_text", {"mark": "mine"})]
    assert layers(gem.make(spec, wrappers=wrappers)) == ["mine", "tool", "EnvChecks"]
    vec = gem.make_vec(spec, num_envs=2, wrappers=iter(wrappers))
    assert [layers(env()) for env in vec.env_fns] == [["mine", "tool", "EnvChecks"]] * 2


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("t_text,t_tool", "t_tool,t_text"),
        ("t_count,t_text,t_tool", "t_tool,t_text,t_count"),
        ([("t_count", {}), lambda env: env, "t_tool"], "t_tool,t_count"),
    ],
)
def test_a_wrong_order_is_an_error_that_shows_a_right_one(wrong: Any, right: str) -> None:
    with pytest.raises(WrapperOrderError, match=rf"in the order tool, observation, tracking; got .*wrappers='{right}'"):
        get_wrapper_fns(wrong)


def test_a_wrapper_that_needs_a_tokenizer_gets_it_and_others_do_not() -> None:
    tokenizer = object()
    env: Any = apply_wrappers(Plain(), "t_tool,t_chat", tokenizer)
    assert env.tokenizer is tokenizer
    with pytest.raises(TypeError, match=r"The wrapper t_chat needs a tokenizer: pass tokenizer="):
        apply_wrappers(Plain(), "t_chat")


def test_the_factory_wraps_as_people_are_used_to() -> None:
    tokenizer = object()
    env: Any = WRAPPER_FACTORY["t_chat"](Plain(), tokenizer=tokenizer, limit=3)
    assert (env.tokenizer, env.limit) == (tokenizer, 3)
    assert WRAPPER_FACTORY["t_text"](Plain(), tokenizer=tokenizer).mark == "text"  # type: ignore[attr-defined]
    with pytest.raises(KeyError, match=r"no wrapper 't_chad'\. Did you mean t_chat"):
        WRAPPER_FACTORY["t_chad"]


def test_the_factory_is_live_and_has_what_core_registers() -> None:
    core = {"concat", "concat_with_action", "concat_chat", "concat_chat_on_reset", "step_limit", "episode_tracking"}
    assert core <= set(WRAPPER_FACTORY)
    before = len(WRAPPER_FACTORY)
    stage = Stage("gem-t")
    stage.registers()["gem_register_wrappers"]("t_later", Marked, stage="tool")
    catalog.commit(stage.specs)
    assert len(WRAPPER_FACTORY) == before + 1
    assert "t_later" in WRAPPER_FACTORY
    assert "t_never" not in WRAPPER_FACTORY


def test_registered_arguments_are_copied_for_each_wrapper() -> None:
    first: Any = apply_wrappers(Plain(), "t_tool")
    first.words.append("b")
    second: Any = apply_wrappers(Plain(), "t_tool")
    assert second.words == ["a"]


def test_an_argument_that_a_wrapper_lacks_is_named_and_how_to_give_it() -> None:
    with pytest.raises(TypeError, match=r"The wrapper step_limit needs max_steps\. .* wrappers=\[\('step_limit', \{"):
        apply_wrappers(Plain(), "step_limit")


def test_an_unknown_argument_of_a_wrapper_names_the_known_ones() -> None:
    with pytest.raises(TypeError, match=r"t_tool has no argument mork; it takes mark, words\. Did you mean mark"):
        apply_wrappers(Plain(), [("t_tool", {"mork": "x"})])


def test_wrapper_functions_pickle() -> None:
    fn = pickle.loads(pickle.dumps(get_wrapper_fns("step_limit")[0]))
    with pytest.raises(TypeError, match="max_steps"):
        fn(Plain())
    assert layers(fn(Plain(), max_steps=2)) == ["StepLimit"]


@pytest.mark.parametrize(
    ("wrappers", "error", "message"),
    [
        ("nope", UnknownId, r"There is no wrapper 'nope'"),
        ("python_toool", UnknownId, r"There is no wrapper 'python_toool'"),
        ([3], TypeError, r"a name, a \(name, kwargs\) pair or a callable env -> env; got 3"),
        ({"t_tool": {}}, TypeError, r"a comma string or a list"),
        (Marked, TypeError, r"One alone goes into a list"),
        ("t_broken", TypeError, r"The wrapper t_broken .* returned None, which is no environment"),
        ([lambda env: None], TypeError, r"returned None; it returns the wrapped environment"),
        ("t_absent", EntryPointError, r"The wrapper t_absent is registered as .* has no 'NoSuchWrapper'"),
    ],
)
def test_what_cannot_be_a_wrapper_says_so(wrappers: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        apply_wrappers(Plain(), wrappers)


def test_the_old_path_is_the_same_mapping() -> None:
    from gem.wrappers.wrapper_factory import WRAPPER_FACTORY as OLD

    assert OLD is WRAPPER_FACTORY
