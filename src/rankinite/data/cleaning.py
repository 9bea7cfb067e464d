"""What to do with values that are no honest numbers: infinities among the features, negative grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np

from rankinite.choices import Infinite, Unjudged
from rankinite.data._matrix_kernels import first_infinite
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import FEATURE
from rankinite.engine.parallel import over_queries
from rankinite.errors import ArgumentError, DataError, quoted


def clean(data: Dataset, *, infinite: Infinite, unjudged: Unjudged, place: Callable[[int], str]) -> Dataset:
    """Apply both rules to freshly read data; ``place`` names the place of a source row for messages."""
    check_choice("infinite", infinite, get_args(Infinite))
    check_choice("unjudged", unjudged, get_args(Unjudged))
    return _without_infinities(_without_unjudged(data, unjudged, place), infinite, place)


def check_choice(option: str, value: object, known: tuple[str, ...]) -> None:
    """Refuse a value that is none of the known ones, and list those."""
    if value not in known:
        raise ArgumentError(f"{option}={quoted(value)} is unknown. It can be {', '.join(map(repr, known))}.")


def _without_unjudged(data: Dataset, unjudged: Unjudged, place: Callable[[int], str]) -> Dataset:
    negative = data.grades < 0
    if unjudged == "keep" or not negative.any():
        return data
    if unjudged == "error":
        row = int(np.flatnonzero(negative)[0])
        raise DataError(
            f"{place(_source_row(data, row))}: the grade is {data.grades[row]:g}. Grades start at 0, and −1 usually marks a "
            "document nobody judged; pass unjudged='drop' to leave such rows out, or unjudged='keep' to use the grades so."
        )
    if negative.all():
        raise DataError(f"{data.source}: every grade is negative, so unjudged='drop' leaves no row. Check the grade column.")
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
            f"{place(_source_row(data, row))}: feature {name} is {data.features[row, feature]}, or "
            "too large for a 32-bit float. Pass infinite='missing' to treat such values as missing, infinite='clip' to replace "
            "them by the largest float, or infinite='keep' to keep the infinities."
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
