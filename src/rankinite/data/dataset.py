"""The judged data everything else works on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset_checks import check_dataset
from rankinite.data.grouping import as_text, group_rows
from rankinite.data.preferences import Preferences
from rankinite.engine.kernel import FEATURE, GRADE, INDEX, SCORE, Features, Floats, Grades, Indices, Strings, frozen
from rankinite.errors import DataError, listed, quoted
from rankinite.grid import Grid, few


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Judged documents of many queries. Immutable; rows of a query are adjacent.

    Row ``r`` belongs to query ``q`` when ``offsets[q] <= r < offsets[q + 1]``. Usually made by :func:`rankinite.read`; the
    constructor takes arrays over without copying them, so leave them alone afterwards.
    """

    features: Features
    """rows × features, float32, row-major; NaN = missing."""
    grades: Grades
    """One a row; larger is better."""
    offsets: Indices
    """queries + 1 row numbers: where each query starts, and the number of rows."""
    qids: Strings
    """One name a query, all different."""
    feature_names: tuple[str, ...]
    """One a feature; LETOR files name them by their index."""
    doc_ids: Strings | None = None
    """One a row, where the source names its documents."""
    weights: Floats | None = None
    """One a query: how much it counts in training; 0, or from 1e-100 to 1e100."""
    batches: Strings | None = None
    """One a query: the batch or fold the source assigns it to."""
    input_row: Indices | None = None
    """The row's number in the source (0-based), where rows were regrouped or dropped; else row r was row r."""
    input_rows: int = -1
    """How many rows the source had (−1: as many as there are here)."""
    preferences: Preferences | None = None
    """Judged pairs with probabilities, beside or instead of the grades."""
    source: str = "data"
    """Where the rows came from, for messages."""

    def __post_init__(self) -> None:
        convert: dict[str, Any] = {
            "features": np.ascontiguousarray(self.features, FEATURE),
            "grades": np.ascontiguousarray(self.grades, GRADE),
            "offsets": np.ascontiguousarray(self.offsets, INDEX),
            "qids": as_text(self.qids),
            "doc_ids": None if self.doc_ids is None else as_text(self.doc_ids),
            "weights": None if self.weights is None else np.ascontiguousarray(self.weights, SCORE),
            "batches": None if self.batches is None else as_text(self.batches),
            "feature_names": tuple(self.feature_names),
        }
        if self.input_rows < 0:
            convert["input_rows"] = len(convert["grades"])
        for name, value in convert.items():
            object.__setattr__(self, name, value)
        check_dataset(self)
        for name in ("features", "grades", "offsets", "qids", "doc_ids", "weights", "batches", "input_row"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, frozen(array))  # a view: the caller's own array stays writeable

    @classmethod
    def from_rows(
        cls,
        features: npt.NDArray[Any],
        grades: npt.NDArray[Any],
        qids: npt.NDArray[Any],
        feature_names: Sequence[str],
        *,
        doc_ids: Strings | None = None,
        weights: Floats | None = None,
        batches: Strings | None = None,
        source: str = "data",
    ) -> Dataset:
        """Group rows that name their query one by one; ``weights`` and ``batches`` are one a row here."""
        names, offsets, order = group_rows(qids)
        if order is not None:
            features, grades = features[order], grades[order]
            doc_ids, weights, batches = (None if v is None else v[order] for v in (doc_ids, weights, batches))
        return cls(
            features=features,
            grades=grades,
            offsets=offsets,
            qids=names,
            feature_names=tuple(feature_names),
            doc_ids=doc_ids,
            weights=_one_per_query(weights, offsets, names, "weight", source),
            batches=_one_per_query(batches, offsets, names, "batch", source),
            input_row=order,
            source=source,
        )

    @property
    def rows(self) -> int:
        """The number of documents."""
        return len(self.grades)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.qids)

    def __len__(self) -> int:
        return self.rows

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled and copied arrays would be writeable.
        for name, value in state.items():
            object.__setattr__(self, name, frozen(value) if isinstance(value, np.ndarray) else value)

    def __repr__(self) -> str:
        return f"<Dataset {self.source}: {self.queries} queries, {self.rows} rows, {len(self.feature_names)} features>"

    def _repr_html_(self) -> str:
        sizes = np.diff(self.offsets) if self.queries else np.zeros(1, INDEX)
        grades, counts = np.unique(self.grades, return_counts=True)
        told = [f"{grade:g}: {count:,}" for grade, count in zip(grades.tolist(), counts.tolist(), strict=True)]
        rows = (
            ("queries", f"{self.queries:,}"),
            ("documents", f"{self.rows:,}"),
            ("documents a query", f"{sizes.min()} … {np.median(sizes):g} … {sizes.max()}"),
            ("grades", few(told)),
            ("features", f"{len(self.feature_names):,}: {few(self.feature_names)}"),
            *((("preferences", f"{len(self.preferences):,}"),) if self.preferences is not None else ()),
        )
        return Grid(("", ""), rows, align="ll", title=f"Dataset {self.source}").html()

    def query_of_row(self) -> Indices:
        """The query number of every row."""
        return np.repeat(np.arange(self.queries), np.diff(self.offsets))

    def feature_index(self, feature: int | str) -> int:
        """The column of a feature given by position or by name."""
        if isinstance(feature, str):
            if feature in self._positions:
                return self._positions[feature]
            raise DataError(
                f"{self.source}: no feature is named {quoted(feature)}. The features are {listed(self.feature_names)}."
            )
        if 0 <= feature < len(self.feature_names):
            return feature
        raise DataError(
            f"{self.source}: there is no feature at position {feature}. Positions run from 0 to {len(self.feature_names) - 1}."
        )

    # ---- choosing ---------------------------------------------------------------------------------------------

    def select_queries(self, queries: npt.ArrayLike | Iterable[str]) -> Dataset:
        """The queries given as numbers, as a mask, or by qid, in the order given."""
        chosen = self._query_numbers(queries)
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate((np.zeros(1, INDEX), np.cumsum(lengths)))
        rows = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return self._with_rows(rows, offsets, chosen)

    def select_rows(self, keep: npt.NDArray[np.bool_]) -> Dataset:
        """The rows where the mask is true; queries left empty disappear."""
        if keep.dtype != np.bool_ or keep.shape != (self.rows,):
            raise DataError(
                f"{self.source}: a mask of rows must be {self.rows} booleans, not {keep.dtype} of shape {keep.shape}."
            )
        rows = np.flatnonzero(keep)
        lengths = np.bincount(self.query_of_row()[rows], minlength=self.queries)
        chosen = np.flatnonzero(lengths)
        return self._with_rows(rows, np.concatenate((np.zeros(1, INDEX), np.cumsum(lengths[chosen]))), chosen)

    def select_features(self, features: Sequence[int | str]) -> Dataset:
        """The features given by position or name, in the order given."""
        columns = [self.feature_index(feature) for feature in features]
        return replace(self, features=self.features[:, columns], feature_names=tuple(self.feature_names[c] for c in columns))

    def rename_features(self, names: Mapping[str, str] | Sequence[str]) -> Dataset:
        """New feature names: all of them in order, or a mapping from old to new."""
        if isinstance(names, Mapping):
            for old in names:
                self.feature_index(old)
            return replace(self, feature_names=tuple(names.get(name, name) for name in self.feature_names))
        return replace(self, feature_names=tuple(names))

    # ---- changing ---------------------------------------------------------------------------------------------

    def map_grades(self, mapping: Mapping[float, float] | Callable[[Grades], npt.ArrayLike]) -> Dataset:
        """Grades on another scale: a mapping that names every grade present, or a function of the grade array.

        >>> binary = data.map_grades({0: 0, 1: 0, 2: 1})                             # doctest: +SKIP
        """
        if not isinstance(mapping, Mapping):
            return replace(self, grades=np.asarray(mapping(self.grades), GRADE))
        known = {float(GRADE(grade)): value for grade, value in mapping.items()}  # 0.1 means the float32 nearest to it
        present, codes = np.unique(self.grades, return_inverse=True)
        missing = [f"{grade:g}" for grade in present.tolist() if grade not in known]
        if missing:
            raise DataError(
                f"{self.source}: the grade map says nothing of grade {', '.join(missing)}. Map every grade present."
            )
        return replace(self, grades=np.asarray([known[grade] for grade in present.tolist()], GRADE)[codes])

    def with_weights(self, weights: npt.ArrayLike) -> Dataset:
        """The same data with one training weight a query."""
        return replace(self, weights=np.array(weights, SCORE))

    def with_preferences(self, preferences: Preferences) -> Dataset:
        """The same data with judged pairs."""
        return replace(self, preferences=preferences)

    # ---- order of the source ----------------------------------------------------------------------------------

    def to_input_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of these rows, put in the order in which the rows came."""
        return values if self.input_row is None else values[np.argsort(self.input_row, kind="stable")]

    def from_input_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values one a source row, put in the order of these rows; rows that were dropped are left out."""
        if len(values) != self.input_rows:
            raise DataError(
                f"{self.source} has {self.input_rows} rows but {len(values)} values were given for them. "
                "Give one value for each row of the source, in its order."
            )
        return values if self.input_row is None else values[self.input_row]

    # ---- inside -----------------------------------------------------------------------------------------------

    @cached_property
    def _positions(self) -> dict[str, int]:
        """The first column of each feature name: looking every name up in the tuple would take time squared."""
        return {name: column for column, name in reversed(list(enumerate(self.feature_names)))}

    def _query_numbers(self, queries: npt.ArrayLike | Iterable[str]) -> Indices:
        if isinstance(queries, str):
            queries = [queries]
        chosen = np.asarray(queries if isinstance(queries, np.ndarray) else list(queries))  # type: ignore[arg-type]
        if chosen.dtype == np.bool_:
            if len(chosen) != self.queries:
                raise DataError(f"{self.source}: a mask of {len(chosen)} entries for {self.queries} queries. Give one a query.")
            return np.flatnonzero(chosen)
        if chosen.dtype.kind in "UTO":
            number = {str(qid): i for i, qid in enumerate(self.qids.tolist())}
            unknown = [str(qid) for qid in chosen.tolist() if str(qid) not in number]
            if unknown:
                raise DataError(
                    f"{self.source}: there is no query {unknown[0]!r}. The queries are {listed(self.qids.tolist())}."
                )
            return np.asarray([number[str(qid)] for qid in chosen.tolist()], INDEX)
        if chosen.size and chosen.dtype.kind not in "iu":
            raise DataError(f"{self.source}: queries are chosen by number, mask or qid, not by {chosen.dtype} values.")
        outside = chosen[(chosen < 0) | (chosen >= self.queries)]
        if len(outside):
            raise DataError(f"{self.source}: query number {outside[0]} is outside 0…{self.queries - 1}.")
        return chosen.astype(INDEX)

    def _with_rows(self, rows: Indices, offsets: Indices, chosen: Indices) -> Dataset:
        return Dataset(
            features=self.features[rows],
            grades=self.grades[rows],
            offsets=offsets,
            qids=self.qids[chosen],
            feature_names=self.feature_names,
            doc_ids=None if self.doc_ids is None else self.doc_ids[rows],
            weights=None if self.weights is None else self.weights[chosen],
            batches=None if self.batches is None else self.batches[chosen],
            input_row=rows if self.input_row is None else self.input_row[rows],
            input_rows=self.input_rows,
            preferences=None if self.preferences is None else self.preferences.take(rows, self.rows),
            source=self.source,
        )


def _one_per_query(
    values: npt.NDArray[Any] | None, offsets: Indices, qids: Strings, what: str, source: str
) -> npt.NDArray[Any] | None:
    if values is None:
        return None
    starts = offsets[:-1]
    differs = np.flatnonzero(values != np.repeat(values[starts], np.diff(offsets)))
    if len(differs):
        query = int(np.searchsorted(offsets, differs[0], side="right")) - 1
        raise DataError(
            f"{source}: query {str(qids[query])!r} has rows with different {what}s ({values[starts[query]]} and "
            f"{values[differs[0]]}). A {what} belongs to the whole query."
        )
    return values[starts]
