"""Decision which method to deploy, given how each does on target queries that it did not see.

Three questions are kept apart. Which of the rankers made for the target is the best bet? Choosing among a dozen by a few
queries is mostly luck, so the average of unlike methods, which needs no choice, is taken unless one is clearly better. What
gain is to be expected of that bet? A few queries cannot answer this either, so they are combined with what adapting has brought
on other pairs of domains (``gain``). And do the grades mean anything? Where they are shuffled, other domains say nothing: what
may rank no better than random orders is not recommended.

The verdict is one of three. *Deploy*: a gain is clear, on the target's own queries or together with other domains. *Try
online*: a gain is expected and a loss unlikely, but the queries cannot show the gain. *Keep*: no gain is expected, or a loss is
too likely.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from rankinite.adapt.gain import GainEvidence, GainPosterior, Signs
from rankinite.adapt.held_out import judged_queries, standard_error
from rankinite.data.dataset import Dataset
from rankinite.data.identity import row_keys
from rankinite.engine.kernel import Floats
from rankinite.evaluation.significance import NOISE, exact_mean, paired_differences, randomisation
from rankinite.evaluation.values import query_values
from rankinite.measures.base import Measure, sign_of
from rankinite.seeds import generator

BASELINES = ("background", "target")
"""What every method is compared with."""
CLEARLY = 0.98
"""The one-sided confidence that a method is better than the average, above which it is taken instead."""
ALPHA = 0.05
"""A gain is clear on the target's own queries if its p-value is at most this."""
RISK = 0.1
"""The chance of a loss larger than is tolerated, up to which a change is recommended."""
TOLERATE = 0.01
"""The loss that is tolerated, in the unit of the measure."""
ORDERS = 100
"""How many random orders of the documents are drawn."""
NOISE_BEFORE = 0.05
"""The chance, before looking, that grades cannot be predicted at all."""
NOISE_AFTER = 0.1
"""The same after looking, above which nothing is recommended."""
RANKING, RANKING_SPREAD = 1.75, 0.65
"""How far methods rank above random orders where grades mean something, in standard deviations for one query; and how unlike
domains are in this (``benchmarks/gain_prior.py``)."""

Decision = Literal["deploy", "try online", "keep"]


@dataclass(frozen=True)
class Verdict:
    """What was decided."""

    name: str
    """The method chosen: the best bet among those that make a ranker for the target."""
    best: str
    """The one of them with the best mean."""
    decision: Decision
    """What to do with the method chosen; ``keep`` is to keep the background."""
    gain: GainPosterior
    """The gain of the method chosen over the background on new queries, as far as it is known."""
    signs: Signs
    """What was seen of the pair of domains."""
    risk: float = RISK
    """The largest chance of a loss that is accepted."""
    tolerate: float = TOLERATE
    """The loss that does not count, in the unit of the measure."""
    clear: bool = False
    """Whether the target's own queries show the gain."""
    noise_chance: float = 0.0
    """The chance that the grades cannot be predicted at all."""

    @property
    def recommended(self) -> str:
        """The method chosen, to be deployed or tried online; else the background."""
        return "background" if self.decision == "keep" else self.name

    @property
    def expected(self) -> float:
        """The gain to expect; above 0 is better, whatever the measure."""
        return self.gain.expected

    @property
    def loss_chance(self) -> float:
        """The chance of losing more than ``tolerate`` against the background."""
        return self.gain.chance_below(-self.tolerate)

    @property
    def ranks(self) -> bool:
        """Whether the method ranks unseen target queries so well that the grades must mean something."""
        return self.noise_chance <= NOISE_AFTER


