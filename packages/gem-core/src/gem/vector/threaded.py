"""The executor of threads: what is slower than a hand-over runs in a pooled thread, the rest where it is called."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import wait
from functools import partial
from time import monotonic, perf_counter
from typing import Any, TypeVar

from gem.concurrency import submit
from gem.core import Env
from gem.errors import Fault
from gem.vector.clock import HAND_OVER, SURPRISE, Clock
from gem.vector.executor import Inbox, ResetOutcome, StepOutcome
from gem.vector.failure import Broken, close_quietly
from gem.vector.slot import DEFERRED, Autoreset, ResetRequest, Slot, Steps, step_slots

__all__ = ["ThreadedExecutor"]

T = TypeVar("T")

_CLOSE_SECONDS = 5.0
_logger = logging.getLogger(__name__)


class _Job:
    """One call that runs in a thread; whoever settles it first decides its outcome."""

    __slots__ = ("action", "call", "inbox", "key", "settled", "slot")

    def __init__(self, slot: Slot, call: Callable[[], Any], inbox: Inbox, key: int, action: Any = None) -> None:
        self.slot = slot
        self.call = call
        self.inbox = inbox
        self.key = key
        self.action = action
        self.settled = False


class ThreadedExecutor:
    """Runs environments side by side in threads, and those that are cheaper than a hand-over in the calling thread.

    What a step and a reset of an environment cost is measured all the time. With a time-out everything runs in
    threads; a thread whose call exceeds it is abandoned (nothing can stop it; it is a daemon and ends with its call)
    and the environment is built anew.

    Args:
        env_fns: Build the environments.
        autoreset: What happens at the end of an episode.
        step_timeout: Seconds that a step may take.
        reset_timeout: Seconds that a reset may take.
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
        self._limits = {"step": step_timeout, "reset": reset_timeout}
        self._watched = step_timeout is not None or reset_timeout is not None
        self._slots: list[Slot] = []
        self._slow: set[int] = set()
        self._at_once = autoreset == "same_step" and not self._watched
        self._clocks = [Clock(index, self._slow, at_once=self._at_once) for index in range(len(env_fns))]
        self._everyone = range(len(env_fns))
        self._stream = Inbox()
        self._spare: list[Inbox] = []  # empty ones, of calls that have returned
        self._lock = threading.Lock()  # guards `_running` and the settling of jobs
        self._running: dict[int, _Job] = {}
        # Held while a thread is at an environment, which it may be when nobody waits for it any more.
        self._locks = [threading.Lock() for _ in env_fns]
        try:
            for index, make_env in enumerate(env_fns):
                self._slots.append(Slot(index, make_env, autoreset, defer=True, close_env=_close_shortly))
        except BaseException:
            self.close()
            raise

    @property
    def envs(self) -> list[Env]:
        """The environments."""
        return [slot.env for slot in self._slots]

    def step(self, indices: Sequence[int], actions: Sequence[Any]) -> Steps:
        """Step these environments and wait for all."""
        try:
            inbox = self._spare.pop()
        except IndexError:
            inbox = Inbox()
        steps = self._dispatch(indices, actions, inbox, range(len(indices)))
        self._gather(inbox, steps.rows)
        self._spare.append(inbox)
        return steps

    def reset(self, indices: Sequence[int], requests: Sequence[ResetRequest]) -> list[ResetOutcome]:
        """Reset these environments side by side and wait for all."""
        self._disown(indices)
        inbox = Inbox()
        outcomes: dict[int, Any] = {}
        cheap: list[int] = []
        for position, index in enumerate(indices):
            if self._watched or not self._clocks[index].reset_is_cheap:
                outcomes[position] = self._submit_reset(index, requests[position], inbox, position)
            else:
                cheap.append(position)
        surprises = 0
        for position in cheap:
            index = indices[position]
            if surprises >= 2:
                outcomes[position] = self._submit_reset(index, requests[position], inbox, position)
                continue
            clock = self._clocks[index]
            with self._locks[index]:
                outcomes[position] = clock.time_reset(self._slots[index], self._slots[index].reset, requests[position])
            surprises += perf_counter() - clock.since > SURPRISE
        self._gather(inbox, outcomes)
        return [outcomes[position] for position in range(len(indices))]

    def start(self, indices: Sequence[int], actions: Sequence[Any]) -> None:
        """Begin to step these environments; the cheap ones are done on return."""
        steps = self._dispatch(indices, actions, self._stream, indices)
        for position, index in enumerate(indices):
            outcome = steps.row(position)
            if outcome is not DEFERRED:
                self._stream.put(index, outcome)

    def wait(self, count: int, timeout: float | None) -> None:
        """Wait until `count` started steps are done."""
        self._stream.wait(count, timeout, self._expire if self._watched else None)

    def take(self) -> list[tuple[int, StepOutcome]]:
        """Return the outcomes of the started steps that are done."""
        return self._stream.take()

    def forget(self, indices: Collection[int]) -> None:
        """Drop the outcomes of these environments; what still runs is nobody's."""
        self._disown(indices)
        self._stream.drop(indices)

    def apply(self, index: int, function: Callable[[Env], T]) -> T:
        """Return `function(env)`, called in the calling thread."""
        return function(self._slots[index].env)

    def close(self) -> None:
        """Close the environments side by side; what has not closed after five seconds is left alone and logged."""
        deadline = monotonic() + _CLOSE_SECONDS
        closing = Inbox()
        slots = [slot for slot in self._slots if slot.built]
        for slot in slots:
            submit(self._close, slot, closing)
        closing.wait(len(slots), max(0.0, deadline - monotonic()))
        if len(closing.take()) < len(slots):
            _logger.warning("Some environments did not close within %g s and are left alone.", _CLOSE_SECONDS)

    def _close(self, slot: Slot, closing: Inbox) -> None:
        # Let a running step end first, but not for ever: closing from outside may be what frees it.
        lock = self._locks[slot.index]
        acquired = lock.acquire(timeout=_CLOSE_SECONDS / 2)
        try:
            close_quietly(slot.env)
        finally:
            if acquired:
                lock.release()
            closing.put(slot.index, None)

    def _dispatch(self, indices: Sequence[int], actions: Sequence[Any], inbox: Inbox, keys: Sequence[int]) -> Steps:
        """Hand over what is slow, or not known, and step the rest here.

        Args:
            indices: The environments.
            actions: One for each.
            inbox: Where the outcomes of what was handed over go.
            keys: Their keys there.

        Returns:
            The batch; `DEFERRED` stands for what was handed over.
        """
        slots = self._slots if indices == self._everyone else [self._slots[index] for index in indices]
        if self._watched:
            slow = list(range(len(slots)))
        else:
            slow = [place for place, index in enumerate(indices) if index in self._slow] if self._slow else []
        for place in slow:  # first, so that they run while the cheap ones are stepped here
            self._submit_step(slots[place], actions[place], inbox, keys[place])
        if not slow:
            steps = self._step_here(slots, actions, inbox, keys)
            if len(steps.rewards) == len(slots):
                return steps
            places: Sequence[int] = range(len(slots))
        else:
            there = set(slow)
            places = [place for place in range(len(slots)) if place not in there]
            steps = self._step_here(
                [slots[place] for place in places],
                [actions[place] for place in places],
                inbox,
                [keys[place] for place in places],
            )
        rows = [DEFERRED] * len(slots)
        done = len(steps.rewards)
        for number, place in enumerate(places):
            if number < done:
                rows[place] = steps.row(number)
            else:
                self._submit_step(slots[place], actions[place], inbox, keys[place])
        return Steps.of_rows(rows)

    def _step_here(self, slots: Sequence[Slot], actions: Sequence[Any], inbox: Inbox, keys: Sequence[int]) -> Steps:
        """Step cheap environments in the calling thread; resets that are not cheap are handed over."""
        surprises = 0

        def late(slot: Slot, seconds: float) -> bool:
            nonlocal surprises
            self._clocks[slot.index].surprise(slot, seconds)
            surprises += seconds > SURPRISE
            return surprises >= 2

        steps = step_slots(slots, actions, late=late, limit=HAND_OVER)
        for position, outcome in steps.rows.items():
            if outcome is not DEFERRED:
                continue
            slot = slots[position]
            clock = self._clocks[slot.index]
            if surprises < 2 and clock.reset_is_cheap:
                steps.rows[position] = clock.time_reset(slot, slot.resume)
                surprises += perf_counter() - clock.since > SURPRISE
            else:
                self._submit(_Job(slot, partial(clock.time_reset, slot, slot.resume), inbox, keys[position]))
        return steps

    def _submit_step(self, slot: Slot, action: Any, inbox: Inbox, key: int) -> None:
        clock = self._clocks[slot.index]
        clock.begin("step")
        self._submit(_Job(slot, partial(clock.time_step, slot, action), inbox, key, action))

    def _disown(self, indices: Iterable[int]) -> None:
        """Let what still runs in these environments be nobody's: sent and forgotten, or left behind by Ctrl-C."""
        with self._lock:
            for index in indices if self._running else ():
                job = self._running.pop(index, None)
                if job is not None:
                    job.settled = True

    def _submit_reset(self, index: int, request: ResetRequest, inbox: Inbox, key: int) -> Any:
        slot, clock = self._slots[index], self._clocks[index]
        clock.begin("reset")
        self._submit(_Job(slot, partial(clock.time_reset, slot, slot.reset, request), inbox, key))
        return DEFERRED

    def _submit(self, job: _Job) -> None:
        with self._lock:
            self._running[job.slot.index] = job
        submit(self._work, job, self._locks[job.slot.index])

    def _work(self, job: _Job, lock: threading.Lock) -> None:
        try:
            with lock:
                if job.settled:  # disowned before it began: the reset that follows must come last
                    return
                outcome = job.call()
        except BaseException as error:  # none that a slot lets through is expected here; whoever waits must hear of it
            outcome = Broken(f"Env {job.slot.index} ended its thread by {type(error).__name__}: {error}", error, None)
        self._settle(job, outcome)

    def _settle(self, job: _Job, outcome: Any) -> None:
        with self._lock:
            if self._running.get(job.slot.index) is job:
                del self._running[job.slot.index]
            if job.settled:
                return
            job.settled = True
        job.inbox.put(job.key, outcome)

    def _gather(self, inbox: Inbox, outcomes: dict[int, Any]) -> None:
        """Wait for what was handed over, and put it in its place."""
        if DEFERRED in outcomes.values():
            waiting = sum(outcome is DEFERRED for outcome in outcomes.values())
            inbox.wait(waiting, None, self._expire if self._watched else None)
            outcomes.update(inbox.take())

    def _expire(self) -> float | None:
        """Abandon every call that has exceeded its limit; return the seconds until the next one can."""
        pauses: list[float] = []
        with self._lock:
            jobs = [job for job in self._running.values() if not job.settled]
        for job in jobs:
            clock = self._clocks[job.slot.index]
            phase = clock.phase
            limit = self._limits[phase]
            if limit is None:  # then it is the other one that can be exceeded, and not sooner than this
                pauses.append(max(known for known in self._limits.values() if known is not None))
                continue
            left = clock.since + limit - perf_counter()
            if left > 0:
                pauses.append(left)
            elif self._abandon(job, phase, limit):
                pauses.append(0.0)
        return min(pauses, default=None)

    def _abandon(self, job: _Job, phase: str, limit: float) -> bool:
        """Leave a call to its thread and go on with a new environment; return whether the call was still open."""
        with self._lock:
            if job.settled:
                return False
            job.settled = True
        stuck = job.slot
        twin = stuck.successor()
        self._slots[stuck.index] = twin
        self._locks[stuck.index] = threading.Lock()
        # The thread that is stuck may still write to its own.
        clock = self._clocks[stuck.index] = Clock(stuck.index, self._slow, at_once=False)
        clock.begin("reset")
        submit(close_quietly, stuck.env)  # nobody waits for it, but it may free the thread
        fault = Fault("env_timeout", f"{phase} did not return within {phase}_timeout={limit:g} s")
        recover = partial(twin.recover, fault, phase, job.action)
        self._submit(_Job(twin, recover, job.inbox, job.key, job.action))
        return True


def _close_shortly(env: Env) -> None:
    """Close an environment that failed, and wait a moment for it: what it holds may be what the next one needs."""
    wait([submit(close_quietly, env)], timeout=0.5)
