"""What all two-player games share: turns, invalid moves, ends, who sees what."""

from __future__ import annotations

import random
import re
import textwrap
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.errors import ResetNeeded
from gem.parsing import boxed
from gem_games.base import box
from gem_games.duel import base
from gem_games.duel.base import AGENTS, Duel
from gem_games.duel.tic_tac_toe import TicTacToeEnv
from gem_games.duel.versus import GAMES

X, O = AGENTS  # noqa: E741 - the marks


def play(env: Duel, *moves: str) -> Any:
    """Make moves, each by whose turn it is; return what the last step gave."""
    result = None
    for move in moves:
        result = env.step({str(env.current_agent): box(move)})
    return result


def begun(game: type[Duel] = TicTacToeEnv, seed: int = 0, **parameters: Any) -> Duel:
    env = game(**parameters)
    env.reset(seed=seed)
    return env


# --- invalid moves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", ["", "five", "\\boxed{}", "\\boxed{0}", "\\boxed{10}", "<think>\\boxed{1}", box("5")])
def test_an_invalid_reply_asks_the_same_player_again_and_changes_nothing(reply: str) -> None:
    env = begun()
    play(env, "5")
    board, log = env.position, list(env.log)  # type: ignore[attr-defined]
    observations, rewards, terminated, truncated, infos = env.step({O: reply})
    assert rewards == {X: 0.0, O: 0.0}
    assert not any(terminated.values())
    assert not any(truncated.values())
    assert (env.current_agent, env.log, env.position) == (O, log, board)  # type: ignore[attr-defined]
    assert "Your reply" in observations[O]
    assert "now forfeits the game" in observations[O]
    assert observations[O].endswith(infos[O]["suffix"])
    assert "reply" not in observations[X]


def test_a_valid_move_clears_the_count_and_it_never_carries_over() -> None:
    env = begun()
    env.step({X: "hm"})
    assert (env.invalid, env.current_agent) == (1, X)
    observations, *_ = play(env, "1")
    assert (env.invalid, env.current_agent, len(env.log)) == (0, O, 1)
    assert "forfeits" not in observations[O]
    _, rewards, terminated, *_ = env.step({O: "hm"})  # the first of this player, allowed again
    assert rewards == {X: 0.0, O: 0.0}
    assert not any(terminated.values())
    play(env, "2")
    env.step({X: "hm"})
    assert env.agents == [X, O]


@pytest.mark.parametrize("game", GAMES.values())
@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_too_many_invalid_replies_forfeit_the_game_once(game: type[Duel], allowed: int) -> None:
    env = begun(game, invalid_moves=allowed)
    for _ in range(2):  # and the next game of the same object starts clean
        env.reset(seed=1)
        for _ in range(allowed):
            assert env.step({X: "?"})[1] == {X: 0.0, O: 0.0}
        observations, rewards, terminated, _, infos = env.step({X: "?"})
        assert rewards == {X: game.forfeit_reward, O: 0.0}
        assert terminated == {X: True, O: True}
        assert [infos[agent]["success"] for agent in AGENTS] == [False, False]
        assert infos[O]["totals"] == {X: game.forfeit_reward, O: 0.0}
        assert "player_0 has forfeited" in observations[O]
        assert env.agents == []
        with pytest.raises(ResetNeeded):
            env.step({O: "?"})


def test_forfeiting_is_never_better_than_losing() -> None:
    for game in GAMES.values():
        worst = 0.0
        for seed in range(60):
            env = begun(game, seed=seed)
            while env.agents:
                rewards = env.step(env.sample_random_action())[1]
                worst = min(worst, *rewards.values())
        assert game.forfeit_reward == worst


@pytest.mark.parametrize("allowed", [-1, 1.5, "one", True])
def test_an_impossible_allowance_is_refused(allowed: Any) -> None:
    with pytest.raises(ValueError, match="invalid_moves is a whole number, 0 or larger"):
        TicTacToeEnv(invalid_moves=allowed)


# --- ends -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "moves, rewards",
    [
        (["1", "4", "2", "5", "3"], {X: 1.0, O: -1.0}),
        (["1", "4", "2", "5", "9", "6"], {X: -1.0, O: 1.0}),
        (["1", "2", "3", "5", "4", "6", "8", "7", "9"], {X: 0.0, O: 0.0}),
    ],
    ids=["first wins", "second wins", "draw"],
)
def test_each_player_sees_its_reward_and_end_exactly_once(moves: list[str], rewards: dict[str, float]) -> None:
    env = begun()
    seen = dict.fromkeys(AGENTS, 0)
    for number, move in enumerate(moves):
        assert env.current_agent == AGENTS[number % 2]  # one rule, whatever the move does
        result = play(env, move)
        for agent in AGENTS:
            seen[agent] += result[2][agent]
        if number < len(moves) - 1:
            assert result[1] == {X: 0.0, O: 0.0}
    assert result[1] == rewards
    assert seen == {X: 1, O: 1}
    assert {agent: info["success"] for agent, info in result[4].items()} == {a: rewards[a] > 0 for a in AGENTS}
    assert all(info["totals"] == rewards for info in result[4].values())
    assert (env.agents, env.current_agent) == ([], None)
    ends = {1.0: "You have won.", -1.0: "You have lost.", 0.0: "The game is a draw."}
    assert all(result[0][agent].endswith(ends[rewards[agent]]) for agent in AGENTS)
    assert all("suffix" not in info for info in result[4].values())
    env.reset(seed=1)
    assert (env.agents, env.log, env.totals) == ([X, O], [], {X: 0.0, O: 0.0})


