"""How a call is run: whatever a tool's own code does, the answer is a result or a `Fault` (contract T4)."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gem.errors import Fault
from gem.parsing import ToolCall
from gem.tools.result import ToolResult, as_result, as_text, cut, describe_error

if TYPE_CHECKING:
    from gem.tools.base import Tool

__all__ = ["arun_tool", "execute_legacy", "run_outside_main", "run_tool"]


def run_tool(tool: Tool, call: ToolCall) -> ToolResult:
    """Execute a prepared call, whatever the tool does.

    Args:
        tool: The tool.
        call: What `tool.prepare` returned.

    Returns:
        The result, its text cut to the tool's limit. A malformed call and an exception in the tool's code are results
        with `is_error`, whose text says what to repair.

    Raises:
        Fault: The tool raised or returned one.
    """
    if call.error is not None:
        return _malformed(tool, call)
    try:
        return _finished(tool, tool.execute(call))
    except (KeyboardInterrupt, SystemExit) as error:
        return _interrupted(tool, error)
    except BaseException as error:  # a cancelled task inside the tool, a panic of an extension: not only Exception
        return _failed(tool, error)


async def arun_tool(tool: Tool, call: ToolCall) -> ToolResult:
    """Do what `run_tool` does through the tool's async twin."""
    if call.error is not None:
        return _malformed(tool, call)
    try:
        return _finished(tool, await tool.aexecute(call))
    except Exception as error:
        return _failed(tool, error)


def execute_legacy(tool: Tool, action: str) -> tuple[ToolResult, str] | None:
    """Ask a tool that knows `execute_action` alone.

    Args:
        tool: The tool.
        action: The model's text, its reasoning cut out.

    Returns:
        The result and the parsed action, or None where the text has no call of this tool.

    Raises:
        Fault: The tool raised one.
    """
    try:
        is_valid, has_error, observation, parsed_action = tool.execute_action(action)
        if not is_valid:
            return None
        text = cut(as_text(observation), tool.max_result_chars)
        return ToolResult(text, bool(has_error)), str(parsed_action or "")
    except (KeyboardInterrupt, SystemExit) as error:
        return _interrupted(tool, error), action
    except BaseException as error:
        return _failed(tool, error), action


def run_outside_main(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a worker thread, where no interrupt is ours; raised into an event loop, one would stop it."""
    try:
        return function(*args)
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, StopIteration):
            raise
        raise RuntimeError(describe_error(error)) from error  # a future cannot hold it, or takes it for a cancellation


def _finished(tool: Tool, value: Any) -> ToolResult:
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError("execute() returned an awaitable; what waits belongs in aexecute()")
    result = as_result(value, tool.max_result_chars)
    if result.fault is not None:
        raise Fault(result.fault, result.text)
    return result


def _malformed(tool: Tool, call: ToolCall) -> ToolResult:
    return ToolResult(cut(f"Error: {call.error}", tool.max_result_chars), is_error=True)


def _failed(tool: Tool, error: BaseException) -> ToolResult:
    if isinstance(error, Fault):
        raise error
    text = f"Error: {tool.name} failed with {describe_error(error)}"
    return ToolResult(cut(text, tool.max_result_chars), is_error=True)


def _interrupted(tool: Tool, error: BaseException) -> ToolResult:
    """Answer for an interrupt that a child of the tool raised; in the main thread it may be the user's Ctrl-C."""
    if threading.current_thread() is threading.main_thread():
        raise error
    return _failed(tool, error)
