"""Swaps: the smallest change of one feature that lifts a document above another.

While all other features stay, a score follows one feature in steps at the forest's thresholds, or along a line (``response``).
So it is enough to look at one value per step: the nearest to what the feature is now. Every one of them is scored by the whole
ranker, so that what is found swaps the two, and what is nearer does not. Categories have no order, so that none is nearer than
another: they are tried where no number swaps the two, all of them, and the most frequent one that does is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankinite.data.categories import Vocabulary, recode_column, union
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import FEATURE, Features, Floats, Indices
from rankinite.frames import finite
from rankinite.models.explanations.contributions import Response
from rankinite.trees.structure import float32_below

ROOM = 1 << 22
"""Numbers in a matrix that is scored at a time."""
TRIES = 64
"""Floats that are scored at a time where a line is searched for the first that reaches a score."""


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """A change of one feature of one document that puts it above another."""

    document: str
    """The document that is lifted."""
    feature: str
    """The feature that changes."""
    old: float | str
    """Its value, of a category its name; NaN: missing."""
    new: float | str
    """The nearest value with which the document is above the other; a category that the data give by number stays a number."""
    score: float
    """The document's score then."""
    passed: float
    """The share of the data's documents whose values lie between the two, the new one included: what makes a change small.
    1 for categories, which have no order."""
    spreads: float
    """The change in standard deviations of the feature in the data; decides between equal shares. ∞ for categories."""
    category: bool = False
    """Whether the feature is a category."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; a missing value is null."""
        content = {name: getattr(self, name) for name in ("document", "feature", "score", "passed", "category")}
        values = {name: getattr(self, name) for name in ("old", "new", "spreads")}
        return content | {name: value if isinstance(value, str) else finite(value) for name, value in values.items()}


def smallest_swap(
    ranker: Any, response: Response, data: Dataset, query: Dataset, lower: tuple[int, str], goal: float
) -> FeatureChange | None:
    """The smallest change of one feature after which the lower document scores above ``goal``; None where there is none.

    Any change of a number counts as smaller than one of a category. That a number goes missing is not tried.
    ``data``: the documents that tell how large a change is; ``lower``: the document's row in the query, and its name.
    """
    best: FeatureChange | None = None
    row, name = lower
    for feature in sorted({*response.thresholds, *response.slopes}, key=query.feature_names.index):
        column = query.feature_index(feature)
        known = np.sort(data.features[:, column])
        known = known[: np.count_nonzero(~np.isnan(known))]
        for new, score in _swapping(ranker, response, feature, query, row, goal, known):
            change = FeatureChange(name, feature, float(query.features[row, column]), new, score, 0.0, 0.0)
            change = _sized(change, known)
            if best is None or (change.passed, change.spreads) < (best.passed, best.spreads):
                best = change
    return best or _frequent_category(ranker, response.categories, data, query, lower, goal)


def _frequent_category(
    ranker: Any, categories: Mapping[str, Vocabulary], data: Dataset, query: Dataset, lower: tuple[int, str], goal: float
) -> FeatureChange | None:
    """The most frequent in the data of the categories, missing ones included, that lift the document above the goal."""
    found: list[tuple[int, FeatureChange]] = []
    row, name = lower
    for feature in sorted(categories, key=query.feature_names.index):
        column, in_data = query.feature_index(feature), query.categories.get(feature)
        known = categories[feature] if in_data is None else union((in_data, categories[feature]))
        codes = np.append(np.arange(len(known), dtype=FEATURE), FEATURE(np.nan))
        held = recode_column(data.features[:, column], in_data, known)
        counts = np.bincount(np.where(np.isnan(held), len(known), held).astype(np.int64), minlength=len(codes))
        old: Any = query.features[row, column].item()
        if in_data is None:  # the data have plain numbers for categories
            values: list[Any] = known.plain_numbers(codes).tolist()
            scores = _scores_with(ranker, query, row, column, np.asarray(values, FEATURE))
        else:
            values = [*known.names, np.nan]
            old = old if np.isnan(old) else in_data.names[int(old)]
            renamed = replace(query, categories={**query.categories, feature: known})
            scores = _scores_with(ranker, renamed, row, column, codes)
        lifting = np.flatnonzero(scores > goal)
        if len(lifting):
            best = int(lifting[np.argmax(counts[lifting])])
            change = FeatureChange(name, feature, old, values[best], float(scores[best]), 1.0, np.inf, category=True)
            found.append((int(counts[best]), change))
    return max(found, key=lambda one: one[0])[1] if found else None


