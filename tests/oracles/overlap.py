"""Shared queries, found by comparing their rows one by one."""

from __future__ import annotations

import math

import numpy as np

from rankinite.data.dataset import Dataset


def row_of(data: Dataset, row: int, names: tuple[str, ...]) -> tuple[object, ...]:
    """A row's values of these features; missing features and −0 count as 0, and all NaNs are equal."""
    place = {name: column for column, name in enumerate(data.feature_names)}
    values = [float(data.features[row, place[name]]) if name in place else 0.0 for name in names]
    return tuple("nan" if math.isnan(value) else value + 0.0 for value in values)


def rows_of(data: Dataset, query: int, names: tuple[str, ...] | None = None) -> list[tuple[object, ...]]:
    """All rows of a query, in an order that does not depend on theirs."""
    span = range(int(data.offsets[query]), int(data.offsets[query + 1]))
    return sorted((row_of(data, row, names or data.feature_names) for row in span), key=repr)


def known_queries(data: Dataset, names: tuple[str, ...] | None = None) -> list[str]:
    """What each query is identified by; empty if it has fewer than two different rows."""
    every = [rows_of(data, query, names) for query in range(data.queries)]
    return [repr(rows) if len(set(rows)) > 1 else "" for rows in every]


def documents_of(data: Dataset) -> list[tuple[str, ...]]:
    """Each query's id and those of its documents; empty if there are fewer than two."""
    if data.doc_ids is None:
        return [()] * data.queries
    spans = [data.doc_ids[data.offsets[query] : data.offsets[query + 1]].tolist() for query in range(data.queries)]
    telling = [all(ids) and len(set(ids)) > 1 for ids in spans]
    return [(str(qid), *sorted(ids)) if told else () for qid, ids, told in zip(data.qids, spans, telling, strict=True)]


def shared_queries(learnt: Dataset, judged: Dataset) -> list[int]:
    """The numbers of the judged queries that were also learnt from."""
    rows, ids = set(known_queries(learnt)) - {""}, set(documents_of(learnt)) - {()}
    names = learnt.feature_names
    told = zip(known_queries(judged, names), documents_of(judged), strict=True)
    return [query for query, (own, documents) in enumerate(told) if own in rows or documents in ids]


def shuffled(data: Dataset, seed: int, qids: list[str] | None = None) -> Dataset:
    """The same rows, with queries and the rows within them in another order; ``qids``: other names for the queries."""
    random = np.random.default_rng(seed)
    spans = [np.arange(data.offsets[query], data.offsets[query + 1]) for query in random.permutation(data.queries)]
    order = np.concatenate([random.permutation(span) for span in spans])
    names = np.asarray(data.qids.tolist() if qids is None else qids)
    own = names[data.query_of_row()[order]]
    return Dataset.from_rows(data.features[order], data.grades[order], own, data.feature_names, source=data.source)
