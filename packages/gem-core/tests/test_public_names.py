"""The public names: listed, importable, and no more than they are meant to be."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gem

PUBLIC = [
    "DatasetEnv",
    "Env",
    "EnvSpec",
    "EnvWrapper",
    "ExecResult",
    "Fault",
    "GemError",
    "Mixture",
    "MultiAgentEnv",
    "ResetNeeded",
    "Sandbox",
    "Session",
    "Tool",
    "ToolEnvWrapper",
    "ToolResult",
    "VectorEnv",
    "Wrapper",
    "chat",
    "errors",
    "hookimpl",
    "list_envs",
    "make",
    "make_component",
    "make_sandbox",
    "make_tool",
    "make_vec",
    "mix",
    "parsing",
    "print_envs",
    "register",
    "seeding",
    "single",
    "spec",
    "testing",
]


def test_the_public_names_are_these_and_no_others() -> None:
    assert gem.__all__ == sorted(PUBLIC)
    assert {*PUBLIC, "__version__"} == set(dir(gem))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_had(name: str) -> None:
    value = getattr(gem, name)
    assert value is getattr(gem, name)
    assert getattr(value, "__doc__", None)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'gem' has no attribute 'maek'"):
        _ = gem.maek  # type: ignore[attr-defined]


def test_import_gem_loads_nothing_heavy_and_no_plugin() -> None:
    code = (
        "import sys; before = set(sys.modules); import gem; new = set(sys.modules) - before; "
        "heavy = {'asyncio', 'inspect', 'numpy', 'pluggy', 'transformers', 'typing', 'gem_games'}; "
        "print(len(new), sorted(new & heavy))"
    )
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    count, heavy = done.stdout.split(" ", 1)
    assert int(count) <= 12
    assert heavy.strip() == "[]"
