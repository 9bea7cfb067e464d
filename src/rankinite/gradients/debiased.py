"""λ-gradients from clicks, debiased: how prominently positions are looked at is estimated together with the ranker.

Notation: a document of relevance r that is shown at position k is clicked with probability θ_k·r; ρ = 1/(1 + exp(σ(s_a − s_b)))
is the chance, by the scores of two documents of a query, that b is better than a. See docs/adr/0030.
"""

from __future__ import annotations

import math

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.row_keys import feature_keys, query_keys, row_keys
from rankinite.engine._math_kernels import binary_logarithms
from rankinite.engine.kernel import SCORE, Flags, Floats, Indices, RowNumbers, frozen
from rankinite.engine.parallel import over_queries
from rankinite.engine.powers import power_of_two
from rankinite.gradients import _debias_kernels as _kernels
from rankinite.gradients.base import checked_scores, query_weights, weight_of_rows
from rankinite.gradients.examination import Examination, levels_of, shown_positions
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.pairs import Debiasing
from rankinite.measures.base import TrainableMeasure

LEAST, MOST = 0.01, 10.0
"""Bounds of t⁺ and t⁻: no click counts more than a hundred times as much as one at the first position."""
STEP = 0.5
"""Share of the Newton step that biases take each round. All move at once, and each pair moves two of them: whole steps would
overshoot."""
STRETCH, MOST_STRETCH = 2.0, 20.0
"""How far the slope may go in one round, and in all."""
ENOUGH_CLICKS, LEAST_SHARE, MOST_SHARE = 100_000, 0.2, 1 / 3
"""Clicks that estimates are made from, and bounds of the share of queries that these may take."""
FEW_CLICKS, FEW_GROUPS = 500, 20
"""With fewer clicks, or fewer different queries, estimates are made from all, as there is nothing to spare."""
PULL = 1e-3
"""Share of the curvature by which biases are pulled to 0."""


class PairwiseDebiased:
    """Pairs divided by t⁺ at the position of the clicked document times t⁻ at that of the skipped one (Hu et al. 2019).

    Hu et al. take t⁺ from the sums of pair losses at each position, which are proportional to it only where documents at all
    positions are alike. Here the two ways round are compared: were the curves and the scores right, the pairs clicked at i,
    each weighted by the chance ρ that the scores were wrong, and those clicked at j would balance,

        θ_j · Σ c_a ρ_ba − Σ c_a c_b ρ_ba  =  θ_i · Σ c_b ρ_ab − Σ c_a c_b ρ_ab   (a shown at i, b at j; c: clicked),

    whatever the documents there are like. Summed over j this is one linear equation for each θ_i = t⁺_i, with θ_1 = 1. t⁻
    follows from t⁺ and the rate of clicks, as what is skipped and what is clicked add up. The scores of a few slow trees are
    too near each other for log-odds; so ρ has a slope of its own in place of σ, which follows from the same balance with each
    pair weighed by the difference of its scores.

    Scores that follow the noise of clicks would pass for knowledge. So the estimate is made from some of the queries, which
    nothing is learnt from meanwhile; after ``rounds`` rounds it is settled, and these queries are learnt from like the others.
    """

    outputs = 1

    def __init__(
        self,
        data: Dataset,
        measure: TrainableMeasure,
        sigma: float,
        truncation: int | None,
        *,
        normalise: bool,
        power: float,
        rounds: int,
    ) -> None:
        self._data, self._sigma, self._power, self._weights = data, sigma, power, query_weights(data)
        shown_positions(data)  # refuses data without, before anything is computed of them
        self._rounds, self._done, self._asked = rounds, 0, asked_queries(data)
        self._not_learnt = np.flatnonzero(np.repeat(self._asked, np.diff(data.offsets))) if not self._asked.all() else None
        self._levels = levels_of(data, weight_of_rows(data))
        count = len(self._levels)
        self._clicked, self._skipped = np.ones(count, SCORE), np.ones(count, SCORE)
        self._set(self._levels.first_guess(LEAST, MOST))
        debiasing = Debiasing(_order(data), self._levels.of_row, self._clicked, self._skipped)
        self._lambdas = Lambdas(data, measure, sigma, truncation, normalise=normalise, debiasing=debiasing)
        self.start: Floats = self._lambdas.start
        pairs = (np.add.reduceat(data.grades > 0, data.offsets[:-1], dtype=np.int64) * np.diff(data.offsets)).astype(SCORE)
        self._pairs = math.fsum((pairs * self._weights).tolist())
        self._slope = sigma

    def __str__(self) -> str:
        return f"debiased {self._lambdas}"

    @property
    def examination(self) -> Examination:
        """The curves as last estimated."""
        return Examination(self._levels.first, self._clicked, self._skipped, slope=self._slope, rounds=self._done)

    def take_up(self, examination: Examination) -> None:
        """Go on from the estimates of an interrupted run."""
        self._clicked[:], self._skipped[:] = examination.clicked, examination.skipped
        self._slope, self._done = examination.slope, examination.rounds

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Estimate the curves by the scores; then push and curvature of every row, all of shape (1, rows)."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)
        if self._done >= self._rounds:
            self._lambdas.gradients(scores, out_push, out_curvature)
            return
        if np.isfinite(scores).all():  # the pairs refuse others, with their place
            self._set(self._balanced(scores[0]))
        self._lambdas.gradients(scores, out_push, out_curvature)
        self._done += 1
        if self._not_learnt is not None:
            out_push[0, self._not_learnt] = 0.0
            out_curvature[0, self._not_learnt] = 0.0

    def _set(self, clicked: Floats) -> None:
        """Take these for t⁺, and what follows from them for t⁻."""
        rates = self._levels.click_rate
        shown = np.maximum(1.0 - rates / clicked, (1.0 - rates) / MOST)  # what would be skipped at the first position
        skipped = np.where(rates < 1.0, (1.0 - rates) / np.where(rates < 1.0, shown, 1.0), 1.0)
        self._clicked[:], self._skipped[:] = _powers(clicked, self._power), _powers(np.clip(skipped, LEAST, MOST), self._power)

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


