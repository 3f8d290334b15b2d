from __future__ import annotations

import inspect
import pickle
import textwrap
from collections.abc import Mapping
from typing import Any

import pytest

import gem
from gem.errors import ResetNeeded
from gem.multi_agent import MultiAgentEnv
from gem.parsing import boxed
from gem.single_agent import single
from gem.testing import check_env


class Race(MultiAgentEnv):
    """First to reach `goal` wins; a step is 1 to 3. Nonsense costs 0.5 and the game; twelve moves are the limit."""

    answer_format = "boxed"

    def __init__(self, agents: tuple[str, ...] = ("ann", "bob", "eve"), goal: int = 5) -> None:
        super().__init__(agents)
        self.goal = goal

    def begin(self) -> None:
        self.places = dict.fromkeys(self.possible_agents, 0)
        self.hidden = {agent: self.rng.randint(100, 999) for agent in self.possible_agents}
        self.moves = 0

    def observe(self, agent: str) -> str:
        return f"You are {agent}, number {self.hidden[agent]}; {self.places}. Write \\boxed{{1}}, 2 or 3."

    def play(self, actions: Mapping[str, Any]) -> dict[str, float]:
        rewards = {}
        self.moves += 1
        for agent, action in actions.items():
            text = boxed(action)
            if text == "again":
                self.give_turn(agent)
            elif text not in ("1", "2", "3"):
                self.finish(agent, success=False)
                rewards[agent] = -0.5
            else:
                self.places[agent] += int(text)
        winners = [agent for agent in self.agents if self.places[agent] >= self.goal]
        if winners:
            for agent in self.agents:
                self.finish(agent, success=agent in winners)
            rewards.update(dict.fromkeys(winners, 1.0))
        elif self.moves >= 12:
            self.cut("max_turns")
        return rewards

    def sample_action(self, agent: str) -> str:
        return f"\\boxed{{{self.action_rng.randint(1, 3)}}}"


class Together(Race):
    turn_order = "parallel"


def test_a_game_goes_by_turns_and_each_agent_sees_its_end_once() -> None:
    env = Race()
    assert (env.agents, env.current_agent, env.to_act) == ([], None, ())
    observations, infos = env.reset(seed=3)
    assert list(observations) == list(infos) == ["ann", "bob", "eve"] == env.agents
    assert infos["bob"] == {"seed": 3, "env_id": "Race"}
    assert env.to_act == ("ann",)
    env.step({"ann": "\\boxed{3}"})
    observations, rewards, terminated, truncated, infos = env.step({"bob": "what?"})
    assert rewards == {"ann": 0.0, "bob": -0.5, "eve": 0.0}
    assert terminated == {"ann": False, "bob": True, "eve": False}
    assert infos["bob"] == {"success": False, "totals": {"bob": -0.5}}
    assert env.agents == ["ann", "eve"]
    env.step({"eve": "\\boxed{1}"})
    observations, rewards, terminated, truncated, infos = env.step({"ann": "\\boxed{2}"})
    assert set(observations) == {"ann", "eve"}
    assert rewards == {"ann": 1.0, "eve": 0.0}
    assert terminated == {"ann": True, "eve": True}
    assert truncated == {"ann": False, "eve": False}
    assert infos["ann"] == {"success": True, "totals": {"ann": 1.0, "bob": -0.5, "eve": 0.0}}
    assert (env.agents, env.current_agent, env.to_act) == ([], None, ())
    env.reset()
    assert (env.agents, env.totals) == (["ann", "bob", "eve"], {"ann": 0.0, "bob": 0.0, "eve": 0.0})


@pytest.mark.parametrize(
    "first, then",
    [
        ({"ann": "\\boxed{1}"}, "bob"),  # an ordinary move
        ({"ann": "\\boxed{again}"}, "ann"),  # the game gives the turn back
        ({"ann": ""}, "bob"),  # the mover is out
    ],
)
def test_the_turn_follows_one_rule(first: dict[str, str], then: str) -> None:
    env = Race()
    env.reset()
    env.step(first)
    assert env.current_agent == then


def test_the_turn_skips_who_has_left_and_comes_round() -> None:
    env = Race()
    env.reset()
    env.step({"ann": "\\boxed{1}"})
    env.step({"bob": ""})
    env.step({"eve": "\\boxed{1}"})
    env.step({"ann": "\\boxed{1}"})
    assert env.current_agent == "eve"


