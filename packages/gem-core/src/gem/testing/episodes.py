"""Play episodes and look at every result that comes back: the clauses E1 to E5 that hold at each step."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gem.core import Env, StepResult, Wrapper
from gem.errors import ContractError, DatasetError, Fault, MissingDependency, ResultError
from gem.testing.report import Report, shown
from gem.wrappers.checks import EnvChecks

__all__ = ["Episode", "Policy", "Subject", "difference", "oracle_policy", "random_policy", "wrapped_in_checks"]

TRUNCATED_BY = ("max_turns", "step_limit", "token_limit", "time_limit", "tool_limit", "fault")
_CANNOT_RUN = (ContractError, DatasetError, Fault, MissingDependency)  # these say nothing about the environment

Policy = Callable[[Env], Any]
"""Returns the next action, or None to stop."""


@dataclass
class Episode:
    """What was done and what came back.

    Attributes:
        seed: What `reset` got.
        start: What it returned.
        actions: What was done.
        results: What each `step` returned.
    """

    seed: int | None
    start: tuple[Any, dict[str, Any]]
    actions: list[Any] = field(default_factory=list)
    results: list[StepResult] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        """Whether the environment ended it."""
        return bool(self.results) and (self.results[-1][2] or self.results[-1][3])

    @property
    def total(self) -> float:
        """The undiscounted return."""
        return sum(result[1] for result in self.results)

    @property
    def success(self) -> bool:
        """Whether the task was solved."""
        return self.ended and self.results[-1][4].get("success") is True

    def __str__(self) -> str:
        """Say how to have it again."""
        return f"reset(seed={self.seed}) and the actions {shown(self.actions)}"


def random_policy(subject: Subject) -> Policy:
    """Return the policy that samples."""

    def act(env: Env) -> Any:
        try:
            action: Any = env.sample_random_action()
        except Exception as error:
            subject.report.fail("E7", f"sample_random_action() raised {error!r}.")
        if not isinstance(action, env.action_type):
            subject.report.fail("E7", f"actions are of type {env.action_type.__name__}; sampled {shown(action)}.")
        return action

    return act


def oracle_policy(subject: Subject) -> Policy:
    """Return the policy that asks the solver."""

    def act(env: Env) -> Any:
        try:
            return env.oracle_action()
        except _CANNOT_RUN:
            raise
        except Exception as error:
            subject.report.fail("E1", f"oracle_action() raised {error!r}; where no solver is known it returns None.")

    return act


@dataclass
class Subject:
    """The environment that is being checked.

    Attributes:
        report: What was found so far.
        make: Makes a fresh one, with the checks of `gem.make` round it.
        seeds: The seeds to play.
        max_steps: Where to leave an episode that does not end.
        bare: Whether nothing but those checks is round it, so that the clauses on unwrapped episodes hold.
        text: Whether its actions are text.
    """

    report: Report
    make: Callable[[], Env]
    seeds: tuple[int, ...]
    max_steps: int
    bare: bool = True
    text: bool = True

    def reset(self, env: Env, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Reset, and check what came back."""
        call = ", ".join(f"{name}={value!r}" for name, value in {"seed": seed, **options}.items())
        try:
            start: Any = env.reset(seed=seed, **options)
        except _CANNOT_RUN:
            raise
        except Exception as error:
            raise ContractError("E1", f"{self.report.name}: reset({call}) raised {error!r}.") from error
        where = f"reset({call})"
        if not (type(start) is tuple and len(start) == 2 and isinstance(start[1], dict)):
            self.report.fail("E1", f"{where} returns (observation, info); got {shown(start)}.")
        observation, info = start
        if type(info.get("seed")) is not int or not isinstance(info.get("env_id"), str):
            self.report.fail("E4", f"{where}: info has 'seed' (int) and 'env_id' (str); got {shown(info)}.")
        self._check_info(observation, info, where)
        return start[0], start[1]

    def step(self, env: Env, action: Any, after: str = "") -> StepResult:
        """Step, and check what came back."""
        where = f"step({shown(action)}){after}"
        try:
            result: Any = env.step(action)
        except _CANNOT_RUN:
            raise
        except ResultError as error:
            self.report.fail("E1", f"{where}: {error}")
        except Exception as error:
            message = f"{self.report.name}: {where} raised {error!r}; whatever the action says, a step answers it."
            raise ContractError("E8", message) from error
        fail = self.report.fail
        if not (type(result) is tuple and len(result) == 5 and isinstance(result[4], dict)):
            fail("E1", f"{where} returns (observation, reward, terminated, truncated, info); got {shown(result)}.")
        observation, reward, terminated, truncated, info = result
        if type(terminated) is not bool or type(truncated) is not bool:
            fail("E1", f"{where}: terminated and truncated are bools; got {terminated!r} and {truncated!r}.")
        if type(reward) is not float or not math.isfinite(reward):
            fail("E5", f"{where}: a reward is a finite Python float; got {reward!r} of type {type(reward).__name__}.")
        self._check_info(observation, info, where)
        self._check_end(result, where)
        return observation, reward, terminated, truncated, info

    def play(
        self, env: Env, policy: Policy, *, seed: int | None = None, limit: int | None = None, **options: Any
    ) -> Episode:
        """Play an episode from its reset until it ends, the policy stops, or `limit` steps are done."""
        episode = Episode(seed, self.reset(env, seed, **options))
        return self.go_on(env, policy, episode, limit=limit)

    def go_on(self, env: Env, policy: Policy, episode: Episode, *, limit: int | None = None) -> Episode:
        """Play on, and add to the episode."""
        for _ in range(self.max_steps if limit is None else limit):
            if episode.ended:
                break
            action = policy(env)
            if action is None:
                break
            after = f" in step {len(episode.actions)} after reset(seed={episode.seed})"
            episode.actions.append(action)
            episode.results.append(self.step(env, action, after))
        return episode

    def _check_info(self, observation: Any, info: dict[str, Any], where: str) -> None:
        wrong = _not_json(info, "info")
        if wrong:
            self.report.fail("E4", f"{where}: info holds plain JSON values only; {wrong}.")
        suffix = info.get("suffix")
        if suffix is not None and not (isinstance(suffix, str) and str(observation).endswith(suffix)):
            message = f"the observation ends with info['suffix'] {shown(suffix)}; it is {shown(observation)}"
            self.report.fail("E2", f"{where}: {message}.")

    def _check_end(self, result: StepResult, where: str) -> None:
        _, _, terminated, truncated, info = result
        fail = self.report.fail
        by = info.get("truncated_by")
        if truncated and by not in TRUNCATED_BY:
            fail("E3", f"{where}: a truncated episode is 'truncated_by' one of {', '.join(TRUNCATED_BY)}; got {by!r}.")
        if not truncated and "truncated_by" in info:
            fail("E3", f"{where}: info has 'truncated_by' {by!r}, but the episode is not truncated.")
        if self.bare and terminated and truncated:
            fail("E3", f"{where}: terminated and truncated; only a limit wrapper outside makes an episode both.")
        if not terminated and not truncated:
            return
        if by == "fault":
            if "success" in info:
                fail("E4", f"{where}: a fault ended the episode, so info has no 'success'; got {shown(info)}.")
            return
        success = info.get("success")
        if type(success) is not bool:
            fail("E4", f"{where}: the episode is over, so info['success'] is a bool; got {shown(info)}.")
        if info.get("correct", success) is not success:
            fail("E4", f"{where}: 'correct' is another name of 'success'; got {info['correct']!r} and {success!r}.")
        if truncated and not terminated and success:
            fail("E3", f"{where}: a solved task is terminated; this one is truncated alone, with success=True.")


