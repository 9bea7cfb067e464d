"""Categories of rows in the codes of a model's vocabularies, found by name: whatever the codes of the data are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary, recoded_column, word_of
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import FEATURE, SCORE, Indices, Reals, frozen
from rankinite.errors import DataError, quoted


def with_codes(
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
        codes = recoded_column(given, own.get(names[place]), vocabulary)
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
