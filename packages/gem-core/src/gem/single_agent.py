"""One side of a game of several agents as a plain environment (contract M)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, cast

from gem.core import StepResult, Wrapper
from gem.multi_agent import MultiAgentEnv
from gem.seeding import derive

__all__ = ["Opponent", "Opponents", "Player", "SingleAgentEnv", "single"]


class Player(Protocol):
    """An opponent that knows the game it plays, such as a search; it holds no state of a game."""

    def choose(self, game: Any, agent: str, rng: random.Random) -> Any:
        """Return an action.

        Args:
            game: The game; only what the agent may know of it is read, and nothing is changed.
            agent: Whose turn it is.
            rng: The only source of chance, so that the seed fixes what is played.
        """


Opponent = Callable[[Any], Any] | Player
"""Takes an observation, returns an action; or a `Player`."""

Opponents = Opponent | Mapping[str, Opponent] | Literal["self"] | None
"""What plays the others: one policy for all, one for each by name, self-play, or None for sampled actions."""


def single(env: MultiAgentEnv, agent: str | None, opponents: Opponents = None) -> SingleAgentEnv:
    """Return one agent's side of a game as a plain environment.

    Args:
        env: The game.
        agent: Whose side; None draws one at each reset.
        opponents: What plays the others: one policy for all, or one for each by name; it takes an observation and
            returns an action, or is a `Player`. None samples their actions, as the seed decides. "self" is self-play:
            every step is an action of whoever's turn it is.

    Returns:
        The environment; see `SingleAgentEnv`.

    Raises:
        TypeError: `env` is no `MultiAgentEnv`.
        ValueError: There is no such agent, an opponent is missing, or self-play is asked for in a parallel game.
    """
    return SingleAgentEnv(env, agent, opponents)


class SingleAgentEnv(Wrapper):
    """One agent's side of a game as a plain environment.

    A step is one action of the agent and all that the others do until its next turn; the reward is what the agent got
    meanwhile. The episode is over when the agent's game is.

    In self-play, a step is one action of whoever's turn it is: the observation is that of the agent who is to act next,
    whom `info["agent"]` names, `info["rewards"]` has what everybody got, and the reward is what `agent` got. The
    episode is over when the game is over for all.

    Attributes:
        agent: Whose side; where it is drawn, that of this episode.
        opponents: What plays the others.
    """

    shared = ("opponents",)

    def __init__(self, env: MultiAgentEnv, agent: str | None, opponents: Opponents = None) -> None:
        """Check that everybody is there."""
        super().__init__(env)
        if not isinstance(env.unwrapped, MultiAgentEnv):
            raise TypeError(f"{env!r} has one agent already; one side of a MultiAgentEnv is what can be played alone.")
        others = [name for name in env.possible_agents if name != agent]
        if agent is not None and len(others) == len(env.possible_agents):
            raise ValueError(f"{env!r} has no agent {agent!r}; it has {', '.join(env.possible_agents)}.")
        lacking = ", ".join(name for name in others if isinstance(opponents, Mapping) and name not in opponents)
        if lacking:
            raise ValueError(f"opponents lacks {lacking}; give one policy for all, or one for each other agent.")
        if opponents == "self" and env.turn_order != "sequential":
            raise ValueError(f"{env!r} is a parallel game, where all act at once; self-play needs turns.")
        self._draws_agent = agent is None
        self.agent = env.possible_agents[0] if agent is None else agent
        self.opponents = opponents
        self._seen: dict[str, Any] = {}  # what each agent saw last
        self._opponents_rng = random.Random()

    @property
    def action_type(self) -> type:  # type: ignore[override]
        """The type of a valid action of one agent: text."""
        return str

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin a game, and let the others play until it is the agent's turn.

        Raises:
            RuntimeError: They ended the agent's game before its first turn.
        """
        self._seen, infos = self._game.reset(seed=seed, **options)
        if self._draws_agent:
            self.agent = self.rng.choice(self._game.possible_agents)
        self._ended = False
        self._opponents_rng.seed(derive(infos[self.agent]["seed"], "opponents"))
        if self.opponents == "self":
            acting = self._game.to_act[0]
            return self._seen[acting], {**infos[acting], "agent": acting}
        if self.agent not in self._game.to_act:
            result = self._play({})
            if result[2] or result[3]:
                raise RuntimeError(f"{self!r}: the game was over for {self.agent} before its first turn.")
            infos[self.agent].update(self._game.inform(self.agent))  # what it said before the others played is old
        return self._seen[self.agent], infos[self.agent]

    def step(self, action: Any) -> StepResult:
        """Play an action, and whatever follows until the next one is needed."""
        if self._ended:
            self._refuse_step()
        result = self._play_both_sides(action) if self.opponents == "self" else self._play({self.agent: action})
        self._ended = result[2] or result[3]
        return result

    def sample_random_action(self) -> Any:
        """Return a random action of whoever is to act."""
        acting = self._game.to_act if self.opponents == "self" else ()
        return self._game.sample_action(acting[0] if acting else self.agent)

    def oracle_action(self) -> Any | None:
        """Return what the game's own solver would do, or None where none is known."""
        acting = self._game.to_act[:1] if self.opponents == "self" else (self.agent,)
        actions = self._game.oracle_action() or {}
        return next((actions[name] for name in acting if name in actions), None)

    @property
    def _game(self) -> MultiAgentEnv:
        return cast(MultiAgentEnv, self.env)

    def _play(self, actions: dict[str, Any]) -> StepResult:
        """Step the game, with the others' actions, until the agent can act again or its game is over."""
        game, agent, reward = self._game, self.agent, 0.0
        while True:
            others = {name: self._ask(name) for name in game.to_act if name != agent}
            observations, rewards, terminated, truncated, infos = game.step({**actions, **others})
            actions = {}
            self._seen.update(observations)
            reward += rewards[agent]
            if terminated[agent] or truncated[agent] or agent in game.to_act:
                return observations[agent], reward, terminated[agent], truncated[agent], infos[agent]

    def _ask(self, name: str) -> Any:
        if self.opponents is None:
            # From a generator apart: how often the agent's own actions are sampled must not change the opponents.
            own, self._game._action_rng = self._game._action_rng, self._opponents_rng
            try:
                return self._game.sample_action(name)
            finally:
                self._game._action_rng = own
        policy = self.opponents[name] if isinstance(self.opponents, Mapping) else self.opponents
        if hasattr(policy, "choose"):  # a `Player`; isinstance would ask the same, slowly
            return cast(Player, policy).choose(self._game, name, self._opponents_rng)
        return cast(Callable[[Any], Any], policy)(self._seen[name])

    def _play_both_sides(self, action: Any) -> StepResult:
        game, agent = self._game, self.agent
        acting = game.to_act[0]
        observations, rewards, terminated, truncated, infos = game.step({acting: action})
        self._seen.update(observations)
        over = not game.agents
        # Where the agent's own game was over before that of the rest, the last to leave speaks for the end.
        shown = (agent if agent in infos else acting) if over else game.to_act[0]
        info = {**infos[shown], "agent": shown, "rewards": rewards}
        flags = over and terminated[shown], over and truncated[shown]
        return self._seen[shown], rewards.get(agent, 0.0), *flags, info
