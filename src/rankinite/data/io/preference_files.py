"""Judged pairs from a tab-separated file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.io.columns import USUAL_NAMES
from rankinite.data.io.text_files import AnyPath, read_lines
from rankinite.data.io.trec import AMBIGUOUS, ambiguous_document, rows_of_documents
from rankinite.data.preferences import Preferences
from rankinite.engine.kernel import INDEX, SCORE
from rankinite.errors import DataError, cut, listed, quoted

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
            raise DataError(f"{place}: {len(fields)} columns. A line gives {FORM}.")
        pair = [find(fields[0], document, place) for document in fields[1:3]]
        if pair[0] == pair[1]:
            raise DataError(f"{place}: document {quoted(fields[1])} is compared with itself. A pair needs two documents.")
        better.append(pair[0])
        worse.append(pair[1])
        probabilities.append(_probability(fields[3:], place))
    return Preferences(np.asarray(better, INDEX), np.asarray(worse, INDEX), np.asarray(probabilities, SCORE))


def _finder(data: Dataset) -> Callable[[str, str, str], int]:
    """What finds the row of a document of a query, or says at which place there is none."""
    queries = {str(qid): query for query, qid in enumerate(data.qids.tolist())}
    by_id = None if data.doc_ids is None else rows_of_documents(data)

    def find(qid: str, document: str, place: str) -> int:
        query = queries.get(qid)
        if query is None:
            known = listed(list(queries))
            raise DataError(f"{place}: there is no query {quoted(qid)} in {data.source}. The queries are {known}.")
        first, last = int(data.offsets[query]), int(data.offsets[query + 1])
        if by_id is None:
            if re.fullmatch(r"[0-9]{1,15}", document) and int(document) < last - first:
                return first + int(document)
            raise DataError(
                f"{place}: {quoted(document)} is no position in query {quoted(qid)}. As {data.source} has no document "
                f"ids, documents are given by position, from 0 to {last - first - 1}."
            )
        row = by_id.get((qid, document))
        if row == AMBIGUOUS:
            raise ambiguous_document(data, qid, document, place)
        if row is None:
            assert data.doc_ids is not None
            known = listed(data.doc_ids[first:last].tolist())
            raise DataError(f"{place}: query {quoted(qid)} has no document {quoted(document)}. Its documents are {known}.")
        return row

    return find


def _probability(fields: Sequence[str], place: str) -> float:
    text = fields[0] if fields else "1"
    try:
        value = float(text)
    except ValueError as error:
        raise DataError(f"{place}: the probability {quoted(text)} is not a number. It must lie in [0, 1].") from error
    if not 0 <= value <= 1:
        raise DataError(f"{place}: the probability is {cut(text)}. It must lie in [0, 1].")
    return value