def decide(
    values: Mapping[str, Floats],
    *,
    random_orders: Floats | None = None,
    shift: float | None = None,
    background_queries: int | None = None,
    preferred: Collection[str] = (),
    average: str = "average",
    risk: float = RISK,
    tolerate: float = TOLERATE,
) -> Verdict:
    """Choose a method and decide what to do with it.

    ``values``: for each method, the simplest first, one value per query, higher being better. ``random_orders``: the mean
    value of each of some random orders of the documents. ``shift``: how far the target's rows are from the background's.
    ``background_queries``: how many queries the background was trained on, if that is known. Where there is no average, the
    simplest of the methods within one standard error of the best is chosen, or of those among them that are ``preferred``,
    if there are any.
    """
    names = [name for name in values if name != "background"]
    best = max(names, key=lambda name: float(values[name].mean()))
    if average in values:
        name = best if _surely_above(values[best], values[average], CLEARLY) else average
    else:
        equal = [name for name in names if (values[best] - values[name]).mean() <= standard_error(values[best] - values[name])]
        name = next((name for name in equal if name in preferred), equal[0])
    background = values["background"]
    evidence = GainEvidence.of(values[name], background)
    alone = GainEvidence.of(values["target"], background) if "target" in values else None
    alone_gain = alone.mean / alone.deviation if alone is not None and alone.deviation else 0.0
    signs = Signs(shift, alone_gain, background_queries, picked=average not in values)
    gain = GainPosterior.of(evidence, signs)
    clear = evidence.mean > 0.0 and randomisation(paired_differences(values[name], background)) <= ALPHA
    noise = 0.0 if random_orders is None else chance_of_noise(values[name], random_orders)
    decision = "keep" if noise > NOISE_AFTER else decision_of(gain, risk, tolerate, clear=clear)
    return Verdict(name, best, decision, gain, signs, risk, tolerate, clear=clear, noise_chance=noise)


def decision_of(gain: GainPosterior, risk: float, tolerate: float, *, clear: bool) -> Decision:
    """What to do with a method whose gain is known so far; ``clear``: the target's own queries show it."""
    if gain.expected <= 0.0 or gain.chance_below(-tolerate) > risk:
        return "keep"
    return "deploy" if clear or gain.chance_below(0.0) <= risk else "try online"


def random_orders(data: Dataset, measure: Measure, seed: int) -> Floats:
    """The mean measure of each of ``ORDERS`` random orders on the judged queries, higher being better."""
    random, judged = generator(seed), judged_queries(data, measure)
    by_content = np.lexsort((row_keys(data), data.qids[data.query_of_row()]))  # the same documents in whatever order
    scores, means = np.empty(data.rows), np.empty(ORDERS)
    for order in range(ORDERS):
        scores[by_content] = random.random(data.rows)
        means[order] = exact_mean(query_values(scores, data, measure)[judged])
    return sign_of(measure) * means


def chance_of_noise(values: Floats, random_orders: Floats) -> float:
    """The chance that the grades cannot be predicted, by how far a method is above random orders of n queries.

    That distance, in standard deviations of random orders, is N(0, 1) where nothing can be predicted. Elsewhere it grows with
    √n, so that few queries need not be far above: N(m√n, 1 + s²n).
    """
    queries, middle, spread = len(values), exact_mean(random_orders), float(random_orders.std(ddof=1))
    if spread <= NOISE * max(1.0, abs(middle)):  # the measure is the same for every order
        return 0.0
    above = max(0.0, (exact_mean(values) - middle) / spread)  # far below random is no sign of meaning
    variance = 1.0 + RANKING_SPREAD**2 * queries
    fits_noise = -0.5 * above**2
    fits_domains = -0.5 * (above - RANKING * np.sqrt(queries)) ** 2 / variance - 0.5 * np.log(variance)
    return float(special.expit(special.logit(NOISE_BEFORE) + fits_noise - fits_domains))


def _surely_above(first: Floats, second: Floats, confidence: float) -> bool:
    """Whether the mean difference over queries is above 0 with this confidence, by Student's t."""
    gain = first - second
    return float(gain.mean()) > float(special.stdtrit(len(gain) - 1, confidence)) * standard_error(gain)
