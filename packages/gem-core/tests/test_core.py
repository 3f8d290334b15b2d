"""Env and Wrapper: seeds, generators, copies, async twins, what passes through (contract E1, E6, E9, E11, W1)."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import pickle
import random
import re
import threading
from typing import Any

import pytest

from gem.core import Env, EnvWrapper, StepResult, Wrapper
from gem.errors import ResetNeeded, StateError
from gem.wrappers.checks import EnvChecks


class Dice(Env):
    """Three rolls; the task draws from `rng` at reset and at every step."""

    def __init__(self, sides: int = 6, names: list[str] | None = None) -> None:
        self.sides = sides
        self.names = names if names is not None else []
        self.rolls: list[int] = []

    def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        self.rolls = [self.rng.randint(1, self.sides)]
        return str(self.rolls[-1]), info

    def step(self, action: str) -> StepResult:
        self.rolls.append(self.rng.randint(1, self.sides))
        over = len(self.rolls) > 3
        return str(self.rolls[-1]), float(len(action)), over, False, {"success": over}


class Louder(Wrapper):
    """Adds marks to observations and actions; keeps a count of its own."""

    def __init__(self, env: Env, mark: str = "!") -> None:
        super().__init__(env)
        self.mark = mark
        self.count = 0
        self.inside = env

    def after_reset(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return observation + self.mark, info

    def before_step(self, action: Any) -> Any:
        return action + self.mark

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        self.count += 1
        return result[0] + self.mark, *result[1:]


def play(env: Env, steps: int = 3) -> list[Any]:
    return [env.step("a")[0] for _ in range(steps)]


def test_reset_with_a_seed_fixes_the_episode_and_the_unseeded_resets_after_it() -> None:
    first, second = Dice(1000), Dice(1000)
    one = [first.reset(seed=7)[0], *play(first), first.reset()[0], *play(first), first.reset()[0]]
    two = [second.reset(seed=7)[0], *play(second), second.reset()[0], *play(second), second.reset()[0]]
    assert one == two
    assert one != [second.reset(seed=8)[0], *play(second), second.reset()[0], *play(second), second.reset()[0]]


def test_later_unseeded_resets_do_not_hang_on_the_actions_of_the_episode_before() -> None:
    first, second = Dice(1000), Dice(1000)
    first.reset(seed=7)
    second.reset(seed=7)
    play(first, 2)
    assert first.reset() == second.reset()


def test_the_seed_in_info_reproduces_an_unseeded_episode() -> None:
    env = Dice(1000)
    observation, info = env.reset()
    later = play(env)
    again, same = env.reset(seed=info["seed"])
    assert (observation, later) == (again, play(env))
    assert same == info == {"seed": info["seed"], "env_id": "Dice"}


def test_unseeded_environments_differ_and_leave_the_process_generator_alone() -> None:
    random.seed(5)  # noqa: TID251 - to show that nobody reads it
    before = random.getstate()
    seeds = {Dice().reset()[1]["seed"] for _ in range(5)}
    assert len(seeds) == 5
    assert random.getstate() == before


def test_sampling_actions_does_not_advance_the_task() -> None:
    first, second = Dice(1000), Dice(1000)
    first.reset(seed=1)
    second.reset(seed=1)
    assert [first.sample_random_action() for _ in range(20)] != [first.sample_random_action() for _ in range(20)]
    assert play(first) == play(second)


@pytest.mark.parametrize(
    ("answer_format", "start"), [("boxed", "\\boxed{"), ("answer", "<answer>"), ("fenced", "```"), (None, "")]
)
def test_the_default_random_action_is_written_in_the_answer_format(answer_format: str | None, start: str) -> None:
    env = Dice()
    env.answer_format = answer_format
    action = env.sample_random_action()
    assert action.startswith(start)
    assert any(digit in action for digit in "0123456789")


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), ("7", TypeError), (1.0, TypeError)])
def test_a_seed_that_is_none_says_what_it_was(seed: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=repr(seed).strip("'")):
        Dice().reset(seed=seed)


def test_an_unknown_reset_option_is_named_through_every_wrapper() -> None:
    with pytest.raises(TypeError, match=r"takes no option idx"):
        Louder(EnvChecks(Dice())).reset(seed=1, idx=3)


def test_spawn_fresh_uses_the_recorded_arguments_and_shares_no_container() -> None:
    env = Dice(20, names=["a"])
    env.reset(seed=1)
    env.names.append("b")
    fresh = env.spawn()
    changed = env.spawn(sides=4)
    assert (fresh.sides, changed.sides) == (20, 4)
    assert fresh.rolls == []
    assert fresh.names is not env.names
    with pytest.raises(TypeError, match="faces"):
        env.spawn(faces=4)


def test_spawn_fresh_keeps_arguments_that_can_only_be_given_by_position() -> None:
    class Words(Dice):
        def __init__(self, sides: int, /, *words: str, mark: str = "") -> None:
            super().__init__(sides)
            self.words, self.mark = words, mark

    env = Words(20, "a", "b", mark="!")
    for twin, sides in ((env.spawn(), 20), (env.spawn(sides=4), 4)):
        assert (twin.sides, twin.words, twin.mark) == (sides, ("a", "b"), "!")


def test_spawn_same_state_goes_on_alike_and_independently_through_wrappers() -> None:
    env = Louder(EnvChecks(Dice(1000)))
    env.reset(seed=3)
    env.step("a")
    twin = env.spawn(same_state=True)
    assert twin.env is not env.env
    assert twin.inside is twin.env, "an attribute that points at an inner layer points at the copy of that layer"
    third = twin.spawn(same_state=True)
    rest = play(env, 2)
    assert play(twin, 2) == rest
    assert play(third, 2) == rest
    assert (env.count, twin.count, env.reset()) == (3, 3, twin.reset())


def test_spawn_fresh_rebuilds_the_wrappers_with_their_own_arguments() -> None:
    env = Louder(EnvChecks(Dice(20)), mark="?")
    env.mark = "changed later"
    fresh = env.spawn(sides=4)
    assert (fresh.mark, fresh.sides, fresh.count) == ("?", 4, 0)
    assert fresh.reset(seed=1)[0].endswith("?")


def test_spawn_same_state_refuses_changes() -> None:
    with pytest.raises(TypeError, match="cannot change sides"):
        Dice().spawn(same_state=True, sides=3)


def test_state_pickles_and_can_be_restored_twice() -> None:
    env = Louder(EnvChecks(Dice(1000)))
    env.reset(seed=3)
    state = pickle.loads(pickle.dumps(env.get_state()))
    rest = play(env)
    for _ in range(2):
        env.set_state(state)
        assert env.inside is env.env
        assert play(env) == rest
    other = Louder(EnvChecks(Dice(1000)))
    other.set_state(state)
    assert play(other) == rest


class Board:
    def __init__(self, env: Walk) -> None:
        self.env = env


class Walk(Env):
    """Has attributes that lead back to itself."""

    def __init__(self) -> None:
        self.place = 0
        self.moves = {"up": self.go, "jump": functools.partial(self.go, 10)}
        self.board = Board(self)

    def go(self, by: int = 1) -> None:
        self.place += by

    def step(self, action: str) -> StepResult:
        self.moves[action]()
        return str(self.board.env.place), 0.0, False, False, {}


class Counted(Wrapper):
    """Has attributes that lead back to itself and to the layer inside."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.count = 0
        self.hooks = [self.add, env.unwrapped.go]  # type: ignore[attr-defined]

    def add(self) -> None:
        self.count += 1

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        for hook in self.hooks:
            hook()
        return f"{result[0]} {self.count} {self.unwrapped.place}", *result[1:]  # type: ignore[attr-defined]


