"""A tool that the agent calls in `<tool_call>` blocks, and the wrapper that answers it."""

from __future__ import annotations

from typing import Any

import gem
from gem_hello.env import GREETINGS

__all__ = ["Phrasebook", "with_phrasebook"]


class Phrasebook(gem.Tool):
    """Knows the greeting of each language."""

    name = "phrasebook"
    schemas = (
        {
            "type": "function",
            "function": {
                "name": "look_up",
                "description": "Look up how to say hello.",
                "parameters": {
                    "type": "object",
                    "properties": {"language": {"type": "string", "description": "Its English name."}},
                    "required": ["language"],
                },
            },
        },
    )

    def execute(self, call: Any) -> gem.ToolResult:
        """Answer one call; an unknown language is an error that the model can read."""
        language = call.arguments["language"].strip().title()
        if language not in GREETINGS:
            return gem.ToolResult(f"The phrasebook has {', '.join(sorted(GREETINGS))}.", is_error=True)
        return gem.ToolResult(GREETINGS[language])


def with_phrasebook(env: gem.Env, **settings: Any) -> gem.Env:
    """Give an environment the phrasebook; `settings` are those of `gem.ToolEnvWrapper`."""
    return gem.ToolEnvWrapper(env, [Phrasebook()], **settings)
