"""Many environments stepped together: one call, one batch.

`VectorEnv` checks what comes in, builds the batches and says what went wrong. How one environment ends, restarts and
survives a failure stands in `slot.py`; where and when it runs is the executor's business (`sync.py`, `threaded.py`).
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from gem.concurrency import run_in_thread
from gem.core import Env, StepResult
from gem.errors import ResetNeeded, VectorEnvError
from gem.seeding import check_seed, derive
from gem.vector.arguments import ActionCheck, check_indices, reset_requests
from gem.vector.executor import Executor, StepOutcome
from gem.vector.failure import Broken, Refused
from gem.vector.monitor import EpisodeLog, Monitor
from gem.vector.slot import Autoreset, Steps

if TYPE_CHECKING:
    from gem.specs import EnvSpec

__all__ = ["ReceivedBatch", "StepBatch", "VectorEnv"]

T = TypeVar("T")
StepBatch = tuple[
    list[Any], npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], list[dict[str, Any]]
]
"""`(observations, rewards, terminated, truncated, infos)`, one entry per stepped environment."""
ReceivedBatch = tuple[
    list[int], list[Any], npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], list[dict[str, Any]]
]
"""`(indices, observations, rewards, terminated, truncated, infos)`."""

_BACKENDS = {
    "sync": "gem.vector.sync:SyncExecutor",
    "thread": "gem.vector.threaded:ThreadedExecutor",
    "process": "gem.vector.process:make_process_executor",
    "ray": "gem.vector.ray:make_ray_executor",
}
# As dtypes: numpy takes longer to find them by their types than to make a small array.
_BOOL: np.dtype[np.bool_] = np.dtype(np.bool_)
_FLOAT64: np.dtype[np.float64] = np.dtype(np.float64)
_NOBODY: frozenset[int] = frozenset()
_NEW, _ENDED, _LOST, _GIVEN_UP = "has not been reset yet", "has ended its episode", "was interrupted", "was given up"


class VectorEnv:
    """Environments that are stepped together; `gem.make_vec` makes one.

    At the end of an episode the final observation and info are in `info["final_observation"]` and
    `info["final_info"]`, in every mode: `same_step` returns the next episode's first observation and info along with
    them; `next_step` begins the next episode in the following step, which ignores its action and gives reward 0;
    `disabled` waits for `reset`.

    An environment that raises or exceeds a time-out ends its episode as a fault (contract E14): truncated, reward 0.0,
    the last observation, and a final info with `fault`, `fault_message`, `index`, `env_id`, `seed`, `step` (counted
    from 1), `action` and no `success`. It is built again by `env_fns[i]()` and its seeds go on deterministically.
    Three failures in a row without a completed step raise `VectorEnvError`, whose `results` hold what else the call
    brought; the other environments stay usable.

    Args:
        env_fns: Build the environments.
        backend: "sync" (all in the calling thread), "thread" (what is slower than a hand-over runs in threads), or a
            callable that makes an `Executor`.
        autoreset: "same_step", "next_step" or "disabled".
        seed: For the first reset, as if given there.
        step_timeout: Seconds that a step may take (not with "sync", which cannot interrupt).
        reset_timeout: Seconds that a reset may take (likewise).
        monitors: Told at the end of every episode.
        specs: The environments' specs; read from them if None.

    Attributes:
        env_fns: As given.
        num_envs: How many there are.
        specs: One per environment, None for one that was constructed by hand.

    Raises:
        TypeError: `env_fns` is empty or holds what cannot be called.
        ValueError: An unknown backend or mode, a time-out that is not positive, or a setting that the backend cannot
            honour.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Env]],
        *,
        backend: str | Callable[..., Executor] = "sync",
        autoreset: Autoreset = "same_step",
        seed: int | None = None,
        step_timeout: float | None = None,
        reset_timeout: float | None = None,
        monitors: Sequence[Monitor] = (),
        specs: Sequence[EnvSpec | None] | None = None,
    ) -> None:
        """Check the settings and build the environments."""
        self._closed = True  # until everything is there
        self.env_fns = tuple(env_fns)
        self.num_envs = len(self.env_fns)
        if not self.env_fns or not all(map(callable, self.env_fns)):
            raise TypeError("env_fns is a list of at least one callable, each of which builds an environment.")
        if autoreset not in get_args(Autoreset):
            raise ValueError(f"autoreset is one of {', '.join(get_args(Autoreset))}; got {autoreset!r}.")
        for name, limit in (("step_timeout", step_timeout), ("reset_timeout", reset_timeout)):
            if limit is not None and not limit > 0:
                raise ValueError(f"{name} is a positive number of seconds, or None for no limit; got {limit!r}.")
        self.autoreset = autoreset
        self._pending: dict[int, int] = {}
        if seed is not None:
            check_seed(seed)
            self._pending = {index: derive(seed, index) for index in range(self.num_envs)}
        self._executor = _find_executor(backend)(
            self.env_fns, autoreset=autoreset, step_timeout=step_timeout, reset_timeout=reset_timeout
        )
        everyone = self._everyone = range(self.num_envs)
        self._all = frozenset(everyone)
        self.specs = [self._executor.apply(i, _spec) for i in everyone] if specs is None else list(specs)
        self.env_ids = [self._executor.apply(i, _env_id) for i in everyone]
        action_types = [self._executor.apply(i, operator.attrgetter("action_type")) for i in everyone]
        self._check = ActionCheck(action_types, everyone)
        self._log = EpisodeLog(self.env_ids, monitors) if monitors else None
        self._unready: dict[int, str] = dict.fromkeys(everyone, _NEW)
        self._sent: set[int] = set()  # stepped by `send` and not yet received
        self._busy = _NOBODY  # those, and what other calls are at this moment about
        self._lock = threading.Lock()
        self._received: list[tuple[int, StepOutcome]] = []  # taken from the executor, not yet given to the caller
        self._closed = False

    def reset(
        self, seed: int | Sequence[int | None] | None = None, *, indices: Sequence[int] | None = None, **options: Any
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Begin episodes, side by side where the backend can; clears a pending autoreset.

        Args:
            seed: An integer gives environment i `gem.seeding.derive(seed, i)`; a list has one seed, or None, per
                environment to reset.
            indices: Which to reset, as integers or as a mask of booleans; None resets all. Steps of theirs that were
                sent and not received are waited for and dropped.
            options: Passed to every `reset`; `env3_kwargs={...}` goes to environment 3 alone.

        Returns:
            `(observations, infos)` in the order of `indices`.

        Raises:
            TypeError: A seed or index is not an integer, or an environment does not take an option.
            ValueError: Wrong number of seeds, a negative one, or an index that does not exist or comes twice.
            VectorEnvError: An environment failed three times in a row, or the vector is closed.
        """
        chosen: Sequence[int] = self._everyone if indices is None else check_indices(indices, self.num_envs)
        requests = reset_requests(chosen, seed, options, self._pending)
        self._forget(chosen)
        self._claim(chosen)
        try:
            outcomes = self._executor.reset(chosen, requests)
        except BaseException:
            self._unready.update(dict.fromkeys(chosen, _LOST))
            raise
        finally:
            self._release(chosen)
        if self._log is not None:
            self._log.begin(chosen)
        done, observations, infos = [], [], []
        broken: dict[int, Broken] = {}
        refused = None
        for index, outcome in zip(chosen, outcomes, strict=True):
            if isinstance(outcome, Broken):
                broken[index] = outcome
                continue
            if isinstance(outcome, Refused):
                refused = refused or outcome
                self._unready[index] = _LOST
                continue
            self._pending.pop(index, None)
            self._unready.pop(index, None)
            done.append(index)
            observations.append(outcome[0])
            infos.append(outcome[1])
        if refused is not None:
            self._unready.update(dict.fromkeys(broken, _GIVEN_UP))
            raise refused.error
        if broken:
            self._give_up(broken, (done, observations, infos))
        return observations, infos

    def step(self, actions: Sequence[Any] | Mapping[int, Any]) -> StepBatch:
        """Step all environments, or some, and wait for them.

        Args:
            actions: One per environment, or `{index: action}`.

        Returns:
            `(observations, rewards, terminated, truncated, infos)` in the order of `actions`: lists, and numpy arrays
            of shape `(len(actions),)` with dtypes float64, bool and bool.

        Raises:
            ResetNeeded: An environment has not been reset, or its episode is over and autoreset is disabled; nothing
                was stepped.
            TypeError: `actions` or one of them has the wrong type; nothing was stepped.
            ValueError: Wrong number of actions, or a wrong index; nothing was stepped.
            VectorEnvError: An environment failed three times in a row, is busy, or was given up; or the vector is
                closed.
        """
        indices, actions = self._check(actions)
        if self._unready:
            self._refuse_unready(indices)
        self._claim(indices)
        try:
            steps = self._executor.step(indices, actions)
        except BaseException:  # Ctrl-C: where these environments stand, nobody knows
            self._unready.update(dict.fromkeys(indices, _LOST))
            raise
        finally:
            self._release(indices)
        return self._batch(indices, steps)

    def send(self, actions: Sequence[Any] | Mapping[int, Any]) -> None:
        """Begin to step all environments, or some, without waiting; `recv` brings the results.

        Args:
            actions: One per environment, or `{index: action}`.

        Raises:
            The same as `step`.
        """
        indices, actions = self._check(actions)
        if self._unready:
            self._refuse_unready(indices)
        self._claim(indices)
        self._sent.update(indices)
        try:
            self._executor.start(indices, actions)
        except BaseException:
            self._unready.update(dict.fromkeys(indices, _LOST))
            self._forget(indices)
            raise

    def recv(self, min_ready: int = 1, timeout: float | None = None) -> ReceivedBatch:
        """Return the results of sent steps that are there, oldest first.

        Args:
            min_ready: Wait until so many are there (all that are under way, if they are fewer); 0 waits for none.
            timeout: Wait no longer than so many seconds; then there may be fewer, or none.

        Returns:
            `(indices, observations, rewards, terminated, truncated, infos)`.

        Raises:
            ValueError: `min_ready` is negative.
            VectorEnvError: Nothing is under way; or an environment failed three times in a row, once the results that
                came before it have been received.
        """
        self._executor.wait(self._missing(min_ready), timeout)
        return self._receive()

    async def areset(
        self, seed: int | Sequence[int | None] | None = None, *, indices: Sequence[int] | None = None, **options: Any
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Do what `reset` does without blocking the event loop. If cancelled, it still runs to its end."""
        return await run_in_thread(self.reset, seed, indices=indices, **options)

    async def astep(self, actions: Sequence[Any] | Mapping[int, Any]) -> StepBatch:
        """Do what `step` does without blocking the event loop. If cancelled, it still runs to its end."""
        return await run_in_thread(self.step, actions)

    async def asend(self, actions: Sequence[Any] | Mapping[int, Any]) -> None:
        """Do what `send` does without blocking the event loop."""
        await run_in_thread(self.send, actions)

    async def arecv(self, min_ready: int = 1, timeout: float | None = None) -> ReceivedBatch:
        """Do what `recv` does without blocking the event loop. If cancelled, no result is lost."""
        await run_in_thread(self._executor.wait, self._missing(min_ready), timeout)
        return self._receive()

    def call(self, name: str, *args: Any, indices: Sequence[int] | None = None, **kwargs: Any) -> list[Any]:
        """Call a method of every environment, or of some, and return what they return."""
        return self._apply(operator.methodcaller(name, *args, **kwargs), indices)

    def get_attr(self, name: str, indices: Sequence[int] | None = None) -> list[Any]:
        """Read an attribute of every environment, or of some."""
        return self._apply(operator.attrgetter(name), indices)

    def set_attr(self, name: str, value: Any, indices: Sequence[int] | None = None) -> None:
        """Set an attribute of every environment, or of some, to one value, on the layer that owns it."""
        self._apply(operator.methodcaller("set_attr", name, value), indices)

    def sample_random_actions(self, indices: Sequence[int] | None = None) -> list[Any]:
        """Return a random action for every environment, or for some."""
        return self.call("sample_random_action", indices=indices)

    def oracle_actions(self, indices: Sequence[int] | None = None) -> list[Any]:
        """Return the solver's next action for every environment, or for some; None where none is known."""
        return self.call("oracle_action", indices=indices)

    @property
    def envs(self) -> list[Env]:
        """The environments, where they live in this process."""
        return self._executor.envs

    def close(self) -> None:
        """Close every environment; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self._executor.close()

    def __enter__(self) -> VectorEnv:
        """Return the vector itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the vector."""
        self.close()

    def __repr__(self) -> str:
        """Name the ids, and how many environments there are."""
        return f"<VectorEnv {self.num_envs} x {', '.join(dict.fromkeys(self.env_ids))}>"

    def _apply(self, function: Callable[[Env], T], indices: Sequence[int] | None) -> list[T]:
        chosen = self._everyone if indices is None else check_indices(indices, self.num_envs)
        self._claim(chosen)
        try:
            return [self._executor.apply(index, function) for index in chosen]
        finally:
            self._release(chosen)

    def _claim(self, indices: Sequence[int]) -> None:
        """Mark environments as busy, or refuse if one is."""
        if self._closed:
            raise VectorEnvError(f"{self!r} is closed.")
        if indices is self._everyone and not self._busy:  # the usual case, without the lock that guards disjoint calls
            self._busy = self._all
            return
        with self._lock:
            taken = self._busy.intersection(indices) if self._busy else None
            if taken:
                which = tuple(sorted(taken))
                raise VectorEnvError(f"{_name(which)} still busy: receive what was sent (recv) first.", which)
            self._busy = self._busy.union(indices)

    def _release(self, indices: Collection[int]) -> None:
        if indices is self._everyone:
            self._busy = _NOBODY
            return
        with self._lock:
            self._busy = self._busy.difference(indices)

    def _forget(self, indices: Collection[int]) -> None:
        """Let go of sent steps: their results, there or still to come, are nobody's."""
        dropped = self._sent.intersection(indices)
        if dropped:
            self._executor.forget(dropped)
            self._received = [pair for pair in self._received if pair[0] not in dropped]
            self._sent -= dropped
            self._release(dropped)

    def _missing(self, min_ready: int) -> int:
        """Return how many outcomes the executor must have for `recv` to return."""
        if self._closed:
            raise VectorEnvError(f"{self!r} is closed.")
        if min_ready < 0:
            raise ValueError(f"min_ready is 0 or larger; got {min_ready}.")
        if min_ready and not self._sent:
            raise VectorEnvError("recv() has nothing to wait for: no step was sent that was not received.")
        return min(min_ready, len(self._sent)) - len(self._received)

    def _receive(self) -> ReceivedBatch:
        outcomes = self._received + self._executor.take()
        first = next((place for place, (_, outcome) in enumerate(outcomes) if type(outcome) is Broken), len(outcomes))
        ready = outcomes[:first] or outcomes[:1]  # what came before a failure is received before it is raised
        self._received = outcomes[len(ready) :]
        indices = [index for index, _ in ready]
        self._sent.difference_update(indices)
        self._release(indices)
        return (indices, *self._batch(indices, Steps.of_rows(outcome for _, outcome in ready)))

    def _batch(self, indices: Sequence[int], steps: Steps) -> StepBatch:
        observations, rewards, infos, rows = steps
        size = len(rewards)
        ended, cut = bytearray(size), bytearray(size)  # an item of an array costs several times what a byte costs
        for position, outcome in rows.items():
            if type(outcome) is Broken:
                self._raise_broken(indices, steps)
            observations[position], rewards[position], over, limited, infos[position] = outcome
            if over:
                ended[position] = 1
            if limited:
                cut[position] = 1
        terminated, truncated = np.frombuffer(ended, _BOOL), np.frombuffer(cut, _BOOL)
        if self._log is not None:
            ends = terminated | truncated
            self._log.record(indices, rewards, ends, infos, waits=self.autoreset == "next_step")
        if self.autoreset == "disabled" and rows:
            over = np.flatnonzero(terminated | truncated).tolist()
            self._unready.update((indices[position], _ENDED) for position in over)
        return observations, np.fromiter(rewards, _FLOAT64, size), terminated, truncated, infos

    def _raise_broken(self, indices: Sequence[int], steps: Steps) -> NoReturn:
        """Raise what broke; the results of all that did not are in the error, so that nothing is lost."""
        broken: dict[int, Broken] = {}
        finished: dict[int, StepResult] = {}
        for position, index in enumerate(indices):
            outcome = steps.row(position)
            if type(outcome) is Broken:
                broken[index] = outcome
                outcome = outcome.result
            if outcome is not None:
                finished[index] = outcome
        kept = list(finished)
        self._give_up(broken, (kept, *self._batch(kept, Steps.of_rows(finished.values()))))

    def _give_up(self, broken: Mapping[int, Broken], results: Any) -> NoReturn:
        self._unready.update(dict.fromkeys(broken, _GIVEN_UP))
        error = VectorEnvError(" ".join(outcome.message for outcome in broken.values()), tuple(broken))
        error.results = results
        raise error from next(iter(broken.values())).cause

    def _refuse_unready(self, indices: Collection[int]) -> None:
        chosen = {index: self._unready[index] for index in indices if index in self._unready}
        if not chosen:
            return
        reasons: dict[str, list[int]] = {}
        for index, reason in chosen.items():
            reasons.setdefault(reason, []).append(index)
        text = "; ".join(
            f"{'each of envs' if len(which) > 1 else 'env'} {', '.join(map(str, which))} {reason}"
            for reason, which in reasons.items()
        )
        advice = f"Nothing was stepped: call reset(indices={list(chosen)}), or step the others by {{index: action}}."
        if _GIVEN_UP in reasons:
            raise VectorEnvError(f"Cannot step: {text}. {advice}", tuple(chosen))
        raise ResetNeeded(f"Cannot step: {text}. {advice}")


def _find_executor(backend: str | Callable[..., Executor]) -> Callable[..., Executor]:
    if not isinstance(backend, str):
        return backend
    if backend not in _BACKENDS:
        known = ", ".join(_BACKENDS)
        raise ValueError(f"backend is one of {known}, or a callable that makes an executor; got {backend!r}.")
    module, _, name = _BACKENDS[backend].partition(":")
    executor: Callable[..., Executor] = getattr(import_module(module), name)
    return executor


def _spec(env: Env) -> EnvSpec | None:
    return env.spec


def _env_id(env: Env) -> str:
    return env.spec.id if env.spec else type(env.unwrapped).__name__


def _name(indices: Sequence[int]) -> str:
    return f"Env {indices[0]} is" if len(indices) == 1 else f"Envs {', '.join(map(str, indices))} are"
