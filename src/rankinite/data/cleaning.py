"""Rules for values that are not ordinary numbers: infinities among the features, negative grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np

from rankinite.checks import check_choice
from rankinite.choices import Infinite, Unjudged
from rankinite.data._matrix_kernels import first_infinite
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import FEATURE
from rankinite.engine.parallel import over_queries
from rankinite.errors import DataError, quoted


def clean(data: Dataset, *, infinite: Infinite, unjudged: Unjudged, place: Callable[[int], str]) -> Dataset:
    """Apply both rules to freshly read data; ``place`` names the place of a source row for messages."""
    check_choice("read", "infinite", infinite, get_args(Infinite))
    check_choice("read", "unjudged", unjudged, get_args(Unjudged))
    return _without_infinities(_without_unjudged(data, unjudged, place), infinite, place)


def _without_unjudged(data: Dataset, unjudged: Unjudged, place: Callable[[int], str]) -> Dataset:
    negative = data.grades < 0
    if unjudged == "keep" or not negative.any():
        return data
    if unjudged == "error":
        row = int(np.flatnonzero(negative)[0])
        raise DataError(
            f"the grade is {data.grades[row]:g}",
            place=place(_source_row(data, row)),
            value=float(data.grades[row]),
            rule="Grades start at 0, and −1 usually marks a document that nobody judged",
            remedy="Pass `unjudged='drop'` to leave such rows out, or `unjudged='keep'` to use the grades as they are",
        )
    if negative.all():
        raise DataError(
            "leaves no row, as every grade is negative",
            place=data.source,
            setting="unjudged",
            value=unjudged,
            remedy="Check the grade column",
        )
    return data.select_rows(~negative)


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
