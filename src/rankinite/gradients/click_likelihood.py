"""How prominently positions are looked at, as the likelihood of clicks has it, while a ranker is trained beside it.

Notation: a document of relevance r that is shown at position k is clicked with probability m = θ_k·r, and θ_1 = 1; elsewhere θ
is called t⁺. See docs/adr/0030.
"""

from __future__ import annotations

import math

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine._math_kernels import logarithm
from rankinite.engine.kernel import SCORE, Flags, Floats, Indices, frozen
from rankinite.engine.parallel import over_queries
from rankinite.engine.powers import natural_logarithms, natural_powers
from rankinite.gradients import _debias_kernels as _kernels
from rankinite.gradients.base import checked_scores, weight_of_rows
from rankinite.gradients.examination import LEAST, MOST, Levels

STEPS = 2
"""Steps that the curve takes in each round."""
FARTHEST = 1.0
"""How far one step may move a logarithm of θ, or the intercept."""
LEAST_SLOPE, MOST_SLOPE = 0.25, 4.0
FLAT = 1e-6
"""Scores whose spread has less than this share of the information say nothing of the slope."""


class ClickLikelihood:
    """The logistic loss of r = 1/(1 + exp(−score)), of which m = θ·r is seen; θ is estimated anew every round.

    Relevance is learnt from some rows, and θ is the most likely one for the others, which are ``held``: on rows that are learnt
    from, scores follow the noise of clicks, which would flatten the curve. Few trees say too little of r,
    and many too much, so held rows have r = 1/(1 + exp(−a − b·score)), with a and b estimated together with θ.

    The data have one row for each document at each level; its grade is the share of its appearances that were clicked, and its
    weight their number.
    """

    outputs = 1

    def __init__(self, data: Dataset, levels: Levels, held: Flags) -> None:
        self._data, self._levels, self._held = data, levels, frozen(held)
        self._weights = frozen(weight_of_rows(data))
        self._total = math.fsum(self._weights[held].tolist())
        rate = min(max(float(levels.click_rate[0]), LEAST), 1.0 - LEAST)
        self.start: Floats = np.asarray([logarithm(rate / (1.0 - rate))], SCORE)
        self._clicked = levels.first_guess()
        self._line = (float(self.start[0]), 1.0)
        self.best, self._highest = self._clicked, -math.inf
        """θ of each level, in the round in which held clicks were most likely."""
        self.best_round, self.rounds = 0, 0

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Estimate θ by the scores; then push and curvature of every row, all of shape (1, rows)."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)
        self._estimate(scores[0] - self.start[0])
        rows = (self._data.grades, self._weights, self._levels.of_row, frozen(self._clicked), self._held)

        def work(first: int, last: int) -> None:
            _kernels.push_clicks(scores, *rows, *self._rows(first, last), out_push, out_curvature)

        over_queries(work, self._data.offsets)

    def _rows(self, first: int, last: int) -> tuple[int, int]:
        return int(self._data.offsets[first]), int(self._data.offsets[last])

    def _estimate(self, scores: Floats) -> None:
        """Move θ and the line of the scores to where held clicks are more likely, and note the likelihood."""
        for _ in range(STEPS):
            sums = self._sums(scores)
            self._clicked, self._line = fisher_step(sums, self._clicked, self._line)
        likelihood = math.fsum(self._sums(scores)[0].tolist())
        if likelihood > self._highest:
            self.best, self._highest, self.best_round = self._clicked, likelihood, self.rounds
        self.rounds += 1

    def _sums(self, scores: Floats) -> Floats:
        """What held rows say of θ and the line: ten sums per level, exact before they are rounded."""
        farthest = max(1.0, float(np.abs(scores).max()))
        units = units_of(self._total * farthest * farthest / (1.0 - _kernels.CERTAIN))
        rows = (self._data.grades, self._weights, self._levels.of_row, frozen(self._clicked), self._held)

        def work(first: int, last: int) -> Indices:
            sums = np.zeros((10, len(self._levels)), np.int64)
            _kernels.add_up_clicks(frozen(scores), *rows, self._line, units, *self._rows(first, last), sums)
            return sums

        return np.sum(over_queries(work, self._data.offsets), axis=0) / units


def units_of(bound: float) -> float:
    """A power of two by which numbers may be multiplied whose absolute values add up to at most ``bound``, to fit an int64."""
    return math.ldexp(1.0, 60 - math.frexp(bound)[1]) if bound > 0.0 else 1.0


def fisher_step(sums: Floats, clicked: Floats, line: tuple[float, float]) -> tuple[Floats, tuple[float, float]]:
    """One step of Fisher scoring from the sums of ``add_up_clicks``: the new θ, and the new intercept and slope.

    The matrix is an arrow: each θ meets the intercept a and the slope b, but no other θ. So each is expressed by a and b, which
    two equations are left for. θ of the first level is 1 and stays so.
    """
    of_theta, of_a, of_b, theta_theta, theta_a, theta_b, a_a, a_b, b_b = sums[1:]
    free = (theta_theta > 0.0) & (np.arange(len(clicked)) > 0)
    share = np.divide(1.0, theta_theta, out=np.zeros(len(clicked)), where=free)

    def left(whole: Floats, first: Floats, second: Floats) -> float:
        return math.fsum((whole - first * second * share).tolist())

    aa, ab, bb = left(a_a, theta_a, theta_a), left(a_b, theta_a, theta_b), left(b_b, theta_b, theta_b)
    a, b = left(of_a, theta_a, of_theta), left(of_b, theta_b, of_theta)
    determinant = aa * bb - ab * ab
    if aa > 0.0 and determinant > FLAT * aa * bb:
        by_a, by_b = (bb * a - ab * b) / determinant, (aa * b - ab * a) / determinant
    else:
        by_a, by_b = (a / aa if aa > 0.0 else 0.0), 0.0
    intercept = line[0] + min(max(by_a, -FARTHEST), FARTHEST)
    slope = min(max(line[1] + by_b, LEAST_SLOPE), MOST_SLOPE)
    left_over = of_theta - theta_a * (intercept - line[0]) - theta_b * (slope - line[1])
    moved = np.clip(left_over * share, -FARTHEST, FARTHEST)
    found = np.clip(natural_powers(natural_logarithms(clicked) + moved), LEAST, MOST)
    return np.where(free, found, clicked), (intercept, slope)
