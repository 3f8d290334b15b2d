"""What gem-core itself registers: its wrappers, through the same hook as everybody's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gem.hookspecs import hookimpl

if TYPE_CHECKING:
    from gem.registrar import Register

gem_api = 1


@hookimpl
def gem_register_wrappers(register: Register) -> None:
    """Register the wrappers of contract W that need no tool."""
    tokenizer = ("tokenizer",)
    register(
        "concat",
        "gem.wrappers.observation:Concat",
        stage="observation",
        description="All observations of the episode, joined.",
    )
    register(
        "concat_with_action",
        "gem.wrappers.observation:ConcatWithAction",
        stage="observation",
        description="All observations and actions of the episode, joined.",
    )
    register(
        "concat_chat",
        "gem.wrappers.chat:ConcatChat",
        stage="observation",
        needs=tokenizer,
        description="The episode as a chat, rendered by the tokenizer's template.",
    )
    register(
        "concat_chat_on_reset",
        "gem.wrappers.observation:ConcatChatOnReset",
        stage="observation",
        needs=tokenizer,
        description="The chat template on the first observation only, then plain text.",
    )
    register(
        "step_limit",
        "gem.wrappers.limits:StepLimit",
        stage="tracking",
        description="Cut the episode after max_steps steps.",
    )
    register(
        "episode_tracking",
        "gem.wrappers.episode:EpisodeTracking",
        stage="tracking",
        description="Count steps and add up rewards, for this episode and the last one.",
    )