class AdditiveDebiased:
    """A bias of each position, added to the scores where pushes are computed and nowhere else.

    Every round the biases take a Newton step towards those that leave nothing to push at any position, as LightGBM's do, here
    with the sums of whole units. λ are the measure's own: scaled by distances, they would follow the biases rather than clicks.
    """

    outputs = 1

    def __init__(self, data: Dataset, measure: TrainableMeasure, sigma: float, truncation: int | None, *, power: float) -> None:
        self._data, self._power = data, power
        self._levels = levels_of(data, weight_of_rows(data))
        self._biases = math.log(2.0) * binary_logarithms(self._levels.first_guess(LEAST, MOST))
        self._lambdas = Lambdas(data, measure, sigma, truncation, debiasing=Debiasing(_order(data)))
        self.start: Floats = self._lambdas.start
        self._adjusted = np.empty((1, data.rows), SCORE)

    def __str__(self) -> str:
        return f"debiased {self._lambdas}"

    @property
    def examination(self) -> Examination:
        """The biases as they stand, and what they come to as shares of clicks."""
        bias = self._biases - self._biases[0]
        clicked = np.clip(power_of_two(bias / math.log(2.0)), LEAST, MOST)
        return Examination(self._levels.first, clicked, np.ones(len(bias)), self._biases)

    def take_up(self, examination: Examination) -> None:
        """Go on from the biases of an interrupted run."""
        self._biases[:] = examination.bias

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row, all of shape (1, rows); then a step of the biases."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)
        _kernels.add_biases(scores[0], self._levels.of_row, self._power * self._biases, self._adjusted[0])
        self._lambdas.gradients(self._adjusted, out_push, out_curvature)
        self._move(out_push[0], out_curvature[0])

    def _move(self, push: Floats, curvature: Floats) -> None:
        highest = max(float(np.abs(push).max()), float(curvature.max()))
        if not (math.isfinite(highest) and highest > 0.0):
            return
        units = units_of(highest * len(push))

        def work(first: int, last: int) -> Indices:
            sums = np.zeros((2, len(self._biases)), np.int64)
            rows = int(self._data.offsets[first]), int(self._data.offsets[last])
            _kernels.count_pushes(push, curvature, self._levels.of_row, units, *rows, sums)
            return sums

        pushes, curvatures = np.sum(over_queries(work, self._data.offsets), axis=0) / units
        stiff = curvatures > 0.0
        steps = (pushes - PULL * curvatures * self._biases)[stiff] / ((1.0 + PULL) * curvatures[stiff])
        self._biases[stiff] += STEP * np.clip(steps, -1.0, 1.0)
        bound = math.log(1.0 / LEAST)
        np.clip(self._biases - self._biases[0], -bound, bound, out=self._biases)


Debiased = PairwiseDebiased | AdditiveDebiased
"""Objectives that estimate how prominently positions are looked at."""


def units_of(bound: float) -> float:
    """A power of two by which numbers may be multiplied whose absolute values add up to at most ``bound``, to fit an int64."""
    return math.ldexp(1.0, 60 - math.frexp(bound)[1]) if bound > 0.0 else 1.0


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


def _order(data: Dataset) -> RowNumbers:
    """The content order; rows that are equal but for their positions come by these."""
    positions = np.zeros(data.rows, np.int32) if data.positions is None else data.positions
    order = np.lexsort((positions, row_keys(data), data.query_of_row()))
    return frozen(order.astype(np.int32) if data.rows < 1 << 31 else order)


def _powers(values: Floats, power: float) -> Floats:
    return values if power == 1.0 else power_of_two(power * binary_logarithms(values))
