"""The checks that `gem.make` puts round every environment (contract E8, E9)."""

from __future__ import annotations

from typing import Any, NoReturn

from gem.core import Env, StepResult, Wrapper
from gem.errors import ResetNeeded, ResultError

__all__ = ["EnvChecks"]


class EnvChecks(Wrapper):
    """Refuse what no environment should have to handle, before it reaches one.

    A step before `reset`, after the end of the episode or after a failure raises `ResetNeeded`; an action of the
    wrong type raises `TypeError`; `info` of every reset has `seed` and `env_id`. `gem.make(..., checks=False)` leaves
    it out.
    """

    def __init__(self, env: Env) -> None:
        """Wrap `env`, which counts as not yet reset."""
        super().__init__(env)
        self._begun = False
        self._ended = True
        self._action_type = env.action_type

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Reset, then open the episode and complete its info.

        Raises:
            ResultError: The environment returned something else than an observation and an info.
        """
        return self._open(self.env.reset(seed=seed, **options))

    async def areset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Reset through the async twin, then do the same."""
        return self._open(await self.env.areset(seed=seed, **options))

    def _open(self, start: Any) -> tuple[Any, dict[str, Any]]:
        if not (isinstance(start, (tuple, list)) and len(start) == 2 and isinstance(start[1], dict)):
            raise ResultError(
                f"{self!r}.reset() returned {_described(start)}; it returns (observation, info), where info is a dict."
            )
        observation, info = start
        self._begun, self._ended = True, False
        if "seed" not in info or "env_id" not in info:
            env = self.unwrapped
            name = env.spec.id if env.spec else type(env).__name__
            info = {"seed": env._episode_seed, "env_id": name, **info}
        return observation, info

    def step(self, action: Any) -> StepResult:
        """Check, then step; the episode is over when the inner environment says so or fails."""
        if self._ended:
            self._refuse_step()
        if not isinstance(action, self._action_type):
            self._refuse_action(action)
        self._ended = True  # until the step has come back: whatever it raises, the episode cannot go on
        result = self.env.step(action)
        try:
            _, _, terminated, truncated, _ = result
        except (TypeError, ValueError):
            self._refuse_result(result)
        self._ended = terminated or truncated
        return result

    async def astep(self, action: Any) -> StepResult:
        """Check, then step through the async twin."""
        if self._ended:
            self._refuse_step()
        if not isinstance(action, self._action_type):
            self._refuse_action(action)
        self._ended = True
        result = await self.env.astep(action)
        try:
            _, _, terminated, truncated, _ = result
        except (TypeError, ValueError):
            self._refuse_result(result)
        self._ended = terminated or truncated
        return result

    def _refuse_step(self) -> NoReturn:
        if self._begun:
            super()._refuse_step()
        raise ResetNeeded(f"{self!r}: step() came before reset(); call reset() to begin an episode.")

    def _refuse_result(self, result: Any) -> NoReturn:
        raise ResultError(
            f"{self!r}.step() returned {_described(result)}; it returns (observation, reward, terminated, truncated, "
            "info). The `done` of the old Gym's four is two flags now: the task ended, or a limit cut it."
        )

    def _refuse_action(self, action: Any) -> NoReturn:
        raise TypeError(
            f"{self!r}.step() takes a {self._action_type.__name__}; got {type(action).__name__}. "
            "Native tool calls are rendered as text first: gem.parsing.render_tool_calls."
        )

    def __repr__(self) -> str:
        """Show what is checked, not the checks."""
        return repr(self.env)


def _described(result: Any) -> str:
    """Say what came in place of a tuple of a certain form."""
    if not isinstance(result, (tuple, list)):
        return f"a {type(result).__name__}"
    return f"a {type(result).__name__} of ({', '.join(type(part).__name__ for part in result)})"
