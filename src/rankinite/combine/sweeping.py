"""Exact combination: the weight that is best for a measure, by following every crossing (papers 000 §4, 002 §7.1, 004 §4.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from rankinite.checks import check_count, check_positive
from rankinite.combine.result import Combination, Material, Rankers, Step, blend_of, gather
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import Scorer
from rankinite.kernel import Floats
from rankinite.measures.base import Measure
from rankinite.sweep.curve import Curve, Form
from rankinite.sweep.sweep import Sweep

Nested = Any
"""A ranker, or a pair of such things in a tuple, which is combined first: ``((a, c), (b, d))``."""
RANGES: dict[str, tuple[float, float]] = {"sum": (0.0, 5.0), "convex": (0.0, 1.0)}
"""The weights tried if no range is given."""
WIDTHS = (0.0, 0.01, 0.03, 0.1, 0.3)
"""Widths of smoothing, as shares of the range, among which cross-validation chooses; 0: none."""
_SETTLED = 1e-12  # a gain that rounding could make is none


@dataclass(frozen=True)
class Search:
    """How a weight is chosen."""

    form: Form = "sum"
    range: tuple[float, float] | None = None
    smooth: float | None = None
    folds: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        given: Any = self.range
        if given is not None and (not isinstance(given, Sequence) or len(given) != 2):
            raise ArgumentError(f"range={given!r} must be two numbers, the lowest and the highest weight.")
        if self.smooth is not None:
            check_positive("combine", "smooth", self.smooth)
        if self.folds is not None:
            check_count("combine", "folds", self.folds, 2)
            if self.smooth is not None:
                raise ArgumentError(f"smooth={self.smooth} and folds={self.folds}: folds choose how much to smooth. Give one.")

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest weight tried."""
        return RANGES.get(self.form, (0.0, 1.0)) if self.range is None else self.range


