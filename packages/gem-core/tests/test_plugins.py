"""A plugin that breaks costs one warning; nothing else of it is felt.

Most run in a process of their own, over a folder with packages and metadata as an installer leaves them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem.attempt import collect
from gem.discovery import discover
from gem.errors import DuplicateId, PluginError
from gem.hookspecs import API, hookimpl
from gem.registrar import Stage

HEAD = "from gem import hookimpl\n\ngem_api = 1\n\n\n"
GOOD = HEAD + "@hookimpl\ndef gem_register_envs(register):\n    register('{family}:A-v0', '{module}_env:A')\n"
ENV = """
import gem


class A(gem.Env):
    def step(self, action):
        return "", 1.0, True, False, {"success": True}
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Site:
    """A folder of installed packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []

    def module(self, name: str, source: str) -> None:
        path = self.folder / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")

    def install(self, name: str, source: str | None = None, *, target: str | None = None, version: str = "1.0") -> Path:
        """Install a distribution gem-<name> with one plugin of that name, by default a good one."""
        module = f"t_{name}"
        self.module(module, GOOD.format(family=name, module=module) if source is None else HEAD + source)
        self.module(f"{module}_env", ENV)
        info = self.folder / f"gem_{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: gem-{name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[gem]\n{name} = {target or module}\n")
        self.names.append(name)
        return info

    def run(self, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python over this folder; other plugins of this machine are left out unless asked for."""
        own = ",".join(self.names)
        variables = {**os.environ, "PYTHONPATH": str(self.folder), "GEM_PLUGINS": own, **environment}
        arguments = ["-m", *code.split()] if code.startswith("gem ") else ["-c", textwrap.dedent(code)]
        return subprocess.run(
            [sys.executable, *arguments], env=variables, capture_output=True, text=True, timeout=120, cwd=self.folder
        )

    def reports(self, **environment: str) -> dict[str, dict[str, Any]]:
        """Return what `python -m gem plugins --json` says, by distribution."""
        done = self.run("gem plugins --json", **environment)
        assert done.returncode == 0, done.stderr
        return {report["distribution"]: report for report in json.loads(done.stdout)["plugins"]}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


REGISTER = "@hookimpl\ndef gem_register_envs(register):\n    "

