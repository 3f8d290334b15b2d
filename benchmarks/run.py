"""Measure this package, beside the old one where its Python is given, and say which goals are reached.

    python benchmarks/run.py [--old PYTHON] [--only AREA ...] [--out PATH]

`--old` names a Python that has gem-llm 0.1.0 and jinja2, and this one needs jinja2 too. Each area is a file: what it
measures runs in a process of its own, under either Python, and its `figures` holds the goals.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from timing import Figure, measured_by

# New resets by the hundred; the old ones take seconds each.
AREAS: dict[str, tuple[list[str], list[str]]] = {
    "importing": ([], []),
    "vectors": ([], []),
    "chat": ([], []),
    "parsing": ([], []),
    "games": (["300"], ["6"]),
}


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", metavar="PYTHON", help="a Python with gem-llm 0.1.0 and jinja2")
    parser.add_argument(
        "--only", metavar="AREA", action="append", choices=list(AREAS), help=f"one of {', '.join(AREAS)}"
    )
    parser.add_argument(
        "--out", metavar="PATH", type=Path, default=Path("build/bench.json"), help="where the figures go"
    )
    arguments = parser.parse_args()

    results: dict[str, list[Figure]] = {}
    print(f"{'':44} {'new':>10} {'beside':>10}  {'unit':<8} {'ratio':>8}  goal")
    for area in arguments.only or AREAS:
        for_new, for_old = AREAS[area]
        new = measured_by(sys.executable, area, for_new)
        old = measured_by(arguments.old, area, for_old) if arguments.old else {}
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
    return f"  {figure.what:<42} {figure.value:>10,.4g} {old:>10}  {figure.unit:<8} {ratio:>8}  {goal}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
