"""What a vector env makes of environments that raise, hang or cannot be built (contract V4, E14)."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from gem.core import Env
from gem.errors import Fault, ResetNeeded, VectorEnvError
from gem.seeding import derive
from gem.vector import VectorEnv
from gem.wrappers.checks import EnvChecks


class Scripted(Env):
    """Does what its action says; counts how often it was built and closed."""

    def __init__(self, book: dict[str, Any] | None = None) -> None:
        self.book = {} if book is None else book
        self.book["built"] = self.book.get("built", 0) + 1
        self.steps = 0
        if self.book["built"] in self.book.get("no_build", ()):
            raise OSError("cannot be built")

    def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        self.steps = 0
        self.book["resets"] = self.book.get("resets", 0) + 1
        if self.book["resets"] in self.book.get("no_reset", ()):
            raise OSError("cannot be reset")
        if self.book["resets"] in self.book.get("slow_reset", ()):
            time.sleep(30)
        return "start", info

    def step(self, action: str) -> Any:
        self.steps += 1
        if action == "raise":
            raise RuntimeError("broke")
        if action == "fault":
            raise Fault("sandbox", "no sandbox")
        if action == "exit":
            sys.exit(3)
        if action == "panic":
            raise BaseException("panicked")
        if action == "interrupt":
            raise KeyboardInterrupt
        if action == "none":
            return "o", None, False, False, {}
        if action == "end badly":
            return "o", 1.0, True, False, None
        if action == "four":
            return "o", 0.0, False, {}
        if action.startswith("sleep"):
            time.sleep(float(action[5:]))
        return f"after {self.steps}", 1.0, action == "end", False, {"n": self.steps}

    def close(self) -> None:
        self.book["closed"] = self.book.get("closed", 0) + 1
        if self.book.get("bad_close"):
            raise RuntimeError("cannot be closed")


FOUR = (
    "ResultError: <Scripted>.step() returned a tuple of (str, float, bool, dict); it returns (observation, reward, "
    "terminated, truncated, info). The `done` of the old Gym's four is two flags now: the task ended, or a limit cut "
    "it."
)


def build(book: dict[str, Any] | None = None) -> Callable[[], Env]:
    return lambda: EnvChecks(Scripted(book))


@pytest.fixture(params=["sync", "thread"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize(
    ("action", "kind", "message"),
    [
        ("raise", "env_error", "RuntimeError: broke"),
        ("fault", "sandbox", "no sandbox"),
        ("exit", "env_error", "SystemExit: 3"),
        ("panic", "env_error", "BaseException: panicked"),
        ("none", "env_error", "TypeError: step() returned a reward of type NoneType; it is a float (contract E5)."),
        (
            "end badly",
            "env_error",
            "TypeError: The info that came back is of type NoneType; it is a dict (contract E4).",
        ),
        ("four", "env_error", FOUR),
    ],
)
def test_a_failing_step_ends_its_episode_as_a_fault_and_no_other(
    backend: str, action: str, kind: str, message: str
) -> None:
    book: dict[str, Any] = {"bad_close": True}
    with VectorEnv([build(), build(book), build()], backend=backend) as venv:
        _, first = venv.reset(seed=4)
        venv.step(["a"] * 3)
        observations, rewards, terminated, truncated, infos = venv.step(["a", action, "a"])
        assert observations == ["after 2", "start", "after 2"]
        assert rewards.tolist() == [1.0, 0.0, 1.0]
        assert terminated.tolist() == [False] * 3
        assert truncated.tolist() == [False, True, False]
        assert infos[1]["final_observation"] == ("o" if action == "none" else "after 1")
        assert infos[1]["final_info"] == {
            "truncated_by": "fault",
            "fault": kind,
            "fault_message": message,
            "index": 1,
            "env_id": "Scripted",
            "seed": first[1]["seed"],
            "step": 2,
            "action": action,
        }
        assert infos[1]["seed"] == derive(first[1]["seed"], "rebuilt", 1)
        assert (book["built"], book["closed"]) == (2, 1)
        assert venv.step(["a"] * 3)[0] == ["after 3", "after 1", "after 3"]


@pytest.mark.parametrize("autoreset", ["next_step", "disabled"])
def test_a_fault_waits_for_the_reset_as_the_mode_says(backend: str, autoreset: Any) -> None:
    with VectorEnv([build(), build()], backend=backend, autoreset=autoreset) as venv:
        venv.reset(seed=4)
        venv.step(["a"] * 2)
        observations, _, _, truncated, infos = venv.step(["raise", "a"])
        assert (observations[0], truncated.tolist()) == ("after 1", [True, False])
        assert infos[0]["fault"] == infos[0]["final_info"]["fault"] == "env_error"
        assert "success" not in infos[0]
        assert venv.get_attr("steps") == [0, 2]
        if autoreset == "disabled":
            with pytest.raises(ResetNeeded, match="env 0 has ended"):
                venv.step(["a"] * 2)
            assert venv.reset(indices=[0])[1][0]["seed"] == derive(derive(4, 0), "rebuilt", 1)
        else:
            observations, rewards, *_ = venv.step(["ignored", "a"])
            assert (observations[0], rewards[0]) == ("start", 0.0)
        assert venv.step(["a"] * 2)[0][0] == "after 1"


def test_faults_are_the_same_in_every_backend() -> None:
    def run(backend: str) -> list[Any]:
        with VectorEnv([build()] * 3, backend=backend, seed=9) as venv:
            seen: list[Any] = [venv.reset()]
            for actions in (["a", "raise", "a"], ["end", "a", "raise"], ["a", "raise", "a"], ["end"] * 3):
                seen.append([*map(str, venv.step(actions))])
            return seen

    assert run("sync") == run("thread")


def test_three_failures_in_a_row_raise_with_the_cause_and_lose_nothing(backend: str) -> None:
    with VectorEnv([build()] * 3, backend=backend) as venv:
        venv.reset(seed=0)
        venv.step(["a", "raise", "a"])
        venv.step(["a", "raise", "a"])
        text = r"Env 1 \(Scripted, seed \d+\) failed in step 1, action 'raise'.*failure 3 in a row"
        with pytest.raises(VectorEnvError, match=text) as e:
            venv.step(["a", "raise", "a"])
        assert e.value.indices == (1,)
        assert isinstance(e.value.__cause__, RuntimeError)
        indices, observations, rewards, *_ = e.value.results
        assert (indices, observations, rewards.tolist()) == ([0, 2], ["after 3"] * 2, [1.0, 1.0])
        with pytest.raises(VectorEnvError, match=r"env 1 was given up.*reset\(indices=\[1\]\)"):
            venv.step(["a"] * 3)
        assert venv.step({0: "a", 2: "a"})[0] == ["after 4"] * 2
        venv.reset(indices=[1])
        assert venv.step(["a"] * 3)[0] == ["after 5", "after 1", "after 5"]


def test_a_completed_step_ends_the_row_of_failures(backend: str) -> None:
    with VectorEnv([build()], backend=backend) as venv:
        venv.reset(seed=0)
        for _ in range(4):  # eight failures in all, and never three in a row
            for _ in range(2):
                assert venv.step(["raise"])[4][0]["final_info"]["fault"] == "env_error"
            assert venv.step(["a"])[0] == ["after 1"]


def test_a_failing_reset_is_tried_on_a_new_environment(backend: str) -> None:
    book: dict[str, Any] = {"no_reset": (2, 3), "no_build": ()}
    with VectorEnv([build(book), build()], backend=backend) as venv:
        venv.reset(seed=0)
        observations, rewards, terminated, _, infos = venv.step(["end", "a"])
        assert (observations[0], rewards[0], terminated[0]) == ("start", 1.0, True)
        assert infos[0]["final_info"] == {"n": 1}
        assert infos[0]["seed"] == derive(derive(0, 0), "rebuilt", 2)
        assert book["built"] == 3
    book = {"no_reset": (1,)}
    with VectorEnv([build(book)], backend=backend) as venv:
        assert venv.reset(seed=5)[1][0]["seed"] == derive(5, 0)


def test_an_autoreset_that_keeps_failing_raises_and_keeps_the_last_step(backend: str) -> None:
    book: dict[str, Any] = {"no_reset": range(2, 5)}
    with VectorEnv([build(book), build()], backend=backend) as venv:
        venv.reset(seed=0)
        with pytest.raises(VectorEnvError, match="failed in reset: env_error: OSError: cannot be reset") as error_info:
            venv.step(["end", "a"])
        indices, observations, rewards, terminated, _, infos = error_info.value.results
        assert (indices, observations, rewards.tolist()) == ([0, 1], ["after 1", "after 1"], [1.0, 1.0])
        assert terminated.tolist() == [True, False]
        assert infos[0]["final_info"] == {"n": 1}
        venv.reset()
        venv.step(["a"] * 2)


def test_a_reset_that_keeps_failing_raises_and_keeps_the_others(backend: str) -> None:
    with VectorEnv([build({"no_reset": range(1, 4)}), build()], backend=backend) as venv:
        with pytest.raises(VectorEnvError, match="Env 0") as error_info:
            venv.reset(seed=0)
        assert error_info.value.results[:2] == ([1], ["start"])
        assert venv.step({1: "a"})[0] == ["after 1"]


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_an_environment_that_cannot_be_built_again_counts_as_failing(backend: str, autoreset: Any) -> None:
    book: dict[str, Any] = {"no_build": (2, 3)}
    with VectorEnv([build(book), build()], backend=backend, autoreset=autoreset) as venv:
        venv.reset(seed=0)
        with pytest.raises(VectorEnvError, match="OSError: cannot be built") as error_info:
            venv.step(["raise", "a"])
        assert error_info.value.results[0][-1] == 1
        venv.reset()
        assert venv.step(["a"] * 2)[0] == ["after 1"] * 2


def test_recv_gives_what_came_before_a_failure_first(backend: str) -> None:
    with VectorEnv([build(), build({"no_build": (2, 3)})], backend=backend) as venv:
        venv.reset(seed=0)
        venv.send({0: "a"})
        venv.send({1: "raise"})
        assert venv.recv(min_ready=2)[0] == [0]
        with pytest.raises(VectorEnvError, match="Env 1"):
            venv.recv()
        assert venv.step({0: "a"})[0] == ["after 2"]


def test_ctrl_c_leaves_the_others_and_close_usable() -> None:
    book: dict[str, Any] = {}
    venv = VectorEnv([build(book)] * 3)
    venv.reset(seed=0)
    with pytest.raises(KeyboardInterrupt):
        venv.step({0: "a", 1: "interrupt"})
    with pytest.raises(ResetNeeded, match="each of envs 0, 1 was interrupted"):
        venv.step(["a"] * 3)
    assert venv.step({2: "a"})[0] == ["after 1"]
    venv.reset()
    venv.step(["a"] * 3)
    venv.close()
    assert book["closed"] == 3


def test_an_exception_that_cannot_speak_is_still_a_fault() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

        __repr__ = __str__

    class Raises(Scripted):
        def step(self, action: str) -> Any:
            raise Mute

    with VectorEnv([Raises]) as venv:
        venv.reset()
        assert venv.step(["a"])[4][0]["final_info"]["fault_message"] == "Mute"


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_a_hanging_step_is_abandoned_and_named(autoreset: Any) -> None:
    with VectorEnv([build()] * 3, backend="thread", autoreset=autoreset, step_timeout=0.3) as venv:
        venv.reset(seed=0)
        began = time.monotonic()
        observations, _, _, truncated, infos = venv.step(["a", "sleep30", "a"])
        assert time.monotonic() - began < 5
        assert (observations[0], truncated.tolist()) == ("after 1", [False, True, False])
        final = infos[1]["final_info"]
        assert (final["fault"], final["index"], final["step"], final["action"]) == ("env_timeout", 1, 1, "sleep30")
        assert final["fault_message"] == "step did not return within step_timeout=0.3 s"
        venv.reset(indices=[1])
        assert venv.step(["a"] * 3)[0] == ["after 2", "after 1", "after 2"]


def test_a_hanging_step_that_was_sent_is_abandoned_by_recv() -> None:
    with VectorEnv([build()] * 2, backend="thread", step_timeout=0.3) as venv:
        venv.reset(seed=0)
        venv.send(["sleep30", "a"])
        assert venv.recv()[0] == [1]
        indices, _, _, _, truncated, infos = venv.recv()
        assert (indices, truncated.tolist()) == ([0], [True])
        assert infos[0]["final_info"]["fault"] == "env_timeout"
        assert venv.step(["a"] * 2)[0] == ["after 1", "after 2"]


def test_a_hanging_reset_is_abandoned_and_the_step_is_kept() -> None:
    book: dict[str, Any] = {"slow_reset": (2,)}
    with VectorEnv([build(book), build()], backend="thread", reset_timeout=0.3) as venv:
        venv.reset(seed=0)
        observations, rewards, terminated, _, infos = venv.step(["end", "a"])
        assert (observations, rewards.tolist()) == (["start", "after 1"], [1.0, 1.0])
        assert terminated.tolist() == [True, False]
        assert infos[0]["final_info"] == {"n": 1}
        assert venv.step(["a", "a"])[0] == ["after 1", "after 2"]


def test_three_timeouts_raise() -> None:
    with VectorEnv([build({"slow_reset": range(1, 9)}), build()], backend="thread", reset_timeout=0.1) as venv:
        with pytest.raises(VectorEnvError, match=r"env_timeout: reset did not return within reset_timeout=0.1 s"):
            venv.reset(seed=0)
        assert venv.step({1: "a"})[0] == ["after 1"]


def test_close_does_not_wait_for_what_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gem.vector.threaded._CLOSE_SECONDS", 0.5)
    book: dict[str, Any] = {}
    venv = VectorEnv([build(book)] * 2, backend="thread")
    venv.reset(seed=0)
    venv.send({0: "sleep3"})
    began = time.monotonic()
    venv.close()
    assert time.monotonic() - began < 2
    assert book["closed"] == 2


def test_a_slow_environment_does_not_hold_up_the_others_in_recv() -> None:
    release = threading.Event()

    class Waits(Scripted):
        def step(self, action: str) -> Any:
            if action == "wait":
                release.wait(10)
            return super().step(action)

    with VectorEnv([Waits] * 3, backend="thread") as venv:
        venv.reset(seed=0)
        venv.send(["wait", "a", "a"])
        for turn in range(1, 6):
            indices, observations, *_ = venv.recv(min_ready=2)
            assert sorted(indices) == [1, 2]
            assert observations == [f"after {turn}"] * 2
            venv.send({1: "a", 2: "a"})
        release.set()
        seen: set[int] = set()
        while seen != {0, 1, 2}:
            seen.update(venv.recv()[0])


def test_recv_returns_nothing_when_its_time_is_over() -> None:
    with VectorEnv([build()], backend="thread") as venv:
        venv.reset(seed=0)
        venv.send(["sleep0.5"])
        assert venv.recv(timeout=0.05)[0] == []
        assert venv.recv()[0] == [0]


@pytest.mark.parametrize("backend", ["sync", "thread"])
def test_an_environment_that_breaks_where_another_refuses_an_option_is_given_up_all_the_same(backend: str) -> None:
    class Takes(Scripted):
        def reset(self, seed: int | None = None, row: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
            return super().reset(seed=seed, **options)

    book: dict[str, Any] = {}
    with VectorEnv([lambda: Scripted(), lambda: Takes(book)], backend=backend) as vector:
        vector.reset(seed=1)
        book["no_reset"] = (2, 3, 4)
        with pytest.raises(TypeError, match="takes no option row"):
            vector.reset(row=1)
        with pytest.raises(VectorEnvError, match="env 1 was given up"):
            vector.step({1: "a"})
        vector.reset(indices=[1])
        assert vector.step({1: "a"})[0] == ["after 1"]
