"""Two small tools, one called in `<tool_call>` blocks and one by a tag, and an environment to use them in."""

from __future__ import annotations

from typing import Any

import pytest

from gem.core import Env
from gem.parsing import boxed, tagged
from gem.tools.base import Tool, ToolResult


class Calculator(Tool):
    """Two functions with a schema each; `memory` is state, `calls` shows what was run."""

    name = "calculator"
    schemas = tuple(
        {
            "type": "function",
            "function": {
                "name": name,
                "description": f"{name} two numbers",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "number"},
                        "b": {"type": "number", "default": 1},
                        "unit": {"type": "string"},
                    },
                    "required": ["a"],
                },
            },
        }
        for name in ("add", "mul")
    )

    def __init__(self, precision: int = 6) -> None:
        self.precision = precision
        self.memory: list[float] = []

    def reset(self) -> None:
        self.memory = []

    def execute(self, call: Any) -> str:
        a, b = call.arguments["a"], call.arguments["b"]
        value = a + b if call.name == "add" else a * b
        self.memory.append(value)
        return f"{round(value, self.precision):g}{call.arguments.get('unit', '')}"


class Shout(Tool):
    """Answers `<shout>text</shout>`; an empty text is an error by its flag alone."""

    name = "shout"

    def instruction_string(self) -> str:
        return "Write <shout>text</shout> to hear it louder."

    def parse(self, action: str, *, answer_format: str | None = None) -> list[Any]:
        return self.calls_from(tagged(action, "shout"), "text")

    def execute(self, call: Any) -> ToolResult:
        text = call.arguments["text"]
        return ToolResult(text.upper() or "nothing to shout", is_error=not text)


class Quiz(Env):
    """Asks until it gets a box; `seen` is what reached it."""

    answer_format = "boxed"

    def __init__(self, suffix: str = "", max_turns: int = 1000) -> None:
        self.suffix = suffix
        self.max_turns = max_turns
        self.seen: list[str] = []

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        idx = options.pop("idx", None)
        _, info = super().reset(seed=seed, **options)
        self.seen = []
        self.number = self.rng.randint(1, 99)
        info = {**info, "idx": idx}
        if self.suffix:
            info["suffix"] = self.suffix
        return f"What is {self.number} plus 1?{self.suffix}", info

    def step(self, action: Any) -> Any:
        self.seen.append(action)
        answer = boxed(action)
        truncated = answer is None and len(self.seen) >= self.max_turns
        info: dict[str, Any] = {}
        if answer is not None:
            info["success"] = answer == str(self.number + 1)
        return "Well?", float(info.get("success", 0)), answer is not None, truncated, info


@pytest.fixture
def calculator() -> Calculator:
    return Calculator()


@pytest.fixture
def shout() -> Shout:
    return Shout()


@pytest.fixture
def quiz() -> Quiz:
    return Quiz()
