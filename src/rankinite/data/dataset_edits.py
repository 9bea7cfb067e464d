"""Edits of a data set: grades on another scale, other names for its features, no queries of weight 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset_checks import check_judged
from rankinite.data.grade_map import looked_up
from rankinite.engine.kernel import GRADE, Grades
from rankinite.errors import DataError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


def mapped_grades(data: Dataset, mapping: Mapping[float, float] | Callable[[Grades], npt.ArrayLike]) -> Dataset:
    """The data with grades on another scale."""
    check_judged(data)
    if not isinstance(mapping, Mapping):
        return replace(data, grades=np.asarray(mapping(data.grades), GRADE))
    grades, missing = looked_up(data.grades, mapping)
    if missing:
        raise DataError(
            f"the grade map does not contain {', '.join(f'{grade:g}' for grade in missing)}",
            place=data.source,
            value=missing,
            remedy="Map every grade that appears in the data",
        )
    return replace(data, grades=grades.astype(GRADE))


def renamed_features(data: Dataset, names: Mapping[str, str] | Sequence[str]) -> Dataset:
    """The data with other names for their features: all of them in order, or a mapping from old to new."""
    if isinstance(names, Mapping):
        for old in names:
            data.feature_index(old)
        renamed = tuple(names.get(name, name) for name in data.feature_names)
    else:
        renamed = tuple(names)
    new_name = dict(zip(data.feature_names, renamed, strict=False))  # a wrong number of names is refused below
    categories = {new_name.get(name, name): vocabulary for name, vocabulary in data.categories.items()}
    return replace(data, feature_names=renamed, categories=categories)


def without_weightless(data: Dataset) -> Dataset:
    """The data without queries of weight 0, from which nothing is learnt; the same data if all queries weigh 0."""
    if data.weights is None or data.weights.all() or not data.weights.any():
        return data
    return data.select_queries(data.weights > 0.0)
