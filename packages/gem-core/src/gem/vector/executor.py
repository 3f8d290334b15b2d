"""What runs the environments of a vector: the protocol, and the inbox where finished steps wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from time import monotonic
from typing import Any, Protocol, TypeVar

from gem.core import Env, StepResult
from gem.vector.failure import Broken, Refused
from gem.vector.slot import ResetRequest, Steps

__all__ = ["Executor", "Inbox", "ResetOutcome", "StepOutcome"]

T = TypeVar("T")
StepOutcome = StepResult | Broken
ResetOutcome = tuple[Any, dict[str, Any]] | Broken | Refused


class Executor(Protocol):
    """Runs the environments of a vector, each through its `Slot`, and nothing else.

    It is constructed with `(env_fns, *, autoreset, step_timeout, reset_timeout)`. Whatever happens to an environment,
    every call gets its outcome; the vector has checked indices and actions and never uses an environment that is busy.
    """

    @property
    def envs(self) -> list[Env]:
        """The environments, where they live in this process."""

    def step(self, indices: Sequence[int], actions: Sequence[Any]) -> Steps:
        """Step these environments and wait for all; the batch, in the order of `indices`, has nothing `DEFERRED`."""

    def reset(self, indices: Sequence[int], requests: Sequence[ResetRequest]) -> list[ResetOutcome]:
        """Reset these environments, side by side where it can, and wait for all."""

    def start(self, indices: Sequence[int], actions: Sequence[Any]) -> None:
        """Begin to step these environments; `take` hands the outcomes out as they come."""

    def wait(self, count: int, timeout: float | None) -> None:
        """Wait until `count` started steps have their outcome, or `timeout` seconds have passed."""

    def take(self) -> list[tuple[int, StepOutcome]]:
        """Return `(index, outcome)` of the started steps that are done and not yet taken, oldest first."""

    def forget(self, indices: Collection[int]) -> None:
        """Drop the outcomes of started steps of these environments, those still to come too."""

    def apply(self, index: int, function: Callable[[Env], T]) -> T:
        """Return `function(env)`, where the function can be pickled; what it raises goes to the caller."""

    def close(self) -> None:
        """Close every environment, in bounded time."""


class Inbox:
    """Outcomes by key, in the order in which they came, and somebody who waits until there are enough."""

    def __init__(self) -> None:
        """Begin empty."""
        self._changed = threading.Condition(threading.Lock())
        self._outcomes: list[tuple[int, Any]] = []
        self._wanted: list[int] = []  # what each waiting thread waits for: only the outcome that completes it wakes it

    def put(self, key: int, outcome: Any) -> None:
        """Add an outcome."""
        with self._changed:
            self._outcomes.append((key, outcome))
            if self._wanted and len(self._outcomes) >= min(self._wanted):
                self._changed.notify_all()

    def wait(self, count: int, timeout: float | None = None, expire: Callable[[], float | None] | None = None) -> None:
        """Wait until `count` outcomes are there or `timeout` seconds have passed.

        Args:
            count: How many.
            timeout: Seconds, or None for no limit.
            expire: Called before each sleep: puts outcomes in place of what has run too long, and says after how many
                seconds to call it again (None: no need).
        """
        deadline = None if timeout is None else monotonic() + timeout
        while len(self._outcomes) < count:
            pause = expire() if expire is not None else None
            if deadline is not None:
                left = deadline - monotonic()
                if left <= 0:
                    return
                pause = left if pause is None else min(pause, left)
            with self._changed:
                if len(self._outcomes) < count:
                    self._wanted.append(count)
                    try:
                        self._changed.wait(pause)
                    finally:
                        self._wanted.remove(count)

    def take(self) -> list[tuple[int, Any]]:
        """Return all outcomes and keep none."""
        with self._changed:
            outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def drop(self, keys: Collection[int]) -> None:
        """Throw away the outcomes of these keys."""
        with self._changed:
            self._outcomes = [pair for pair in self._outcomes if pair[0] not in keys]
