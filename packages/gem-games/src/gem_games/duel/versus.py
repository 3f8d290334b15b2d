"""One side of a two-player game as a plain environment, against an opponent that is named or given."""

from __future__ import annotations

from collections import deque
from typing import Any, Literal, cast

from gem.core import StepResult
from gem.single_agent import Opponents, SingleAgentEnv
from gem_games.base import box
from gem_games.duel.base import Duel
from gem_games.duel.connect_four import ConnectFourEnv
from gem_games.duel.kuhn_poker import KuhnPokerEnv
from gem_games.duel.nested_tic_tac_toe import NestedTicTacToeEnv
from gem_games.duel.tic_tac_toe import TicTacToeEnv

__all__ = ["GAMES", "VersusEnv", "versus"]

GAMES: dict[str, type[Duel]] = {
    "TicTacToe": TicTacToeEnv,
    "NestedTicTacToe": NestedTicTacToeEnv,
    "ConnectFour": ConnectFourEnv,
    "KuhnPoker": KuhnPokerEnv,
}
"""The two-player games, by name."""

_FORESEEN = 600  # how many moves the oracle tries out before it gives up


def versus(
    game: str,
    *,
    agent: str | None = None,
    opponent: Any = "random",
    goal: Literal["win", "draw"] = "win",
    **parameters: Any,
) -> VersusEnv:
    """Return one side of a game of this package.

    Args:
        game: A name in `GAMES`.
        agent: Whose side; None draws it at each reset.
        opponent: See `VersusEnv`.
        goal: See `VersusEnv`.
        parameters: What the game's own class takes.

    Raises:
        ValueError: There is no such game, agent, opponent or goal.
    """
    if game not in GAMES:
        raise ValueError(f"There is no two-player game {game!r}; there are {', '.join(GAMES)}.")
    return VersusEnv(GAMES[game](**parameters), agent, opponent, goal)


class VersusEnv(SingleAgentEnv):
    """One side of a two-player game as a plain environment; see `gem.single_agent.SingleAgentEnv`.

    Rewards are the game's: what this side wins, or minus what it loses.

    Args:
        env: The game.
        agent: Whose side; None draws it at each reset.
        opponent: One of the game's `players` by name ("random", and "minimax" or "equilibrium" where the game has it),
            "self" for self-play, a policy that takes an observation and returns an action, or a `Player`.
        goal: What `success` means: to "win", or at least to "draw" where the opponent never loses.

    Raises:
        ValueError: There is no such agent, opponent or goal.
    """

    def __init__(
        self, env: Duel, agent: str | None = None, opponent: Any = "random", goal: Literal["win", "draw"] = "win"
    ) -> None:
        super().__init__(env, agent, _opponents(env, opponent))
        if goal not in ("win", "draw"):
            raise ValueError(f'goal is "win" or "draw"; got {goal!r}.')
        self.goal = goal
        self._foreseen: dict[tuple[str, ...], str] = {}
        self._foresees = True

    def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        """Begin a game; see `SingleAgentEnv.reset`. The observation begins with the goal."""
        self._foreseen, self._foresees = {}, True
        observation, info = super().reset(seed=seed, **options)
        task = "win" if self.goal == "win" else "win or draw: do not lose"
        return f"Your task is to {task}.\n{observation}", info

    def step(self, action: str) -> StepResult:
        """Make a move, and let the opponent answer it."""
        observation, reward, terminated, truncated, info = super().step(action)
        if terminated and self.goal == "draw":
            info["success"] = self._game.totals[self.agent] >= 0
        return observation, reward, terminated, truncated, info

    def oracle_action(self) -> str | None:
        """Return a move that reaches the goal.

        Where nothing is hidden and the opponent is a `Player`, it looks ahead at what this very opponent will answer,
        the solver's move first; so it makes the solver's moves unless they would fail. Where that finds nothing, and in
        all other cases, it is what the game's solver would do, which sees no more than the player.
        """
        game = cast(Duel, self._game)
        if not hasattr(self.opponents, "choose") or game.solver is None or game.hidden or self.agent not in game.to_act:
            return cast("str | None", super().oracle_action())
        if self._foresees and _key(game) not in self._foreseen:
            self._foresees = self._foresee()
        return self._foreseen.get(_key(game)) or cast("str | None", super().oracle_action())

    def _foresee(self) -> bool:
        """Find moves from here to success and keep them: the solver's, with few and early exceptions."""
        beginnings: deque[list[str]] = deque([[]])
        tries = _FORESEEN
        while beginnings and tries > 0:
            beginning = beginnings.popleft()
            twin, terminated = self.spawn(same_state=True), False
            line: list[str] = []
            keys: list[tuple[str, ...]] = []
            while not terminated:
                game = cast(Duel, twin._game)
                keys.append(_key(game))
                if len(line) < len(beginning):
                    move = beginning[len(line)]
                else:
                    move = cast(str, SingleAgentEnv.oracle_action(twin))
                    others = [box(other) for other in game.legal_moves() if box(other) != move]
                    beginnings.extend([*line, other] for other in others)
                line.append(move)
                *_, terminated, _, info = twin.step(move)
                tries -= 1
            if info["success"]:
                self._foreseen.update(zip(keys, line, strict=True))
                return True
        return False


def _key(game: Duel) -> tuple[str, ...]:
    return tuple(move for _, move in game.log)


def _opponents(env: Duel, opponent: Any) -> Opponents:
    """Find an opponent by its name."""
    if not isinstance(opponent, str):
        return cast(Opponents, opponent)
    if opponent == "self":
        return "self"
    if opponent not in env.players:
        names = ", ".join([*env.players, "self"])
        raise ValueError(f"{env!r} has no opponent {opponent!r}; it has {names}, or give a policy of your own.")
    return env.players[opponent]
