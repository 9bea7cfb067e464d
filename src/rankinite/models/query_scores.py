"""Scores query by query: their order within each, and what sums them up."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import FEATURE, INDEX, Features, Floats, Indices
from rankinite.errors import DataError
from rankinite.plurals import agreeing, counted

SUMMARIES = ("highest", "mean", "highest of the top 3", "mean of the top 3")
"""What sums up a ranker's scores of a query's documents (paper 004 §4.2). The top three are its own, so that two are alike."""
TOP = 3


def grouped(scores: Floats, features: Any, qid: npt.ArrayLike | None) -> tuple[Indices, Indices]:
    """The rows query by query, within each by rising score, and where each query begins."""
    if qid is not None:
        queries = np.unique(np.asarray(qid), return_index=True, return_inverse=True)[2]  # see data.grouping.distinct
        if queries.shape != scores.shape:
            raise DataError(
                f"qid has shape {np.shape(qid)} but there {agreeing(len(scores), 'is')} {counted(len(scores), 'row')}",
                value=np.shape(qid),
                remedy="Give the query of each row",
            )
    elif isinstance(features, Dataset):
        queries = features.query_of_row()
    else:
        kind = type(features).__name__
        raise DataError(
            f"these scores depend on the other documents of a query, and a {kind} has no queries",
            value=kind,
            remedy="Score a Dataset, or give the query of each row with `qid=…`",
        )
    order = np.lexsort((scores, queries))
    sorted_queries = queries[order]
    return order, np.flatnonzero(np.append(True, sorted_queries[1:] != sorted_queries[:-1])).astype(INDEX)


def summed_up(scores: Floats, order: Indices, starts: Indices) -> Features:
    """The summaries of every row's query: rows × ``SUMMARIES``. ``order`` and ``starts``: see :func:`grouped`."""
    rising, sizes = scores[order], np.diff(np.append(starts, len(scores)))
    ends = starts + sizes
    top, count = np.zeros(len(starts)), np.minimum(sizes, TOP)
    for place in range(1, TOP + 1):
        top += np.where(place <= sizes, rising[np.maximum(ends - place, starts)], 0.0)
    highest = rising[ends - 1]
    each = np.stack((highest, np.add.reduceat(rising, starts) / sizes, highest, top / count), axis=1)
    result = np.empty((len(scores), len(SUMMARIES)), FEATURE)
    result[order] = np.repeat(each, sizes, axis=0)
    return result
