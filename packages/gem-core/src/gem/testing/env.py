"""Check an environment against the contract, clause by clause (contract E)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gem.core import Env, Wrapper
from gem.testing import env_copies, env_episodes, env_seeds, env_texts
from gem.testing.episodes import Subject, wrapped_in_checks
from gem.testing.report import Report
from gem.wrappers.checks import EnvChecks

__all__ = ["check_env"]


def check_env(
    target: str | Env | Callable[[], Env],
    *,
    seeds: int | Iterable[int] = 5,
    max_steps: int = 200,
    largest_text: int = 1_000_000,
    processes: bool = False,
    **kwargs: Any,
) -> Report:
    """Check an environment against every clause of contract E that code can check.

    It is played with random actions and its own solver, compared with itself under other circumstances, copied, stopped
    half-way and restored, and fed with texts that nobody expects. Neither the environment given nor the process's
    generators are changed.

    Args:
        target: An id, an environment (which is spawned, never touched), or something that makes one.
        seeds: How many seeds to play, from 0, or which.
        max_steps: Where to leave an episode of random actions that does not end.
        largest_text: The length, in characters, of the longest hostile text.
        processes: Compare with another Python process under another PYTHONHASHSEED too (takes seconds; ids only).
        kwargs: What else `gem.make` gets, for an id.

    Returns:
        What was checked, and what was skipped and why.

    Raises:
        ContractError: A clause is broken; the text names it and shows the input.
        GemError: There is nothing to check: the id is unknown, a package or a data set is missing, the infrastructure
        failed. TypeError: `target` is none of the three. ValueError: There is no seed.
    """
    make, name = _maker(target, kwargs)
    chosen = tuple(range(seeds) if isinstance(seeds, int) else seeds)
    if not chosen:
        raise ValueError(f"check_env needs a seed at least; got seeds={seeds!r}.")
    report = Report(name)
    first = make()
    if not isinstance(first, Env):
        raise TypeError(f"check_env takes an id, an environment or what makes one; {name} made {first!r}.")
    subject = Subject(
        report,
        lambda: wrapped_in_checks(make()),
        chosen,
        max_steps,
        bare=not isinstance(first.env if isinstance(first, EnvChecks) else first, Wrapper),
        text=first.action_type is str,
    )
    first.close()
    env_episodes.check_interface(subject)
    env_episodes.check_silence(subject)
    env_episodes.check_episodes(subject)
    env_seeds.check_seeds(subject)
    env_episodes.check_async(subject)
    if isinstance(target, str):
        env_seeds.check_made_with_seed(subject, target, kwargs)
    if processes:
        env_seeds.check_processes(subject, target, kwargs)
    else:
        report.skip("E6", "other processes are compared with processes=True only")
    env_copies.check_copies(subject)
    env_texts.check_instructions(subject)
    env_texts.check_hostile(subject, largest_text)
    env_texts.check_secrets(subject)
    report.skip("E14", "nothing here can make the infrastructure fail")
    return report


def _maker(target: Any, kwargs: dict[str, Any]) -> tuple[Callable[[], Env], str]:
    if isinstance(target, str):
        from gem.factory import make  # plugins are loaded only where an id is looked up

        return lambda: make(target, **kwargs), target
    if kwargs:
        raise TypeError(f"check_env passes {', '.join(kwargs)} on to gem.make, and only with an id; got {target!r}.")
    if isinstance(target, Env):
        return lambda: target.spawn(same_state=False), repr(target)
    if not callable(target):
        raise TypeError(f"check_env takes an id, an environment or what makes one; got {target!r}.")
    return target, getattr(target, "__name__", repr(target))
