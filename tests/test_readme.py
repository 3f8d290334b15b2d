"""The README and the docs say what works: their Python runs, their commands exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
PAGES += sorted(ROOT.glob("packages/*/README.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
KNOWN_LANGUAGES = {"python", "bash", "text", "json", "toml"}
page_of_each = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(page: Path, language: str) -> list[str]:
    return [body for tag, body in FENCE.findall(page.read_text(encoding="utf-8")) if tag == language]


def commands(page: Path) -> list[list[str]]:
    """Return the single commands of a page's bash blocks, in words."""
    lines = [line for block in blocks(page, "bash") for line in block.splitlines()]
    return [shlex.split(part, comments=True) for line in lines for part in line.split("&&") if part.strip()]


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )


@page_of_each
def test_every_block_names_its_language(page: Path) -> None:
    tags = {tag for tag, _ in FENCE.findall(page.read_text(encoding="utf-8"))}
    assert tags <= KNOWN_LANGUAGES


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: str(page.relative_to(ROOT))
)
def test_python_of_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text("\n\n".join(blocks(page, "python")), encoding="utf-8")
    result = run([sys.executable, str(script)], tmp_path)
    assert result.returncode == 0, f"{page.name}:\n{result.stdout}"


@page_of_each
def test_commands_of_a_page_exist(page: Path, tmp_path: Path) -> None:
    # Read from the file, so that the test needs no nox.
    sessions = set(re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE))
    for command in commands(page):
        if command[0] == "nox":
            assert command[1] == "-s", command
            assert set(command[2:]) <= sessions, command
        elif command[:3] == ["python", "-m", "gem"]:
            result = run([sys.executable, *command[1:]], tmp_path)
            assert result.returncode == 0, f"{shlex.join(command)}:\n{result.stdout}"
        elif command[:2] == ["pip", "install"]:
            names = [re.sub(r"\[.*", "", word) for word in command[2:] if not word.startswith("-")]
            ours = [word if word.startswith("packages/") else f"packages/{word}" for word in names if word != "nox"]
            assert all((ROOT / path / "pyproject.toml").is_file() for path in ours), command


@page_of_each
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_help_names_only_what_the_repository_has() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:templates|examples|docs)/[\w./-]+)`", readme):
        assert (ROOT / path).exists(), f"README.md names {path}"
