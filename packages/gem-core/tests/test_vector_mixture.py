"""Mixtures of environment families."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.vector import Mixture, mix


def test_environments_are_shared_out_by_weight() -> None:
    mixture = mix({"game:A-v0": 2, "game:B-v0": 1})
    assert mixture.assign(6) == ["game:A-v0"] * 4 + ["game:B-v0"] * 2
    assert mixture.assign(4) == ["game:A-v0"] * 3 + ["game:B-v0"]


def test_a_seed_shuffles_always_alike() -> None:
    mixture = mix({"a:A": 1, "a:B": 1})
    assert mixture.assign(32, seed=3) == mixture.assign(32, seed=3)
    assert mixture.assign(32, seed=3) != mixture.assign(32, seed=4)
    assert sorted(mixture.assign(32, seed=3)) == mixture.assign(32)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=8), st.integers(1, 300))
def test_no_family_is_off_by_one_or_more(weights: list[float], num_envs: int) -> None:
    mixture = mix({f"x:{i}": weight for i, weight in enumerate(weights)})
    try:
        ids = mixture.assign(num_envs)
    except ValueError:
        assert any(num_envs * weight < sum(weights) for weight in weights)
        return
    assert len(ids) == num_envs
    for i, weight in enumerate(weights):
        assert abs(ids.count(f"x:{i}") - num_envs * weight / sum(weights)) < 1 + 1e-9


def test_a_family_that_would_get_nothing_is_named() -> None:
    with pytest.raises(ValueError, match="game:B-v0 has weight 1 of 101 and would get none of 4"):
        mix({"game:A-v0": 100, "game:B-v0": 1}).assign(4)


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        ({}, ValueError, "at least one id"),
        ({"a:A": 0}, ValueError, "positive number"),
        ({"a:A": -1}, ValueError, "positive number"),
        ({"a:A": float("nan")}, ValueError, "positive number"),
        ({"a:A": "2"}, TypeError, "ids to numbers"),
        ({"a:A": True}, TypeError, "ids to numbers"),
        ({3: 1}, TypeError, "ids to numbers"),
    ],
)
def test_wrong_weights_are_refused(weights: dict, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        mix(weights)


def test_a_mixture_is_a_value() -> None:
    assert mix({"a:A": 1}) == Mixture((("a:A", 1.0),))
