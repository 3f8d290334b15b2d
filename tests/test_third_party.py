"""A stranger's package in a fresh environment, beside everything that can be wrong with its neighbours."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "templates" / "gem-plugin"
HEAD = "from gem import hookimpl\n\ngem_api = 1\n\n\n"
HOOK = "@hookimpl\ndef gem_register_envs(register):\n    "

# The neighbours: what stands in the plugin's module, and what `python -m gem plugins` has to say about it.
NEIGHBOURS = {
    "raises": ("raise ImportError('libfoo.so.1 is missing')", "ImportError: libfoo.so.1 is missing"),
    "hook": (HOOK + "raise RuntimeError('no licence')", "RuntimeError: no licence"),
    "exits": ("import sys\nsys.exit(1)", "it called sys.exit(1) while it loaded"),
    "hangs": ("import time\ntime.sleep(3600)", "it did not finish loading within 1 s (GEM_PLUGIN_TIMEOUT)"),
    "taken": (
        HOOK + "register('taken:A-v0', 'm:A')\n    register('game:Sokoban-v0', 'm:A')",
        "gem-taken registers environment 'game:Sokoban-v0', which gem-games has registered already",
    ),
    "future": ("gem_api = 2", "it is for plugin API 2, and this gem-core has plugin API 1: install a newer gem-core"),
    "misspelt": (
        "@hookimpl\ndef gem_register_env(register):\n    pass",
        "it has a hook 'gem_register_env', and there is no such hook. Did you mean gem_register_envs",
    ),
}


def run(*command: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a command that has to work, away from the repository and from this environment."""
    names = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "GEM_PLUGINS")
    variables = {name: value for name, value in os.environ.items() if name not in names}
    variables.update(more.pop("env", {}))
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=900, env=variables, check=False, **more
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of a fresh environment with gem-core, gem-games and the template, all from wheels."""
    folder = tmp_path_factory.mktemp("third_party")
    # With the backend at hand, nothing has to be fetched to build.
    isolation = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    sources = []
    for source in (ROOT / "packages" / "gem-core", ROOT / "packages" / "gem-games", TEMPLATE):
        sources.append(folder / "sources" / source.name)
        shutil.copytree(source, sources[-1], ignore=shutil.ignore_patterns("tests", "__pycache__", ".*"))
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *isolation, "-w", folder / "wheels", *sources)
    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "pytest", *sorted((folder / "wheels").glob("*.whl")))
    return python


@pytest.fixture(scope="module")
def crowded(python: Path) -> Path:
    """Return that environment once the neighbours have moved in."""
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
    for name, (source, _) in NEIGHBOURS.items():
        (site / f"gem_{name}.py").write_text(HEAD + source + "\n", encoding="utf-8")
        info = site / f"gem_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: gem-{name}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[gem]\n{name} = gem_{name}\n", encoding="utf-8")
    for name, entry_points in {"gem_torn": b"[gem]\n\xff\xfe\x00", "gem_halved": b"[gem]\nhalved"}.items():
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_bytes(entry_points)
    return python


def test_the_templates_own_tests_pass(python: Path, tmp_path: Path) -> None:
    shutil.copytree(TEMPLATE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    done = run(python, "-m", "pytest", "-q", "-W", "error", "tests", cwd=tmp_path)
    assert "5 passed" in done.stdout


def test_every_game_plays_from_the_wheels_in_a_bare_locale(python: Path, tmp_path: Path) -> None:
    """PLUG-09: word lists and clues are in the wheel, are read as UTF-8, and no extra is needed."""
    code = """
        import gem
        ids = gem.list_envs("game:*")
        for id in ids:
            env = gem.make(id, seed=1)
            assert env.reset()[0]
            assert "can be read" not in env.step(env.sample_random_action())[0]
        print(len(ids))
    """
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run(
        python, "-X", "warn_default_encoding", "-W", "error", "-c", textwrap.dedent(code), cwd=tmp_path, env=bare
    )
    assert int(done.stdout) > 40


def test_everything_else_works_beside_broken_neighbours(crowded: Path, tmp_path: Path) -> None:
    code = """
        import warnings
        import gem
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ids = gem.list_envs()
        assert "hello:Greet-v0" in ids and "game:Sokoban-v0" in ids and "taken:A-v0" not in ids, ids
        for id in ("hello:Greet-v0", "game:GuessTheNumber-v0"):
            env = gem.make(id, seed=1)
            env.reset()
            over = False
            while not over:
                *_, terminated, truncated, info = env.step(env.oracle_action())
                over = terminated or truncated
            assert info["success"], (id, info)
        assert gem.make("game:Sokoban-v0").unwrapped.spec.origin == "gem-games"
        vec = gem.make_vec(["hello:Greet-v0", "game:Sokoban-v0"], num_envs=4, wrappers="concat", seed=1)
        vec.reset()
        vec.close()
        print(len(caught), {w.category.__name__ for w in caught})
    """
    done = run(crowded, "-c", textwrap.dedent(code), cwd=tmp_path, env={"GEM_PLUGIN_TIMEOUT": "1"})
    assert done.stdout.strip() == f"{len(NEIGHBOURS) + 2} {{'PluginWarning'}}"


def test_the_report_tells_the_truth(crowded: Path, tmp_path: Path) -> None:
    done = run(crowded, "-m", "gem", "plugins", "--json", cwd=tmp_path, env={"GEM_PLUGIN_TIMEOUT": "1"})
    found = json.loads(done.stdout)
    plugins = {plugin["distribution"]: plugin for plugin in found["plugins"]}
    for name, (_, cause) in NEIGHBOURS.items():
        plugin = plugins[f"gem-{name}"]
        assert plugin["status"] == "failed"
        assert cause in plugin["cause"]
        assert plugin["traceback"]
        assert f"The plugin {name} (gem-{name} 1.0): " in done.stderr
    for name in ("gem_torn", "gem_halved"):
        assert "its metadata cannot be read" in plugins[name]["cause"]
    assert {name for name, plugin in plugins.items() if plugin["status"] == "loaded"} == {
        "gem-core",
        "gem-games",
        "gem-hello",
    }
    assert plugins["gem-hello"]["registered"] == {"environment": 2, "tool": 1, "wrapper": 1}
    assert [owner.split()[0] for owner in found["owners_of_gem"]] == ["gem-core"]


def test_commands_and_errors_work_beside_broken_neighbours(crowded: Path, tmp_path: Path) -> None:
    quick = {"GEM_PLUGIN_TIMEOUT": "1"}
    assert "usage" in run(crowded, "-m", "gem", "--help", cwd=tmp_path).stdout
    ids = [entry["id"] for entry in json.loads(run(crowded, "-m", "gem", "envs", "--json", env=quick).stdout)]
    assert "hello:Greet-v0-hard" in ids
    assert "ok      hello:Greet-v0\n" in run(crowded, "-m", "gem", "check", "hello:Greet-v0", env=quick).stdout
    chosen = run(crowded, "-m", "gem", "envs", cwd=tmp_path, env={"GEM_PLUGINS": "hello"})
    assert "The plugin " not in chosen.stderr
    assert [line.split()[0] for line in chosen.stdout.splitlines()] == ["hello:Greet-v0", "hello:Greet-v0-hard"]
    code = """
        import gem, warnings
        warnings.simplefilter("ignore")
        try:
            gem.make("taken:A-v0")
        except KeyError as error:
            print(error)
    """
    done = run(crowded, "-c", textwrap.dedent(code), cwd=tmp_path, env=quick)
    assert "It is in a plugin that failed: taken (gem-taken 1.0): gem-taken registers" in done.stdout
