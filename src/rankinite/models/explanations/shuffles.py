"""Shuffles: the values of a feature exchanged among the documents of each query."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import row_keys
from rankinite.engine.kernel import Indices
from rankinite.seeds import generator


def shuffles(data: Dataset, feature: str, repeats: int, seed: int) -> Iterator[Indices]:
    """For each of ``repeats`` shuffles, the row whose value of the feature every row is given: one of its own query.

    What a query gets depends on its documents alone: neither the order of its rows nor other queries change it. Queries of one
    length share a permutation, but of rows ordered by a hash of their content, which is as good as each having its own.
    """
    column, lengths = data.feature_index(feature), np.diff(data.offsets)
    by_content = np.lexsort((row_keys(data), data.query_of_row()))
    blocks: list[tuple[Indices, np.random.Generator]] = []
    for length in np.unique(lengths).tolist():
        starts = data.offsets[:-1][lengths == length]
        blocks.append((by_content[starts[:, None] + np.arange(length)], generator(seed, column)))
    for _ in range(repeats):
        source = np.empty(data.rows, np.int64)
        for rows, random in blocks:
            source[rows] = rows[:, random.permutation(rows.shape[1])]
        yield source
