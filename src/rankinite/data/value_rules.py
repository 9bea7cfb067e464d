"""Value rules: what reading does with values that are no ordinary numbers: infinite features, missing and negative grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np

from rankinite.checks import check_choice
from rankinite.choices import Infinite, Unjudged
from rankinite.data._kernels import first_infinite
from rankinite.data.dataset import Dataset
from rankinite.data.grades import is_missing_grade
from rankinite.engine.kernel import FEATURE, GRADE
from rankinite.engine.parallel import over_queries
from rankinite.errors import DataError, quoted


def clean(data: Dataset, *, infinite: Infinite, unjudged: Unjudged, place: Callable[[int], str]) -> Dataset:
    """Apply both rules to freshly read data; ``place`` names the place of a source row for messages."""
    check_choice("read", "infinite", infinite, get_args(Infinite))
    check_choice("read", "unjudged", unjudged, get_args(Unjudged))
    return _without_infinities(_without_unjudged(data, unjudged, place), infinite, place)


def without_empty_grades(data: Dataset) -> Dataset:
    """The data as nobody judged them, if all grades are missing."""
    return data.without_grades() if data.rows and is_missing_grade(data.grades).all() else data


def _without_unjudged(data: Dataset, unjudged: Unjudged, place: Callable[[int], str]) -> Dataset:
    negative = data.grades < 0
    if not negative.any():
        return data
    missing = is_missing_grade(data.grades)
    if unjudged == "keep":
        return replace(data, grades=np.where(missing, GRADE(-1), data.grades)) if missing.any() else data
    if unjudged == "error":
        row = int(np.flatnonzero(negative)[0])
        kept = "give them the grade −1" if missing[row] else "use the grades as they are"
        raise DataError(
            "the grade is missing" if missing[row] else f"the grade is {data.grades[row]:g}",
            place=place(_source_row(data, row)),
            value="grades" if missing[row] else float(data.grades[row]),
            rule="Grades start at 0; an empty cell or −1 usually marks a document that nobody judged",
            remedy=f"Pass `unjudged='drop'` to leave such rows out, or `unjudged='keep'` to {kept}",
        )
    if negative.all():
        raise DataError(
            "leaves no row, as every grade is negative or missing",
            place=data.source,
            setting="unjudged",
            value=unjudged,
            remedy="Check the grade column",
        )
    return data.select_rows(data.in_row_order(~negative))


def _without_infinities(data: Dataset, infinite: Infinite, place: Callable[[int], str]) -> Dataset:
    if infinite == "keep":
        return data

    def search(first: int, last: int) -> int:
        return first_infinite(data.features, int(data.offsets[first]), int(data.offsets[last]))

    found = [position for position in over_queries(search, data.offsets) if position >= 0]
    if not found:
        return data
    if infinite == "error":
        row, feature = divmod(found[0], len(data.feature_names))
        name = quoted(data.feature_names[feature])
        raise DataError(
            f"feature {name} is {data.features[row, feature]}, or too large for a 32-bit float",
            place=place(_source_row(data, row)),
            value=float(data.features[row, feature]),
            remedy="Pass `infinite='missing'` to treat such values as missing, `infinite='clip'` to replace them by the "
            "largest float, or `infinite='keep'` to keep the infinities",
        )
    largest = float(np.finfo(FEATURE).max)
    features = data.features.copy()
    if infinite == "missing":
        features[np.isinf(features)] = np.nan
    else:
        np.clip(features, -largest, largest, out=features)
    return replace(data, features=features)


def _source_row(data: Dataset, row: int) -> int:
    return row if data.input_row is None else int(data.input_row[row])