# What can be wrong with a plugin, and what the report has to say.
BROKEN = {
    "raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "imports": ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
    "syntax": ("def f(:", "SyntaxError: invalid syntax (t_syntax.py, line 6)"),
    "inhook": (REGISTER + "raise ValueError('in the hook')", "ValueError: in the hook"),
    "exits": ("raise SystemExit(3)", "it called sys.exit(3) while it loaded"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "hangs": ("import time; time.sleep(60)", "it did not finish loading within 0.3 s (GEM_PLUGIN_TIMEOUT)"),
    "newer": ("gem_api = 2", "it is for plugin API 2, and this gem-core has plugin API 1: install a newer gem-core"),
    "older": (
        "gem_api = '0.9'",
        "it is for plugin API 0.9, and this gem-core has plugin API 1: install a newer gem-older",
    ),
    "silent": (
        "del gem_api",
        "does not say which plugin API it is for, and this gem-core has plugin API 1: add gem_api = 1",
    ),
    "misspelt": (
        REGISTER.replace("envs", "env") + "pass",
        "it has a hook 'gem_register_env', and there is no such hook. Did you mean gem_register_envs",
    ),
    "unmarked": ("def gem_register_envs(register): pass", "its gem_register_envs is not marked, so it would never"),
    "mute": (
        "class Mute(Exception):\n    def __str__(self):\n        raise ValueError('nothing to say')\nraise Mute",
        "Mute",
    ),
    "waits": (REGISTER.replace("def", "async def") + "register('t:A', 'm:C')", "is async or yields"),
    "yields": (REGISTER + "yield register('t:A', 'm:C')", "its gem_register_envs is async or yields"),
    "argument": (REGISTER.replace("register)", "registrar)") + "pass", "{'registrar'} are declared in the hookimpl"),
    "badid": (REGISTER + "register('no-family', 'm:C')", "'no-family' is no id: ids are family:name"),
    "badtarget": (REGISTER + "register('t:A', 'no_colon')", "is 'module:attribute'"),
    "twice": (REGISTER + "register('t:A', 'm:C'); register('t:A', 'm:D')", "gem-twice registers 't:A' twice"),
}


def test_every_way_to_break_is_reported_once_and_hides_nothing(site: Site) -> None:
    for name, (source, _) in BROKEN.items():
        site.install(name, source)
    site.install("aaa")
    site.install("zzz")
    site.install("taken", REGISTER + "register('taken:B', 'm:C'); register('aaa:A-v0', 'm:C')")
    lost = site.install("lost", target="no_such_module_at_all")
    assert lost.is_dir()
    torn = site.install("torn")
    (torn / "entry_points.txt").write_bytes(b"[gem]\n\xff\xfe = broken")
    site.names.remove("torn")
    nameless = site.install("nameless")
    (nameless / "METADATA").unlink()

    code = """
        import warnings, gem
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            print(gem.list_envs())
        for id in ("aaa:A-v0", "nameless:A", "zzz:A"):
            env = gem.make(id)
            env.reset()
            print(env.step("x")[1])
        print(len(caught), {w.category.__name__ for w in caught})
        for w in caught:
            print("W", w.message)
    """
    done = site.run(code, GEM_PLUGIN_TIMEOUT="0.3")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:5] == [
        "['aaa:A-v0', 'nameless:A-v0', 'zzz:A-v0']",
        "1.0",
        "1.0",
        "1.0",
        f"{len(BROKEN) + 3} {{'PluginWarning'}}",
    ]
    for name, (_, cause) in BROKEN.items():
        (line,) = [line for line in lines if f"The plugin {name} (gem-{name} 1.0): " in line]
        assert cause in line

    reports = site.reports(GEM_PLUGIN_TIMEOUT="0.3")
    for name, (_, cause) in BROKEN.items():
        assert (reports[f"gem-{name}"]["status"], cause in reports[f"gem-{name}"]["cause"]) == ("failed", True)
        assert reports[f"gem-{name}"]["traceback"]
    assert "1 / 0" in reports["gem-raises"]["traceback"]
    assert "time.sleep(60)" in reports["gem-hangs"]["traceback"]
    assert "gem-taken registers environment 'aaa:A-v0', which gem-aaa has registered" in reports["gem-taken"]["cause"]
    assert "No module named 'no_such_module_at_all'" in reports["gem-lost"]["cause"]
    assert "metadata cannot be read (UnicodeDecodeError" in reports["gem-torn"]["cause"]
    assert {reports[name]["status"] for name in ("gem-core", "gem-aaa", "gem-zzz", "gem_nameless")} == {"loaded"}
    assert reports["gem-aaa"]["registered"] == {"environment": 1}


def test_an_unknown_id_names_the_plugin_that_failed_and_why(site: Site) -> None:
    site.install("broken", REGISTER + "register('broken:A-v0', 'm:C'); 1 / 0")
    code = """
        import warnings, gem
        warnings.simplefilter("ignore")
        for id in ("broken:A-v0", "other:A"):
            try:
                gem.make(id)
            except KeyError as error:
                print(error)
    """
    first, second = site.run(code).stdout.splitlines()
    assert "It is in a plugin that failed: broken (gem-broken 1.0): ZeroDivisionError: division by zero." in first
    assert "It may be in a plugin that failed: broken (gem-broken 1.0)" in second


def test_where_warnings_are_errors_everything_is_loaded_all_the_same(site: Site) -> None:
    site.install("broken", "1 / 0")
    site.install("good")
    code = """
        import warnings, gem
        warnings.simplefilter("error")
        try:
            gem.make("good:A")
        except UserWarning as warning:
            print("broken" in str(warning))
        print(gem.make("good:A"))
    """
    assert site.run(code).stdout.splitlines() == ["True", "<A good:A-v0>"]


