"""How an environment fails, and what is said about it (contract E14).

Whatever an environment raises is its failure, a cancelled task and the panic of an extension module too; only
KeyboardInterrupt is the user's, and goes to the caller.
"""

from __future__ import annotations

import logging
from numbers import Real
from typing import Any, NamedTuple

from gem.core import Env, StepResult
from gem.errors import Fault

__all__ = ["Broken", "Refused", "check_info", "check_reward", "close_quietly", "describe", "shorten"]

_logger = logging.getLogger(__name__)


class Broken(NamedTuple):
    """An environment that was given up: it failed too often without a completed step.

    Attributes:
        message: What happened, and how the environment can be had again.
        cause: The last failure.
        result: Of the step that ended its episode, where it was the next episode that could not be begun.
    """

    message: str
    cause: BaseException | None
    result: StepResult | None


class Refused(NamedTuple):
    """A reset whose options the environment did not take: the caller's mistake.

    Attributes:
        error: What the environment raised.
    """

    error: BaseException


def describe(error: BaseException) -> tuple[str, str]:
    """Return a failure's kind and message."""
    if isinstance(error, Fault):
        return error.kind, error.message
    try:
        return "env_error", f"{type(error).__name__}: {error}"
    except Exception:  # an exception that cannot even say what it is
        return "env_error", type(error).__name__


def check_reward(reward: object) -> None:
    """Raise TypeError if a reward is not a number: numpy would take None for a nan, and a text for a number."""
    if not isinstance(reward, Real):
        raise TypeError(f"step() returned a reward of type {type(reward).__name__}; it is a float (contract E5).")


def check_info(info: object) -> None:
    """Raise TypeError if an info is not a dict."""
    if not isinstance(info, dict):
        raise TypeError(f"The info that came back is of type {type(info).__name__}; it is a dict (contract E4).")


def shorten(action: Any) -> str:
    """Return an action for an error message."""
    text = repr(action)
    return text if len(text) <= 200 else f"{text[:200]}... ({len(text)} characters)"


def close_quietly(env: Env) -> None:
    """Close an environment of which nothing more is wanted; what it raises is logged."""
    try:
        env.close()
    except KeyboardInterrupt:
        raise
    except BaseException:
        _logger.warning("%s could not be closed.", type(env).__name__, exc_info=True)
