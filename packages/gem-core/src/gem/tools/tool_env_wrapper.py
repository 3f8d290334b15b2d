"""The wrapper that answers an agent's tool calls, so that they never reach the environment (contract T3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Literal, NoReturn, TypeVar

from gem.concurrency import run_in_thread
from gem.core import Env, StepResult, Wrapper
from gem.errors import Fault, ResetNeeded, StateError
from gem.parsing import ToolCall, without_reasoning
from gem.tools.base import Tool
from gem.tools.execution import arun_tool, execute_legacy, run_tool
from gem.tools.result import ToolResult, cut
from gem.tools.routing import Router
from gem.tools.turn import MAX_CALLS_PER_TURN, Slot, Turn, plan_turn

__all__ = ["ToolEnvWrapper"]

_MAX_PARSED_CHARS = 10_000  # of `info["parsed_action"]`, which is for information
_MAX_REFUSED_TURNS = 2
_COUNTERS = ("tool_use_counter", "tool_success_counter")

SelfWrapper = TypeVar("SelfWrapper", bound="ToolEnvWrapper")


class ToolEnvWrapper(Wrapper):
    """Let an agent use tools inside an environment.

    An action with a tool call is answered by the tools, and the environment does not see it; every other action goes
    to the environment. A call never ends the episode, whether it works, fails, is malformed or names an unknown
    function. All calls of an action are answered in the order in which they stand, and the observation is their
    results, a line break between two. Nested wrappers work too: each answers its own tools' calls and counts them.

    Every call answered counts as a use, a malformed one too. Calls past `max_tool_uses` are refused with a text; a
    second action in a row with a refused call ends the episode (`truncated_by="tool_limit"`). A tool that knows only
    the old `execute_action` is asked where no other call was found; past the limit it is not asked, so that its calls,
    which only it can recognise, reach the environment.

    The rewards of a turn are the sum over its calls. A call that ran gets `tool_reward`, and on top
    `tool_success_reward` or `tool_execute_error_reward`. One that could not run (malformed, unknown, wrong arguments)
    gets `tool_execute_error_reward` alone. A refused call and a fault get nothing.

    Each step's info has `use_tool`, `tool_type` (the first tool that took a call), `parsed_action` (the action up to
    the end of the last call; for information), `tool_results` (a list of `{"id", "name", "text", "is_error",
    "native"}`; `native`: it came in a `<tool_call>` block), `tool_use_counter` and `tool_success_counter`. A
    reset's info has the counters and those of the episode before, as `prev_ep_tool_use_counter` and
    `prev_ep_tool_success_counter`.

    Args:
        env: The environment to wrap.
        tools: The tools. One that belongs to another wrapper already is spawned; the list is not changed.
        tool_reward: For a call that ran.
        tool_success_reward: On top, where it succeeded.
        tool_execute_error_reward: On top, where it failed.
        max_tool_uses: Calls per episode; 0 runs none, None is no limit.
        on_fault: What a failure of the infrastructure does: "raise" lets the `Fault` out, and the episode is over;
            "tell" gives the model an error text.

    Raises:
        TypeError: `tools` holds something else, or a limit or a reward is no number.
        ValueError: Two tools have a function of one name, the limit is negative, a reward is not finite, or `on_fault`
            is neither.
    """

    # Tools know how to copy themselves: see spawn, get_state and set_state.
    shared: tuple[str, ...] = ("_router", "tools")

    def __init__(
        self,
        env: Env,
        tools: Sequence[Tool],
        tool_reward: float = 0.0,
        tool_success_reward: float = 0.0,
        tool_execute_error_reward: float = 0.0,
        max_tool_uses: int | None = 10,
        on_fault: Literal["raise", "tell"] = "raise",
    ) -> None:
        super().__init__(env)
        _check_tools(tools)
        if max_tool_uses is not None and (isinstance(max_tool_uses, bool) or not isinstance(max_tool_uses, int)):
            raise TypeError(f"max_tool_uses is an integer or None; got {max_tool_uses!r}.")
        if max_tool_uses is not None and max_tool_uses < 0:
            raise ValueError(f"max_tool_uses is 0 or larger, or None for no limit; got {max_tool_uses}.")
        if on_fault not in ("raise", "tell"):
            raise ValueError(f'on_fault is "raise" or "tell"; got {on_fault!r}.')
        self.tool_reward = _check_reward("tool_reward", tool_reward)
        self.tool_success_reward = _check_reward("tool_success_reward", tool_success_reward)
        self.tool_execute_error_reward = _check_reward("tool_execute_error_reward", tool_execute_error_reward)
        self.max_tool_uses = max_tool_uses
        self.on_fault = on_fault
        self._router = Router([*tools, *_inner_tools(env)])  # before any tool is claimed: it may refuse them
        self.tools = [tool._claim() for tool in tools]
        self._route()
        self._uses = 0
        self._successes = 0
        self._refused_turns = 0  # in a row
        self._begun = False
        self._ended = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep the tools out of what the core copies, whatever a subclass shares."""
        super().__init_subclass__(**kwargs)
        cls.shared = tuple(dict.fromkeys((*cls.shared, *ToolEnvWrapper.shared)))

    @property
    def tool_use_counter(self) -> int:
        """Calls answered in this episode, those of wrappers further in included."""
        return self._uses + int(getattr(self.env, "tool_use_counter", 0))

    @property
    def tool_success_counter(self) -> int:
        """Calls of this episode that succeeded, those of wrappers further in included."""
        return self._successes + int(getattr(self.env, "tool_success_counter", 0))

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode of the environment and of the tools, and tell the agent about them."""
        seed, options = self.before_reset(seed, options)
        observation, info = self.env.reset(seed=seed, **options)
        self._ended = True  # until the tools are ready
        for tool in self.tools:
            tool.reset()
        self._ended = False
        return self.after_reset(observation, info)

    async def areset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Do what `reset` does through the async twins."""
        seed, options = self.before_reset(seed, options)
        observation, info = await self.env.areset(seed=seed, **options)
        self._ended = True
        for tool in self.tools:
            await tool.areset()
        self._ended = False
        return self.after_reset(observation, info)

    def after_reset(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Put the tools' instructions into the observation and begin to count."""
        previous = {"prev_ep_tool_use_counter": self._uses, "prev_ep_tool_success_counter": self._successes}
        previous = {name: count + int(info.get(name, 0)) for name, count in previous.items()}
        self._uses = self._successes = self._refused_turns = 0
        self._begun = True
        suffix = info.get("suffix")
        info = {**info, "use_tool": False, **self._counters(), **previous}
        if self.max_tool_uses == 0:
            return observation, info
        instructions = "\n".join(filter(None, (tool.instruction_string().strip() for tool in self.tools)))
        return (self._instructed(observation, instructions, suffix) if instructions else observation), info

    def step(self, action: Any) -> StepResult:
        """Answer the calls in the action, or step the environment where there are none."""
        turn = self._begin_turn(action)
        for slot, tool in turn.runs:
            try:
                slot.result = run_tool(tool, slot.call)
            except Fault as fault:
                slot.result = self._told(fault)
        for tool in self._legacy_tools(turn):
            try:
                answer = execute_legacy(tool, without_reasoning(action))
            except Fault as fault:
                answer = self._told(fault), action
            if self._take_legacy(turn, tool, answer):
                break
        return self._end_turn(turn, None if turn.inner_action is None else self.env.step(turn.inner_action))

    async def astep(self, action: Any) -> StepResult:
        """Do what `step` does through the async twins."""
        turn = self._begin_turn(action)
        for slot, tool in turn.runs:
            try:
                slot.result = await arun_tool(tool, slot.call)
            except Fault as fault:
                slot.result = self._told(fault)
        for tool in self._legacy_tools(turn):
            try:
                answer = await run_in_thread(execute_legacy, tool, without_reasoning(action))
            except Fault as fault:
                answer = self._told(fault), action
            if self._take_legacy(turn, tool, answer):
                break
        return self._end_turn(turn, None if turn.inner_action is None else await self.env.astep(turn.inner_action))

    def spawn(self: SelfWrapper, same_state: bool = False, **changes: Any) -> SelfWrapper:
        """Make another environment like this one with tools of its own; see `Env.spawn`."""
        clone = super().spawn(same_state, **changes)
        if same_state:
            clone.tools = [tool.spawn(same_state=True)._claim() for tool in self.tools]
            clone._route()
        return clone

    def get_state(self) -> dict[str, Any]:
        """Return where the episode stands, the environment's and the tools' states included."""
        return {**super().get_state(), "tools": [tool.get_state() for tool in self.tools]}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the point that `get_state` returned, the environment and the tools too."""
        self._check_state(state)
        if len(state["tools"]) != len(self.tools):
            raise StateError(
                f"{self!r} has {len(self.tools)} tools and cannot take the state of {len(state['tools'])}."
            )
        super().set_state(state)
        for tool, tool_state in zip(self.tools, state["tools"], strict=True):
            tool.set_state(tool_state)

    def close(self) -> None:
        """Close the tools and the environment, all of them even if one fails."""
        with ExitStack() as stack:
            stack.callback(self.env.close)
            for tool in self.tools:
                stack.callback(tool.close)

    def _route(self) -> None:
        self._router = Router([*self.tools, *_inner_tools(self.env)])

    def _instructed(self, observation: Any, instructions: str, suffix: Any) -> Any:
        """Return the observation with the instructions at its end, but before the suffix (contract E2)."""
        if isinstance(observation, Mapping) and isinstance(observation.get("problem"), str):
            return {**observation, "problem": self._instructed(observation["problem"], instructions, None)}
        if not isinstance(observation, str):
            raise TypeError(
                f"{self.env!r} gave a first observation of type {type(observation).__name__}, which cannot take the "
                "tools' instructions: it must be a text, or a dict with a text under 'problem'."
            )
        if not isinstance(suffix, str) or not suffix or not observation.endswith(suffix):
            return f"{observation}\n{instructions}"
        head = observation[: -len(suffix)]
        return f"{head}{'' if not head or head.endswith(chr(10)) else chr(10)}{instructions}\n{suffix}"

    def _begin_turn(self, action: Any) -> Turn:
        """Find the calls and decide about each; the episode counts as over until the turn has come to its end."""
        if self._ended:
            self._refuse_step()
        turn = plan_turn(
            action,
            self._router,
            self.tools,
            answer_format=self.answer_format,
            left=math.inf if self.max_tool_uses is None else self.max_tool_uses - self._uses,
            refusal=self._refusal(),
        )
        # Whatever is raised from here on, the episode cannot go on; an action of the wrong type is refused unharmed.
        self._ended = bool(turn.own) or isinstance(action, self.action_type)
        return turn

    def _end_turn(self, turn: Turn, inner: StepResult | None) -> StepResult:
        """Count, reward and put together what the step returns."""
        observation, reward, terminated, truncated, info = inner or ("", 0.0, False, False, {})
        own = turn.own
        if own:
            counted = [slot for slot in own if not slot.refused]
            self._uses += len(counted)
            self._successes += sum(not slot.result.is_error for slot in counted if slot.result)
            if counted and self._uses == self.max_tool_uses:
                counted[-1].append(f"You have used {_calls(self._uses)}. Give your final answer without a tool.")
            if turn.dropped:
                own[-1].append(f"({turn.dropped} more calls were not read: one turn has {MAX_CALLS_PER_TURN} at most.)")
            reward += sum(self._reward(slot) for slot in counted)
            results = turn.results(info)
            texts = [result["text"] for result in results]
            if inner is not None and "tool_results" not in info:
                texts.append(str(observation))
            observation = "\n".join(texts)
            info = {
                **info,
                "use_tool": True,
                "tool_type": next((slot.tool.name for slot in own if slot.tool), info.get("tool_type")),
                "parsed_action": cut(turn.parsed_action or "", _MAX_PARSED_CHARS),
                "tool_results": results,
            }
        else:
            unused: dict[str, Any] = {"use_tool": False, "tool_type": None, "parsed_action": None, "tool_results": []}
            info = {**unused, **info}
        info |= self._counters()
        self._refused_turns = self._refused_turns + 1 if any(slot.refused for slot in own) else 0
        self._ended = terminated or truncated
        result = observation, float(reward), terminated, truncated, info
        if self._refused_turns >= _MAX_REFUSED_TURNS and not self._ended:
            return self.truncate(result, "tool_limit")
        return result

    def _legacy_tools(self, turn: Turn) -> list[Tool]:
        """List the old tools that are to be asked about an action in which no call was found."""
        exhausted = self.max_tool_uses is not None and self._uses >= self.max_tool_uses
        if turn.slots or exhausted or not isinstance(turn.action, str):
            return []
        return [tool for tool in self.tools if tool._is_legacy]

    def _take_legacy(self, turn: Turn, tool: Tool, answer: tuple[ToolResult, str] | None) -> bool:
        """Note an old tool's answer; False where the action held no call of it."""
        if answer is None:
            return False
        result, turn.parsed_action = answer
        call = ToolCall("call_0", tool.name, {}, (0, len(turn.action)))
        turn.slots.append(Slot(call, tool, native=False, result=result))
        turn.inner_action = None
        return True

    def _told(self, fault: Fault) -> ToolResult:
        """Return what the model reads about a fault, or let it out; its own message is for the operator."""
        if self.on_fault == "raise":
            self._ended = True
            raise fault
        text = f"Error: the tool cannot be used now ({fault.kind} failure). Go on without it, or try again later."
        return ToolResult(text, is_error=True, fault=fault.kind)

    def _reward(self, slot: Slot) -> float:
        if slot.result is None or slot.result.fault is not None:
            return 0.0
        if slot.call.error is not None:
            return self.tool_execute_error_reward
        return self.tool_reward + (self.tool_execute_error_reward if slot.result.is_error else self.tool_success_reward)

    def _refusal(self) -> str:
        limit = self.max_tool_uses or 0
        reason = f"you have used {_calls(limit)}" if limit else "no tool can be called here"
        ending = "The episode ends here." if self._refused_turns else "Another call ends the episode."
        return f"Error: the call was not run, since {reason}. Give your final answer without a tool. {ending}"

    def _counters(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in _COUNTERS}

    def _refuse_step(self) -> NoReturn:
        if self._begun:
            super()._refuse_step()
        raise ResetNeeded(f"{self!r}: step() came before reset(); call reset() to begin an episode.")


def _calls(limit: int) -> str:
    return "the one tool call that you have" if limit == 1 else f"all {limit} tool calls that you have"


def _inner_tools(env: Env) -> list[Tool]:
    """List the tools of the ToolEnvWrappers inside, the nearest first."""
    found: list[Tool] = []
    while isinstance(env, Wrapper):
        if isinstance(env, ToolEnvWrapper):
            found += env.tools
        env = env.env
    return found


def _check_tools(tools: Any) -> None:
    if isinstance(tools, (str, Tool)) or not isinstance(tools, Sequence):
        raise TypeError(f"tools is a list of tools; got {tools!r}. Write tools=[...].")
    for tool in tools:
        if not isinstance(tool, Tool):
            hint = " Make an instance of it." if isinstance(tool, type) else " Derive it from gem.Tool."
            raise TypeError(f"tools holds {tool!r}, which is no gem.Tool.{hint}")


def _check_reward(name: str, reward: Any) -> float:
    if isinstance(reward, bool) or not isinstance(reward, (int, float)):
        raise TypeError(f"{name} is a number; got {reward!r}.")
    if not math.isfinite(reward):
        raise ValueError(f"{name} is a finite number; got {reward!r}.")
    return float(reward)
