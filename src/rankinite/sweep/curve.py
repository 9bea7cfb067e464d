"""Curve: a measure over the weight α of the second ranker, constant between the weights at which documents change places.

How the best α is chosen is :meth:`Curve.best`; against overfitting, it may be chosen on a :meth:`Curve.smoothed` curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from rankinite.choices import Form
from rankinite.drawing import BLUE, ORANGE, axes_of, plain
from rankinite.engine.kernel import Floats, Indices, frozen
from rankinite.errors import ArgumentError
from rankinite.evaluation.significance import NOISE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLUMNS = 2000
"""Columns of a picture: of more intervals, only the lowest and the highest value in each column are drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The mean of a measure for every α of a range, but for the single points where documents meet."""

    edges: Floats
    """The range's low end, the weights at which a query's measure changes, the high end: one more than there are values.

    Where more than two documents of a query meet there is an edge even if the measure is the same on both sides: in the very
    point where they tie it need not be.
    """
    values: Floats
    """The mean measure between two edges."""
    measure: str
    form: Form = "sum"
    """What α does: s + αt ("sum") or (1−α)s + αt ("convex")."""
    at_zero: float | None = None
    """The measure at α = 0, the first ranker alone, where the range contains it."""
    higher_is_better: bool = True
    """False for errors."""
    at_one: float | None = None
    """The measure at α = 1 of the convex form, the second ranker alone, where that is a candidate too."""

    def value_at(self, alpha: float) -> float:
        """The mean measure at α; on an edge, that of the interval to its right."""
        if not self.edges[0] <= alpha <= self.edges[-1]:
            raise outside_error(alpha, float(self.edges[0]), float(self.edges[-1]))
        return float(self.values[min(int(self.edges.searchsorted(alpha, side="right")), len(self.values)) - 1])

    def best(self) -> tuple[float, float]:
        """The best α and the value of the curve there.

        Candidates are the middles of the intervals, 0 where the range contains it, and 1 where ``at_one`` is known. Values that
        differ by rounding alone are equally good. Of equally good candidates 0 or 1 is taken, as it needs one ranker only;
        else the middle of the widest interval, which is furthest from any change; of equally wide ones, the one nearest to
        0, or to equal weights where ``at_one`` is known.
        """
        sign = 1.0 if self.higher_is_better else -1.0
        values = sign * self.values
        ends = [(alpha, value) for alpha, value in ((0.0, self.at_zero), (1.0, self.at_one)) if value is not None]
        top = max([float(values.max()), *(sign * value for _, value in ends)])
        enough = top - NOISE * max(1.0, abs(top))
        best_end = max(ends, key=lambda end: sign * end[1], default=None)
        if best_end is not None and sign * best_end[1] >= enough:
            return best_end
        good = np.flatnonzero(values >= enough)
        widths = self.edges[good + 1] / 2 - self.edges[good] / 2
        widest = good[widths >= widths.max() * (1.0 - NOISE)]
        middles = _middles(self.edges)[widest]
        chosen = int(np.argmin(np.abs(middles - (0.0 if self.at_one is None else 0.5))))
        return float(middles[chosen]), float(self.values[widest[chosen]])

    def best_weights(self) -> tuple[float, float]:
        """What the best α multiplies each ranker's scores by."""
        alpha = self.best()[0]
        return (1.0 - alpha if self.form == "convex" else 1.0), alpha

    def smoothed(self, width: float) -> Curve:
        """The same edges with the curve's mean over a window of that width around the middle of each interval.

        The best α of it lies where the measure is good all around, not only in an interval that may be narrow by chance. At the
        ends of the range a window is what of it lies inside.
        """
        if not (math.isfinite(width) and width > 0):
            raise ArgumentError(
                "is no width of a window", owner="smoothed", setting="width", value=width, rule="It is a number above 0, like α"
            )
        values = self._window_means(_middles(self.edges), width)
        at_zero = None if self.at_zero is None else float(self._window_means(np.zeros(1), width)[0])
        at_one = None if self.at_one is None else float(self._window_means(np.ones(1), width)[0])
        return replace(self, values=frozen(values), at_zero=at_zero, at_one=at_one)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the curve and its best α."""
        alpha, value = self.best()
        canvas = self.drawn(axes)
        canvas.plot([alpha], [value], "o", color=ORANGE, label=f"best: α = {alpha:.4g}, {self.measure} = {value:.4f}")
        canvas.set_xlabel("α in s + αt" if self.form == "sum" else "α in (1−α)s + αt")
        canvas.legend(frameon=False)
        return canvas

    def place(self, alpha: float) -> float:
        """Where the picture has α."""
        return alpha

    def drawn(self, axes: Axes | None = None) -> Axes:
        """Draw the curve alone."""
        canvas = axes_of(axes, 7.0, 4.2)
        if len(self.values) <= 2 * COLUMNS:
            canvas.plot(np.repeat(self.edges, 2)[1:-1], np.repeat(self.values, 2), color=BLUE, linewidth=1.2)
        else:
            shown = self._extremes_of_columns()
            canvas.plot(_middles(self.edges)[shown], self.values[shown], color=BLUE, linewidth=1.2)
        canvas.set_ylabel(f"mean {self.measure}")
        canvas.set_title(f"{self.measure} over the weight of the second ranker")
        return plain(canvas)

    def __repr__(self) -> str:
        return f"<Curve of {self.measure} over α from {self.edges[0]:g} to {self.edges[-1]:g}: {len(self.values)} intervals>"

    def _window_means(self, centres: Floats, width: float) -> Floats:
        """The mean of the curve over the part of each window that is inside the range."""
        left = np.clip(centres - width / 2, self.edges[0], self.edges[-1])
        right = np.clip(centres + width / 2, self.edges[0], self.edges[-1])
        level = self.values[0]  # taken off, so that a flat curve stays as it is to the last bit
        area = np.concatenate((np.zeros(1), np.cumsum((self.values - level) * np.diff(self.edges))))
        means = (np.interp(right, self.edges, area) - np.interp(left, self.edges, area)) / (right - left)
        return level + means

    def _extremes_of_columns(self) -> Indices:
        """The intervals of the lowest and the highest value in each column of a picture."""
        column = np.searchsorted(np.linspace(self.edges[0], self.edges[-1], COLUMNS + 1), _middles(self.edges))
        by_value = np.lexsort((self.values, column))
        ends = np.flatnonzero(np.diff(column)) + 1
        lowest, highest = np.concatenate(([0], ends)), np.concatenate((ends, [len(column)])) - 1
        return np.unique(by_value[np.concatenate((lowest, highest))])


def check_form(form: Form) -> None:
    """Refuse an unknown form."""
    if form not in get_args(Form):
        raise ArgumentError("is unknown", setting="form", value=form, rule="Known are sum (s + αt) and convex ((1−α)s + αt)")


def outside_error(alpha: float, low: float, high: float) -> ArgumentError:
    """The error of an α that a curve from ``low`` to ``high`` does not contain."""
    return ArgumentError(
        "is outside the range of the curve",
        owner="value_at",
        setting="alpha",
        value=alpha,
        rule=f"The curve runs from {low:g} to {high:g}",
    )


def _middles(edges: Floats) -> Floats:
    return edges[:-1] / 2 + edges[1:] / 2  # half of the sum could overflow
