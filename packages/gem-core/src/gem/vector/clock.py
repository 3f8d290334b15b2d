"""What the calls of an environment cost, by which the threaded executor chooses where to run it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

from gem.vector.slot import DEFERRED, Slot

__all__ = ["HAND_OVER", "SURPRISE", "Clock"]

HAND_OVER: Final = 200e-6
"""Seconds. What is expected to take longer goes to a thread: a hand-over costs a tenth of it, which is what threads
may cost an environment that computes (and gains nothing), and far less than what one that waits for something wins."""

SURPRISE: Final = 1e-3
"""Seconds. After two calls of this length where short ones were expected, the rest of the batch goes to threads."""

_HICCUP = 1.5e-3
"""Seconds. A longer call counts as this long where cheap ones are expected: it takes two within ten to believe it, so
that a pause which the machine made does not send a cheap environment to a thread."""


class Clock:
    """Times the calls of one environment.

    Args:
        index: The environment.
        slow: Holds the indices of environments whose steps are not known to be cheap; kept up to date.
        at_once: Whether an environment whose resets are cheap may begin its next episode within `step`.

    Attributes:
        step: Moving average of its steps, in seconds; negative: not known.
        reset: Likewise of its resets.
        phase: What it is at, "step" or "reset".
        since: When that began.
    """

    __slots__ = ("_at_once", "_index", "_slow", "_surprised_at", "phase", "reset", "since", "step")

    def __init__(self, index: int, slow: set[int], *, at_once: bool) -> None:
        """Begin without knowledge."""
        self._index = index
        self._slow = slow
        self._at_once = at_once
        slow.add(index)
        self.step = self.reset = -1.0
        self.begin("step")
        self._surprised_at = 0  # `Slot.completed` at the last step that took longer than expected

    @property
    def reset_is_cheap(self) -> bool:
        """Whether a reset is expected to cost less than a hand-over."""
        return 0 <= self.reset < HAND_OVER

    def begin(self, phase: str) -> None:
        """Note what begins now."""
        self.phase = phase
        self.since = perf_counter()

    def time_step(self, slot: Slot, action: Any) -> Any:
        """Step an environment, and begin its next episode where that is due, in a thread."""
        self.begin("step")
        outcome = slot.step(action)
        self._learn_step(self.step, perf_counter() - self.since)
        return self.time_reset(slot, slot.resume) if outcome is DEFERRED else outcome

    def time_reset(self, slot: Slot, reset: Callable[..., Any], *args: Any) -> Any:
        """Call what resets an environment."""
        self.begin("reset")
        outcome = reset(*args)
        self._learn_reset(slot, perf_counter() - self.since)
        return outcome

    def surprise(self, slot: Slot, seconds: float) -> None:
        """Take note of a step in the calling thread that took longer than a hand-over."""
        if slot.fresh:  # it was the reset within the step, or both
            self._learn_reset(slot, seconds)
            return
        # The cheap ones since the last surprise were not averaged in one by one: that would cost more than it tells.
        cheap = slot.completed - self._surprised_at
        self._surprised_at = slot.completed
        self._learn_step(self.step * 0.9**cheap, min(seconds, _HICCUP))

    def _learn_step(self, average: float, seconds: float) -> None:
        self.step = _blend(average, seconds)
        if self.step < HAND_OVER:
            self._slow.discard(self._index)
        else:
            self._slow.add(self._index)

    def _learn_reset(self, slot: Slot, seconds: float) -> None:
        self.reset = _blend(self.reset, min(seconds, _HICCUP))
        slot.at_once = self._at_once and self.reset < HAND_OVER


def _blend(average: float, sample: float) -> float:
    return sample if average < 0 else average + 0.1 * (sample - average)
