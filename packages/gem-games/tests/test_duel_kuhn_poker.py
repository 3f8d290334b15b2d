"""Kuhn poker: its rules, what is hidden, and that the equilibrium is one."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from gem_games.base import box
from gem_games.duel.base import AGENTS
from gem_games.duel.kuhn_poker import CARDS, GAME_VALUE, KuhnPokerEnv, equilibrium
from gem_games.duel.versus import VersusEnv

FIRST, SECOND = AGENTS
DEALS = list(itertools.permutations(CARDS, 2))
HISTORIES = [
    ("check", "check"),
    ("check", "bet", "call"),
    ("check", "bet", "fold"),
    ("bet", "call"),
    ("bet", "fold"),
]


def dealt(first: str, second: str) -> KuhnPokerEnv:
    """Return a begun game with these cards."""
    env = KuhnPokerEnv()
    for seed in range(1000):
        env.reset(seed=seed)
        if env.cards == {FIRST: first, SECOND: second}:
            return env
    raise AssertionError("the deal never comes")


def play(env: KuhnPokerEnv, *moves: str) -> Any:
    result = None
    for move in moves:
        result = env.step({str(env.current_agent): box(move)})
    return result


@pytest.mark.parametrize(
    "moves, stake", [(("check", "check"), 1.0), (("check", "bet", "call"), 2.0), (("bet", "call"), 2.0)]
)
@pytest.mark.parametrize("first, second", DEALS)
def test_the_higher_card_wins_a_showdown(first: str, second: str, moves: tuple[str, ...], stake: float) -> None:
    observations, rewards, terminated, _, infos = play(dealt(first, second), *moves)
    won = stake if CARDS.index(first) > CARDS.index(second) else -stake
    assert rewards == {FIRST: won, SECOND: -won}
    assert all(terminated.values())
    assert infos[FIRST]["success"] == (won > 0)
    assert f"The other card: {second}" in observations[FIRST]


@pytest.mark.parametrize("first, second", DEALS)
def test_who_folds_loses_one_chip_and_nobody_shows_a_card(first: str, second: str) -> None:
    observations, rewards, *_ = play(dealt(first, second), "bet", "fold")
    assert rewards == {FIRST: 1.0, SECOND: -1.0}
    assert not any("other card" in text for text in observations.values())
    _, rewards, *_ = play(dealt(first, second), "check", "bet", "fold")
    assert rewards == {FIRST: -1.0, SECOND: 1.0}


@pytest.mark.parametrize("history", [(), ("check",), ("bet",), ("check", "bet"), *HISTORIES])
@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("card", CARDS)
def test_nothing_that_a_player_gets_tells_the_other_card(card: str, agent: str, history: tuple[str, ...]) -> None:
    """Whichever card the other one holds, this player's observations, infos and the repr are the same to the letter."""
    shown = set()
    for other in CARDS.replace(card, ""):
        env = dealt(card, other) if agent == FIRST else dealt(other, card)
        seen: list[Any] = [env.observe(agent), env.inform(agent), repr(env)]
        for move in history:
            observations, *_, infos = env.step({str(env.current_agent): box(move)})
            if env.agents or history[-1] == "fold":
                info = {**infos[agent]}
                seen += [observations[agent], info, repr(env), str(env)]
        assert f"Your card: {card}" in seen[0]
        shown.add(repr(seen))
    assert len(shown) == 1


def test_one_side_of_the_game_hides_as_much() -> None:
    by_own: dict[Any, set[str]] = {}
    for seed in range(60):
        env = VersusEnv(KuhnPokerEnv(), FIRST, lambda seen: box("call"))
        observation, info = env.reset(seed=seed)
        shown = repr((observation, {**info, "seed": 0}, env))
        by_own.setdefault(env.unwrapped.cards[FIRST], set()).add(shown)
    assert {card: len(texts) for card, texts in by_own.items()} == dict.fromkeys(CARDS, 1)


def test_moves_are_read_in_any_case_and_only_where_legal() -> None:
    env = dealt("K", "J")
    assert env.legal_moves() == ("check", "bet")
    observations, *_ = env.step({FIRST: box("call")})
    assert "says call, which is no legal move now" in observations[FIRST]
    env.step({FIRST: box("BET")})
    assert env.log == [(FIRST, "bet")]
    assert env.legal_moves() == ("call", "fold")


