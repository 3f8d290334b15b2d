"""What it costs to start: fresh processes that import the package, make a game, list what there is."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from timing import Figure, answer, at_least, quotient

GAME = "game:GuessTheNumber-v0-hard"
PROGRAMS = {
    "nothing": ["-c", "pass"],
    "import": ["-c", "import gem"],
    "make": ["-c", f"import gem; gem.make({GAME!r}).reset()"],
    "envs": ["-m", "gem", "envs"],
}
HEAVY = ("numpy", "transformers", "datasets", "torch", "sympy", "pluggy", "nltk", "reasoning_gym")
_COUNT = f"import gem, sys; print(len(sys.modules), *(m for m in {HEAVY!r} if m in sys.modules))"


def measure(runs: int = 9) -> dict[str, Any]:
    """Return CPU milliseconds (medians over fresh processes, warm), and what `import gem` loads."""
    measured: dict[str, Any] = {}
    for name, arguments in PROGRAMS.items():
        if _cpu(arguments) is not None:  # the first run fills the caches; the old package has no listing
            measured[name] = statistics.median(_cpu(arguments) or 0.0 for _ in range(runs)) * 1000
    count, *heavy = subprocess.check_output([sys.executable, "-c", _COUNT], text=True, cwd="/").split()
    return {**measured, "modules": int(count), "heavy": heavy}


def _cpu(arguments: list[str]) -> float | None:
    """Return the CPU seconds of one process, or None where it fails."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([sys.executable, *arguments], stdout=output, stderr=output, cwd="/")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return None if status else usage.ru_utime + usage.ru_stime


def figures(new: dict[str, Any], old: dict[str, Any]) -> list[Figure]:
    """Judge."""
    old_import = old.get("import")
    heavy = f" ({', '.join(new['heavy'])})" if new["heavy"] else ""
    return [
        Figure("python -c pass", new["nothing"], "ms CPU", old.get("nothing")),
        at_least("import gem", new["import"], "ms CPU", quotient(old_import, new["import"]), 12, old_import),
        at_least("make + reset", new["make"], "ms CPU", quotient(old.get("make"), new["make"]), 6, old.get("make")),
        at_least("gem envs / import", new["envs"], "ms CPU", quotient(old_import, new["envs"]), 3, old_import),
        Figure("modules after import gem", new["modules"], "modules", old.get("modules")),
        Figure(
            f"heavy ones among them{heavy}", len(new["heavy"]), "modules", _count(old), None, "none", not new["heavy"]
        ),
    ]


def _count(old: dict[str, Any]) -> float | None:
    return len(old["heavy"]) if old else None


if __name__ == "__main__":
    answer(measure())
