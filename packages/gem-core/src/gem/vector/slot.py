"""One environment of a vector: steps it, begins its next episode, survives its failures.

A slot lives where its environment lives (the calling thread, a pool thread, later a worker process); an executor only
decides where and when to call it. Autoreset (contract V2) and faults (V4, E14) are here and nowhere else.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final, Literal, NamedTuple

from gem.core import Env, StepResult
from gem.errors import Fault
from gem.seeding import derive
from gem.vector.failure import Broken, Refused, check_info, check_reward, close_quietly, describe, shorten

__all__ = ["DEFERRED", "MAX_FAILURES", "Autoreset", "ResetRequest", "Slot", "Steps", "step_slots"]

Autoreset = Literal["same_step", "next_step", "disabled"]
ResetRequest = tuple[int | None, Mapping[str, Any]]
"""`(seed, options)` of one environment."""

MAX_FAILURES: Final = 3
"""So many failures in a row, without a completed step between them, and the vector gives the environment up."""

DEFERRED: Final[Any] = object()
"""What `Slot.step` returns when the next episode is still to be begun by `Slot.resume`."""

_CALLERS = (TypeError, ValueError, LookupError)  # what an environment raises for reset options that it does not take
_NO_OPTIONS: Mapping[str, Any] = {}
_logger = logging.getLogger(__name__)


class Slot:
    """One environment with what is needed to carry on when it ends or fails.

    Args:
        index: Its place in the vector.
        make_env: Builds it, at first and again after a failure.
        autoreset: What happens at the end of an episode.
        defer: Let `step` return `DEFERRED` where the next episode begins, so that the executor chooses where `resume`
            runs.
        close_env: How an environment that failed is closed.
    """

    __slots__ = (
        "_begun",
        "_failed_at",
        "_new",
        "_pending",
        "_reset_info",
        "_row",
        "at_once",
        "autoreset",
        "built",
        "close_env",
        "completed",
        "defer",
        "env",
        "failures",
        "index",
        "make_env",
        "observation",
        "over",
    )

    def __init__(
        self,
        index: int,
        make_env: Callable[[], Env],
        autoreset: Autoreset,
        *,
        defer: bool = False,
        close_env: Callable[[Env], None] = close_quietly,
    ) -> None:
        """Build the environment; what its constructor raises goes to the caller."""
        self.index = index
        self.make_env = make_env
        self.autoreset = autoreset
        self.defer = defer
        self.at_once = autoreset == "same_step" and not defer
        self.close_env = close_env
        self.env: Env
        self.built = False
        self._build()
        self.over = False  # next_step: the episode has ended and the next step begins another
        self.observation: Any = None
        self._reset_info: dict[str, Any] = {}  # of the running episode; it has the seed
        self.completed = 0  # steps that came back, over all episodes
        self.failures = 0
        self._begun = 0  # `completed` when the running episode began
        self._failed_at = 0  # `completed` at the last failure: the same number means the same row of failures
        self._row = 0
        self._new = False  # the environment must be built, or was built again and has no stream of seeds to continue
        # The arguments of `_begin`, where it may run elsewhere or again.
        self._pending: tuple[int | None, Mapping[str, Any], StepResult | None, bool] = (None, _NO_OPTIONS, None, False)

    @property
    def env_id(self) -> str:
        """The id of the environment's spec, or the name of its class."""
        return self.env.spec.id if self.env.spec else type(self.env.unwrapped).__name__

    @property
    def seed(self) -> Any:
        """The seed of the running episode, as its reset reported it."""
        return self._reset_info.get("seed")

    @property
    def fresh(self) -> bool:
        """Whether no step of the running episode has come back yet."""
        return self.completed == self._begun

    def step(self, action: Any) -> Any:
        """Step this environment alone, as `step_slots` does."""
        return step_slots((self,), (action,)).row(0)

    def reset(self, request: ResetRequest) -> Any:
        """Begin an episode as the caller asks.

        An environment that was given up is built again and gets its chances anew.

        Returns:
            `(observation, info)`, or `Broken` or `Refused`.
        """
        if not self.built:
            self._row = 0
        self.over = False
        self._pending = (*request, None, False)
        return self.resume()

    def resume(self) -> Any:
        """Begin the episode that is due, after `step` returned `DEFERRED` or in `reset`; return the whole result."""
        return self._begin(*self._pending)

    def _begin(self, seed: int | None, options: Mapping[str, Any], final: StepResult | None, stepping: bool) -> Any:
        """Begin an episode, with as many attempts as are left.

        Args:
            seed: For the environment's `reset`.
            options: Likewise.
            final: The step that ended the last episode, where its result waits for this reset.
            stepping: Whether the result is that of a step.
        """
        while True:
            try:
                chosen = self._prepare(seed) if self._new else seed
                observation, info = self.env.reset(seed=chosen, **options) if options else self.env.reset(seed=chosen)
                if type(info) is not dict:
                    check_info(info)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                if options and isinstance(error, _CALLERS):
                    return Refused(error)
                broken = self._count(error, step=0, action=None, result=final)
                if broken is not None:
                    return broken
            else:
                break
        self.observation = observation
        self._reset_info = info
        self._begun = self.completed
        if final is not None:
            info = {**info, "final_observation": final[0], "final_info": final[4]}
            return observation, final[1], final[2], final[3], info
        return (observation, 0.0, False, False, info) if stepping else (observation, info)

    def successor(self) -> Slot:
        """Return a slot that goes on where this one is stuck, without its environment."""
        twin = copy.copy(self)
        twin.built, twin._new = False, True
        return twin

    def recover(self, fault: Fault, phase: str, action: Any) -> Any:
        """Go on after a failure that nobody in here could catch: the call hung, or the process died.

        Args:
            fault: What happened.
            phase: What the slot was at, "step" or "reset".
            action: The action of the step.

        Returns:
            The result of the call that failed.
        """
        if phase == "step":
            result = self._fail(fault, action)
            return self.resume() if result is DEFERRED else result
        return self._count(fault, step=0, action=None, result=self._pending[2]) or self.resume()

    def _end(self, result: StepResult) -> Any:
        """Begin the next episode, or say that this one is over, as the mode wants."""
        if self.autoreset == "same_step":
            return self._continue(result)
        observation, reward, terminated, truncated, info = result
        self.observation = observation
        self.over = self.autoreset == "next_step"
        return observation, reward, terminated, truncated, _with_final(info, observation, info)

    def _continue(self, final: StepResult | None) -> Any:
        """Begin the next episode within a step, or leave that to `resume`."""
        if not self.defer:
            return self._begin(None, _NO_OPTIONS, final, True)
        self._pending = (None, _NO_OPTIONS, final, True)
        return DEFERRED

    def _fail(self, error: BaseException, action: Any) -> Any:
        """Turn a failed step into the end of its episode (contract E14)."""
        step = self.completed - self._begun + 1
        kind, message = describe(error)
        broken = self._count(error, step=step, action=action)
        if broken is not None:
            return broken
        info = {
            "truncated_by": "fault",
            "fault": kind,
            "fault_message": message,
            "index": self.index,
            "env_id": self.env_id,
            "seed": self.seed,
            "step": step,
            "action": action,
        }
        result = (self.observation, 0.0, False, True, info)
        while not self.built and self.autoreset != "same_step":  # there the reset follows at once and builds
            try:
                self._build()
            except KeyboardInterrupt:
                raise
            except BaseException as another:
                broken = self._count(another, step=0, action=None, result=result)
                if broken is not None:
                    return broken
        return self._end(result)

    def _count(
        self, error: BaseException, *, step: int, action: Any, result: StepResult | None = None
    ) -> Broken | None:
        """Count a failure and let go of the environment; return `Broken` if that was the last chance."""
        self._row = self._row + 1 if self._failed_at == self.completed else 1
        self._failed_at = self.completed
        self.failures += 1
        kind, text = describe(error)
        call = f"step {step}, action {shorten(action)}" if step else "reset"
        message = f"Env {self.index} ({self.env_id}, seed {self.seed}) failed in {call}: {kind}: {text}"
        _logger.warning("%s", message, exc_info=error)
        if self.built:
            self.built, self._new = False, True
            self.close_env(self.env)
        if self._row < MAX_FAILURES:
            return None
        message += (
            f" This was failure {self._row} in a row without a completed step, so it is given up; the others can be "
            f"stepped by step({{index: action}}), and reset(indices=[{self.index}]) builds this one again."
        )
        if result is not None:
            result = (*result[:4], _with_final(result[4], result[0], result[4]))
        return Broken(message, error, result)

    def _build(self) -> None:
        env = self.make_env()
        if not isinstance(env, Env):
            raise TypeError(f"env_fns[{self.index}]() returned a {type(env).__name__}; it builds a gem.Env.")
        self.env = env
        self.built = True

    def _prepare(self, seed: int | None) -> int | None:
        """Build the environment if need be; return the seed of its first reset.

        Where the environment that failed had a stream of seeds of its own, the new one goes on deterministically.
        """
        if not self.built:
            self._build()
        self._new = False
        if seed is not None:
            return seed
        seed = self.seed
        return derive(seed, "rebuilt", self.failures) if isinstance(seed, int) and seed >= 0 else None