@pytest.mark.parametrize("game", GAMES.values())
def test_a_decided_game_asks_nobody_for_more(game: type[Duel]) -> None:
    env = begun(game)
    while env.agents:
        observations, *_ = env.step(env.sample_random_action())
    assert not any("your turn" in text or "boxed" in text for text in map(str.lower, observations.values()))
    assert env.to_act == ()
    assert env.oracle_action() is None


# --- observations -----------------------------------------------------------------------------------------------------


def test_the_log_and_the_observations_say_who_did_what() -> None:
    env = begun()
    observations, *_ = play(env, "5", "1", "9")
    assert env.log == [(X, "5"), (O, "1"), (X, "9")]
    assert observations[O].startswith("You: 1\nplayer_0: 9\n")
    assert observations[X].startswith("You: 9\n")


def test_both_players_see_one_board_in_every_frame() -> None:
    for game in (GAMES["TicTacToe"], GAMES["ConnectFour"], GAMES["NestedTicTacToe"]):
        env = begun(game)
        while env.agents:
            env.step(env.sample_random_action())
            first, second = (env._board(agent).splitlines() for agent in AGENTS)
            assert first[:-1] == second[:-1]
            assert (first[-1].startswith("You are X"), second[-1].startswith("You are O")) == (True, True)


@pytest.mark.parametrize("game", GAMES.values())
def test_rules_stand_in_every_observation_until_the_own_first_move(game: type[Duel]) -> None:
    env = game()
    observations, _ = env.reset(seed=2)
    rules = {agent: env._rules(agent) for agent in AGENTS}
    assert all(observations[agent].startswith(rules[agent]) for agent in AGENTS)
    assert f"You are {O}." in rules[O]
    observations, *_ = env.step({X: "?"})
    assert rules[X] in observations[X]
    move = env.sample_random_action()
    observations, _, terminated, *_ = env.step(move)
    assert not any(terminated.values())
    assert rules[X] not in observations[X]
    assert f"{rules[O]}\nplayer_0: " in observations[O]


@pytest.mark.parametrize("game", GAMES.values())
def test_every_example_in_an_observation_is_a_legal_move(game: type[Duel]) -> None:
    for seed in range(10):
        env = begun(game, seed=seed)
        observations = {agent: env.observe(agent) for agent in AGENTS}
        while env.agents:
            for example in re.findall(r"\\boxed\{[^}]*\}", observations[str(env.current_agent)]):
                assert boxed(example) in env.legal_moves()
            observations, *_ = env.step(env.sample_random_action())


@pytest.mark.parametrize("game", GAMES.values())
def test_sampled_and_solved_moves_are_legal_and_the_game_ends(game: type[Duel]) -> None:
    for seed in range(20):
        env = begun(game, seed=seed)
        while env.agents:
            sampled = env.sample_random_action() if seed % 4 else env.oracle_action()
            assert sampled is not None
            (reply,) = sampled.values()
            assert boxed(reply) in env.legal_moves()
            assert set(env.legal_moves()) <= set(env.moves)
            env.step(sampled)
        assert sum(env.totals.values()) == 0


@pytest.mark.parametrize("game", GAMES.values())
@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.one_of(st.text(), st.text("0123456789 checkbtalfod,").map(box)), max_size=20))
def test_any_text_is_answered_and_only_legal_moves_count(game: type[Duel], texts: list[str]) -> None:
    env = begun(game, invalid_moves=50)
    for text in texts:
        if not env.agents:
            break
        agent, legal, before = str(env.current_agent), env.legal_moves(), len(env.log)
        env.step({agent: text})
        if len(env.log) > before:
            assert env.log[-1] == (agent, env.log[-1][1])
            assert env.log[-1][1] in legal
        else:
            assert env.current_agent == agent


def test_a_policy_that_repeats_itself_earns_nothing() -> None:
    """There is nothing to farm: only the end pays, and what one wins the other loses."""
    rng = random.Random(3)
    for game in GAMES.values():
        env = begun(game, seed=5, invalid_moves=3)
        while env.agents:
            action = env.sample_random_action() if rng.random() < 0.5 else {str(env.current_agent): box("again")}
            rewards = env.step(action)[1]
            assert not env.agents or rewards == {X: 0.0, O: 0.0}


def test_the_example_in_the_docstring_runs() -> None:
    block = textwrap.dedent(str(base.__doc__).split("::\n\n")[1])
    names: dict[str, Any] = {"Duel": Duel}
    exec(block, names)
    env = begun(names["Nim"])
    result = play(env, "3", "1", "3")
    assert result[1] == {X: 1.0, O: -1.0}
    assert env.reset(seed=1)[0][X].endswith("It is your turn. Write how many you take in a box, like \\boxed{1}.")
