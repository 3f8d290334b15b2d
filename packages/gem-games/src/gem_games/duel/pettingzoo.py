"""PettingZoo (https://pettingzoo.farama.org), both ways; install `gem-games[pettingzoo]`.

`to_pettingzoo` gives a game of several agents PettingZoo's interface, and `from_pettingzoo` makes a PettingZoo
environment a game of several agents.
"""

from __future__ import annotations

import string
from typing import Any, Literal

from gem.errors import MissingDependency
from gem.multi_agent import MultiAgentEnv
from gem_games.base import box
from gem_games.duel.base import Duel

try:
    import numpy
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ModuleNotFoundError as error:
    raise MissingDependency(
        f"gem_games.duel.pettingzoo needs {error.name}, which is not installed: pip install 'gem-games[pettingzoo]'."
    ) from error

from gem_games.duel.pettingzoo_game import PettingZooEnv, from_pettingzoo

__all__ = ["AnyText", "PettingZooEnv", "from_pettingzoo", "to_pettingzoo"]


class AnyText(spaces.Text):  # type: ignore[misc]  # no types without the extra
    """The space of all texts; a sample is up to 40 printable characters, so hardly ever a move."""

    def __init__(self) -> None:
        super().__init__(max_length=40, charset=string.printable)

    def contains(self, x: Any) -> bool:
        """Say whether it is a text."""
        return isinstance(x, str)


def to_pettingzoo(env: MultiAgentEnv, *, actions: Literal["text", "index"] = "text") -> AECEnv | ParallelEnv:
    """Give a game PettingZoo's interface.

    An observation is a dict with "text", as the agent would read it; PettingZoo's own checks read arrays out of any
    other shape. `reset` takes and ignores PettingZoo's options. `render` returns the text that the agent to move sees.

    Args:
        env: The game, which belongs to the result from now on.
        actions: "text": an action is the agent's reply. "index": it is a number into `env.moves`, and the observation
            has an "action_mask" of the legal ones (all 0 for who is not to move); for the two-player games here.

    Returns:
        An `AECEnv` for a game in turns, a `ParallelEnv` for one where all act at once.

    Raises:
        ValueError: `actions` is something else, or the game does not list its moves.
    """
    if actions not in ("text", "index"):
        raise ValueError(f'actions are "text" or "index"; got {actions!r}.')
    if actions == "index" and not isinstance(env, Duel):
        raise ValueError(f'{env!r} does not list its moves as a Duel does: use actions="text".')
    return _Parallel(env) if env.turn_order == "parallel" else _Turns(env, by_index=actions == "index")


class _Spaces:
    """What both interfaces have: names, spaces, the end."""

    def __init__(self, env: MultiAgentEnv, *, by_index: bool = False) -> None:
        self.env = env
        self.by_index = by_index
        self.possible_agents = list(env.possible_agents)
        self.agents: list[str] = []
        self.render_mode = "ansi"
        name = env.spec.id if env.spec else type(env).__name__
        self.metadata = {"name": name, "render_modes": ["ansi"], "is_parallelizable": False}
        parts: dict[str, spaces.Space[Any]] = {"text": AnyText()}
        if by_index:
            parts["action_mask"] = spaces.Box(0, 1, (len(env.moves),), numpy.int8)  # type: ignore[attr-defined]
        self._observation_spaces = {agent: spaces.Dict(parts) for agent in self.possible_agents}
        self._action_spaces = {
            agent: spaces.Discrete(len(env.moves)) if by_index else AnyText()  # type: ignore[attr-defined]
            for agent in self.possible_agents
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return self._action_spaces[agent]

    def close(self) -> None:
        """Close the game."""
        self.env.close()


class _Turns(_Spaces, AECEnv):  # type: ignore[misc]  # no types without the extra
    """A game in turns, as an `AECEnv`."""

    agent_selection: Any

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game."""
        self._texts, infos = self.env.reset(seed=seed)
        self.agents = list(self.env.agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = infos
        self.agent_selection = self.env.current_agent
        self._skip_agent_selection = None

    def step(self, action: Any) -> None:
        """Play an action of the agent whose turn it is; one whose game is over takes its leave with None."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        reply = box(self.env.moves[int(action)]) if self.by_index else action  # type: ignore[attr-defined]
        texts, rewards, terminated, truncated, infos = self.env.step({agent: reply})
        self._texts.update(texts)
        self.rewards = {name: rewards.get(name, 0.0) for name in self.agents}
        self.terminations.update(terminated)
        self.truncations.update(truncated)
        self.infos.update(infos)
        self._accumulate_rewards()
        if self.env.current_agent is not None:
            self.agent_selection = self.env.current_agent
        self._deads_step_first()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees."""
        observation: dict[str, Any] = {"text": self._texts[agent]}
        if self.by_index:
            legal = self.env.legal_moves() if agent == self.env.current_agent else ()  # type: ignore[attr-defined]
            mask = [move in legal for move in self.env.moves]  # type: ignore[attr-defined]
            observation["action_mask"] = numpy.array(mask, dtype=numpy.int8)
        return observation

    def render(self) -> str:
        """Return the text that the agent to move sees."""
        return str(self._texts[self.agent_selection])

    def close(self) -> None:
        """Close the game."""
        self.env.close()


class _Parallel(_Spaces, ParallelEnv):  # type: ignore[misc]  # no types without the extra
    """A game where all act at once, as a `ParallelEnv`."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
        """Begin a game."""
        self._texts, infos = self.env.reset(seed=seed)
        self.agents = list(self.env.agents)
        return self._observations(self._texts), infos

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Play an action of every live agent."""
        texts, rewards, terminated, truncated, infos = self.env.step(actions)
        self._texts.update(texts)
        self.agents = list(self.env.agents)
        return self._observations(texts), rewards, terminated, truncated, infos

    def render(self) -> str:
        """Return what each agent sees."""
        return "\n\n".join(f"{agent}:\n{text}" for agent, text in self._texts.items())

    def _observations(self, texts: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {agent: {"text": text} for agent, text in texts.items()}
