"""The sandbox protocol: limits that are limits, the sync facade, what is not declared is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gem.errors import CapabilityError
from gem.sandbox import ExecResult, Sandbox, Session, check_memory, check_timeout


class Parrot(Sandbox):
    """Prints its source: enough to show what the base class adds."""

    name = "parrot"
    capabilities = frozenset({"no_network"})

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
        check_timeout(timeout)
        return ExecResult(stdout=code, stderr="", exit_code=0, status="ok")

    async def aexec(self, argv: Sequence[str], **options: Any) -> ExecResult:
        return ExecResult(stdout=" ".join(argv), stderr="", exit_code=0, status="ok")

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), "5", True, None])
def test_a_time_limit_that_is_none_is_refused(timeout: object) -> None:
    with pytest.raises(ValueError, match="finite number of seconds"):
        check_timeout(timeout)
    with pytest.raises(ValueError, match="finite number of seconds"):
        Parrot().run("x", timeout=timeout)


@pytest.mark.parametrize("memory", [0, -5, 1.5, True, "64"])
def test_a_memory_limit_that_is_none_is_refused(memory: object) -> None:
    with pytest.raises(ValueError, match="MiB"):
        check_memory(memory)


def test_limits_that_are_limits_are_kept() -> None:
    assert (check_timeout(0.5), check_memory(64), check_memory(None)) == (0.5, 64, None)


def test_the_sync_facade_does_what_the_async_methods_do_inside_a_loop_too() -> None:
    async def inside() -> str:
        return Parrot().run("hello").stdout

    with Parrot() as parrot:
        assert parrot.run("hello").stdout == asyncio.run(inside()) == "hello"
        assert parrot.exec(["a", "b"]).stdout == "a b"
    assert parrot.closed


def test_what_is_not_declared_raises_and_says_what_is() -> None:
    parrot = Parrot()
    assert parrot.require("no_network") is parrot
    for call in (parrot.open, parrot.snapshot, parrot.fork, lambda: parrot.get("a"), lambda: parrot.put("a", "b")):
        with pytest.raises(CapabilityError, match="declares no_network"):
            call()
    with pytest.raises(CapabilityError, match="'telepathy'"):
        parrot.require("telepathy")


def test_a_session_that_cannot_fork_says_so() -> None:
    class Once(Session):
        async def arun(self, code: str, *, timeout: float = 10.0) -> ExecResult:
            return ExecResult(stdout=code, stderr="", exit_code=0, status="ok")

        async def aclose(self) -> None:
            self.closed = True

    with Once() as session:
        assert session.run("ls").stdout == "ls"
        with pytest.raises(CapabilityError, match="cannot fork"):
            session.fork()
    assert session.closed
