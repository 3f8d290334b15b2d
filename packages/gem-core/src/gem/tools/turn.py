"""One turn of an agent that calls tools: the calls in the action, who answers each, and what goes further in."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gem.parsing import ToolCall
from gem.tools.result import ToolResult

if TYPE_CHECKING:
    from gem.tools.base import Tool
    from gem.tools.routing import Router

__all__ = ["MAX_CALLS_PER_TURN", "Slot", "Turn", "plan_turn"]

MAX_CALLS_PER_TURN = 100
"""Calls of one action that are answered; how many more there were is said with the last result."""


@dataclasses.dataclass
class Slot:
    """One call of a turn and, later, its answer.

    Attributes:
        call: The call.
        tool: Who runs it; None where the wrapper answers, or one further in.
        native: Whether it came in a `<tool_call>` block.
        inner: Whether it belongs to a tool of a wrapper further in.
        refused: Whether it came past the limit.
        result: The answer, once there is one.
    """

    call: ToolCall
    tool: Tool | None
    native: bool
    inner: bool = False
    refused: bool = False
    result: ToolResult | None = None

    def append(self, notice: str) -> None:
        """Put a notice for the model under the result."""
        if self.result is not None:
            self.result = dataclasses.replace(self.result, text=f"{self.result.text}\n\n{notice}")


@dataclasses.dataclass
class Turn:
    """One action and its calls.

    Attributes:
        action: The whole action.
        slots: Its calls, in order.
        dropped: How many calls beyond `MAX_CALLS_PER_TURN` there were.
        inner_action: What the inner environment gets; None for nothing.
        parsed_action: The action up to the end of the last call; None where there is no call.
    """

    action: Any
    slots: list[Slot]
    dropped: int
    inner_action: Any
    parsed_action: str | None = None

    @property
    def own(self) -> list[Slot]:
        """The calls that this wrapper answers."""
        return [slot for slot in self.slots if not slot.inner]

    @property
    def runs(self) -> list[tuple[Slot, Tool]]:
        """The calls that are to be run, and the tools that run them."""
        return [(slot, slot.tool) for slot in self.own if slot.tool is not None and slot.result is None]

    def results(self, inner_info: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the results in the order of the calls, those of wrappers further in put in their places."""
        from_inner = iter(inner_info.get("tool_results", ()))
        results: list[dict[str, Any]] = []
        for slot in self.slots:
            answer = {"id": slot.call.id, "name": slot.call.name, "native": slot.native}
            if slot.result is not None:
                results.append({**answer, "text": slot.result.text, "is_error": slot.result.is_error})
            elif (given := next(from_inner, None)) is not None:
                results.append({**given, **answer})
        return results


def plan_turn(
    action: Any, router: Router, tools: Sequence[Tool], *, answer_format: str | None, left: float, refusal: str
) -> Turn:
    """Find the calls of an action and decide about each.

    Args:
        action: The action; what is not a text has no calls.
        router: Routes to `tools` and, after them, to those of wrappers further in.
        tools: The wrapper's own tools.
        answer_format: The environment's answer format.
        left: How many more calls may be run.
        refusal: The answer to each call past that.

    Returns:
        The turn, with the answers to the calls that no tool is asked about. Where it holds calls for wrappers further
        in beside the wrapper's own, `inner_action` is those calls alone.
    """
    routed = router.calls(action, answer_format, limit=MAX_CALLS_PER_TURN) if isinstance(action, str) else []
    slots = []
    for found in routed[:MAX_CALLS_PER_TURN]:
        if found.index is not None and found.index >= len(tools):
            slots.append(Slot(found.call, None, found.native, inner=True))
            continue
        slot = Slot(found.call, None if found.index is None else tools[found.index], found.native)
        if left <= 0:
            slot.refused, slot.result = True, ToolResult(refusal, is_error=True)
        elif slot.tool is None:
            slot.result = ToolResult(f"Error: {found.call.error}", is_error=True)
        left -= 1
        slots.append(slot)
    turn = Turn(action, slots, len(routed) - len(slots), inner_action=action)
    if turn.own:
        delegated = [action[slice(*slot.call.span)] for slot in slots if slot.inner]
        turn.inner_action = "\n".join(delegated) if delegated else None
        turn.parsed_action = action[: slots[-1].call.span[1]]
    return turn
