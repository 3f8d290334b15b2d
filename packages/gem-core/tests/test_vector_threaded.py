"""How the threaded executor chooses: what waits runs side by side, what is cheap runs where it is called."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from gem.core import Env
from gem.vector import VectorEnv


class Sleeper(Env):
    """Sleeps in `reset`, and in the steps that say so; notes the threads it ran in."""

    def __init__(self, reset_seconds: float = 0.0, length: int = 5) -> None:
        self.reset_seconds = reset_seconds
        self.length = length
        self.threads: list[bool] = []
        self.steps = 0

    def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        self.steps = 0
        if self.reset_seconds:
            time.sleep(self.reset_seconds)
        return "start", info

    def step(self, action: str) -> Any:
        self.threads.append(threading.current_thread() is threading.main_thread())
        self.steps += 1
        if action:
            time.sleep(float(action))
        return "", 0.0, self.steps == self.length, False, {}


def seconds(call: Callable[[], Any]) -> float:
    began = time.monotonic()
    call()
    return time.monotonic() - began


def test_steps_and_resets_that_sleep_run_together() -> None:
    # One after the other they would take 3.2 s each time.
    with VectorEnv([lambda: Sleeper(reset_seconds=0.05)] * 64, backend="thread") as venv:
        assert seconds(venv.reset) < 1.6
        assert seconds(lambda: venv.step(["0.05"] * 64)) < 1.6
        assert seconds(venv.reset) < 1.6


def test_resets_at_the_end_of_cheap_episodes_run_together() -> None:
    with VectorEnv([lambda: Sleeper(0.05, length=3)] * 32, backend="thread") as venv:
        venv.reset()
        venv.step([""] * 32)
        venv.step([""] * 32)
        assert seconds(lambda: venv.step([""] * 32)) < 0.8


def test_cheap_environments_run_in_the_calling_thread() -> None:
    with VectorEnv([Sleeper] * 4, backend="thread") as venv:
        venv.reset()
        for _ in range(60):
            venv.step([""] * 4)
        assert sum(sum(env.threads[-40:]) for env in venv.envs) > 80  # type: ignore[attr-defined]


def test_environments_that_turn_slow_do_not_hold_up_the_batch() -> None:
    with VectorEnv([Sleeper] * 32, backend="thread") as venv:
        venv.reset()
        for _ in range(30):
            venv.step([""] * 32)
        assert seconds(lambda: venv.step(["0.05"] * 32)) < 0.8
        for _ in range(3):
            venv.step(["0.05"] * 32)
        assert not any(env.threads[-1] for env in venv.envs)  # type: ignore[attr-defined]


def test_a_time_out_puts_every_step_in_a_thread() -> None:
    with VectorEnv([Sleeper] * 2, backend="thread", step_timeout=20.0) as venv:
        venv.reset()
        for _ in range(20):
            venv.step([""] * 2)
        assert not any(any(env.threads) for env in venv.envs)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_straggler_does_not_slow_down_the_others() -> None:
    with VectorEnv([Sleeper] * 16, backend="thread") as venv:
        venv.reset()
        venv.send(["1.0"] + ["0.01"] * 15)
        received = 0
        began = time.monotonic()
        while time.monotonic() - began < 0.9:
            indices = venv.recv()[0]
            received += len(indices)
            venv.send(dict.fromkeys(indices, "0.01"))
        assert received > 150  # a barrier would have let through none
