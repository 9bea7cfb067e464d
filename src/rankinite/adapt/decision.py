"""Decision which method to deploy, given how each does on target queries that it did not see.

Two questions are kept apart. Which of the rankers made for the target is the best bet? Choosing among a dozen by a few queries
is mostly luck, so the average of unlike methods, which needs no choice, is taken unless one is clearly better. And is that bet
better than the background? A few queries cannot answer this either, so they are combined with what adapting has brought on
other domains: the change is recommended if a gain is to be expected, unless the chance of a loss that matters is too large. Of
grades that nothing can predict, such as shuffled ones, other domains tell nothing: what ranks no better than random orders is
not recommended.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from scipy import special

from rankinite.adapt.gain_posterior import GainEvidence, GainPosterior
from rankinite.adapt.gain_prior import prior_for
from rankinite.adapt.held_out import standard_error
from rankinite.engine.kernel import Floats

BASELINES = ("background", "target")
"""What every method is compared with."""
CLEARLY = 0.98
"""The one-sided confidence that a method is better than the average, above which it is taken instead."""
RANKING = 3.0
"""How many of their standard deviations a method must be better than random orders to be recommended."""
RISK = 0.1
"""The chance of a loss larger than is tolerated, up to which a change is recommended."""
TOLERATE = 0.01
"""The loss that is tolerated, in the unit of the measure."""


@dataclass(frozen=True)
class Verdict:
    """What was decided."""

    name: str
    """The method chosen: the best bet among those that make a ranker for the target."""
    best: str
    """The one of them with the best mean."""
    recommended: str
    """The method chosen if it ranks, a gain is to be expected and the chance of a loss small enough; else the background."""
    expected: float
    """The gain over the background to expect of the method chosen on new queries; above 0 is better, whatever the measure."""
    loss_chance: float
    """The chance that it loses more than ``tolerate`` against the background."""
    risk: float = RISK
    """The largest such chance that is accepted."""
    tolerate: float = TOLERATE
    """The loss that does not count, in the unit of the measure."""
    ranks: bool = True
    """Whether it surely ranks unseen target queries better than random orders do; if not, other domains promise nothing."""


def decide(
    values: Mapping[str, Floats],
    *,
    random_orders: Floats | None = None,
    preferred: Collection[str] = (),
    average: str = "average",
    risk: float = RISK,
    tolerate: float = TOLERATE,
) -> Verdict:
    """Choose a method and decide whether to deploy it.

    ``values``: for each method, the simplest first, one value per query, higher being better. ``random_orders``: the same of
    random orders of the documents, shape (orders, queries). Where there is no average, the simplest of the methods within one
    standard error of the best is chosen, or of those among them that are ``preferred``, if there are any.
    """
    names = [name for name in values if name != "background"]
    best = max(names, key=lambda name: float(values[name].mean()))
    if average in values:
        name = best if _surely_above(values[best], values[average], CLEARLY) else average
    else:
        equal = [name for name in names if (values[best] - values[name]).mean() <= standard_error(values[best] - values[name])]
        name = next((name for name in equal if name in preferred), equal[0])
    ranks = random_orders is None or _ranks(values[name], random_orders)
    prior = prior_for(name) if ranks else prior_for(name).without_expectation()
    found = GainPosterior.of(GainEvidence.of(values[name], values["background"]), prior, tolerate)
    deployed = ranks and found.expected > 0.0 and found.loss_chance <= risk
    return Verdict(
        name, best, name if deployed else "background", found.expected, found.loss_chance, risk, tolerate, ranks=ranks
    )


def _ranks(values: Floats, random_orders: Floats) -> bool:
    """Whether the mean over queries is out of reach of orders that know nothing: where grades are shuffled, all are such."""
    means = random_orders.mean(axis=1)
    return float(values.mean()) > float(means.mean() + RANKING * means.std(ddof=1))


def _surely_above(first: Floats, second: Floats, confidence: float) -> bool:
    """Whether the mean difference over queries is above 0 with this confidence, by Student's t."""
    gain = first - second
    return float(gain.mean()) > float(special.stdtrit(len(gain) - 1, confidence)) * standard_error(gain)
