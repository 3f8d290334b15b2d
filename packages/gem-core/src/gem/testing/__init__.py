"""The contract as code: check what you wrote against the clauses that everything in GEM keeps.

    def test_my_env_keeps_the_contract():
        gem.testing.check_env("mine:Echo-v0", seeds=50)

Each check runs every clause of `docs/contract.md` that code can check. The first breach raises
`gem.errors.ContractError`, which names the clause and shows the input; otherwise a `Report` says what was checked and
what was skipped, and why.
"""

from __future__ import annotations

from gem.errors import ContractError
from gem.testing.env import check_env
from gem.testing.plugin import check_plugin
from gem.testing.report import Report
from gem.testing.sandbox import check_sandbox
from gem.testing.tool import check_tool

__all__ = ["ContractError", "Report", "check_env", "check_plugin", "check_sandbox", "check_tool"]