def test_gem_plugins_selects_by_plugin_or_distribution(site: Site) -> None:
    site.install("one")
    site.install("two")
    site.install("broken", "1 / 0")
    for chosen, expected in {
        "one": "one:A-v0",
        "gem_two": "two:A-v0",
        "": "",
        "one, Gem-Two": "one:A-v0 two:A-v0",
    }.items():
        done = site.run("import gem; print(' '.join(gem.list_envs()))", GEM_PLUGINS=chosen)
        assert (done.stdout.strip(), done.stderr) == (expected, "")
    done = site.run("gem envs", GEM_PLUGINS="one,nosuch")
    assert "GEM_PLUGINS names 'nosuch', which is no installed plugin; there are: " in done.stderr
    assert done.stdout == "one:A-v0\n"
    reports = site.reports(GEM_PLUGINS="one")
    assert reports["gem-two"]["status"] == reports["gem-broken"]["status"] == "left out"


def test_an_installed_package_that_is_left_out_is_not_to_be_installed_again(site: Site) -> None:
    site.install("games", HEAD)
    done = site.run("import gem; gem.make('game:Chess')", GEM_PLUGINS="")
    assert "game:Chess comes with gem-games, which GEM_PLUGINS leaves out: add games to it." in done.stderr


def test_a_time_limit_that_is_none_is_reported_and_replaced(site: Site) -> None:
    site.install("good")
    done = site.run("gem envs", GEM_PLUGIN_TIMEOUT="soon")
    assert "GEM_PLUGIN_TIMEOUT is a number of seconds above 0; got 'soon', using 5." in done.stderr
    assert done.stdout == "good:A-v0\n"


def test_nothing_is_loaded_at_import_nor_for_what_is_registered_already(site: Site) -> None:
    site.install("loud", "print('loaded')\n" + GOOD.format(family="loud", module="t_loud").replace(HEAD, ""))
    site.module("mine", ENV)
    code = """
        import gem, mine
        gem.register("mine:A", mine.A)
        print(gem.make("mine:A"))
        print("now")
        gem.make("loud:A")
        gem.make("loud:A")
        gem.list_envs()
    """
    assert site.run(code).stdout.splitlines() == ["<A mine:A>", "now", "loaded"]


def test_a_plugin_may_use_gem_while_it_loads(site: Site) -> None:
    """Its `gem.register` is staged as its own, its `gem.make` sees what there is so far; nothing waits for itself."""
    site.module("seen", ENV)
    site.install("first")
    site.install(
        "nosy",
        "import gem\n"
        "gem.register('nosy:Direct', 'seen:A')\n"
        "print(gem.list_envs(), gem.make('first:A-v0'))\n" + REGISTER + "register('nosy:Hook', 'seen:A')",
    )
    site.install("rude", "import gem\ngem.register('rude:Direct', 'seen:A')\n1 / 0\n")
    done = site.run("import gem; print(gem.list_envs()); print(gem.spec('nosy:Direct').origin)")
    assert done.stdout.splitlines() == [
        "['first:A-v0'] <A first:A-v0>",
        "['first:A-v0', 'nosy:Direct', 'nosy:Hook']",
        "gem-nosy",
    ]


def test_a_package_that_is_being_imported_is_loaded_without_waiting_for_itself(site: Site) -> None:
    site.module("t_pack.__init__", "import gem\nENV = gem.make('pack:A')\n")
    site.module("t_pack.plugin", HEAD + REGISTER + "register('pack:A', 't_pack_env:A')")
    site.install("pack", target="t_pack.plugin")
    site.install("other")
    (site.folder / "t_pack.py").unlink()
    code = """
        import time
        start = time.monotonic()
        import t_pack, gem
        print(t_pack.ENV, gem.list_envs(), time.monotonic() - start < 20)
    """
    done = site.run(code, GEM_PLUGIN_TIMEOUT="30")
    assert done.stdout.strip() == "<A pack:A> ['other:A-v0', 'pack:A'] True", done.stderr


