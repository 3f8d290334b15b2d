"""What a tool is: something that an agent calls inside an episode, by a tag, a fence or a `<tool_call>` block.

`gem.tools.tool_env_wrapper` answers the calls; `docs/contract.md` has the numbered clauses (T).
"""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from gem.concurrency import lone_twins, run_in_thread
from gem.copying import class_name, constructor_arguments, copy_attributes, leave_out, put_back, replace
from gem.errors import StateError
from gem.parsing import Match, ToolCall, render_tool_calls
from gem.tools.arguments import count_characters, example_arguments, function_of, prepare_arguments
from gem.tools.execution import run_outside_main, run_tool
from gem.tools.result import ToolResult
from gem.tools.routing import Router

__all__ = ["Tool", "ToolCall", "ToolResult"]

SelfTool = TypeVar("SelfTool", bound="Tool")

_TWINS = (("reset", "areset"), ("execute", "aexecute"))
_NOT_STATE = frozenset({"_arguments", "_owned"})
_claims = threading.Lock()


class _NameAlias:
    """`tool_type`, the old word for `name`: the same on classes and on instances, whichever of the two was set."""

    def __get__(self, tool: Tool | None, cls: type[Tool]) -> str:
        return cls.name if tool is None else tool.name

    def __set__(self, tool: Tool, name: str) -> None:
        tool.name = name


