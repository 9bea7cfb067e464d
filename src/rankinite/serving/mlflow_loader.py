"""MLflow's way to a ranker: the module that a written ``MLmodel`` names, which loads the model file and scores data frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Floats, Indices
from rankinite.errors import DataError, cut
from rankinite.models.base import Ranker, names_of, needs_queries, part_scores
from rankinite.models.files.loading import load
from rankinite.models.inputs import feature_matrix
from rankinite.serving.categories import with_shared_codes
from rankinite.serving.flattening import QUERY


class ServedRanker:
    """A ranker as MLflow calls it."""

    def __init__(self, ranker: Ranker, config: Mapping[str, Any]) -> None:
        self.ranker = ranker
        self._zeros = config.get("served_missing", "nan") == "zero"
        self._categories = tuple(with_shared_codes(ranker)[1])
        self._shift = float(config.get("shift", 0.0))

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Floats:
        """One score per row of a data frame, whose features are found by name.

        A ranker whose scores depend on the other documents of a query finds the queries in the column ``qid``.
        """
        features = self._without_missing(model_input) if self._zeros else model_input
        scores = part_scores(self.ranker, features, queries_in(model_input) if needs_queries(self.ranker) else None)
        return scores + self._shift if self._shift else scores

    def _without_missing(self, frame: Any) -> Any:
        """The features with 0 for missing numbers; categories stay as they are."""
        import pyarrow as pa

        numbers = tuple(name for name in names_of(self.ranker) if name not in self._categories)
        matrix, columns = feature_matrix(frame, numbers)
        found = matrix if columns is None else matrix[:, columns]
        filled = np.where(np.isnan(found), found.dtype.type(0), found)
        return pa.table(
            {name: filled[:, number] for number, name in enumerate(numbers)} | {name: frame[name] for name in self._categories}
        )


def _load_pyfunc(path: str, model_config: Mapping[str, Any] | None = None) -> ServedRanker:  # pyright: ignore[reportUnusedFunction] - MLflow calls it
    return ServedRanker(load(path), model_config or {})


def queries_in(frame: Any) -> Indices:
    """A number for the query of each row, from the column ``qid``; refuses a frame without it, and rows without a query."""
    import pyarrow as pa

    names: Any = getattr(frame, "column_names", getattr(frame, "columns", ()))
    if QUERY not in list(names):
        raise DataError(
            f"there is no column {QUERY!r}",
            place="the data frame",
            value=QUERY,
            rule="These scores depend on the other documents of a query",
            remedy=f"Add a column {QUERY!r} with the query of each row, and give all documents of a query together",
        )
    column: Any = frame[QUERY]
    try:
        whole = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([pa.array(column, from_pandas=True)])
        values: Any = whole.combine_chunks()
    except (pa.ArrowException, TypeError) as error:
        problem = f"the column {QUERY!r} cannot be read ({cut(error)})"
        raise DataError(problem, place="the data frame", value=QUERY, remedy="Give texts or numbers") from error
    if values.null_count:
        row = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError("the query is missing", place=f"row {row}", value=row, remedy=f"Give every row its {QUERY!r}")
    indices: npt.NDArray[Any] = values.dictionary_encode().indices.to_numpy()
    return indices.astype(np.int64)
