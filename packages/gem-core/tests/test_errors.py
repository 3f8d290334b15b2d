"""The exception tree: drawn, caught by the fitting builtin, picklable."""

from __future__ import annotations

import pickle

import pytest

from gem import errors


def test_every_exception_is_a_gem_error_and_stands_in_the_drawing() -> None:
    assert errors.__doc__ is not None
    for name in errors.__all__:
        cls = getattr(errors, name)
        if name != "PluginWarning":
            assert issubclass(cls, errors.GemError)
            assert name in errors.__doc__


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.UnknownId("nothing is called x"), KeyError),
        (errors.MissingDependency("pip install x"), ImportError),
        (errors.Fault("sandbox", "engine gone"), RuntimeError),
        (errors.VectorEnvError("env 2", (2,)), RuntimeError),
        (errors.ContractError("E9", "no error"), AssertionError),
    ],
)
def test_errors_are_caught_by_the_builtin_and_survive_pickling(error: Exception, builtin: type[Exception]) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, builtin)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_an_unknown_id_reads_as_written_and_not_as_a_repr() -> None:
    assert str(errors.UnknownId("no env 'x'")) == "no env 'x'"


def test_a_fault_knows_its_kinds() -> None:
    assert str(errors.Fault("server", "503")) == "server: 503"
    with pytest.raises(ValueError, match=r"sandbox, server, grader.*'disk'"):
        errors.Fault("disk")