class Tool:
    """A tool that lives for the episodes of one environment.

    An author writes the function's schema and `execute`, and nothing else is needed::

        class Calculator(gem.Tool):
            name = "calculator"
            schemas = [{"type": "function", "function": {
                "name": "add",
                "description": "Add two numbers.",
                "parameters": {
                    "type": "object",
                    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                    "required": ["a", "b"],
                },
            }}]

            def execute(self, call):
                return call.arguments["a"] + call.arguments["b"]

    A tool with tags or fences of its own overrides `parse` and `instruction_string` too. An old subclass that overrides
    `execute_action` alone works as it is.

    One tool belongs to one environment: given to a second `ToolEnvWrapper`, it is spawned. Constructor arguments are
    recorded for that, as those of an environment are.

    Attributes:
        name: What the tool is called in `info["tool_type"]`; `tool_type` is the same. The class's name if not given.
        schemas: The functions it takes in `<tool_call>` blocks, as OpenAI function JSON.
        shared: Names of attributes that all copies share (an index, a client): neither copied nor in the state.
        max_result_chars: Longest text of a result; a longer one keeps head and tail and says how much is missing.
        max_argument_chars: Longest arguments of a call; more is answered with an error that repeats none of it.
    """

    name: str = "tool"
    tool_type = _NameAlias()
    schemas: Sequence[Mapping[str, Any]] = ()
    shared: tuple[str, ...] = ()
    max_result_chars: int = 10_000
    max_argument_chars: int = 100_000

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]
    _owned: bool

    def __new__(cls: type[SelfTool], *args: Any, **kwargs: Any) -> SelfTool:
        """Record the constructor's arguments, which `spawn` uses."""
        self = super().__new__(cls)
        self._arguments = (args, kwargs)
        self._owned = False
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep `name` and `tool_type` the same, and give a sync method overridden alone an async twin over itself."""
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if isinstance(own.get("tool_type"), str):
            cls.name = own.get("name", own["tool_type"])
            del cls.tool_type
        elif cls.name == Tool.name:
            cls.name = cls.__name__
        for _, twin in lone_twins(cls, _TWINS):
            setattr(cls, twin, vars(Tool)[twin])

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The first of `schemas`, or None."""
        return self.schemas[0] if self.schemas else None

    def instruction_string(self) -> str:
        """Return what the model must know to use the tool; the default describes `schemas`."""
        if not self.schemas:
            return ""
        described = [function_of(schema) for schema in self.schemas]
        functions = "\n".join(json.dumps(function, ensure_ascii=False) for function in described)
        example = ToolCall("", str(described[0].get("name")), example_arguments(described[0]), (0, 0))
        return (
            f"You can call these functions:\n{functions}\n"
            "To call one, write its name and its arguments as JSON in a block of its own, like this:\n"
            f"{render_tool_calls([example])}"
        )

    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        """Find the calls written in the tool's own tags and fences; `<tool_call>` blocks are not its business.

        Args:
            action: The model's whole text. Nothing inside the reasoning is a call; what `gem.parsing` finds is outside
                it.
            answer_format: The environment's answer format; a tool that reads fenced code leaves it alone where the
                answer is "fenced".

        Returns:
            The calls with their spans in characters; see `calls_from`.
        """
        return []

    def calls_from(self, matches: Iterable[Match], argument: str) -> list[ToolCall]:
        """Make a call of each match that `gem.parsing` found.

        Args:
            matches: Tagged texts or fenced blocks.
            argument: The name of the argument that gets the content, as written.

        Returns:
            Calls of the tool's first function (of `name`, where it has no schema).
        """
        function = function_of(self.schema).get("name", self.name) if self.schema else self.name
        return [
            ToolCall(f"{self.name}_{i}", function, {argument: match.content}, match.span)
            for i, match in enumerate(matches)
        ]

    def execute(self, call: ToolCall) -> Any:
        """Answer one call.

        Args:
            call: A well-formed call, its arguments already held against the schema.

        Returns:
            A `ToolResult`, or any value that `gem.tools.result.as_text` reads as the text of a success.

        Raises:
            Fault: The infrastructure failed; the result says nothing about the agent.
            Exception: Anything else becomes an error text for the model, and the episode goes on.
        """
        raise NotImplementedError(f"{type(self).__name__} has no execute(call): override it to say what a call does.")

    async def aexecute(self, call: ToolCall) -> Any:
        """Do what `execute` does without blocking the event loop: in a thread, unless a class knows better."""
        return await run_in_thread(run_outside_main, self.execute, call)

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        """Answer all calls of this tool in a model's text, for callers without a wrapper.

        Args:
            action: The model's whole text.

        Returns:
            `(is_valid, has_error, observation, parsed_action)`: whether there was a call, whether any failed, the
            results joined by line breaks, and the text up to the end of the last call. `(False, True, "", "")` without
            a call.

        Raises:
            Fault: The infrastructure failed.
        """
        calls = [routed.call for routed in Router([self]).calls(action) if routed.index is not None]
        results = [run_tool(self, call) for call in calls]
        if not calls:
            return False, True, "", ""
        observation = "\n".join(result.text for result in results)
        return True, any(result.is_error for result in results), observation, action[: calls[-1].span[1]]

    def prepare(self, call: ToolCall) -> ToolCall:
        """Hold a call against the limits and the schema of its function.

        Returns:
            The call with its arguments repaired, or with `error` set and no arguments.
        """
        if call.error is not None:
            return call
        size = count_characters(call.arguments)
        if size > self.max_argument_chars:
            error = (
                f"{call.name} was not run: its arguments are {size} characters long, and the limit is "
                f"{self.max_argument_chars}. Send less at once."
            )
            return dataclasses.replace(call, arguments={}, error=error)
        for schema in self.schemas:
            function = function_of(schema)
            if function.get("name") == call.name:
                arguments, problem = prepare_arguments(call.arguments, function)
                return dataclasses.replace(call, arguments=arguments, error=problem)
        return call

    def reset(self) -> None:
        """Begin an episode: forget what belongs to the last one."""

    async def areset(self) -> None:
        """Do what `reset` does without blocking the event loop: in a thread, unless a class knows better."""
        if type(self).reset is not Tool.reset:
            await run_in_thread(self.reset)

    def spawn(self: SelfTool, same_state: bool = False, **changes: Any) -> SelfTool:
        """Make another tool like this one, which belongs to nobody yet.

        Args:
            same_state: True copies it as it stands; False makes a fresh one from the recorded constructor arguments.
            changes: Constructor arguments to replace, with `same_state=False` only.

        Raises:
            StateError: An attribute cannot be copied.
            TypeError: `changes` go with `same_state=True`, or name an argument that the constructor lacks.
        """
        if not same_state:
            args, kwargs = constructor_arguments(type(self), self._arguments, changes, shared=self.shared)
            return type(self)(*args, **kwargs)
        if changes:
            raise TypeError(
                f"spawn(same_state=True) copies {self!r} as it stands and cannot change {', '.join(sorted(changes))}; "
                "use same_state=False for a fresh tool with other arguments."
            )
        clone = type(self).__new__(type(self))
        clone._arguments = self._arguments
        vars(clone).update({name: vars(self)[name] for name in self.shared if name in vars(self)})
        vars(clone).update(copy_attributes(self, vars(self), without=_NOT_STATE, memo=replace([self], [clone])))
        return clone

    def get_state(self) -> dict[str, Any]:
        """Return where the tool stands in its episode as an opaque picklable dict.

        Raises:
            StateError: An attribute cannot be copied.
        """
        attributes = copy_attributes(self, vars(self), without=_NOT_STATE, memo=leave_out([self]))
        return {"class": class_name(self), "attributes": attributes}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to the point that `get_state` of a tool of this class returned; the state can be used again.

        Raises:
            StateError: The state comes from another class.
        """
        if state.get("class") != class_name(self):
            raise StateError(f"{self!r} cannot take the state of {state.get('class')}: it needs that of its own class.")
        attributes = copy_attributes(self, state["attributes"], without=_NOT_STATE, memo=put_back([self]))
        for name in set(vars(self)) - set(attributes) - _NOT_STATE - set(self.shared):
            delattr(self, name)
        vars(self).update(attributes)

    def close(self) -> None:
        """Release what the tool holds; a second call does nothing."""

    def __deepcopy__(self: SelfTool, memo: dict[int, Any]) -> SelfTool:
        """Copy the tool as it knows how to copy itself; the copy of one that is owned belongs to the owner's copy."""
        clone = self.spawn(same_state=True)
        clone._owned = self._owned
        return clone

    def __repr__(self) -> str:
        """Name class and tool."""
        return f"<{type(self).__name__} {self.name}>"

    @property
    def _is_legacy(self) -> bool:
        """Whether the class overrides `execute_action` alone."""
        cls = type(self)
        overrides_action = cls.execute_action is not Tool.execute_action
        return overrides_action and cls.execute is Tool.execute and cls.aexecute is Tool.aexecute

    def _claim(self: SelfTool) -> SelfTool:
        """Return this tool if it belongs to nobody yet, else a fresh one; either is owned from now on."""
        with _claims:  # vector envs build their environments in threads
            if not self._owned:
                self._owned = True
                return self
        tool = self.spawn(same_state=False)
        tool._owned = True
        return tool
