"""The clause on copies, states and fresh ones from the recorded arguments: E11."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TypeVar

from gem.core import Env
from gem.errors import ContractError, ResetNeeded
from gem.testing.episodes import Episode, Subject, difference, random_policy, wrapped_in_checks

__all__ = ["check_copies"]

T = TypeVar("T")


def check_copies(subject: Subject) -> None:
    """Stop episodes at their start and half-way, copy and restore them there, and see that all go on alike (E11)."""
    for seed in subject.seeds[:5]:
        whole = subject.play(subject.make(), random_policy(subject), seed=seed)
        for steps in sorted({0, len(whole.actions) // 2, max(0, len(whole.actions) - 1)}):
            _check_at(subject, seed, steps)
    _check_fresh(subject)
    subject.report.passed("E11")


def _check_at(subject: Subject, seed: int, steps: int) -> None:
    where = f"{steps} steps after reset(seed={seed})"
    env = subject.make()
    started = subject.play(env, random_policy(subject), seed=seed, limit=steps)
    first = _try(subject, f"spawn(same_state=True) {where}", lambda: env.spawn(same_state=True))
    second = _try(subject, f"spawn(same_state=True) {where}", lambda: env.spawn(same_state=True))
    state = _try(subject, f"get_state() {where}", env.get_state)
    pickled = _try(subject, f"pickling get_state() {where}", lambda: pickle.dumps(state))

    # What one of them does now must reach neither the original, nor its other copy, nor the states.
    other = subject.play(first, random_policy(subject), seed=seed + 1)
    first.reset()
    first.close()

    def expect_the_same(name: str, twin: Env, expected: list[Episode]) -> None:
        for got, wanted in zip(_rest(subject, twin, started), expected, strict=True):
            if found := difference(wanted, got):
                subject.report.fail("E11", f"{name} {where} goes on like the original; {found}.")

    expected = _rest(subject, env, started)
    expect_the_same("a copy made", second, expected)
    fresh, used = subject.make(), subject.make()
    subject.play(used, random_policy(subject), seed=seed + 2)
    for name, twin, kept in (
        ("a fresh environment with the pickled state", fresh, pickle.loads(pickled)),
        ("a used environment with the state", used, state),
        ("the same environment with the state, taken again", used, state),
        ("the original, set back to its state", env, state),
    ):
        _try(subject, f"set_state {where}", lambda twin=twin, kept=kept: twin.set_state(kept))  # type: ignore[misc]
        expect_the_same(name, twin, expected)
    again = subject.play(fresh, random_policy(subject), seed=seed + 1)
    if found := difference(other, again):
        subject.report.fail("E11", f"a copy and a restored environment play reset(seed={seed + 1}) alike; {found}.")


def _rest(subject: Subject, env: Env, started: Episode) -> list[Episode]:
    """Play the rest of an episode, and the start of the one that an unseeded reset gives then."""
    rest = Episode(started.seed, started.start, list(started.actions), list(started.results))
    return [subject.go_on(env, random_policy(subject), rest), subject.play(env, random_policy(subject), limit=3)]


def _check_fresh(subject: Subject) -> None:
    """Check that `spawn(same_state=False)` is what the constructor would make."""
    seed = subject.seeds[0]
    env = subject.make()
    expected = subject.play(env, random_policy(subject), seed=seed)
    spawned = _try(subject, "spawn(same_state=False)", lambda: env.spawn(same_state=False))
    if spawned.unwrapped is env.unwrapped or type(spawned.unwrapped) is not type(env.unwrapped):
        subject.report.fail("E11", f"spawn(same_state=False) gives another one of its kind; got {spawned!r}.")
    fresh = wrapped_in_checks(spawned)
    try:
        fresh.step(expected.actions[0])
    except ResetNeeded:
        pass
    else:
        subject.report.fail("E11", "what spawn(same_state=False) gives has not begun; it could be stepped.")
    if found := difference(expected, subject.play(fresh, random_policy(subject), seed=seed)):
        message = f"spawn(same_state=False) keeps the constructor's arguments; with seed {seed} {found}"
        subject.report.fail("E11", f"{message}.")


def _try(subject: Subject, what: str, call: Callable[[], T]) -> T:
    try:
        return call()
    except Exception as error:
        message = f"{subject.report.name}: {what} works for every environment; it raised {error!r}."
        raise ContractError("E11", message) from error
