"""What it costs to construct the games and to begin them, where words are read or boards take thought."""

from __future__ import annotations

import statistics
import sys
from typing import Any

from timing import Figure, answer, at_least, cpu_seconds
from word_lists import make

# Per round: resets of this package and of the old one, which takes seconds for one; and how many times faster.
RESETS: dict[str, tuple[int, int, float | None]] = {
    "Sokoban-v0-hard": (150, 3, 500),
    "Sudoku-v0-hard": (150, 15, 30),
    "WordSearch-v0-hard": (1000, 20, 200),
    "WordSearch-v0-easy": (1000, 300, None),
}
CONSTRUCTIONS = {"WordSearch-v0-hard": 20, "Sudoku-v0-hard": 20, "Wordle-v0-hard": 2, "Hangman-v0-hard": 2}
SLOW = ("WordSearch-v0-hard", "Sudoku-v0-hard")  # to construct in the old package


def measure(which: str, turn: int) -> dict[str, Any]:
    """Return CPU milliseconds, each in a list.

    Args:
        which: "new" or "old".
        turn: The number of the round; each has seeds of its own.
    """
    measured: dict[str, Any] = {}
    for name, (for_new, for_old, _) in RESETS.items():
        env = make(f"game:{name}")
        if which == "new":  # what is read or built once; the old one has done that, and resets in its constructor
            env.reset(seed=10_000)
        count = for_new if which == "new" else for_old
        seeds = range(turn * count, (turn + 1) * count)
        measured[name] = [cpu_seconds(lambda: env.reset(seed=seed)) * 1000 for seed in seeds]  # noqa: B023
    for name in CONSTRUCTIONS:
        make(f"game:{name}")  # what is read once
        count = 10 if which == "old" and name in SLOW else 300
        measured[f"make {name}"] = [cpu_seconds(lambda: make(f"game:{name}")) * 1000 for _ in range(count)]  # noqa: B023
    return measured


def figures(new: dict[str, Any], old: dict[str, Any]) -> list[Figure]:
    """Judge."""
    goals = {name: goal for name, (_, _, goal) in RESETS.items()}
    goals |= {f"make {name}": goal for name, goal in CONSTRUCTIONS.items()}
    lines = []
    for name, goal in goals.items():
        mine, theirs = statistics.mean(new[name]), statistics.mean(old[name]) if old else None
        ratio = theirs / mine if theirs else None
        what = name if name.startswith("make ") else f"{name} reset"
        what += f", mean of {len(new[name])}"
        if goal is None:
            lines.append(Figure(what, mine, "ms CPU", theirs, ratio))
        else:
            lines.append(at_least(what, mine, "ms CPU", ratio, goal, theirs))
    return lines


if __name__ == "__main__":
    answer(measure(sys.argv[1], int(sys.argv[2])))