def test_many_threads_that_ask_at_once_load_once(site: Site) -> None:
    site.install(
        "once", "import time; print('loading'); time.sleep(0.2)\n" + REGISTER + "register('once:A', 't_once_env:A')"
    )
    code = """
        import threading, gem
        made = []
        threads = [threading.Thread(target=lambda: made.append(gem.make("once:A"))) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(len(made))
    """
    assert site.run(code).stdout.splitlines() == ["loading", "8"]


def test_what_a_script_registered_first_counts_and_is_said(site: Site) -> None:
    site.install("good")
    site.module("mine", ENV)
    code = """
        import warnings, gem, mine
        gem.register("good:A-v0", mine.A, description="mine")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gem.list_envs()
        print(gem.spec("good:A-v0").description, [str(w.message) for w in caught])
        gem.register("good:A-v0", mine.A, description="again", replace=True)
        print(gem.spec("good:A-v0").description)
        try:
            gem.register("good:A-v0", mine.A)
        except gem.errors.DuplicateId as error:
            print(error)
    """
    lines = site.run(code).stdout.splitlines()
    assert lines[0].startswith("mine ['good:A-v0 was registered by your own code before gem-good, which has it too;")
    assert lines[1] == "again"


def test_a_script_that_wants_a_plugins_id_is_told_who_has_it(site: Site) -> None:
    site.install("good")
    code = "import gem; gem.list_envs(); gem.register('good:A-v0', 'mine:A')"
    done = site.run(code)
    assert "user registers environment 'good:A-v0', which gem-good has registered already" in done.stderr


def test_specs_resolve_in_spawned_workers(site: Site) -> None:
    site.install("good")
    site.module("mine", ENV)
    site.module(
        "script",
        """
        import multiprocessing, gem, mine

        def work(spec):
            env = gem.make(spec)
            env.reset(seed=1)
            return repr(env), env.step("x")[1]

        if __name__ == "__main__":
            gem.register("mine:A", mine.A)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [gem.spec("good:A"), gem.spec("mine:A")]))
        """,
    )
    variables = {**os.environ, "PYTHONPATH": str(site.folder), "GEM_PLUGINS": "good"}
    run = subprocess.run(
        [sys.executable, str(site.folder / "script.py")], env=variables, capture_output=True, text=True, timeout=120
    )
    assert run.stdout.strip() == "[('<A good:A-v0>', 1.0), ('<A mine:A>', 1.0)]", run.stderr


def test_a_forked_child_does_not_wait_for_what_another_thread_was_loading(site: Site) -> None:
    """What was half imported at the fork is lost in the child, as any import is; the rest loads."""
    site.install("slow", "import time; time.sleep(1.5)\n")
    site.install("whole")
    code = """
        import os, threading, time, gem, gem.factory
        thread = threading.Thread(target=gem.list_envs)
        thread.start()
        time.sleep(0.5)
        pid = os.fork()
        if pid == 0:
            print(gem.list_envs(), flush=True)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        thread.join()
    """
    done = site.run(code, GEM_PLUGIN_TIMEOUT="3")
    assert done.stdout.splitlines() == ["['whole:A-v0']", "0"], done.stderr


def test_two_owners_of_the_package_gem_are_reported(site: Site) -> None:
    old = site.folder / "gem_llm-0.1.0.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: gem-llm\nVersion: 0.1.0\n")
    (old / "RECORD").write_text("gem/__init__.py,sha256=x,1\ngem/core.py,sha256=y,2\n")
    done = site.run("gem plugins")
    assert "gem-llm 0.1.0 both own the package gem" in done.stdout
    owners = json.loads(site.run("gem plugins --json").stdout)["owners_of_gem"]
    assert [owner.split()[0] for owner in owners] == ["gem-core", "gem-llm"]
    (old / "RECORD").write_text("gem_llm/__init__.py,sha256=x,1\n")
    assert "warning" not in site.run("gem plugins").stdout


