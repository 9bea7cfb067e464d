"""Dataset: the data that everything else works on, mostly judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary
from rankinite.data.dataset_checks import check_dataset, whole_positions
from rankinite.data.dataset_edits import mapped_grades, renamed_features
from rankinite.data.grouping import as_text, group_rows, one_per_query
from rankinite.data.one_hot import MOST_COLUMNS, Named, categories_of, one_hot
from rankinite.data.origin import remember_origin
from rankinite.data.preferences import Preferences
from rankinite.data.row_values import check_order, order_of, with_order
from rankinite.data.selection import no_such_feature, query_numbers, row_numbers
from rankinite.engine.kernel import FEATURE, GRADE, INDEX, SCORE, Features, Floats, Grades, Indices, Positions, Strings, frozen
from rankinite.engine.reducer import Members
from rankinite.errors import DataError
from rankinite.frames import ArrowTable, Tabular
from rankinite.plurals import agreeing, counted, data_size


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Tabular):
    """Documents of many queries, mostly judged. Immutable; rows of a query are adjacent.

    Row ``r`` belongs to query ``q`` when ``offsets[q] <= r < offsets[q + 1]``. Usually made by :func:`rankinite.read`; the
    constructor takes arrays over without copying them where their types (those of the fields below) and their layout (row by
    row) allow, and shows them read-only. They stay yours and writeable, but must not change as long as the Dataset is used:
    what is computed of it is kept.
    """

    members: ClassVar[Members | None] = None
    """Those who have the other queries, where several processes train one model; see ``data.members``."""
    features: Features
    """rows × features, float32, row-major; NaN = missing."""
    grades: Grades
    """One per row; larger is better. All 0 where nobody judged the rows."""
    offsets: Indices
    """queries + 1 row numbers: where each query starts, and the number of rows."""
    qids: Strings
    """One name per query, all different."""
    feature_names: tuple[str, ...]
    """One per feature; LETOR files name them by their index."""
    doc_ids: Strings | None = None
    """One per row, where the source names its documents."""
    weights: Floats | None = None
    """One per query: how much it counts in training; 0, or from 1e-100 to 1e100."""
    batches: Strings | None = None
    """One per query: the batch or fold that the source assigns it to."""
    input_row: Indices | None = None
    """The row's number in the source (0-based), where rows were regrouped or dropped; else row r was row r."""
    input_rows: int = -1
    """How many rows the source had (−1: as many as there are here)."""
    preferences: Preferences | None = None
    """Judged pairs with probabilities, in addition to the grades or instead of them."""
    source: str = "data"
    """Where the rows came from, for messages."""
    judged: bool = True
    """Whether the rows have grades. Without, they can be scored and distilled from, but not learnt from or evaluated on."""
    categories: Mapping[str, Vocabulary] = field(default_factory=dict[str, Vocabulary])
    """The vocabulary of each feature that is a category: its column holds codes, or NaN. All other features are numbers."""
    positions: Positions | None = None
    """One per row, from 1 on: where the document was shown when the grades, clicks then, were collected."""

    def __post_init__(self) -> None:
        convert: dict[str, Any] = {
            "features": np.require(self.features, FEATURE, ("C", "ALIGNED", "ENSUREARRAY")),
            "grades": np.ascontiguousarray(self.grades, GRADE),
            "offsets": np.ascontiguousarray(self.offsets, INDEX),
            "qids": as_text(self.qids),
            "doc_ids": None if self.doc_ids is None else as_text(self.doc_ids),
            "weights": None if self.weights is None else np.ascontiguousarray(self.weights, SCORE),
            "batches": None if self.batches is None else as_text(self.batches),
            "feature_names": tuple(self.feature_names),
            "positions": None if self.positions is None else whole_positions(self.positions, self.source),
        }
        if self.input_rows < 0:
            convert["input_rows"] = len(convert["grades"])
        for name, value in convert.items():
            object.__setattr__(self, name, value)
        check_dataset(self)
        for name in ("features", "grades", "offsets", "qids", "doc_ids", "weights", "batches", "input_row", "positions"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, frozen(array))  # a view: the caller's own array stays writeable

    @classmethod
    def from_rows(
        cls,
        features: npt.NDArray[Any],
        grades: npt.NDArray[Any] | None,
        qids: npt.NDArray[Any],
        feature_names: Sequence[str],
        *,
        doc_ids: Strings | None = None,
        weights: Floats | None = None,
        batches: Strings | None = None,
        positions: Positions | None = None,
        source: str = "data",
        categories: Mapping[str, Vocabulary] | None = None,
    ) -> Dataset:
        """Group rows, each with the qid of its query; ``weights`` and ``batches`` are one per row here.

        ``grades``: None where nobody judged the rows.
        """
        judged, grades = grades is not None, np.zeros(len(qids), GRADE) if grades is None else grades
        names, offsets, order = group_rows(qids)
        if order is not None:
            features, grades = features[order], grades[order]
            doc_ids, weights, batches = (None if v is None else v[order] for v in (doc_ids, weights, batches))
            positions = None if positions is None else positions[order]
        return cls(
            features=features,
            grades=grades,
            offsets=offsets,
            qids=names,
            feature_names=tuple(feature_names),
            doc_ids=doc_ids,
            weights=one_per_query(weights, offsets, names, "weight", source),
            batches=one_per_query(batches, offsets, names, "batch", source),
            input_row=order,
            source=source,
            judged=judged,
            categories=categories or {},
            positions=positions,
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
        size = f"{data_size(self.queries, self.rows, len(self.feature_names))}"
        notes = f"{'' if self.judged else ', no grades'}{', rows regrouped' if self.regrouped else ''}"
        return f"<Dataset {self.source}: {size}{notes}>"

    def _repr_html_(self) -> str:
        from rankinite.data.summary import dataset_grid

        return dataset_grid(self).html()

    def query_of_row(self) -> Indices:
        """The query number of every row."""
        return np.repeat(np.arange(self.queries), np.diff(self.offsets))

    def feature_index(self, feature: int | str) -> int:
        """The column of a feature given by position or by name."""
        if isinstance(feature, str):
            column = self._positions.get(feature)
        else:
            column = feature if 0 <= feature < len(self.feature_names) else None
        if column is None:
            raise no_such_feature(self, feature)
        return column

    # ---- choosing ---------------------------------------------------------------------------------------------

    def select_queries(self, queries: npt.ArrayLike | Iterable[str]) -> Dataset:
        """The queries given as numbers, as a mask, or by qid, in the order given."""
        chosen = query_numbers(self, queries)
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate((np.zeros(1, INDEX), np.cumsum(lengths)))
        rows = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        found = self._with_rows(rows, offsets, chosen)
        remember_origin(found, self, chosen)
        return found

    def select_rows(self, keep: npt.NDArray[np.bool_]) -> Dataset:
        """The rows where the mask is true; queries left empty disappear.

        Of regrouped data, a mask must say its order as scores must: ``data.select_rows(data.in_row_order(data.grades > 0))``.
        """
        rows = row_numbers(self, np.asarray(keep))
        check_order(keep, self)
        lengths = np.bincount(self.query_of_row()[rows], minlength=self.queries)
        chosen = np.flatnonzero(lengths)
        return self._with_rows(rows, np.concatenate((np.zeros(1, INDEX), np.cumsum(lengths[chosen]))), chosen)

    def select_features(self, features: Sequence[int | str]) -> Dataset:
        """The features given by position or name, in the order given."""
        columns = [self.feature_index(feature) for feature in features]
        names = tuple(self.feature_names[column] for column in columns)
        categories = {name: self.categories[name] for name in names if name in self.categories}
        return replace(self, features=self.features[:, columns], feature_names=names, categories=categories)

    def rename_features(self, names: Mapping[str, str] | Sequence[str]) -> Dataset:
        """New feature names: all of them in order, or a mapping from old to new."""
        return renamed_features(self, names)

    def one_hot(
        self, names: Sequence[str] | str | None = None, *, like: Named | None = None, most: int = MOST_COLUMNS
    ) -> Dataset:
        """Columns of 0 and 1 in place of the categories named (all if None): ``brand=acme`` is 1 where the brand is acme.

        ``like``: a data set or ranker that has such columns; a category then gets the same ones, whatever its words are here.
        Missing words, and those without a column, are 0 in all of them. ``most``: the categories that a feature may have.

        >>> net = LambdaRank().fit(train.one_hot())                                  # doctest: +SKIP
        >>> scores = net.score(test.one_hot(like=net))                               # doctest: +SKIP
        """
        return one_hot(self, categories_of(self, names), () if like is None else like.feature_names, most)

    # ---- changing ---------------------------------------------------------------------------------------------

    def map_grades(self, mapping: Mapping[float, float] | Callable[[Grades], npt.ArrayLike]) -> Dataset:
        """Grades on another scale: a mapping that contains every grade present, or a function of the grade array.

        >>> binary = data.map_grades({0: 0, 1: 0, 2: 1})                             # doctest: +SKIP
        """
        return mapped_grades(self, mapping)

    def without_grades(self) -> Dataset:
        """The same data as if nobody had judged them."""
        return replace(self, grades=np.zeros(self.rows, GRADE), judged=False)

    def with_weights(self, weights: npt.ArrayLike) -> Dataset:
        """The same data with one training weight per query."""
        return replace(self, weights=np.array(weights, SCORE))

    def with_positions(self, positions: npt.ArrayLike | None) -> Dataset:
        """The same data with the position at which each document was shown, from 1 on; without them if None."""
        if positions is not None:
            check_order(positions, self)
        return replace(self, positions=None if positions is None else np.asarray(positions))

    def with_preferences(self, preferences: Preferences) -> Dataset:
        """The same data with judged pairs."""
        return replace(self, preferences=preferences)

    # ---- order of the source ----------------------------------------------------------------------------------

    @cached_property
    def regrouped(self) -> bool:
        """Whether the rows are in another order than in the source: those of a query were apart, or queries were reordered.

        A plain array of one value per row, such as scores, is then refused: :meth:`from_input_order` or :meth:`in_row_order`
        says in which order it is.
        """
        return self.input_row is not None and bool((np.diff(self.input_row) < 0).any())

    def from_input_order(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """One value per source row, put in the order of these rows; values of rows that were dropped are left out.

        >>> evaluate(data.from_input_order(frame["score"]), data, "ndcg@10")                 # doctest: +SKIP
        """
        if order_of(values) is not None:
            check_order(values, self)
            raise DataError(
                "these values are in the order of the data's rows already",
                place=self.source,
                value=type(values).__name__,
                remedy="Pass them as they are",
            )
        array = np.asarray(values)
        self._check_count(array, self.input_rows, "row of the source, or state the order of these rows with in_row_order")
        return array if self.input_row is None else self.in_row_order(array[self.input_row])

    def in_row_order(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """One value per row, stated to be in the order of these rows, as what a model predicts for ``data.features`` is.

        >>> evaluate(data.in_row_order(model.predict(data.features)), data, "ndcg@10")       # doctest: +SKIP
        """
        if order_of(values) is not None:
            check_order(values, self)
        array = np.asarray(values)
        self._check_count(array, self.rows, "row")
        return with_order(array, self.input_row if self.regrouped else None)

    def to_input_order(self, values: npt.ArrayLike) -> npt.NDArray[Any]:
        """One value per row, such as scores, in the order in which the source had the rows.

        >>> frame["score"] = data.to_input_order(ranker.score(data))                         # doctest: +SKIP
        """
        array = np.asarray(self.in_row_order(values))
        return array if self.input_row is None else array[np.argsort(self.input_row, kind="stable")]

    def to_arrow(self) -> ArrowTable:
        """The rows as a table of PyArrow: qid, grade, doc_id, weight, batch and position, if there are any, then the features.

        Categories are dictionaries of their words. Reading the table, or ``to_pandas()``, gives the same data again; a polars
        frame does not say which column holds positions. Preferences are left out.
        """
        from rankinite.data.io.frame_columns import table_of

        return table_of(self)

    # ---- internals --------------------------------------------------------------------------------------------

    @cached_property
    def _positions(self) -> dict[str, int]:
        """The first column of each feature name: looking every name up in the tuple would take time squared."""
        return {name: column for column, name in reversed(list(enumerate(self.feature_names)))}

    def _check_count(self, values: npt.NDArray[Any], count: int, each: str) -> None:
        if values.shape[:1] != (count,):
            raise DataError(
                f"there {agreeing(values.size, 'is')} {counted(values.size, 'value')} for {counted(count, 'row')}",
                place=self.source,
                value=values.size,
                remedy=f"Give one value for each {each}",
            )

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
            judged=self.judged,
            categories=self.categories,
            positions=None if self.positions is None else self.positions[rows],
        )
