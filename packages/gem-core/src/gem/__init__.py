"""GEM, General Experience Maker: a gym for LLM agents.

The public names, nothing else. They are imported on first use, so that `import gem` costs a few milliseconds, loads
no plugin and no numpy.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as checkers know it; importing `typing` would be most of what `import gem` costs
if TYPE_CHECKING:
    from typing import Any

    from gem import chat, errors, parsing, seeding, testing
    from gem.core import Env, EnvWrapper, Wrapper
    from gem.dataset import DatasetEnv
    from gem.errors import Fault, GemError, ResetNeeded
    from gem.factory import (
        list_envs,
        make,
        make_component,
        make_sandbox,
        make_tool,
        make_vec,
        print_envs,
        register,
        spec,
    )
    from gem.hookspecs import hookimpl
    from gem.multi_agent import MultiAgentEnv
    from gem.sandbox import ExecResult, Sandbox, Session
    from gem.single_agent import single
    from gem.specs import EnvSpec
    from gem.tools.base import Tool, ToolResult
    from gem.tools.tool_env_wrapper import ToolEnvWrapper
    from gem.vector.base import VectorEnv
    from gem.vector.mixture import Mixture, mix

__version__ = "0.1.0"

_HOMES = {
    "DatasetEnv": "gem.dataset",
    "Env": "gem.core",
    "EnvSpec": "gem.specs",
    "EnvWrapper": "gem.core",
    "ExecResult": "gem.sandbox",
    "Fault": "gem.errors",
    "GemError": "gem.errors",
    "Mixture": "gem.vector.mixture",
    "MultiAgentEnv": "gem.multi_agent",
    "ResetNeeded": "gem.errors",
    "Sandbox": "gem.sandbox",
    "Session": "gem.sandbox",
    "Tool": "gem.tools.base",
    "ToolEnvWrapper": "gem.tools.tool_env_wrapper",
    "ToolResult": "gem.tools.base",
    "VectorEnv": "gem.vector.base",
    "Wrapper": "gem.core",
    "hookimpl": "gem.hookspecs",
    "list_envs": "gem.factory",
    "make": "gem.factory",
    "make_component": "gem.factory",
    "make_sandbox": "gem.factory",
    "make_tool": "gem.factory",
    "make_vec": "gem.factory",
    "mix": "gem.vector.mixture",
    "print_envs": "gem.factory",
    "register": "gem.factory",
    "single": "gem.single_agent",
    "spec": "gem.factory",
}
_MODULES = ("chat", "errors", "parsing", "seeding", "testing")

__all__ = [
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


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"gem.{name}")
    else:
        raise AttributeError(f"module 'gem' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return [*__all__, "__version__"]