@pytest.mark.parametrize("pickled", [False, True])
def test_attributes_that_lead_back_to_the_environment_lead_to_the_copy(pickled: bool) -> None:
    env = Counted(EnvChecks(Walk()))
    env.reset(seed=1)
    assert env.step("up")[0] == "1 1 2"
    state = env.get_state()
    state = pickle.loads(pickle.dumps(state)) if pickled else state
    restored = Counted(EnvChecks(Walk()))
    restored.set_state(state)
    copies = [env, env.spawn(same_state=True), restored]
    for twin in copies:
        assert [twin.step("jump")[0], twin.step("up")[0]] == ["12 2 13", "14 3 15"]
    env.set_state(state)
    assert env.step("jump")[0] == "12 2 13"


def test_set_state_refuses_the_state_of_another_class() -> None:
    env = Dice()
    with pytest.raises(StateError, match="Louder"):
        env.set_state(Louder(env).get_state())


def test_what_a_class_lists_as_shared_is_the_same_object_in_all_copies_and_not_in_the_state() -> None:
    class Reader(Dice):
        shared = ("book",)

        def __init__(self) -> None:
            super().__init__()
            self.book = threading.Lock()  # stands for what cannot be copied
            self.page = {"of": self.book}

    env = Reader()
    env.reset(seed=1)
    assert env.spawn(same_state=True).book is env.book
    assert env.spawn(same_state=True).page["of"] is env.book
    assert "book" not in env.get_state()["attributes"]


