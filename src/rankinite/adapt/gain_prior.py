"""GainPrior: what adapting has brought on the benchmark's pairs of domains, before the target's queries are looked at.

The gain of a method is the mean of its measure minus that of the background's, over all queries of the target's kind. It is
stated in standard deviations of this difference between queries: where a method changes little it can neither gain nor lose
much, and a number without a unit holds for measures of any scale.

The numbers are estimated by ``benchmarks/gain_prior.py`` from the kept cells of the adaptation benchmark, NDCG@10 on test
queries of nine pairs of domains, six real and three artificial (docs/adr/0027), with the fewest target queries of each pair, 5
or 20: the prior counts about as much as 1 / scale² queries do, so what it says of many queries hardly matters. The scale is
the spread between pairs without the sampling error of the test queries, widened as the mean of so few pairs is uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

PAIRS = 9
"""How many pairs of domains the prior is estimated from."""


@dataclass(frozen=True, slots=True)
class GainPrior:
    """A Student's t distribution of the true gain, in standard deviations of the difference between queries."""

    location: float
    """The gain to expect."""
    scale: float
    """How far the gains of domains are apart."""
    freedom: float = PAIRS - 1.0
    """Degrees of freedom: the fewer, the more likely are gains that no pair has shown."""

    @property
    def queries(self) -> float:
        """How many judged queries it counts as much as, roughly."""
        return self.scale**-2

    def without_expectation(self) -> Self:
        """The same with no gain to expect: for a target that is unlike those it was estimated from."""
        return replace(self, location=0.0)


AVERAGE = GainPrior(location=0.242, scale=0.176)
"""Of the average of unlike methods."""
SINGLE = GainPrior(location=0.108, scale=0.237)
"""Of any other method that starts from the background or its data."""
TARGET_ALONE = GainPrior(location=-0.202, scale=0.439)
"""Of a ranker trained on the target alone, which forgets the background."""
SPREAD = 0.5
"""The usual standard deviation of the difference between queries, in those of the background's values (0.30 to 0.75)."""
SPREAD_QUERIES = 2.0
"""How many queries this counts as much as; few, as the background's deviation is itself known from few queries."""

_OTHERS = {"average": AVERAGE, "target": TARGET_ALONE, "target-lambda": TARGET_ALONE}


def prior_for(method: str) -> GainPrior:
    """The prior of a method by its name."""
    return _OTHERS.get(method, SINGLE)
