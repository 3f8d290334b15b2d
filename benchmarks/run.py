"""Measure this package, beside the old one where its Python is given, and say which goals are reached.

    python benchmarks/run.py [--old PYTHON] [--only AREA ...] [--out PATH]

`--old` names a Python that has gem-llm 0.1.0, jinja2 and pandas, and this one needs jinja2 too. Each area is a file:
what it measures runs in a process of its own, under either Python, and its `figures` holds the goals.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from timing import Figure, measured_in_turn
from word_lists import write_word_lists


class Area(NamedTuple):
    """How a script is run: what it is given, under the old package (not at all where None), and in how many rounds."""

    new: Sequence[str] = ()
    old: Sequence[str] | None = ()
    rounds: int = 1


AREAS = {
    "importing": Area(),
    "vectors": Area(),
    "chat": Area(),
    "parsing": Area(),
    "games": Area(rounds=5),
    "boards": Area(["new", "ROUND"], ["old", "ROUND"], rounds=2),
    "tails": Area(old=None),
}


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", metavar="PYTHON", help="a Python with gem-llm 0.1.0, jinja2 and pandas")
    parser.add_argument(
        "--only", metavar="AREA", action="append", choices=list(AREAS), help=f"one of {', '.join(AREAS)}"
    )
    parser.add_argument(
        "--out", metavar="PATH", type=Path, default=Path("build/bench.json"), help="where the figures go"
    )
    arguments = parser.parse_args()

    results: dict[str, list[Figure]] = {}
    print(f"{'':46} {'new':>10} {'beside':>10}  {'unit':<8} {'ratio':>8}  goal")
    with tempfile.TemporaryDirectory() as folder:
        if arguments.old:
            write_word_lists(Path(folder))
            os.environ["NLTK_DATA"] = folder  # for the processes that measure
        for area in arguments.only or AREAS:
            for_new, for_old, rounds = AREAS[area]
            pythons = [sys.executable, None if for_old is None else arguments.old]
            new, old = measured_in_turn(pythons, area, [for_new, for_old or ()], rounds)
            results[area] = importlib.import_module(area).figures(new, old)
            print(area)
            for figure in results[area]:
                print(row(figure), flush=True)

    report = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "beside": "gem-llm 0.1.0" if arguments.old else None,
        "figures": {area: [asdict(figure) for figure in figures] for area, figures in results.items()},
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    missed = [figure.what for figures in results.values() for figure in figures if figure.ok is False]
    print(f"\nFigures are in {arguments.out}. {'All goals reached.' if not missed else 'MISSED: ' + '; '.join(missed)}")
    return 1 if missed else 0


def row(figure: Figure) -> str:
    """Return a figure as a line of the table."""
    old = "" if figure.old is None else f"{figure.old:,.4g}"
    ratio = "" if figure.ratio is None else f"{figure.ratio:,.2f}x"
    verdict = {True: "ok", False: "MISSED", None: "not measured" if figure.goal else ""}[figure.ok]
    goal = f"{figure.goal}: {verdict}" if figure.goal else ""
    return f"  {figure.what:<44} {figure.value:>10,.4g} {old:>10}  {figure.unit:<8} {ratio:>8}  {goal}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