def test_an_attribute_that_cannot_be_copied_is_named_with_the_way_out() -> None:
    env = Dice()
    env.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(StateError, match=r"'lock' \(lock\).*Dice\.shared"):
        env.spawn(same_state=True)


def test_copy_and_pickle_of_a_wrapped_environment_work() -> None:
    env = Louder(EnvChecks(Dice(1000)))
    env.reset(seed=2)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    rest = play(env)
    assert [play(twin) for twin in twins] == [rest, rest]
    assert copy.copy(env).env is env.env


def test_a_wrapper_reads_names_it_lacks_from_inside_now_and_keeps_assignments() -> None:
    env = Louder(EnvChecks(Dice(6)))
    env.unwrapped.sides = 8  # type: ignore[attr-defined]
    assert env.sides == 8
    env.sides = 10
    assert (env.sides, env.unwrapped.sides) == (10, 8)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        _ = env._hidden
    with pytest.raises(AttributeError, match="height"):
        _ = env.height


def test_set_attr_reaches_the_owner() -> None:
    env = Louder(EnvChecks(Dice(6)))
    env.set_attr("sides", 9)
    env.set_attr("mark", "?")
    assert (env.unwrapped.sides, env.mark) == (9, "?")  # type: ignore[attr-defined]
    assert "sides" not in vars(env)
    with pytest.raises(AttributeError, match="'sydes'"):
        env.set_attr("sydes", 9)


def test_wrapper_and_env_wrapper_are_one_class() -> None:
    assert EnvWrapper is Wrapper
    with pytest.raises(TypeError, match="wraps an environment; got 3"):
        Wrapper(3)  # type: ignore[arg-type]


def test_the_async_twins_do_what_the_sync_methods_do() -> None:
    async def run(env: Env) -> list[Any]:
        observation, _ = await env.areset(seed=5)
        return [observation, *[(await env.astep("a"))[:2] for _ in range(3)]]

    def run_sync(env: Env) -> list[Any]:
        observation, _ = env.reset(seed=5)
        return [observation, *[env.step("a")[:2] for _ in range(3)]]

    assert asyncio.run(run(Louder(EnvChecks(Dice(99))))) == run_sync(Louder(EnvChecks(Dice(99))))


def test_a_wrapper_that_overrides_step_alone_has_an_async_twin_over_it() -> None:
    class Doubled(Louder):
        def step(self, action: Any) -> StepResult:
            observation, reward, *rest = super().step(action)
            return (observation, reward * 2, *rest)  # type: ignore[return-value]

    class Inherits(Doubled):
        pass

    class Mixin:
        def step(self, action: Any) -> StepResult:
            observation, reward, *rest = super().step(action)  # type: ignore[misc]
            return observation, reward * 2, *rest

    class Mixed(Mixin, Louder):  # type: ignore[misc]
        pass

    class InheritsMixed(Mixed):
        pass

    async def reward_of(env: Env) -> float:
        await env.areset(seed=1)
        return (await env.astep("a"))[1]

    for cls in (Doubled, Inherits, Mixed, InheritsMixed):
        assert asyncio.run(reward_of(cls(Dice()))) == 4.0


