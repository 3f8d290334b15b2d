r"""What the two-player games share, so that a game's own file reads like its rules.

A game keeps its state in a few hooks; turns, invalid moves, who said what and the shape of an observation come from
here. The smallest one::

    class Nim(Duel):
        moves = ("1", "2", "3")

        def _deal(self):
            self.stones = 7

        def _rules(self, agent):
            return "In turn, take 1 to 3 of the stones; who takes the last one wins."

        def _board(self, agent):
            return f"{self.stones} stones are left."

        def _how(self, agent):
            return "Write how many you take in a box, like \\boxed{1}."

        def legal_moves(self):
            return [move for move in self.moves if int(move) <= self.stones]

        def _apply(self, agent, move):
            self.stones -= int(move)

        def _payoffs(self):
            return self._win(self.log[-1][0]) if self.stones == 0 else None
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gem.multi_agent import MultiAgentEnv
from gem.parsing import boxed
from gem.single_agent import Player
from gem_games.base import box, whole_number
from gem_games.duel.opponents import RandomPlayer
from gem_games.duel.search import Position

__all__ = ["AGENTS", "BoardDuel", "Duel"]

AGENTS = ("player_0", "player_1")
"""The players' names; `player_0` moves first."""


class Duel(MultiAgentEnv):
    r"""A game of two players who move in turn, with moves inside `\boxed{...}`.

    An observation is what happened since the player's own last move, then a tail with the board as this player may see
    it and whose turn it is, repeated in `info["suffix"]` while the game goes on. Until its first move a player is shown
    the rules too, so each observation is enough to act from.

    Rewards come with the end alone: what one player wins the other loses (1 and -1, a draw 0, unless the game says
    otherwise), so there is nothing to farm.

    A reply that holds no legal move changes nothing and pays nothing; the same player is asked again, and told why.
    More than `invalid_moves` of them in a row forfeit the game: the player gets `forfeit_reward`, the other 0, neither
    has `success`. A legal move sets the count to 0, so it never carries over to the other player.

    A subclass says what `moves` there are and overrides `_deal`, `_rules`, `_board`, `_how`, `legal_moves`, `_apply`
    and `_payoffs`; most also override `_read`.

    Args:
        invalid_moves: How many invalid replies in a row a player may give.

    Attributes:
        moves: All moves that there are, as the text that goes into the box.
        players: The opponents that know this game, by name.
        solver: What `oracle_action` plays; None where no solver is known.
        hidden: Whether a player may not see everything.
        forfeit_reward: What forfeiting pays: nothing in the game is worse.
        log: Who made which move, in order.
        invalid: How many invalid replies the player to move has given in a row.
    """

    answer_format = "boxed"
    moves: ClassVar[tuple[str, ...]]
    players: ClassVar[Mapping[str, Player]] = {"random": RandomPlayer()}
    solver: ClassVar[Player | None] = None
    hidden: ClassVar[bool] = False
    forfeit_reward: ClassVar[float] = -1.0

    def __init__(self, *, invalid_moves: int = 1) -> None:
        super().__init__(AGENTS)
        self.invalid_moves = whole_number("invalid_moves", invalid_moves, 0) or 0
        self.log: list[tuple[str, str]] = []
        self.invalid = 0
        self._problem = ""  # what was wrong with the reply that came last
        self._ending = ""
        self._tails: dict[str, str] = {}
        self._deal()

    # --- what a game fills in -----------------------------------------------------------------------------------------

    @abstractmethod
    def _deal(self) -> None:
        """Set up a new game; draw what is hidden from `self.rng`."""

    @abstractmethod
    def _rules(self, agent: str) -> str:
        """Return the rules, as this player reads them."""

    @abstractmethod
    def _board(self, agent: str) -> str:
        """Return all that this player may know now, as lines of text."""

    @abstractmethod
    def _how(self, agent: str) -> str:
        """Say how the player to move writes a move; every example in it is legal."""

    @abstractmethod
    def legal_moves(self) -> Sequence[str]:
        """Return the moves that the player to move has."""

    @abstractmethod
    def _apply(self, agent: str, move: str) -> None:
        """Make a legal move; it stands in the log already."""

    @abstractmethod
    def _payoffs(self) -> dict[str, float] | None:
        """Return what both players get where the last move has ended the game, else None."""

    def _read(self, text: str) -> str | None:
        """Return the move that the text in the box means, or None where it means none; any text may come."""
        return text if text in self.moves else None

    # --- what a game calls --------------------------------------------------------------------------------------------

    def _win(self, winner: str, stake: float = 1.0) -> dict[str, float]:
        """Return the payoffs of a game that somebody has won."""
        return {agent: stake if agent == winner else -stake for agent in AGENTS}

    def other(self, agent: str) -> str:
        """Return the other player."""
        return AGENTS[1 - AGENTS.index(agent)]

    # --- what they all do ---------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Set up a new game."""
        self.log = []
        self.invalid = 0
        self._problem = self._ending = ""
        self._tails = {}
        self._deal()

    def play(self, actions: Mapping[str, Any]) -> dict[str, float]:
        """Make the move in the last box of the reply."""
        ((agent, action),) = actions.items()
        self._tails = {}
        text = boxed(action)
        move = None if text is None else self._read(text)
        if move is None or move not in self.legal_moves():
            return self._refuse(agent, move)
        self.invalid, self._problem = 0, ""
        self.log.append((agent, move))
        self._apply(agent, move)
        payoffs = self._payoffs()
        if payoffs is None:
            return {}
        for name, payoff in payoffs.items():
            self.finish(name, success=payoff > 0)
        return payoffs

    def _refuse(self, agent: str, move: str | None) -> dict[str, float]:
        self.invalid += 1
        reason = "holds no move that can be read" if move is None else f"says {move}, which is no legal move now"
        self._problem = f"Your reply {reason}; the last box in it counts."
        if self.invalid <= self.invalid_moves:
            self.give_turn(agent)
            return {}
        self._ending = f"{agent} has forfeited the game by invalid replies."
        self.finish(success=False)
        return {agent: self.forfeit_reward}

    def observe(self, agent: str) -> str:
        """Return what happened since this player's own last move, and where the game stands now."""
        own = [number for number, (who, _) in enumerate(self.log) if who == agent]
        parts = [] if own else [self._rules(agent)]
        parts += [f"{self._name(who, agent)}: {move}" for who, move in self.log[own[-1] if own else 0 :]]
        if self._problem and agent == self.current_agent:
            parts.append(self._problem)
        return "\n".join([*parts, self._tail(agent)])

    def inform(self, agent: str) -> dict[str, Any]:
        """Repeat the observation's tail while the game goes on."""
        return {} if self._ends else {"suffix": self._tail(agent)}

    def _tail(self, agent: str) -> str:
        if agent not in self._tails:  # observation and info need it, and a board takes a while to draw
            self._tails[agent] = self._draw_tail(agent)
        return self._tails[agent]

    def _draw_tail(self, agent: str) -> str:
        board = self._board(agent)
        if self._ends:
            return f"{board}\n{self._ending or self._result(agent)}"
        if agent != self.current_agent:
            return f"{board}\nIt is {self.current_agent}'s turn."
        left = self.invalid_moves - self.invalid
        warning = "" if left else " A reply without a legal move now forfeits the game."
        return f"{board}\nIt is your turn. {self._how(agent)}{warning}"

    def _result(self, agent: str) -> str:
        """Say how a game that was played to its end has ended."""
        payoff = (self._payoffs() or {}).get(agent, 0.0)
        return "You have won." if payoff > 0 else "You have lost." if payoff < 0 else "The game is a draw."

    def _name(self, who: str, reader: str) -> str:
        return "You" if who == reader else who

    def sample_action(self, agent: str) -> str:
        """Return a legal move of the player to move."""
        return box(self.action_rng.choice(self.legal_moves() or self.moves))

    def oracle_action(self) -> dict[str, Any] | None:
        """Return the move of the game's solver, which sees what the player to move may see and no more."""
        if self.solver is None or self.current_agent is None:
            return None
        return {self.current_agent: self.solver.choose(self, self.current_agent, self.action_rng)}


class BoardDuel(Duel):
    """A two-player game that hides nothing, so that minimax can play it; a win pays 1, a loss -1, a draw 0.

    A subclass says where a game starts and overrides `_rules`, `_board`, `_how` and `_read`.

    Attributes:
        start: Where every game starts.
        position: Where this one stands, seen by the player to move.
    """

    start: ClassVar[Position]
    position: Position

    def _deal(self) -> None:
        self.position = self.start

    def legal_moves(self) -> Sequence[str]:
        """Return the moves that the player to move has."""
        return [] if self.position.lost else sorted(self.position.moves())

    def _apply(self, agent: str, move: str) -> None:
        self.position = self.position.after(move)

    def _payoffs(self) -> dict[str, float] | None:
        if self.position.lost:
            return self._win(self.log[-1][0])
        return None if self.position.moves() else dict.fromkeys(AGENTS, 0.0)
