"""Check a sandbox backend against contract S: results and limits (S1, S2), and what it declares (S3)."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gem.errors import CapabilityError
from gem.sandbox import CAPABILITIES, ExecResult, Sandbox
from gem.testing.report import Report, shown

__all__ = ["check_sandbox"]


def check_sandbox(target: str | Sandbox | Callable[[], Sandbox], **options: Any) -> Report:
    """Check that a sandbox returns what programs did, keeps its limits, and isolates as far as it declares.

    Args:
        target: The name of a backend, a sandbox (which is used, not closed), or something that makes one (and is
            closed).
        options: What else `gem.make_sandbox` gets, for a name.

    Returns:
        What was checked, and what was skipped and why.

    Raises:
        ContractError: A clause is broken; the text names it and shows the program.
        Fault: No sandbox can be had here.
        GemError: The name is unknown, or a package is missing.
        TypeError: `target` is none of the three.
    """
    if isinstance(target, str):
        from gem.factory import make_sandbox  # plugins are loaded only where a name is looked up

        sandbox = make_sandbox(target, **options)
    elif isinstance(target, Sandbox):
        sandbox = target
    else:
        sandbox = target()
    if not isinstance(sandbox, Sandbox):
        raise TypeError(f"check_sandbox takes the name of a backend, a sandbox or what makes one; got {sandbox!r}.")
    check = _Check(Report(sandbox.name), sandbox)
    check.results()
    check.limits()
    check.declared()
    if sandbox is not target:
        sandbox.close()
        sandbox.close()
    check.report.skip("S4", "needs a client that is killed from outside")
    return check.report


class _Check:
    """The programs that are run, and what must come of each."""

    def __init__(self, report: Report, sandbox: Sandbox) -> None:
        self.report = report
        self.sandbox = sandbox

    def expect(
        self, clause: str, code: str, stdout: str | None = None, *, exit_code: int | None = 0, **options: Any
    ) -> ExecResult:
        """Run a program and check its output and exit code."""
        result = self.sandbox.run(code, **options)
        wanted = {"exit_code": exit_code, "status": "ok" if exit_code == 0 else "error"}
        if stdout is not None:
            wanted["stdout"] = stdout
        if {name: getattr(result, name) for name in wanted} != wanted:
            self.report.fail(clause, f"run({code!r}, **{options!r}) gives {wanted}; got {shown(result)}.")
        return result

    def results(self) -> None:
        """Check output, exit codes, standard input and files (S1, S2)."""
        self.expect("S1", "print('hi')", "hi\n")
        self.expect("S1", "import sys; sys.exit(7)", "", exit_code=7)
        failed = self.expect("S1", "print(1); 1 / 0", "1\n", exit_code=1)
        if "ZeroDivisionError" not in failed.stderr:
            self.report.fail("S1", f"what an error prints is in stderr; for 1 / 0 it is {shown(failed.stderr)}.")
        self.expect("S2", "print('\\n\\n  x\\n\\n', end='')", "\n\n  x\n\n")
        self.expect("S2", "import sys; sys.stdout.buffer.write(b'a\\r\\nb')", "a\r\nb")
        raw = self.expect("S2", "import sys; sys.stdout.buffer.write(b'\\xff\\xfeok\\n')")
        if not raw.stdout.endswith("ok\n"):
            self.report.fail("S2", f"output that is not UTF-8 is replaced; b'\\xff\\xfeok\\n' came as {raw.stdout!r}.")
        count = "import sys; print(len(sys.stdin.read()))"
        self.expect("S2", count, "0\n")
        self.expect("S2", count, "0\n", stdin="")
        self.expect("S2", count, "3\n", stdin="é\n1")
        read = "print(repr(open('d/a.txt', encoding='utf-8').read()), open('b', 'rb').read())"
        self.expect("S1", read, "'é\\n' b'\\xff'\n", files={"d/a.txt": "é\n", "b": b"\xff"})
        self.expect("S2", "x = 1; open('left', 'w').close()", "")
        if "fresh_state" in self.sandbox.capabilities:
            self.expect("S3", "import os; print('x' in globals(), os.path.exists('left'))", "False False\n")
        self.report.passed("S1")

    def limits(self) -> None:
        """Check that limits are applied, and that what is no limit is refused (S2)."""
        for rest in ("while True: pass", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"):
            code = f"print('before', flush=True)\n{rest}"
            result = self.sandbox.run(code, timeout=0.5)
            if result.status != "timeout" or result.stdout != "before\n" or not 0.4 < result.duration < 5.0:
                message = "stops after 0.5 s with status 'timeout' and what was printed before"
                self.report.fail("S2", f"run({code!r}, timeout=0.5) {message}; got {shown(result)}.")
        for bad in ({"timeout": 0}, {"timeout": float("nan")}, {"memory": -1}, {"files": {"../out": ""}}):
            try:
                result = self.sandbox.run("print(1)", **bad)
            except ValueError:
                continue
            self.report.fail("S2", f"run(..., **{bad!r}) raises ValueError; it returned {shown(result)}.")
        self.expect("S2", "print('usable')", "usable\n")
        self.report.passed("S2")

    def declared(self) -> None:
        """Check what is declared, as far as one run can show it (S3)."""
        capabilities = self.sandbox.capabilities
        unknown = ", ".join(sorted(capabilities - set(CAPABILITIES)))
        if unknown:
            self.report.fail("S3", f"capabilities are among {', '.join(CAPABILITIES)}; got {unknown}.")
        for name in sorted(set(CAPABILITIES) - capabilities):
            try:
                self.sandbox.require(name)
            except CapabilityError:
                continue
            self.report.fail("S3", f"asking for what is not declared raises CapabilityError; {name!r} was granted.")
        if "clean_environment" in capabilities:
            with _variable("GEM_CHECK_SECRET", secrets.token_hex(8)) as secret:
                self._hidden("clean_environment", "import os; print(dict(os.environ))", secret)
        if "no_host_files" in capabilities:
            with tempfile.TemporaryDirectory() as folder:
                path, secret = Path(folder) / "host.txt", secrets.token_hex(8)
                path.write_text(secret, encoding="utf-8")
                self._hidden("no_host_files", f"print(open({str(path)!r}).read())", secret)
        if "no_network" in capabilities:
            with socket.create_server(("127.0.0.1", 0)) as server:
                address = server.getsockname()
                code = f"import socket; socket.create_connection({address!r}, 2); print('connected')"
                self._hidden("no_network", code, "connected\n")
        if "bash" in capabilities:
            self._bash()
        if "sessions" in capabilities:
            self._session()
        self.report.passed("S3")

    def _hidden(self, capability: str, code: str, secret: str) -> None:
        result = self.sandbox.run(code)
        if secret in result.stdout:
            self.report.fail("S3", f"it declares {capability!r}, but {code!r} printed {shown(result.stdout)}.")

    def _bash(self) -> None:
        for argv, stdout, exit_code in ((["echo", "$HOME; x"], "$HOME; x\n", 0), (["sh", "-c", "exit 3"], "", 3)):
            result = self.sandbox.exec(argv)
            if (result.stdout, result.exit_code) != (stdout, exit_code):
                message = f"exec({argv!r}) prints {stdout!r} and exits with {exit_code}"
                self.report.fail("S1", f"{message}; got {shown(result)}.")

    def _session(self) -> None:
        with self.sandbox.open("bash") as session:
            session.run("word=kept; cd /")
            result = session.run('echo "$word $PWD"; (exit 4)')
            if (result.stdout, result.exit_code) != ("kept /\n", 4):
                self.report.fail("S1", f"a session goes on where the last run ended; got {shown(result)}.")


@contextlib.contextmanager
def _variable(name: str, value: str) -> Iterator[str]:
    """Set an environment variable of this process for a while."""
    os.environ[name] = value
    try:
        yield value
    finally:
        del os.environ[name]
