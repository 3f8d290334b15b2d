"""The checks of tools, plugins and sandboxes are checked: what is right passes, and what is wrong is caught."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import ContractError, Fault, UnknownId
from gem.parsing import ToolCall, tagged
from gem.sandbox import ExecResult, Sandbox, Session, check_memory, check_timeout
from gem.testing import check_plugin, check_sandbox, check_tool
from gem.tools.base import Tool, ToolResult

# --- tools ------------------------------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "shout",
        "description": "Return a text in capitals.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
}
CALLS = ["<shout>a</shout>", '<tool_call>{"name": "shout", "arguments": {"text": "a"}}</tool_call>']


class Shout(Tool):
    """What the checker should have nothing against."""

    name = "shout"
    schemas = (SCHEMA,)

    def __init__(self, mark: str = "!") -> None:
        self.mark = mark
        self.count = 0

    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        return self.calls_from(tagged(action, "shout"), "text")

    def execute(self, call: ToolCall) -> Any:
        self.count += 1
        return call.arguments["text"].upper() + self.mark


class Nameless(Shout):
    name = ""


class RequiresMore(Shout):
    schemas = ({"function": {"name": "shout", "parameters": {"properties": {}, "required": ["text"]}}},)


class TwoOfOneName(Shout):
    schemas = (SCHEMA, SCHEMA)


class ParseRaises(Shout):
    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        action.encode()
        return super().parse(action)


class ParseBacktracks(Shout):
    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        re.search(r"<search>(.*?)</search>", action, re.DOTALL)
        return super().parse(action)


class SpanOutside(Shout):
    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        return [ToolCall(c.id, c.name, c.arguments, (0, len(action) + 1)) for c in super().parse(action)]

    def instruction_string(self) -> str:
        return "<shout>words</shout>"


class TakesProse(Shout):
    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        return [ToolCall("0", "shout", {"text": action}, (0, len(action)))]


class TakesToolCalls(Shout):
    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        return self.calls_from(tagged(action, "tool_call"), "text")


class TakesTheAnswer(Shout):
    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        found = re.search(r"```python\n(.*?)\n```", action)
        return [ToolCall("0", "shout", {"text": found[1]}, found.span())] if found else super().parse(action)


class ReadsReasoning(Shout):
    def parse(self, action: str, *, answer_format: str | None = None) -> list[ToolCall]:
        return super().parse(action.replace("<think>", "").replace("</think>", ""))


class SaysWhereItIs(Shout):
    def execute(self, call: ToolCall) -> Any:
        return f"{call.arguments['text']} (from {Path.cwd()}/shout.py)"


class FailsAlways(Shout):
    def execute(self, call: ToolCall) -> Any:
        return ToolResult("no", is_error=True)


class CannotBeCopied(Shout):
    def reset(self) -> None:
        self.lines = (line for line in "abc")


class ForgetsTheMark(Shout):
    def spawn(self, same_state: bool = False, **changes: Any) -> Any:
        return super().spawn(same_state=True) if same_state else type(self)()

    def set_state(self, state: Mapping[str, Any]) -> None:
        del state


class ClosesOnce(Shout):
    def close(self) -> None:
        del self.mark


WRONG_TOOLS: list[tuple[str, Callable[[], Tool], str]] = [
    ("T1", Nameless, "name is a text"),
    ("T1", RequiresMore, "what a schema requires is among its properties"),
    ("T1", TwoOfOneName, "both have a function named 'shout'"),
    ("T1", ParseRaises, "any text is valid"),
    ("T1", ParseBacktracks, "the cost of parse is linear"),
    ("T1", SpanOutside, "spans in the text"),
    ("T1", TakesProse, "own tags and fences"),
    ("T1", TakesToolCalls, "own tags and fences"),
    ("T2", TakesTheAnswer, "fenced code is the answer"),
    ("T2", ReadsReasoning, "nothing inside the reasoning is a call"),
    ("T4", SaysWhereItIs, "results hold no host paths"),
    ("T4", FailsAlways, "succeeds; it answered 'no'"),
    ("T1", CannotBeCopied, r"spawn\(same_state=True\) works for every tool"),
    ("T1", lambda: ForgetsTheMark("?"), "copies and restored tools answer"),
    ("T1", ClosesOnce, r"close\(\), which may be called any number of times"),
]


@pytest.mark.parametrize("target", [Shout, Shout(), lambda: Shout("?")])
def test_a_right_tool_passes(target: Any) -> None:
    report = check_tool(target, calls=CALLS, largest_text=20_000)
    assert report.checked == ["T1", "T4", "T2"]
    assert report.skipped == {}


def test_a_tool_without_given_calls_passes_in_part() -> None:
    assert check_tool(Shout, largest_text=1_000).skipped == {"T2": "no calls were given that succeed"}


@pytest.mark.parametrize("clause, wrong, message", WRONG_TOOLS)
def test_a_wrong_tool_is_caught(clause: str, wrong: Callable[[], Tool], message: str) -> None:
    with pytest.raises(ContractError, match=message) as caught:
        check_tool(wrong, calls=CALLS, largest_text=200_000)
    assert caught.value.clause == clause


def test_a_call_that_is_none_is_the_authors_mistake() -> None:
    with pytest.raises(ContractError, match=r"\[T2\] Shout: 'a' holds one well-formed call; found \[\]"):
        check_tool(Shout, calls=["a"], largest_text=1_000)


def test_a_tool_whose_upstream_is_down_is_checked_as_far_as_it_goes() -> None:
    class Down(Shout):
        def execute(self, call: ToolCall) -> Any:
            raise Fault("server", "no answer from 127.0.0.1:1")

    assert check_tool(Down, largest_text=1_000).skipped["T4"].startswith("its infrastructure failed: server: no answer")


def test_what_is_no_tool_is_refused() -> None:
    for target in (7, list):
        with pytest.raises(TypeError, match="check_tool takes a name, a tool or what makes one"):
            check_tool(target)  # type: ignore[arg-type]
    with pytest.raises(UnknownId):
        check_tool("no_such_tool")


# --- plugins ----------------------------------------------------------------------------------------------------------

PLUGIN = """
from gem import hookimpl

