"""The clauses on seeds: E4's promise that an info reproduces its episode, and E6."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gem.core import Env
from gem.testing.env_episodes import reset_again
from gem.testing.episodes import Episode, Policy, Subject, difference, random_policy
from gem.testing.report import shown

__all__ = ["check_made_with_seed", "check_processes", "check_seeds", "transcript"]


def check_seeds(subject: Subject) -> None:
    """Check that a seed fixes everything, and nothing else does (E4, E6)."""
    policy = random_policy(subject)
    first, second, third = subject.make(), subject.make(), subject.make()
    subject.play(second, policy, seed=987_654_321)  # used before, and must not show it
    for number, seed in enumerate(subject.seeds):
        with _global_state(subject, 1):
            once = [subject.play(first, policy, seed=seed), *_later(subject, first)]
        with _global_state(subject, 2):
            beside = _beside(subject, third) if number == 0 else policy
            again = [subject.play(second, beside, seed=seed), *_later(subject, second)]
        for place, (a, b) in enumerate(zip(once, again, strict=True)):
            if found := difference(a, b):
                what = f"the {place}. unseeded reset after it" if place else "the episode"
                subject.report.fail("E6", f"reset(seed={seed}) fixes {what}; in two environments {found}.")
        with _global_state(subject, 3):
            subject.reset(second, seed)  # an episode left at once changes nothing of what comes later
            early = _later(subject, second)
        if found := difference(once[1], early[0]):
            message = f"reset(seed={seed}) fixes what later unseeded resets give"
            subject.report.fail("E6", f"{message}; after an episode played and one left at once {found}.")
    _check_asking(subject, first)
    subject.report.passed("E6")
    _check_info_reproduces(subject, first, second)


def _later(subject: Subject, env: Env) -> list[Episode]:
    """Return the beginnings of the episodes that the next two unseeded resets give."""
    return [subject.play(env, random_policy(subject), limit=3) for _ in range(2)]


def _beside(subject: Subject, other: Env) -> Policy:
    """Return the random policy, with another environment of the kind played between its steps."""
    subject.reset(other, 13)

    def act(env: Env) -> Any:
        result = other.step(other.sample_random_action())
        if result[2] or result[3]:
            other.reset()
        return random_policy(subject)(env)

    return act


def _check_asking(subject: Subject, env: Env) -> None:
    """Check that asking for actions changes no task."""
    for seed in subject.seeds[:5]:
        subject.reset(env, seed)
        before = env.rng.getstate()
        for name in ("sample_random_action", "oracle_action"):
            getattr(env, name)()
            if env.rng.getstate() != before:
                subject.report.fail("E6", f"{name}() draws from action_rng; after reset(seed={seed}) it advanced rng.")


def _check_info_reproduces(subject: Subject, first: Env, second: Env) -> None:
    subject.reset(first, subject.seeds[0])
    for _ in range(3):
        episode = subject.play(first, random_policy(subject), limit=5)
        info = episode.start[1]
        again = Episode(episode.seed, reset_again(subject, second, info))
        subject.go_on(second, random_policy(subject), again, limit=5)
        if found := difference(episode, again):
            message = f"reset(seed=info['seed']) reproduces the episode of info {shown(info)}"
            subject.report.fail("E4", f"{message}; {found}.")
    drawn = [subject.reset(subject.make())[1]["seed"] for _ in range(2)]
    if drawn[0] == drawn[1]:
        subject.report.fail("E4", f"an unseeded reset draws its seed; two fresh environments both drew {drawn[0]}.")


@contextmanager
def _global_state(subject: Subject, number: int) -> Iterator[None]:
    """Give the process's generators a known state, check that it is left alone, and put the old one back."""
    generators: list[tuple[str, Any, Any, Any]] = [
        ("random", random.getstate, random.setstate, random.Random(number).getstate())
    ]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        known = numpy.random.RandomState(number).get_state()
        generators.append(("numpy.random", numpy.random.get_state, numpy.random.set_state, known))
    old = [get() for _, get, _, _ in generators]
    for _, _, put, state in generators:
        put(state)
    before = [repr(get()) for _, get, _, _ in generators]
    try:
        yield
        for (name, get, _, _), state in zip(generators, before, strict=True):
            if repr(get()) != state:
                message = f"all randomness comes from self.rng; an episode read or seeded the process's {name}"
                subject.report.fail("E6", f"{message}.")
    finally:
        for (_, _, put, _), state in zip(generators, old, strict=True):
            put(state)


def check_made_with_seed(subject: Subject, name: str, kwargs: dict[str, Any]) -> None:
    """Check that `gem.make(id, seed=s)` seeds the first reset (E6)."""
    from gem.factory import make

    for seed in subject.seeds[:3]:
        made = subject.play(make(name, seed=seed, **kwargs), random_policy(subject), limit=5)
        reset = subject.play(subject.make(), random_policy(subject), seed=seed, limit=5)
        if found := difference(made, reset):
            message = f"gem.make({name!r}, seed={seed}) seeds the first reset; against reset(seed={seed}) {found}"
            subject.report.fail("E6", f"{message}.")


def check_processes(subject: Subject, target: Any, kwargs: dict[str, Any]) -> None:
    """Check that another process under another PYTHONHASHSEED plays the same episodes (E6)."""
    seeds = list(subject.seeds[:5])
    try:
        order = json.dumps([target, kwargs, seeds, subject.max_steps])
    except TypeError:
        subject.report.skip("E6", "another process can make an environment only from an id and plain arguments")
        return
    here = transcript(subject, seeds)
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", "from gem.testing.env_seeds import _answer; _answer()"],
            input=order,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            subject.report.skip("E6", f"another process cannot make it: {shown(reason)}")
            return
        for seed, ours, theirs in zip(seeds, here, json.loads(done.stdout), strict=True):
            if ours != theirs:
                message = f"reset(seed={seed}) and its episode are the same in every process"
                subject.report.fail("E6", f"{message}; under PYTHONHASHSEED={hash_seed} they differ.")


def transcript(subject: Subject, seeds: list[int]) -> list[str]:
    """Return a digest of the random episode of each seed."""
    digests = []
    for seed in seeds:
        episode = subject.play(subject.make(), random_policy(subject), seed=seed)
        digests.append(hashlib.sha256(repr((episode.start, episode.actions, episode.results)).encode()).hexdigest())
    return digests


def _answer() -> None:
    """Print the transcript of what standard input orders."""
    from gem.factory import make
    from gem.testing.report import Report

    name, kwargs, seeds, max_steps = json.load(sys.stdin)
    subject = Subject(Report(name), lambda: make(name, **kwargs), tuple(seeds), max_steps)
    sys.stdout.write(json.dumps(transcript(subject, seeds)) + "\n")
