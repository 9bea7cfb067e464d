"""Exact combination: the weights that are best for a measure, by following every crossing (papers 000 §4, 002 §7.1, 004 §4.3).

Two rankers are combined by one sweep: :meth:`WeightSearch.join`. Everything else joins two at a time: ``exact`` nested pairs,
``greedy`` the pair that gains most, ``cyclic`` each ranker with the sum of all others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from rankinite.checks import check_count, check_positive
from rankinite.choices import Form
from rankinite.combine.combination import (
    AnyCurve,
    Combination,
    CombinationStep,
    Rankers,
    ScoredRankers,
    blend_of,
    score_rankers,
)
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, quoted
from rankinite.evaluation.scorers import RankerLike
from rankinite.measures.base import Measure, sign_of
from rankinite.models.normalised import centre_and_spread
from rankinite.plurals import agreeing, counted
from rankinite.sweep.curve import check_form
from rankinite.sweep.ratios import RatioCurve
from rankinite.sweep.sweep import Sweep

Nested = Any
"""A ranker, or a tuple of two, each of them a ranker or such a tuple, combined first: ``((a, c), (b, d))``."""
WIDTHS = (0.0, 0.01, 0.03, 0.1, 0.3)
"""Widths of smoothing as shares of the range, among which cross-validation chooses; 0: none."""
_ROUNDING = 1e-12  # a gain as small as this could be rounding


@dataclass(frozen=True)
class SearchSettings:
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


def exact(
    first: Nested, second: Nested, data: Dataset, measure: Measure | str = "ndcg@10", *,
    form: Form = SearchSettings.form, range: tuple[float, float] | None = SearchSettings.range,
    normalise: bool | None = SearchSettings.normalise, smooth: float | None = SearchSettings.smooth,
    folds: int | None = SearchSettings.folds, seed: int = SearchSettings.seed,
    names: Sequence[str] | None = None,
) -> Combination:  # fmt: skip
    """Combine two rankers with the weight that is exactly best for a measure on these data.

    A ranker may also be given as scores, one per row of ``data``, or as the path of a score file or of a TREC run; see
    :class:`Combination` for what the result then is.

    ``form``: first + α·second ("sum"), or (1 − α)·first + α·second ("convex"). Every ratio of the two weights is tried: the
    best open interval is found and its middle taken, or one ranker alone where nothing is better: the second is left out where
    α is 0, the first where it is ∞ (1 if convex). So the result is never below the better of the two, and it depends neither
    on which is called the first nor on the scale of the scores. Either may itself be a pair, which is combined first:
    ``exact(((a, c), (b, d)), (e, f), …)``.

    ``range``: tries only these α instead, which may be negative; 0 alone leaves a ranker out, where the range has it.
    ``normalise``: whether α is for scores divided by their standard deviation; if left out, it is unless a range is given,
    whose α are for scores as they are.

    Against overfitting: ``smooth`` takes the best α of the curve averaged over windows of that width (in units of α where
    there is a range, else of the share of the second ranker, 0 to 1); ``folds`` chooses the width by cross-validation over
    queries (``seed`` says how they are dealt). The result may then be below the better of the two.

    ``names``: what the rankers are called in the result, in the order of the arguments; by number if left out.
    """
    settings = SearchSettings(form, range, normalise, smooth, folds, seed)
    leaves = [*_leaves(first), *_leaves(second)]
    rankers: Rankers = leaves
    if names is not None:
        rankers = dict(zip(names, leaves, strict=False))
        if not len(names) == len(rankers) == len(leaves):
            problem = f"must be {len(leaves)} different texts, one per ranker"
            raise ArgumentError(problem, owner="exact", setting="names", value=names, remedy="Leave it out to use numbers")
    search = WeightSearch(score_rankers(rankers, data, measure), settings)
    weights, curve = search.join_nested((first, second), count())
    return search.combination("exact", weights, curve if len(leaves) == 2 else None)


def greedy(
    rankers: Rankers, data: Dataset, measure: Measure | str = "ndcg@10", *,
    form: Form = SearchSettings.form, range: tuple[float, float] | None = SearchSettings.range,
    normalise: bool | None = SearchSettings.normalise, smooth: float | None = SearchSettings.smooth,
    folds: int | None = SearchSettings.folds, seed: int = SearchSettings.seed,
) -> Combination:  # fmt: skip
    """Combine many rankers, two at a time: always the pair whose exact combination gains most over the better of the two.

    It ends when all are one or no pair gains anything; the best so far is the result. Settings as for :func:`exact`.
    """
    settings = SearchSettings(form, range, normalise, smooth, folds, seed)
    search = WeightSearch(score_rankers(rankers, data, measure), settings)
    return search.combination("greedy", search.join_greedily())


def cyclic(
    rankers: Rankers,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    weights: Sequence[float] | None = None,
    rounds: int = 10,
    range: tuple[float, float] | None = None,
    normalise: bool | None = None,
) -> Combination:
    """Improve the weights of many rankers one at a time, each to its exact best given the others, until none gains.

    The measure never falls: a weight changes only if that is better. ``weights``: where to start, such as those of a
    :class:`Combination`; if left out, all alike. ``rounds``: the most passes over all of them. ``range`` and
    ``normalise`` as for :func:`exact`, α being the weight of one ranker beside all others as they are.
    """
    check_count("combine", "rounds", rounds)
    search = WeightSearch(score_rankers(rankers, data, measure), SearchSettings(range=range, normalise=normalise))
    if weights is None:
        start = search.scored.even_weights() if range is None else np.ones(len(search.units))
    else:
        start = np.asarray(weights, float)
        if start.shape != search.units.shape or not np.isfinite(start).all():
            raise ArgumentError(
                f"must be {len(search.units)} finite numbers, one per ranker",
                owner="cyclic",
                setting="weights",
                value=weights,
                remedy="Leave them out to weigh all alike",
            )
        start = start / search.units
    return search.combination("cyclic", search.improve_each(start, rounds))


def _leaves(nested: Nested) -> list[RankerLike]:
    if not isinstance(nested, tuple):
        return [nested]
    if len(nested) != 2:
        problem = f"there {agreeing(len(nested), 'is')} {counted(len(nested), 'ranker')} between one pair of brackets"
        raise ArgumentError(problem, value=len(nested), remedy="Nest pairs: ((a, b), c)")
    return [*_leaves(nested[0]), *_leaves(nested[1])]


def nested_by_number(rankers: Mapping[str, Any] | Sequence[Any], order: Nested) -> Nested:
    """Nested pairs of numbers such as (((1, 3), (2, 4)), (5, 6)) with the rankers of these numbers, counted from 1."""
    listed = list(rankers.values()) if isinstance(rankers, Mapping) else list(rankers)
    if isinstance(order, tuple):
        return tuple(nested_by_number(listed, one) for one in order)
    if not isinstance(order, int) or not 1 <= order <= len(listed):
        problem = f"{quoted(order)} names none of the {len(listed)} rankers"
        raise ArgumentError(problem, value=order, rule="They are counted from 1")
    return listed[order - 1]


@dataclass(frozen=True, eq=False)
class Joined:
    """Two vectors of weights joined to one."""

    weights: Floats
    alpha: float
    value: float
    """The measure of the weights, higher being better."""


class WeightSearch:
    """Finds weights on one data set; a vector of weights has one per ranker, in ``units`` of each."""

    def __init__(self, scored: ScoredRankers, settings: SearchSettings) -> None:
        self.scored, self.settings = scored, settings
        divided = settings.range is not None and settings.normalised  # every ratio is tried whatever the units
        self.units: Floats = scored.even_weights() if divided else np.ones(len(scored.spreads))
        self.each_alone: Floats = np.eye(len(self.units))
        """One vector for each ranker: the one that has it alone."""
        self.sign = sign_of(scored.measure)
        self.steps: list[CombinationStep] = []
        self._sweep = Sweep(scored.data, scored.measure)

    def scores(self, weights: Floats) -> Floats:
        """The scores of the rankers combined with these weights."""
        return self.scored.weighted_sum(weights * self.units)

    def value(self, weights: Floats) -> float:
        """The measure of these weights, higher being better."""
        return self.sign * self.scored.value(self.scores(weights))

    def join(self, first: Floats, second: Floats) -> tuple[Joined, AnyCurve]:
        """The best combination of two vectors of weights, and the measure for every α."""
        settings, s, t = self.settings, self.scores(first), self.scores(second)
        spreads = (self._spread(s), self._spread(t)) if settings.range is None else (1.0, 1.0)
        curve = self._curve(self._sweep, s, t, spreads)
        width = settings.smooth if settings.folds is None else self._best_width(s, t, spreads)
        chosen = curve.smoothed(width) if width else curve
        weights = _weighted(chosen.best_weights(), first, second)
        best = Joined(weights, chosen.best()[0], self.value(weights))
        if settings.never_below and isinstance(curve, RatioCurve):
            number = curve.better_alone()
            alone = (first, second)[number]
            value = self.value(alone)
            if value > best.value:  # rounding of the combined scores may undo what the curve promises
                best = Joined(alone, settings.ends[number], value)
        return best, curve

    def join_nested(self, nested: Nested, numbers: Iterator[int]) -> tuple[Floats, AnyCurve | None]:
        """The weights of nested pairs, the inner ones joined first, and the curve of the last two."""
        if not isinstance(nested, tuple):
            return self.each_alone[next(numbers)], None
        (first, _), (second, _) = self.join_nested(nested[0], numbers), self.join_nested(nested[1], numbers)
        joined, curve = self.join(first, second)
        self._note_step(first, second, joined)
        return joined.weights, curve

    def join_greedily(self) -> Floats:
        """Join the pair that gains most over the better of its two, as long as one gains anything; the best so far."""
        weights = dict(enumerate(self.each_alone))  # by number: the rankers, then what was joined
        values = {number: self.value(alone) for number, alone in weights.items()}
        pairs: dict[tuple[int, int], Joined] = {}
        while len(weights) > 1:
            for i, j in ((i, j) for i in weights for j in weights if i < j and (i, j) not in pairs):
                pairs[i, j] = self.join(weights[i], weights[j])[0]
            gains = {(i, j): pairs[i, j].value - max(values[i], values[j]) for i, j in pairs if i in weights and j in weights}
            best = max(gains, key=lambda pair: gains[pair])
            if gains[best] <= _ROUNDING:
                break
            number = max(values) + 1
            self._note_step(weights.pop(best[0]), weights.pop(best[1]), pairs[best])
            weights[number], values[number] = pairs[best].weights, pairs[best].value
        return weights[max(weights, key=lambda number: values[number])]

    def improve_each(self, weights: Floats, rounds: int) -> Floats:
        """Every weight in turn to its exact best beside all others, as long as that helps."""
        value = self.value(weights)
        for _ in range(rounds):
            value_before = value
            for number, alone in enumerate(self.each_alone):
                others = weights.copy()
                others[number] = 0.0
                joined = self.join(others, alone)[0]
                if joined.value > value + _ROUNDING:
                    weights, value = joined.weights, joined.value
                    name = self.scored.names[number]
                    self.steps.append(CombinationStep(f"weight of {name}", joined.alpha, self.sign * value))
            if value <= value_before + _ROUNDING:
                break
        return max((weights, *self.each_alone), key=self.value) if self.settings.never_below else weights

    def combination(self, method: str, weights: Floats, curve: AnyCurve | None = None) -> Combination:
        """The blend of these weights, and its measure; ``curve``: that of the two rankers, if there are only two."""
        raw = (weights * self.units).tolist()
        steps = self.steps if len(raw) > 2 else ()
        ranker = blend_of(raw, self.scored.rankers, self.scored.data)
        alpha = None if curve is None else self.steps[-1].alpha
        return self.scored.combination(method, ranker, raw, alpha=alpha, curve=curve, steps=steps)

    def _note_step(self, first: Floats, second: Floats, joined: Joined) -> None:
        names = [
            " + ".join(name for name, weight in zip(self.scored.names, weights, strict=True) if weight)
            for weights in (first, second)
        ]
        self.steps.append(CombinationStep(f"({names[0]}) with ({names[1]})", joined.alpha, self.sign * joined.value))

    def _curve(self, sweep: Sweep, s: Floats, t: Floats, spreads: tuple[float, float]) -> AnyCurve:
        settings = self.settings
        if settings.range is not None:
            return sweep.curve(s, t, *settings.range, form=settings.form)
        return sweep.ratio_curve(s, t, spreads, form=settings.form, divided=settings.normalised)

    def _spread(self, scores: Floats) -> float:
        return centre_and_spread(np.sort(scores), f"combined scores on {self.scored.data.source}")[1]

    def _best_width(self, s: Floats, t: Floats, spreads: tuple[float, float]) -> float:
        """The smoothing with which weights chosen on some queries do best on the others."""
        folds = self.settings.folds
        assert folds is not None
        data = self.scored.data
        if folds > data.queries:
            problem = f"are more than {counted(data.queries, 'query')}"
            raise ArgumentError(problem, owner="combine", setting="folds", value=folds, remedy="Give fewer")
        data = data.select_features([0]) if len(data.feature_names) else data  # spares copying the others
        low, high = self.settings.range or (0.0, 1.0)  # of α, or of shares
        values = np.zeros(len(WIDTHS))
        for part in np.array_split(np.random.default_rng(self.settings.seed).permutation(data.queries), folds):
            inside = np.isin(data.query_of_row(), part)
            held_out = data.select_queries(np.sort(part))
            others = data.select_queries(np.setdiff1d(np.arange(data.queries), part))
            curve = self._curve(Sweep(others, self.scored.measure), s[~inside], t[~inside], spreads)
            returned = None if self.scored.returned is None else self.scored.returned[inside]
            judge = replace(self.scored, data=held_out, returned=returned)
            for number, share in enumerate(WIDTHS):
                chosen = curve.smoothed(share * (high - low)) if share else curve
                scores = _weighted(chosen.best_weights(), s[inside], t[inside])
                values[number] += self.sign * judge.value(scores) * held_out.queries
        return WIDTHS[int(np.argmax(values))] * (high - low)


def _weighted(weights: tuple[float, float], first: Floats, second: Floats) -> Floats:
    return weights[0] * first + weights[1] * second