def exact(
    first: Nested,
    second: Nested,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    form: Form = "sum",
    range: tuple[float, float] | None = None,
    normalise: bool = False,
    smooth: float | None = None,
    folds: int | None = None,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> Combination:
    """Combine two rankers with the weight that is exactly best for a measure on these data.

    ``form``: first + α·second ("sum"), or (1 − α)·first + α·second ("convex"). α runs over ``range``, (0, 5) or (0, 1) if left
    out; it may be negative. The best open interval of α is found and its middle returned; 0 leaves the second out.
    ``normalise``: scores are divided by their standard deviation first, so that α means the same whatever their scale.
    Either may itself be a pair, which is combined first: ``exact(((a, c), (b, d)), (e, f), …)``.

    Against overfitting: ``smooth`` takes the best α of the curve averaged over windows of that width; ``folds`` chooses the
    width by cross-validation over queries (``seed`` says how they are dealt).

    ``names``: what the rankers are called in the result, in the order in which they stand here; by number if left out.
    """
    search = Search(form, range, smooth, folds, seed)
    leaves = [*_leaves(first), *_leaves(second)]
    material = gather(leaves if names is None else _called(names, leaves), data, measure)
    combiner = _Combiner(material, search, normalise=normalise)
    weights, curve = combiner.fold((first, second), count())
    pair = len(leaves) == 2
    return combiner.result("exact", weights, alpha=combiner.steps[-1].alpha if pair else None, curve=curve if pair else None)


def greedy(
    rankers: Rankers,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    form: Form = "sum",
    range: tuple[float, float] | None = None,
    normalise: bool = False,
    smooth: float | None = None,
    folds: int | None = None,
    seed: int = 0,
) -> Combination:
    """Combine many rankers, two at a time: always the pair whose exact combination gains most over the better of the two.

    It ends when all are one, or no pair gains anything; then the best so far is the result. Settings as for :func:`exact`.
    """
    combiner = _Combiner(gather(rankers, data, measure), Search(form, range, smooth, folds, seed), normalise=normalise)
    return combiner.result("greedy", combiner.gather_pairs())


def cyclic(
    rankers: Rankers,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    weights: Sequence[float] | None = None,
    rounds: int = 10,
    range: tuple[float, float] | None = None,
    normalise: bool = False,
) -> Combination:
    """Improve the weights of many rankers one at a time, each to its exact best given the others, until none gains.

    The measure never falls on the way: a weight changes only if that is better. ``weights``: where to start, those of a
    :class:`Combination`, say; if left out, all alike. ``rounds``: at most so often over all of them.
    """
    check_count("combine", "rounds", rounds)
    material = gather(rankers, data, measure)
    combiner = _Combiner(material, Search(range=range), normalise=normalise)
    return combiner.result("cyclic", combiner.cycle(_start(weights, combiner), rounds))


def _start(weights: Sequence[float] | None, combiner: _Combiner) -> Floats:
    rankers = len(combiner.material.rankers)
    if weights is None:
        return np.ones(rankers)
    start = np.asarray(weights, float)
    if start.shape != (rankers,) or not np.isfinite(start).all():
        raise ArgumentError(f"weights={weights!r} must be {rankers} finite numbers, one a ranker.")
    return start / combiner.units


class _Combiner:
    """Finds weights on one set of data; they are counted in units of each ranker."""

    def __init__(self, material: Material, search: Search, *, normalise: bool) -> None:
        self.material, self.search = material, search
        spreads = np.where(material.spreads > 0.0, material.spreads, 1.0)
        self.units: Floats = 1.0 / spreads if normalise else np.ones(len(spreads))
        self.scores: Floats = material.scores * self.units[:, None]
        self.sweep = Sweep(material.data, material.measure)
        self.sign = 1.0 if material.measure.higher_is_better else -1.0
        self.steps: list[Step] = []

    def total(self, weights: Floats) -> Floats:
        """The scores that weights make."""
        return self.material.combined(weights * self.units)

    def value(self, weights: Floats) -> float:
        """The measure of these weights, higher being better."""
        return self.sign * self.material.value(self.total(weights))

    def join(self, first: Floats, second: Floats, alpha: float) -> Floats:
        """What α makes of two vectors of weights, or of scores."""
        return first + alpha * second if self.search.form == "sum" else (1.0 - alpha) * first + alpha * second

    def pair(self, first: Floats, second: Floats) -> tuple[float, Curve]:
        """The best α for two arrays of scores, and the measure for every α."""
        curve = self.sweep.curve(first, second, *self.search.ends, form=self.search.form)
        width = self.search.smooth if self.search.folds is None else self._best_width(first, second)
        return (curve.smoothed(width) if width else curve).best()[0], curve

    def fold(self, nested: Nested, numbers: Iterator[int]) -> tuple[Floats, Curve | None]:
        """The weights of nested pairs, and the curve of the last two."""
        if not isinstance(nested, tuple):
            return np.eye(len(self.units))[next(numbers)], None
        (first, _), (second, _) = self.fold(nested[0], numbers), self.fold(nested[1], numbers)
        alpha, curve = self.pair(self.total(first), self.total(second))
        weights = self.join(first, second, alpha)
        self._note(first, second, alpha, weights)
        return weights, curve

    def gather_pairs(self) -> Floats:
        """Combine the pair that gains most, again and again."""
        found: dict[tuple[int, int], tuple[float, float]] = {}
        weights = dict(enumerate(np.eye(len(self.units))))
        values = {number: self.value(own) for number, own in weights.items()}
        while len(weights) > 1:
            for i, j in ((i, j) for i in weights for j in weights if i < j and (i, j) not in found):
                alpha, _ = self.pair(self.total(weights[i]), self.total(weights[j]))
                found[i, j] = alpha, self.value(self.join(weights[i], weights[j], alpha))
            gains = {pair: found[pair][1] - max(values[one] for one in pair) for pair in found if set(pair) <= set(weights)}
            best = max(gains, key=lambda pair: gains[pair])
            if gains[best] <= _SETTLED:
                break
            number, (alpha, value) = max(values) + 1, found[best]
            first, second = (weights.pop(one) for one in best)
            weights[number], values[number] = self.join(first, second, alpha), value
            self._note(first, second, alpha, weights[number])
        return weights[max(weights, key=lambda number: values[number])]

    def cycle(self, weights: Floats, rounds: int) -> Floats:
        """Every weight in turn to its best, as long as that helps."""
        value = self.value(weights)
        for _ in range(rounds):
            before = value
            for number in range(len(weights)):
                rest = weights.copy()
                rest[number] = 0.0
                changed = rest.copy()
                changed[number] = self.pair(self.total(rest), self.scores[number])[0]
                reached = self.value(changed)
                if reached > value + _SETTLED:
                    weights, value = changed, reached
                    self.steps.append(Step(f"weight of {self.material.names[number]}", changed[number], self.sign * value))
            if value <= before + _SETTLED:
                break
        return weights

    def result(self, method: str, weights: Floats, *, alpha: float | None = None, curve: Curve | None = None) -> Combination:
        """The blend of these weights, and what it is worth."""
        raw = (weights * self.units).tolist()
        steps = self.steps if len(raw) > 2 else ()
        ranker = blend_of(raw, self.material.rankers, self.material.data)
        return self.material.combination(method, ranker, raw, alpha=alpha, curve=curve, steps=steps)

    def _note(self, first: Floats, second: Floats, alpha: float, weights: Floats) -> None:
        names = [
            " + ".join(name for name, weight in zip(self.material.names, own, strict=True) if weight) for own in (first, second)
        ]
        self.steps.append(Step(f"({names[0]}) with ({names[1]})", alpha, self.sign * self.value(weights)))

    def _best_width(self, first: Floats, second: Floats) -> float:
        """The smoothing with which weights chosen on some queries do best on the others."""
        low, high = self.search.ends
        material, values = self.material, np.zeros(len(WIDTHS))
        slim = material.data.select_features([0]) if len(material.data.feature_names) else material.data
        for part in _dealt(slim.queries, self.search):
            inside = np.isin(slim.query_of_row(), part)
            own, others = slim.select_queries(part), slim.select_queries(np.setdiff1d(np.arange(slim.queries), part))
            curve = Sweep(others, material.measure).curve(first[~inside], second[~inside], low, high, form=self.search.form)
            judge = replace(material, data=own)
            for number, share in enumerate(WIDTHS):
                alpha = (curve.smoothed(share * (high - low)) if share else curve).best()[0]
                scores = self.join(first[inside], second[inside], alpha)
                values[number] += self.sign * judge.value(scores) * own.queries
        return WIDTHS[int(np.argmax(values))] * (high - low)


def _dealt(queries: int, search: Search) -> list[Any]:
    """The queries of each fold, in their order."""
    assert search.folds is not None
    if search.folds > queries:
        raise ArgumentError(f"folds={search.folds} are more than the {queries} queries there are. Give fewer.")
    return [np.sort(part) for part in np.array_split(np.random.default_rng(search.seed).permutation(queries), search.folds)]


def _leaves(nested: Nested) -> list[Scorer]:
    if not isinstance(nested, tuple):
        return [nested]
    if len(nested) != 2:
        raise ArgumentError(f"{len(nested)} rankers stand in one bracket. Nest pairs: ((a, b), c).")
    return [*_leaves(nested[0]), *_leaves(nested[1])]


def _called(names: Sequence[str], leaves: list[Scorer]) -> dict[str, Scorer]:
    called = dict(zip(names, leaves, strict=False))
    if not len(names) == len(called) == len(leaves):
        raise ArgumentError(f"names={names!r} must be {len(leaves)} different texts, one a ranker.")
    return called


def nested_by_number(rankers: Mapping[str, Any] | Sequence[Any], order: Nested) -> Nested:
    """The rankers in the place of their numbers, counted from 1, in nested pairs such as (((1, 3), (2, 4)), (5, 6))."""
    listed = list(rankers.values()) if isinstance(rankers, Mapping) else list(rankers)
    if isinstance(order, tuple):
        return tuple(nested_by_number(listed, one) for one in order)
    if not isinstance(order, int) or not 1 <= order <= len(listed):
        raise ArgumentError(f"{order!r} names none of the {len(listed)} rankers. They are counted from 1.")
    return listed[order - 1]
