"""Categories of artificial worlds: levels of uneven frequency, each with an effect on relevance of its own.

A categorical feature with L levels adds √(1 − i)·a[level] + √i·b[level]·x to the value that is cut into grades: a and b are
normal numbers, one of each per level, x a numeric feature of mean 0 and variance 1, i = 0.3. Averaged over documents this has
mean 0 and variance 1 for every feature; all categorical features together count as much as the polynomial of the numeric ones.
The level of frequency rank r (from 0) is drawn with probability proportional to 1 / (r + 2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import MOST, Vocabulary
from rankinite.engine.kernel import FEATURE, SCORE, Features, Floats

INTERACTION = 0.3
"""The share of a category's variance that depends on a numeric feature."""
NOUNS = ("brand", "shop", "author", "city", "series", "colour")
"""What categorical features are called."""

Stream = Callable[..., np.random.Generator]
"""The random numbers for a purpose, given as whole numbers."""


class CategoryEffect(NamedTuple):
    """How often the levels of one categorical feature are drawn in a domain, and what each means for relevance."""

    chances: Floats
    """Sums of the chances of the levels up to each of them; shape (levels,)."""
    main: Floats
    """The effect of each level."""
    slope: Floats
    """The effect of each level for each unit of the numeric feature."""
    partner: int
    """The numeric feature."""

    def codes(self, uniform: Floats) -> Features:
        """The levels of some documents, each by a number drawn from [0, 1)."""
        return np.searchsorted(self.chances, uniform, side="right").astype(FEATURE)

    def values(self, codes: Features, standard: Features) -> Floats:
        """What the levels add; ``standard``: rows × numeric features, uniform in [−1, 1]."""
        level = codes.astype(np.int64)
        return self.main[level] + self.slope[level] * (np.sqrt(3.0) * standard[:, self.partner].astype(SCORE))


def category_effects(levels: Sequence[int], features: int, shift: float, domain: int, stream: Stream) -> list[CategoryEffect]:
    """The effects of all categorical features of a domain; ``stream`` gives the random numbers of a domain and a feature.

    Domain 0 and the others have the levels and their frequencies in common; of the effects, a share ``shift`` is their own.
    """
    return [_effect(count, features, shift, number, domain, stream) for number, count in enumerate(levels)]


def _effect(count: int, features: int, shift: float, number: int, domain: int, stream: Stream) -> CategoryEffect:
    random = stream(0, number)
    chance = random.permutation(1 / np.arange(2.0, count + 2))
    chance /= chance.sum()
    partner = int(random.integers(features))
    shared, own = (_standardised(stream(of, number, 1).standard_normal((2, count)), chance) for of in (0, domain))
    main, slope = np.sqrt(1 - shift**2) * shared + shift * own if domain else shared
    chances = np.cumsum(chance)
    chances[-1] = 1.0
    return CategoryEffect(chances, np.sqrt(1 - INTERACTION) * main, np.sqrt(INTERACTION) * slope, partner)


def _standardised(effects: npt.NDArray[np.float64], chance: Floats) -> Floats:
    """Effects (2 × levels) of mean 0 and variance 1 over documents; all 0 where there is one level."""
    centred = effects - (effects @ chance)[:, None]
    spread = np.sqrt((centred**2) @ chance)[:, None]
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)


def category_features(levels: Sequence[int]) -> dict[str, Vocabulary]:
    """The names of the categorical features, and their vocabularies: brand_0000, brand_0001, …"""
    named: dict[str, Vocabulary] = {}
    for number, count in enumerate(levels):
        again = number // len(NOUNS)
        noun = NOUNS[number % len(NOUNS)] + (str(again + 1) if again else "")
        digits = max(4, len(str(count - 1)))
        named[noun] = Vocabulary(tuple(f"{noun}_{level:0{digits}}" for level in range(count)))
    return named


def are_levels(levels: Sequence[Any]) -> bool:
    """Whether these can be numbers of levels, one per categorical feature."""
    return all(isinstance(count, int | np.integer) and 2 <= count <= MOST for count in levels)


def levels_of(effects: Sequence[CategoryEffect], random: np.random.Generator, rows: int) -> Features:
    """The codes of some documents; rows × categorical features."""
    uniform = random.random((rows, len(effects)))  # row by row, so that more rows do not change the first ones
    codes = [effect.codes(uniform[:, number]) for number, effect in enumerate(effects)]
    return np.stack(codes, axis=1) if codes else uniform.astype(FEATURE)


def effects_of(effects: Sequence[CategoryEffect], codes: Features, standard: Features) -> Floats:
    """What all categorical features together add, of variance 1; one value per document."""
    added = [effect.values(codes[:, number], standard) for number, effect in enumerate(effects)]
    return np.sum(added, axis=0) / np.sqrt(len(effects))
