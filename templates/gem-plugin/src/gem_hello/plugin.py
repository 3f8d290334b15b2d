"""What gem-hello registers with GEM: names, not code."""

from __future__ import annotations

from typing import Any

from gem import hookimpl

gem_api = 1


@hookimpl
def gem_register_envs(register: Any) -> None:
    """Register the environments; keyword arguments beyond the known ones go to the class."""
    common: dict[str, Any] = {"description": "Greet in a foreign language.", "reward_range": (-0.1, 1.0)}
    register("hello:Greet-v0", "gem_hello.env:Greet", tags=("hello",), max_turns=3, **common)
    register("hello:Greet-v0-hard", "gem_hello.env:Greet", tags=("hello", "hard"), max_turns=1, **common)


@hookimpl
def gem_register_tools(register: Any) -> None:
    """Register the tool for `gem.make_tool("phrasebook")`."""
    register("phrasebook", "gem_hello.tool:Phrasebook", description="Look greetings up.")


@hookimpl
def gem_register_wrappers(register: Any) -> None:
    """Register the wrapper for `gem.make(..., wrappers="phrasebook_tool")`."""
    register("phrasebook_tool", "gem_hello.tool:with_phrasebook", stage="tool", description="Add the phrasebook.")
