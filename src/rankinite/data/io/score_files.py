"""Score files: the scores of rows as lines, arrays, tables, JSON and TREC runs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.io.formats import ARROW, CSV, JSON, LINES, NPY, PARQUET, RUN, TABLES, TSV, FileFormat, check_packing
from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.trec_lines import TAG, as_run, ranked_rows
from rankinite.engine.kernel import Floats

RANKED = (RUN, *TABLES)
"""The formats that hold ranks: they need queries, and scores that are not NaN."""
BY_QUERY = (*RANKED, JSON)
"""The formats that need queries."""


@dataclass(frozen=True)
class ScoredRows:
    """The rows of data with their scores, and what else a file of them may hold."""

    data: Dataset
    values: Floats
    """One score per row; lines, arrays and JSON may hold probabilities instead, one per row or one per row and grade."""
    name: str = "scores"
    """What JSON calls the values."""
    absent: float = -inf
    """The value of a row of the source that was dropped on reading; −inf is the score of what is not returned."""
    more: Mapping[str, Floats] = field(default_factory=dict[str, Floats])
    """Further columns of a table."""
    model: str | None = None
    """What JSON calls the ranker."""
    tag: str = TAG
    """The last column of a run."""

    def in_input_order(self) -> Floats:
        """The values of each row of the source, in its order."""
        if self.data.input_row is None:
            return self.values
        ordered = np.full((self.data.input_rows, *self.values.shape[1:]), self.absent)
        ordered[self.data.input_row] = self.values
        return ordered


def write_scored(path: Path, rows: ScoredRows, file_format: FileFormat) -> None:
    """Write scores in a format, completely or not at all; text is compressed if the suffix says so."""
    check_packing(path, file_format)
    content = content_of(rows, file_format)
    with write_atomically(path) as handle:
        handle.write(content)


def content_of(rows: ScoredRows, file_format: FileFormat) -> bytes:
    """The bytes of a file of scores."""
    return _CONTENTS[file_format](rows)


def score_table(rows: ScoredRows) -> Any:
    """An Arrow table, in the order of the source: qid, doc_id if documents have ids, score, rank, and further columns.

    Ranks count from 1; rows with equal scores are ranked in their order, and what is not returned has no rank. Rows that were
    dropped on reading are left out.
    """
    import pyarrow as pa

    data, scores, query_of_row = rows.data, rows.values, rows.data.query_of_row()
    ranks = np.empty(data.rows, np.int64)
    ranks[ranked_rows(scores, data.offsets)] = np.arange(data.rows) - data.offsets[query_of_row] + 1
    columns: dict[str, Any] = {"qid": _texts(data, data.qids[query_of_row])}
    if data.doc_ids is not None:
        columns["doc_id"] = _texts(data, data.doc_ids)
    columns["score"] = data.to_input_order(scores)
    columns["rank"] = pa.array(data.to_input_order(ranks), mask=data.to_input_order(np.isneginf(scores)))
    columns |= {name: data.to_input_order(values) for name, values in rows.more.items()}
    return pa.table(columns)


def _texts(data: Dataset, values: Any) -> Any:
    import pyarrow as pa

    return pa.array(data.to_input_order(values).tolist(), pa.string())


def _as_lines(rows: ScoredRows) -> bytes:
    """One row per line, each number with all its digits."""
    values: list[Any] = rows.in_input_order().tolist()
    return "".join(f"{' '.join(map(repr, row)) if isinstance(row, list) else repr(row)}\n" for row in values).encode()


def _as_array(rows: ScoredRows) -> bytes:
    stream = io.BytesIO()
    np.save(stream, rows.in_input_order())
    return stream.getvalue()


def _as_run(rows: ScoredRows) -> bytes:
    return as_run(rows.data, rows.values, rows.tag).encode()


def _as_json(rows: ScoredRows) -> bytes:
    """The scores of each query, with the ids of its documents where they have some; null for what is no finite number."""
    data, every = rows.data, rows.values.tolist()
    if rows.values.ndim == 1:
        every = [value if isfinite(value) else None for value in every]
    documents = None if data.doc_ids is None else data.doc_ids.tolist()
    queries: list[dict[str, object]] = []
    for query, qid in enumerate(data.qids.tolist()):
        span = slice(int(data.offsets[query]), int(data.offsets[query + 1]))
        ids = {} if documents is None else {"doc_ids": documents[span]}
        queries.append({"qid": qid, **ids, rows.name: every[span]})
    model = {} if rows.model is None else {"model": rows.model}
    content = {**model, "data": data.source, "queries": queries}
    return (json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _as_separated(rows: ScoredRows, separator: str) -> bytes:
    import pyarrow.csv

    stream = io.BytesIO()
    pyarrow.csv.write_csv(score_table(rows), stream, pyarrow.csv.WriteOptions(delimiter=separator))
    return stream.getvalue()


def _as_parquet(rows: ScoredRows) -> bytes:
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(score_table(rows), stream)
    return stream.getvalue()


def _as_arrow(rows: ScoredRows) -> bytes:
    import pyarrow as pa

    table, stream = score_table(rows), io.BytesIO()
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


_CONTENTS: dict[FileFormat, Callable[[ScoredRows], bytes]] = {
    LINES: _as_lines,
    NPY: _as_array,
    RUN: _as_run,
    JSON: _as_json,
    CSV: partial(_as_separated, separator=","),
    TSV: partial(_as_separated, separator="\t"),
    PARQUET: _as_parquet,
    ARROW: _as_arrow,
}
