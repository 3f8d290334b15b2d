"""Tools on their own: contract T1, T4."""

from __future__ import annotations

import asyncio
import pickle
import threading
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.errors import Fault, StateError
from gem.parsing import ToolCall
from gem.tools.arguments import prepare_arguments
from gem.tools.base import Tool, ToolResult
from gem.tools.execution import arun_tool, run_tool
from gem.tools.result import NO_OUTPUT, as_text, cut, describe_error
from gem.tools.routing import Router


def call(name: str = "f", **arguments: Any) -> ToolCall:
    return ToolCall("call_0", name, arguments, (0, 1))


class Script(Tool):
    """Returns or raises what it is told to."""

    def __init__(self, outcome: Any = None) -> None:
        self.outcome = outcome

    def execute(self, call: Any) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


# --- names, schemas, instructions ---


def test_name_and_tool_type_are_the_same_whichever_is_given():
    class Old(Tool):
        tool_type = "old_word"

    class New(Tool):
        name = "new_word"

    assert (Old.name, Old.tool_type, Old().name) == ("old_word",) * 3
    assert (New.name, New.tool_type, New().tool_type) == ("new_word",) * 3
    assert Script().name == "Script"
    tool = New()
    tool.name = "mine"
    assert tool.tool_type == "mine"
    assert New.name == "new_word"


def test_schema_is_the_first_of_schemas(calculator, shout):
    assert calculator.schema is calculator.schemas[0]
    assert shout.schema is None


def test_default_instructions_show_the_functions_and_a_call(calculator):
    text = calculator.instruction_string()
    assert '"name": "add"' in text
    assert '"name": "mul"' in text
    assert "<tool_call>" in text
    assert Script().instruction_string() == ""


def test_a_tool_without_execute_says_what_to_override():
    result = run_tool(Tool(), call())
    assert result.is_error
    assert "override it" in result.text


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": {"a": {"type": "string"}, "b": {"type": "array"}, "c": {}}, "required": ["a", "b", "c"]},
        {"properties": {"a": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}, "required": ["a"]},
        {"properties": {"a": {"type": "string", "enum": ["x<y", "z"]}, "b": {"type": "integer"}}, "required": ["a"]},
        {"properties": {}},
        {},
    ],
)
def test_the_call_that_the_default_instructions_show_works(parameters):
    class Shown(Tool):
        schemas = ({"type": "function", "function": {"name": "f", "parameters": parameters}},)

    (routed,) = Router([Shown()]).calls(Shown().instruction_string())
    assert routed.call.error is None


# --- execute_action ---


def test_execute_action_answers_all_calls_in_order(shout, calculator):
    assert shout.execute_action("no call") == (False, True, "", "")
    assert shout.execute_action("<shout>a</shout> and <shout>b</shout>.") == (
        True,
        False,
        "A\nB",
        "<shout>a</shout> and <shout>b</shout>",
    )
    action = '<tool_call>{"name": "mul", "arguments": {"a": 3, "b": 4}}</tool_call> end'
    assert calculator.execute_action(action) == (True, False, "12", action[:-4])
    assert calculator.execute_action('<tool_call>{"name": "fly", "arguments": {}}</tool_call>')[0] is False


def test_execute_action_reports_an_error(shout):
    assert shout.execute_action("<shout></shout>")[:3] == (True, True, "nothing to shout")


# --- arguments ---

ADD = {
    "name": "add",
    "parameters": {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "integer", "default": 7},
            "mode": {"type": "string", "enum": ["x", "y"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "tags": {"type": "array", "default": []},
        },
        "required": ["a"],
    },
}


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"a": 1}, {"a": 1, "b": 7, "tags": []}),
        ({"a": 1, "b": None, "mode": None}, {"a": 1, "b": 7, "tags": []}),
        ({"a": 2.0, "b": 3}, {"a": 2, "b": 3, "tags": []}),
        ({"a": 1, "note": None}, {"a": 1, "note": None, "b": 7, "tags": []}),
    ],
)
def test_clear_arguments_are_repaired(given, expected):
    prepared, problem = prepare_arguments(given, ADD)
    assert problem is None
    assert prepared == expected
    assert type(prepared["a"]) is int


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, "needs 'a'"),
        ({"a": None}, "'a' must be of type integer, not null"),
        ({"a": "1"}, "'a' must be of type integer, not string"),
        ({"a": True}, "not boolean"),
        ({"a": 1.5}, "not number"),
        ({"a": 1, "mode": "z"}, "one of 'x', 'y'"),
        ({"a": 1, "c": 2}, "no parameter 'c'"),
        ({"a": 1, "tags": {"x": 1}}, "of type array, not object"),
    ],
)
def test_wrong_arguments_are_refused_with_what_to_repair(given, words):
    prepared, problem = prepare_arguments(given, ADD)
    assert prepared == {}
    assert words in problem
    assert "Its parameters: a, b (optional), mode (optional)" in problem


