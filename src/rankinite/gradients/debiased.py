"""λ-gradients from clicks, debiased: a bias of each position is added to the scores where pushes are computed, nowhere else.

Notation: a document of relevance r that is shown at position k is clicked with probability θ_k·r. If one of two documents was
clicked, the odds that it was a, shown at i, and not b, shown at j, are about θ_i·r_a to θ_j·r_b: as logarithms, the difference
of two scores, each with the bias log θ of its position. See docs/adr/0030.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import row_keys
from rankinite.engine.kernel import SCORE, Floats, Indices, RowNumbers, frozen
from rankinite.engine.parallel import over_queries
from rankinite.engine.powers import natural_logarithms, natural_powers
from rankinite.gradients import _debias_kernels as _kernels
from rankinite.gradients.base import checked_scores, weight_of_rows
from rankinite.gradients.click_likelihood import units_of
from rankinite.gradients.examination import LEAST, MOST, Examination, levels_of
from rankinite.gradients.lambdas import Lambdas
from rankinite.measures.base import TrainableMeasure

STEP = 0.5
"""Share of the Newton step that biases take each round. All move at once, and each pair moves two of them: whole steps would
overshoot."""
PULL = 1e-3
"""Share of the curvature by which biases are pulled to 0."""


class Debiased(ABC):
    """λ of a measure, of scores to which the bias of each row's position is added."""

    outputs = 1
    _biases: Floats
    """One per level of positions."""

    def __init__(
        self,
        data: Dataset,
        measure: TrainableMeasure,
        sigma: float,
        truncation: int | None,
        *,
        normalise: bool,
        power: float = 1.0,
    ) -> None:
        self._data, self._power = data, power
        self._levels = levels_of(data, weight_of_rows(data))
        self._lambdas = Lambdas(data, measure, sigma, truncation, normalise=normalise, rows=_order(data))
        self.start: Floats = self._lambdas.start
        self._adjusted = np.empty((1, data.rows), SCORE)

    def __str__(self) -> str:
        return f"debiased {self._lambdas}"

    @property
    @abstractmethod
    def examination(self) -> Examination:
        """How prominently positions are looked at, as estimated so far."""

    @abstractmethod
    def take_up(self, examination: Examination) -> None:
        """Go on from the estimates of an interrupted run."""

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row, all of shape (1, rows)."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)
        _kernels.add_biases(scores[0], self._levels.of_row, self._power * self._biases, self._adjusted[0])
        self._lambdas.gradients(self._adjusted, out_push, out_curvature)


class PairwiseDebiased(Debiased):
    """λ with the logarithm of t⁺ as bias of each position, which was estimated before.

    Hu et al. (2019) divide the λ of a pair by t⁺ of the clicked document's position and t⁻ of the other's instead. That has the
    same mean and a larger variance: one click far down counts as much as ten at the top.
    """

    def __init__(
        self,
        data: Dataset,
        measure: TrainableMeasure,
        sigma: float,
        truncation: int | None,
        examination: Examination,
        *,
        normalise: bool,
        power: float,
    ) -> None:
        super().__init__(data, measure, sigma, truncation, normalise=normalise, power=power)
        self.take_up(examination)

    @property
    def examination(self) -> Examination:
        """The curves as they were estimated."""
        return self._examination

    def take_up(self, examination: Examination) -> None:
        """Add the biases that these curves come to."""
        self._examination, self._biases = examination, natural_logarithms(examination.at(self._levels.first))


class AdditiveDebiased(Debiased):
    """λ with biases that take a Newton step every round, towards those that leave nothing to push at any position.

    LightGBM's do so too; here the sums are of whole units. λ are the measure's own: scaled by distances, they would follow the
    biases rather than clicks.
    """

    def __init__(self, data: Dataset, measure: TrainableMeasure, sigma: float, truncation: int | None, *, power: float) -> None:
        super().__init__(data, measure, sigma, truncation, normalise=False, power=power)
        self._biases = natural_logarithms(self._levels.first_guess())

    @property
    def examination(self) -> Examination:
        """The biases as they stand, and what they come to as shares of clicks."""
        bias = self._biases - self._biases[0]
        clicked = np.clip(natural_powers(bias), LEAST, MOST)
        return Examination(self._levels.first, clicked, np.ones(len(bias)), self._biases)

    def take_up(self, examination: Examination) -> None:
        """Go on from the biases of an interrupted run."""
        self._biases[:] = examination.bias

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row, all of shape (1, rows); then a step of the biases."""
        super().gradients(scores, out_push, out_curvature)
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


def _order(data: Dataset) -> RowNumbers:
    """The content order; rows that are equal but for their positions come by these."""
    positions = np.zeros(data.rows, np.int32) if data.positions is None else data.positions
    order = np.lexsort((positions, row_keys(data), data.query_of_row()))
    return frozen(order.astype(np.int32) if data.rows < 1 << 31 else order)
