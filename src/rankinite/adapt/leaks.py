"""Queries that would be learnt from and then judged by: whatever they say looks better than it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from itertools import pairwise

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import DataError

Keys = dict[bytes, int]
"""What queries are told apart by, in short, and their numbers."""


def check_background(background_data: Dataset, others: Mapping[str, Dataset | None]) -> None:
    """Refuse background data that hold queries to be judged by.

    Queries are the same if their rows have the same features, or if they and all their documents have the same ids. The ids of
    queries alone say nothing, as two domains may both count from 1.
    """
    for name, data, same in _shared(background_data, others, lambda own: {**_by_rows(own), **_by_ids(own)}):
        raise DataError(
            f"{background_data.source}: {len(same)} of its queries have the rows of queries of {data.source} ({name}), "
            f"such as {str(data.qids[same[0]])!r}. Methods trained on both would have seen what they are judged by; leave "
            "these queries out of the background's data."
        )


def check_target(target: Dataset, others: Mapping[str, Dataset | None]) -> None:
    """Refuse to judge by queries of the target itself: those with the same id and the same rows."""
    for name, data, same in _shared(target, others, lambda own: _by_rows(own, named=True)):
        raise DataError(
            f"{data.source} ({name}): {len(same)} of its {data.queries} queries stand in the target data too, such as "
            f"{str(data.qids[same[0]])!r}. What was learnt from says nothing about queries to come: take them out of one."
        )


def _shared(
    learnt: Dataset, others: Mapping[str, Dataset | None], keys: Callable[[Dataset], Keys]
) -> list[tuple[str, Dataset, list[int]]]:
    """The data, with their names, that share queries, and the numbers of these."""
    known = keys(learnt)
    found = [
        (name, data, sorted({place for key, place in keys(data).items() if key in known}))
        for name, data in others.items()
        if data is not None
    ]
    return [shared for shared in found if shared[2]]


def _by_rows(data: Dataset, *, named: bool = False) -> Keys:
    """By the features of all rows, whatever their order; ``named``: and by the id."""
    row = f"V{4 * len(data.feature_names)}"
    return {
        sha256(
            (str(qid).encode() if named else b"") + np.sort(data.features[first:last].view(row), axis=0).tobytes()
        ).digest(): place
        for place, (qid, (first, last)) in enumerate(zip(data.qids.tolist(), pairwise(data.offsets.tolist()), strict=True))
    }


def _by_ids(data: Dataset) -> Keys:
    """By the ids of the query and of its documents; nothing where these have none."""
    if data.doc_ids is None:
        return {}
    documents = data.doc_ids.tolist()
    return {
        sha256("\n".join([str(qid), *sorted(documents[first:last])]).encode()).digest(): place
        for place, (qid, (first, last)) in enumerate(zip(data.qids.tolist(), pairwise(data.offsets.tolist()), strict=True))
    }