def test_defaults_of_a_schema_are_not_shared_between_calls():
    first, _ = prepare_arguments({"a": 1}, ADD)
    first["tags"].append("x")
    assert prepare_arguments({"a": 1}, ADD)[0]["tags"] == []


@pytest.mark.parametrize(
    "schema, value, fits",
    [
        ({"type": ["integer", "null"]}, None, True),
        ({"type": "integer", "nullable": True}, None, True),
        ({"oneOf": [{"type": "integer"}, {"$ref": "#/x"}]}, "anything", True),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "x", False),
        ({"type": "date"}, "today", True),
        ({"type": "number"}, True, False),
        (True, object, True),
    ],
)
def test_types_are_read_where_the_schema_states_them(schema, value, fits):
    function = {"name": "f", "parameters": {"properties": {"a": schema}, "required": ["a"]}}
    assert (prepare_arguments({"a": value}, function)[1] is None) is fits


def test_a_schema_that_is_none_is_an_error_text_not_an_exception():
    class Odd(Tool):
        schemas = ({"name": "odd", "parameters": {"properties": ["a"]}},)

    (routed,) = Router([Odd()]).calls('<tool_call>{"name": "odd", "arguments": {"a": 1}}</tool_call>')
    assert "could not read the arguments" in routed.call.error


def test_a_schema_needs_a_name():
    class Nameless(Tool):
        schemas = ({"type": "function", "function": {"parameters": {}}},)

    with pytest.raises(ValueError, match="without a function name"):
        Router([Nameless()])


def test_a_schema_without_properties_takes_anything():
    assert prepare_arguments({"x": None}, {"name": "free"}) == ({"x": None}, None)
    free = {"name": "free", "parameters": {"properties": {}, "additionalProperties": True}}
    assert prepare_arguments({"x": 1}, free) == ({"x": 1}, None)


def test_oversized_arguments_are_an_error_that_does_not_repeat_them(shout):
    prepared = shout.prepare(call("shout", text="z" * 2_000_000))
    result = run_tool(shout, prepared)
    assert result.is_error
    assert "2000004 characters" in result.text  # names included
    assert "zzz" not in result.text


# --- results ---


