"""Batches, seeds, arguments and autoreset of vector envs, the same for every backend."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from gem.core import Env
from gem.errors import ResetNeeded, VectorEnvError
from gem.seeding import derive
from gem.vector import VectorEnv
from gem.wrappers.checks import EnvChecks


class Count(Env):
    """Ends after `length` steps, each of which pays `bonus`; the hidden word hangs on the seed."""

    def __init__(self, length: int = 2, bonus: float = 1.0) -> None:
        self.length = length
        self.bonus = bonus
        self.steps = 0

    def reset(self, seed: int | None = None, idx: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        self.steps = 0
        self.word = self.rng.randrange(10**9)
        return f"start {self.word if idx is None else idx}", info

    def step(self, action: str) -> Any:
        self.steps += 1
        over = self.steps == self.length
        info = {"correct": True, "success": True} if over else {}
        return f"{action}{self.steps}", self.bonus, over, False, info

    def sample_random_action(self) -> str:
        return str(self.action_rng.randrange(1000))

    def oracle_action(self) -> str:
        return f"oracle{self.steps}"


def count(length: int = 2, bonus: float = 1.0) -> Any:
    return lambda: EnvChecks(Count(length, bonus))


@pytest.fixture(params=["sync", "thread"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


def test_step_returns_lists_and_arrays_of_the_documented_types(backend: str) -> None:
    with VectorEnv([count(3)] * 4, backend=backend) as venv:
        observations, infos = venv.reset(seed=5)
        assert [info["seed"] for info in infos] == [derive(5, i) for i in range(4)]
        assert len(set(observations)) == 4
        observations, rewards, terminated, truncated, infos = venv.step(["a", "b", "c", "d"])
    assert observations == ["a1", "b1", "c1", "d1"]
    assert (rewards.dtype, rewards.tolist()) == (np.float64, [1.0] * 4)
    assert (terminated.dtype, terminated.tolist()) == (np.bool_, [False] * 4)
    assert (truncated.dtype, truncated.tolist()) == (np.bool_, [False] * 4)
    assert infos == [{}] * 4


def test_dict_steps_the_named_environments_in_the_order_given(backend: str) -> None:
    with VectorEnv([count(5)] * 4, backend=backend) as venv:
        venv.reset(seed=0)
        observations, rewards, *_ = venv.step({3: "x", np.int64(1): "y"})
        assert observations == ["x1", "y1"]
        assert rewards.shape == (2,)
        assert venv.get_attr("steps") == [0, 1, 0, 1]
        assert [len(column) for column in venv.step({})] == [0] * 5


@pytest.mark.parametrize(
    ("actions", "error", "text"),
    [
        (["a"] * 3, ValueError, "4 environments and 3 actions"),
        (["a"] * 5, ValueError, "4 environments and 5 actions"),
        ("abcd", TypeError, "one action per environment"),
        (b"abcd", TypeError, "one action per environment"),
        (None, TypeError, "one action per environment"),
        ({"a", "b", "c", "d"}, TypeError, "one action per environment"),
        ((action for action in "abcd"), TypeError, "one action per environment"),
        (["a", "b", None, "d"], TypeError, "Env 2 takes actions of type str; got NoneType"),
        (["a", "b", 3, "d"], TypeError, "Env 2 takes actions of type str; got int"),
        ({4: "a"}, ValueError, "no environment 4: they are numbered 0 to 3"),
        ({-1: "a"}, ValueError, "no environment -1"),
        ({True: "a"}, TypeError, "is an integer; got True"),
        ({"0": "a"}, TypeError, "is an integer; got '0'"),
        ({1.0: "a"}, TypeError, "is an integer; got 1.0"),
        ({0: "a", 1: 7}, TypeError, "Env 1 takes actions of type str; got int"),
    ],
)
def test_wrong_actions_are_refused_at_once_and_nothing_is_stepped(
    backend: str, actions: Any, error: type[Exception], text: str
) -> None:
    with VectorEnv([count(9)] * 4, backend=backend) as venv:
        venv.reset(seed=0)
        for call in (venv.step, venv.send):
            with pytest.raises(error, match=text):
                call(actions)
        assert venv.get_attr("steps") == [0, 0, 0, 0]
        assert venv.step(["a"] * 4)[0] == ["a1"] * 4


def test_arrays_of_strings_and_tuples_are_actions() -> None:
    with VectorEnv([count(9)] * 2) as venv:
        venv.reset(seed=0)
        assert venv.step(("a", "b"))[0] == ["a1", "b1"]
        assert venv.step(np.array(["a", "b"]))[0] == ["a2", "b2"]


def test_seed_lists_are_taken_as_given_and_checked(backend: str) -> None:
    with VectorEnv([count()] * 3, backend=backend) as venv:
        observations, infos = venv.reset(seed=[7, 7, None])
        assert [info["seed"] for info in infos[:2]] == [7, 7]
        assert observations[0] == observations[1] != observations[2]
        assert venv.reset(seed=np.array([1, 2, 3]))[1][2]["seed"] == 3
        with pytest.raises(ValueError, match="3 environments are to be reset and 2 seeds"):
            venv.reset(seed=[1, 2])
        with pytest.raises(ValueError, match="0 or larger"):
            venv.reset(seed=[1, 2, -3])
        with pytest.raises(TypeError, match="integer"):
            venv.reset(seed="abc")
        with pytest.raises(TypeError, match="integer"):
            venv.reset(seed=[1, 2, "3"])


def test_equal_seeds_give_equal_runs_and_continuations(backend: str) -> None:
    def run(seed: int) -> list[Any]:
        with VectorEnv([count(3)] * 4, backend=backend) as venv:
            seen: list[Any] = [venv.reset(seed=seed)]
            for _ in range(7):
                seen.append([*map(str, venv.step(venv.sample_random_actions()))])
            return [*seen, venv.reset()]

    assert run(7) == run(7)
    assert run(7) != run(8)


def test_backends_give_equal_trajectories() -> None:
    def run(backend: str, autoreset: Any) -> list[Any]:
        with VectorEnv([count(2), count(3), count(5)], backend=backend, autoreset=autoreset, seed=3) as venv:
            seen: list[Any] = [venv.reset()]
            return seen + [[*map(str, venv.step(venv.sample_random_actions()))] for _ in range(12)]

    for mode in ("same_step", "next_step"):
        assert run("sync", mode) == run("thread", mode)


def test_seed_of_the_constructor_waits_for_each_first_reset(backend: str) -> None:
    with VectorEnv([count()] * 3, backend=backend, seed=11) as venv:
        assert venv.reset(indices=[1])[1][0]["seed"] == derive(11, 1)
        infos = venv.reset()[1]
        assert [infos[0]["seed"], infos[2]["seed"]] == [derive(11, 0), derive(11, 2)]
        assert infos[1]["seed"] != derive(11, 1)


def test_partial_reset_takes_indices_or_a_mask(backend: str) -> None:
    with VectorEnv([count(9)] * 3, backend=backend) as venv:
        venv.reset(seed=1)
        venv.step(["a"] * 3)
        observations, infos = venv.reset(seed=1, indices=[2, 0])
        assert [info["seed"] for info in infos] == [derive(1, 2), derive(1, 0)]
        assert venv.get_attr("steps") == [0, 1, 0]
        assert len(observations) == 2
        venv.step(["a"] * 3)
        venv.reset(indices=np.array([False, True, False]))
        assert venv.get_attr("steps") == [1, 0, 1]
        for wrong, error in (
            ([0, 0], ValueError),
            ([3], ValueError),
            ([True], TypeError),
            ("01", TypeError),
            (1, TypeError),
        ):
            with pytest.raises(error):
                venv.reset(indices=wrong)


def test_reset_options_go_to_all_or_to_one(backend: str) -> None:
    with VectorEnv([count()] * 3, backend=backend) as venv:
        assert venv.reset(idx=4)[0] == ["start 4"] * 3
        assert venv.reset(idx=4, env1_kwargs={"idx": 5})[0] == ["start 4", "start 5", "start 4"]
        with pytest.raises(ValueError, match="environment 7, which is not among"):
            venv.reset(env7_kwargs={})
        with pytest.raises(TypeError, match="takes no option row"):
            venv.reset(row=3)
        with pytest.raises(ResetNeeded):
            venv.step(["a"] * 3)
        venv.reset()
        venv.step(["a"] * 3)


def test_same_step_returns_the_next_start_and_keeps_the_final_result(backend: str) -> None:
    with VectorEnv([count(2), count(3)], backend=backend) as venv:
        first, _ = venv.reset(seed=[1, 2])
        venv.step(["a", "b"])
        observations, rewards, terminated, _, infos = venv.step(["a", "b"])
        assert terminated.tolist() == [True, False]
        assert rewards.tolist() == [1.0, 1.0]
        assert observations[0].startswith("start ")
        assert observations[0] != first[0]
        assert infos[0]["final_observation"] == "a2"
        assert infos[0]["final_info"] == {"correct": True, "success": True}
        assert "seed" in infos[0]
        assert "success" not in infos[0]
        assert infos[1] == {}
        assert venv.step(["a", "b"])[0][0] == "a1"


def test_each_vector_env_keeps_its_own_mode(backend: str) -> None:
    """WRAP-07: two over one class and one list of functions leave both as they were."""
    functions, before = [count(1)] * 2, dict(vars(Count))
    same = VectorEnv(functions, backend=backend, autoreset="same_step")
    following = VectorEnv(functions, backend=backend, autoreset="next_step")
    with same, following:
        same.reset(seed=0)
        following.reset(seed=0)
        assert same.step(["a"] * 2)[0][0].startswith("start ")
        assert following.step(["a"] * 2)[0] == ["a1"] * 2
        assert (same.autoreset, following.autoreset) == ("same_step", "next_step")
    assert len(functions) == 2
    assert dict(vars(Count)) == before


def test_next_step_resets_in_the_following_step_and_ignores_its_action(backend: str) -> None:
    with VectorEnv([count(2), count(9)], backend=backend, autoreset="next_step") as venv:
        venv.reset(seed=0)
        venv.step(["a", "b"])
        observations, _, terminated, _, infos = venv.step(["a", "b"])
        assert (observations[0], terminated[0]) == ("a2", True)
        assert infos[0]["success"] is True
        assert infos[0]["final_info"]["correct"] is True
        assert infos[0]["final_observation"] == "a2"
        observations, rewards, terminated, _, infos = venv.step(["ignored", "b"])
        assert observations[0].startswith("start ")
        assert (rewards.tolist(), terminated.tolist()) == ([0.0, 1.0], [False, False])
        assert "seed" in infos[0]
        assert venv.step(["a", "b"])[0][0] == "a1"


def test_disabled_refuses_an_ended_environment_before_stepping_any(backend: str) -> None:
    with VectorEnv([count(9), count(2), count(9)], backend=backend, autoreset="disabled") as venv:
        venv.reset(seed=0)
        venv.step(["a"] * 3)
        observations, _, terminated, _, infos = venv.step(["a"] * 3)
        assert (observations[1], terminated.tolist()) == ("a2", [False, True, False])
        assert infos[1]["final_info"]["success"] is True
        with pytest.raises(ResetNeeded, match=r"env 1 has ended its episode.*reset\(indices=\[1\]\)"):
            venv.step(["a"] * 3)
        assert venv.get_attr("steps") == [2, 2, 2]
        venv.step({0: "a", 2: "a"})
        venv.reset(indices=terminated)
        assert venv.step(["a"] * 3)[0] == ["a4", "a1", "a4"]


@pytest.mark.parametrize("partial", [False, True])
def test_reset_by_hand_clears_a_pending_autoreset(backend: str, partial: bool) -> None:
    with VectorEnv([count(2)] * 2, backend=backend, autoreset="next_step") as venv:
        venv.reset(seed=0)
        venv.step(["a"] * 2)
        assert venv.step(["a"] * 2)[2].all()
        venv.reset(indices=[1] if partial else None)
        observations, rewards, *_ = venv.step(["a"] * 2)
        assert observations[1] == "a1"
        assert rewards[1] == 1.0
        assert (observations[0] == "a1") is not partial


def test_step_before_reset_is_refused(backend: str) -> None:
    with VectorEnv([count()] * 2, backend=backend) as venv:
        with pytest.raises(ResetNeeded, match="each of envs 0, 1 has not been reset yet"):
            venv.step(["a"] * 2)
        venv.reset(indices=[0])
        with pytest.raises(ResetNeeded, match="env 1 has not been reset yet"):
            venv.step(["a"] * 2)
        with pytest.raises(ResetNeeded, match="env 1"):
            venv.send({1: "a"})
        assert venv.step({0: "a"})[0] == ["a1"]


def test_send_and_recv_bring_every_result_once(backend: str) -> None:
    with VectorEnv([count(5)] * 4, backend=backend) as venv:
        venv.reset(seed=0)
        venv.send(["a", "b", "c", "d"])
        with pytest.raises(VectorEnvError, match="Env 1 is still busy"):
            venv.step({1: "x"})
        got = {}
        while len(got) < 4:
            indices, observations, rewards, terminated, truncated, infos = venv.recv(min_ready=2)
            assert len(indices) == len(observations) == len(rewards) == len(terminated) == len(truncated) == len(infos)
            got.update(zip(indices, observations, strict=True))
        assert got == {0: "a1", 1: "b1", 2: "c1", 3: "d1"}
        with pytest.raises(VectorEnvError, match="nothing to wait for"):
            venv.recv()
        assert venv.recv(min_ready=0)[0] == []
        venv.send({2: "x"})
        assert venv.step({0: "y"})[0] == ["y2"]
        assert venv.recv(min_ready=4)[:2] == ([2], ["x2"])


def test_reset_drops_what_was_sent(backend: str) -> None:
    with VectorEnv([count(5)] * 2, backend=backend) as venv:
        venv.reset(seed=0)
        venv.send(["a", "b"])
        venv.reset(indices=[0])
        assert venv.recv(min_ready=2)[:2] == ([1], ["b1"])
        assert venv.step(["a", "b"])[0] == ["a1", "b2"]


def test_async_twins_do_the_same(backend: str) -> None:
    async def run() -> None:
        with VectorEnv([count(5)] * 2, backend=backend) as venv:
            observations, _ = await venv.areset(seed=3)
            assert observations == venv.reset(seed=3)[0]
            assert (await venv.astep(["a", "b"]))[0] == ["a1", "b1"]
            await venv.asend({1: "c"})
            assert (await venv.arecv())[:2] == ([1], ["c2"])

    asyncio.run(run())


def test_actions_and_attributes_of_all_or_some(backend: str) -> None:
    with VectorEnv([count(5)] * 3, backend=backend) as venv:
        venv.reset(seed=0)
        assert venv.oracle_actions() == ["oracle0"] * 3
        assert len(set(venv.sample_random_actions())) > 1
        venv.set_attr("bonus", 0.5, indices=[1])
        assert venv.get_attr("bonus") == [1.0, 0.5, 1.0]
        venv.reset(seed=42)
        assert venv.step(["a"] * 3)[1].tolist() == [1.0, 0.5, 1.0]
        assert venv.call("oracle_action", indices=[2]) == ["oracle1"]
        assert [env.unwrapped.length for env in venv.envs] == [5, 5, 5]
        assert venv.specs == [None] * 3
        assert repr(venv) == "<VectorEnv 3 x Count>"
        with pytest.raises(AttributeError):
            venv.get_attr("absent")
        venv.step(["a"] * 3)


class Recorder:
    def __init__(self) -> None:
        self.episodes: list[Any] = []

    def on_episode_end(self, index: int, env_id: str, episode_return: float, length: int, info: dict[str, Any]) -> None:
        assert threading.current_thread() is threading.main_thread()
        self.episodes.append((index, env_id, episode_return, length, info["success"]))


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_monitors_hear_of_every_episode(backend: str, autoreset: Any) -> None:
    monitor = Recorder()
    with VectorEnv([count(2), count(3, 0.5)], backend=backend, autoreset=autoreset, monitors=[monitor]) as venv:
        venv.reset(seed=0)
        venv.step(["a"] * 2)
        venv.reset(seed=0)
        for _ in range(3):
            venv.step(["a"] * 2)
        venv.send(["a"] * 2)
        venv.recv(min_ready=2)
    first = (0, "Count", 2.0, 2, True)
    assert monitor.episodes == [first, (1, "Count", 1.5, 3, True), *([first] if autoreset == "same_step" else [])]


def test_a_failing_monitor_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with VectorEnv([count(1)], monitors=[object()]) as venv:  # type: ignore[list-item]
        venv.reset(seed=0)
        assert venv.step(["a"])[2].tolist() == [True]
    assert "monitor" in caplog.text


def test_infos_and_observations_are_handed_through(backend: str) -> None:
    marker = object()

    class Passes(Count):
        def step(self, action: str) -> Any:
            return marker, 0, False, np.False_, {"marker": marker}

    with VectorEnv([Passes], backend=backend) as venv:
        venv.reset()
        observations, rewards, _, _, infos = venv.step(["a"])
        assert observations[0] is marker
        assert infos[0]["marker"] is marker
        assert rewards.dtype == np.float64


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"backend": "threads"}, ValueError, "sync, thread, process, ray"),
        ({"backend": "process"}, VectorEnvError, "not in this version"),
        ({"backend": "ray"}, VectorEnvError, "not in this version"),
        ({"autoreset": "sometimes"}, ValueError, "same_step, next_step, disabled"),
        ({"step_timeout": 1.0}, ValueError, 'use backend="thread"'),
        ({"reset_timeout": 1.0}, ValueError, 'use backend="thread"'),
        ({"backend": "thread", "step_timeout": 0}, ValueError, "positive number of seconds"),
        ({"seed": -1}, ValueError, "0 or larger"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        VectorEnv([count()], **settings)


def test_what_builds_no_environment_is_refused(backend: str) -> None:
    closed = []

    class Closes(Count):
        def close(self) -> None:
            closed.append(self)

    def fails() -> Env:
        raise ImportError("no such package")

    with pytest.raises(TypeError, match="at least one callable"):
        VectorEnv([], backend=backend)
    with pytest.raises(TypeError, match="at least one callable"):
        VectorEnv([Count()], backend=backend)  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"env_fns\[1\]\(\) returned a NoneType"):
        VectorEnv([count(), lambda: None], backend=backend)  # type: ignore[list-item, return-value]
    with pytest.raises(ImportError, match="no such package"):
        VectorEnv([Closes, fails], backend=backend)
    assert len(closed) == 1


def test_the_same_environments_can_be_stepped_apart_at_the_same_time() -> None:
    async def run() -> None:
        with VectorEnv([count(9)] * 4, backend="thread") as venv:
            venv.reset(seed=0)
            for turn in range(1, 6):
                batches = await asyncio.gather(*[venv.astep({i: "a"}) for i in range(4)])
                assert [batch[0] for batch in batches] == [[f"a{turn}"]] * 4

    asyncio.run(run())


def test_importing_the_package_is_light() -> None:
    code = "import sys, gem.vector; print('numpy' in sys.modules, 'gem.vector.base' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["False", "False"]


def test_close_is_idempotent_and_final(backend: str) -> None:
    closed = []

    class Closes(Count):
        def close(self) -> None:
            closed.append(self)
            raise RuntimeError("cannot")

    venv = VectorEnv([Closes] * 3, backend=backend)
    venv.reset()
    venv.close()
    venv.close()
    assert len(closed) == 3
    for call in (venv.reset, lambda: venv.step(["a"] * 3), lambda: venv.send(["a"] * 3), venv.recv):
        with pytest.raises(VectorEnvError, match="closed"):
            call()
