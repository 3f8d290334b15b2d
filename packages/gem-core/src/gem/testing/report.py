"""What a check found, and how it says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from gem.errors import ContractError
from gem.tools.result import cut

__all__ = ["Report", "shown"]


@dataclass(repr=False)
class Report:
    """What a check found: it exists only where nothing was broken.

    Attributes:
        name: What was checked.
        checked: The clauses that held, in the order in which they were checked.
        skipped: Why the others, or a part of them, could not be checked, by clause.
    """

    name: str
    checked: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def passed(self, clause: str) -> None:
        """Note that a clause held."""
        if clause not in self.checked:
            self.checked.append(clause)

    def skip(self, clause: str, reason: str) -> None:
        """Note why a clause, or a part of it, was not checked."""
        self.skipped[clause] = f"{self.skipped[clause]}; {reason}" if clause in self.skipped else reason

    def fail(self, clause: str, message: str) -> NoReturn:
        """Say which clause is broken, and for which input.

        Raises:
            ContractError: Always.
        """
        raise ContractError(clause, f"{self.name}: {message}")

    def __str__(self) -> str:
        """Return one line for what held and one for each clause that was skipped, in whole or in part."""
        lines = [f"{self.name}: {', '.join(self.checked) or 'nothing'} checked"]
        for clause, reason in self.skipped.items():
            lines.append(f"  {clause} {'in part ' if clause in self.checked else ''}not checked: {reason}")
        return "\n".join(lines)

    __repr__ = __str__  # what an interactive session shows


def shown(value: Any) -> str:
    """Return the repr of an offending value, the middle of a long one left out."""
    return cut(repr(value), 400)
