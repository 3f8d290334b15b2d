"""The executor without threads: every environment runs in the calling thread, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from gem.core import Env
from gem.vector.executor import Inbox, ResetOutcome, StepOutcome
from gem.vector.failure import close_quietly
from gem.vector.slot import Autoreset, ResetRequest, Slot, Steps, step_slots

__all__ = ["SyncExecutor"]

T = TypeVar("T")


class SyncExecutor:
    """Runs everything in the calling thread, `close` too.

    That is right for cheap environments, and for those that are bound to the thread that made them.
    Nothing can interrupt the calling thread, so an environment that hangs hangs its caller; time-outs need
    `backend="thread"`.

    Args:
        env_fns: Build the environments.
        autoreset: What happens at the end of an episode.
        step_timeout: Must be None.
        reset_timeout: Must be None.

    Raises:
        ValueError: A time-out was given.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Env]],
        *,
        autoreset: Autoreset,
        step_timeout: float | None = None,
        reset_timeout: float | None = None,
    ) -> None:
        """Build the environments; if one cannot be built, close the others and raise what it raised."""
        if step_timeout is not None or reset_timeout is not None:
            raise ValueError(
                'backend="sync" runs environments in the calling thread and cannot interrupt them, so '
                f"step_timeout={step_timeout} and reset_timeout={reset_timeout} would do nothing; "
                'use backend="thread".'
            )
        self._slots: list[Slot] = []
        self._everyone = range(len(env_fns))
        self._inbox = Inbox()
        try:
            for index, make_env in enumerate(env_fns):
                self._slots.append(Slot(index, make_env, autoreset))
        except BaseException:
            self.close()
            raise

    @property
    def envs(self) -> list[Env]:
        """The environments."""
        return [slot.env for slot in self._slots]

    def step(self, indices: Sequence[int], actions: Sequence[Any]) -> Steps:
        """Step one environment after the other."""
        slots = self._slots if indices == self._everyone else [self._slots[index] for index in indices]
        return step_slots(slots, actions)

    def reset(self, indices: Sequence[int], requests: Sequence[ResetRequest]) -> list[ResetOutcome]:
        """Reset one environment after the other."""
        return [self._slots[index].reset(request) for index, request in zip(indices, requests, strict=True)]

    def start(self, indices: Sequence[int], actions: Sequence[Any]) -> None:
        """Step at once; the outcomes wait for `take`."""
        for index, action in zip(indices, actions, strict=True):
            self._inbox.put(index, self._slots[index].step(action))

    def wait(self, count: int, timeout: float | None) -> None:
        """Return: every started step is done."""

    def take(self) -> list[tuple[int, StepOutcome]]:
        """Return the outcomes of started steps."""
        return self._inbox.take()

    def forget(self, indices: Collection[int]) -> None:
        """Drop the outcomes of these environments."""
        self._inbox.drop(indices)

    def apply(self, index: int, function: Callable[[Env], T]) -> T:
        """Return `function(env)`."""
        return function(self._slots[index].env)

    def close(self) -> None:
        """Close one environment after the other."""
        for slot in self._slots:
            if slot.built:
                close_quietly(slot.env)
