"""Seeds: checked, derived without overlap, the same in every process."""

from __future__ import annotations

import numpy as np
import pytest

from gem.seeding import check_seed, derive


def test_derived_streams_differ_by_seed_and_path() -> None:
    seeds = {derive(seed, i) for seed in range(50) for i in range(50)}
    assert len(seeds) == 2500
    assert derive(1, "2") != derive(1, 2)
    assert derive(1, 2, 3) != derive(1, 23)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_derivation_never_changes() -> None:
    assert derive(42, 0) == 1481490325383171077, "recorded runs could not be repeated"


def test_any_integer_type_is_a_seed() -> None:
    assert check_seed(np.int64(5)) == 5
    assert type(check_seed(np.uint8(5))) is int


@pytest.mark.parametrize("seed", [-1, 2.0, "3", None, True])
def test_what_is_no_seed_is_refused_with_what_was_seen(seed: object) -> None:
    with pytest.raises((TypeError, ValueError), match=str(seed)):
        check_seed(seed)
