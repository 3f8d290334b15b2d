"""Several families of environments in one vector, by weight."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from gem.seeding import derive

__all__ = ["Mixture", "mix"]


@dataclass(frozen=True)
class Mixture:
    """Environment ids and how much of a vector each gets.

    Attributes:
        weights: `(id, weight)` pairs; only the ratios of the weights matter.
    """

    weights: tuple[tuple[str, float], ...]

    def assign(self, num_envs: int, seed: int | None = None) -> list[str]:
        """Return an id for each environment, as close to the weights as whole numbers allow.

        What is left after rounding down goes to the largest remainders; ties go to the first.

        Args:
            num_envs: How many environments there are.
            seed: None leaves the ids in the order of the mixture; an integer shuffles them, always alike.

        Raises:
            ValueError: There are too few environments for an id with a weight to get one.
        """
        total = math.fsum(weight for _, weight in self.weights)
        shares = [num_envs * weight / total for _, weight in self.weights]
        counts = [math.floor(share) for share in shares]
        by_remainder = sorted(range(len(shares)), key=lambda place: counts[place] - shares[place])
        for place in by_remainder[: num_envs - sum(counts)]:
            counts[place] += 1
        for (env_id, weight), count in zip(self.weights, counts, strict=True):
            if not count:
                raise ValueError(
                    f"{env_id} has weight {weight:g} of {total:g} and would get none of {num_envs} environments; "
                    "give num_envs a larger number, or leave the id out."
                )
        ids = [env_id for (env_id, _), count in zip(self.weights, counts, strict=True) for _ in range(count)]
        if seed is not None:
            random.Random(derive(seed, "mixture")).shuffle(ids)
        return ids


def mix(weights: Mapping[str, float]) -> Mixture:
    """Make a mixture of environments: `mix({"game:Sokoban-v0": 2, "game:Minesweeper-v0": 1})`.

    Args:
        weights: A positive weight per id.

    Raises:
        TypeError: An id is not text, or a weight is not a number.
        ValueError: There is no id, or a weight is not positive and finite.
    """
    if not weights:
        raise ValueError("A mixture needs at least one id.")
    for env_id, weight in weights.items():
        if type(env_id) is not str or type(weight) not in (int, float):
            raise TypeError(f"A mixture maps ids to numbers; got {env_id!r}: {weight!r}.")
        if not (math.isfinite(weight) and weight > 0):
            raise ValueError(
                f"The weight of {env_id} is a positive number; got {weight}. To leave an id out, do not name it."
            )
    return Mixture(tuple((env_id, float(weight)) for env_id, weight in weights.items()))
