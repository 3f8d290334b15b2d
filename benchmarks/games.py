"""What it costs to begin a game whose boards take thought: Sokoban-hard."""

from __future__ import annotations

import sys
from typing import Any

from timing import Figure, answer, at_least, at_most, cpu_seconds

import gem

GAME = "game:Sokoban-v0-hard"


def measure(resets: int) -> dict[str, Any]:
    """Return CPU milliseconds of a reset: the mean, and the worst."""
    env = gem.make(GAME)
    env.reset(seed=10_000)
    spent = [cpu_seconds(lambda: env.reset(seed=seed)) * 1000 for seed in range(resets)]  # noqa: B023
    return {"mean_ms": sum(spent) / len(spent), "worst_ms": max(spent), "resets": resets}


def figures(new: dict[str, Any], old: dict[str, Any]) -> list[Figure]:
    """Judge."""
    name, mean = GAME.partition(":")[2], old.get("mean_ms")
    ratio = mean / new["mean_ms"] if mean is not None else None
    return [
        at_least(f"{name} reset, mean of {new['resets']}", new["mean_ms"], "ms CPU", ratio, 300, mean),
        at_most(f"{name} reset, worst of {new['resets']}", new["worst_ms"], "ms CPU", 100, old.get("worst_ms")),
    ]


if __name__ == "__main__":
    answer(measure(int(sys.argv[1])))