def test_a_limit_truncates_everybody() -> None:
    env = Race(goal=100)
    env.reset()
    for _ in range(12):
        *_, terminated, truncated, infos = env.step({env.current_agent: "\\boxed{1}"})
    assert truncated == {"ann": True, "bob": True, "eve": True}
    assert not any(terminated.values())
    assert infos["eve"]["truncated_by"] == "max_turns"
    assert infos["eve"]["success"] is False
    assert env.agents == []


def test_in_a_parallel_game_all_live_agents_act() -> None:
    env = Together()
    env.reset()
    assert env.to_act == ("ann", "bob", "eve")
    assert env.current_agent is None
    env.step({"ann": "\\boxed{1}", "bob": "", "eve": "\\boxed{3}"})
    assert env.to_act == ("ann", "eve")
    _, rewards, *_ = env.step({"ann": "\\boxed{1}", "eve": "\\boxed{3}"})
    assert rewards == {"ann": 0.0, "eve": 1.0}


@pytest.mark.parametrize(
    "actions, message",
    [
        ({}, "takes an action of bob and of nobody else; it lacks 'bob'"),
        ({"ann": "x"}, r"it has 'ann' \(it is not its turn\) and it lacks 'bob'"),
        ({"bob": "x", "zoe": "y"}, r"it has 'zoe' \(no such agent\)"),
    ],
)
def test_wrong_actions_are_refused_and_change_nothing(actions: dict[str, str], message: str) -> None:
    env = Race()
    env.reset(seed=1)
    env.step({"ann": "\\boxed{1}"})
    with pytest.raises(ValueError, match=message):
        env.step(actions)
    assert env.moves == 1
    assert env.current_agent == "bob"


def test_acting_for_one_who_has_left_is_refused() -> None:
    env = Together()
    env.reset()
    env.step(dict.fromkeys(env.agents, "\\boxed{1}") | {"bob": ""})
    with pytest.raises(ValueError, match=r"it has 'bob' \(its game is over\)"):
        env.step({"ann": "x", "bob": "x", "eve": "x"})


def test_steps_out_of_time_and_of_the_wrong_type_are_refused() -> None:
    env = Race()
    with pytest.raises(ResetNeeded, match="before reset"):
        env.step({"ann": "x"})
    env.reset()
    with pytest.raises(TypeError, match="takes actions by agent; got str"):
        env.step("x")  # type: ignore[arg-type]
    while env.agents:
        env.step(env.sample_random_action())
    with pytest.raises(ResetNeeded, match="after the end of the game"):
        env.step({"ann": "x"})


def test_a_seed_fixes_the_game_and_copies_go_on_alike() -> None:
    env, other = Race(), Race()
    assert env.reset(seed=4) == other.reset(seed=4)
    env.step(env.sample_random_action())
    copy = env.spawn(same_state=True)
    other.set_state(pickle.loads(pickle.dumps(env.get_state())))
    while env.agents:
        actions = env.sample_random_action()
        assert copy.sample_random_action() == other.sample_random_action() == actions
        assert copy.step(actions) == other.step(actions) == env.step(actions)
    assert env.reset() == copy.reset() == other.reset()


def test_paying_a_stranger_is_the_authors_mistake() -> None:
    class PaysZoe(Race):
        def play(self, actions: Mapping[str, Any]) -> dict[str, float]:
            return {"zoe": 1.0}

    env = PaysZoe()
    env.reset()
    with pytest.raises(ValueError, match=r"play\(\) pays zoe, who is not in the game; live are ann, bob, eve"):
        env.step({"ann": "x"})


@pytest.mark.parametrize("agents", [(), ("a", "a")])
def test_agents_have_different_names(agents: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="one or more different names"):
        Race(agents)


def test_a_game_is_made_by_id_as_it_is() -> None:
    gem.register("check:Race-v0", Race, replace=True, goal=3)
    env = gem.make("check:Race-v0", seed=5)
    assert env.reset()[1]["ann"] == {"seed": 5, "env_id": "check:Race-v0"}
    env.step({"ann": "\\boxed{1}"})
    env.step({"bob": "\\boxed{1}"})


