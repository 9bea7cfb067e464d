"""Samples of documents within queries, and the augmented training sets made of such samples (paper 004 §2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.grouping import as_text
from rankinite.data.joining import concat
from rankinite.engine.kernel import INDEX
from rankinite.errors import ArgumentError
from rankinite.seeds import generator

AUG70 = (0.7, 5)
"""Share and copies of the paper's Aug70: ``augment(data, *AUG70)``."""
AUG50 = (0.5, 10)
"""Share and copies of the paper's Aug50: ``augment(data, *AUG50)``."""


def sample_documents(data: Dataset, share: float, *, seed: int | np.random.Generator = 0) -> Dataset:
    """The same queries with a share of their documents each, drawn without replacement, at least one."""
    if not 0 < share <= 1:
        raise ArgumentError(
            "must lie in (0, 1]",
            owner="sample_documents",
            setting="share",
            value=share,
            rule="It is the share of a query's documents that are drawn",
        )
    query = data.query_of_row()
    shuffled = np.lexsort((generator(seed).random(data.rows), query))  # documents of a query, in random order
    sizes = np.maximum(np.floor(share * np.diff(data.offsets) + 0.5).astype(INDEX), 1)
    position = np.arange(data.rows) - data.offsets[query]
    keep = np.zeros(data.rows, np.bool_)
    keep[shuffled[position < sizes[query]]] = True
    return data.select_rows(data.in_row_order(keep))


def augment(data: Dataset, share: float, copies: int, *, seed: int = 0) -> Dataset:
    """The data and ``copies`` samples of it, whose queries are new ones: the samples of query "7" are "7~1", "7~2", …

    Removing documents at random keeps a ranker from learning that A ranks above C only when B is between them.
    """
    check_judged(data)
    if copies < 1:
        raise ArgumentError(
            "must be at least 1", owner="augment", setting="copies", value=copies, rule="Each copy is one sample of all queries"
        )
    random = generator(seed)
    mark = _unused_mark(data, copies)
    parts = [data]
    for copy in range(1, copies + 1):
        sample = sample_documents(data, share, seed=random)
        parts.append(replace(sample, qids=np.strings.add(sample.qids, as_text([f"{mark}{copy}"]))))
    return replace(concat(parts), source=data.source)


def _unused_mark(data: Dataset, copies: int) -> str:
    """As many tildes as keep the new qids apart from the old ones: augmented data may be augmented again."""
    known = set(data.qids.tolist())
    mark = "~"
    while any(f"{qid}{mark}{copy}" in known for qid in known for copy in range(1, copies + 1)):
        mark += "~"
    return mark
