"""A PettingZoo environment as a game of several agents; use it through `gem_games.duel.pettingzoo`."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from gem.multi_agent import MultiAgentEnv
from gem.parsing import boxed
from gem_games.base import box, integer, whole_number

__all__ = ["PettingZooEnv", "from_pettingzoo"]

Render = Callable[[str, Any], str]
"""Turns an agent's name and observation (without its action mask) into text."""


def from_pettingzoo(
    env: AECEnv | ParallelEnv | Callable[[], AECEnv | ParallelEnv],
    *,
    render: Render | None = None,
    rules: str = "",
    invalid_moves: int = 1,
) -> PettingZooEnv:
    """Make a PettingZoo environment a game of several agents.

    Args:
        env: What makes the environment, such as `lambda: pettingzoo.make("aec", "classic/tictactoe_v3")`; or one,
            which is copied before it is played.
        render: Turns an agent's name and observation into text; None shows arrays as they are.
        rules: What an agent reads first, until its first own action.
        invalid_moves: How many illegal replies in a row a turn may take; one more ends the game for all, and who gave
            it gets -1, the others 0.

    Raises:
        TypeError: `env` is neither.
        ValueError: Its agents or actions are such that a text cannot name them.
    """
    if isinstance(env, (AECEnv, ParallelEnv)):
        env = functools.partial(copy.deepcopy, env)
    if not callable(env):
        raise TypeError(f"from_pettingzoo takes a PettingZoo environment or what makes one; got {env!r}.")
    return PettingZooEnv(env, render, rules, invalid_moves)


class _Zoo:
    """One interface for PettingZoo's two.

    A copy is empty: many PettingZoo environments copy and pickle as their constructor arguments alone, so that whoever
    finds it empty makes another and plays the same actions again.

    Attributes:
        env: The environment, or None.
        observations: What each agent saw last.
        infos: What PettingZoo tells about each agent.
    """

    def __init__(self) -> None:
        self.env: Any = None
        self.observations: dict[str, Any] = {}
        self.infos: dict[str, Any] = {}

    def __deepcopy__(self, memo: dict[Any, Any]) -> _Zoo:
        return _Zoo()

    def __reduce__(self) -> tuple[type[_Zoo], tuple[()]]:
        return _Zoo, ()

    @property
    def acting(self) -> list[str]:
        if not self.env.agents:
            return []
        return list(self.env.agents) if isinstance(self.env, ParallelEnv) else [self.env.agent_selection]

    def reset(self, seed: int) -> None:
        if isinstance(self.env, ParallelEnv):
            observations, infos = self.env.reset(seed=seed)
            self.observations, self.infos = dict(observations), dict(infos)
        else:
            self.env.reset(seed=seed)
            self.observations = {}
            self._look()

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, bool], dict[str, bool]]:
        """Return rewards, terminated and truncated by agent."""
        if isinstance(self.env, ParallelEnv):
            observations, rewards, terminated, truncated, infos = self.env.step(dict(actions))
            self.observations.update(observations)
            self.infos.update(infos)
            return dict(rewards), dict(terminated), dict(truncated)
        env = self.env
        (action,) = actions.values()
        env.step(action)
        self._look()
        result = dict(env.rewards), dict(env.terminations), dict(env.truncations)
        while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            env.step(None)
        self._look()  # whose turn it is may have changed, and with it the masks
        return result

    def mask(self, agent: str) -> Any:
        """Return the mask of the agent's legal actions, or None where there is none."""
        observation = self.observations.get(agent)
        if isinstance(observation, dict) and "action_mask" in observation:
            return observation["action_mask"]
        return self.infos.get(agent, {}).get("action_mask")

    def _look(self) -> None:
        for agent in self.env.agents:
            self.observations[agent] = self.env.observe(agent)
        self.infos.update(self.env.infos)


