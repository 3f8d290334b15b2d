"""What a hostile reply costs: tags that are never closed, by the hundred thousand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Figure, answer, at_most, cpu_seconds

COUNT = 200_000
OLD_COUNT = 5_000  # the old patterns take the square of it: 200,000 never end
UNITS = {
    "answer": "<answer>",
    "boxed": "\\boxed{",
    "fenced": "```python\n",
    "tool_call": "<tool_call>",
    "search": "<search>",
}


def parsers() -> tuple[dict[str, Callable[[str], object]], int]:
    """Return what reads each tag, and how many tags it can be asked to read."""
    try:
        from gem import parsing
    except ImportError:
        from gem.utils.parsing import extract_code_from_model, extract_last_boxed_answer, extract_last_tagged_answer

        old = {
            "answer": extract_last_tagged_answer,
            "boxed": extract_last_boxed_answer,
            "fenced": extract_code_from_model,
        }
        return old, OLD_COUNT
    return {
        "answer": parsing.answer,
        "boxed": parsing.boxed,
        "fenced": parsing.fenced,
        "tool_call": parsing.tool_calls,
        "search": lambda text: parsing.tagged(text, "search"),
    }, COUNT


def measure() -> dict[str, Any]:
    """Return milliseconds by tag; the least of several, since the goal is absolute and other programs only add."""
    functions, count = parsers()
    measured: dict[str, Any] = {}
    for name, function in functions.items():
        text = UNITS[name] * count
        measured[name] = min(cpu_seconds(lambda: function(text)) for _ in range(7)) * 1000  # noqa: B023
    return measured


def figures(new: dict[str, Any], old: dict[str, Any]) -> list[Figure]:
    """Judge."""
    lines = [at_most(f"{COUNT:,} x {UNITS[name]!r}", new[name], "ms CPU", 20) for name in UNITS]
    lines += [Figure(f"  (the old one, {OLD_COUNT:,} x {UNITS[name]!r})", old[name], "ms CPU") for name in old]
    return lines


if __name__ == "__main__":
    answer(measure())
