"""What a sandbox is: the protocol, its limits and its results. No backend lives here (gem-tools has three).

A sandbox runs code that nobody trusts. The async methods are the ones a backend writes; the sync facade over them is
written once, here. `docs/contract.md` has the numbered clauses (S).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, TypeVar

from gem.concurrency import run_sync
from gem.errors import CapabilityError

__all__ = ["CAPABILITIES", "ExecResult", "Sandbox", "Session", "Status", "check_memory", "check_timeout"]

Status = Literal["ok", "error", "timeout", "memory", "output_limit", "died"]
"""How a run ended. `error`: its exit code is not 0; `died`: the code killed its sandbox, also in a fresh one."""

CAPABILITIES: Mapping[str, str] = {
    "no_network": "no network, loopback to the host included",
    "no_host_files": "no file of the host can be read or written",
    "clean_environment": "no environment variable of the host is visible",
    "no_capabilities": "no kernel capability",
    "no_new_privileges": "set-uid programs give no rights",
    "read_only_root": "everything but the working directory is read-only",
    "own_user": "runs as a user that owns nothing else",
    "process_limit": "the number of processes is bounded",
    "memory_limit": "the memory of each process is bounded",
    "memory_cgroup": "the memory of all processes of a run together is bounded by the kernel",
    "cpu_limit": "processor time is bounded",
    "file_size_limit": "the size of a written file is bounded",
    "disk_limit": "all that a run writes together is bounded",
    "fresh_state": "one run sees nothing of another, before or beside it",
    "bash": "`exec` and sessions of a shell",
    "sessions": "`open` gives sessions that keep their state",
    "files": "`put` and `get`",
    "snapshot": "`snapshot`",
    "fork": "`fork` of a sandbox or a session",
}
"""Every name that `capabilities` may hold, and what it promises. A backend is checked against what it declares."""

SelfSandbox = TypeVar("SelfSandbox", bound="Sandbox")
SelfSession = TypeVar("SelfSession", bound="Session")


@dataclass(frozen=True)
class ExecResult:
    """What one run left behind.

    Attributes:
        stdout: What it printed, byte for byte, bytes that are not UTF-8 replaced.
        stderr: The same for its error stream.
        exit_code: The program's own exit code; `-signal` where a signal ended it; None where it never ended by itself.
        status: How it ended.
        truncated: Whether output beyond the limit was dropped.
        duration: Seconds of wall time.
    """

    stdout: str
    stderr: str
    exit_code: int | None
    status: Status
    truncated: bool = False
    duration: float = 0.0


def check_timeout(timeout: object) -> float:
    """Return a time limit in seconds as a float.

    Raises:
        ValueError: It is not a finite number above 0; a limit that never comes is no limit.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not math.isfinite(timeout) or timeout <= 0:
        raise ValueError(f"timeout is a finite number of seconds above 0; got {timeout!r}.")
    return float(timeout)


def check_memory(memory: object) -> int | None:
    """Return a memory limit in MiB, or None for the backend's own.

    Raises:
        ValueError: It is not a whole number above 0.
    """
    if memory is None:
        return None
    if isinstance(memory, bool) or not isinstance(memory, int) or memory <= 0:
        raise ValueError(
            f"memory is a whole number of MiB above 0, or None for the backend's own limit; got {memory!r}."
        )
    return memory


class Session(ABC):
    """A shell or interpreter inside a sandbox that keeps its state between runs."""

    @abstractmethod
    async def arun(self, code: str, *, timeout: float = 10.0) -> ExecResult:
        """Run code where the last run ended; a time-out ends the session's process and says so in `status`."""

    async def afork(self: SelfSession) -> SelfSession:
        """Return an independent session in the same state.

        Raises:
            CapabilityError: The backend does not declare `fork`.
        """
        raise CapabilityError(f"{type(self).__name__} cannot fork; ask for it: gem.make_sandbox(requires=['fork']).")

    @abstractmethod
    async def aclose(self) -> None:
        """End the session and all its processes; a second call does nothing."""

    def run(self, code: str, *, timeout: float = 10.0) -> ExecResult:
        """Do what `arun` does, and wait."""
        return run_sync(self.arun(code, timeout=timeout))

    def fork(self: SelfSession) -> SelfSession:
        """Do what `afork` does, and wait."""
        return run_sync(self.afork())

    def close(self) -> None:
        """Do what `aclose` does, and wait."""
        run_sync(self.aclose())

    def __enter__(self: SelfSession) -> SelfSession:
        """Return the session itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the session."""
        self.close()