gem_api = 1


@hookimpl
def gem_register_envs(register):
    register("checked:Env-v0", "checked_plugin_env:Env", description="An environment.", size=3)
"""


@pytest.fixture
def plugin_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def write(name: str, source: str = PLUGIN, **changes: str) -> str:
        for old, new in changes.items():
            pattern = {"extra": "gem_api", "hook": "gem_register_envs", "target": "checked_plugin_env:Env"}.get(
                old, old
            )
            assert pattern in source
            source = source.replace(pattern, new.replace("...", pattern), 1)
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        (tmp_path / "checked_plugin_env.py").write_text("class Env: pass", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return name

    return write


def test_a_right_plugin_passes(plugin_of: Callable[..., str]) -> None:
    name = plugin_of("right_plugin")
    assert check_plugin(name).checked == ["plugin"]
    assert check_plugin(sys.modules[name]).checked == ["plugin"]


@pytest.mark.parametrize(
    "name, changes, message",
    [
        ("imports", {"extra": "import checked_plugin_env\n..."}, "it imported checked_plugin_env"),
        ("heavy", {"extra": "import numpy\n..."}, "it imported numpy"),
        ("prints", {"extra": "print('hello')\n..."}, "importing it prints nothing; it printed 'hello"),
        ("breaks", {"extra": "1 / 0\n..."}, "can be imported; it failed with ZeroDivisionError"),
        ("other_api", {"extra": "gem_api = 99 #..."}, "PluginError: it is for plugin API 99"),
        ("misspelt", {"hook": "gem_register_env"}, "Did you mean gem_register_envs"),
        ("absent", {"target": "checked_plugin_env:Absent"}, "what it registers exists: .* has no 'Absent'"),
        ("gone", {"target": "no_such_module:Env"}, "there is no module 'no_such_module'"),
        ("mute", {"An environment.": ""}, "has a description of one line"),
        ("code", {"size=3": "size=object()"}, "holds names and plain values"),
        ("raises", {"    register(": "    1 / 0\n..."}, "its hooks can be called; ZeroDivisionError"),
    ],
)
def test_a_wrong_plugin_is_caught(
    plugin_of: Callable[..., str], name: str, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(ContractError, match=message) as caught:
        check_plugin(plugin_of(f"wrong_plugin_{name}", **changes))
    assert caught.value.clause == "plugin"


def test_the_plugins_of_this_repository_pass() -> None:
    pytest.importorskip("gem_games")
    assert check_plugin("gem_games.plugin").checked == ["plugin"]
    assert check_plugin("gem.builtin").checked == ["plugin"]


def test_a_plugin_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownId, match="neither a module nor an installed plugin 'no_such_plugin'"):
        check_plugin("no_such_plugin")


# --- sandboxes --------------------------------------------------------------------------------------------------------


class Local(Sandbox):
    """Runs code with no isolation whatever: only for what these tests wrote."""

    name = "local"
    capabilities = frozenset({"bash", "fresh_state", "sessions", "clean_environment"})

    async def arun(
        self,
        code: str,
        *,
        language: str = "python",
        stdin: str | bytes = "",
        timeout: float = 10.0,
        memory: int | None = None,
        files: Mapping[str, str | bytes] | None = None,
        fresh: bool = False,
    ) -> ExecResult:
        check_memory(memory)
        return await self.aexec([sys.executable, "-c", code], stdin=stdin, timeout=timeout, files=files)

    async def aexec(
        self,
        argv: Sequence[str],
        *,
        stdin: str | bytes = "",
        timeout: float = 10.0,
        memory: int | None = None,
        files: Mapping[str, str | bytes] | None = None,
    ) -> ExecResult:
        check_timeout(timeout)
        given = stdin.encode() if isinstance(stdin, str) else stdin
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (files or {}).items():
                if ".." in name:
                    raise ValueError(f"{name} leads out of the working directory")
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            return await asyncio.to_thread(self._execute, argv, given, timeout, folder)

    def _execute(self, argv: Sequence[str], stdin: bytes, timeout: float, folder: str) -> ExecResult:
        start = time.perf_counter()
        environment = self.environment()
        try:
            done = subprocess.run(argv, input=stdin, timeout=timeout, cwd=folder, env=environment, capture_output=True)
        except subprocess.TimeoutExpired as expired:
            return ExecResult(_text(expired.stdout), "", None, "timeout", duration=time.perf_counter() - start)
        status = "ok" if done.returncode == 0 else "error"
        return ExecResult(_text(done.stdout), _text(done.stderr), done.returncode, status)  # type: ignore[arg-type]

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"]}

    async def aopen(self, kind: Any = "bash") -> Session:
        return Shell(self)

    async def aclose(self) -> None:
        pass


class Shell(Session):
    """Repeats all it was told before: slow, and good enough here."""

    def __init__(self, sandbox: Local) -> None:
        self.sandbox = sandbox
        self.said = ""

    async def arun(self, code: str, *, timeout: float = 10.0) -> ExecResult:
        said, self.said = self.said, f"{self.said}{code}\n"
        return await self.sandbox.aexec(["bash", "-c", f"{{ {said or ':'}\n}} >/dev/null\n{code}"])

    async def aclose(self) -> None:
        pass


def _text(output: bytes | None) -> str:
    return (output or b"").decode("utf-8", "replace")


class OneRun(Local):
    """Changes what a run returns."""

    def change(self, result: ExecResult) -> dict[str, Any]:
        return {}

    async def arun(self, code: str, **options: Any) -> ExecResult:
        result = await super().arun(code, **options)
        return ExecResult(**{**vars(result), **self.change(result)})


class Strips(OneRun):
    def change(self, result: ExecResult) -> dict[str, Any]:
        return {"stdout": result.stdout.strip() + "\n" if result.stdout else ""}


class AlwaysZero(OneRun):
    def change(self, result: ExecResult) -> dict[str, Any]:
        return {"exit_code": 0}


class LosesStdin(Local):
    async def arun(self, code: str, **options: Any) -> ExecResult:
        return await super().arun(code, **{**options, "stdin": "None" if not options.get("stdin") else ""})


class LosesWhatWasPrinted(OneRun):
    def change(self, result: ExecResult) -> dict[str, Any]:
        return {"stdout": ""} if result.status == "timeout" else {}


class KeepsEnvironment(Local):
    def environment(self) -> dict[str, str]:
        return dict(os.environ)


class ClaimsNoNetwork(Local):
    capabilities = frozenset({"no_network"})


class ClaimsNoHostFiles(Local):
    capabilities = frozenset({"no_host_files"})


class ClaimsAnything(Local):
    capabilities = frozenset({"perfect_isolation"})


class GrantsAnything(Local):
    def require(self, *capabilities: str) -> Any:
        return self


class TakesNoLimit(Local):
    async def arun(self, code: str, **options: Any) -> ExecResult:
        if options.get("timeout") == 0:
            options["timeout"] = 10.0
        return await super().arun(code, **options)


@pytest.mark.parametrize("target", [Local, Local()])
def test_a_sandbox_that_does_what_it_says_passes(target: Any) -> None:
    report = check_sandbox(target)
    assert report.checked == ["S1", "S2", "S3"]
    assert list(report.skipped) == ["S4"]


@pytest.mark.parametrize(
    "clause, wrong, message",
    [
        ("S2", Strips, "'stdout': '\\\\n\\\\n  x"),
        ("S1", AlwaysZero, "sys.exit\\(7\\)"),
        ("S2", LosesStdin, "sys.stdin.read"),
        ("S2", LosesWhatWasPrinted, "timeout=0.5"),
        ("S2", TakesNoLimit, "'timeout': 0}\\) raises ValueError"),
        ("S3", KeepsEnvironment, "declares 'clean_environment'"),
        ("S3", ClaimsNoNetwork, "declares 'no_network'"),
        ("S3", ClaimsNoHostFiles, "declares 'no_host_files'"),
        ("S3", ClaimsAnything, "got perfect_isolation"),
        ("S3", GrantsAnything, "was granted"),
    ],
)
def test_a_sandbox_that_does_not_is_caught(clause: str, wrong: type[Local], message: str) -> None:
    with pytest.raises(ContractError, match=message) as caught:
        check_sandbox(wrong)
    assert caught.value.clause == clause


def test_what_is_no_sandbox_is_refused() -> None:
    with pytest.raises(TypeError, match="check_sandbox takes the name of a backend, a sandbox or what makes one"):
        check_sandbox(list)  # type: ignore[arg-type]


def test_the_checks_are_public() -> None:
    assert {"check_env", "check_tool", "check_plugin", "check_sandbox"} <= set(gem.testing.__all__)
