"""Dataset: the data that everything else works on, mostly judged. Rows of a query are adjacent; all arrays are read-only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import MOST_COLUMNS, Named, Vocabulary, categories_of, one_hot
from rankinite.data.dataset_checks import check_dataset, check_judged, whole_positions
from rankinite.data.grades import look_up_grades
from rankinite.data.grouping import as_text, check_order, group_rows, one_per_query, order_of, with_order
from rankinite.data.preferences import Preferences
from rankinite.engine.kernel import (
    FEATURE,
    GRADE,
    INDEX,
    SCORE,
    Features,
    Flags,
    Floats,
    Grades,
    Indices,
    Positions,
    Strings,
    frozen,
)
from rankinite.errors import DataError, listed, quoted
from rankinite.frames import ArrowTable, Tabular
from rankinite.pickles import StablePickle
from rankinite.plurals import agreeing, counted, data_size

if TYPE_CHECKING:
    from rankinite.engine.reducer import Members


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(StablePickle, Tabular):
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
        # Pickles of 0.2 and of classes derived from this one: their arrays would be writeable.
        for name, value in state.items():
            object.__setattr__(self, name, frozen(value) if isinstance(value, np.ndarray) else value)

    def __repr__(self) -> str:
        size = data_size(self.queries, self.rows, len(self.feature_names))
        notes = f"{'' if self.judged else ', no grades'}{', rows regrouped' if self.regrouped else ''}"
        return f"<Dataset {self.source}: {size}{notes}>"

    def _repr_html_(self) -> str:
        from rankinite.data.describe import dataset_grid

        return dataset_grid(self).html()

    def query_of_row(self) -> Indices:
        """The query number of every row."""
        return np.repeat(np.arange(self.queries), np.diff(self.offsets))

    def feature_index(self, feature: int | str) -> int:
        """The column of a feature given by position or by name."""
        if isinstance(feature, str):
            if feature not in self._column_by_name:
                raise DataError(
                    f"no feature is named {quoted(feature)}",
                    place=self.source,
                    value=feature,
                    rule=f"The features are {listed(self.feature_names)}",
                )
            return self._column_by_name[feature]
        if not 0 <= feature < len(self.feature_names):
            raise DataError(
                f"there is no feature at position {feature}",
                place=self.source,
                value=int(feature),
                rule=f"Positions run from 0 to {len(self.feature_names) - 1}",
            )
        return feature

    @cached_property
    def _column_by_name(self) -> dict[str, int]:
        """The first column of each feature name: looking every name up in the tuple would take time squared."""
        return {name: column for column, name in reversed(list(enumerate(self.feature_names)))}

    # ---- choosing ---------------------------------------------------------------------------------------------

    def select_queries(self, queries: npt.ArrayLike | Iterable[str]) -> Dataset:
        """The queries given as numbers, as a mask, or by qid, in the order given."""
        chosen = self._query_numbers(queries)
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate((np.zeros(1, INDEX), np.cumsum(lengths)))
        rows = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        selection = self._with_rows(rows, offsets, chosen)
        before = origin_of(self)
        whole, numbers = (self, chosen) if before is None else (before[0], before[1][chosen])
        _ORIGINS[selection] = ref(whole), numbers
        return selection

    def select_rows(self, keep: npt.NDArray[np.bool_]) -> Dataset:
        """The rows where the mask is true; queries left empty disappear.

        Of regrouped data, a mask must say its order as scores must: ``data.select_rows(data.in_row_order(data.grades > 0))``.
        """
        mask = np.asarray(keep)
        if mask.dtype != np.bool_ or mask.shape != (self.rows,):
            raise DataError(
                f"the mask of rows is {mask.dtype} of shape {mask.shape}",
                place=self.source,
                value=mask.shape,
                rule=f"A mask has one boolean per row, {self.rows} in all",
            )
        check_order(keep, self)
        rows = np.flatnonzero(mask)
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
        if isinstance(names, Mapping):
            for old in names:
                self.feature_index(old)
            renamed = tuple(names.get(name, name) for name in self.feature_names)
        else:
            renamed = tuple(names)
        new_name = dict(zip(self.feature_names, renamed, strict=False))  # the new data refuse a wrong number of names
        categories = {new_name.get(name, name): vocabulary for name, vocabulary in self.categories.items()}
        return replace(self, feature_names=renamed, categories=categories)

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
        check_judged(self)
        if not isinstance(mapping, Mapping):
            return replace(self, grades=np.asarray(mapping(self.grades), GRADE))
        grades, missing = look_up_grades(self.grades, mapping)
        if missing:
            raise DataError(
                f"the grade map does not contain {', '.join(f'{grade:g}' for grade in missing)}",
                place=self.source,
                value=missing,
                remedy="Map every grade that appears in the data",
            )
        return replace(self, grades=grades.astype(GRADE))

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

    def _check_count(self, values: npt.NDArray[Any], count: int, each: str) -> None:
        if values.shape[:1] != (count,):
            raise DataError(
                f"there {agreeing(values.size, 'is')} {counted(values.size, 'value')} for {counted(count, 'row')}",
                place=self.source,
                value=values.size,
                remedy=f"Give one value for each {each}",
            )

    def _query_numbers(self, queries: npt.ArrayLike | Iterable[str]) -> Indices:
        if isinstance(queries, str):
            queries = [queries]
        chosen = np.asarray(queries if isinstance(queries, np.ndarray) else list(queries))  # type: ignore[arg-type]
        if chosen.dtype == np.bool_:
            if len(chosen) != self.queries:
                raise DataError(
                    f"the mask of queries has {counted(len(chosen), 'entry')}",
                    place=self.source,
                    value=len(chosen),
                    rule=f"A mask has one entry per query, {self.queries} in all",
                )
            return np.flatnonzero(chosen)
        if chosen.dtype.kind in "UTO":
            number_of = {str(qid): number for number, qid in enumerate(self.qids.tolist())}
            qids = [str(qid) for qid in chosen.tolist()]
            unknown = [qid for qid in qids if qid not in number_of]
            if unknown:
                raise DataError(
                    f"there is no query {quoted(unknown[0])}",
                    place=self.source,
                    value=unknown[0],
                    rule=f"The queries are {listed(self.qids.tolist())}",
                )
            return np.asarray([number_of[qid] for qid in qids], INDEX)
        if chosen.size and chosen.dtype.kind not in "iu":
            raise DataError(
                f"queries cannot be chosen by {chosen.dtype} values",
                place=self.source,
                value=str(chosen.dtype),
                remedy="Give their numbers, a mask, or their qids",
            )
        outside = chosen[(chosen < 0) | (chosen >= self.queries)]
        if len(outside):
            raise DataError(
                f"there is no query number {outside[0]}",
                place=self.source,
                value=int(outside[0]),
                rule=f"Queries are numbered from 0 to {self.queries - 1}",
            )
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
            judged=self.judged,
            categories=self.categories,
            positions=None if self.positions is None else self.positions[rows],
        )


def without_weightless(data: Dataset) -> Dataset:
    """The data without queries of weight 0, from which nothing is learnt; the same data if all queries weigh 0."""
    if data.weights is None or data.weights.all() or not data.weights.any():
        return data
    return data.select_queries(data.weights > 0.0)


# ---- what is known of data beside their arrays ------------------------------------------------------------------------
# Notes that live as long as the data sets they are about, and keep none of them alive.

_ORIGINS: WeakKeyDictionary[Dataset, tuple[ref[Dataset], Indices]] = WeakKeyDictionary()
_JUDGED: WeakKeyDictionary[Dataset, Flags] = WeakKeyDictionary()


def origin_of(data: Dataset) -> tuple[Dataset, Indices] | None:
    """The data set that this is a selection of, and the numbers of its queries there; None if it is none, or the whole is gone.

    A process that has the whole need only be told which queries.
    """
    note = _ORIGINS.get(data)
    whole = None if note is None else note[0]()
    return None if note is None or whole is None else (whole, note[1])


def remember_judged_rows(data: Dataset, judged: Flags) -> None:
    """Note which rows somebody judged, where grade 0 may also mean that nobody did: TREC judgements put to a run."""
    _JUDGED[data] = frozen(judged)


def judged_rows(data: Dataset) -> Flags | None:
    """One per row: whether somebody judged it, in such data and in queries selected from them. None: only grades are known."""
    if data in _JUDGED:
        return _JUDGED[data]
    origin = origin_of(data)
    if origin is None or origin[0] not in _JUDGED:
        return None
    whole, queries = origin
    return np.concatenate([_JUDGED[whole][whole.offsets[query] : whole.offsets[query + 1]] for query in queries])