# --- one side of it ---------------------------------------------------------------------------------------------------


def test_one_side_of_a_game_is_a_plain_env() -> None:
    env = single(Race(), "bob", lambda seen: "\\boxed{1}" if "ann" in seen else "\\boxed{2}")
    observation, info = env.reset(seed=2)
    assert observation.startswith("You are bob")
    assert "'ann': 1" in observation  # ann has moved
    assert info == {"seed": 2, "env_id": "Race"}
    observation, reward, terminated, truncated, info = env.step("\\boxed{2}")
    assert "'ann': 2, 'bob': 2, 'eve': 1" in observation
    assert (reward, terminated, truncated) == (0.0, False, False)
    observation, reward, terminated, truncated, info = env.step("\\boxed{3}")
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    with pytest.raises(ResetNeeded):
        env.step("\\boxed{1}")


def test_one_side_of_what_has_no_sides_is_refused() -> None:
    class Alone(gem.Env):
        def step(self, action: Any) -> Any:
            return "", 0.0, True, False, {}

    with pytest.raises(TypeError, match=r"Alone> has one agent already; .* MultiAgentEnv"):
        single(Alone(), "ann")  # type: ignore[arg-type]


def test_the_reward_covers_all_until_the_next_turn() -> None:
    env = single(Race(goal=4), "ann", {"bob": lambda _: "\\boxed{3}", "eve": lambda _: "\\boxed{3}"})
    env.reset()
    assert env.step("\\boxed{1}")[1:3] == (0.0, False)
    _, reward, terminated, _, info = env.step("\\boxed{1}")
    assert (reward, terminated, info["success"]) == (0.0, True, False)


@pytest.mark.parametrize("game", [Race, Together])
@pytest.mark.parametrize("opponents", [None, lambda seen: "\\boxed{2}"])
def test_one_side_keeps_the_contract(game: type[Race], opponents: Any) -> None:
    check_env(lambda: single(game(goal=9), "bob", opponents), seeds=5, largest_text=10_000)


def test_one_side_made_by_id_is_checked() -> None:
    gem.register("check:Side-v0", lambda goal: single(Race(goal=goal), "ann"), replace=True, goal=9)
    report = check_env("check:Side-v0", seeds=3, largest_text=10_000)
    assert {"E8", "E9"} <= set(report.checked)


def test_self_play_keeps_the_contract() -> None:
    check_env(lambda: single(Race(goal=9), "bob", "self"), seeds=5, largest_text=10_000)


def test_self_play_shows_each_agent_its_own_side() -> None:
    env = single(Race(("ann", "bob"), goal=3), "ann", "self")
    observation, info = env.reset(seed=1)
    assert (observation[:11], info["agent"]) == ("You are ann", "ann")
    observation, reward, terminated, _, info = env.step("\\boxed{1}")
    assert (observation[:11], info["agent"], reward, terminated) == ("You are bob", "bob", 0.0, False)
    _, reward, terminated, _, info = env.step("\\boxed{3}")
    assert (reward, terminated, info["rewards"]) == (0.0, True, {"ann": 0.0, "bob": 1.0})
    assert (info["agent"], info["success"]) == ("ann", False)


