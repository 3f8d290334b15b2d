"""Games of several agents (contract M); `gem.single_agent` makes one side of such a game a plain environment."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gem.core import Env
from gem.errors import ResetNeeded

__all__ = ["MultiAgentEnv", "MultiAgentStep"]

MultiAgentStep = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]
"""Observations, rewards, terminated, truncated and infos, each by agent."""


class MultiAgentEnv(Env):
    r"""A game of several agents.

    It is an `Env` in everything (seeds, generators, copies, states, closing) but the shape of what `reset` and `step`
    return: dicts by agent. The author fills in what a game is, and the bookkeeping is done here once::

        class HighCard(gem.MultiAgentEnv):
            answer_format = "boxed"

            def __init__(self):
                super().__init__(["north", "south"])

            def begin(self):
                self.cards = {agent: self.rng.randint(1, 13) for agent in self.possible_agents}
                self.stays = {}

            def observe(self, agent):
                return f"Your card is {self.cards[agent]}. Answer \\boxed{{stay}} or \\boxed{{swap}}."

            def play(self, actions):
                for agent, action in actions.items():
                    if gem.parsing.boxed(action) == "swap":
                        self.cards[agent] = self.rng.randint(1, 13)
                    self.stays[agent] = True
                if len(self.stays) < 2:
                    return {}
                best = max(self.cards.values())
                for agent, card in self.cards.items():
                    self.finish(agent, success=card == best)
                return {agent: float(card == best) for agent, card in self.cards.items()}

    The rules, in every game:

    * `step` takes an action of each agent in `to_act`, and of nobody else: in turn order "sequential" that is the
      current agent, in "parallel" every live one.
    * Each step gives every agent that was live before it an observation, a reward (0.0 unless `play` says otherwise),
      both end flags and an info. An agent whose game is over sees its final reward and flag in the step that ends it,
      once, and then leaves `agents`; `reset` brings all back.
    * After a sequential step the next live agent in the order of `possible_agents` is current, whatever happened,
      unless `play` called `give_turn`. Nobody is when the game is over.
    * `info["totals"]` has the agent's own return so far and those of all agents that have left.

    Args:
        possible_agents: The agents' names, in the order of their turns.

    Attributes:
        possible_agents: The same, as a tuple.
        agents: The live agents, in that order.
        current_agent: Whose turn it is; None in parallel games, before `reset` and after the end.
        totals: Every agent's return so far.
        turn_order: "sequential" or "parallel", set by the class.

    Raises:
        ValueError: There is no agent, or two have one name.
    """

    action_type: type = dict
    turn_order: Literal["sequential", "parallel"] = "sequential"
    checks_itself = True  # the checks that `gem.make` puts round an environment read flags, not dicts of them

    def __init__(self, possible_agents: Sequence[str]) -> None:
        """Check the names; nobody is live yet."""
        self.possible_agents = tuple(possible_agents)
        if not self.possible_agents or len(set(self.possible_agents)) < len(self.possible_agents):
            raise ValueError(f"possible_agents are one or more different names; got {list(possible_agents)!r}.")
        self.agents: list[str] = []
        self.current_agent: str | None = None
        self.totals: dict[str, float] = {}
        self._ends: dict[str, dict[str, Any]] = {}
        self._turn_goes_to: str | None = None

    # --- what a game fills in -----------------------------------------------------------------------------------------

    @abstractmethod
    def begin(self) -> None:
        """Set up a new game; draw what is hidden from `self.rng`."""

    @abstractmethod
    def observe(self, agent: str) -> Any:
        """Return all that this agent may know now, and nothing else; for an agent whose game is over, how it ended."""

    @abstractmethod
    def play(self, actions: Mapping[str, Any]) -> Mapping[str, float]:
        """Apply the actions of the agents whose turn it is, and call `finish`, `cut` or `give_turn` where that follows.

        A decided game is over at once: no further phase, no further turn.

        Args:
            actions: By agent; any text may come.

        Returns:
            Rewards by agent; who is left out gets 0.0. A penalty is returned once, here.
        """

    def inform(self, agent: str) -> dict[str, Any]:
        """Return what else this agent's info holds, as plain JSON values."""
        return {}

    def sample_action(self, agent: str) -> Any:
        """Return a random, well-formed action of one agent, drawn from `action_rng`."""
        return super().sample_random_action()

    # --- what a game calls --------------------------------------------------------------------------------------------

    def finish(self, *agents: str, success: bool) -> None:
        """End the game of these agents, or of all that are live; `success` says whether they solved or won it."""
        for agent in agents or self.agents:
            self._ends[agent] = {"success": bool(success)}

    def cut(self, by: str = "max_turns", agents: Sequence[str] | None = None) -> None:
        """Truncate the game of these agents, or of all that are live, whose game is not over yet."""
        for agent in self.agents if agents is None else agents:
            self._ends.setdefault(agent, {"success": False, "truncated_by": by})

    def give_turn(self, agent: str) -> None:
        """Say whose turn is next: the same agent's after an invalid move, or another's than the next in order."""
        self._turn_goes_to = agent

    # --- what everybody else calls ------------------------------------------------------------------------------------

    @property
    def to_act(self) -> tuple[str, ...]:
        """The agents that the next step needs an action of."""
        if self.turn_order == "parallel":
            return tuple(self.agents)
        return (self.current_agent,) if self.current_agent is not None else ()

    def reset(self, seed: int | None = None, **options: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a game with all agents.

        Returns:
            Observations and infos by agent; each info has `seed` and `env_id`.
        """
        _, info = super().reset(seed=seed, **options)
        self.agents = list(self.possible_agents)
        self.current_agent = self.agents[0] if self.turn_order == "sequential" else None
        self.totals = dict.fromkeys(self.possible_agents, 0.0)
        self._ends = {}
        self._turn_goes_to = None
        self.begin()
        infos = {agent: {**info, **self.inform(agent)} for agent in self.agents}
        return {agent: self.observe(agent) for agent in self.agents}, infos

    def step(self, action: Mapping[str, Any]) -> MultiAgentStep:  # type: ignore[override]  # see the class
        """Play one action of each agent in `to_act`.

        Args:
            action: Actions by agent.

        Returns:
            Five dicts, keyed by the agents that were live before this step.

        Raises:
            ResetNeeded: The game has not begun, or is over.
            TypeError: `action` is no mapping.
            ValueError: It lacks an agent whose turn it is, or has one whose turn it is not. Nothing has changed.
        """
        self._check_actions(action)
        live, moved = list(self.agents), self.current_agent
        self._turn_goes_to = None
        paid = self.play(dict(action))
        unknown = ", ".join(sorted(set(paid) - set(live)))
        if unknown:
            raise ValueError(f"{self!r}.play() pays {unknown}, who is not in the game; live are {', '.join(live)}.")
        rewards = {agent: float(paid.get(agent, 0.0)) for agent in live}
        for agent, reward in rewards.items():
            self.totals[agent] += reward
        ends = {agent: self._ends[agent] for agent in live if agent in self._ends}
        self.agents = [agent for agent in live if agent not in ends]
        self.current_agent = self._next_agent(moved)
        truncated = {agent: "truncated_by" in ends.get(agent, {}) for agent in live}
        terminated = {agent: agent in ends and not truncated[agent] for agent in live}
        gone = {agent: total for agent, total in self.totals.items() if agent not in self.agents}
        infos = {
            agent: {**self.inform(agent), **ends.get(agent, {}), "totals": {**gone, agent: self.totals[agent]}}
            for agent in live
        }
        return {agent: self.observe(agent) for agent in live}, rewards, terminated, truncated, infos

    def sample_random_action(self) -> dict[str, Any]:
        """Return a random action of each agent in `to_act`."""
        return {agent: self.sample_action(agent) for agent in self.to_act}

    def oracle_action(self) -> dict[str, Any] | None:
        """Return a solver's action of each agent in `to_act`, or None where no solver is known."""
        return None

    def _check_actions(self, actions: Any) -> None:
        if not self.agents:
            when = "after the end of the game" if self._ends else "before reset()"
            raise ResetNeeded(f"{self!r}: step() came {when}; call reset() to begin another.")
        if not isinstance(actions, Mapping):
            raise TypeError(f"{self!r}.step() takes actions by agent; got {type(actions).__name__}.")
        wanted = set(self.to_act)
        if set(actions) != wanted:
            extra = ", ".join(f"{agent!r} ({self._why_not(agent)})" for agent in actions if agent not in wanted)
            lacking = ", ".join(repr(agent) for agent in self.to_act if agent not in actions)
            problems = [f"it has {extra}"] if extra else []
            problems += [f"it lacks {lacking}"] if lacking else []
            wants = f"{self!r}.step() takes an action of {', '.join(self.to_act)}"
            raise ValueError(f"{wants} and of nobody else; {' and '.join(problems)}.")

    def _why_not(self, agent: Any) -> str:
        if agent not in self.possible_agents:
            return "no such agent"
        return "its game is over" if agent not in self.agents else "it is not its turn"

    def _next_agent(self, moved: str | None) -> str | None:
        if self.turn_order == "parallel" or moved is None or not self.agents:
            return None
        if self._turn_goes_to in self.agents:
            return self._turn_goes_to
        after = self.possible_agents.index(moved) + 1
        order = self.possible_agents[after:] + self.possible_agents[:after]
        return next(agent for agent in order if agent in self.agents)
