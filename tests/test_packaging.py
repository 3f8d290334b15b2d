"""Every package has the same skeleton, and no package reaches into another's private parts."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import re
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PACKAGES = sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))
SIBLINGS = [package for package in PACKAGES if package.name != "gem-core"]
package_of_each = pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
sibling_of_each = pytest.mark.parametrize("package", SIBLINGS, ids=lambda path: path.name)


def project(package: Path) -> dict[str, Any]:
    return tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def root_of(package: Path) -> str:
    return "gem" if package.name == "gem-core" else package.name.replace("-", "_")


def imported_modules(path: Path) -> set[str]:
    """Return every dotted name that a file imports, attributes of modules included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def test_the_six_packages_are_all_there() -> None:
    assert [package.name for package in PACKAGES] == [
        "gem-core",
        "gem-games",
        "gem-math",
        "gem-rollout",
        "gem-search",
        "gem-tools",
    ]


@package_of_each
def test_package_has_the_skeleton(package: Path) -> None:
    table = project(package)
    assert table["name"] == package.name
    assert table["requires-python"] == ">=3.10"
    assert table["license"] == "Apache-2.0"
    assert table["description"].endswith(".")
    assert "Typing :: Typed" in table["classifiers"]
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (package / "README.md").read_text(encoding="utf-8").startswith(f"# {package.name}\n")
    assert (package / "src" / root_of(package) / "py.typed").is_file()
    assert [path.name for path in (package / "src").iterdir()] == [root_of(package)]


@package_of_each
def test_version_is_installed_and_in_the_changelog(package: Path) -> None:
    version = project(package)["version"]
    headings = re.findall(r"^## (\S+)", (package / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings[0] == version
    assert importlib.metadata.version(package.name) == version


@package_of_each
def test_dependencies_and_entry_points_follow_the_house_rules(package: Path) -> None:
    table = project(package)
    names = {re.split(r"[^\w-]", need, maxsplit=1)[0] for need in table["dependencies"]}
    if package.name == "gem-core":
        assert names <= {"pluggy", "importlib-metadata", "numpy"}
        assert "entry-points" not in table
        for sibling in SIBLINGS:
            extra = sibling.name.removeprefix("gem-")
            assert [re.split(r"[^\w-]", need, maxsplit=1)[0] for need in table["optional-dependencies"][extra]] == [
                sibling.name
            ]
    else:
        assert "gem-core" in names
        assert not names & {sibling.name for sibling in SIBLINGS}
        name = package.name.removeprefix("gem-")
        assert table["entry-points"] == {"gem": {name: f"{root_of(package)}.plugin"}}


@sibling_of_each
def test_plugin_module_states_the_api_and_holds_names_not_code(package: Path) -> None:
    plugin = importlib.import_module(f"{root_of(package)}.plugin")
    assert plugin.gem_api == 1
    imports = imported_modules(package / "src" / root_of(package) / "plugin.py")
    assert imports <= {"__future__.annotations", "gem.hookimpl", "typing.Any", "collections.abc.Callable"}


@sibling_of_each
def test_sibling_imports_only_public_names_of_gem(package: Path) -> None:
    for path in (package / "src").rglob("*.py"):
        private = [
            name
            for name in imported_modules(path)
            if re.match(r"gem(\.|$)", name) and any(part.startswith("_") for part in name.split("."))
        ]
        assert not private, f"{path.relative_to(ROOT)} imports {private}"


@package_of_each
def test_no_file_is_longer_than_500_lines(package: Path) -> None:
    for path in (package / "src").rglob("*.py"):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= 500, f"{path.relative_to(ROOT)} has {lines} lines: a file holds one noun; split it"