@pytest.mark.parametrize(
    "game, agent, opponents, message",
    [
        (Race, "zoe", None, "has no agent 'zoe'; it has ann, bob, eve"),
        (Race, "ann", {"bob": str}, "opponents lacks eve"),
        (Together, "ann", "self", "self-play needs turns"),
    ],
)
def test_a_side_that_cannot_be_played_is_refused(game: type[Race], agent: str, opponents: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        single(game(), agent, opponents)


def test_a_game_that_ends_before_the_first_turn_says_so() -> None:
    env = single(Race(goal=1), "bob", lambda seen: "\\boxed{1}")
    with pytest.raises(RuntimeError, match="over for bob before its first turn"):
        env.reset()


def test_the_example_in_the_docstring_runs() -> None:
    block = textwrap.dedent(inspect.getdoc(MultiAgentEnv).split("::\n\n")[1].split("\n\nThe rules")[0])  # type: ignore[union-attr]
    names: dict[str, Any] = {"gem": gem}
    exec(block, names)
    env = names["HighCard"]()
    env.reset(seed=1)
    env.step({"north": "\\boxed{swap}"})
    _, rewards, terminated, *_ = env.step({"south": "\\boxed{stay}"})
    assert max(rewards.values()) == 1.0
    assert all(terminated.values())


def test_a_side_that_is_not_named_is_drawn_at_each_reset() -> None:
    env = single(Race(goal=9), None, lambda seen: "\\boxed{1}")
    drawn = []
    for seed in (*range(30), 0, 1):
        observation, _ = env.reset(seed=seed)
        assert observation.startswith(f"You are {env.agent}")
        drawn.append(env.agent)
    assert set(drawn) == {"ann", "bob", "eve"}
    assert drawn[:2] == drawn[-2:]
    check_env(lambda: single(Race(goal=9), None), seeds=3, largest_text=10_000)


class Chooser:
    """A player that knows the game and takes its chances from the generator it is given."""

    def choose(self, game: Race, agent: str, rng: Any) -> str:
        return f"\\boxed{{{rng.randint(1, 3) if game.places[agent] < 3 else 1}}}"


@pytest.mark.parametrize("opponents", [Chooser(), {"ann": Chooser(), "eve": lambda seen: "\\boxed{1}"}])
def test_an_opponent_may_know_the_game(opponents: Any) -> None:
    check_env(lambda: single(Race(goal=9), "bob", opponents), seeds=3, largest_text=10_000)
    env = single(Race(goal=9), "bob", opponents)
    moved = set()
    for seed in range(20):
        env.reset(seed=seed)
        moved.add(env.unwrapped.places["ann"])
        first = env.step("\\boxed{1}")
        env.reset(seed=seed)
        env.sample_random_action()  # which leaves the opponents' chances alone
        assert env.step("\\boxed{1}") == first
    assert moved == {1, 2, 3}


def test_what_an_agent_is_told_at_its_first_turn_is_of_then() -> None:
    class Tells(Race):
        def inform(self, agent: str) -> dict[str, Any]:
            return {"moves": self.moves}

    env = single(Tells(), "eve", lambda seen: "\\boxed{1}")
    assert env.reset(seed=1)[1]["moves"] == 2
    assert env.step("\\boxed{1}")[4]["moves"] == 5


def test_the_games_own_solver_plays_one_side_or_both() -> None:
    class Solved(Race):
        def oracle_action(self) -> dict[str, Any]:
            return {agent: f"\\boxed{{3}} {agent}" for agent in self.to_act}

    env = single(Solved(), "bob", lambda seen: "\\boxed{1}")
    env.reset(seed=1)
    assert env.oracle_action() == "\\boxed{3} bob"
    both = single(Solved(), "bob", "self")
    both.reset(seed=1)
    assert both.oracle_action() == "\\boxed{3} ann"
    assert single(Race(), "bob").oracle_action() is None
    assert Race().oracle_action() is None


def test_one_agents_game_can_be_cut_alone() -> None:
    class Cuts(Race):
        def play(self, actions: Mapping[str, Any]) -> dict[str, float]:
            self.cut(agents=["eve"])
            return {}

    env = Cuts()
    env.reset()
    *_, terminated, truncated, infos = env.step({"ann": "x"})
    assert truncated == {"ann": False, "bob": False, "eve": True}
    assert not any(terminated.values())
    assert infos["eve"]["truncated_by"] == "max_turns"
    assert env.agents == ["ann", "bob"]


def test_luck_is_no_breach_of_what_can_be_solved() -> None:
    class Tosses(gem.Env):
        answer_format = "boxed"

        def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
            _, info = super().reset(seed=seed, **options)
            self.heads = self.rng.random() < 0.5
            return "Write anything in \\boxed{}; a coin decides.", info

        def step(self, action: str) -> Any:
            return "", float(self.heads), True, False, {"success": self.heads}

        def oracle_action(self) -> str:
            return "\\boxed{5}"

    gem.register("check:Tosses-v0", Tosses, replace=True, tags=("luck",))
    assert "luck" in check_env("check:Tosses-v0", seeds=5, largest_text=10_000).skipped["E12"]
    gem.register("check:Tosses-v0", Tosses, replace=True)
    with pytest.raises(gem.errors.ContractError, match="E12"):
        check_env("check:Tosses-v0", seeds=5, largest_text=10_000)
