"""TREC files, for evaluation only: judgements (qrels) and runs.

One rule for all: a document that a run does not return has the score −inf. It has no rank, but it counts in the ideal. A
judged query that a run leaves out has no ranks at all and counts as nothing found; an unjudged query is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankinite.data.dataset import Dataset, remember_judged_rows
from rankinite.data.grouping import TEXT, RowValues
from rankinite.data.io._number_kernels import FIRST_INEXACT
from rankinite.data.io.exact_numbers import inexact_grade, is_another_number
from rankinite.data.io.plain_scores import stated_number
from rankinite.data.io.text_files import AnyPath, read_lines
from rankinite.engine.kernel import FEATURE, GRADE, SCORE
from rankinite.errors import DataError, cut, listed, quoted
from rankinite.plurals import agreeing, counted

QRELS_FORM = "qid iteration document grade"
RUN_FORM = "qid Q0 document rank score tag"
AMBIGUOUS = -1
"""In place of a row, for a document id that several rows of a query have."""


class _Entry(NamedTuple):
    """One line of a qrels or run file."""

    place: str
    qid: str
    document: str
    number: float
    """The grade or the score."""


class RunScores(RowValues):
    """The scores that a TREC run gives to judged documents, and a count of what it returns without a judgement.

    An array like any other; arrays computed from it have no such counts.
    """

    unjudged_queries: tuple[str, ...] = ()
    """Unjudged queries of the run; they are left out."""
    documents: int = 0
    """How many documents the run returns for judged queries."""
    unjudged_documents: int = 0
    """How many of them are unjudged; they have grade 0."""


def read_qrels(paths: AnyPath | Sequence[AnyPath]) -> Dataset:
    """Judgements as data without features: one row for each line ``qid iteration document grade``."""
    listed = [paths] if not isinstance(paths, Sequence) or isinstance(paths, str) else list(paths)
    entries = [entry for path in listed for entry in _entries(path, QRELS_FORM)]
    _refuse_duplicates(entries)
    return _judgements(
        [entry.qid for entry in entries],
        [entry.document for entry in entries],
        [entry.number for entry in entries],
        " + ".join(str(path) for path in listed),
    )


def read_trec(qrels: AnyPath, runs: Sequence[AnyPath]) -> tuple[Dataset, list[RunScores]]:
    """Judgements and runs together: the data, and one array of scores for each run.

    The rows are the judged documents and those any run returns; an unjudged document has grade 0, and so has one
    with a negative grade; only bpref, AUC and judged tell them from those that are judged not relevant. As in trec_eval,
    queries without a judgement are left out; their names are in the scores' ``unjudged_queries``. A judged query that is
    missing in a run counts as nothing found, as with trec_eval's option -c; :func:`~rankinite.evaluate` counts both and warns
    of them.
    """
    judged = list(_entries(qrels, QRELS_FORM))
    _refuse_duplicates(judged)
    return _pooled({(entry.qid, entry.document): entry.number for entry in judged}, str(qrels), runs)


def pooled(data: Dataset, runs: Sequence[AnyPath]) -> tuple[Dataset, list[RunScores]]:
    """Data without features and what runs return for their queries: what :func:`read_trec` gives for qrels and runs."""
    rows = rows_of_documents(data)
    return _pooled({pair: float(data.grades[row]) for pair, row in rows.items()}, data.source, runs)


def _pooled(grades: dict[tuple[str, str], float], source: str, runs: Sequence[AnyPath]) -> tuple[Dataset, list[RunScores]]:
    """``grades``: of the judged documents, where below 0 means unjudged; those that only runs return are added with grade 0."""
    queries, sound = {qid for qid, _ in grades}, {pair for pair, grade in grades.items() if grade >= 0.0}
    grades = {pair: max(grade, 0.0) for pair, grade in grades.items()}
    known, returned = set(grades), [_run_scores(path) for path in runs]
    for path, scores in zip(runs, returned, strict=True):
        _refuse_strangers(path, scores, source, queries)
        grades |= {pair: 0.0 for pair in scores if pair[0] in queries and pair not in grades}
    data = _judgements([qid for qid, _ in grades], [document for _, document in grades], list(grades.values()), source)
    data = replace(data, input_row=None, input_rows=-1)  # no file has these rows, so that there is no other order of them
    remember_judged_rows(data, np.asarray([pair in sound for pair in _pairs(data)], np.bool_))
    return data, [_scores_of_run(scores, data, queries, known) for scores in returned]


def read_run(path: AnyPath, data: Dataset) -> RunScores:
    """The scores a run gives to the rows of a data set; rows it does not return have −inf.

    Queries that the data do not have are left out, and named in the scores' ``unjudged_queries``.
    """
    rows, queries, entries = rows_of_documents(data), set(data.qids.tolist()), _run_entries(path)
    _refuse_strangers(path, entries, data.source, queries)
    scores = np.full(data.rows, -np.inf, SCORE).view(RunScores)
    scores.input_row = data.input_row if data.regrouped else None
    scores.unjudged_queries = tuple(dict.fromkeys(qid for qid, _ in entries if qid not in queries))
    for (qid, document), (score, place) in entries.items():
        if qid not in queries:
            continue
        row = rows.get((qid, document))
        if row == AMBIGUOUS:
            raise ambiguous_document(data, qid, document, place)
        if row is None:
            raise DataError(
                f"document {quoted(document)} of query {quoted(qid)} is not in {data.source}",
                place=place,
                value=document,
                rule="A run may return only documents of the data",
                remedy="Evaluate it against qrels instead, which may leave documents unjudged",
            )
        scores[row] = score
    return scores


def rows_of_documents(data: Dataset) -> dict[tuple[str, str], int]:
    """The row of each (qid, document id), or :data:`AMBIGUOUS`."""
    if data.doc_ids is None:
        raise DataError(
            "its documents have no ids by which to find them",
            place=data.source,
            remedy="Name the column of ids with `doc_id=…`",
        )
    rows: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(_pairs(data)):
        rows[pair] = AMBIGUOUS if pair in rows else row
    return rows


def ambiguous_document(data: Dataset, qid: str, document: str, place: str) -> DataError:
    """The error for naming a document by an id that several rows of the query have."""
    return DataError(
        f"document {quoted(document)} appears more than once in query {quoted(qid)} of {data.source}, so it is not clear which "
        "is meant",
        place=place,
        value=document,
        rule="The ids of a query's documents must differ",
    )


def _pairs(data: Dataset) -> list[tuple[str, str]]:
    assert data.doc_ids is not None
    qids = np.repeat(data.qids, np.diff(data.offsets))
    return list(zip(qids.tolist(), data.doc_ids.tolist(), strict=True))


def _judgements(qids: list[str], documents: list[str], grades: list[float], source: str) -> Dataset:
    return Dataset.from_rows(
        np.zeros((len(grades), 0), FEATURE),
        np.asarray(grades, GRADE),
        np.asarray(qids, TEXT),
        (),
        doc_ids=np.asarray(documents, TEXT),
        source=source,
    )


def _scores_of_run(
    scores: dict[tuple[str, str], float], data: Dataset, queries: set[str], known: set[tuple[str, str]]
) -> RunScores:
    """One score for each row; ``queries`` and ``known`` are the judged queries and pairs of query and document."""
    found = np.asarray([scores.get(pair, -np.inf) for pair in _pairs(data)], SCORE).view(RunScores)
    found.input_row = data.input_row if data.regrouped else None
    returned = [pair for pair, score in scores.items() if score > -np.inf]
    found.unjudged_queries = tuple(dict.fromkeys(qid for qid, _ in returned if qid not in queries))
    found.documents = sum(qid in queries for qid, _ in returned)
    found.unjudged_documents = found.documents - sum(pair in known for pair in returned)
    return found


def _refuse_strangers(path: AnyPath, scores: Iterable[tuple[str, str]], qrels: AnyPath, queries: set[str]) -> None:
    asked = {qid for qid, _ in scores}
    if not asked & queries:
        raise DataError(
            f"none of its {len(asked)} queries is judged in {qrels}: the run has {listed(sorted(asked), 5)}, the judgements "
            f"have {listed(sorted(queries), 5)}",
            place=path,
            value=sorted(asked),
            remedy="Give the judgements of the same queries, by the same names",
        )


def _run_scores(path: AnyPath) -> dict[tuple[str, str], float]:
    return {pair: score for pair, (score, _) in _run_entries(path).items()}


def _run_entries(path: AnyPath) -> dict[tuple[str, str], tuple[float, str]]:
    entries = list(_entries(path, RUN_FORM))
    _refuse_duplicates(entries)
    return {(entry.qid, entry.document): (entry.number, entry.place) for entry in entries}


def _entries(path: AnyPath, form: str) -> Iterator[_Entry]:
    columns = len(form.split())
    number_at, what = (3, "grade") if form is QRELS_FORM else (4, "score")
    empty = True
    for place, text in read_lines(path):
        empty = False
        fields = text.split()
        if form is RUN_FORM:
            fields = fields[:columns]  # trec_eval ignores what follows the tag
        if len(fields) != columns:
            raise DataError(
                f"there {agreeing(len(fields), 'is')} {counted(len(fields), 'column')} instead of {columns}",
                place=place,
                value=len(fields),
                rule=f"A line is '{form}'",
            )
        number = stated_number(fields[number_at], place, what)
        if what == "grade":
            _check_grade(fields[number_at], number, place)
        elif np.isnan(number):
            raise DataError("the score is NaN", place=place, value=fields[number_at], rule="Scores must be numbers")
        yield _Entry(place, fields[0], fields[2], number)
    if empty:
        raise DataError("the file is empty", place=path, value=0, remedy=f"Give at least one line '{form}'")


def _refuse_duplicates(entries: Sequence[_Entry]) -> None:
    places: dict[tuple[str, str], str] = {}
    for entry in entries:
        first = places.setdefault((entry.qid, entry.document), entry.place)
        if first is not entry.place:
            raise DataError(
                f"document {quoted(entry.document)} of query {quoted(entry.qid)} also appears at {first}",
                place=entry.place,
                value=entry.document,
                rule="A document may appear once in a query",
                remedy="Remove one of the lines",
            )


def _check_grade(text: str, number: float, place: str) -> None:
    """Refuse a grade that is not finite as a 32-bit float, or a whole number that would become another one."""
    with np.errstate(over="ignore"):
        grade = GRADE(number)
    if not np.isfinite(grade):
        raise DataError(
            f"the grade is {cut(text, 60)}", place=place, value=text, rule="It must be a finite number as a 32-bit float"
        )
    if abs(number) >= FIRST_INEXACT and is_another_number(text, grade):
        raise inexact_grade(place, text)