def _swapping(
    ranker: Any, response: Response, feature: str, query: Dataset, row: int, goal: float, known: Features
) -> Iterator[tuple[float, float]]:
    """For each direction, the nearest value of a feature that lifts the document above the goal, and its score then."""
    column = query.feature_index(feature)
    now = query.features[row, column]
    origin = _origin(now, known)
    slope = response.slopes.get(feature, 0.0)
    steps = _steps(response.thresholds.get(feature, np.zeros(0)), origin)
    scores = _scores_with(ranker, query, row, column, steps)
    for rising in (True, False):
        ahead = np.flatnonzero(steps >= origin if rising else steps <= origin)
        ahead = ahead if rising else ahead[::-1]
        for place, step in enumerate(ahead.tolist()):
            if scores[step] > goal:
                if steps[step] != now:
                    yield float(steps[step]), float(scores[step])
                break
            beyond = np.inf if rising else -np.inf
            span = float(steps[step]), beyond if place + 1 == len(ahead) else float(steps[ahead[place + 1]])
            found = _along_line(ranker, query, row, column, span, slope, goal)
            if found is not None:
                yield found
                break


def _origin(now: np.float32, known: Features) -> np.float32:
    """Where changes are counted from: the value itself, or the data's median where it is missing."""
    if not np.isnan(now):
        return now
    return known[len(known) // 2] if len(known) else FEATURE(0.0)


def _steps(thresholds: Floats, origin: np.float32) -> Features:
    """One float32 in each interval between thresholds, the nearest to the origin, in rising order."""
    cuts = float32_below(thresholds[np.isfinite(thresholds)])
    cuts = np.unique(cuts[np.isfinite(cuts)])
    below, above = cuts[cuts < origin], np.nextafter(cuts[cuts >= origin], FEATURE(np.inf))
    return np.unique(np.concatenate((below, [origin], above[np.isfinite(above)]))).astype(FEATURE)


def _along_line(
    ranker: Any, query: Dataset, row: int, column: int, span: tuple[float, float], slope: float, goal: float
) -> tuple[float, float] | None:
    """The first float32 between two steps at which a line has passed the goal, and the score there."""
    begin, end = span
    if slope == 0.0 or (slope > 0.0) != (end > begin):
        return None
    below, above = (int(one) for one in _places(np.asarray([begin, end], FEATURE)))
    above += 1 if below > above else -1  # the end is a step of its own
    while True:  # the line rises in floats too, so that the search may narrow down
        tried = below + (above - below) * np.arange(1, TRIES + 1) // TRIES
        values = _floats_at(tried)
        scores = _scores_with(ranker, query, row, column, values)
        passed = np.flatnonzero(scores > goal)
        if not len(passed):
            return None
        first = int(passed[0])
        above, below = int(tried[first]), int(tried[first - 1]) if first else below
        if abs(above - below) <= 1:
            return float(values[first]), float(scores[first])


def _places(values: Features) -> Indices:
    """The place of each float32 among all of them; 0 has place 0."""
    bits = values.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def _floats_at(places: Indices) -> Features:
    """The inverse of :func:`_places`."""
    return np.copysign(np.abs(places).astype(np.int32).view(FEATURE), places.astype(FEATURE))


def _scores_with(ranker: Any, query: Dataset, row: int, column: int, values: Features) -> Floats:
    """The scores of a document with each of these values in place of its own."""
    scores = np.empty(len(values))
    size = max(ROOM // query.features.shape[1], 1)
    for first in range(0, len(values), size):
        part = values[first : first + size]
        rows = np.repeat(query.features[row : row + 1], len(part), axis=0)
        rows[:, column] = part
        scores[first : first + size] = ranker.score(rows_like(query, rows))
    return scores


def rows_like(query: Dataset, rows: Features) -> Dataset:
    """Rows with the features of a query, each a query of its own."""
    count = len(rows)
    return Dataset(
        features=rows,
        grades=np.zeros(count, FEATURE),
        offsets=np.arange(count + 1),
        qids=np.arange(count).astype(str),
        feature_names=query.feature_names,
        source=query.source,
        judged=False,
        categories=query.categories,
    )


def _sized(change: FeatureChange, known: Features) -> FeatureChange:
    """How large a change is, among the known values of the feature, in rising order."""
    old, new = float(_origin(FEATURE(change.old), known)), FEATURE(change.new)
    start = FEATURE(old)
    if new >= start:
        between = np.searchsorted(known, new, side="right") - np.searchsorted(known, start, side="right")
    else:
        between = np.searchsorted(known, start, side="left") - np.searchsorted(known, new, side="left")
    spread = float(known.std(dtype=np.float64)) if len(known) else 0.0
    away = abs(float(new) - old)
    spreads = away / spread if spread > 0.0 else (np.inf if away > 0.0 else 0.0)
    return replace(change, passed=float(between / max(len(known), 1)), spreads=float(spreads))
