"""An environment of several turns: greet in the language asked for."""

from __future__ import annotations

from typing import Any

import gem

__all__ = ["GREETINGS", "Greet"]

GREETINGS = {
    "Czech": "ahoj",
    "Finnish": "hei",
    "French": "bonjour",
    "German": "hallo",
    "Italian": "ciao",
    "Spanish": "hola",
    "Turkish": "merhaba",
}


class Greet(gem.Env):
    """Say hello in a language that is drawn at each reset.

    The right greeting ends the episode with 1.0; another word costs a turn; an action without a box ends it.

    Args:
        max_turns: How many tries there are.
        format_error_reward: For an action without a box.

    Raises:
        ValueError: `max_turns` is below 1.
    """

    answer_format = "boxed"

    def __init__(self, max_turns: int = 3, format_error_reward: float = -0.1) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns is 1 or more; got {max_turns}.")
        self.max_turns = max_turns
        self.format_error_reward = format_error_reward

    def reset(self, seed: int | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
        """Draw a language."""
        _, info = super().reset(seed=seed, **options)
        self.language = self.rng.choice(sorted(GREETINGS))
        self.turns = 0
        return self._question(), info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Compare the word in the box with the greeting."""
        self.turns += 1
        word = gem.parsing.boxed(action)
        if word is None:
            return "There is no box.", self.format_error_reward, True, False, {"success": False}
        if word.strip().lower() == GREETINGS[self.language]:
            return "Right!", 1.0, True, False, {"success": True}
        if self.turns == self.max_turns:
            return "Wrong.", 0.0, False, True, {"success": False, "truncated_by": "max_turns"}
        return f"Wrong. {self._question()}", 0.0, False, False, {}

    def sample_random_action(self) -> str:
        """Say hello in any language."""
        return f"\\boxed{{{self.action_rng.choice(sorted(GREETINGS.values()))}}}"

    def oracle_action(self) -> str:
        """Say hello in the right one."""
        return f"\\boxed{{{GREETINGS[self.language]}}}"

    def _question(self) -> str:
        left = self.max_turns - self.turns
        how = "Put one word in a box, like \\boxed{hey}."
        return f"How does one say hello in {self.language}? Tries left: {left}. {how}"
