"""Search for weights: one pair of rankers after the other, each with the ratio that is best for a measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankinite.checks import check_count, check_positive
from rankinite.combine.result import AnyCurve, Combination, CombinationStep
from rankinite.combine.scored_rankers import ScoredRankers, blend_of
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.measures.base import sign_of
from rankinite.models.normalised import centre_and_spread
from rankinite.plurals import counted
from rankinite.sweep.curve import Form, check_form
from rankinite.sweep.ratios import RatioCurve, ratio_curve
from rankinite.sweep.sweep import Sweep

Nested = Any
"""A ranker, or a tuple of two, each of them a ranker or such a tuple, combined first: ``((a, c), (b, d))``."""
WIDTHS = (0.0, 0.01, 0.03, 0.1, 0.3)
"""Widths of smoothing as shares of the range, among which cross-validation chooses; 0: none."""
_SETTLED = 1e-12  # rounding could make a gain as small as this


@dataclass(frozen=True)
class Search:
    """How a weight is chosen. These are the defaults of Python and of the shell."""

    form: Form = "sum"
    """first + α·second, or (1 − α)·first + α·second."""
    range: tuple[float, float] | None = None
    """The lowest and the highest α; if left out, every ratio of the weights, each ranker alone included."""
    normalise: bool | None = None
    """Whether α is for scores divided by their standard deviation; if left out, yes unless there is a range."""
    smooth: float | None = None
    folds: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        ends: Any = self.range
        check_form(self.form)
        if ends is not None and (not isinstance(ends, Sequence) or len(ends) != 2):
            problem = "must be two numbers, the lowest and the highest weight"
            raise ArgumentError(problem, owner="combine", setting="range", value=ends, remedy="Give for example `range=(0, 1)`")
        if self.smooth is not None:
            check_positive("combine", "smooth", self.smooth)
        if self.folds is not None:
            check_count("combine", "folds", self.folds, 2)
            if self.smooth is not None:
                raise ArgumentError(
                    f"cannot be given with `folds={self.folds}`",
                    owner="combine",
                    setting="smooth",
                    value=self.smooth,
                    rule="Folds choose how much to smooth",
                    remedy="Give one of the two",
                )

    @property
    def normalised(self) -> bool:
        """Whether α is for scores divided by their standard deviation."""
        return self.range is None if self.normalise is None else self.normalise

    @property
    def never_below(self) -> bool:
        """Whether the result is never worse than a ranker alone: each is a candidate, and only the measure decides."""
        return self.range is None and self.smooth is None and self.folds is None

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest α."""
        return (0.0, 1.0 if self.form == "convex" else math.inf) if self.range is None else self.range


@dataclass(frozen=True, eq=False)
class Joined:
    """Two vectors of weights joined to one."""

    weights: Floats
    alpha: float
    value: float
    """The measure of the weights, higher being better."""


