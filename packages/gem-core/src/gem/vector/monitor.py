"""Monitors: who is told when an episode of a vector env ends."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

__all__ = ["EpisodeLog", "Monitor"]

_logger = logging.getLogger(__name__)


class Monitor(Protocol):
    """Is told about every episode that ends, in the main process, after the step that ended it.

    What it raises is logged and stops nothing. An episode that a reset by hand cuts short is not reported.
    """

    def on_episode_end(self, index: int, env_id: str, episode_return: float, length: int, info: dict[str, Any]) -> None:
        """Take note of an episode.

        Args:
            index: The environment.
            env_id: Its id.
            episode_return: Sum of the episode's rewards.
            length: Number of its steps, a failed one included.
            info: The final info; after a fault it has `fault` and no `success`.
        """


class EpisodeLog:
    """Adds up rewards and steps of the running episodes and tells the monitors when one ends.

    Args:
        env_ids: By environment.
        monitors: Whom to tell.
    """

    def __init__(self, env_ids: Sequence[str], monitors: Iterable[Monitor]) -> None:
        """Begin with no step in any environment."""
        self._env_ids = env_ids
        self._monitors = tuple(monitors)
        self._returns = [0.0] * len(env_ids)
        self._lengths = [0] * len(env_ids)
        self._waiting: set[int] = set()  # next_step: ended, and the next result is that of the reset

    def begin(self, indices: Iterable[int]) -> None:
        """Forget the running episodes of these environments."""
        for index in indices:
            self._returns[index], self._lengths[index] = 0.0, 0
            self._waiting.discard(index)

    def record(
        self,
        indices: Iterable[int],
        rewards: Iterable[float],
        ends: Iterable[Any],
        infos: Iterable[dict[str, Any]],
        *,
        waits: bool,
    ) -> None:
        """Add the results of a batch.

        Args:
            indices: The environments.
            rewards: Of their steps.
            ends: Whether their episodes are over.
            infos: Of their steps.
            waits: Whether the next result of an environment whose episode is over is that of a reset.
        """
        for index, reward, ended, info in zip(indices, rewards, ends, infos, strict=True):
            if index in self._waiting:
                self._waiting.discard(index)
                continue
            self._returns[index] += float(reward)
            self._lengths[index] += 1
            if ended:
                self._report(index, info["final_info"])
                if waits:
                    self._waiting.add(index)

    def _report(self, index: int, info: dict[str, Any]) -> None:
        total, length = self._returns[index], self._lengths[index]
        self.begin((index,))
        for monitor in self._monitors:
            try:
                monitor.on_episode_end(index, self._env_ids[index], total, length, info)
            except Exception:
                _logger.exception("The monitor %r failed at the end of an episode of env %d.", monitor, index)
