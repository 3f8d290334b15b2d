"""Every exception that GEM raises on purpose.

    GemError
    ├── UnknownId            (KeyError)      an id, name or version that nobody registered
    ├── InvalidId            (ValueError)    text that cannot be an id
    ├── DuplicateId          (ValueError)    an id that somebody else registered first
    ├── EntryPointError      (ImportError)   a registered target whose module or attribute is absent
    ├── MissingDependency    (ImportError)   a package that an environment or tool needs and does not find
    ├── PluginError          (RuntimeError)  a plugin that could not be loaded or broke a rule while it registered
    ├── WrapperOrderError    (ValueError)    wrapper names in an order that cannot work
    ├── ResetNeeded          (RuntimeError)  a step before `reset` or after the end of the episode
    ├── ResultError          (TypeError)     an environment returned something else than its interface says
    ├── StateError           (TypeError)     an attribute that can be neither copied nor restored
    ├── TemplateError        (ValueError)    a chat template that cannot render what it is given
    ├── HistoryError         (ValueError)    a history setting that the chosen history mode cannot honour
    ├── DatasetError         (ValueError)    a data set that cannot be had, or a row that lacks what it needs
    ├── CapabilityError      (ValueError)    a sandbox is asked for what it does not declare
    ├── Fault                (RuntimeError)  the infrastructure failed: never a reward
    ├── VectorEnvError       (RuntimeError)  a vector env that cannot go on with one of its environments
    └── ContractError        (AssertionError) a part breaks a clause of the contract (raised by `gem.testing`)

Each also inherits the builtin that fits, so that code which knows nothing of GEM catches it naturally.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "CapabilityError",
    "ContractError",
    "DatasetError",
    "DuplicateId",
    "EntryPointError",
    "Fault",
    "GemError",
    "HistoryError",
    "InvalidId",
    "MissingDependency",
    "PluginError",
    "PluginWarning",
    "ResetNeeded",
    "ResultError",
    "StateError",
    "TemplateError",
    "UnknownId",
    "VectorEnvError",
    "WrapperOrderError",
]


class GemError(Exception):
    """Base of every exception that GEM raises on purpose."""


class UnknownId(GemError, KeyError):
    """An id, name or version that nobody registered; the text names close matches and what to install."""

    def __str__(self) -> str:
        """Return the message as written (a plain KeyError would show its repr)."""
        return str(self.args[0]) if self.args else ""


class InvalidId(GemError, ValueError):
    """A text that cannot be an id; the text says what the grammar is."""


class DuplicateId(GemError, ValueError):
    """An id that somebody else registered first; the text names both."""


class EntryPointError(GemError, ImportError):
    """A registered target whose module or attribute is absent."""


class MissingDependency(GemError, ImportError):
    """A package that an environment, a tool or a data set needs is not installed; the text says how to get it."""


class PluginError(GemError, RuntimeError):
    """A plugin could not be loaded, or broke a rule while it registered."""


class PluginWarning(UserWarning):
    """Warn once that an installed plugin failed and that everything else goes on without it."""


class WrapperOrderError(GemError, ValueError):
    """Wrappers are named in an order that cannot work; the text shows one that does."""


class ResetNeeded(GemError, RuntimeError):
    """A step came before `reset`, or after the end of the episode."""


class ResultError(GemError, TypeError):
    """An environment's `reset` or `step` returned something else than its interface says; the text shows both."""


class StateError(GemError, TypeError):
    """An attribute of an environment can be neither copied nor restored; the text names it and the way out."""


class TemplateError(GemError, ValueError):
    """A chat template cannot render what it is given."""


class HistoryError(GemError, ValueError):
    """A history setting that the chosen history mode cannot honour."""


class DatasetError(GemError, ValueError):
    """A data set cannot be had, or a row of it lacks what the environment needs."""


class CapabilityError(GemError, ValueError):
    """A sandbox is asked for something that it does not declare."""


class Fault(GemError, RuntimeError):
    """The infrastructure failed, so that the step says nothing about the agent: it is never a reward.

    Vector envs and runners end the episode as truncated with reward 0.0 and no `success` (contract E14).

    Args:
        kind: What failed: `sandbox`, `server` or `grader`; a vector env adds `env_error`, `env_died`, `env_timeout`.
        message: What happened and what to do about it, for the operator; it is never shown to the agent.
    """

    KINDS = ("sandbox", "server", "grader", "env_error", "env_died", "env_timeout")

    def __init__(self, kind: str, message: str = "") -> None:
        """Check the kind and keep both parts."""
        if kind not in self.KINDS:
            raise ValueError(f"A fault's kind is one of {', '.join(self.KINDS)}; got {kind!r}.")
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        """Return `kind: message`."""
        return f"{self.kind}: {self.message}" if self.message else self.kind


class VectorEnvError(GemError, RuntimeError):
    """A vector env cannot go on with one of its environments.

    Args:
        message: What failed, with id, index, seed, step and last action.
        indices: The environments concerned; the others stay usable.

    Attributes:
        results: What the call brought from the other environments, or None: `(indices, observations, rewards,
            terminated, truncated, infos)` of a step, `(indices, observations, infos)` of a reset.
    """

    results: Any = None

    def __init__(self, message: str, indices: tuple[int, ...] = ()) -> None:
        """Keep the message and the indices."""
        super().__init__(message, indices)
        self.message = message
        self.indices = indices

    def __str__(self) -> str:
        """Return the message alone."""
        return self.message


class ContractError(GemError, AssertionError):
    """A part breaks a clause of the contract.

    Args:
        clause: The clause, such as `E9`.
        message: What was expected, what was seen and for which input.
    """

    def __init__(self, clause: str, message: str) -> None:
        """Keep the clause and the message."""
        super().__init__(clause, message)
        self.clause = clause
        self.message = message

    def __str__(self) -> str:
        """Return `[clause] message`."""
        return f"[{self.clause}] {self.message}"
