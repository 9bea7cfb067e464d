"""Inputs of scoring: features found by name in data sets, frames and matrices, and categories in the codes of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary, category_of, recode_column, word_of
from rankinite.data.dataset import Dataset
from rankinite.data.io.arrays import is_sparse
from rankinite.data.io.column_types import is_numeric, repeated_names
from rankinite.engine.kernel import FEATURE, INDEX, SCORE, Indices, Reals, frozen
from rankinite.errors import DataError, cut, listed, quoted
from rankinite.plurals import counted


@dataclass(frozen=True, slots=True)
class NamedMatrix:
    """A matrix whose columns have names; as a frame of NumPy's numbers it is taken wherever a data frame is."""

    matrix: Reals
    """Rows × features, row-major."""
    columns: tuple[str, ...]
    """A name for each column."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.matrix, dtype) if copy else np.asarray(self.matrix, dtype)

    def __getitem__(self, name: str) -> Reals:
        return self.matrix[:, self.columns.index(name)]


def has_names(features: object) -> bool:
    """Whether the features come with names: in a Dataset or a data frame."""
    kind: Any = type(features)
    return isinstance(features, Dataset) or hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "columns")


def check_meaning(features: object, names: Iterable[tuple[str, ...]], kind: str) -> None:
    """Refuse a plain array for rankers that do not all mean the same features by its columns."""
    different = {part for part in names if part}
    if not has_names(features) and len(different) > 1:
        raise DataError(
            "its parts have different features, so that it is not clear what the columns of an array are",
            place=kind,
            value=len(different),
            remedy="Score a Dataset or a data frame, whose features are found by name",
        )


def feature_matrix(
    features: Dataset | npt.ArrayLike, names: tuple[str, ...], categories: Mapping[int, Vocabulary] | None = None
) -> tuple[Reals, Indices | None]:
    """A matrix of all rows, and the column of each feature named (None: they are its columns, in order).

    The columns are not put in order here, because data sets can be large and are mostly in order already. ``categories``:
    vocabularies of features that may be text in a data frame, by position.
    """
    if categories is None:
        refuse_categories(features, names)
    if isinstance(features, Dataset):
        return features.features, columns_of(features.feature_names, names, features.source)
    if isinstance(features, NamedMatrix):
        return frozen(features.matrix), columns_of(features.columns, names, "the columns")
    if has_names(features):
        return frozen(_frame_matrix(features, names, categories or {})), None
    return frozen(_plain_matrix(features, len(names))), None


def columns_of(names: Sequence[str], wanted: tuple[str, ...], place: str) -> Indices | None:
    """The column of each feature wanted, in data with these names; None when they are the same."""
    if tuple(names) == wanted:
        return None
    position = {name: column for column, name in enumerate(names)}
    missing = [name for name in wanted if name not in position]
    if missing:
        raise DataError(
            f"there is no feature {listed(missing, 5)}, which the model needs",
            place=place,
            value=missing[0],
            rule=f"The features are {listed(names)}",
            **_remedy(missing, names),
        )
    repeated = sorted(set(repeated_names(names)) & set(wanted))
    if repeated:
        raise two_features(place, repeated[0])
    return np.asarray([position[name] for name in wanted], INDEX)


def _remedy(missing: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """What to do where features are missing: they may be columns of 0 and 1 for the words of a category."""
    category = category_of(missing[0], names)
    if category is not None:
        return {
            "remedy": f"Make columns of 0 and 1 of {quoted(category)}: Dataset.one_hot(like=…) of the ranker or its data",
            "shell_remedy": f"Make columns of 0 and 1 of it with `one_hot={[category]!r}`",
        }
    return {
        "remedy": "Read the data with the names that the model has for their features, with `rename=…`, or `like=…` the data "
        "it was trained on",
        "shell_remedy": "Give data with the features it was trained on, or call these as the model does, with `rename=…` or "
        "`names=…`",
    }


def two_features(place: str, name: str) -> DataError:
    """The error for features that have the same name."""
    return DataError(
        f"two features are called {quoted(name)}", place=place, value=name, rule="Names must differ", remedy="Rename one"
    )


def _frame_matrix(frame: Any, names: tuple[str, ...], categories: Mapping[int, Vocabulary]) -> Reals:
    """The features named, from a frame that may have others: float32 when all are, else float64.

    Categories that are text there become what plain numbers would have to be: their codes, or the whole numbers they are.
    """
    import pyarrow as pa

    from rankinite.data.io.arrow_columns import numbers

    table = _arrow_table(frame, names)
    columns_of(table.column_names, names, "the table")
    types = {name: table.schema.field(name).type for name in names}
    texts = {
        names[place]: one
        for place, one in categories.items()
        if not is_numeric(types[names[place]]) or (pa.types.is_dictionary(types[names[place]]) and not one.numeric)
    }
    for name in names:
        if name not in texts and not is_numeric(types[name]):
            raise DataError(
                f"column {quoted(name)} contains {types[name]}, not numbers",
                place="the table",
                value=name,
                rule="Features must be numeric",
                remedy="Convert it",
            )
    kinds = {types[name] for name in names if name not in texts}
    matrix = np.empty((table.num_rows, len(names)), FEATURE if kinds <= {pa.float32()} else SCORE)
    for column, name in enumerate(names):
        if name in texts:
            matrix[:, column] = numbers_of_column(table.column(name), texts[name])
        else:
            matrix[:, column] = numbers(table.column(name), matrix.dtype)
    return matrix


def _arrow_table(frame: Any, names: tuple[str, ...]) -> Any:
    import pyarrow as pa

    kind = type(frame)
    if hasattr(kind, "collect"):
        raise DataError(f"a {kind.__name__} has no values yet", value=kind.__name__, remedy="Call its collect() first")
    try:
        if hasattr(kind, "columns") and not hasattr(kind, "column_names"):
            # pandas and polars: columns that are not needed may hold what Arrow has no type for.
            labels = {str(label): label for label in frame.columns}
            if all(name in labels for name in names):
                frame = frame[[labels[name] for name in names]]
            else:
                columns_of(list(labels), names, "the table")
        return pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError, KeyError) as error:
        raise DataError(
            f"a {kind.__name__} cannot be read as a table of features ({cut(error)})",
            value=kind.__name__,
            remedy="Give a matrix instead",
        ) from error


def _plain_matrix(features: Any, count: int) -> Reals:
    """Rows × features by position. float32 and float64 stay what they are, other numbers become float64."""
    if is_sparse(features):
        features = features.toarray()
    try:
        array = np.asarray(features)
        if array.dtype.kind == "O":
            array = array.astype(SCORE)  # None becomes NaN
    except (TypeError, ValueError) as error:
        kind = type(features).__name__
        raise DataError(
            f"a {kind} is neither a Dataset nor a table nor a matrix of numbers ({cut(error)})",
            value=kind,
            remedy="Give rows × features",
        ) from error
    if array.ndim != 2:
        raise DataError(
            f"the features have shape {array.shape}",
            value=array.shape,
            rule="They must be a matrix of rows × features",
            remedy="Make one row a matrix with reshape(1, -1)",
        )
    if array.dtype.kind not in "fiub":
        raise DataError(
            f"the features are of type {array.dtype}",
            value=str(array.dtype),
            rule="They must be numbers",
            remedy="Convert them first",
        )
    if array.shape[1] != count:
        raise DataError(
            f"the matrix has {counted(array.shape[1], 'column')} but the model has {counted(count, 'feature')}",
            value=array.shape[1],
            remedy="Give one column per feature, in the order of feature_names, or a Dataset or data frame, whose features are "
            "found by name",
        )
    return np.ascontiguousarray(array, FEATURE if array.dtype.newbyteorder("=") == FEATURE else SCORE)


def encode_categories(
    features: Dataset | npt.ArrayLike, matrix: Reals, columns: Indices | None, names: Sequence[str],
    categories: Mapping[int, Vocabulary],
) -> Reals:  # fmt: skip
    """The matrix with the model's codes in the columns of its categories, given by position in ``names``.

    Categories of a Dataset are matched by name; plain numbers are a category's value where categories are whole numbers, else
    its code in the model. A category that the model does not know gets a code behind all of the vocabulary: it is in no set.
    """
    own: Mapping[str, Vocabulary] = features.categories if isinstance(features, Dataset) else {}
    if own:
        refuse_categories(features, [name for place, name in enumerate(names) if place not in categories])
    if not categories:
        return matrix
    coded = np.array(matrix, FEATURE if matrix.dtype == FEATURE else SCORE)
    for place, vocabulary in categories.items():
        column = place if columns is None else int(columns[place])
        given = coded[:, column]
        codes = recode_column(given, own.get(names[place]), vocabulary)
        coded[:, column] = np.where(np.isnan(codes) & ~np.isnan(given), len(vocabulary), codes)
    return frozen(coded)


def refuse_categories(features: object, names: Sequence[str]) -> None:
    """Refuse data in which a feature that a model takes for a number is a category: its codes have no size."""
    if not isinstance(features, Dataset):
        return
    found = [name for name in names if name in features.categories]
    if found:
        raise DataError(
            f"the feature {quoted(found[0])} is a category, but the model takes it for a number",
            place=features.source,
            value=found[0],
            remedy="Train a learner of trees on data in which it is a category",
        )


def numbers_of_column(column: Any, vocabulary: Vocabulary) -> npt.NDArray[np.float64]:
    """An Arrow column of names as the plain numbers that stand for them (:meth:`Vocabulary.codes_of`); unknown ones are ∞."""
    import pyarrow as pa
    import pyarrow.compute

    compute: Any = pyarrow.compute
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    dictionary = array if pa.types.is_dictionary(array.type) else compute.dictionary_encode(array)
    values = [*dictionary.dictionary.to_pylist(), None]
    missing = np.asarray([value is None for value in values])
    codes = np.asarray([vocabulary.places.get(word_of(value), np.nan) for value in values], FEATURE)
    codes[missing] = np.nan
    unknown = np.isnan(codes) & ~missing
    indices = dictionary.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return np.where(unknown, np.inf, vocabulary.plain_numbers(codes))[indices.astype(np.int64)]
