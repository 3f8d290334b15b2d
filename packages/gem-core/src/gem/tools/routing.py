"""Which calls stand in a model's text, in what order, and which tool takes each (contract T1, T2)."""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gem.parsing import ToolCall, tool_calls
from gem.tools.arguments import function_of
from gem.tools.result import describe_error

if TYPE_CHECKING:
    from gem.tools.base import Tool

__all__ = ["Routed", "Router"]


@dataclasses.dataclass(frozen=True, slots=True)
class Routed:
    """A call and who takes it.

    Attributes:
        call: The call; its `error` says why it cannot be run.
        index: Which tool takes it, as an index into the router's tools; None where no tool does.
        native: Whether it came in a `<tool_call>` block.
    """

    call: ToolCall
    index: int | None
    native: bool


class Router:
    """Find the calls for a set of tools.

    `<tool_call>` blocks are parsed once and go by function name; tags and fences are each tool's own.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Read the tools' schemas.

        Args:
            tools: The tools, in the order in which they may claim a text that two of them can read.

        Raises:
            ValueError: Two tools have a function of the same name, or a schema has no name.
        """
        self._tools = list(tools)
        self._functions: dict[str, int] = {}
        for index, tool in enumerate(self._tools):
            for schema in tool.schemas:
                name = function_of(schema).get("name")
                if not isinstance(name, str) or not name:
                    raise ValueError(f"{tool!r} has a schema without a function name: {schema!r}. Add its 'name'.")
                if name in self._functions:
                    first = self._tools[self._functions[name]]
                    raise ValueError(
                        f"{first!r} and {tool!r} both have a function named {name!r}, so that a call of it could mean "
                        "either. Rename one, or leave one tool out."
                    )
                self._functions[name] = index

    def calls(self, action: str, answer_format: str | None = None, *, limit: int | None = None) -> list[Routed]:
        """Return the calls in an action, in the order of their spans; overlapping ones count once.

        Of two calls that overlap, the one that begins first is taken, since the other stands inside it: a tag in the
        arguments of a call, a block quoted in code. A `<tool_call>` that is never closed yields to whatever follows it.

        Args:
            action: The model's whole text.
            answer_format: The environment's answer format.
            limit: How many calls to prepare; None prepares all.

        Returns:
            The calls. The first `limit` are prepared by their tools and have ids that are unique in the action.
        """
        firm: list[Routed] = []
        loose: list[Routed] = []
        for call in tool_calls(action):
            routed = Routed(call, self._functions.get(call.name), native=True)
            closed = call.error is None or action.endswith("</tool_call>", 0, call.span[1])
            (firm if closed else loose).append(routed)
        for index, tool in enumerate(self._tools):
            firm += [Routed(call, index, native=False) for call in _parse(tool, action, answer_format)]
        chosen = _disjoint(firm, loose)
        first = chosen[:limit]
        taken = {routed.call.id for routed in first if routed.native}
        return [self._prepared(routed, taken) for routed in first] + chosen[len(first) :]

    def _prepared(self, routed: Routed, taken: set[str]) -> Routed:
        call = routed.call
        if not routed.native:
            identity, number = call.id, 0
            while identity in taken:
                number += 1
                identity = f"{call.id}_{number}"
            taken.add(identity)
            call = dataclasses.replace(call, id=identity)
        if routed.index is not None:
            tool = self._tools[routed.index]
            try:
                call = tool.prepare(call)
            except Exception as error:  # a schema that is none, or the tool's own code
                text = f"{tool.name} could not read the arguments: {describe_error(error)}"
                call = dataclasses.replace(call, arguments={}, error=text)
        elif call.error is None:
            call = dataclasses.replace(call, error=self._unknown(call.name))
        return dataclasses.replace(routed, call=call)

    def _unknown(self, name: str) -> str:
        known = ", ".join(self._functions)
        if known:
            return f"There is no function named {name[:100]!r}. Those that exist: {known}."
        return f"There is no function named {name[:100]!r}, and none can be called in a <tool_call> block here."


def _parse(tool: Tool, action: str, answer_format: str | None) -> list[ToolCall]:
    try:
        return list(tool.parse(action, answer_format=answer_format))
    except Exception as error:  # the tool's own code: the model reads it, and the episode goes on
        end = len(action)
        text = f"{tool.name} could not read the text: {describe_error(error)}"
        return [ToolCall(f"{tool.name}_0", tool.name, {}, (end, end), text)]


def _disjoint(firm: list[Routed], loose: list[Routed]) -> list[Routed]:
    """Choose calls that do not overlap, in order."""
    chosen: list[Routed] = []
    end = 0
    # The sort is stable: of two tools that read the same text, the first takes it.
    for routed in sorted(firm, key=lambda routed: (routed.call.span[0], -routed.call.span[1])):
        if routed.call.span[0] >= end:
            chosen.append(routed)
            end = routed.call.span[1]
    starts = [routed.call.span[0] for routed in chosen]
    kept = []
    for routed in loose:
        start, end = routed.call.span
        following = bisect_left(starts, start)
        inside = following > 0 and chosen[following - 1].call.span[1] > start
        if not inside and (following == len(starts) or starts[following] >= end):
            kept.append(routed)
    return sorted(chosen + kept, key=lambda routed: routed.call.span)
