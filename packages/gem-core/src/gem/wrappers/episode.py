"""The wrapper that keeps the score of an episode in its infos."""

from __future__ import annotations

from typing import Any

from gem.core import Env, StepResult, Wrapper

__all__ = ["EpisodeTracking"]


class EpisodeTracking(Wrapper):
    """Count steps and add up rewards.

    Every info has `step_counter` and `cumulative_rewards`; a reset's info also has those of the episode before, as
    `prev_ep_step_counter` and `prev_ep_cumulative_rewards` (0 where there was none).

    >>> class Counter(Env):
    ...     def step(self, action):
    ...         return "more", 0.5, False, False, {}
    >>> env = EpisodeTracking(Counter())
    >>> _ = env.reset(), env.step(""), env.step("")
    >>> env.step_counter, env.cumulative_rewards
    (2, 1.0)
    >>> env.reset()[1]["prev_ep_cumulative_rewards"]
    1.0

    Attributes:
        step_counter: Steps of this episode so far.
        cumulative_rewards: The sum of its rewards so far.
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.step_counter = 0
        self.cumulative_rewards = 0.0

    def after_reset(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Report the last episode and begin at zero."""
        previous = {f"prev_ep_{name}": value for name, value in self._score().items()}
        self.step_counter = 0
        self.cumulative_rewards = 0.0
        return observation, {**info, **self._score(), **previous}

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Count the step and report."""
        observation, reward, terminated, truncated, info = result
        self.step_counter += 1
        self.cumulative_rewards += reward
        return observation, reward, terminated, truncated, {**info, **self._score()}

    def _score(self) -> dict[str, Any]:
        return {"step_counter": self.step_counter, "cumulative_rewards": self.cumulative_rewards}
