"""Kuhn's poker: three cards, one bet, and a player who does not know the other's card.

The game and all its equilibria are in H. W. Kuhn, "Simplified two-person poker", Contributions to the Theory of Games 1
(1950), 97-103.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from gem.single_agent import Player
from gem_games.base import box
from gem_games.duel.base import AGENTS, Duel
from gem_games.duel.opponents import MixedPlayer, RandomPlayer

__all__ = ["CARDS", "GAME_VALUE", "KuhnPokerEnv", "equilibrium"]

CARDS = "JQK"

GAME_VALUE = -1 / 18
"""What `player_0` wins a hand on average, in chips, where both play an equilibrium."""

# What may follow what, and who then wins how much: the higher card, or the one who did not fold.
_LEGAL = {
    (): ("check", "bet"),
    ("check",): ("check", "bet"),
    ("bet",): ("call", "fold"),
    ("check", "bet"): ("call", "fold"),
}


def equilibrium(bluff: float = 1 / 3) -> dict[tuple[str, tuple[str, ...]], dict[str, float]]:
    """Return an equilibrium of both players: who plays it cannot be beaten in the long run.

    Args:
        bluff: How often `player_0` bets with the jack, 0 to 1/3; each value gives another equilibrium.

    Returns:
        The chance of each move, by the player's own card and the moves so far.

    Raises:
        ValueError: `bluff` is out of bounds.
    """
    if not 0 <= bluff <= 1 / 3:
        raise ValueError(f"The jack is bet with a chance of 0 to 1/3 in an equilibrium; got {bluff!r}.")
    bets = {
        (): {"J": bluff, "Q": 0.0, "K": 3 * bluff},
        ("check",): {"J": 1 / 3, "Q": 0.0, "K": 1.0},
    }
    calls = {
        ("bet",): {"J": 0.0, "Q": 1 / 3, "K": 1.0},
        ("check", "bet"): {"J": 0.0, "Q": bluff + 1 / 3, "K": 1.0},
    }
    table = {}
    for row, yes, no in ((bets, "bet", "check"), (calls, "call", "fold")):
        for history, chances in row.items():
            for card, chance in chances.items():
                table[card, history] = {yes: chance, no: 1.0 - chance}
    return table


class KuhnPokerEnv(Duel):
    """Bet on the higher of two cards, knowing only one's own.

    Rewards are chips won or lost: 1 without a bet or where one was not called, 2 where it was called. Forfeiting costs
    2, as much as the dearest loss.

    Args:
        invalid_moves: See `Duel`.

    Attributes:
        cards: The card of each player; a player sees its own, and the other's once they are compared.
    """

    moves = ("check", "bet", "call", "fold")
    players: ClassVar[Mapping[str, Player]] = {"random": RandomPlayer(), "equilibrium": MixedPlayer(equilibrium())}
    solver: ClassVar[Player | None] = MixedPlayer(equilibrium())
    hidden: ClassVar[bool] = True
    forfeit_reward: ClassVar[float] = -2.0

    def _deal(self) -> None:
        self.cards = dict(zip(AGENTS, self.rng.sample(CARDS, 2), strict=True))

    def known(self, agent: str) -> tuple[str, tuple[str, ...]]:
        """Return all that a player knows: its own card and the moves so far."""
        return self.cards[agent], self._history

    @property
    def _history(self) -> tuple[str, ...]:
        return tuple(move for _, move in self.log)

    def _rules(self, agent: str) -> str:
        return (
            "Kuhn poker. Of three cards, J, Q and K (K is the highest), each of two players gets one that the other "
            "does not see. Each has put one chip into the pot. player_0 checks or bets one more chip. If player_0 "
            "checks, player_1 checks, and the cards are compared, or bets. Who faces a bet calls it with a chip, and "
            "the cards are compared, or folds and loses. The higher card, or who did not fold, takes the pot; your "
            f"score is the chips that you have won or lost. You are {agent}."
        )

    def _board(self, agent: str) -> str:
        lines = [f"Your card: {self.cards[agent]}"]
        if self._ends and self._compared:
            lines.append(f"The other card: {self.cards[self.other(agent)]}")
        pot = 2 + sum(move in ("bet", "call") for move in self._history)
        return "\n".join([*lines, f"Moves so far: {', '.join(self._history) or 'none'}. Chips in the pot: {pot}."])

    def _how(self, agent: str) -> str:
        first, second = self.legal_moves()
        return f"Write {box(first)} or {box(second)}."

    def legal_moves(self) -> Sequence[str]:
        """Return what may follow the moves so far."""
        return _LEGAL.get(self._history, ())

    def _read(self, text: str) -> str | None:
        word = text.lower() if len(text) <= 5 else ""
        return word if word in self.moves else None

    def _apply(self, agent: str, move: str) -> None:
        """Do nothing: the log says it all."""

    @property
    def _compared(self) -> bool:
        return self._history not in _LEGAL and self._history[-1] != "fold"

    def _payoffs(self) -> dict[str, float] | None:
        if self._history in _LEGAL:
            return None
        if not self._compared:
            return self._win(self.other(self.log[-1][0]))
        winner = max(AGENTS, key=lambda agent: CARDS.index(self.cards[agent]))
        return self._win(winner, 2.0 if "call" in self._history else 1.0)
