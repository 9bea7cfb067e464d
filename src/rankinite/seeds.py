"""Random numbers: always from a seed or a generator that is passed in."""

from __future__ import annotations

import numpy as np

from rankinite.errors import ArgumentError


def generator(seed: int | np.random.Generator, *parts: int) -> np.random.Generator:
    """The generator given, or the one of a seed; each of its ``parts`` has random numbers of its own."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed < 0:
        raise ArgumentError("must be a whole number from 0 on", setting="seed", value=seed)
    return np.random.default_rng([seed, *parts] if parts else seed)
