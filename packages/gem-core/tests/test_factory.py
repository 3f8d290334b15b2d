"""Register, make and list: arguments are never shared, and each error says what to do."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.core import Env
from gem.errors import (
    CapabilityError,
    DuplicateId,
    EntryPointError,
    Fault,
    InvalidId,
    MissingDependency,
    PluginError,
    PluginWarning,
    ResetNeeded,
    UnknownId,
)
from gem.plugins import catalog, ensure_loaded
from gem.registrar import Stage
from gem.sandbox import ExecResult, Sandbox
from gem.seeding import derive
from gem.wrappers.checks import EnvChecks


class Sized(Env):
    """Its arguments are its observation."""

    def __init__(self, size: int = 1, bonus: float = 0.0, words: list[str] | None = None) -> None:
        self.size, self.bonus, self.words = size, bonus, [] if words is None else words

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        _, info = super().reset(seed=seed, **options)
        return f"{self.size} {self.rng.random()}", info

    def step(self, action: Any) -> Any:
        return "", self.bonus, True, False, {"success": True}


class Bare(Env):
    """Has no constructor."""

    def step(self, action: Any) -> Any:
        return "", 0.0, True, False, {}


class Handing(Sized):
    """Hands its other arguments up."""

    def __init__(self, colour: str = "red", **kwargs: Any) -> None:
        super().__init__(**kwargs)


class Wants(Env):
    """Imports something when it is constructed."""

    def __init__(self) -> None:
        import no_such_package_here  # noqa: F401

    def step(self, action: Any) -> Any:
        raise NotImplementedError


class Box(Sandbox):
    """A sandbox that declares what it is told to."""

    def __init__(self, name: str = "box", capabilities: tuple[str, ...] = (), fault: str = "") -> None:
        if fault:
            raise Fault("sandbox", fault)
        self.name, self.capabilities = name, frozenset(capabilities)
        self.closed = False

    async def arun(self, code: str, **options: Any) -> ExecResult:
        return ExecResult(code, "", 0, "ok")

    async def aexec(self, argv: Any, **options: Any) -> ExecResult:
        return ExecResult("", "", 0, "ok")

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def _own_registrations() -> Iterator[None]:
    """Leave the default catalog as it was."""
    ensure_loaded()
    registries = (catalog.envs, catalog.families, catalog.tools, catalog.sandboxes, catalog.components)
    kept = [dict(registry._specs) for registry in registries]
    yield
    for registry, specs in zip(registries, kept, strict=True):
        registry._specs, registry._index = specs, None


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what writes a module that can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names: list[str] = []

    def write(name: str, source: str) -> str:
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        names.append(name)
        return name

    yield write
    for name in names:
        sys.modules.pop(name, None)


# --- arguments -----------------------------------------------------------------------------------------------------


def test_make_uses_registered_arguments_and_its_own_beat_them() -> None:
    gem.register("t:Sized", Sized, size=3)
    assert gem.make("t:Sized").size == 3
    assert gem.make("t:Sized", size=5).size == 5
    assert gem.make("t:Sized").size == 3


def test_arguments_can_be_registered_as_a_dict() -> None:
    gem.register("t:Dict", Sized, kwargs={"size": 3}, bonus=0.5)
    env = gem.make("t:Dict")
    assert (env.size, env.bonus) == (3, 0.5)
    with pytest.raises(TypeError, match=r"t:Twice gets size twice"):
        gem.register("t:Twice", Sized, kwargs={"size": 3}, size=4)


def test_registered_arguments_are_shared_by_nobody() -> None:
    words = ["a"]
    gem.register("t:Words", Sized, words=words)
    words.append("later")
    first, second = gem.make("t:Words"), gem.make("t:Words")
    first.words.append("b")
    first.unwrapped.spec.kwargs["words"].append("c")
    gem.spec("t:Words").kwargs["words"].append("d")
    assert (first.words, second.words, gem.make("t:Words").words) == (["a", "b"], ["a"], ["a"])


def test_settings_survive_a_seeded_reset() -> None:
    gem.register("t:Bonus", Sized)
    env = gem.make("t:Bonus", bonus=0.5)
    env.reset(seed=42)
    assert env.step("x")[1] == 0.5


def test_the_spec_of_an_env_makes_it_again() -> None:
    gem.register("t:Again", Sized, size=3)
    env = gem.make("t:Again", bonus=0.5, seed=1)
    spec = env.unwrapped.spec
    assert dict(spec.kwargs) == {"size": 3, "bonus": 0.5}
    again = gem.make(pickle.loads(pickle.dumps(spec)), seed=1)
    assert (again.size, again.bonus) == (3, 0.5)
    assert again.reset() == env.reset()


@pytest.mark.parametrize("name", ["seed", "wrappers", "tokenizer", "checks"])
def test_what_make_takes_itself_cannot_be_registered(name: str) -> None:
    with pytest.raises(ValueError, match=rf"t:R cannot have {name} as a registered argument.*data_seed"):
        gem.register("t:R", Sized, kwargs={name: 1})


def test_an_unknown_argument_names_the_known_ones() -> None:
    gem.register("t:Sized", Sized)
    with pytest.raises(
        TypeError, match=r"t:Sized has no argument sise; it takes size, bonus, words\. Did you mean size\?"
    ):
        gem.make("t:Sized", sise=3)
    gem.register("t:Bare", Bare)
    with pytest.raises(TypeError, match=r"t:Bare has no argument size; it takes none"):
        gem.make("t:Bare", size=3)
    gem.register("t:Handing", Handing)
    assert gem.make("t:Handing", size=3).size == 3
    with pytest.raises(TypeError, match=r"t:Handing has no argument sise; it takes colour, size, bonus, words"):
        gem.make("t:Handing", sise=3)


def test_an_error_of_the_constructor_itself_comes_through() -> None:
    def broken(size: int) -> Env:
        raise TypeError("my own fault")

    gem.register("t:Broken", broken)
    with pytest.raises(TypeError, match=r"^my own fault$"):
        gem.make("t:Broken", size=3)


# --- seeds, checks, entry points ------------------------------------------------------------------------------------


def test_make_seeds_the_first_reset_alone() -> None:
    gem.register("t:Sized", Sized)
    env = gem.make("t:Sized", seed=7)
    first, second = env.reset(), env.reset()
    assert first[1]["seed"] == 7
    assert second != first
    assert gem.make("t:Sized", seed=7).reset(seed=8)[1]["seed"] == 8
    with pytest.raises(ValueError, match=r"A seed is 0 or larger"):
        gem.make("t:Sized", seed=-1)


def test_the_checks_are_on_unless_left_out() -> None:
    gem.register("t:Sized", Sized)
    with pytest.raises(ResetNeeded):
        gem.make("t:Sized").step("x")
    env = gem.make("t:Sized", checks=False)
    assert type(env) is Sized


def test_an_entry_point_may_be_a_function_and_may_call_make() -> None:
    gem.register("t:Inner", Sized, size=3)
    gem.register("t:Function", lambda size=4: gem.make("t:Inner", size=size))
    env = gem.make("t:Function")
    assert (env.size, env.unwrapped.spec.id) == (4, "t:Function")
    assert isinstance(env, EnvChecks)
    assert not isinstance(env.env, EnvChecks)
    gem.register("t:Nothing", lambda: None)
    with pytest.raises(TypeError, match=r"returned None, which is no gem.Env"):
        gem.make("t:Nothing")


# --- three different errors -----------------------------------------------------------------------------------------


def test_an_unknown_id_shows_close_matches_versions_or_families() -> None:
    gem.register("t:GuessTheNumber-v0", Sized)
    with pytest.raises(UnknownId, match=r"no environment 't:GuesTheNumber-v0'\. Did you mean t:GuessTheNumber-v0"):
        gem.make("t:GuesTheNumber-v0")
    with pytest.raises(UnknownId, match=r"Known versions: t:GuessTheNumber-v0\."):
        gem.make("t:GuessTheNumber-v9")
    with pytest.raises(UnknownId, match=r"no environment 'nosuch:thing'\. Families: .*\bt\b.*python -m gem envs"):
        gem.make("nosuch:thing")
    with pytest.raises(KeyError):
        gem.make("nosuch:thing")


def test_an_id_of_a_known_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gem.lookup.reports", list)
    with pytest.raises(UnknownId, match=r"math:GSM8K comes with gem-math: pip install gem-math"):
        gem.make("math:GSM8K")
    with pytest.raises(UnknownId, match=r"eval:2Wiki comes with gem-search: pip install gem-search"):
        gem.spec("eval:2Wiki")
    with pytest.raises(UnknownId, match=r"python_code comes with gem-tools: pip install gem-tools"):
        gem.make_tool("python_code")


def test_what_is_no_id_says_so_and_guesses() -> None:
    gem.register("t:GuessTheNumber-v0", Sized)
    with pytest.raises(InvalidId, match=r"'game-v0' is no id: ids are family:name"):
        gem.make("game-v0")
    with pytest.raises(InvalidId, match=r"'t_GuessTheNumber-v0' is no id.*Did you mean .*t:GuessTheNumber-v0"):
        gem.make("t_GuessTheNumber-v0")


def test_ids_are_forgiving() -> None:
    gem.register("t:my-env-v1", Sized, size=2)
    for id in ("t:my-env-v1", " t:my-env ", "t:my_env", "t:my_env_v1"):
        assert gem.make(id).unwrapped.spec.id == "t:my-env-v1"


def test_a_missing_dependency_names_itself_and_the_extra_and_keeps_the_cause(module: Any) -> None:
    name = module("t_needs", "import no_such_package_here\n\nclass A: ...\n")
    gem.register("t:Needs", f"{name}:A", requires=("gem-t[extra]",))
    with pytest.raises(
        MissingDependency, match=r"t:Needs needs the module 'no_such_package_here'.*pip install 'gem-t\[extra\]'"
    ) as caught:
        gem.make("t:Needs")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    assert isinstance(caught.value, ImportError)


def test_an_import_in_the_constructor_is_a_missing_dependency_too() -> None:
    gem.register("t:Wants", Wants)
    with pytest.raises(MissingDependency, match=r"t:Wants needs the module 'no_such_package_here'"):
        gem.make("t:Wants")


def test_a_name_that_a_dependency_lacks_is_a_missing_dependency(module: Any) -> None:
    name = module("t_old", "from json import no_such_function\n")
    gem.register("t:Old", f"{name}:A")
    with pytest.raises(
        MissingDependency, match=r"t:Old needs the module 'json'.*no_such_function.*a version that fits"
    ):
        gem.make("t:Old")


def test_an_absent_class_or_module_is_an_entry_point_error(module: Any) -> None:
    name = module("t_absent", "class Sokoban: ...\n")
    gem.register("t:Class", f"{name}:Sokobam")
    with pytest.raises(EntryPointError, match=r"\(found at .*t_absent\.py'\) has no 'Sokobam'\. Did you mean Sokoban"):
        gem.make("t:Class")
    gem.register("t:Module", "t_no_such_module.env:A")
    with pytest.raises(EntryPointError, match=r"there is no module 't_no_such_module'"):
        gem.make("t:Module")
    gem.register("t:Submodule", "json.no_such_part:A")
    with pytest.raises(EntryPointError, match=r"there is no module 'json.no_such_part'"):
        gem.make("t:Submodule")


def test_another_error_in_an_env_module_comes_through(module: Any) -> None:
    name = module("t_zero", "1 / 0\n")
    gem.register("t:Zero", f"{name}:A")
    with pytest.raises(ZeroDivisionError):
        gem.make("t:Zero")


def test_a_class_imported_under_two_names_is_two_envs_that_both_pay(module: Any) -> None:
    """PLUG-11: nothing compares classes that a second import makes different."""
    source = "import gem\n\n\nclass A(gem.Env):\n    def step(self, action):\n        return '', 1.0, True, False, {}\n"
    first, second = module("t_pkg_mod", source), module("t_mod", source)
    gem.register("t:First", f"{first}:A")
    gem.register("t:Second", f"{second}:A")
    envs = [gem.make("t:First"), gem.make("t:Second")]
    assert type(envs[0].unwrapped) is not type(envs[1].unwrapped)
    for env in envs:
        env.reset(seed=1)
        assert env.step("x")[1:3] == (1.0, True)


# --- registering and listing ----------------------------------------------------------------------------------------


def test_registering_again_is_refused_unless_it_is_the_same_or_replaces() -> None:
    gem.register("t:Sized", Sized, size=3)
    gem.register("t:Sized", Sized, size=3)
    with pytest.raises(DuplicateId, match=r"user registers environment 't:Sized' twice"):
        gem.register("t:Sized", Sized, size=4)
    gem.register("t:Sized", Sized, size=4, replace=True)
    assert gem.make("t:Sized").size == 4


def test_a_listing_imports_no_environment(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = module("t_loud", "print('imported')\nraise SystemExit\n")
    gem.register("t:Loud", f"{name}:A", description="Makes noise.")
    assert "t:Loud" in gem.list_envs()
    assert gem.spec("t:Loud").description == "Makes noise."
    gem.print_envs("t:Lou*")
    assert capsys.readouterr().out == "t:Loud  Makes noise.\n"
    assert name not in sys.modules


def test_patterns_are_shell_patterns_or_parts() -> None:
    gem.register("t:Ab-v0", Sized)
    gem.register("t:Ac-v0", Sized)
    assert gem.list_envs("t:a?-*") == ["t:Ab-v0", "t:Ac-v0"]
    assert gem.list_envs("T:AB") == ["t:Ab-v0"]
    assert gem.list_envs("t:nothing") == []


# --- open families --------------------------------------------------------------------------------------------------


@pytest.fixture
def family(module: Any, tmp_path: Path) -> str:
    """Register an open family whose resolver says when it is imported."""
    module(
        "t_resolver",
        "import gem\n"
        "def resolve(name):\n"
        "    if name == 'alien':\n"
        "        return gem.EnvSpec('other:alien', 'm:C')\n"
        "    if name.startswith('n-') or name == 'free':\n"
        "        return gem.EnvSpec(f'f:{name}', 't_family:Sized', kwargs={'size': len(name)})\n",
    )
    module(
        "t_family",
        "import gem\n"
        "class Sized(gem.Env):\n"
        "    def __init__(self, size=1):\n"
        "        self.size = size\n"
        "    def step(self, action):\n"
        "        raise NotImplementedError\n",
    )
    names = tmp_path / "names.txt"
    names.write_text("# all of them\nn-one\nn-zwölf\n\n", encoding="utf-8")
    stage = Stage("gem-t")
    stage.registers()["gem_register_envs"].family("f", "t_resolver:resolve", names, "Open.")  # type: ignore[attr-defined]
    catalog.commit(stage.specs)
    return "f"


def test_an_open_family_lists_names_without_its_resolver(family: str) -> None:
    assert gem.list_envs("f:*") == ["f:n-one", "f:n-zwölf"]
    with pytest.raises(UnknownId):
        gem.make("t:nothing")
    assert "t_resolver" not in sys.modules


def test_an_open_family_makes_what_its_resolver_knows(family: str) -> None:
    assert gem.make("f:n-one").size == 5
    assert gem.make("f:n_one").unwrapped.spec.id == "f:n-one"
    assert gem.make("f:free", size=9).size == 9  # not listed, yet known
    with pytest.raises(UnknownId, match=r"no environment 'f:n0ne'. Did you mean f:n-one"):
        gem.make("f:n0ne")
    with pytest.raises(PluginError, match=r"returned EnvSpec.*whose id begins with 'f:'"):
        gem.make("f:alien")


def test_names_may_come_from_a_function_or_a_packages_own_data(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module("t_names", "def names():\n    return ['x', 'y']\n")
    (tmp_path / "t_package").mkdir()
    (tmp_path / "t_package" / "__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / "t_package" / "names.txt").write_text("z\n")
    stage = Stage("gem-t")
    register: Any = stage.registers()["gem_register_envs"]
    register.family("fn", "t_names:resolve", "t_names:names")
    register.family("data", "t_names:resolve", "t_package/names.txt")
    catalog.commit(stage.specs)
    assert gem.list_envs("fn:*") == ["fn:x", "fn:y"]
    assert gem.list_envs("data:*") == ["data:z"]


def test_a_family_that_cannot_be_listed_is_warned_of_once_and_hides_nothing(module: Any) -> None:
    module("t_broken", "def names():\n    raise OSError('no network')\ndef resolve(name):\n    return None\n")
    stage = Stage("gem-t")
    stage.registers()["gem_register_envs"].family("bad", "t_broken:resolve", "t_broken:names")  # type: ignore[attr-defined]
    catalog.commit(stage.specs)
    gem.register("t:A", Sized)
    with pytest.warns(PluginWarning, match=r"family 'bad' of gem-t cannot be listed \(OSError: no network\)"):
        assert "t:A" in gem.list_envs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "t:A" in gem.list_envs()
        with pytest.raises(UnknownId, match="Did you mean t:A"):
            gem.make("t:AA")
        with pytest.raises(UnknownId):
            gem.make("bad:x")


# --- vectors --------------------------------------------------------------------------------------------------------


def test_a_list_is_repeated_in_turn_and_left_alone() -> None:
    gem.register("t:A", Sized, size=1)
    gem.register("t:B", Sized, size=2)
    ids = ["t:A", "t:B"]
    for _ in range(2):
        with_list = gem.make_vec(ids, num_envs=5)
        assert [spec.id for spec in with_list.specs if spec] == ["t:A", "t:B", "t:A", "t:B", "t:A"]
    assert ids == ["t:A", "t:B"]
    assert gem.make_vec(ids).num_envs == 2
    assert gem.make_vec("t:A").num_envs == 1
    assert gem.make_vec(gem.spec("t:A"), num_envs=3).num_envs == 3
    with pytest.raises(ValueError, match=r"num_envs is a number of environments, 1 or more; got 0"):
        gem.make_vec(ids, num_envs=0)
    with pytest.raises(ValueError, match=r"at least one id"):
        gem.make_vec([])


def test_a_mixture_is_spread_by_weight() -> None:
    from gem.vector import mix

    gem.register("t:A", Sized)
    gem.register("t:B", Sized)
    vec = gem.make_vec(mix({"t:A": 3, "t:B": 1}), num_envs=8)
    assert [spec.id for spec in vec.specs if spec].count("t:A") == 6


def test_arguments_of_one_env_beat_those_of_all() -> None:
    gem.register("t:A", Sized, size=1)
    vec = gem.make_vec(
        "t:A",
        num_envs=4,
        bonus=0.5,
        vec_kwargs=[{}, {"size": 2}, {"size": 3}, {}],
        env2_kwargs={"size": 4, "bonus": 1.0},
    )
    assert [(env().size, env().bonus) for env in vec.env_fns] == [(1, 0.5), (2, 0.5), (4, 1.0), (1, 0.5)]
    with pytest.raises(ValueError, match=r"vec_kwargs has one dict per environment; got 1 for 4"):
        gem.make_vec(["t:A", "t:A"], num_envs=4, vec_kwargs=[{}])
    with pytest.raises(ValueError, match=r"env4_kwargs is for an environment that does not exist: there are 4"):
        gem.make_vec("t:A", num_envs=4, env4_kwargs={})


def test_arguments_are_not_shared_between_the_envs_of_a_vector_nor_with_replacements() -> None:
    gem.register("t:A", Sized)
    words = ["a"]
    vec = gem.make_vec("t:A", num_envs=2, words=words)
    envs = [vec.env_fns[0](), vec.env_fns[1](), vec.env_fns[0]()]
    for env in envs:
        env.words.append("b")  # type: ignore[attr-defined]
    assert [env.words for env in envs] == [["a", "b"]] * 3  # type: ignore[attr-defined]
    assert words == ["a"]


def test_env_fns_pickle_and_seeds_are_derived() -> None:
    gem.register("t:A", Sized)
    vec = gem.make_vec("t:A", num_envs=3, seed=5)
    _, infos = vec.reset()
    assert [info["seed"] for info in infos] == [derive(5, i) for i in range(3)]
    spec = gem.EnvSpec("t:Away", "gem.dataset:DatasetEnv", kwargs={"dataset": [{"problem": "1+1", "answer": "2"}]})
    env_fn = gem.make_vec(spec).env_fns[0]
    assert pickle.loads(pickle.dumps(env_fn)) == env_fn
    assert copy.deepcopy(env_fn)().unwrapped.spec == env_fn().unwrapped.spec


def test_an_unknown_argument_in_a_vector_names_the_known_ones() -> None:
    gem.register("t:A", Sized)
    with pytest.raises(TypeError, match=r"t:A has no argument sise"):
        gem.make_vec("t:A", num_envs=2, sise=1)


# --- tools, sandboxes, components -----------------------------------------------------------------------------------


def test_components_are_made_by_kind_and_name() -> None:
    stage = Stage("gem-t")
    stage.registers()["gem_register_components"]("grader", "strict", "fractions:Fraction", numerator=1)
    catalog.commit(stage.specs)
    assert gem.make_component("grader", "strict", denominator=2) == pytest.approx(0.5)
    with pytest.raises(UnknownId, match=r"no component 'grader:strickt'. Did you mean grader:strict"):
        gem.make_component("grader", "strickt")


def register_backends(*specs: tuple[str, dict[str, Any]]) -> None:
    stage = Stage("gem-t")
    register = stage.registers()["gem_register_sandboxes"]
    for rank, (name, options) in enumerate(specs):
        register(name, Box, rank=rank, **options)
    catalog.sandboxes._specs.clear()
    catalog.commit(stage.specs)


def test_the_first_usable_sandbox_is_taken_and_warns_of_what_it_lacks() -> None:
    register_backends(
        ("docker", {"available": lambda: "no engine answers: start one"}),
        ("bubblewrap", {"kwargs": {"fault": "no user namespaces"}}),
        ("process", {"warning": "it shares the kernel", "kwargs": {"capabilities": ("files",)}}),
    )
    with pytest.warns(UserWarning, match=r"process is the sandbox in use: it shares the kernel"):
        sandbox = gem.make_sandbox()
    assert sandbox.capabilities == {"files"}
    with pytest.raises(Fault, match=r"docker cannot be used here: no engine answers: start one"):
        gem.make_sandbox("docker")
    with pytest.raises(
        CapabilityError, match=r"'no_network'.*Not usable here: docker: no engine answers: start one; bubble"
    ):
        gem.make_sandbox(requires=["no_network"])


def test_a_sandbox_that_declares_too_little_is_closed_and_the_next_one_tried() -> None:
    made: list[Box] = []

    def small(**options: Any) -> Box:
        made.append(Box("small", **options))
        return made[-1]

    stage = Stage("gem-t")
    register = stage.registers()["gem_register_sandboxes"]
    register("small", small, rank=1)
    register("large", Box, rank=2, kwargs={"name": "large", "capabilities": ("files", "bash")})
    catalog.sandboxes._specs.clear()
    catalog.commit(stage.specs)
    assert gem.make_sandbox(requires="files").name == "large"
    assert made[0].closed


def test_no_sandbox_at_all_is_a_fault_and_none_installed_says_what_to_install() -> None:
    register_backends(("docker", {"available": lambda: "no engine"}))
    with pytest.raises(Fault, match=r"no sandbox can be had here. docker: no engine"):
        gem.make_sandbox()
    catalog.sandboxes._specs.clear()
    with pytest.raises(MissingDependency, match=r"pip install gem-tools"):
        gem.make_sandbox()