def test_blocking_environments_step_side_by_side_on_asyncio() -> None:
    barrier = threading.Barrier(8, timeout=10)

    class Waits(Dice):
        def step(self, action: str) -> StepResult:
            barrier.wait()
            return super().step(action)

    async def run() -> int:
        envs = [Waits() for _ in range(8)]
        await asyncio.gather(*(env.areset(seed=1) for env in envs))
        return len(await asyncio.gather(*(env.astep("a") for env in envs)))

    assert asyncio.run(run()) == 8


def test_checks_refuse_a_step_before_reset_after_the_end_and_of_another_type() -> None:
    env = EnvChecks(Dice())
    with pytest.raises(ResetNeeded, match="before reset"):
        env.step("a")
    env.reset(seed=1)
    with pytest.raises(TypeError, match="takes a str; got int"):
        env.step(3)
    play(env, 3)
    with pytest.raises(ResetNeeded, match="after the end"):
        env.step("a")
    env.reset()
    play(env, 3)


def test_an_episode_is_over_after_a_failure_until_reset() -> None:
    class Breaks(Dice):
        def step(self, action: str) -> StepResult:
            if action == "break":
                raise RuntimeError("broken")
            return super().step(action)

    env = EnvChecks(Breaks())
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="broken"):
        env.step("break")
    with pytest.raises(ResetNeeded):
        env.step("a")
    env.reset(seed=1)
    env.step("a")


@pytest.mark.parametrize(
    ("start", "got"), [("ab", "a str"), (None, "a NoneType"), (("a", "b"), "a tuple of (str, str)")]
)
def test_checks_say_what_a_reset_returns(start: Any, got: str) -> None:
    class Forgets(Dice):
        def reset(self, seed: int | None = None, **options: Any) -> Any:
            return start

    message = re.escape(f"Forgets>.reset() returned {got}; it returns (observation, info)")
    with pytest.raises(TypeError, match=message):
        EnvChecks(Forgets()).reset()
    with pytest.raises(TypeError, match=message):
        asyncio.run(EnvChecks(Forgets()).areset())


@pytest.mark.parametrize(
    ("result", "got"), [(("", 0.0, True, {}), "a tuple of (str, float, bool, dict)"), (None, "a NoneType")]
)
def test_a_step_that_does_not_return_five_is_told_what_to_return(result: Any, got: str) -> None:
    class OldGym(Dice):
        def step(self, action: str) -> StepResult:
            return result  # type: ignore[no-any-return]

    env = EnvChecks(OldGym())
    env.reset(seed=1)
    with pytest.raises(
        TypeError, match=re.escape(f"step() returned {got}; it returns (observation, reward, terminated")
    ):
        env.step("a")
    env.reset(seed=1)
    with pytest.raises(TypeError, match="two flags"):
        asyncio.run(env.astep("a"))


def test_checks_complete_the_info_of_a_reset_that_forgot_it() -> None:
    class Silent(Dice):
        def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
            super().reset(seed=seed, **options)
            return "x", {}

    assert EnvChecks(Silent()).reset(seed=4)[1] == {"seed": 4, "env_id": "Silent"}


def test_truncate_cuts_the_episode_and_adds_success_unless_a_fault_cut_it() -> None:
    class Cuts(Wrapper):
        by = "step_limit"

        def after_step(self, action: Any, result: StepResult) -> StepResult:
            return self.truncate(result, self.by)

    env = Cuts(Dice())
    env.reset(seed=1)
    *_, terminated, truncated, info = env.step("a")
    assert (terminated, truncated, info["truncated_by"], info["success"]) == (False, True, "step_limit", False)
    with pytest.raises(ResetNeeded):
        env.step("a")
    env.by = "fault"
    env.reset()
    env.unwrapped.rolls = []  # type: ignore[attr-defined]
    assert env.step("a")[4]["success"] is False, "the environment's own word stays"


def test_the_repr_names_layers_and_nothing_hidden() -> None:
    env = Louder(EnvChecks(Dice()))
    env.reset(seed=1)
    assert repr(env) == "<Louder<Dice>>"


def test_an_environment_is_a_context_manager_and_closes_twice() -> None:
    with Louder(Dice()) as env:
        env.reset(seed=1)
    env.close()
    assert inspect.isabstract(Env)
