"""How prominently positions are looked at, from a balance of pairs of clicks, while a ranker is trained beside it.

Notation: ρ = 1/(1 + exp(slope·(s_a − s_b))) is the chance, by the scores of two documents of a query, that b is better than a.
See docs/adr/0030.
"""

from __future__ import annotations

import math

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.row_keys import feature_keys, query_keys
from rankinite.engine.kernel import SCORE, Flags, Floats, Indices, frozen
from rankinite.engine.parallel import over_queries
from rankinite.gradients import _debias_kernels as _kernels
from rankinite.gradients.base import query_weights
from rankinite.gradients.debiased import LEAST, MOST, Debiased, natural_logarithms, units_of
from rankinite.gradients.examination import Examination
from rankinite.measures.base import TrainableMeasure

STRETCH, MOST_STRETCH = 2.0, 20.0
"""How far the slope may go in one round, and in all."""
ENOUGH_CLICKS, LEAST_SHARE, MOST_SHARE = 100_000, 0.2, 1 / 3
"""Clicks that estimates are made from, and bounds of the share of queries that these may take."""
FEW_CLICKS, FEW_GROUPS = 500, 20
"""With fewer clicks, or fewer different queries, estimates are made from all, as there is nothing to spare."""


class PairBalance(Debiased):
    """λ with biases that are estimated anew every round, from queries that nothing is learnt from.

    Hu et al. (2019) take t⁺ from the sums of pair losses at each position, which are proportional to it only where documents at
    all positions are alike. Here the two ways round are compared: were the curve and the scores right, the pairs clicked at i,
    each weighted by the chance ρ that the scores were wrong, and those clicked at j would balance,

        θ_j · Σ c_a ρ_ba − Σ c_a c_b ρ_ba  =  θ_i · Σ c_b ρ_ab − Σ c_a c_b ρ_ab   (a shown at i, b at j; c: clicked),

    whatever the documents there are like. Summed over j this is one linear equation for each θ_i = t⁺_i, with θ_1 = 1. t⁻
    follows from t⁺ and the rate of clicks, as what is skipped and what is clicked add up. The scores of a few slow trees are
    too near each other for log-odds; so ρ has a slope of its own in place of σ, which follows from the same balance with each
    pair weighed by the difference of its scores.

    Scores that follow the noise of clicks would pass for knowledge, so the balance is that of other queries. The balance needs
    scores that are log-odds of r; so λ are the measure's own, and the bias is log t⁺ − ½·log t⁻, half-way between that of log r
    and that of log-odds.
    """

    def __init__(self, data: Dataset, measure: TrainableMeasure, sigma: float, truncation: int | None) -> None:
        super().__init__(data, measure, sigma, truncation, normalise=False)
        self._weights, self._asked = query_weights(data), asked_queries(data)
        self._not_learnt = np.flatnonzero(np.repeat(self._asked, np.diff(data.offsets))) if not self._asked.all() else None
        self._clicked = self._levels.first_guess(LEAST, MOST)
        pairs = (np.add.reduceat(data.grades > 0, data.offsets[:-1], dtype=np.int64) * np.diff(data.offsets)).astype(SCORE)
        self._pairs = math.fsum((pairs * self._weights).tolist())
        self._slope, self._sigma, self._done = sigma, sigma, 0

    @property
    def examination(self) -> Examination:
        """The curves as last estimated."""
        rates = self._levels.click_rate
        shown = np.maximum(1.0 - rates / self._clicked, (1.0 - rates) / MOST)  # what would be skipped at the first position
        skipped = np.where(rates < 1.0, (1.0 - rates) / np.where(rates < 1.0, shown, 1.0), 1.0)
        skipped = np.clip(skipped, LEAST, MOST)
        return Examination(self._levels.first, self._clicked, skipped, slope=self._slope, rounds=self._done)

    def take_up(self, examination: Examination) -> None:
        """Go on from the estimates of an interrupted run."""
        self._clicked = examination.clicked
        self._slope, self._done = examination.slope, examination.rounds

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Estimate the curve by the scores; then push and curvature of every row, all of shape (1, rows)."""
        if np.isfinite(scores).all():  # the pairs refuse others, with their place
            self._clicked = self._balanced(np.ascontiguousarray(scores[0]))
        self._done += 1
        seen = self.examination
        biases = natural_logarithms(seen.clicked) - 0.5 * natural_logarithms(seen.skipped)
        self.push(scores, biases, out_push, out_curvature)
        if self._not_learnt is not None:
            out_push[0, self._not_learnt] = 0.0
            out_curvature[0, self._not_learnt] = 0.0

    def _balanced(self, scores: Floats) -> Floats:
        """t⁺ of each level at which the pairs of clicks balance; the slope takes a step to where they do so by score."""
        data, count = self._data, len(self._levels)
        spread = float(np.max(np.maximum.reduceat(scores, data.offsets[:-1]) - np.minimum.reduceat(scores, data.offsets[:-1])))
        fine_units = units_of(self._pairs * max(spread, spread * spread))

        def work(first: int, last: int) -> tuple[Indices, Indices]:
            doubts, leans = np.zeros((2, count, count), np.int64), np.zeros((4, count, count), np.int64)
            _kernels.count_doubts(
                data.grades, self._levels.of_row, frozen(self._weights), self._asked, data.offsets, frozen(scores),
                self._slope, units_of(self._pairs), fine_units, first, last, doubts, leans,
            )  # fmt: skip
            return doubts, leans

        counted = over_queries(work, data.offsets)
        doubts, leans = (np.sum([part[place] for part in counted], axis=0) for place in range(2))
        found = np.clip(_balance(doubts[0], doubts[1]), LEAST, MOST)
        self._turn(found, leans / fine_units)
        return found

    def _turn(self, clicked: Floats, leans: Floats) -> None:
        """A Newton step of the slope, by the balance of pairs that are weighed by the difference of their scores."""
        lean = math.fsum((clicked * leans[0] - leans[1]).ravel().tolist())
        bend = math.fsum((clicked * leans[2] - leans[3]).ravel().tolist())
        if bend > 0.0:
            moved = self._slope + lean / bend
            bounded = min(max(moved, self._slope / STRETCH), self._slope * STRETCH)
            self._slope = min(max(bounded, self._sigma / MOST_STRETCH), self._sigma * MOST_STRETCH)


def _balance(all_pairs: Indices, both_clicked: Indices) -> Floats:
    """t⁺ of each level, from the doubts of pairs clicked at one level, and of those clicked at both; shape (levels, levels)."""
    matrix = np.diag(all_pairs.sum(axis=0)) - all_pairs  # whole numbers: sums are exact
    right = (both_clicked.T - both_clicked).sum(axis=1) - matrix[:, 0]
    alone = np.diag(matrix) == 0  # never beside a click elsewhere: nothing is known of it
    right[alone], matrix[alone, alone] = 1, 1
    found = np.ones(len(matrix), SCORE)
    found[1:] = right[1:]
    _kernels.solve_balance(np.ascontiguousarray(matrix[1:, 1:], SCORE), found[1:])
    return found


def asked_queries(data: Dataset) -> Flags:
    """The queries that estimates are made from, one flag each: some, with enough clicks, or all where there are too few.

    Sessions that show the same documents are asked together.
    """
    keys, groups = np.unique(query_keys(feature_keys(data), data), return_inverse=True)
    clicks = int((data.grades > 0).sum())
    share = min(max(ENOUGH_CLICKS / max(clicks, 1), LEAST_SHARE), MOST_SHARE)
    if share * clicks < FEW_CLICKS or len(keys) < FEW_GROUPS:
        return frozen(np.ones(data.queries, np.bool_))
    asked = keys.astype(SCORE) / 2.0**64 < share  # keys are as good as random numbers, and do not depend on any order
    return frozen(asked[groups] if asked.any() and not asked.all() else np.ones(data.queries, np.bool_))