def wrapped_in_checks(env: Env) -> Env:
    """Put the checks of `gem.make` round an environment that has none."""
    layer = env
    while isinstance(layer, Wrapper):
        if isinstance(layer, EnvChecks):
            return env
        layer = layer.env
    return EnvChecks(env)


def difference(first: Episode, second: Episode) -> str:
    """Say where two episodes differ; empty where they do not.

    What a wrapper tells about the episode before (`prev_ep_...`) is no part of an episode.
    """
    if not _same(_own_start(first), _own_start(second)):
        return f"reset gave {shown(first.start)} and {shown(second.start)}"
    for step, (a, b) in enumerate(zip(first.actions, second.actions, strict=False)):
        if not _same(a, b):
            return f"the sampled action of step {step} was {shown(a)} and {shown(b)}"
        if not _same(first.results[step], second.results[step]):
            return f"step {step} ({shown(a)}) gave {shown(first.results[step])} and {shown(second.results[step])}"
    if len(first.actions) != len(second.actions):
        return f"it took {len(first.actions)} and {len(second.actions)} steps"
    return ""


def _own_start(episode: Episode) -> tuple[Any, dict[str, Any]]:
    observation, info = episode.start
    return observation, {key: value for key, value in info.items() if not key.startswith("prev_ep_")}


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except ValueError:  # arrays compare element by element
        return pickle.dumps(a) == pickle.dumps(b)


def _not_json(value: Any, path: str) -> str:
    """Name the first value that is not plain JSON; empty where all are."""
    if value is None or type(value) in (str, int, bool):
        return ""
    if type(value) is float:
        return "" if math.isfinite(value) else f"{path} is {value!r}"
    if type(value) is list:
        return next(filter(None, (_not_json(item, f"{path}[{i}]") for i, item in enumerate(value))), "")
    if type(value) is dict:
        odd = [key for key in value if type(key) is not str]
        if odd:
            return f"{path} has the key {odd[0]!r}"
        return next(filter(None, (_not_json(item, f"{path}[{key!r}]") for key, item in value.items())), "")
    return f"{path} is {shown(value)} of type {type(value).__name__}"
