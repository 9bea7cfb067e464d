"""RatioCurve: a measure over every ratio of two rankers' weights, from the first ranker alone to the second alone.

Scores s and t with the spreads σ and τ are swept as (1 − h)·s/σ + h·t/τ, h from 0 to 1 (``Sweep.ratio_curve``). The *share* h
of the second ranker treats both alike: neither the scale of the scores nor which ranker is called the first changes the middle
of an interval. For the user, shares are turned into α, the weight of the second ranker beside the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankinite.choices import Form
from rankinite.drawing import ORANGE
from rankinite.engine.kernel import Floats, frozen
from rankinite.sweep.curve import Curve, outside_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False)
class RatioCurve:
    """The mean of a measure for every ratio of two rankers' weights, but for the single points where documents meet.

    α is the weight of the second ranker over that of the first, 0 … ∞, or its part of both, 0 … 1 where ``form`` is "convex".
    """

    shares: Curve
    """The curve over the share of one ranker, of scores that were divided by their spread."""
    spreads: tuple[float, float]
    """What the scores of the first and of the second ranker were divided by."""
    swapped: bool
    """Whether the shares are those of the first ranker instead of the second."""
    form: Form = "sum"
    """What α does: s + αt ("sum") or (1−α)s + αt ("convex")."""
    even: float = 1.0
    """The α at which the divided scores weigh the same, in the form "sum": 1 where α is for divided scores."""

    @property
    def measure(self) -> str:
        """The measure, as text."""
        return self.shares.measure

    @property
    def edges(self) -> Floats:
        """0, each α at which a query's measure changes, and ∞ (1 where ``form`` is "convex")."""
        shares = self._oriented().edges
        weighed = self.even * shares
        with np.errstate(divide="ignore"):
            return weighed / (1.0 - shares if self.form == "sum" else 1.0 - shares + weighed)

    @property
    def values(self) -> Floats:
        """The mean measure between two edges."""
        return self._oriented().values

    @property
    def at_zero(self) -> float | None:
        """The measure of the first ranker alone."""
        return self._oriented().at_zero

    @property
    def at_end(self) -> float | None:
        """The measure of the second ranker alone: at α = ∞, or 1 where ``form`` is "convex"."""
        return self._oriented().at_one

    def value_at(self, alpha: float) -> float:
        """The mean measure at α; at the ends, that of one ranker alone; on an edge, that of an interval beside it."""
        highest = math.inf if self.form == "sum" else 1.0
        if not 0.0 <= alpha <= highest:
            raise outside_error(alpha, 0.0, highest)
        share, curve = self.place(alpha), self._oriented()
        end = {0.0: curve.at_zero, 1.0: curve.at_one}.get(share)
        return curve.value_at(share) if end is None else end

    def best(self) -> tuple[float, float]:
        """The best α and the value of the curve there: chosen among shares, see :meth:`Curve.best`."""
        share, value = self.shares.best()
        return self._alpha(*self._in_order(1.0 - share, share)), value

    def best_weights(self) -> tuple[float, float]:
        """What the best α multiplies each ranker's scores by; a ranker alone has the weight 1."""
        first, second = self._in_order(*self.shares.best_weights())
        return (first, second) if 0.0 in (first, second) else (first / self.spreads[0], second / self.spreads[1])

    def better_alone(self) -> int:
        """Which ranker is the better one alone: 0 for the first, 1 for the second."""
        one, other = self.shares.at_zero, self.shares.at_one
        assert one is not None
        assert other is not None
        behind = other > one if self.shares.higher_is_better else other < one
        return int(behind != self.swapped)

    def smoothed(self, width: float) -> RatioCurve:
        """The curve's mean over windows of shares that wide: see :meth:`Curve.smoothed`."""
        return replace(self, shares=self.shares.smoothed(width))

    def place(self, alpha: float) -> float:
        """Where the picture has α: the share of the second ranker."""
        first, second = (1.0, alpha) if self.form == "sum" else (1.0 - alpha, alpha)
        if math.isinf(second):
            return 1.0
        return second / (self.even * first + second)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the curve over the share of the second ranker, and its best α."""
        alpha, value = self.best()
        canvas = self._oriented().drawn(axes)
        label = f"best: α = {alpha_text(alpha, 4)}, {self.measure} = {value:.4f}"
        canvas.plot([self.place(alpha)], [value], "o", color=ORANGE, label=label)
        canvas.set_xlabel("share of the second ranker, of scores divided by their standard deviation")
        canvas.legend(frameon=False)
        return canvas

    def __repr__(self) -> str:
        return f"<RatioCurve of {self.measure} over α from 0 to {self.edges[-1]:g}: {len(self.values)} intervals>"

    def _alpha(self, first: float, second: float) -> float:
        """The α of two shares."""
        weighed = self.even * second
        whole = first if self.form == "sum" else first + weighed
        return weighed / whole if whole else math.inf

    def _in_order(self, one: float, other: float) -> tuple[float, float]:
        """What belongs to the first ranker, and to the second."""
        return (other, one) if self.swapped else (one, other)

    def _oriented(self) -> Curve:
        """The curve over the share of the second ranker."""
        curve = self.shares
        if not self.swapped:
            return curve
        edges, values = frozen(1.0 - curve.edges[::-1]), frozen(curve.values[::-1].copy())
        return replace(curve, edges=edges, values=values, at_zero=curve.at_one, at_one=curve.at_zero)


def alpha_text(alpha: float, digits: int = 6) -> str:
    """An α as tables have it."""
    return "∞" if math.isinf(alpha) else f"{alpha:.{digits}g}"
