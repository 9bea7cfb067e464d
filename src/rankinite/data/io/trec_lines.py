"""TREC lines: runs and judgements as the files that trec_eval and its like read, and :mod:`rankinite.data.io.trec` too."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import inf
from pathlib import Path

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged, check_rows
from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.text_files import AnyPath
from rankinite.data.io.trec import AMBIGUOUS, ambiguous_document, rows_of_documents
from rankinite.engine.kernel import Floats, Indices
from rankinite.errors import DataError, quoted

TAG = "rankinite"
"""The last column of a run, unless another is given."""


def write_qrels(path: AnyPath, data: Dataset) -> None:
    """Write the grades of documents that have ids as TREC judgements, one line ``qid 0 document grade`` per row.

    What is read back (:func:`read`, :func:`read_trec`) has the same grades, qids and document ids in the same order; features
    are not written. Grades must be whole numbers: other tools refuse fractions or cut them off. A negative grade marks a
    document that nobody judged, there as here. A name that ends in .gz, .zst or .xz is compressed.
    """
    content = as_qrels(data).encode()
    with write_atomically(Path(path)) as handle:
        handle.write(content)


def as_qrels(data: Dataset) -> str:
    """The judgements of data, in the order of their rows."""
    check_judged(data)
    check_rows(data)
    documents = _names_of_documents(data)
    odd = np.flatnonzero(data.grades != np.rint(data.grades))
    if len(odd):
        grade = data.grades[odd[0]].item()
        raise DataError(
            f"the grade is {data.grades[odd[0]]}",
            place=f"{data.source}, row {odd[0]}",
            value=grade,
            rule="Judgements in TREC's format are whole numbers",
            remedy="Map the grades to whole numbers with map_grades, or write Parquet",
            shell_remedy="Write Parquet",
        )
    queries, grades = data.query_of_row().tolist(), data.grades.tolist()
    qids = data.qids.tolist()
    return "".join(
        f"{qids[query]} 0 {document} {int(grade)}\n" for query, document, grade in zip(queries, documents, grades, strict=True)
    )


def as_run(data: Dataset, scores: Floats, tag: str = TAG) -> str:
    """A TREC run: the documents of each query, best first, those with equal scores in the order of their rows.

    A document with the score −inf is not returned: it has no line. Scores have all their digits.
    """
    documents = _names_of_documents(data, tag)
    qids, numbers = data.qids.tolist(), scores.tolist()
    order, lines = ranked_rows(scores, data.offsets).tolist(), list[str]()
    for qid, (first, last) in zip(qids, pairwise(data.offsets.tolist()), strict=True):
        for rank, row in enumerate(order[first:last], 1):
            if numbers[row] > -inf:
                lines.append(f"{qid} Q0 {documents[row]} {rank} {numbers[row]!r} {tag}\n")
    if not lines:
        raise DataError(
            "no document is returned: every score is −inf",
            place=data.source,
            value=0,
            rule="A run without a line cannot be read back",
            remedy="Give scores of documents that are returned",
        )
    return "".join(lines)


def ranked_rows(scores: Floats, offsets: Indices) -> Indices:
    """All rows, query by query, best first; rows with equal scores in their order."""
    return np.lexsort((-scores, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))


def _names_of_documents(data: Dataset, tag: str = TAG) -> list[str]:
    """The document id of every row; refuses names of queries, documents and tag that would not read back as they are."""
    for (qid, document), row in rows_of_documents(data).items():
        if row == AMBIGUOUS:
            raise ambiguous_document(data, qid, document, data.source)
    assert data.doc_ids is not None
    documents = data.doc_ids.tolist()
    _check_words("query", data.qids.tolist(), data.source)
    _check_words("document", documents, data.source)
    _check_words("tag", [tag], data.source)
    return documents


def _check_words(what: str, names: Iterable[str], place: str) -> None:
    for name in names:
        if name.split() != [name] or (what == "query" and name.startswith(("#", "\ufeff"))):
            raise DataError(
                f"a TREC file cannot hold the {what} {quoted(name)}",
                place=place,
                value=name,
                rule="Names must not be empty or contain blanks, and a query's must not begin with #, as comments do",
                remedy="Choose one word" if what == "tag" else "Write a table instead (.csv, .parquet), which takes any text",
            )
