"""Environments that are stepped together: what batching costs, and what waiting together gains."""

from __future__ import annotations

import contextlib
import io
import time
from typing import Any

from timing import Figure, answer, at_least, at_most, cpu_seconds, median_of, quotient, side_by_side, wall_seconds

import gem
from gem.core import Env

SIZE = 64
SLEEP = 0.01
GAMES = ("game:GuessTheNumber-v0-hard", "game:Minesweeper-v0-hard")


class Sleeper(Env):
    """Waits in every reset and step, as what asks a server does."""

    def __init__(self, **_: Any) -> None:
        pass

    def reset(self, seed: int | None = None, **_: Any) -> tuple[str, dict[str, Any]]:
        """Wait."""
        time.sleep(SLEEP)
        return "", {"suffix": ""}

    def step(self, action: str) -> Any:
        """Wait."""
        time.sleep(SLEEP)
        return "", 0.0, False, False, {"suffix": ""}

    def sample_random_action(self) -> str:
        """Return anything."""
        return "x"


def make_vec(id: str, threads: bool) -> Any:
    """Make a vector under either package (the old one prints)."""
    with contextlib.redirect_stdout(io.StringIO()):
        return gem.make_vec([id] * SIZE, async_mode=threads)


def bare_loop(envs: list[Any], actions: list[str]) -> tuple[list[Any], ...]:
    """Step, reset when over, collect five lists: the plainest code that does a vector's work."""
    observations, rewards, terminations, truncations, infos = [], [], [], [], []
    for env, action in zip(envs, actions):  # noqa: B905  (the old package runs under older Pythons too)
        observation, reward, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            observation, info = env.reset()
        observations.append(observation)
        rewards.append(reward)
        terminations.append(terminated)
        truncations.append(truncated)
        infos.append(info)
    return observations, rewards, terminations, truncations, infos


def _batch(step: Any, envs: list[Any], batches: int = 20) -> float:
    """Return CPU seconds of a batch of random actions, without sampling them."""
    spent = 0.0
    for _ in range(batches):
        actions = [env.sample_random_action() for env in envs]
        spent += cpu_seconds(lambda: step(actions))  # noqa: B023
    return spent / batches


def measure() -> dict[str, Any]:
    """Return microseconds of a step, and milliseconds of waits."""
    measured: dict[str, Any] = {}
    for id in GAMES:
        sync, threaded = make_vec(id, threads=False), make_vec(id, threads=True)
        envs = list(sync.envs)
        for vector in (sync, threaded):
            vector.reset()
            _batch(vector.step, envs)
        alone = side_by_side(
            lambda: _batch(sync.step, envs),  # noqa: B023
            lambda: _batch(lambda actions: bare_loop(envs, actions), envs),  # noqa: B023
        )
        both = side_by_side(
            lambda: _batch(threaded.step, list(threaded.envs)),  # noqa: B023
            lambda: _batch(sync.step, envs),  # noqa: B023
        )
        measured[id] = {"sync and bare": _per_step(alone), "threads and sync": _per_step(both)}
    gem.register("bench:Sleeper-v0", Sleeper)
    vector = make_vec("bench:Sleeper-v0", threads=True)
    measured["resets_ms"] = median_of(lambda: wall_seconds(vector.reset), 5) * 1000
    measured["steps_ms"] = median_of(lambda: wall_seconds(lambda: vector.step(["x"] * SIZE)), 5) * 1000
    return measured


def _per_step(pair: tuple[float, float, float]) -> list[float]:
    """Return microseconds of a step of both, and how much faster the first is."""
    first, second, ratio = pair
    return [first / SIZE * 1e6, second / SIZE * 1e6, 1 / ratio]


def figures(new: dict[str, Any], old: dict[str, Any]) -> list[Figure]:
    """Judge."""
    lines = []
    for id in GAMES:
        name = id.partition(":")[2].partition("-")[0]
        for pair, what in (
            ("sync and bare", f"sync {SIZE} beside bare loop"),
            ("threads and sync", "threads beside sync"),
        ):
            mine, other, ratio = new[id][pair]
            lines.append(at_least(f"{what}, {name}", mine, "us/step", ratio, 0.9, other))
            if old:
                lines.append(Figure(f"  (in the old one, {name})", old[id][pair][0], "us/step", *old[id][pair][1:]))
    serial = SIZE * SLEEP * 1000
    lines.append(
        at_most(f"{SIZE} resets of {SLEEP * 1000:g} ms", new["resets_ms"], "ms", serial / 10, old.get("resets_ms"))
    )
    ratio = quotient(old.get("steps_ms"), new["steps_ms"])
    lines.append(Figure(f"{SIZE} steps of {SLEEP * 1000:g} ms", new["steps_ms"], "ms", old.get("steps_ms"), ratio))
    return lines


if __name__ == "__main__":
    answer(measure())