@pytest.mark.parametrize(
    "value, text",
    [
        (None, NO_OUTPUT),
        ("", NO_OUTPUT),
        ([], NO_OUTPUT),
        ("4\n", "4\n"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        (3, "3"),
        ([1, 2, None], "[1, 2, null]"),
        ({"a": "é"}, '{"a": "é"}'),
        (["one", {"type": "text", "text": "two"}, None, b"three", 4], "one\ntwo\nthree\n4"),
        ({"content": [{"type": "text", "text": "from MCP"}], "isError": False}, "from MCP"),
        ([{"type": "image", "data": "AAAA"}], "[image]"),
        ([SimpleNamespace(type="text", text="object part")], "object part"),
        ([{"id": 1}, {"id": 2}], '[{"id": 1}, {"id": 2}]'),
        (ToolResult("nested"), "nested"),
    ],
)
def test_every_kind_of_result_is_readable(value, text):
    assert as_text(value) == text
    result = run_tool(Script(value), call())
    assert (result.text, result.is_error) == (text, False)


@settings(max_examples=50)
@given(
    st.recursive(
        st.none() | st.integers() | st.text() | st.binary(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_any_plain_result_becomes_text(value):
    result = run_tool(Script(value), call())
    assert isinstance(result.text, str)
    assert result.text
    assert not result.is_error


@pytest.mark.parametrize(
    "value", ["a\ud800b", {"x": "a\ud800b"}, ["a\ud800b", {"type": "text", "text": "c"}], ValueError("a\ud800b")]
)
def test_a_lone_surrogate_is_replaced_for_no_tokenizer_takes_one(value):
    text = run_tool(Script(value), call()).text
    assert "a\ufffdb" in text
    assert text.encode()
    assert as_text("\ud83d\ude42 é") == "🙂 é"


def test_status_is_the_flag_never_the_text():
    assert run_tool(Script("Error: Traceback, failed"), call()).is_error is False
    assert run_tool(Script(ToolResult("all fine", is_error=True)), call()).is_error is True


def test_long_results_keep_head_and_tail_and_say_so():
    text = run_tool(Script("a" * 1_000_000 + "b" * 1_000_000), call()).text
    assert len(text) < 10_100
    assert text.startswith("aaa")
    assert text.endswith("bbb")
    assert "1990000 of 2000000 characters left out" in text
    tool = Script("abcdefgh")
    tool.max_result_chars = 5
    assert run_tool(tool, call()).text == "abc\n[... 3 of 8 characters left out ...]\ngh"
    assert cut("abc", 3) == "abc"


def test_an_unknown_kind_of_fault_is_refused():
    with pytest.raises(ValueError, match="got 'weather'"):
        ToolResult("", fault="weather")


# --- failures ---


@pytest.mark.parametrize(
    "error, words",
    [
        (KeyError(), "KeyError (no message)"),
        (KeyError("word"), "KeyError: word"),
        (OSError("disk"), "OSError: disk"),
        (FileNotFoundError(2, "No such file or directory", "/root/secret/x.py"), "No such file or directory"),
        (TimeoutError(), "TimeoutError (no message)"),
        (StopIteration(), "StopIteration"),
        (ValueError("bad line"), "ValueError: bad line"),
    ],
)
def test_exceptions_of_a_tool_become_error_texts(error, words):
    for result in (run_tool(Script(error), call()), asyncio.run(arun_tool(Script(error), call()))):
        assert result.is_error
        assert words in result.text
        assert "secret" not in result.text
        assert "Traceback" not in result.text


@pytest.mark.parametrize(
    "message, shown",
    [
        ("cannot open /home/me/run/data.json now", "cannot open data.json now"),
        ("in '/opt/my data/a b.txt'", "in 'a b.txt'"),
        ("see file:///root/x/y.py:3", "see y.py:3"),
        ("GET https://serp.example/search?api_key=k3y&q=1 failed", "GET https://serp.example/search?... failed"),
        ("3/4 of a/b", "3/4 of a/b"),
        ("PermissionError:/etc/ssl/key.pem", "PermissionError:key.pem"),
    ],
)
def test_error_texts_hold_no_host_path_and_no_query(message, shown):
    assert describe_error(ValueError(message)) == f"ValueError: {shown}"


def test_an_interrupt_of_the_user_goes_through():
    with pytest.raises(KeyboardInterrupt):
        run_tool(Script(KeyboardInterrupt()), call())


@pytest.mark.parametrize("error", [KeyboardInterrupt("child"), SystemExit(3)])
def test_an_interrupt_in_a_worker_thread_is_the_tools_own(error):
    result = asyncio.run(arun_tool(Script(error), call()))
    assert result.is_error
    assert type(error).__name__ in result.text
    results = []
    thread = threading.Thread(target=lambda: results.append(run_tool(Script(error), call())))
    thread.start()
    thread.join()
    assert results[0].is_error


@pytest.mark.parametrize("outcome", [Fault("server", "gone"), ToolResult("gone", fault="server")])
def test_faults_are_raised_however_they_are_told(outcome):
    with pytest.raises(Fault, match="server: gone"):
        run_tool(Script(outcome), call())
    with pytest.raises(Fault, match="server: gone"):
        asyncio.run(arun_tool(Script(outcome), call()))


def test_an_execute_that_returns_an_awaitable_is_an_error_not_a_repr():
    class Mixed(Tool):
        async def execute(self, call: Any) -> str:
            return "x"

    result = run_tool(Mixed(), call())
    assert result.is_error
    assert "aexecute()" in result.text


def test_a_sync_override_gets_its_own_async_twin():
    class Parent(Tool):
        def execute(self, call: Any) -> str:
            return "parent"

        async def aexecute(self, call: Any) -> str:
            return "parent, awaited"

    class Child(Parent):
        def execute(self, call: Any) -> str:
            return "child"

    assert asyncio.run(arun_tool(Parent(), call())).text == "parent, awaited"
    assert asyncio.run(arun_tool(Child(), call())).text == "child"


# --- copies and states ---


def test_spawn_makes_a_fresh_tool_from_the_recorded_arguments(calculator):
    tool = type(calculator)(precision=2)
    tool.memory.append(1)
    fresh = tool.spawn()
    assert (fresh.precision, fresh.memory) == (2, [])
    assert tool.spawn(precision=3).precision == 3
    with pytest.raises(TypeError, match="cannot change precision"):
        tool.spawn(same_state=True, precision=3)


def test_spawn_same_state_is_independent(calculator):
    calculator.memory.append(1)
    copy = calculator.spawn(same_state=True)
    copy.memory.append(2)
    assert (calculator.memory, copy.memory) == ([1], [1, 2])


class Counter(Tool):
    """Has an attribute that leads back to itself."""

    def __init__(self) -> None:
        self.count = 0
        self.functions = {"add": self.add}

    def add(self) -> int:
        self.count += 1
        return self.count


def test_attributes_that_lead_back_to_the_tool_lead_to_the_copy():
    tool = Counter()
    tool.functions["add"]()
    state = pickle.loads(pickle.dumps(tool.get_state()))
    restored = Counter()
    restored.set_state(state)
    for twin in (tool, tool.spawn(same_state=True), restored):
        assert (twin.functions["add"](), twin.count) == (2, 2)


def test_state_can_be_restored_twice_and_pickled(calculator):
    calculator.memory.append(1)
    state = pickle.loads(pickle.dumps(calculator.get_state()))
    for _ in range(2):
        calculator.memory.append(2)
        calculator.scratch = "new"
        calculator.set_state(state)
        assert calculator.memory == [1]
        assert not hasattr(calculator, "scratch")
    with pytest.raises(StateError, match="cannot take the state"):
        Script().set_state(state)


def test_what_is_shared_is_neither_copied_nor_in_the_state():
    class Indexed(Tool):
        shared = ("index",)

        def __init__(self, index: Any) -> None:
            self.index = index

    tool = Indexed({"big": "index"})
    assert tool.spawn(same_state=True).index is tool.index
    assert tool.spawn().index is tool.index
    assert "index" not in tool.get_state()["attributes"]


# --- routing ---


def test_two_tools_with_one_function_name_are_refused(calculator):
    with pytest.raises(ValueError, match="both have a function named 'add'"):
        Router([calculator, type(calculator)()])


def test_calls_come_in_the_order_of_their_spans_with_unique_ids(calculator, shout):
    add = '<tool_call>{"name": "add", "arguments": {"a": 3}}</tool_call>'
    action = f"<shout>x</shout>{add} then <shout>y</shout>{add}"
    found = Router([calculator, shout]).calls(action)
    assert [routed.call.name for routed in found] == ["shout", "add", "shout", "add"]
    assert [routed.call.id for routed in found if routed.native] == ["call_0", "call_1"]
    assert len({routed.call.id for routed in found}) == 4
    assert [action[slice(*routed.call.span)] for routed in found][1] == add


def test_overlapping_calls_are_run_once(calculator, shout):
    inside = '<tool_call>{"name": "add", "arguments": {"a": 3, "unit": "<shout>x</shout>"}}</tool_call>'
    assert [r.call.name for r in Router([calculator, shout]).calls(inside)] == ["add"]
    outside = '<shout>use <tool_call>{"name": "add", "arguments": {"a": 3}}</tool_call></shout>'
    assert [r.call.name for r in Router([calculator, shout]).calls(outside)] == ["shout"]
    assert [r.index for r in Router([shout, type(shout)()]).calls("<shout>x</shout>")] == [0]


def test_a_tool_call_that_is_never_closed_yields_to_what_follows(calculator, shout):
    router = Router([calculator, shout])
    assert [r.call.name for r in router.calls("I use <tool_call> tags. <shout>x</shout>")] == ["shout"]
    (cut_off,) = router.calls('<shout>x</shout <tool_call>{"name": "add", "argu')
    assert "closing" in cut_off.call.error


def test_nothing_inside_the_reasoning_is_a_call(calculator, shout):
    think = '<think><shout>x</shout><tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call></think>'
    assert Router([calculator, shout]).calls(think + "done") == []


def test_a_parser_that_raises_is_an_error_call():
    class Broken(Tool):
        def parse(self, action: str, *, answer_format: str | None = None) -> Any:
            raise IndexError("no tag")

    (routed,) = Router([Broken()]).calls("text")
    assert routed.call.error == "Broken could not read the text: IndexError: no tag"


@given(
    st.lists(st.sampled_from(["<shout>", "</shout>", "<tool_call>", "</tool_call>", "{}", "<think>", "</think>", "x"]))
)
def test_calls_never_overlap_and_stay_in_order(parts):
    class Loud(Tool):
        def parse(self, action: str, *, answer_format: str | None = None) -> Any:
            from gem.parsing import tagged

            return self.calls_from(tagged(action, "shout"), "text")

    spans = [routed.call.span for routed in Router([Loud()]).calls("".join(parts))]
    assert spans == sorted(spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
