"""Check a tool against contract T, clause by clause."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from gem.errors import ContractError, Fault, GemError
from gem.parsing import ToolCall, render_tool_calls
from gem.testing.hostile import check_linear, growing_texts, hostile_texts, seconds
from gem.testing.report import Report, shown
from gem.tools.arguments import function_of
from gem.tools.base import Tool
from gem.tools.execution import run_tool
from gem.tools.routing import Router

__all__ = ["check_tool"]

T = TypeVar("T")
_HOSTILE_STRINGS = ("", "\x00", "\ud800", "%s {0}", "' OR 1=1 --", "x" * 5_000)


def check_tool(
    target: str | Tool | Callable[[], Tool],
    *,
    calls: Sequence[str] = (),
    largest_text: int = 1_000_000,
    **options: Any,
) -> Report:
    """Check a tool against every clause of contract T that code can check.

    Args:
        target: A registered name, a tool (which is spawned, never touched), or something that makes one.
        calls: Texts as a model writes them, each with one call that succeeds; more can be checked with them.
        largest_text: The length, in characters, of the longest hostile text that is parsed.
        options: What else `gem.make_tool` gets, for a name.

    Returns:
        What was checked, and what was skipped and why.

    Raises:
        ContractError: A clause is broken; the text names it and shows the input.
        GemError: There is nothing to check: the name is unknown, or a package is missing.
        TypeError: `target` is none of the three.
    """
    make, name = _maker(target, options)
    report = Report(name)
    tool = make()
    if not isinstance(tool, Tool):
        raise TypeError(f"check_tool takes a name, a tool or what makes one; {name} made {tool!r}.")
    _check_description(report, tool)
    _check_parsing(report, tool, largest_text)
    _check_misuse(report, tool)
    for text in calls:
        _check_call(report, make(), text)
    if not calls:
        report.skip("T2", "no calls were given that succeed")
    _check_life(report, make, calls)
    return report


def _maker(target: Any, options: dict[str, Any]) -> tuple[Callable[[], Tool], str]:
    if isinstance(target, str):
        from gem.factory import make_tool  # plugins are loaded only where a name is looked up

        return lambda: make_tool(target, **options), target
    if options:
        raise TypeError(
            f"check_tool passes {', '.join(options)} on to gem.make_tool, and only with a name; got {target!r}."
        )
    if isinstance(target, Tool):
        return lambda: target.spawn(same_state=False), repr(target)
    if not callable(target):
        raise TypeError(f"check_tool takes a name, a tool or what makes one; got {target!r}.")
    return target, getattr(target, "__name__", repr(target))


def _check_description(report: Report, tool: Tool) -> None:
    """Check name, instructions and schemas."""
    name: Any = tool.name
    if not isinstance(name, str) or not name or tool.tool_type != name:
        report.fail("T1", f"name is a text and tool_type the same; got {name!r} and {tool.tool_type!r}.")
    instruction: Any = tool.instruction_string()
    if not isinstance(instruction, str):
        report.fail("T1", f"instruction_string() returns text; got {shown(instruction)}.")
    for schema in tool.schemas:
        function = function_of(schema)
        parameters = function.get("parameters", {})
        if not isinstance(function.get("name"), str) or not isinstance(parameters, dict):
            report.fail("T1", f"a schema is OpenAI function JSON with name and parameters; got {shown(schema)}.")
        if not set(parameters.get("required", ())) <= set(parameters.get("properties", {})):
            report.fail("T1", f"what a schema requires is among its properties; got {shown(schema)}.")
    if tool.schemas and tool.schema != tool.schemas[0]:
        report.fail("T1", f"schema is the first of schemas; got {shown(tool.schema)}.")
    try:
        Router([tool])
    except ValueError as error:
        report.fail("T1", str(error))


def _check_parsing(report: Report, tool: Tool, largest: int) -> None:
    """Check that `parse` takes any text, in linear time, and leaves alone what is not its own."""

    def parse(text: str, answer_format: str | None = None) -> list[ToolCall]:
        try:
            found: list[Any] = tool.parse(text, answer_format=answer_format)
        except Exception as error:
            message = f"{report.name}: parse({shown(text)}) raised {error!r}; any text is valid."
            raise ContractError("T1", message) from error
        for call in found:
            start, end = call.span if isinstance(call, ToolCall) else (-1, -1)
            if not 0 <= start <= end <= len(text):
                report.fail("T1", f"parse({shown(text)}) returns ToolCalls with spans in the text; got {shown(call)}.")
        return found

    for text in ("", "There is no call here.", '<tool_call>{"name": "x", "arguments": {}}</tool_call>'):
        if found := parse(text):
            report.fail("T1", f"parse({text!r}) finds none of the tool's own tags and fences; got {shown(found)}.")
    for text in hostile_texts(None, tool.instruction_string()):
        parse(text)
    check_linear(report, "T1", "parse", lambda text: seconds(lambda: parse(text)), growing_texts(None, "x"), largest)
    code = "```python\nprint(1)\n```"
    if found := parse(code, "fenced"):
        report.fail("T2", f"fenced code is the answer where the answer format is 'fenced'; parse found {shown(found)}.")
    report.passed("T1")


def _check_misuse(report: Report, tool: Tool) -> None:
    """Check that bad arguments become error texts."""
    _check_unparsed(report, tool)
    for schema in tool.schemas:
        function = function_of(schema)
        for arguments in _bad_arguments(function):
            call = ToolCall("call_0", function["name"], arguments, (0, 0))
            try:
                result = run_tool(tool, tool.prepare(call))
            except Fault as fault:
                report.skip("T4", f"its infrastructure failed: {fault}")
                return
            _check_result(report, result, arguments)
    report.passed("T4")


def _check_unparsed(report: Report, tool: Tool) -> None:
    answer: Any = tool.execute_action("There is no call here.")
    if not (isinstance(answer, tuple) and len(answer) == 4 and answer[0] is False and answer[2] == ""):
        message = 'execute_action without a call returns (False, True, "", "")'
        report.fail("T1", f"{message}; got {shown(answer)}.")


def _bad_arguments(function: Any) -> Iterator[dict[str, Any]]:
    properties = function.get("parameters", {}).get("properties", {})
    yield {}
    yield {"no such parameter": 1}
    for value in (None, 7, [1], {"a": 1}, True, -1, 10**30):
        yield dict.fromkeys(properties, value)
    for text in _HOSTILE_STRINGS:
        yield {name: text if schema.get("type") == "string" else 1 for name, schema in properties.items()}


def _check_result(report: Report, result: Any, arguments: dict[str, Any]) -> None:
    if type(result.is_error) is not bool or not isinstance(result.text, str) or not result.text:
        report.fail("T4", f"a result has a text and a flag; for {shown(arguments)} it is {shown(result)}.")
    here = {str(Path.cwd()), str(Path.home()), sys.prefix} - {os.sep}
    leaked = next((path for path in here if path in result.text), None)
    if leaked:
        message = f"results hold no host paths; for {shown(arguments)} the text has {leaked!r}"
        report.fail("T4", f"{message}: {shown(result.text)}.")


def _check_call(report: Report, tool: Tool, text: str) -> None:
    """Check a call that its author says succeeds."""
    routed = Router([tool]).calls(text)
    if len(routed) != 1 or routed[0].index is None or routed[0].call.error:
        report.fail("T2", f"{shown(text)} holds one well-formed call; found {shown([item.call for item in routed])}.")
    if hidden := Router([tool]).calls(f"<think>{text}</think>"):
        report.fail("T2", f"nothing inside the reasoning is a call; of {shown(text)} found {shown(hidden)}.")
    call = routed[0].call
    result = run_tool(tool, call)
    if result.is_error:
        report.fail("T4", f"{shown(text)} succeeds; it answered {shown(result.text)}.")
    _check_result(report, result, call.arguments)
    if tool.schemas and not routed[0].native:
        block = render_tool_calls([call])
        again = Router([tool]).calls(block)
        if len(again) != 1 or again[0].call.error:
            report.fail("T2", f"every call can come in a <tool_call> block too; {shown(block)} was refused.")
    report.passed("T2")


def _check_life(report: Report, make: Callable[[], Tool], calls: Sequence[str]) -> None:
    """Check resets, copies, states and closing."""
    tool = make()
    _try(report, "reset()", tool.reset)
    for text in calls[:1]:
        tool.execute_action(text)
    copy = _try(report, "spawn(same_state=True)", lambda: tool.spawn(same_state=True))
    fresh = _try(report, "spawn(same_state=False)", lambda: tool.spawn(same_state=False))
    if copy is tool or fresh is tool or type(fresh) is not type(tool):
        report.fail("T1", f"spawn gives another tool of its kind; got {copy!r} and {fresh!r}.")
    state = _try(report, "pickling get_state()", lambda: pickle.loads(pickle.dumps(tool.get_state())))
    _try(report, "set_state of a pickled state", lambda: fresh.set_state(state))
    for text in calls:
        answers = {item.execute_action(text) for item in (tool, copy, fresh)}
        if len(answers) != 1:
            report.fail("T1", f"copies and restored tools answer {shown(text)} alike; got {shown(answers)}.")
    for item in (tool, copy, fresh, tool):
        _try(report, "close(), which may be called any number of times,", item.close)


def _try(report: Report, what: str, call: Callable[[], T]) -> T:
    try:
        return call()
    except Exception as error:
        if isinstance(error, GemError) and not isinstance(error, TypeError):
            raise
        raise ContractError("T1", f"{report.name}: {what} works for every tool; it raised {error!r}.") from error