class Sandbox(ABC):
    """Runs code that nobody trusts, within limits, so that nothing of it is left (contract S).

    A run that fails, loops, floods or kills itself is a result. Only when no sandbox can be had at all is it a fault.
    A sandbox may be used by many threads and tasks at once.

    Attributes:
        name: The backend's name, such as "docker".
        capabilities: Which promises of `CAPABILITIES` it keeps on this machine.
    """

    name: str = "sandbox"
    capabilities: frozenset[str] = frozenset()

    @abstractmethod
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
        """Run a program.

        Args:
            code: Its source.
            language: "python" or "bash"; a backend may know more.
            stdin: What it reads; by default nothing, never ours.
            timeout: Seconds of wall time; what was printed before it is kept, and all processes of the run die with it.
            memory: MiB, or None for the backend's own limit.
            files: Files to lay down first, by path relative to the working directory.
            fresh: Start a new interpreter instead of forking a warm one.

        Returns:
            The result; what the code did wrong is in `status`, `exit_code` and `stderr`.

        Raises:
            Fault: No sandbox can be had (kind `sandbox`).
            ValueError: A limit is not a limit, or a path leads out of the working directory.
        """

    @abstractmethod
    async def aexec(
        self,
        argv: Sequence[str],
        *,
        stdin: str | bytes = "",
        timeout: float = 10.0,
        memory: int | None = None,
        files: Mapping[str, str | bytes] | None = None,
    ) -> ExecResult:
        """Run a command; no shell reads `argv`. Arguments, result and errors as in `arun`."""

    async def aopen(self, kind: Literal["bash", "python"] = "bash") -> Session:
        """Open a session.

        Raises:
            CapabilityError: The backend does not declare `sessions`.
            Fault: No sandbox can be had.
        """
        raise self._lacks("sessions")

    async def aput(self, path: str, data: str | bytes) -> None:
        """Write a file inside; raises CapabilityError where `files` is not declared."""
        raise self._lacks("files")

    async def aget(self, path: str) -> bytes:
        """Read a file from inside; raises CapabilityError where not declared, FileNotFoundError where it is absent."""
        raise self._lacks("files")

    async def asnapshot(self) -> str:
        """Keep the present state under a name that `make_sandbox(image=)` takes; CapabilityError where not declared."""
        raise self._lacks("snapshot")

    async def afork(self: SelfSandbox) -> SelfSandbox:
        """Return an independent sandbox in the same state; raises CapabilityError where `fork` is not declared."""
        raise self._lacks("fork")

    @abstractmethod
    async def aclose(self) -> None:
        """Give back everything it holds; a second call does nothing."""

    def require(self: SelfSandbox, *capabilities: str) -> SelfSandbox:
        """Return the sandbox itself if it declares all of these.

        Raises:
            CapabilityError: It does not, or a name is unknown.
        """
        for capability in capabilities:
            if capability not in CAPABILITIES:
                raise CapabilityError(
                    f"No sandbox capability is called {capability!r}; there are {', '.join(CAPABILITIES)}."
                )
            if capability not in self.capabilities:
                raise self._lacks(capability)
        return self

    def _lacks(self, capability: str) -> CapabilityError:
        declared = ", ".join(sorted(self.capabilities)) or "nothing"
        return CapabilityError(
            f"The sandbox {self.name!r} does not give {capability!r} ({CAPABILITIES[capability]}); "
            f"it declares {declared}. Ask for one that does: gem.make_sandbox(requires=[{capability!r}])."
        )

    def run(self, code: str, **options: Any) -> ExecResult:
        """Do what `arun` does, with the same options, and wait."""
        return run_sync(self.arun(code, **options))

    def exec(self, argv: Sequence[str], **options: Any) -> ExecResult:
        """Do what `aexec` does, with the same options, and wait."""
        return run_sync(self.aexec(argv, **options))

    def open(self, kind: Literal["bash", "python"] = "bash") -> Session:
        """Do what `aopen` does, and wait."""
        return run_sync(self.aopen(kind))

    def put(self, path: str, data: str | bytes) -> None:
        """Do what `aput` does, and wait."""
        run_sync(self.aput(path, data))

    def get(self, path: str) -> bytes:
        """Do what `aget` does, and wait."""
        return run_sync(self.aget(path))

    def snapshot(self) -> str:
        """Do what `asnapshot` does, and wait."""
        return run_sync(self.asnapshot())

    def fork(self: SelfSandbox) -> SelfSandbox:
        """Do what `afork` does, and wait."""
        return run_sync(self.afork())

    def close(self) -> None:
        """Do what `aclose` does, and wait."""
        run_sync(self.aclose())

    def __enter__(self: SelfSandbox) -> SelfSandbox:
        """Return the sandbox itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the sandbox."""
        self.close()
