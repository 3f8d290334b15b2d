"""`python -m gem`: clean output, helpful errors, and nothing heavy on the way."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import gem
from gem.__main__ import main
from gem.core import Env
from gem.parsing import boxed, extract
from gem.play import as_action, play
from gem.plugins import catalog, ensure_loaded

HEAVY = (
    "numpy",
    "pluggy",
    "asyncio",
    "dataclasses",
    "inspect",
    "importlib.metadata",
    "transformers",
    "datasets",
    "torch",
)


class Guess(Env):
    """Solved by 7; three tries."""

    answer_format = "boxed"

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        self.left = 3
        return "Which number? Answer in \\boxed{}.", info

    def step(self, action: Any) -> Any:
        self.left -= 1
        solved = boxed(action) == "7"
        out = not solved and self.left == 0
        info: dict[str, Any] = {"success": solved} if solved or out else {}
        if out:
            info["truncated_by"] = "max_turns"
        return "Right." if solved else "Wrong.", float(solved), solved, out, info


class Lazy(Env):
    """Breaks clause E1a: it never seeds."""

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        return "", {}

    def step(self, action: Any) -> Any:
        return "", 0, True, False, {}


@pytest.fixture(autouse=True)
def _own_ids() -> Iterator[None]:
    ensure_loaded()
    kept = dict(catalog.envs._specs)
    gem.register("t:Guess-v0", Guess, description="Guess 7.", tags=("tiny",), reward_range=(0, 1))
    gem.register("t:Lazy-v0", Lazy)
    yield
    catalog.envs._specs, catalog.envs._index = kept, None


Captured = pytest.CaptureFixture[str]


def python(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, **more)


# --- the command line ------------------------------------------------------------------------------------------------


def test_json_stands_alone_on_the_standard_output(capsys: Captured) -> None:
    assert main(["envs", "--json", "t:*"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)[0] == {
        "id": "t:Guess-v0",
        "description": "Guess 7.",
        "tags": ["tiny"],
        "reward_range": [0.0, 1.0],
        "requires": [],
        "origin": "user",
    }
    assert err == "2 environments matching 't:*'\n"
    assert main(["tools", "--json", "concat*"]) == 0
    names = [entry["name"] for entry in json.loads(capsys.readouterr().out)]
    assert names == ["concat", "concat_chat", "concat_chat_on_reset", "concat_with_action"]
    assert main(["plugins", "--json"]) == 0
    plugins = json.loads(capsys.readouterr().out)["plugins"]
    assert (plugins[0]["name"], plugins[0]["registered"]) == ("core", {"wrapper": 6})


def test_listings_take_a_part_of_a_name(capsys: Captured) -> None:
    assert main(["envs", "guess-v0"]) == 0
    assert "t:Guess-v0  Guess 7." in " ".join(capsys.readouterr().out.split(" ")).replace("   ", "  ")
    assert main(["envs", "no-such-thing"]) == 0
    assert capsys.readouterr() == ("", "no environments matching 'no-such-thing'\n")


@pytest.mark.parametrize("arguments", [["-v", "envs", "t:G*"], ["envs", "-v", "t:G*"], ["envs", "t:G*", "--verbose"]])
def test_verbose_may_stand_before_and_after_the_command(arguments: list[str], capsys: Captured) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out == "t:Guess-v0  user  tiny  Guess 7.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage: python -m gem"),
        (["-v"], "usage: python -m gem"),
        (["--json"], "usage: python -m gem"),
        (["--foo"], "there is no option --foo."),
        (["--verbos"], "there is no option --verbos. Did you mean --verbose or --version?"),
        (["env"], "there is no command 'env'. Did you mean envs?"),
        (["envs", "--jsno"], "there is no option --jsno. Did you mean --json?"),
        (["envs", "--js"], "there is no option --js. Did you mean --json?"),
        (["--json", "envs"], "--json belongs behind the command: python -m gem envs --json."),
        (["envs", "a", "b"], "there is one argument too many: 'b'."),
        (["check"], "the following arguments are required: ID"),
        (["check", "t:A", "--seeds", "few"], "invalid int value: 'few'"),
        (["--foo", "envs"], "there is no option --foo."),
    ],
)
def test_a_command_line_that_makes_no_sense_is_code_2_and_a_hint(
    arguments: list[str], message: str, capsys: Captured
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    out, err = capsys.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert message in err


def test_help_and_version_are_no_errors(capsys: Captured) -> None:
    for flag in ("--help", "--version"):
        with pytest.raises(SystemExit) as caught:
            main([flag])
        assert caught.value.code == 0
    assert f"gem-core {gem.__version__}" in capsys.readouterr().out


def test_an_error_is_one_line_and_with_verbose_a_traceback(capsys: Captured) -> None:
    assert main(["play", "t:Gues-v0"]) == 1
    assert capsys.readouterr() == ("", "error: There is no environment 't:Gues-v0'. Did you mean t:Guess-v0?\n")
    assert main(["-v", "play", "t:Gues-v0"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_output_that_a_terminal_cannot_show_is_escaped_and_a_closed_pipe_is_quiet() -> None:
    code = (
        "import sys, gem, gem.__main__\n"
        "class A(gem.Env):\n    def step(self, action): ...\n"
        "[gem.register(f't:A{i}', A, description='Zw\\u00f6lf Boxk\\u00e4mpfer') for i in range(3000)]\n"
        "sys.exit(gem.__main__.main(['envs', 't:A*']))"
    )
    done = python("-c", code, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert (done.returncode, "Boxk" in done.stdout) == (0, True), done.stderr
    piped = subprocess.run(
        f'{sys.executable} -c "{code.replace(chr(34), chr(39))}" | head -1', shell=True, capture_output=True, text=True
    )
    assert "Traceback" not in piped.stderr


def test_streams_that_are_closed_are_nobodys_and_no_error() -> None:
    for command in ("envs t:* >&-", "envs t:* 2>&-", "play game:GuessTheNumber-v0 <&-"):
        done = subprocess.run(f"{sys.executable} -m gem {command}", shell=True, capture_output=True, text=True)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


# --- check -----------------------------------------------------------------------------------------------------------


def test_check_says_which_clause_failed_and_ends_with_code_1(capsys: Captured) -> None:
    assert main(["check", "t:Guess-v0", "t:L*", "t:Nope-v0", "--seeds", "2"]) == 1
    out, err = capsys.readouterr()
    first, second, third = out.splitlines()
    assert first.split() == ["ok", "t:Guess-v0"]
    assert second.startswith("FAILED  t:Lazy-v0  [E")
    assert third.startswith("FAILED  t:Nope-v0  UnknownId: There is no environment 't:Nope-v0'.")
    assert err.splitlines()[-1] == "3 checked, 2 failed."


def test_check_of_nothing_is_a_failure(capsys: Captured) -> None:
    assert main(["check", "nothing:*"]) == 1
    assert "No environment matches 'nothing:*'" in capsys.readouterr().err


# --- play ------------------------------------------------------------------------------------------------------------


def played(*lines: str, seed: int | None = None) -> str:
    out, answers = io.StringIO(), iter(lines)
    play(gem.make("t:Guess-v0"), out, seed=seed, read=lambda prompt: next(answers))
    return out.getvalue()


def test_a_plain_line_is_wrapped_in_the_format_of_the_env() -> None:
    shown = played("", "3", r"it is \boxed{7}", seed=5)
    assert "t:Guess-v0, seed 5." in shown
    assert "(An empty line is no action.)" in shown
    assert r"(sent \boxed{3}, reward 0)" in shown
    assert "(reward 1)" in shown
    assert shown.endswith("Right.\nSolved! 2 steps, return 1.\n")
    assert played("1", "2", "3").endswith("Over: max_turns. 3 steps, return 0.\n")


def test_rewards_that_cancel_are_shown_as_nothing() -> None:
    class Swing(gem.Env):
        rewards: ClassVar[list[float]] = [0.3, -0.1, -0.2]

        def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
            _, info = super().reset(seed=seed, **options)
            self.left = list(self.rewards)
            return "Swing.", info

        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            return "", self.left.pop(0), not self.left, False, {}

    out = io.StringIO()
    play(Swing(), out, read=lambda prompt: "x")
    assert out.getvalue().endswith("Not solved. 3 steps, return 0.\n")


@pytest.mark.parametrize(
    ("answer_format", "line", "content"),
    [("boxed", "7", "7"), ("answer", " Paris ", "Paris"), ("fenced", "print(1)", "print(1)"), (None, "up", "up")],
)
def test_what_a_person_types_is_what_the_env_reads(answer_format: str | None, line: str, content: str) -> None:
    action = as_action(line, answer_format)
    assert (extract(action, answer_format) or "").strip() == content
    assert as_action(action, answer_format) == action


def test_play_reads_lines_and_ends_with_the_input(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\n"))
    assert main(["play", "t:Guess-v0", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "seed 1." in out
    assert out.endswith("Left.\n")


def test_ctrl_c_ends_play_with_130_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "t_slow.py").write_text(
        "import gem\n"
        "class A(gem.Env):\n"
        "    def reset(self, seed=None, **options):\n"
        "        _, info = super().reset(seed=seed, **options)\n"
        "        return 'Which?', info\n"
        "    def step(self, action): ...\n"
    )
    code = (
        # What runs in the background of a shell script ignores Ctrl-C, and so do its children.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import sys, gem, gem.__main__; gem.register('t:A', 't_slow:A'); sys.exit(gem.__main__.main(['play', 't:A']))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert child.stdout is not None
    shown = iter(child.stdout.readline, "")
    assert any("Which?" in line for line in shown), child.stderr
    time.sleep(0.3)  # it is reading now
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "\nStopped.\n")


# --- what it costs ---------------------------------------------------------------------------------------------------


def test_importing_gem_loads_almost_nothing() -> None:
    code = "import sys; before = set(sys.modules); import gem; print(*sorted(set(sys.modules) - before))"
    loaded = python("-c", code).stdout.split()
    assert "gem" in loaded
    assert len(loaded) < 25
    assert [name for name in loaded if name.startswith("gem.")] == []
    assert [name for name in HEAVY if name in loaded] == []


def test_a_listing_imports_no_environment_and_nothing_heavy() -> None:
    code = (
        "import socket, subprocess, sys, gem.__main__\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = subprocess.Popen = None\n"  # cut off (PLUG-07)
        "code = gem.__main__.main(['envs', '--json'])\n"
        "print(code, *sorted(sys.modules), file=sys.stderr)"
    )
    done = python("-c", code)
    json.loads(done.stdout)
    loaded = done.stderr.splitlines()[-1].split()
    assert loaded[0] == "0"
    heavy = ("numpy", "asyncio", "transformers", "datasets", "torch", "gem.core", "gem.testing", "gem.vector.base")
    assert [name for name in heavy if name in loaded] == []
    packages = ("gem_games", "gem_math", "gem_tools", "gem_search", "gem_rollout")
    assert {name for name in loaded if name.startswith(packages)} <= {
        f"{p}{end}" for p in packages for end in ("", ".plugin")
    }
