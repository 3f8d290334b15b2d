"""The pool of daemon threads and the background loop."""

from __future__ import annotations

import asyncio
import contextvars
import os
import subprocess
import sys
import threading
import time

import pytest

from gem.concurrency import run_in_thread, run_in_turn, run_sync, submit


def test_calls_that_wait_for_each_other_all_run() -> None:
    barrier = threading.Barrier(64, timeout=20)
    futures = [submit(barrier.wait) for _ in range(64)]
    assert sorted(future.result(20) for future in futures) == list(range(64))


def test_threads_are_used_again() -> None:
    for _ in range(50):
        submit(time.sleep, 0).result()
    names = {submit(lambda: threading.current_thread().name).result() for _ in range(50)}
    assert len(names) < 10


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), KeyboardInterrupt()])
def test_what_a_call_raises_reaches_the_caller_and_the_thread_lives(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        submit(fail).result(5)
    assert submit(lambda: 7).result(5) == 7


def test_context_variables_travel() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(5)
    assert submit(variable.get).result(5) == 5


def test_run_in_thread_leaves_the_event_loop_free() -> None:
    async def main() -> list[str]:
        order: list[str] = []

        async def quick() -> None:
            order.append("quick")

        async def slow() -> None:
            await run_in_thread(time.sleep, 0.05)
            order.append("slow")

        await asyncio.gather(slow(), quick())
        return order

    assert asyncio.run(main()) == ["quick", "slow"]


def test_stop_iteration_comes_back_as_an_error_instead_of_never() -> None:
    async def main() -> None:
        await asyncio.wait_for(run_in_thread(next, iter(())), timeout=5)

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(main())


def test_what_an_owner_is_asked_next_waits_for_its_call_that_was_cancelled() -> None:
    order: list[str] = []

    def slow() -> None:
        time.sleep(0.2)
        order.append("old step")

    async def main() -> None:
        owner = object()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run_in_turn(owner, slow), timeout=0.02)
        await run_in_turn(object(), order.append, "somebody else's")
        await run_in_turn(owner, order.append, "reset")

    asyncio.run(main())
    assert order == ["somebody else's", "old step", "reset"]


def test_run_sync_works_inside_a_running_event_loop() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    async def main() -> int:
        return run_sync(answer())

    assert run_sync(answer()) == 42
    assert asyncio.run(main()) == 42


def test_run_sync_on_the_background_loop_itself_is_refused_instead_of_waiting_for_ever() -> None:
    async def answer() -> int:
        return 42

    async def outer() -> int:
        return run_sync(answer())

    with pytest.raises(RuntimeError, match="use await"):
        run_sync(outer())


def test_a_hanging_call_does_not_keep_the_interpreter_from_ending() -> None:
    code = "import threading; from gem.concurrency import submit; submit(threading.Event().wait); print('end')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == "end\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_pool_and_loop_work_in_a_forked_child() -> None:
    code = (
        "import asyncio, os\n"
        "from gem.concurrency import run_sync, submit\n"
        "submit(int).result(); run_sync(asyncio.sleep(0))\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    run_sync(asyncio.sleep(0)); os._exit(submit(lambda: 7).result(5))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout == "7\n"