class Steps(NamedTuple):
    """What a batch of steps brought, column by column.

    Attributes:
        observations: By position in the batch, like the next two; a placeholder stands where there is a row.
        rewards: Likewise.
        infos: Likewise.
        rows: `{position: outcome}` of what is more than a step within an episode: a `StepResult`, `Broken` or
            `DEFERRED`.
    """

    observations: list[Any]
    rewards: list[float]
    infos: list[Any]
    rows: dict[int, Any]

    @classmethod
    def of_rows(cls, rows: Iterable[Any]) -> Steps:
        """Make a batch of outcomes alone."""
        by_position = dict(enumerate(rows))
        size = len(by_position)
        return cls([None] * size, [0.0] * size, [None] * size, by_position)

    def row(self, position: int) -> Any:
        """Return one outcome."""
        if position in self.rows:
            return self.rows[position]
        return self.observations[position], self.rewards[position], False, False, self.infos[position]


def step_slots(
    slots: Sequence[Slot],
    actions: Sequence[Any],
    *,
    late: Callable[[Slot, float], bool] | None = None,
    limit: float = 0.0,
) -> Steps:
    """Step environments one after the other; end, restart and repair each as need be.

    This is the one place where environments are stepped, and where they are cheap it decides the speed of a vector. So
    it is flat, and it keeps columns: rows would have to live until the batch is complete, and be taken apart again.

    Args:
        slots: The environments.
        actions: One for each.
        late: Called with an environment and the seconds that its step took, where they exceed `limit`; returns whether
            to stop there, which makes the batch shorter.
        limit: Seconds.

    Returns:
        What the environments returned; where an episode ended, as the autoreset mode says; a fault's result where an
        environment failed; `Broken` where it was given up; `DEFERRED` where `resume` is to be called for the result.
    """
    observations: list[Any] = []
    rewards: list[float] = []
    infos: list[Any] = []
    add_observation, add_reward, add_info = observations.append, rewards.append, infos.append
    rows: dict[int, Any] = {}
    before = perf_counter()
    last = None
    for slot, action in zip(slots, actions, strict=True):
        if late is not None:
            now = perf_counter()
            if now - before > limit and last is not None and late(last, now - before):
                break
            before, last = now, slot
        if slot.over:
            slot.over = False
            outcome = slot._continue(None)  # the action is for an episode that has not begun
        else:
            try:
                observation, reward, terminated, truncated, info = final = slot.env.step(action)
                if not (terminated or truncated):
                    slot.completed += 1
                    slot.observation = observation
                    add_observation(observation)
                    add_reward(reward)
                    add_info(info)
                    continue
                if type(reward) is not float or type(info) is not dict:
                    check_reward(reward)
                    check_info(info)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                outcome = slot._fail(error, action)
            else:
                slot.completed += 1
                outcome = slot._begin(None, _NO_OPTIONS, final, True) if slot.at_once else slot._end(final)
        rows[len(rewards)] = outcome
        observations.append(None)
        rewards.append(0.0)
        infos.append(None)
    if last is not None and late is not None and perf_counter() - before > limit and len(rewards) == len(slots):
        late(last, perf_counter() - before)
    try:
        sum(rewards)  # raises where one is no number; a check of each in the loop would cost more than all else in it
    except TypeError:
        for position, reward in enumerate(rewards):
            try:
                check_reward(reward)
            except TypeError as error:
                slots[position].completed -= 1
                rows[position] = slots[position]._fail(error, actions[position])
                rewards[position] = 0.0
    return Steps(observations, rewards, infos, rows)


def _with_final(info: dict[str, Any], observation: Any, final_info: dict[str, Any]) -> dict[str, Any]:
    return {**info, "final_observation": observation, "final_info": final_info}
