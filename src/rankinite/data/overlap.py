"""Overlap: queries that two data sets share. On queries it was trained on, a ranker looks better than it is.

The rule, for data sets and models alike: **queries are the same if their rows have the same features**, in whatever order the
rows come, and whatever their grades and ids. Ids of queries alone say nothing, as two domains may both count from 1. A query
with fewer than two different rows (one document, or zeros only) is not compared: unrelated queries may look like it.

Data sets that name their documents are compared by these too: queries are the same if they and all their documents, at least
two, have the same ids, even if the features were computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from itertools import product
from typing import NamedTuple

import numpy as np

from rankinite.data._row_key_kernels import STEP, Keys
from rankinite.data.dataset import Dataset
from rankinite.data.row_keys import feature_keys, query_keys
from rankinite.engine.kernel import INDEX, Flags, Indices
from rankinite.errors import DataError, quoted


class Contents(NamedTuple):
    """The keys by which queries are recognised."""

    keys: Keys
    """One per query, computed from the features of its rows."""
    telling: Flags
    """Whether a query has two different rows, so that its key identifies it."""


@singledispatch
def contents_of(data: Dataset, features: Sequence[str] | None = None) -> Contents:
    """The keys of all queries by these features, in this order; by those of the data if left out."""
    if not data.queries:
        return Contents(np.empty(0, np.uint64), np.empty(0, np.bool_))
    rows, starts = feature_keys(data, features), data.offsets[:-1]
    lengths = np.diff(data.offsets).astype(np.uint64) * STEP  # a row of zeros has the key 0: it must be counted
    telling = np.minimum.reduceat(rows, starts) != np.maximum.reduceat(rows, starts)
    return Contents(query_keys(rows, data) + lengths, telling)


def check_apart(
    learnt: Mapping[str, Dataset | None], judged: Mapping[str, Dataset | None], *, allow_overlap: bool = False
) -> None:
    """Refuse queries that would serve both to train and to judge. Data are given by name; one name is one data set."""
    if allow_overlap:
        return
    known: dict[int, Contents] = {}
    for (name, first), (other, second) in product(learnt.items(), judged.items()):
        if not isinstance(first, Dataset) or not isinstance(second, Dataset) or name == other:
            continue  # other types are refused elsewhere, with a better message
        same = _shared(first, second, known)
        if len(same):
            qids = [str(qid) for qid in second.qids[same].tolist()]
            raise DataError(
                f"it shares {len(qids)} of its {second.queries} queries with {first.source} ({name}), such as "
                f"{quoted(qids[0])}: all their rows, or all their ids, are the same",
                place=f"{second.source} ({other})",
                value=qids,
                rule="Queries that a ranker was trained on do not show how good it is on new ones",
                remedy="Take them out of one of the two, or pass `allow_overlap=True`",
            )


def _shared(first: Dataset, second: Dataset, known: dict[int, Contents]) -> Indices:
    """The numbers of the second's queries that are also in the first; ``known`` keeps keys by the identity of the data."""
    for data in (first, second):
        if id(data) not in known:
            known[id(data)] = contents_of(data)
    mine, theirs = known[id(first)], known[id(second)]
    if second.feature_names != first.feature_names:
        theirs = contents_of(second, first.feature_names)
    same: Flags = theirs.telling & np.isin(theirs.keys, mine.keys[mine.telling])
    same[_same_documents(first, second)] = True
    return np.flatnonzero(same)


def _same_documents(first: Dataset, second: Dataset) -> Indices:
    """The numbers of the second's queries whose ids and documents' ids are also in the first."""
    if first.doc_ids is None or second.doc_ids is None:
        return np.empty(0, INDEX)
    place = {qid: query for query, qid in enumerate(first.qids.tolist())}
    pairs = ((place.get(qid), query) for query, qid in enumerate(second.qids.tolist()))
    same = [
        query
        for mine, query in pairs
        if mine is not None and (documents := _documents(second, query)) and documents == _documents(first, mine)
    ]
    return np.asarray(same, INDEX)


def _documents(data: Dataset, query: int) -> list[str] | None:
    """The ids of a query's documents; None where one has none, or fewer than two differ."""
    assert data.doc_ids is not None
    ids = sorted(map(str, data.doc_ids[data.offsets[query] : data.offsets[query + 1]].tolist()))
    return ids if ids[0] and ids[0] != ids[-1] else None
