"""A person plays an environment in the terminal."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any, TextIO

from gem.core import Env
from gem.parsing import extract

__all__ = ["as_action", "play"]

_ANSWERS = {"boxed": "\\boxed{{{}}}", "answer": "<answer>{}</answer>", "fenced": "```python\n{}\n```"}


def play(env: Env, out: TextIO, *, seed: int | None = None, read: Callable[[str], str] = input) -> float:
    r"""Play one episode.

    A line that holds no answer in the environment's format is taken for the answer itself: `7` becomes `\boxed{7}`.

    Args:
        env: What is played.
        out: Where the episode is shown.
        seed: For the reset.
        read: Shows a prompt and returns a line.

    Returns:
        The sum of the rewards.

    Raises:
        EOFError: The person closed the input before the end.
        KeyboardInterrupt: The person pressed Ctrl-C.
    """
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - where there is one, the line can be edited

    observation, info = env.reset(seed=seed)
    boxing = "it is put into the format that the game reads. " if env.answer_format in _ANSWERS else ""
    out.write(f"{info['env_id']}, seed {info['seed']}. Type an answer, then Enter; {boxing}Ctrl-D leaves.\n\n")
    total, steps, ended = 0.0, 0, False
    while not ended:
        out.write(f"{_shown(observation)}\n")
        out.flush()
        line = read("> ")
        if not line.strip():
            out.write("(An empty line is no action.)\n")
            continue
        action = as_action(line, env.answer_format)
        observation, reward, terminated, truncated, info = env.step(action)
        total, steps, ended = total + reward, steps + 1, terminated or truncated
        sent = f"sent {action}, " if action != line else ""
        out.write(f"({sent}reward {_rounded(reward)})\n\n")
    if observation:
        out.write(f"{_shown(observation)}\n")
    out.write(f"{_outcome(info)} {steps} steps, return {_rounded(total)}.\n")
    return total


def as_action(line: str, answer_format: str | None) -> str:
    """Return a line as an action: as it is where it holds an answer in the format, else as that answer."""
    if answer_format not in _ANSWERS or extract(line, answer_format) is not None or "<tool_call>" in line:
        return line
    return _ANSWERS[answer_format].format(line.strip())


def _rounded(reward: float) -> str:
    return f"{round(reward, 6) + 0.0:g}"  # sums of floats that cancel are shown as 0, and never as -0


def _shown(observation: Any) -> str:
    return observation if isinstance(observation, str) else json.dumps(observation, ensure_ascii=False, default=repr)


def _outcome(info: dict[str, Any]) -> str:
    if info.get("fault"):
        return f"The infrastructure failed ({info['fault']}): {info.get('fault_message', '')}"
    if info.get("success"):
        return "Solved!"
    return f"Over: {info['truncated_by']}." if "truncated_by" in info else "Not solved."