class Combiner:
    """Finds weights on one data set, in units of each ranker."""

    def __init__(self, material: ScoredRankers, search: Search) -> None:
        self.material, self.search = material, search
        divided = search.range is not None and search.normalised  # every ratio is tried whatever the units
        self.units: Floats = self.even_weights() if divided else np.ones(len(material.spreads))
        self.sweep = Sweep(material.data, material.measure)
        self.sign = sign_of(material.measure)
        self.steps: list[CombinationStep] = []

    def even_weights(self) -> Floats:
        """The weights of raw scores with which all rankers count alike."""
        return 1.0 / np.where(self.material.spreads > 0.0, self.material.spreads, 1.0)

    def total(self, weights: Floats) -> Floats:
        """The scores of the rankers combined with these weights."""
        return self.material.combined(weights * self.units)

    def value(self, weights: Floats) -> float:
        """The measure of these weights, higher being better."""
        return self.sign * self.material.value(self.total(weights))

    def join(self, first: Floats, second: Floats) -> tuple[Joined, AnyCurve]:
        """The best combination of two vectors of weights, and the measure for every α."""
        curve, width = self._curve_and_width(self.total(first), self.total(second))
        chosen = curve.smoothed(width) if width else curve
        weights = _weighed(chosen.best_weights(), first, second)
        best = Joined(weights, chosen.best()[0], self.value(weights))
        if self.search.never_below and isinstance(curve, RatioCurve):
            number = curve.better_alone()
            alone = (first, second)[number]
            value = self.value(alone)
            if value > best.value:  # rounding of the combined scores may undo what the curve promises
                best = Joined(alone, self.search.ends[number], value)
        return best, curve

    def fold(self, nested: Nested, numbers: Iterator[int]) -> tuple[Floats, AnyCurve | None]:
        """The weights of nested pairs, and the curve of the last two."""
        if not isinstance(nested, tuple):
            return np.eye(len(self.units))[next(numbers)], None
        (first, _), (second, _) = self.fold(nested[0], numbers), self.fold(nested[1], numbers)
        joined, curve = self.join(first, second)
        self._note(first, second, joined)
        return joined.weights, curve

    def gather_pairs(self) -> Floats:
        """Combine the pair that gains most, again and again."""
        found: dict[tuple[int, int], Joined] = {}
        weights = dict(enumerate(np.eye(len(self.units))))
        values = {number: self.value(alone) for number, alone in weights.items()}
        while len(weights) > 1:
            for i, j in ((i, j) for i in weights for j in weights if i < j and (i, j) not in found):
                found[i, j] = self.join(weights[i], weights[j])[0]
            gains = {
                pair: found[pair].value - max(values[part] for part in pair) for pair in found if set(pair) <= set(weights)
            }
            best = max(gains, key=lambda pair: gains[pair])
            if gains[best] <= _SETTLED:
                break
            number = max(values) + 1
            first, second = (weights.pop(one) for one in best)
            weights[number], values[number] = found[best].weights, found[best].value
            self._note(first, second, found[best])
        return weights[max(weights, key=lambda number: values[number])]

    def cycle(self, weights: Floats, rounds: int) -> Floats:
        """Every weight in turn to its best, as long as that helps."""
        value, alone = self.value(weights), np.eye(len(weights))
        for _ in range(rounds):
            before = value
            for number in range(len(weights)):
                rest = weights.copy()
                rest[number] = 0.0
                changed = self.join(rest, alone[number])[0]
                if changed.value > value + _SETTLED:
                    weights, value = changed.weights, changed.value
                    name = self.material.names[number]
                    self.steps.append(CombinationStep(f"weight of {name}", changed.alpha, self.sign * value))
            if value <= before + _SETTLED:
                break
        return max((weights, *alone), key=self.value) if self.search.never_below else weights

    def result(self, method: str, weights: Floats, curve: AnyCurve | None = None) -> Combination:
        """The blend of these weights, and its measure; ``curve``: that of the two rankers, if there are only two."""
        raw = (weights * self.units).tolist()
        steps = self.steps if len(raw) > 2 else ()
        ranker = blend_of(raw, self.material.rankers, self.material.data)
        alpha = None if curve is None else self.steps[-1].alpha
        return self.material.combination(method, ranker, raw, alpha=alpha, curve=curve, steps=steps)

    def _note(self, first: Floats, second: Floats, joined: Joined) -> None:
        names = [
            " + ".join(name for name, weight in zip(self.material.names, weights, strict=True) if weight)
            for weights in (first, second)
        ]
        self.steps.append(CombinationStep(f"({names[0]}) with ({names[1]})", joined.alpha, self.sign * joined.value))

    def _curve_and_width(self, first: Floats, second: Floats) -> tuple[AnyCurve, float | None]:
        """The measure for every α of two arrays of scores, and how widely to smooth it."""
        spreads = (1.0, 1.0) if self.search.range is not None else (self._spread(first), self._spread(second))
        curve = self._curve(self.sweep, first, second, spreads)
        return curve, self.search.smooth if self.search.folds is None else self._best_width(first, second, spreads)

    def _curve(self, sweep: Sweep, first: Floats, second: Floats, spreads: tuple[float, float]) -> AnyCurve:
        search = self.search
        if search.range is not None:
            return sweep.curve(first, second, *search.range, form=search.form)
        return ratio_curve(sweep, first, second, spreads, form=search.form, divided=search.normalised)

    def _spread(self, scores: Floats) -> float:
        return centre_and_spread(np.sort(scores), f"combined scores on {self.material.data.source}")[1]

    def _best_width(self, first: Floats, second: Floats, spreads: tuple[float, float]) -> float:
        """The smoothing with which weights chosen on some queries do best on the others."""
        low, high = self.search.range or (0.0, 1.0)  # of α, or of shares
        material, values = self.material, np.zeros(len(WIDTHS))
        slim = material.data.select_features([0]) if len(material.data.feature_names) else material.data
        for part in _dealt(slim.queries, self.search):
            inside = np.isin(slim.query_of_row(), part)
            held_out, others = slim.select_queries(part), slim.select_queries(np.setdiff1d(np.arange(slim.queries), part))
            curve = self._curve(Sweep(others, material.measure), first[~inside], second[~inside], spreads)
            judge = replace(material, data=held_out)
            for number, part_of_range in enumerate(WIDTHS):
                chosen = curve.smoothed(part_of_range * (high - low)) if part_of_range else curve
                scores = _weighed(chosen.best_weights(), first[inside], second[inside])
                values[number] += self.sign * judge.value(scores) * held_out.queries
        return WIDTHS[int(np.argmax(values))] * (high - low)


def _weighed(by: tuple[float, float], first: Floats, second: Floats) -> Floats:
    return by[0] * first + by[1] * second


def _dealt(queries: int, search: Search) -> list[Any]:
    """The queries of each fold, in their order."""
    assert search.folds is not None
    if search.folds > queries:
        problem = f"are more than {counted(queries, 'query')}"
        raise ArgumentError(problem, owner="combine", setting="folds", value=search.folds, remedy="Give fewer")
    return [np.sort(part) for part in np.array_split(np.random.default_rng(search.seed).permutation(queries), search.folds)]
