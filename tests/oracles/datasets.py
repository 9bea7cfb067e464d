"""Small judged data sets for tests, and a plain-Python view of them for comparison."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.preferences import Preferences


def random_dataset(seed: int = 0, queries: int = 7, features: int = 3, most: int = 6, *, scattered: bool = True) -> Dataset:
    """Queries of 1 to ``most`` documents with everything a data set can carry, rows of a query scattered over the source."""
    random = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), random.integers(1, most + 1, queries))
    if scattered:
        query = random.permutation(query)
    rows = len(query)
    names = np.asarray([f"q{number}" for number in range(queries)])
    data = Dataset.from_rows(
        random.normal(size=(rows, features)).astype(np.float32),
        random.integers(0, 5, rows).astype(np.float32),
        names[query],
        [f"f{number}" for number in range(features)],
        doc_ids=np.asarray([f"d{number}" for number in range(rows)]),
        weights=np.round(random.random(queries), 3)[query],
        batches=np.asarray(["a", "b", "c"])[query % 3],
        source=f"random {seed}",
    )
    spans = [range(int(data.offsets[number]), int(data.offsets[number + 1])) for number in range(queries)]
    possible = [(a, b) for span in spans for a in span for b in span if a != b]
    chosen = np.asarray(possible, np.int64).reshape(-1, 2)[random.permutation(len(possible))[:10]]
    return data.with_preferences(Preferences(chosen[:, 0], chosen[:, 1], random.random(len(chosen))))


def query_at(data: Dataset, row: int) -> str:
    """The qid of a row, found by searching."""
    for query in range(data.queries):
        if data.offsets[query] <= row < data.offsets[query + 1]:
            return str(data.qids[query])
    raise AssertionError(row)


def contents(data: Dataset) -> dict[str, object]:
    """Everything in a data set, query by query in plain Python; NaN is shown as None so that it equals itself."""
    said: dict[str, object] = {}
    for query in range(data.queries):
        rows = range(int(data.offsets[query]), int(data.offsets[query + 1]))
        said[str(data.qids[query])] = {
            "documents": [
                (
                    None if data.doc_ids is None else str(data.doc_ids[row]),
                    float(data.grades[row]),
                    tuple(None if np.isnan(value) else float(value) for value in data.features[row]),
                )
                for row in rows
            ],
            "weight": None if data.weights is None else float(data.weights[query]),
            "batch": None if data.batches is None else str(data.batches[query]),
        }
    return said


def pairs(data: Dataset) -> list[tuple[str, str, str, float]]:
    """The preferences as (qid, better document, worse document, probability), sorted."""
    if data.preferences is None or data.doc_ids is None:
        return []
    judged = data.preferences
    return sorted(
        (query_at(data, int(better)), str(data.doc_ids[better]), str(data.doc_ids[worse]), float(probability))
        for better, worse, probability in zip(judged.better, judged.worse, judged.probability, strict=True)
    )
