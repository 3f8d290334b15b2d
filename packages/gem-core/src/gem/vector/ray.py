"""The executor of Ray actors: its signature is fixed, its body comes in a later version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from gem.core import Env
from gem.errors import VectorEnvError
from gem.vector.slot import Autoreset

__all__ = ["make_ray_executor"]


def make_ray_executor(
    env_fns: Sequence[Callable[[], Env]],
    *,
    autoreset: Autoreset,
    step_timeout: float | None = None,
    reset_timeout: float | None = None,
) -> NoReturn:
    """Say that there are no Ray actors yet.

    Args:
        env_fns: Build the environments; picklable.
        autoreset: What happens at the end of an episode.
        step_timeout: Seconds that a step may take.
        reset_timeout: Seconds that a reset may take.

    Raises:
        VectorEnvError: Always.
    """
    raise VectorEnvError('backend="ray" is not in this version of gem-core; use backend="thread" or backend="sync".')