# --- the equilibrium, exactly -----------------------------------------------------------------------------------------

Table = dict[tuple[str, tuple[str, ...]], dict[str, Any]]


def exact(bluff: Fraction) -> Table:
    """Return an equilibrium in fractions."""
    table = equilibrium(float(bluff))
    return {
        known: {move: Fraction(chance).limit_denominator(36) for move, chance in row.items()}
        for known, row in table.items()
    }


def value(first: Table, second: Table) -> Fraction:
    """Return what the first player wins on average, over all deals and moves."""

    def follow(cards: tuple[str, str], history: tuple[str, ...]) -> Fraction:
        if history in HISTORIES:
            _, rewards, *_ = play(dealt_cached[cards].spawn(same_state=True), *history)
            return Fraction(rewards[FIRST])
        mover = len(history) % 2
        row = (first, second)[mover][cards[mover], history]
        return sum((chance * follow(cards, (*history, move)) for move, chance in row.items() if chance), Fraction(0))

    return sum((follow(deal, ()) for deal in DEALS), Fraction(0)) / len(DEALS)


dealt_cached = {deal: dealt(*deal) for deal in DEALS}
BLUFFS = [Fraction(0), Fraction(1, 6), Fraction(1, 3)]


@pytest.mark.parametrize("bluff", BLUFFS)
def test_two_equilibria_reach_the_value_of_the_game(bluff: Fraction) -> None:
    assert value(exact(bluff), exact(Fraction(1, 3))) == Fraction(-1, 18)
    assert abs(GAME_VALUE + 1 / 18) < 1e-12


@pytest.mark.parametrize("bluff", BLUFFS)
def test_nobody_gains_by_leaving_an_equilibrium(bluff: Fraction) -> None:
    """Against it, each pure way to play gets at most the value; they are all tried."""
    table = exact(bluff)
    for mover, sign in ((0, 1), (1, -1)):
        known = [key for key in table if len(key[1]) % 2 == mover]
        best = Fraction(-10)
        for choice in itertools.product(*(table[key] for key in known)):
            pure = {**table, **{key: {move: Fraction(1)} for key, move in zip(known, choice, strict=True)}}
            # Only what can matter is played out: the other side's chances stay those of the equilibrium.
            won = sign * (fast_value(pure, table) if mover == 0 else fast_value(table, pure))
            best = max(best, won)
        assert best == sign * Fraction(-1, 18)


def fast_value(first: Table, second: Table) -> Fraction:
    """Return `value`, with the payoffs written down once."""

    def follow(cards: tuple[str, str], history: tuple[str, ...]) -> Fraction:
        if history in HISTORIES:
            return PAYOFFS[cards, history]
        mover = len(history) % 2
        row = (first, second)[mover][cards[mover], history]
        return sum((chance * follow(cards, (*history, move)) for move, chance in row.items() if chance), Fraction(0))

    return sum((follow(deal, ()) for deal in DEALS), Fraction(0)) / len(DEALS)


PAYOFFS = {
    (deal, history): Fraction(play(dealt_cached[deal].spawn(same_state=True), *history)[1][FIRST])
    for deal in DEALS
    for history in HISTORIES
}


@pytest.mark.parametrize("agent, sign", [(FIRST, 1), (SECOND, -1)])
def test_played_hands_come_near_the_value(agent: str, sign: int) -> None:
    env = VersusEnv(KuhnPokerEnv(), agent, "equilibrium")
    total, hands = 0.0, 3000
    for seed in range(hands):
        env.reset(seed=seed)
        ended = False
        while not ended:
            _, reward, ended, _, _ = env.step(env.oracle_action())
            total += reward
    # A hand's standard deviation is about 1.3 chips, so 0.1 is more than four of the mean's.
    assert total / hands == pytest.approx(sign * GAME_VALUE, abs=0.1)


@pytest.mark.parametrize("bluff", [-0.1, 0.34])
def test_a_bluff_outside_the_equilibria_is_refused(bluff: float) -> None:
    with pytest.raises(ValueError, match="0 to 1/3"):
        equilibrium(bluff)
