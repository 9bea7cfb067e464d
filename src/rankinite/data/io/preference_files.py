"""Preference files: judged pairs, separated by tabs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.io.column_names import USUAL_NAMES
from rankinite.data.io.text_files import AnyPath, read_lines
from rankinite.data.io.trec import AMBIGUOUS, ambiguous_document, rows_of_documents
from rankinite.data.preferences import Preferences
from rankinite.engine.kernel import INDEX, SCORE
from rankinite.errors import DataError, listed, quoted

FORM = "qid, better, worse and optionally the probability, separated by tabs"


def read_preferences(path: AnyPath, data: Dataset) -> Preferences:
    """Read lines ``qid<TAB>better<TAB>worse[<TAB>probability]``; attach the result with ``data.with_preferences``.

    Documents are named by their ids, or, where the data has none, by their position among the rows of the query, from
    0, in the order of the source. The probability is 1 when left out. A header line and comment lines (``#``) are skipped.
    """
    find = _finder(data)
    better: list[int] = []
    worse: list[int] = []
    probabilities: list[float] = []
    for number, (place, text) in enumerate(read_lines(path)):
        fields = [field.strip() for field in text.split("\t")]
        if number == 0 and fields[0].lower() in USUAL_NAMES["qid"] and fields[0] not in data.qids:
            continue
        if len(fields) not in (3, 4):
            raise DataError(
                f"the number of columns is {len(fields)}", place=place, value=len(fields), rule=f"A line gives {FORM}"
            )
        pair = [find(fields[0], document, place) for document in fields[1:3]]
        if pair[0] == pair[1]:
            raise DataError(
                f"document {quoted(fields[1])} is compared with itself",
                place=place,
                value=fields[1],
                rule="A pair needs two documents",
            )
        better.append(pair[0])
        worse.append(pair[1])
        probabilities.append(_probability(fields[3:], place))
    return Preferences(np.asarray(better, INDEX), np.asarray(worse, INDEX), np.asarray(probabilities, SCORE))


def _finder(data: Dataset) -> Callable[[str, str, str], int]:
    """A function that finds the row of a document of a query, or raises an error with the place."""
    queries = {str(qid): query for query, qid in enumerate(data.qids.tolist())}
    by_id = None if data.doc_ids is None else rows_of_documents(data)

    def find(qid: str, document: str, place: str) -> int:
        query = queries.get(qid)
        if query is None:
            raise DataError(
                f"there is no query {quoted(qid)} in {data.source}",
                place=place,
                value=qid,
                rule=f"The queries are {listed(list(queries))}",
            )
        first, last = int(data.offsets[query]), int(data.offsets[query + 1])
        if by_id is None:
            if re.fullmatch(r"[0-9]{1,15}", document) and int(document) < last - first:
                return first + int(document)
            raise DataError(
                f"{quoted(document)} is not a position in query {quoted(qid)}",
                place=place,
                value=document,
                rule=f"As {data.source} has no document ids, documents are given by position, from 0 to {last - first - 1}",
            )
        row = by_id.get((qid, document))
        if row == AMBIGUOUS:
            raise ambiguous_document(data, qid, document, place)
        if row is None:
            assert data.doc_ids is not None
            raise DataError(
                f"query {quoted(qid)} has no document {quoted(document)}",
                place=place,
                value=document,
                rule=f"Its documents are {listed(data.doc_ids[first:last].tolist())}",
            )
        return row

    return find


def _probability(fields: Sequence[str], place: str) -> float:
    text = fields[0] if fields else "1"
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise DataError(f"the probability is {quoted(text)}", place=place, value=text, rule="It must be a number in [0, 1]")
    return value
