"""The threads that GEM owns: one pool for blocking calls and one background event loop.

The pool serves the async twins of synchronous code (contract, "One rule for sync and async"). It grows to the number of
calls that wait at the same time, so 256 environments that sleep do sleep together, and its threads are daemons: a step
that never returns cannot keep the interpreter from ending. (`concurrent.futures` joins its workers at exit, which is
why it is not used here.) The loop runs what is async underneath for callers that are not, also when the
caller is itself inside a running event loop. Both are rebuilt in a forked child, where threads do not survive.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["lone_twins", "run_in_thread", "run_in_turn", "run_sync", "submit"]

T = TypeVar("T")
_IDLE_SECONDS = 30.0  # an idle worker ends after this long, so that a burst of calls leaves no threads behind


class _Worker:
    """One daemon thread, its job slot, and the event that says the slot is filled."""

    __slots__ = ("filled", "job")

    def __init__(self) -> None:
        self.filled = threading.Lock()  # a lock used as a binary semaphore: the cheapest hand-over there is
        self.filled.acquire()
        self.job: tuple[Future[Any], Callable[[], Any]] | None = None


class _Pool:
    """A pool of daemon threads without an upper bound: one thread per call that is running now."""

    def __init__(self) -> None:
        self._idle: deque[_Worker] = deque()
        self._lock = threading.Lock()
        self._count = 0

    def submit(self, call: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            worker = self._idle.pop() if self._idle else None
            if worker is None:
                self._count += 1
                name = f"gem-{self._count}"
        if worker is None:
            worker = _Worker()
            worker.job = (future, call)
            worker.filled.release()
            threading.Thread(target=self._serve, args=(worker,), name=name, daemon=True).start()
        else:
            worker.job = (future, call)
            worker.filled.release()
        return future

    def _serve(self, worker: _Worker) -> None:
        while True:
            if not worker.filled.acquire(timeout=_IDLE_SECONDS):
                with self._lock:
                    if worker in self._idle:
                        self._idle.remove(worker)
                        return
                worker.filled.acquire()  # a job is on its way: it was taken from the idle list just now
            assert worker.job is not None
            future, call = worker.job
            worker.job = None
            if future.set_running_or_notify_cancel():
                try:
                    result = call()
                except BaseException as error:  # handed to the waiting caller, SystemExit and KeyboardInterrupt too
                    outcome: tuple[bool, Any] = (False, error)
                else:
                    outcome = (True, result)
            else:
                outcome = (True, None)
            with self._lock:  # idle before the answer: whoever it wakes finds this thread free again
                self._idle.append(worker)
            if not future.cancelled():
                (future.set_result if outcome[0] else future.set_exception)(outcome[1])
            del future, call, outcome


class _Loop:
    """One event loop that runs for ever in a daemon thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="gem-loop", daemon=True)
        self.thread.start()


_lock = threading.Lock()
_pool = _Pool()
_loop: _Loop | None = None
_turns: dict[int, Future[Any]] = {}  # the call of each owner that is running now, by the owner's id


def _after_fork() -> None:
    global _lock, _pool, _loop
    _lock, _pool, _loop = threading.Lock(), _Pool(), None
    _turns.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def submit(function: Callable[..., T], *args: Any, **kwargs: Any) -> Future[T]:
    """Run a blocking call in a thread of the pool.

    Args:
        function: What to call.
        args: Its positional arguments.
        kwargs: Its keyword arguments.

    Returns:
        A future with its result or exception. The call runs at once: no other call can make it wait.
    """
    context = contextvars.copy_context()
    return _pool.submit(lambda: context.run(function, *args, **kwargs))


async def run_in_thread(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Await a blocking call that runs in a thread of the pool; the event loop stays free meanwhile.

    Raises:
        RuntimeError: The call raised StopIteration, which no asyncio future can hold: it would never be done.
    """
    return await asyncio.wrap_future(submit(_without_stop_iteration, function, *args, **kwargs))


async def run_in_turn(owner: object, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Do what `run_in_thread` does, once the owner's last call is over.

    A call that was cancelled (by a time-out, say) runs on in its thread, since nothing can stop it. What its owner is
    asked next waits for it: a reset would otherwise begin an episode that the old step then changes.
    """
    earlier = _turns.get(id(owner))
    if earlier is not None:
        over = asyncio.wrap_future(earlier)
        await asyncio.wait([over])
        if not over.cancelled():
            over.exception()  # nobody's any more; asyncio complains of one that was never looked at
    future = submit(_without_stop_iteration, function, *args, **kwargs)
    key = id(owner)  # the call holds its owner, so the id is nobody else's meanwhile
    _turns[key] = future
    future.add_done_callback(lambda _: _turns.pop(key, None) if _turns.get(key) is future else None)
    return await asyncio.wrap_future(future)


def _without_stop_iteration(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    try:
        return function(*args, **kwargs)
    except StopIteration as error:
        raise RuntimeError(f"{function!r} raised StopIteration") from error


def lone_twins(cls: type, twins: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the `(sync, async)` names of methods whose sync one a class overrides, itself or by a mixin, alone.

    The inherited async one would pass the override by; the class needs the default one, which calls the sync method.
    """
    for name, twin in twins:
        definer = next(base for base in cls.__mro__ if name in vars(base) or twin in vars(base))
        if twin not in vars(definer):
            yield name, twin


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop and wait for it.

    Unlike `asyncio.run`, it can be called from inside a running event loop (which blocks that loop meanwhile), and
    whatever the coroutine opens (connections, child processes) lives on one loop for the whole process.

    Args:
        coroutine: What to run.

    Returns:
        Its result.

    Raises:
        RuntimeError: The caller is the background loop itself, which would wait for itself; await the coroutine there.
    """
    global _loop
    with _lock:
        if _loop is None:
            _loop = _Loop()
        background = _loop
    if threading.current_thread() is background.thread:
        coroutine.close()
        raise RuntimeError("run_sync was called on GEM's own event loop, which cannot wait for itself; use await.")
    future = asyncio.run_coroutine_threadsafe(coroutine, background.loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()  # Ctrl-C while waiting: what was started must not go on alone
        raise
