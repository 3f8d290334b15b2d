"""Texts that a model may write and nobody expects, and whether reading them stays linear (contract E8)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gem.testing.report import Report

__all__ = ["Growing", "check_linear", "growing_texts", "hostile_texts", "seconds"]

_CONTENTS = (
    *("", " ", "\t\n", "0", "-1", "+1", "1.5", "1e999", "nan", "inf", "0x10", "1_0", "00", "9" * 5000, "-" * 99),
    *("²", "½", "٣", "Ⅷ", "−3", "１２", "é", "e\u0301", "ß", "İ", "\u2028", "\u202e", "\ufeff", "\x00", "\x1b[2J"),
    *("\U0001f600", "\ud800", "a", "A B", "a b c d e f g", "up up", "1 2 3 4 5 6 7 8 9", "1,2", "(1, 2)", "[1][2]"),
    *("{1}", "{", "}", "\\", "%s%n", "{0}", "None", "null", "true", "__import__('os')", "../../etc/passwd"),
    *("<b>", "</answer>", "\\boxed{1}", "x" * 20_000),
)
_TEXTS = (
    *("", " ", "\n", "\r\n", "\x00", "\U0001f600", "\ud800", "\ufeff", "no answer"),
    *("\\boxed", "\\boxed{", "\\boxed{1", "\\boxed}", "\\boxed {1}", "<answer>", "</answer>", "<answer>1"),
    *("</answer>1<answer>", "<answer><answer>1</answer>", "<ANSWER>1</ANSWER>", "<answer >1</answer>", "```"),
    *("```python", "```python\n", "```python\nprint(1)", "```\n```", "~~~\n1\n~~~", "<think>", "</think>"),
    *("<think></think>", "<tool_call>", "<tool_call>{", "<tool_call>{}</tool_call>", "<tool_call>[]</tool_call>"),
    *('<tool_call>{"name": "x"}</tool_call>', "</tool_call>", "<python>", "<python>1", "<search>"),
    *("<search></search>", "<|im_end|>", "<|im_start|>assistant", "<s>", "[INST]"),
)
_UNITS = (
    *("a", " ", "1", "1 ", "\n", "\r\n", "\x00", "\U0001f600", "{", "}", "[", "(", "\\", "`", "<", ">", '"'),
    *("\\boxed{", "\\boxed{1 ", "\\boxed{}", "<think>", "</think>", "<think></think>", "<answer>", "</answer>"),
    *("<answer>1</answer>", "```", "```python\n", "```\n", "\n```py\n1\n", "<tool_call>", "<tool_call>{"),
    *('<tool_call>{"name": "x", "arguments": {', '{"a":', "<python>", "<search>", "<search></search>", "Wait, "),
)


def render(content: str, answer_format: str | None) -> str:
    """Write a content in an answer format."""
    forms = {"boxed": "\\boxed{%s}", "answer": "<answer>%s</answer>", "fenced": "```python\n%s\n```"}
    return forms.get(answer_format or "", "%s").replace("%s", content, 1)


def hostile_texts(answer_format: str | None, sample: str) -> Iterator[str]:
    """Yield short texts that break parsers.

    Args:
        answer_format: The format to put half of them into.
        sample: A well-formed action, to be mangled.
    """
    yield from _TEXTS
    yield from (render(content, answer_format) for content in _CONTENTS)
    yield from (sample * 2, f"{sample}\x00", f"\ufeff{sample}", sample[: len(sample) // 2], sample[1:], sample.upper())
    yield from (
        f"<think>{sample}",
        f"<think>{sample}</think>",
        f"{sample}</think>",
        f"<answer>{sample}",
        sample.replace(" ", "\u00a0"),
    )


@dataclass(frozen=True)
class Growing:
    """A text of any length: a head, a unit repeated, a tail."""

    head: str
    unit: str
    tail: str

    def of(self, size: int) -> str:
        """Return the text with about `size` characters."""
        return self.head + self.unit * (size // len(self.unit)) + self.tail

    def __str__(self) -> str:
        """Show how it is built."""
        parts = [repr(self.head)] if self.head else []
        parts.append(f"{self.unit!r} * n")
        return " + ".join([*parts, repr(self.tail)] if self.tail else parts)


def growing_texts(answer_format: str | None, sample: str) -> Iterator[Growing]:
    """Yield texts of any length, on which a parser that backtracks takes for ever."""
    yield from (Growing("", unit, "") for unit in (*_UNITS, sample or "x"))
    yield from (Growing("", unit, sample) for unit in ("a", "<think>", "{", "\\boxed{"))
    head, _, tail = render("%s", answer_format).partition("%s")
    for unit in ("1", "1 ", " ", "a ", "(", "-"):
        yield Growing(head, unit, tail)
        yield Growing(head, unit, "")
    yield from (Growing(f"{head}{first}", " ", "") for first in ("1", "a", "A"))


def check_linear(
    report: Report, clause: str, what: str, cost: Callable[[str], float], texts: Iterator[Growing], largest: int
) -> None:
    """Check that the cost grows with the length and not with its square.

    Each text is measured at lengths that grow fourfold: four times the cost is linear, sixteen times is quadratic, more
    than ten times is a breach where it can be measured at all and shows again.

    Args:
        report: Where to say so.
        clause: The clause that demands it.
        what: What is measured, for the message.
        cost: Takes a text, returns seconds.
        texts: What to measure.
        largest: The longest length, in characters.

    Raises:
        ContractError: The cost of one grows faster.
    """
    for text in texts:
        size, before = max(1, largest // 256), 0.0
        while size <= largest:
            now = cost(text.of(size))
            if before and now > 0.05 and now > 10 * before:
                before = min(cost(text.of(size // 4)) for _ in range(3))
                now = min(now, *(cost(text.of(size)) for _ in range(2)))
                if now > 0.05 and now > 10 * before:
                    message = f"{size // 4} characters take {before:.4f} s and {size} characters {now:.4f} s"
                    report.fail(clause, f"the cost of {what} is linear; of {text}, {message}.")
            size, before = size * 4, now


def seconds(call: Callable[[], object]) -> float:
    """Return the CPU seconds of this thread that a call takes (what other programs do does not count)."""
    start = time.thread_time()
    call()
    return time.thread_time() - start
