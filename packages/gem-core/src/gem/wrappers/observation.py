"""Wrappers that put the episode so far into the observation, as text (contract W, W2)."""

from __future__ import annotations

from collections import deque
from typing import Any

from gem.chat import ChatTemplate
from gem.core import Env, StepResult, Wrapper

__all__ = ["Concat", "ConcatChatOnReset", "ConcatWithAction", "check_history_length", "without_suffix"]


def check_history_length(max_history_length: int | None) -> int | None:
    """Return the limit as given.

    Raises:
        ValueError: It is neither None nor a whole number from 0 up.
    """
    limit: object = max_history_length
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ValueError(f"max_history_length is None for no limit, or a whole number from 0 up; got {limit!r}.")
    return max_history_length


def without_suffix(observation: str, info: dict[str, Any]) -> str:
    """Return an observation without the tail that is only worth reading while it is current (contract E2)."""
    suffix = info.get("suffix")
    return observation.removesuffix(suffix).rstrip("\n") if suffix else observation


def _joined(pieces: list[str]) -> str:
    """Join texts so that each begins on a line of its own."""
    older = (f"{piece}\n" if piece and not piece.endswith("\n") else piece for piece in pieces[:-1])
    return "".join(older) + pieces[-1]


class Concat(Wrapper):
    """Show all observations so far, oldest first (`concat`).

    The tail that is only worth reading while it is current (`info["suffix"]`, a board) is dropped from older ones.

    Args:
        env: The environment; its observations must be texts.
        max_history_length: With `k`, the instructions (the first observation) and the `k + 1` newest are shown: 0 is
            the newest alone with the instructions. None shows all.

    Raises:
        ValueError: `max_history_length` is negative or no whole number.
    """

    _with_actions = False

    def __init__(self, env: Env, max_history_length: int | None = None) -> None:
        super().__init__(env)
        self.max_history_length = check_history_length(max_history_length)
        self._instructions = self._newest = ""
        self._older: deque[str] = deque()
        self._turns = 0

    def after_reset(self, observation: Any, info: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Begin a history."""
        text = self._first(self._text(observation))
        limit = self.max_history_length
        # Of older turns: k observations, and with actions the k actions that lead from one to the next.
        self._older = deque(maxlen=None if limit is None else limit * (2 if self._with_actions else 1))
        self._turns = 0
        self._instructions = without_suffix(text, info)
        self._newest = self._instructions
        return text, info

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Add the turn and show the history."""
        observation, reward, terminated, truncated, info = result
        text = self._text(observation)
        if self._turns:
            self._older.append(self._newest)
        if self._with_actions:
            self._older.append(action)
        self._turns += 1
        self._newest = without_suffix(text, info)
        return _joined([self._instructions, *self._older, text]), reward, terminated, truncated, info

    def _first(self, text: str) -> str:
        """Return what the first observation is shown as."""
        return text

    def _text(self, observation: Any) -> str:
        if isinstance(observation, str):
            return observation
        kind = (
            f"a dict of {', '.join(observation)}"
            if isinstance(observation, dict)
            else f"a {type(observation).__name__}"
        )
        raise TypeError(
            f"{type(self).__name__} joins texts, and an observation of {self.env!r} is {kind}: use concat_chat, which "
            "renders content parts."
        )


class ConcatWithAction(Concat):
    """Show all observations and actions so far, in turn (`concat_with_action`); arguments as for `Concat`."""

    _with_actions = True


class ConcatChatOnReset(ConcatWithAction):
    """Render the first observation with the chat template and continue as plain text (`concat_chat_on_reset`).

    Args:
        env: The environment; its observations must be texts.
        tokenizer: What has `apply_chat_template`, such as a Hugging Face tokenizer.
        max_history_length: As for `Concat`.
        system_prompt: A system message before the first observation.
        chat_template_kwargs: Arguments for the template, such as `{"enable_thinking": False}`.
    """

    shared = ("tokenizer",)

    def __init__(
        self,
        env: Env,
        tokenizer: Any,
        max_history_length: int | None = None,
        *,
        system_prompt: str | None = None,
        chat_template_kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(env, max_history_length)
        self.tokenizer = tokenizer
        self.system_prompt = system_prompt
        self.chat_template_kwargs = dict(chat_template_kwargs or {})

    def _first(self, text: str) -> str:
        system = [] if self.system_prompt is None else [{"role": "system", "content": self.system_prompt}]
        template = ChatTemplate(self.tokenizer, chat_template_kwargs=self.chat_template_kwargs)
        return template.render([*system, {"role": "user", "content": text}])
