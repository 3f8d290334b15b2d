"""The old import paths: what is in core works, what a sibling has is imported from it or says how to get it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import gem
from gem.errors import MissingDependency

FORWARDERS = {
    "gem.tools.python_code_tool": ("gem_tools.python_code", "PythonCodeTool", "PythonCodeTool", "gem-tools"),
    "gem.tools.mcp_tool": ("gem_tools.mcp", "MCPTool", "MCPTool", "gem-tools"),
    "gem.tools.search_tool": ("gem_search.tool", "SearchTool", "SearchTool", "gem-search"),
    "gem.tools.search_engine.serp_search_server": ("gem_search.server", "serp_main", "main", "gem-search"),
    "gem.tools.search_engine.retrieval_server": ("gem_search.server", "retrieval_main", "main", "gem-search"),
}


@pytest.fixture
def load(monkeypatch):
    """Import a forwarder anew while its new home is the module given, or not installed at all."""

    def load(old, new, module):
        package = new.partition(".")[0]
        monkeypatch.delitem(sys.modules, old, raising=False)
        if module is not None:
            monkeypatch.setitem(sys.modules, package, ModuleType(package))
            monkeypatch.setitem(sys.modules, new, module)
            return importlib.import_module(old)
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [Absent(package), *sys.meta_path])
        return importlib.import_module(old)

    yield load
    for old in FORWARDERS:  # nobody else shall get the modules made here
        sys.modules.pop(old, None)


class Absent:
    """A finder for which one package is not installed."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


@pytest.mark.parametrize("old", FORWARDERS)
def test_a_missing_sibling_is_named_with_what_to_install(old, load):
    new, _, _, package = FORWARDERS[old]
    message = f"{old} forwards to {new}, which comes with {package}: pip install {package}"
    with pytest.raises(MissingDependency) as caught:
        load(old, new, None)
    assert str(caught.value) == message
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize("old", FORWARDERS)
def test_an_installed_sibling_is_what_one_gets(old, load):
    new, there, here, _ = FORWARDERS[old]
    module = ModuleType(new)
    setattr(module, there, object())
    assert getattr(load(old, new, module), here) is getattr(module, there)


def test_what_the_sibling_itself_lacks_is_not_blamed_on_the_sibling(tmp_path, monkeypatch):
    (tmp_path / "gem_tools").mkdir()
    (tmp_path / "gem_tools" / "__init__.py").touch()
    (tmp_path / "gem_tools" / "python_code.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "gem_tools"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "gem.tools.python_code_tool", raising=False)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        importlib.import_module("gem.tools.python_code_tool")


def test_an_older_sibling_without_the_module_is_told_apart_by_the_upgrade(tmp_path):
    (tmp_path / "gem_search").mkdir()
    (tmp_path / "gem_search" / "__init__.py").touch()
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import gem.tools.search_tool"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "the one installed does not have it, so pip install -U gem-search" in done.stderr


@pytest.mark.parametrize("name", ["serp_search_server", "retrieval_server"])
def test_servers_start_with_python_m(tmp_path, name):
    (tmp_path / "gem_search").mkdir()
    (tmp_path / "gem_search" / "__init__.py").touch()
    (tmp_path / "gem_search" / "server.py").write_text(
        "import sys\ndef serp_main(): print('serp_search_server', sys.argv[1:])\n"
        "def retrieval_main(): print('retrieval_server', sys.argv[1:])\n"
    )
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['server', '--topk', '2']; "
        f"runpy.run_module('gem.tools.search_engine.{name}', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{name} ['--topk', '2']\n"


def test_old_paths_within_core_give_the_same_objects():
    from gem.envs import registration
    from gem.tools.base_tool import BaseTool

    assert BaseTool is gem.Tool
    for name in registration.__all__:
        assert getattr(registration, name) is getattr(gem, name)


@pytest.mark.parametrize("old", [*FORWARDERS, "gem.tools.base_tool", "gem.envs.registration"])
def test_forwarders_stay_short(old):
    path = Path(gem.__file__).parent.joinpath(*old.split(".")[1:]).with_suffix(".py")
    assert len(path.read_text().splitlines()) <= 10
