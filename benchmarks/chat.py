"""What a turn late in a long conversation costs: `concat_chat` at turn 100, with and without tokenizing the prompt."""

from __future__ import annotations

import re
from typing import Any

import jinja2.sandbox
from timing import Figure, answer, at_least, cpu_seconds, median_of, quotient

from gem.core import Env

OBSERVATION = ("The board is as follows, row by row. " * 6)[:200]
ACTION = ("Let me think step by step about that. " * 13)[:490] + "\\boxed{17}"
TURNS = 100
TEMPLATE = """\
{%- if messages[0]['role'] == 'system' %}{{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{%- endif %}
{%- for message in messages %}
    {%- if (message.role == 'user') or (message.role == 'system' and not loop.first) or message.role == 'assistant' %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == 'tool' %}
        {{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""
_WORD = re.compile(r"<\|\w+\|>| ?\w+| ?[^\w\s]+|\s+")


class Tokenizer:
    """A chat template as in Qwen2.5, rendered as the tokenizers of Hugging Face do, and words for tokens."""

    chat_template = TEMPLATE

    def __init__(self) -> None:
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        self._template = environment.from_string(TEMPLATE)
        self._ids: dict[str, int] = {}

    def apply_chat_template(self, messages: Any, tokenize: bool = False, **options: Any) -> Any:
        """Render a conversation."""
        text = self._template.render(messages=messages, **options)
        return self.encode(text) if tokenize else text

    def encode(self, text: str) -> list[int]:
        """Return a number for each word."""
        ids = self._ids
        return [ids.setdefault(word, len(ids)) for word in _WORD.findall(text)]


class Talk(Env):
    """Says the same in every turn."""

    def reset(self, seed: int | None = None, **_: Any) -> tuple[str, dict[str, Any]]:
        """Say it."""
        super().reset(seed=seed)
        return OBSERVATION, {}

    def step(self, action: str) -> Any:
        """Say it again."""
        return OBSERVATION, 0.0, False, False, {}


def wrap(env: Env, tokenizer: Tokenizer) -> Any:
    """Put `concat_chat` of either package round an environment."""
    try:
        from gem.wrappers.wrapper_factory import WRAPPER_FACTORY

        return WRAPPER_FACTORY["concat_chat"](env, tokenizer=tokenizer)
    except ImportError:  # the old factory imports a package that the old distribution does not declare
        from gem.wrappers.observation_wrapper import ObservationWrapper

        return ObservationWrapper(env, tokenizer=tokenizer)


def measure() -> dict[str, Any]:
    """Return microseconds of turn 1 and of turn 100."""
    tokenizer = Tokenizer()
    measured: dict[str, Any] = {}
    for turn in (1, TURNS):
        plain, tokenized = [], []
        for spent, tokenize in ((plain, False), (tokenized, True)):
            for _ in range(9):
                env = wrap(Talk(), tokenizer)
                env.reset()
                for _ in range(turn - 1):
                    env.step(ACTION)
                spent.append(cpu_seconds(lambda: _turn(env, tokenizer, tokenize)))  # noqa: B023
        for name, values in (("plain", plain), ("tokenized", tokenized)):
            measured[f"{name}_{turn}"] = median_of(lambda: values.pop(), 9) * 1e6  # noqa: B023
    return measured


def _turn(env: Any, tokenizer: Tokenizer, tokenize: bool) -> None:
    """Take a turn; only the text that is new is tokenized where the package says which that is."""
    observation, _, _, _, info = env.step(ACTION)
    if tokenize:
        tokenizer.encode(info.get("prompt_delta", observation))


def figures(new: dict[str, Any], old: dict[str, Any]) -> list[Figure]:
    """Judge."""
    late, tokenized = f"plain_{TURNS}", f"tokenized_{TURNS}"
    return [
        Figure(
            "concat_chat, turn 1",
            new["plain_1"],
            "us",
            old.get("plain_1"),
            quotient(old.get("plain_1"), new["plain_1"]),
        ),
        at_least(f"concat_chat, turn {TURNS}", new[late], "us", quotient(old.get(late), new[late]), 20, old.get(late)),
        at_least(
            f"turn {TURNS}, new text tokenized",
            new[tokenized],
            "us",
            quotient(old.get(tokenized), new[tokenized]),
            50,
            old.get(tokenized),
        ),
    ]


if __name__ == "__main__":
    answer(measure())
