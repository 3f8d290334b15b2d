"""The adapter to and from PettingZoo, by PettingZoo's own tests and games."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import pytest

from gem.multi_agent import MultiAgentEnv
from gem.parsing import boxed
from gem.single_agent import single
from gem.testing import check_env
from gem_games.base import box
from gem_games.duel.tic_tac_toe import TicTacToeEnv
from gem_games.duel.versus import GAMES

pettingzoo = pytest.importorskip("pettingzoo", reason="gem-games[pettingzoo] is not installed")
zoo_test = pytest.importorskip("pettingzoo.test")
gymnasium = pytest.importorskip("gymnasium")

from gem_games.duel.pettingzoo import PettingZooEnv, from_pettingzoo, to_pettingzoo  # noqa: E402 - after the skip

# PettingZoo's tests warn about whatever is no array; everything else they warn about is an error here.
TEXT_WARNINGS = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning"),
    pytest.mark.filterwarnings("ignore:Action space for each agent probably should be:UserWarning"),
    # An agent whose game is over has no legal action.
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros:UserWarning"),
]


def with_text_warnings(test: Any) -> Any:
    for mark in TEXT_WARNINGS:
        test = mark(test)
    return test


class Guess(MultiAgentEnv):
    """All name a digit at once; who is nearest to a hidden one wins, after three rounds; no answer is out."""

    turn_order = "parallel"
    answer_format = "boxed"

    def __init__(self) -> None:
        super().__init__(["player_0", "player_1", "player_2"])

    def begin(self) -> None:
        self.hidden, self.rounds = self.rng.randrange(10), 0

    def observe(self, agent: str) -> str:
        return f"You are {agent}; round {self.rounds}. Write a digit in \\boxed{{}}."

    def play(self, actions: Mapping[str, Any]) -> dict[str, float]:
        self.rounds += 1
        guesses = {agent: boxed(action) or "" for agent, action in actions.items()}
        for agent, guess in guesses.items():
            if guess not in tuple("0123456789"):
                self.finish(agent, success=False)
        if self.rounds == 3:
            self.cut()
        return {agent: float(guess == str(self.hidden)) for agent, guess in guesses.items()}


# --- to PettingZoo ----------------------------------------------------------------------------------------------------


@with_text_warnings
@pytest.mark.parametrize("actions", ["text", "index"])
@pytest.mark.parametrize("game", GAMES.values())
def test_pettingzoos_api_test_passes(game: Any, actions: Any, capsys: pytest.CaptureFixture[str]) -> None:
    zoo_test.api_test(to_pettingzoo(game(), actions=actions), num_cycles=200)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("actions", ["text", "index"])
@pytest.mark.parametrize("game", GAMES.values())
def test_pettingzoos_seed_test_passes(game: Any, actions: Any) -> None:
    zoo_test.seed_test(lambda: to_pettingzoo(game(), actions=actions), num_cycles=50)


def test_pettingzoos_parallel_tests_pass(capsys: pytest.CaptureFixture[str]) -> None:
    zoo_test.parallel_api_test(to_pettingzoo(Guess()), num_cycles=50)
    zoo_test.parallel_seed_test(lambda: to_pettingzoo(Guess()), num_cycles=20)
    assert "Passed Parallel API test" in capsys.readouterr().out


def test_a_game_of_three_in_turns_passes_too(capsys: pytest.CaptureFixture[str]) -> None:
    class InTurns(Guess):
        turn_order = "sequential"

    env = to_pettingzoo(InTurns())
    env.reset(seed=1)
    env.step("nothing")  # out; the others go on
    assert env.agents == ["player_0", "player_1", "player_2"]
    assert (env.agent_selection, env.terminations["player_0"]) == ("player_0", True)
    env.step(None)
    assert (env.agents, env.agent_selection) == (["player_1", "player_2"], "player_1")


def test_indices_and_masks_are_the_legal_moves() -> None:
    env = to_pettingzoo(TicTacToeEnv(), actions="index")
    env.reset(seed=0)
    env.step(4)
    observation, reward, terminated, truncated, _ = env.last()
    assert observation["action_mask"].tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]
    assert env.observe("player_0")["action_mask"].sum() == 0
    assert "player_0: 5" in observation["text"]
    assert (reward, terminated, truncated) == (0.0, False, False)
    for action in (0, 3, 1, 5):
        env.step(action)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.render().endswith("You have won.")


def test_an_illegal_move_pays_the_penalty_once() -> None:
    env = to_pettingzoo(TicTacToeEnv(invalid_moves=0), actions="index")
    env.reset(seed=0)
    env.step(4)
    env.step(4)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, _, _ = env.last()
        assert terminated
        totals[agent] += reward
        env.step(None)
    assert totals == {"player_0": 0.0, "player_1": -1.0}
    env.reset(seed=0)
    assert env.agents == ["player_0", "player_1"]
    assert not any(env.rewards.values())


def test_what_cannot_be_adapted_is_refused() -> None:
    with pytest.raises(ValueError, match='actions are "text" or "index"'):
        to_pettingzoo(TicTacToeEnv(), actions="number")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not list its moves"):
        to_pettingzoo(Guess(), actions="index")


# --- from PettingZoo --------------------------------------------------------------------------------------------------


def classic(name: str, api: str = "aec") -> Any:
    """Return what makes a board game of PettingZoo."""
    pytest.importorskip("pygame", reason="PettingZoo's board games need pygame-ce")
    return lambda: pettingzoo.make(api, f"classic/{name}")


def marks(agent: str, observation: Any) -> str:
    """Show tic-tac-toe: m is mine, y is yours."""
    own, others = observation["observation"][:, :, 0], observation["observation"][:, :, 1]
    return "\n".join("".join("m" if own[i][j] else "y" if others[i][j] else "." for j in range(3)) for i in range(3))


def test_a_game_of_pettingzoo_plays_by_its_masks() -> None:
    env = from_pettingzoo(classic("tictactoe_v3"), render=marks, rules="Three in a row win.")
    observations, infos = env.reset(seed=1)
    first, second = env.possible_agents
    assert observations[first].startswith("Three in a row win.\n...\n...\n...\n")
    assert "write one of 0, 1, 2, 3, 4, 5, 6, 7, 8 in a box" in infos[first]["suffix"]
    assert env.current_agent == first
    observations, *_ = env.step({first: box("4")})
    assert "write one of 0, 1, 2, 3, 5, 6, 7, 8 in a box" in observations[second]
    observations, rewards, *_ = env.step({second: box("4")})  # taken: asked again, nothing passed on
    assert (rewards, env.current_agent) == ({first: 0.0, second: 0.0}, second)
    assert "holds no legal action" in observations[second]
    for agent, move in ((second, "0"), (first, "1"), (second, "2"), (first, "7")):
        result = env.step({agent: box(move)})
    observations, rewards, terminated, _, infos = result
    assert rewards == {first: 1.0, second: -1.0}
    assert all(terminated.values())
    assert (infos[first]["success"], infos[second]["success"]) == (True, False)
    assert (env.agents, env.current_agent) == ([], None)
    assert observations[first] == "ymy\n.m.\n.m.\nYou are player_1. Your game is over."


def test_too_many_illegal_actions_end_the_game_once() -> None:
    env = from_pettingzoo(classic("connect_four_v3"), invalid_moves=1)
    for _ in range(2):
        env.reset(seed=3)
        env.step({"player_0": "hm"})
        _, rewards, terminated, *_ = env.step({"player_0": box("7")})
        assert rewards == {"player_0": -1.0, "player_1": 0.0}
        assert all(terminated.values())


@pytest.mark.parametrize("name", ["tictactoe_v3", "connect_four_v3"])
def test_copies_and_states_go_on_alike_although_pettingzoo_copies_only_arguments(name: str) -> None:
    env = from_pettingzoo(classic(name))
    env.reset(seed=5)
    for _ in range(4):
        env.step(env.sample_random_action())
    copied, other = env.spawn(same_state=True), from_pettingzoo(classic(name))
    other.set_state(pickle.loads(pickle.dumps(env.get_state())))
    copied.spawn(same_state=True).step(copied.spawn(same_state=True).sample_random_action())
    while env.agents:
        actions = env.sample_random_action()
        assert copied.sample_random_action() == other.sample_random_action() == actions
        assert copied.step(actions) == other.step(actions) == env.step(actions)
    assert copied.reset() == other.reset() == env.reset()


@pytest.mark.parametrize(
    "name, api", [("tictactoe_v3", "aec"), ("connect_four_v3", "aec"), ("rps_v2", "aec"), ("rps_v2", "parallel")]
)
def test_one_side_of_a_game_of_pettingzoo_keeps_the_contract(name: str, api: str) -> None:
    make = classic(name, api)
    check_env(lambda: single(from_pettingzoo(make), None), seeds=1, largest_text=5_000)


def test_games_where_all_act_at_once_stay_so() -> None:
    env = from_pettingzoo(classic("rps_v2", "parallel"))
    env.reset(seed=1)
    assert env.turn_order == "parallel"
    assert env.to_act == ("player_0", "player_1")
    _, rewards, *_ = env.step({"player_0": box("1"), "player_1": box("0")})
    assert rewards == {"player_0": 1.0, "player_1": -1.0}
    observations, rewards, *_ = env.step({"player_0": box("1"), "player_1": "hm"})
    assert rewards == {"player_0": 0.0, "player_1": 0.0}
    assert "holds no legal action" in observations["player_1"]
    assert "holds no legal action" not in observations["player_0"]
    while env.agents:
        *_, truncated, infos = env.step(env.sample_random_action())
    assert all(truncated.values())
    assert infos["player_0"]["truncated_by"] == "max_turns"


def test_an_environment_may_be_given_instead_of_what_makes_one() -> None:
    made = classic("tictactoe_v3")()
    env = from_pettingzoo(made)
    env.reset(seed=1)
    env.step(env.sample_random_action())
    twin = env.spawn(same_state=False)
    assert twin.reset(seed=2) == env.reset(seed=2)
    assert twin.zoo.env is not env.zoo.env is not made


@pytest.mark.parametrize("game", [TicTacToeEnv, Guess])
def test_there_and_back_again_is_the_same_game(game: Any) -> None:
    env = from_pettingzoo(lambda: to_pettingzoo(game()), render=lambda _, observation: observation["text"])
    original = game()
    observations, _ = env.reset(seed=3)
    original.reset(seed=env._zoo_seed)
    for _ in range(3):
        replies = original.sample_random_action()
        observations, rewards, terminated, truncated, _ = env.step(replies)
        expected = original.step(replies)
        assert all(text.startswith(expected[0][agent]) for agent, text in observations.items())
        assert (rewards, terminated, truncated) == expected[1:4]


def test_what_text_cannot_name_is_refused() -> None:
    class Continuous(type(to_pettingzoo(Guess()))):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(Guess())
            self.space = gymnasium.spaces.Box(0, 1, (2,))

        def action_space(self, agent: str) -> Any:
            return self.space

    with pytest.raises(ValueError, match="actions are Discrete or Text; player_0 has Box"):
        from_pettingzoo(Continuous)
    with pytest.raises(TypeError, match="takes a PettingZoo environment or what makes one; got 3"):
        from_pettingzoo(3)  # type: ignore[arg-type]


def test_a_repr_names_the_class_alone() -> None:
    env = from_pettingzoo(lambda: to_pettingzoo(Guess()))
    assert repr(env) == "<PettingZooEnv>"
    assert isinstance(copy.deepcopy(env._zoo), type(env._zoo))
    assert isinstance(env, PettingZooEnv)
