"""The clauses that show in plain episodes: E1 to E5, E7, E9, E12 and E13."""

from __future__ import annotations

import contextlib
import io
import logging
import random
import warnings
from typing import Any, cast

from gem.concurrency import run_sync
from gem.core import Env, Wrapper
from gem.errors import ResetNeeded
from gem.parsing import extract
from gem.testing.episodes import Episode, Subject, difference, oracle_policy, random_policy
from gem.testing.report import shown

__all__ = ["ORACLE_STEPS", "check_async", "check_episodes", "check_interface", "check_silence", "reset_again"]

_TOLERANCE = 1e-9
ORACLE_STEPS = 20_000
"""Where to leave a solver; the longest game's needs thousands of steps."""


def check_interface(subject: Subject) -> None:
    """Check names, types, closing and misuse (E1, E9)."""
    fail, seed = subject.report.fail, subject.seeds[0]
    env = subject.make()
    inside_all, rng = env.unwrapped, cast(Any, env.rng)
    if isinstance(inside_all, Wrapper):
        fail("E1", f"unwrapped is the environment inside all wrappers; got {inside_all!r}.")
    if not isinstance(rng, random.Random):
        fail("E1", f"rng is a random.Random; got {rng!r}.")
    if env.answer_format not in ("boxed", "answer", "fenced", None):
        fail("E1", f"answer_format is 'boxed', 'answer', 'fenced' or None; got {env.answer_format!r}.")
    _check_reset_needed(subject, env, "x", "before the first reset")

    episode = subject.play(env, random_policy(subject), seed=seed)
    if episode.ended:
        _check_reset_needed(subject, env, episode.actions[-1], f"after the end of the episode ({episode})")
        subject.reset(env, seed)
        subject.step(env, episode.actions[0], " after reset had begun another episode")
    else:
        subject.report.skip("E9", f"no episode ended within {subject.max_steps} steps")
    subject.report.passed("E9")

    try:
        for _ in range(2):
            env.close()
        with subject.make() as inside:
            inside.reset(seed=seed)
        inside.close()
    except Exception as error:
        fail("E1", f"close() can be called any number of times, and `with` closes; it raised {error!r}.")
    subject.report.passed("E1")


def check_async(subject: Subject) -> None:
    """Check that the async twins do the same (E1)."""
    seed = subject.seeds[0]
    episode = subject.play(subject.make(), random_policy(subject), seed=seed)
    twin = subject.make()
    again = Episode(seed, run_sync(twin.areset(seed=seed)))
    for action in episode.actions:
        again.actions.append(action)
        again.results.append(run_sync(twin.astep(action)))
    if found := difference(episode, again):
        message = f"areset and astep do what reset and step do; with seed {seed} (sync, then async) {found}"
        subject.report.fail("E1", f"{message}.")


def _check_reset_needed(subject: Subject, env: Env, action: Any, when: str) -> None:
    try:
        result = env.step(action)
    except ResetNeeded:
        return
    except Exception as error:
        subject.report.fail("E9", f"step({shown(action)}) {when} raises ResetNeeded; it raised {error!r}.")
    subject.report.fail("E9", f"step({shown(action)}) {when} raises ResetNeeded; it returned {shown(result)}.")


def check_silence(subject: Subject) -> None:
    """Check that making, playing and closing prints nothing and leaves logging alone (E13)."""
    logger = logging.getLogger()
    before = (logger.level, list(logger.handlers), logging.root.manager.disable)
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they go to stderr, but are no printing
        env = subject.make()
        subject.play(env, random_policy(subject), seed=subject.seeds[0])
        subject.play(env, oracle_policy(subject), seed=subject.seeds[0])
        repr(env)
        env.close()
    if output.getvalue():
        subject.report.fail("E13", f"an environment never prints; an episode printed {shown(output.getvalue())}.")
    if (logger.level, list(logger.handlers), logging.root.manager.disable) != before:
        message = (
            f"the root logger had {before} and has {(logger.level, logger.handlers, logging.root.manager.disable)}"
        )
        subject.report.fail("E13", f"an environment never configures logging; {message}.")
    subject.report.passed("E13")


def check_episodes(subject: Subject) -> None:
    """Play every seed with random actions and with the solver (E2 to E5, E7, and the solvable half of E12)."""
    env = subject.make()
    bounds = env.spec.reward_range if env.spec is not None and subject.bare else None
    luck = env.spec is not None and "luck" in env.spec.tags
    solved = 0
    for seed in subject.seeds:
        sampled = subject.play(env, random_policy(subject), seed=seed)
        episode = subject.play(env, oracle_policy(subject), seed=seed, limit=ORACLE_STEPS)
        for played in (sampled, episode):
            _check_return(subject, played, bounds)
            _check_actions(subject, env, played)
        if not episode.ended:  # there is no solver
            continue
        solved += 1
        if luck and not episode.success:
            continue
        if not episode.success:
            subject.report.fail("E12", f"every task is solvable within its limits; the solver failed at {episode}.")
        if bounds and bounds[1] == 1.0 and abs(episode.total - 1.0) > _TOLERANCE:
            subject.report.fail("E5", f"a solved task returns 1.0; {episode} returned {episode.total!r}.")
    for clause in ("E2", "E3", "E4", "E5", "E7"):
        subject.report.passed(clause)
    if bounds is None:
        subject.report.skip("E5", "no registered reward_range of the bare environment to hold returns against")
    if luck:
        subject.report.skip("E12", "the tag 'luck' says that chance decides too, and any play may lose")
    elif solved < len(subject.seeds):
        subject.report.skip("E12", f"oracle_action() led to the end for {solved} of {len(subject.seeds)} seeds")


def _check_return(subject: Subject, episode: Episode, bounds: tuple[float, float] | None) -> None:
    if bounds is None:
        return
    low, high = bounds
    if not low - _TOLERANCE <= episode.total <= high + _TOLERANCE:
        subject.report.fail("E5", f"returns lie in reward_range {bounds}; {episode} returned {episode.total!r}.")
    if high == 1.0 and episode.ended and not episode.success and episode.total > 1.0 - _TOLERANCE:
        subject.report.fail("E5", f"only a solved task returns 1.0; {episode} returned {episode.total!r}, not solved.")


def _check_actions(subject: Subject, env: Env, episode: Episode) -> None:
    penalty = getattr(env.unwrapped, "format_error_reward", 0.0)
    for action, result in zip(episode.actions, episode.results, strict=True):
        if not subject.text:
            return
        wrong = ""
        if extract(cast(str, action), env.answer_format) is None:
            wrong = f"has no answer in the format {env.answer_format!r}"
        elif penalty and subject.bare and result[1] == penalty:
            wrong = f"was paid the format_error_reward {penalty!r}"
        if wrong:
            subject.report.fail("E7", f"sampled actions are well formed; {shown(action)} {wrong} ({episode}).")


def reset_again(subject: Subject, env: Env, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Reset to the episode that an info describes (E4)."""
    picked = {"idx": info["task_id"]} if hasattr(env.unwrapped, "num_tasks") else {}
    return subject.reset(env, info["seed"], **picked)
