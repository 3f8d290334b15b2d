"""Seeds: checked where they come in, derived without overlap, never taken from the process.

Neither `random`'s nor numpy's global generator is read or seeded anywhere in GEM (contract E6): every environment
owns its generators, and whatever needs a second stream derives its seed here.
"""

from __future__ import annotations

import hashlib
import operator
import random
from typing import Any

__all__ = ["SEED_BITS", "check_seed", "derive", "draw_seed"]

SEED_BITS = 63
"""Width of drawn and derived seeds: they fit a signed 64-bit column of whatever stores them."""


def check_seed(seed: Any) -> int:
    """Return `seed` as a plain int.

    Args:
        seed: Any integer, numpy's included, 0 or larger.

    Returns:
        The seed as `int`.

    Raises:
        TypeError: `seed` is not an integer.
        ValueError: `seed` is negative (`random.Random` would silently take its absolute value).
    """
    if type(seed) is int and seed >= 0:  # nearly always, and at every reset
        return seed
    try:
        value = operator.index(seed)
    except TypeError:
        value = None
    if value is None or isinstance(seed, bool):
        raise TypeError(f"A seed is an integer or None; got {seed!r} of type {type(seed).__name__}.")
    if value < 0:
        raise ValueError(f"A seed is 0 or larger; got {value}.")
    return value


def derive(seed: int, *path: int | str) -> int:
    """Derive the seed of an independent stream from `seed` and a path of indices or names.

    The same arguments give the same result in every process and under every PYTHONHASHSEED; different paths give
    unrelated streams (a 63-bit BLAKE2b digest), which `seed + i` would not: neighbours would share episodes.

    Args:
        seed: The seed to derive from, 0 or larger.
        path: What the stream is for, such as the index of an environment in a vector.

    Returns:
        An integer in `[0, 2**63)`.
    """
    text = str(check_seed(seed))
    for part in path:
        text += f"/{type(part).__name__}:{part}"
    digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"gem.seed").digest()
    return int.from_bytes(digest, "big") >> (64 - SEED_BITS)


def draw_seed(rng: random.Random) -> int:
    """Draw a seed in `[0, 2**63)` from a generator."""
    return rng.getrandbits(SEED_BITS)
