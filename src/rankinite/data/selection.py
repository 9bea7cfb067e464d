"""Selections of queries and rows: numbers, masks or qids, as the numbers they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import INDEX, Indices
from rankinite.errors import DataError, listed, quoted
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


def query_numbers(data: Dataset, queries: npt.ArrayLike | Iterable[str]) -> Indices:
    """The numbers of queries given as numbers, as a mask, or by qid, in the order given."""
    if isinstance(queries, str):
        queries = [queries]
    chosen = np.asarray(queries if isinstance(queries, np.ndarray) else list(queries))  # type: ignore[arg-type]
    if chosen.dtype == np.bool_:
        if len(chosen) != data.queries:
            raise DataError(
                f"the mask of queries has {counted(len(chosen), 'entry')}",
                place=data.source,
                value=len(chosen),
                rule=f"A mask has one entry per query, {data.queries} in all",
            )
        return np.flatnonzero(chosen)
    if chosen.dtype.kind in "UTO":
        return _numbers_of_qids(data, [str(qid) for qid in chosen.tolist()])
    if chosen.size and chosen.dtype.kind not in "iu":
        raise DataError(
            f"queries cannot be chosen by {chosen.dtype} values",
            place=data.source,
            value=str(chosen.dtype),
            remedy="Give their numbers, a mask, or their qids",
        )
    outside = chosen[(chosen < 0) | (chosen >= data.queries)]
    if len(outside):
        raise DataError(
            f"there is no query number {outside[0]}",
            place=data.source,
            value=int(outside[0]),
            rule=f"Queries are numbered from 0 to {data.queries - 1}",
        )
    return chosen.astype(INDEX)


def row_numbers(data: Dataset, keep: npt.NDArray[np.bool_]) -> Indices:
    """The numbers of the rows where the mask is true."""
    if keep.dtype != np.bool_ or keep.shape != (data.rows,):
        raise DataError(
            f"the mask of rows is {keep.dtype} of shape {keep.shape}",
            place=data.source,
            value=keep.shape,
            rule=f"A mask has one boolean per row, {data.rows} in all",
        )
    return np.flatnonzero(keep)


def _numbers_of_qids(data: Dataset, qids: list[str]) -> Indices:
    number_of = {str(qid): number for number, qid in enumerate(data.qids.tolist())}
    unknown = [qid for qid in qids if qid not in number_of]
    if unknown:
        raise DataError(
            f"there is no query {quoted(unknown[0])}",
            place=data.source,
            value=unknown[0],
            rule=f"The queries are {listed(data.qids.tolist())}",
        )
    return np.asarray([number_of[qid] for qid in qids], INDEX)


def no_such_feature(data: Dataset, feature: int | str) -> DataError:
    """The error for a feature that the data do not have, by its name or its position."""
    if isinstance(feature, str):
        problem, rule = f"no feature is named {quoted(feature)}", f"The features are {listed(data.feature_names)}"
        return DataError(problem, place=data.source, value=feature, rule=rule)
    problem, rule = f"there is no feature at position {feature}", f"Positions run from 0 to {len(data.feature_names) - 1}"
    return DataError(problem, place=data.source, value=int(feature), rule=rule)
