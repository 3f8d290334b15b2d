"""How the benchmarks measure, and how they say what came out.

Machines are noisy, so nothing here is judged by an absolute figure where a ratio will do: both packages are measured in
the same run, and what computes on one thread is measured in CPU time, which other programs change less.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes:
        what: What was measured.
        value: The new package's figure.
        unit: Of the figure, and of the old one's.
        old: The old package's figure, or what else it is compared with; None where there is nothing.
        ratio: How many times better the new one is; None where that is not the question.
        goal: What is asked for, in words; empty where the figure is only shown.
        ok: Whether it is reached; None where there is no goal or what it needs was not measured.
    """

    what: str
    value: float
    unit: str
    old: float | None = None
    ratio: float | None = None
    goal: str = ""
    ok: bool | None = None


def at_least(what: str, value: float, unit: str, ratio: float | None, goal: float, old: float | None = None) -> Figure:
    """Return a figure whose ratio has to reach `goal`."""
    return Figure(what, value, unit, old, ratio, f"at least {goal:g}x", None if ratio is None else ratio >= goal)


def at_most(what: str, value: float, unit: str, goal: float, old: float | None = None) -> Figure:
    """Return a figure that has to stay below `goal`."""
    ratio = old / value if old is not None and value else None
    return Figure(what, value, unit, old, ratio, f"under {goal:g} {unit}", value < goal)


def quotient(top: float | None, bottom: float | None) -> float | None:
    """Divide, where both are known."""
    return top / bottom if top is not None and bottom else None


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of this process that a call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def wall_seconds(call: Callable[[], object]) -> float:
    """Return the wall time of a call; for what waits."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median_of(measure: Callable[[], float], times: int = 5) -> float:
    """Return the median of several measurements, the collector of garbage at rest."""
    values = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(times):
            values.append(measure())
    finally:
        gc.enable()
    return statistics.median(values)


def side_by_side(
    first: Callable[[], float], second: Callable[[], float], rounds: int = 41
) -> tuple[float, float, float]:
    """Measure two things in turn, so that whatever disturbs the machine disturbs both.

    Returns:
        The medians of both, and the median of first over second.
    """
    pairs = [(first(), second()) for _ in range(rounds)]
    medians = statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)
    return (*medians, statistics.median(a / b for a, b in pairs))


def measured_by(python: str, area: str, arguments: Iterable[str] = ()) -> dict[str, Any]:
    """Run an area's script under a Python and return what it measured there.

    Raises:
        RuntimeError: The script failed.
    """
    command = [python, str(HERE / f"{area}.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.rpartition("\n###")[2])
    return result


def measured_in_turn(
    pythons: Sequence[str | None], area: str, arguments: Sequence[Sequence[str]], rounds: int
) -> list[dict[str, Any]]:
    """Run what an area's script measures under several Pythons, again and again by turns.

    Args:
        pythons: The interpreters; None stands for one that is not there, and for it an empty dictionary comes back.
        area: The script.
        arguments: For each interpreter, what the script is given, where "ROUND" becomes the number of the round.
        rounds: How often each is run.

    Returns:
        What was measured by each; the lists in it hold those of all rounds, and all else is of the last.
    """
    results: list[dict[str, Any]] = [{} for _ in pythons]
    for turn in range(rounds):
        for python, given, result in zip(pythons, arguments, results):  # noqa: B905
            if python is not None:
                replaced = [str(turn) if argument == "ROUND" else argument for argument in given]
                for name, values in measured_by(python, area, replaced).items():
                    known = result.get(name)
                    result[name] = known + values if turn and isinstance(known, list) else values
    return results


def answer(measured: dict[str, Any]) -> None:
    """Print what was measured, for `measured_by`; the packages may have printed before."""
    print("\n###" + json.dumps(measured))