class PettingZooEnv(MultiAgentEnv):
    r"""A PettingZoo environment as a game of several agents.

    An action is `\boxed{number}` where the space is discrete, and the whole reply where it is text. Where PettingZoo
    gives an action mask, the observation lists the legal numbers and no other one is passed on. Rewards are
    PettingZoo's; an agent's `success` is that its return is above 0.

    Args, errors: see `from_pettingzoo`.
    """

    answer_format: str | None = "boxed"
    shared = ("_make", "_render")

    def __init__(
        self, make: Callable[[], Any], render: Render | None = None, rules: str = "", invalid_moves: int = 1
    ) -> None:
        self._make = make
        self._render = render or _describe
        self.rules = rules
        self.invalid_moves = whole_number("invalid_moves", invalid_moves, 0) or 0
        self._zoo = _Zoo()
        self._zoo.env = env = make()
        agents = getattr(env, "possible_agents", None)
        if not agents or not all(isinstance(agent, str) for agent in agents):
            raise ValueError(f"{env} must name its possible_agents as texts; got {agents!r}.")
        super().__init__(agents)
        for agent in agents:
            if not isinstance(env.action_space(agent), (spaces.Discrete, spaces.Text)):
                raise ValueError(f"{env}: actions are Discrete or Text; {agent} has {env.action_space(agent)}.")
        self.turn_order = "parallel" if isinstance(env, ParallelEnv) else "sequential"
        if all(isinstance(env.action_space(agent), spaces.Text) for agent in agents):
            self.answer_format = None
        self._zoo_seed = 0
        self._played: list[dict[str, Any]] = []
        self._acted: set[str] = set()
        self._problems: dict[str, str] = {}
        self._invalid = 0
        self._tails: dict[str, str] = {}

    @property
    def zoo(self) -> _Zoo:
        """PettingZoo's environment where this game stands."""
        if self._zoo.env is None:
            self._zoo.env = self._make()
            self._zoo.reset(self._zoo_seed)
            for actions in self._played:
                self._zoo.step(actions)
        return self._zoo

    def begin(self) -> None:
        """Begin a game with PettingZoo's `reset`, seeded from `rng`."""
        self._zoo_seed = self.rng.randrange(2**31)
        self._played, self._acted, self._problems, self._invalid, self._tails = [], set(), {}, 0, {}
        if self._zoo.env is None:
            self._zoo.env = self._make()
        self._zoo.reset(self._zoo_seed)
        self.agents = list(self._zoo.env.agents)
        self.current_agent = None if self.turn_order == "parallel" else self._zoo.acting[0]

    def play(self, actions: Mapping[str, Any]) -> dict[str, float]:
        """Pass legal actions on to PettingZoo."""
        self._tails = {}
        read = {agent: self._read(agent, action) for agent, action in actions.items()}
        wrong = [agent for agent, action in read.items() if action is None]
        if wrong:
            return self._refuse(wrong)
        self._problems, self._invalid = {}, 0
        zoo = self.zoo
        rewards, terminated, truncated = zoo.step(read)
        self._played.append(read)
        self._acted.update(read)
        paid = {agent: float(rewards.get(agent, 0.0)) for agent in self.agents}
        for agent in self.agents:
            if terminated.get(agent):
                self.finish(agent, success=self.totals[agent] + paid[agent] > 0)
            elif truncated.get(agent):
                self.cut(agents=[agent])
        if self.turn_order == "sequential" and zoo.acting:
            self.give_turn(zoo.acting[0])
        return paid

    def _refuse(self, wrong: list[str]) -> dict[str, float]:
        self._invalid += 1
        self._problems = dict.fromkeys(wrong, "Your reply holds no legal action; the last box in it counts.")
        if self._invalid <= self.invalid_moves:
            if self.current_agent is not None:
                self.give_turn(self.current_agent)
            return {}
        self.finish(success=False)
        return dict.fromkeys(wrong, -1.0)

    def _read(self, agent: str, action: Any) -> Any:
        """Return PettingZoo's action, or None where the reply holds no legal one."""
        space = self.zoo.env.action_space(agent)
        if isinstance(space, spaces.Text):
            return action if space.contains(action) else None
        text = boxed(action)
        number = None if text is None else integer(text)
        return number if number in self._legal(agent) else None

    def _legal(self, agent: str) -> list[int]:
        """Return the legal numbers of a discrete space."""
        space, mask = self.zoo.env.action_space(agent), self.zoo.mask(agent)
        numbers = range(int(space.start), int(space.start + space.n))
        return [number for place, number in enumerate(numbers) if mask is None or mask[place]]

    def observe(self, agent: str) -> str:
        """Return what PettingZoo shows this agent, as text."""
        parts = [self.rules] if self.rules and agent not in self._acted else []
        parts += [self._problems[agent]] if agent in self._problems else []
        return "\n".join([*parts, self._tail(agent)])

    def inform(self, agent: str) -> dict[str, Any]:
        """Repeat the observation's tail while the agent's game goes on."""
        return {} if agent in self._ends else {"suffix": self._tail(agent)}

    def _tail(self, agent: str) -> str:
        if agent not in self._tails:  # observation and info need it, and an array takes a while to show
            self._tails[agent] = self._draw_tail(agent)
        return self._tails[agent]

    def _draw_tail(self, agent: str) -> str:
        observation = self.zoo.observations[agent]
        if isinstance(observation, dict):
            observation = {name: value for name, value in observation.items() if name != "action_mask"}
        text = f"{self._render(agent, observation)}\nYou are {agent}."
        if agent in self._ends:
            return f"{text} Your game is over."
        if agent not in self.to_act:
            return f"{text} It is {self.current_agent}'s turn."
        if isinstance(self.zoo.env.action_space(agent), spaces.Text):
            return f"{text} It is your turn: your whole reply is your action."
        legal = self._legal(agent)
        numbers = ", ".join(map(str, legal))
        return f"{text} It is your turn: write one of {numbers} in a box, like {box(legal[0] if legal else 0)}."

    def sample_action(self, agent: str) -> str:
        """Return a legal action of an agent."""
        space = self.zoo.env.action_space(agent)
        if isinstance(space, spaces.Text):
            length = self.action_rng.randint(space.min_length, space.max_length)
            return "".join(self.action_rng.choices(space.character_list, k=length))
        return box(self.action_rng.choice(self._legal(agent) or [int(space.start)]))

    def close(self) -> None:
        """Close PettingZoo's environment."""
        if self._zoo.env is not None:
            self._zoo.env.close()


def _describe(agent: str, observation: Any) -> str:
    """Show an observation as it is, the last axis of a board of planes apart."""
    if isinstance(observation, dict):
        return "\n".join(f"{name}:\n{_describe(agent, value)}" for name, value in observation.items())
    if isinstance(observation, numpy.ndarray):
        if observation.ndim == 3:
            planes = range(observation.shape[2])
            return "\n".join(f"plane {plane}:\n{_describe(agent, observation[:, :, plane])}" for plane in planes)
        if observation.ndim == 2:
            return "\n".join(" ".join(map(str, row)) for row in observation.tolist())
        return numpy.array2string(observation, threshold=10_000, max_line_width=200)
    return str(observation)
