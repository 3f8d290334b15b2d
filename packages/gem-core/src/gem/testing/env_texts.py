r"""The clauses on texts: what instructions show (E7, E12), what agents may write (E8), and what stays hidden (E10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from gem.core import Env
from gem.errors import ContractError
from gem.parsing import extract, tagged
from gem.testing.env_episodes import ORACLE_STEPS
from gem.testing.episodes import Episode, Subject, difference, oracle_policy
from gem.testing.hostile import check_linear, growing_texts, hostile_texts, seconds
from gem.testing.report import shown

__all__ = ["check_hostile", "check_instructions", "check_secrets"]

_NOT_TEXT = (None, 7, 1.5, b"bytes", ["a list"], {"a": "dict"})
_NAMES_FORMAT = {"boxed": r"\\boxed", "answer": r"<answer>", "fenced": r"(?i)```|backtick|code block|fence"}
_BOX = re.compile(r"\\boxed\s*\{[^{}]*\}")
_PLACEHOLDER = re.compile(r"\.\.\.|…|<|\[[a-z]|^\s*$|your", re.IGNORECASE)


def check_instructions(subject: Subject) -> None:
    """Check that the first observation names the answer format, and that its examples are read (E7, E12)."""
    if not subject.text:
        subject.report.skip("E12", "actions are no text")
        return
    env = subject.make()
    for seed in subject.seeds[:5]:
        observation = subject.reset(env, seed)[0]
        text = "\n".join(_texts(observation))
        answer_format = env.answer_format
        if answer_format is not None and not re.search(_NAMES_FORMAT[answer_format], text):
            message = (
                f"instructions name the format that is read, {answer_format!r}; reset(seed={seed}) says {shown(text)}"
            )
            subject.report.fail("E12", f"{message}.")
        for example in _examples(text, answer_format):
            if not subject.bare:
                break
            subject.reset(env, seed)
            reward = subject.step(env, example)[1]
            penalty = getattr(env.unwrapped, "format_error_reward", 0.0)
            if penalty and reward == penalty:
                message = f"{shown(example)} of reset(seed={seed}) was paid the format_error_reward {penalty!r}"
                subject.report.fail("E7", f"every example that instructions show is read; {message}.")
    subject.report.passed("E12")


def _examples(text: str, answer_format: str | None) -> Iterable[str]:
    """Return the complete examples in an instruction, placeholders apart."""
    found: list[str] = []
    if answer_format == "boxed":
        found = _BOX.findall(text)
    elif answer_format == "answer":
        found = [f"<answer>{match.content}</answer>" for match in tagged(text, "answer")]
    return [
        example for example in dict.fromkeys(found) if not _PLACEHOLDER.search(extract(example, answer_format) or "")
    ]


def check_hostile(subject: Subject, largest: int) -> None:
    """Feed every kind of text, and what is none; nothing raises, and the cost stays linear (E8)."""
    if not subject.text:
        subject.report.skip("E8", "actions are no text")
        return
    env, seed = subject.make(), subject.seeds[0]
    start = subject.reset(env, seed)
    sample = str(env.sample_random_action())
    over = False

    def begin() -> None:
        nonlocal over
        if over:
            subject.reset(env, seed)
            over = False

    def feed(text: str) -> None:
        nonlocal over
        result = subject.step(env, text)
        over = result[2] or result[3]

    for text in hostile_texts(env.answer_format, sample):
        begin()
        feed(text)
    for action in _NOT_TEXT:
        begin()
        _check_type_error(subject, env, action)
    begin()
    feed(sample)

    def cost(text: str) -> float:
        begin()
        return seconds(lambda: feed(text))

    check_linear(subject.report, "E8", "a step", cost, growing_texts(env.answer_format, sample), largest)
    if found := difference(Episode(seed, start), Episode(seed, subject.reset(env, seed))):
        subject.report.fail("E8", f"texts leave nothing behind; before and after them {found} for seed {seed}.")
    subject.report.passed("E8")


def _check_type_error(subject: Subject, env: Env, action: Any) -> None:
    try:
        result = env.step(action)
    except TypeError:
        return
    except Exception as error:
        message = f"{subject.report.name}: step({action!r}) raises TypeError, since it is no text; it raised {error!r}."
        raise ContractError("E8", message) from error
    subject.report.fail("E8", f"step({action!r}) raises TypeError, since it is no text; it returned {shown(result)}.")


def check_secrets(subject: Subject) -> None:
    """Look for the solver's last answer where an agent could read it before the end (E10).

    An answer counts as leaked where it stands in the same place for every seed, while the answers of other seeds do
    not: then no chance put it there.
    """
    env = subject.make()
    answers: dict[str, dict[str, str]] = {}
    for seed in [*subject.seeds, *range(1_000, 1_008 - min(8, len(subject.seeds)))]:
        episode = subject.play(env, oracle_policy(subject), seed=seed, limit=ORACLE_STEPS)
        answer = str(extract(episode.actions[-1], env.answer_format) or "") if episode.success and subject.text else ""
        if len(answer) < 2:
            continue
        subject.reset(env, seed)
        observation, info = episode.start
        places = {"repr(env)": repr(env), "info": repr({**info, "suffix": ""})}
        if len(episode.actions) > 1:  # the question of a single-turn environment may well name its answer
            places["the first observation"] = "\n".join(_texts(observation))
        answers.setdefault(answer, places)
    if len(answers) < 3:
        subject.report.skip("E10", "the solver gave fewer than three different answers of two characters or more")
        return
    for place in ("repr(env)", "info", "the first observation"):
        texts = [(answer, places[place]) for answer, places in answers.items() if place in places]
        leaks = sum(answer in text for answer, text in texts)
        chance = sum(other in text for answer, text in texts for other in answers if other != answer)
        if len(texts) > 2 and leaks == len(texts) and chance < leaks:
            answer, text = texts[0]
            message = f"before the end the answer is hidden; {place} shows {answer!r}"
            subject.report.fail("E10", f"{message}: {shown(text)}.")
    subject.report.passed("E10")


def _texts(observation: Any) -> list[str]:
    """Return the texts in an observation."""
    if isinstance(observation, str):
        return [observation]
    if isinstance(observation, dict):
        observation = list(observation.values())
    if isinstance(observation, (list, tuple)):
        return [text for part in observation for text in _texts(part)]
    return []
