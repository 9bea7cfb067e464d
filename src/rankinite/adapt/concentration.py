"""Concentration: the one or two queries that carry most of a gain, if any do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.evaluation.significance import exact_mean, exact_sum
from rankinite.grid import number

MOST = 0.5
"""A few queries carry a gain if the mean gain falls by more than this share without them."""
FEW = 2
"""The most queries that are left out."""


@dataclass(frozen=True)
class Concentration:
    """The queries without which less than half of a mean gain is left."""

    queries: tuple[str, ...]
    """Those that gain most, the most first."""
    share: float
    """Their share of the summed gain; above 1 where all others together lose."""
    gain: float
    """The mean gain of all queries."""
    rest: float
    """The mean gain of all others."""

    def sentences(self, decimals: int = 4) -> tuple[str, ...]:
        """The same in a sentence, with so many decimals; none where the gain is too small to be shown at all."""
        if number(self.gain) == number(0.0):
            return ()
        named = " and ".join(f"'{qid}'" for qid in self.queries)
        who = f"Query {named} alone carries" if len(self.queries) == 1 else f"Queries {named} carry"
        much = f"{math.floor(100.0 * self.share)}%" if self.share < 1.0 else "all"
        gain, rest = number(self.gain, decimals), number(self.rest, decimals)
        left = f"of {gain} becomes a loss of {rest[1:]}" if rest.startswith("-") else f"falls from {gain} to {rest}"
        without = "it" if len(self.queries) == 1 else "them"
        return (f"{who} {much} of the gain: without {without} the mean gain {left}.",)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return {"queries": list(self.queries), "share": self.share, "gain": self.gain, "rest": self.rest}


def concentration(gains: Mapping[str, float]) -> Concentration | None:
    """The fewest queries that carry the gain, given the gain of each; None if no one or two do, or nothing is gained."""
    ranked = sorted(gains.items(), key=lambda entry: (-entry[1], entry[0]))
    values = np.asarray([gain for _, gain in ranked], np.float64)
    mean = exact_mean(values)
    if mean <= 0.0:
        return None
    for count in range(1, min(FEW, len(ranked) - 1) + 1):
        rest = exact_mean(values[count:])
        if rest < (1.0 - MOST) * mean:
            share = exact_sum(values[:count]) / exact_sum(values)
            return Concentration(tuple(qid for qid, _ in ranked[:count]), share, mean, rest)
    return None
