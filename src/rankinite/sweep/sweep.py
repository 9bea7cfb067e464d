"""Sweep: the exact measure of two rankers' combination for every weight α (paper 000 §4).

The documents of a query are lines over α, and a measure changes only where two lines cross. Each query's lines are followed
from the low end of the range to the high end, and the changes of all queries are put in order and added up.

Cost, for n documents per query and a measure that looks at k ranks: O(n log n) to sort, then O(k + n) for each change among
the first k ranks. There are at most n²/2 of them, and with k = 10 few. Memory: 16 bytes for each change of the measure, three
times while they are sorted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.choices import Form
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import INDEX, SCORE, Floats, Indices, address, compiled, frozen
from rankinite.engine.parallel import over_queries, run
from rankinite.errors import ArgumentError, DataError, MeasureError
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import Scorer, checked_scores, is_scorer, row_place, scores_of
from rankinite.evaluation.values import mean_value
from rankinite.measures import _kernels as measure_kernels
from rankinite.measures import rank
from rankinite.measures.base import FactoredMeasure, Measure, expected_values, factored_measures, scales_of
from rankinite.measures.data_grades import grades_seen_by
from rankinite.measures.spelling import as_measures
from rankinite.sweep import _record_kernels, _sweep_kernels
from rankinite.sweep.curve import Curve, check_form
from rankinite.sweep.ratios import RatioCurve

ROOM = 1 << 16
"""Records for which there is room at once; a query with more gets more."""
_SMALLEST_SPREAD = float(np.finfo(np.float64).tiny)  # one over a smaller one would be infinite


class Records(NamedTuple):
    """The values of some queries over α."""

    alphas: Floats
    values: Floats
    counts: Indices
    """How many records each of the queries has; the first is its value from the low end on."""


class Changes(NamedTuple):
    """The changes of the sum over queries, in whole units, sorted by α."""

    keys: Indices
    steps: Indices


class Sweep:
    """A measure on judged data, made ready to follow the combinations of many pairs of rankers.

    >>> Sweep(valid, "ndcg@10").curve(a.score(valid), b.score(valid), 0, 5).best()                # doctest: +SKIP
    """

    def __init__(self, data: Dataset, measure: Measure | str) -> None:
        swept = as_measures(measure)[0]
        if not isinstance(swept, FactoredMeasure):
            raise MeasureError(
                f"{swept} cannot be swept: it is not made of the relevance of a grade and the discount of a rank",
                value=str(swept),
                rule=f"Those that can are {', '.join(factored_measures())}, with any cutoff",
            )
        self.data, self.measure = data, swept
        ideal = evaluate(data.in_row_order(data.grades), data, swept)[swept].per_query
        grades = grades_seen_by(swept, data)
        relevance = swept.relevance(grades)
        self._discounts = swept.discounts(int(np.diff(data.offsets).max()))
        self._rows = frozen(np.lexsort((-relevance, data.query_of_row())))
        self._relevance = frozen(np.ascontiguousarray(relevance[self._rows], SCORE))
        # What the evaluator makes of a query's expected value: it is 1 for most measures, but precision may be a share of the
        # documents returned, DCG may count short queries 0, and NaN leaves a query out.
        expected = expected_values(swept, rank(data.grades, grades, data.offsets))
        shares = np.ones_like(ideal)
        np.divide(ideal, expected, out=shares, where=expected != 0.0)
        shares[np.isnan(ideal)] = np.nan
        self._scales = frozen(scales_of(swept, self._relevance, data.offsets, self._discounts) * shares)
        self._queries = int(np.count_nonzero(~np.isnan(ideal)))

    def curve(
        self,
        first: Scorer | npt.ArrayLike,
        second: Scorer | npt.ArrayLike,
        low: float,
        high: float,
        *,
        form: Form = "sum",
    ) -> Curve:
        """The mean measure of first + α·second (or of (1−α)·first + α·second) for all α from low to high.

        ``first`` and ``second`` are rankers, or scores in the order of the data's rows. Queries count as
        :func:`rankinite.evaluate` counts them: the curve is its value for the combined scores, except where documents meet or
        are so close that the rounding of combined scores decides.
        """
        s, t = self._scores(first, "the first ranker"), self._scores(second, "the second ranker")
        low, high = _range(low, high)
        check_form(form)
        changes, units = self._changes(s, t, low, high, form)
        edges, totals = np.empty(len(changes.keys) + 2, SCORE), np.empty(len(changes.keys) + 1, INDEX)
        count = _record_kernels.add_up(*changes, low, high, edges, totals)
        return Curve(
            edges=frozen(edges[: count + 1].copy()),
            values=frozen(totals[:count] * (1.0 / units) / self._queries),
            measure=str(self.measure),
            form=form,
            # The curve does not tell: documents may tie at 0, and yet have one value on both sides.
            at_zero=self._mean(s) if low <= 0.0 <= high else None,
            higher_is_better=self.measure.higher_is_better,
        )

    def ratio_curve(
        self, first: Floats, second: Floats, spreads: tuple[float, float], *, form: Form = "sum", divided: bool = True
    ) -> RatioCurve:
        """The mean measure of two arrays of scores for every ratio of their weights, each ranker alone included.

        ``spreads``: what the scores are divided by so that a share means the same to both; where it is 0, they are left as they
        are. ``divided``: whether α is counted for divided scores, or for scores as they are.

        Two rankers are always swept in the same order, whichever was given first, so that swapping them gives the same weights
        to the bit.
        """
        sigma, tau = (spread if spread >= _SMALLEST_SPREAD else 1.0 for spread in spreads)
        s, t = first / sigma, second / tau
        at_first, at_second = self._mean(first), self._mean(second)
        swapped = _comes_before(t, s)
        if swapped:
            shares = replace(self.curve(t, s, 0.0, 1.0, form="convex"), at_zero=at_second, at_one=at_first)
        else:
            shares = replace(self.curve(s, t, 0.0, 1.0, form="convex"), at_zero=at_first, at_one=at_second)
        return RatioCurve(shares, (sigma, tau), swapped, form, even=1.0 if divided else sigma / tau)

    def _scores(self, ranker: Scorer | npt.ArrayLike, name: str) -> Floats:
        scores = (scores_of if is_scorer(ranker) else checked_scores)(ranker, self.data, name)
        if not np.isfinite(scores).all():
            row = int(np.argmin(np.isfinite(scores)))
            raise DataError(
                f"the score {scores[row]} cannot be weighed against others",
                place=f"{name}: {row_place(self.data, row)}",
                value=float(scores[row]),
                rule="Combining needs finite scores",
                remedy="Give documents that are not returned a low one",
            )
        return frozen(scores)

    def _mean(self, scores: Floats) -> float:
        return mean_value(checked_scores(scores, self.data, ""), self.data, self.measure)

    def _changes(self, s: Floats, t: Floats, low: float, high: float, form: Form) -> tuple[Changes, float]:
        """The changes of the sum over queries, and how many of their units make 1."""
        expected = address(self.measure.parts.expected, measure_kernels.EXPECTED)
        sweep_queries = compiled(_sweep_kernels.sweep_queries, _sweep_kernels.SWEEP_QUERIES)
        documents = (self._rows, self._relevance, self._scales, self.data.offsets)
        line = (self._discounts, low, high, float(form == "convex"))

        def records(first: int, last: int) -> list[Records]:
            pages: list[Records] = []
            room = ROOM
            while first < last:
                alphas, values, counts = np.empty(room, SCORE), np.empty(room, SCORE), np.empty(last - first, INDEX)
                done = sweep_queries(expected, s, t, *documents, first, last, *line, alphas, values, counts)
                room = ROOM if done > first else 4 * room
                counts = counts[: done - first]
                used = int(counts.sum())
                pages.append(Records(alphas[:used], values[:used], counts))
                first = done
            return pages

        chunks = over_queries(records, self.data.offsets)
        largest = max(float(np.abs(page.values).max(initial=0.0)) for chunk in chunks for page in chunk)
        if not math.isfinite(largest):
            raise MeasureError(
                "a value is not finite",
                place=self.measure,
                value=largest,
                remedy="Where the gains are huge, map the grades to smaller ones",
            )
        # A power of two, as large as the sum over all queries leaves room for in 62 bits.
        units = math.ldexp(1.0, min(62 - self._queries.bit_length() - math.frexp(largest)[1], 1000))
        runs = run(lambda pages: _sorted_changes(pages, units), chunks)
        while len(runs) > 1:
            runs = run(_merge, [runs[i : i + 2] for i in range(0, len(runs), 2)])
        return runs[0], units


def _range(low: float, high: float) -> tuple[float, float]:
    try:
        ends = float(low), float(high)
    except (TypeError, ValueError):
        ends = math.nan, math.nan
    if not (math.isfinite(ends[0]) and math.isfinite(ends[1]) and ends[0] < ends[1]):
        raise ArgumentError(
            f"the range from {low} to {high} contains no weights",
            value=(low, high),
            remedy="Give two finite numbers, `low` below `high`",
        )
    return ends


def _sorted_changes(pages: Sequence[Records], units: float) -> Changes:
    total = sum(len(page.alphas) for page in pages)
    keys, steps = np.empty(total, INDEX), np.empty(total, INDEX)
    used = 0
    for page in pages:
        bits = page.alphas.view(INDEX)
        _record_kernels.count_in_units(bits, page.values, page.counts, units, keys[used:], steps[used:])
        used += len(bits)
    _record_kernels.sort_by_key(keys, steps, np.empty(total, INDEX), np.empty(total, INDEX))
    return Changes(keys, steps)


def _merge(runs: Sequence[Changes]) -> Changes:
    """One sorted run of two, or of the one that was left over."""
    if len(runs) == 1:
        return runs[0]
    total = sum(len(changes.keys) for changes in runs)
    merged = Changes(np.empty(total, INDEX), np.empty(total, INDEX))
    _record_kernels.merge(*runs[0], *runs[1], *merged)
    return merged


def _comes_before(scores: Floats, others: Floats) -> bool:
    """Whether these scores are swept before the others: by content, and by the order of rows only where nothing else tells."""
    for one, other in ((np.sort(scores), np.sort(others)), (scores, others)):
        differing = np.flatnonzero(one != other)
        if len(differing):
            return bool(one[differing[0]] < other[differing[0]])
    return False
