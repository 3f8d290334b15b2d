"""One side of a two-player game as a plain environment: the registered ids, opponents, seats, the oracle."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.parsing import boxed
from gem.testing import check_env
from gem_games.base import box
from gem_games.duel.base import AGENTS
from gem_games.duel.opponents import MinimaxPlayer, RandomPlayer
from gem_games.duel.tic_tac_toe import TicTacToeEnv
from gem_games.duel.versus import GAMES, VersusEnv, versus

IDS = (
    "duel:ConnectFour-v0",
    "duel:ConnectFour-v0-minimax",
    "duel:KuhnPoker-v0",
    "duel:KuhnPoker-v0-random",
    "duel:NestedTicTacToe-v0",
    "duel:NestedTicTacToe-v0-minimax",
    "duel:TicTacToe-v0",
    "duel:TicTacToe-v0-minimax",
)
BOARDS = [env_id for env_id in IDS if "Kuhn" not in env_id]


def finish(env: gem.Env, oracle: bool) -> tuple[float, dict[str, Any]]:
    """Play a game that has begun; return its return and last info."""
    total, ended = 0.0, False
    while not ended:
        _, reward, terminated, truncated, info = env.step(env.oracle_action() if oracle else env.sample_random_action())
        total, ended = total + reward, terminated or truncated
    return total, info


def test_the_ids_are_registered() -> None:
    assert tuple(sorted(gem.list_envs("duel:*"))) == IDS


@pytest.mark.parametrize("env_id", IDS)
def test_the_contract_holds(env_id: str) -> None:
    report = check_env(env_id, seeds=2, largest_text=50_000)
    assert {"E1", "E2", "E3", "E4", "E6", "E7", "E8", "E9", "E11"} <= set(report.checked)


def test_the_contract_holds_in_self_play() -> None:
    check_env(lambda: versus("KuhnPoker", agent="player_0", opponent="self", goal="win"), seeds=1, largest_text=10_000)


@pytest.mark.parametrize("env_id", BOARDS)
def test_the_oracle_reaches_the_goal(env_id: str) -> None:
    env = gem.make(env_id)
    for seed in range(5 if env_id != "duel:TicTacToe-v0" else 100):
        env.reset(seed=seed)
        total, info = finish(env, oracle=True)
        assert info["success"], seed
        assert total == (0.0 if env_id == "duel:TicTacToe-v0-minimax" else 1.0)


@pytest.mark.parametrize("env_id", IDS)
def test_returns_lie_in_the_registered_range(env_id: str) -> None:
    env, (low, high) = gem.make(env_id), gem.spec(env_id).reward_range
    for seed in range(15):
        env.reset(seed=seed)
        total, info = finish(env, oracle=False)
        assert low <= total <= high
        assert info["success"] == (total >= 0 if env_id == "duel:TicTacToe-v0-minimax" else total > 0)
        env.reset(seed=seed)
        total = 0.0
        for _ in range(2):
            total += env.step("nonsense")[1]
        assert total == low


@pytest.mark.parametrize("agent", AGENTS)
def test_minimax_never_loses_tic_tac_toe_from_either_seat(agent: str) -> None:
    env = versus("TicTacToe", agent=agent, opponent="minimax")
    returns = []
    for seed in range(500):
        env.reset(seed=seed)
        returns.append(finish(env, oracle=False)[0])
    assert max(returns) <= 0.0
    assert returns.count(-1.0) > 300  # and it mostly beats random play


@pytest.mark.parametrize("agent", AGENTS)
def test_two_perfect_players_draw(agent: str) -> None:
    env = VersusEnv(TicTacToeEnv(), agent, MinimaxPlayer(), "draw")
    for seed in range(20):
        env.reset(seed=seed)
        total, info = finish(env, oracle=True)
        assert (total, info["success"]) == (0.0, True)


def test_a_seat_is_drawn_at_each_reset() -> None:
    env = gem.make("duel:TicTacToe-v0")
    seats = []
    for seed in (*range(40), 0, 1, 2):
        observation, info = env.reset(seed=seed)
        seats.append(env.agent)
        assert f"You are {env.agent}." in observation
        assert ("player_0: " in observation) == (env.agent == "player_1")
        assert observation.endswith(info["suffix"])
        assert info["env_id"] == "duel:TicTacToe-v0"
    assert set(seats) == set(AGENTS)
    assert seats[:3] == seats[-3:]
    assert env.spawn(same_state=False).reset(seed=0)[0] == env.reset(seed=0)[0]


def test_the_first_observation_says_the_goal_and_the_rules() -> None:
    observation, _ = gem.make("duel:TicTacToe-v0").reset(seed=1)
    assert observation.startswith("Your task is to win.\nTic-tac-toe. ")
    observation, _ = gem.make("duel:TicTacToe-v0-minimax").reset(seed=1)
    assert observation.startswith("Your task is to win or draw: do not lose.\nTic-tac-toe. ")


def test_a_draw_is_a_success_only_where_it_is_the_goal() -> None:
    for goal, success in (("win", False), ("draw", True)):
        replies = iter(["2", "5", "6", "7"])
        env = versus("TicTacToe", agent="player_0", opponent=lambda _, r=replies: box(next(r)), goal=goal)  # type: ignore[arg-type]
        env.reset(seed=0)
        for move in ("1", "3", "4", "8"):
            env.step(box(move))
        _, reward, terminated, _, info = env.step(box("9"))
        assert (reward, terminated, info["success"]) == (0.0, True, success)


def test_an_opponent_may_be_any_policy_over_observations() -> None:
    seen: list[str] = []

    def lowest(observation: str) -> str:
        seen.append(observation)
        return box(boxed(observation) or "")  # the example that the observation ends with is the lowest free cell

    env = versus("TicTacToe", agent="player_0", opponent=lowest)
    env.reset(seed=0)
    observation, *_ = env.step(box("9"))
    assert "player_1: 1" in observation
    assert "You are player_1." in seen[0]
    assert env.oracle_action() is not None  # the solver's, which asks no policy
    assert len(seen) == 1


def test_an_opponent_that_forfeits_gives_no_win() -> None:
    env = versus("TicTacToe", agent="player_0", opponent=lambda _: "I give up")
    env.reset(seed=0)
    observation, reward, terminated, _, info = env.step(box("5"))
    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert "player_1 has forfeited" in observation


def test_self_play_shows_each_side_its_own_observation() -> None:
    env = versus("KuhnPoker", agent="player_1", opponent="self")
    observation, info = env.reset(seed=4)
    cards = env.unwrapped.cards
    assert info["agent"] == "player_0"
    assert f"Your card: {cards['player_0']}" in observation
    observation, reward, _, _, info = env.step(box("bet"))
    assert (info["agent"], reward) == ("player_1", 0.0)
    assert f"Your card: {cards['player_1']}" in observation
    _, reward, terminated, _, info = env.step(box("fold"))
    assert (reward, terminated, info["success"], info["rewards"]) == (
        -1.0,
        True,
        False,
        {"player_0": 1.0, "player_1": -1.0},
    )


@pytest.mark.parametrize("game", GAMES)
def test_the_solver_plays_both_sides_of_self_play(game: str) -> None:
    env = versus(game, agent="player_0", opponent="self")
    env.reset(seed=2)
    total, info = finish(env, oracle=True)
    assert info["totals"]["player_0"] == total


@pytest.mark.parametrize("opponent", ["random", "minimax", None])
def test_sampling_and_asking_change_nothing(opponent: str | None) -> None:
    def play(ask: bool) -> list[Any]:
        env = versus("TicTacToe", agent="player_1", opponent=opponent)
        results: list[Any] = [env.reset(seed=7)]
        ended = False
        while not ended:
            if ask:
                env.sample_random_action()
                env.oracle_action()
                env.spawn(same_state=True).oracle_action()
            results.append(env.step(box(env.unwrapped.legal_moves()[0])))
            ended = results[-1][2]
        return results

    assert play(ask=True) == play(ask=False)


def test_the_oracle_finds_back_after_straying() -> None:
    env = gem.make("duel:ConnectFour-v0")
    for seed in range(5):
        env.reset(seed=seed)
        env.oracle_action()
        env.step(env.sample_random_action())
        assert finish(env, oracle=True)[1]["success"]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"game": "Chess"}, "There is no two-player game 'Chess'; there are TicTacToe, NestedTicTacToe, "),
        ({"agent": "X"}, "has no agent 'X'; it has player_0, player_1"),
        ({"opponent": "deep"}, "has no opponent 'deep'; it has random, minimax, self, or give a policy"),
        ({"game": "KuhnPoker", "opponent": "minimax"}, "it has random, equilibrium, self"),
        ({"goal": "lose"}, 'goal is "win" or "draw"'),
    ],
)
def test_what_cannot_be_played_is_refused(change: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        versus(**{"game": "TicTacToe", **change})


def test_stronger_opponents_are_stronger() -> None:
    for game in ("ConnectFour", "NestedTicTacToe"):
        env = VersusEnv(GAMES[game](), None, RandomPlayer())
        minimax, wins = GAMES[game].players["minimax"], 0
        for seed in range(10):
            env.reset(seed=seed)
            ended, reward = False, 0.0
            while not ended:
                _, reward, ended, _, _ = env.step(minimax.choose(env.unwrapped, env.agent, env.action_rng))
            wins += reward == 1.0
        assert wins >= 9