def test_a_damaged_neighbour_that_is_none_of_ours_is_passed_over(site: Site) -> None:
    site.install("good")
    for name, text in {"torn": "no section\n===", "old": "[console_scripts]\nbroken line"}.items():
        info = site.folder / f"{name}-1.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text(text)
    (site.folder / "empty-1.dist-info").mkdir()
    (site.folder / "file-1.dist-info").write_text("not a folder")
    done = site.run("gem envs")
    assert (done.stdout, done.stderr) == ("good:A-v0\n", "1 environment\n")


def test_the_first_of_two_distributions_of_one_name_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, folder in enumerate(("new", "old")):
        (tmp_path / folder).mkdir()
        site = Site(tmp_path / folder)
        site.install("same", version=f"{2 - number}.0")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "new"), str(tmp_path / "old"), *sys.path])
    candidates, _ = discover()
    assert [c.version for c in candidates if c.distribution == "gem-same"] == ["2.0"]


# --- the hooks themselves ------------------------------------------------------------------------------------------


class Plugin:
    gem_api = API


def test_two_functions_on_one_hook_both_count_or_neither() -> None:
    class Two(Plugin):
        @hookimpl(specname="gem_register_envs")
        def gem_register_more(self, register: Any) -> None:
            register("t:A", "m:C")

        @hookimpl
        def gem_register_envs(self, register: Any) -> None:
            register("t:B", "m:C")

    assert {spec.key for spec in collect(Two(), Stage("t")).specs} == {"t:A", "t:B"}


def test_every_kind_is_registered_with_its_origin() -> None:
    class All(Plugin):
        @hookimpl
        def gem_register_envs(self, register: Any) -> None:
            register("t:A", "m:C", description="One.", tags=["x"], reward_range=(0, 1), requires="gem-t[x]", size=3)
            register.family("tf", resolver="m:f", names="m:g", description="Open.")

        @hookimpl
        def gem_register_wrappers(self, register: Any) -> None:
            register("w", "m:W", stage="tool", needs=("tokenizer",), kwargs={"stage": 3})

        @hookimpl
        def gem_register_tools(self, register: Any) -> None:
            register("t", "m:T", timeout=5)

        @hookimpl
        def gem_register_sandboxes(self, register: Any) -> None:
            register("s", "m:S", rank=10, available="m:why", warning="w", capabilities=("files",))

        @hookimpl
        def gem_register_components(self, register: Any) -> None:
            register("grader", "g", "m:G")

    specs = {spec.key: spec for spec in collect(All(), Stage("gem-t")).specs}
    assert set(specs) == {"t:A", "tf", "w", "t", "s", "grader:g"}
    assert {spec.origin for spec in specs.values()} == {"gem-t"}
    env: Any = specs["t:A"]
    assert (env.tags, env.requires, env.reward_range, dict(env.kwargs)) == (
        ("x",),
        ("gem-t[x]",),
        (0.0, 1.0),
        {"size": 3},
    )
    wrapper: Any = specs["w"]
    assert (wrapper.stage, dict(wrapper.kwargs)) == ("tool", {"stage": 3})


def test_a_helper_called_gem_something_is_no_hook_unless_it_is_written_here() -> None:
    class Helped(Plugin):
        gem_helper = staticmethod(json.dumps)

    assert collect(Helped(), Stage("t")).specs == []


def test_a_stage_refuses_a_second_one_of_a_name() -> None:
    stage = Stage("t")
    register: Any = stage.registers()["gem_register_tools"]
    register("a", "m:A")
    with pytest.raises(DuplicateId, match=r"t registers 'a' twice"):
        register("a", "m:A")


@pytest.mark.parametrize("api", [True, "one", (1,), None])
def test_an_api_that_is_no_version_says_so(api: Any) -> None:
    class Odd:
        gem_api = api

    with pytest.raises(PluginError, match=r"gem_api = 1"):
        collect(Odd(), Stage("t"))
