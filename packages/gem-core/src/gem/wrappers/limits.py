"""The wrapper that limits how many steps an episode may take."""

from __future__ import annotations

from typing import Any

from gem.core import Env, StepResult, Wrapper

__all__ = ["StepLimit"]


class StepLimit(Wrapper):
    """End an episode after a number of steps: truncated, `truncated_by="step_limit"`.

    Where the task ends on that very step, both `terminated` and `truncated` are true and the reward is kept. Every step
    through this wrapper counts, those that a tool answers included.

    >>> class Counter(Env):
    ...     def step(self, action):
    ...         return "more", 0.0, False, False, {}
    >>> env = StepLimit(Counter(), max_steps=2)
    >>> _ = env.reset()
    >>> env.step("")[3], env.step("")[3]
    (False, True)

    Args:
        env: The environment to wrap.
        max_steps: Steps that an episode may take, 1 or more.

    Raises:
        TypeError: `max_steps` is not an integer.
        ValueError: `max_steps` is less than 1.
    """

    def __init__(self, env: Env, max_steps: int) -> None:
        super().__init__(env)
        if isinstance(max_steps, bool) or not isinstance(max_steps, int):
            raise TypeError(f"max_steps is an integer; got {max_steps!r}.")
        if max_steps < 1:
            raise ValueError(f"max_steps is 1 or larger; got {max_steps}. For no limit, leave the wrapper out.")
        self.max_steps = max_steps
        self._steps = 0

    def after_reset(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Begin to count."""
        self._steps = 0
        return observation, info

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Count, and cut the episode at the limit unless something further in has cut it on this step."""
        self._steps += 1
        if self._steps >= self.max_steps and not result[3]:
            return self.truncate(result, "step_limit")
        return result
