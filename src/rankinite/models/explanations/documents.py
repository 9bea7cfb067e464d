"""Document: one row of a query, found by what users call it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, DataError, listed, quoted
from rankinite.plurals import counted

OWNER = "explain"


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a query, and where a ranker puts it."""

    name: str
    """Its id; where the data have none, its row number within the query."""
    row: int
    """Its row number within the query, counted from 0."""
    score: float
    """The ranker's score."""
    rank: int
    """How many documents of the query have a higher score."""
    grade: float | None
    """Its grade; None where nobody judged it."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        return {name: getattr(self, name) for name in ("name", "row", "score", "rank", "grade")}


def query_of(data: Dataset, qid: str | int) -> Dataset:
    """The rows of one query; refuses one that is not there and lists those that are."""
    if not isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        kind = type(data).__name__
        raise DataError(f"the data are a {kind}", place=OWNER, value=kind, remedy="Give a Dataset, as rankinite.read returns")
    found = np.flatnonzero(data.qids == str(qid))
    if not len(found):
        raise ArgumentError(
            f"is not in {data.source}",
            owner=OWNER,
            setting="qid",
            value=str(qid),
            rule=f"The queries are {listed(data.qids.tolist())}",
        )
    return data.select_queries(found)


def document_of(query: Dataset, setting: str, named: str | int, scores: Floats) -> Document:
    """The document with this id or row number; refuses one that is not there and lists those that are."""
    row = _row_of(query, setting, named)
    name = str(row) if query.doc_ids is None else str(query.doc_ids[row])
    grade = float(query.grades[row]) if query.judged else None
    return Document(name, row, float(scores[row]), int(np.count_nonzero(scores > scores[row])), grade)


def _row_of(query: Dataset, setting: str, named: str | int) -> int:
    """The row number within the query."""
    place, is_number = f"query {quoted(str(query.qids[0]))}", isinstance(named, int) and not isinstance(named, bool)
    if query.doc_ids is None or is_number:
        rows = [str(row) for row in range(query.rows)]
        if str(named) in rows:
            return int(named)
        raise ArgumentError(
            f"is not a row of {place}",
            owner=OWNER,
            setting=setting,
            value=named,
            rule=f"Documents are numbered from 0 to {query.rows - 1}"
            + ("" if query.doc_ids is not None else ", as the data give them no ids"),
        )
    found = np.flatnonzero(query.doc_ids == str(named))
    if len(found) == 1:
        return int(found[0])
    if len(found):
        raise ArgumentError(
            f"is the id of {counted(len(found), 'document')} of {place}",
            owner=OWNER,
            setting=setting,
            value=named,
            remedy=f"Give a row number of the query, such as {found[0]}, in Python",
        )
    raise ArgumentError(
        f"is not a document of {place}",
        owner=OWNER,
        setting=setting,
        value=named,
        rule=f"Its documents are {listed(query.doc_ids.tolist())}",
    )
