"""Outputs of scoring: files of what a ranker, or an array of scores, gives to the rows of data."""

from __future__ import annotations

from pathlib import Path

import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.io.formats import LINES, RUN, score_format_of_suffix
from rankinite.data.io.score_files import ScoredRows, write_scored
from rankinite.data.io.text_files import AnyPath
from rankinite.data.io.trec_lines import TAG
from rankinite.evaluation.scorers import Scorer, scores_of


def write_run(path: AnyPath, data: Dataset, ranker: Scorer | npt.ArrayLike, *, tag: str = TAG) -> None:
    """Write a TREC run, ``qid Q0 document rank score tag``: the documents of each query, best first, by a ranker or by scores.

    >>> write_run("web.run", candidates, ranker, tag="web")                     # doctest: +SKIP

    The data need document ids, but no grades. Ranks count from 1; documents with equal scores stay in the order of their rows.
    A score of −inf means that a document is not returned: it has no line, and :func:`read_run` gives it −inf again. Scores are
    written with all their digits, and read back to the same bits. A name that ends in .gz, .zst or .xz is compressed.
    """
    write_scored(Path(path), ScoredRows(data, scores_of(ranker, data), tag=tag), RUN)


def write_scores(path: AnyPath, data: Dataset, ranker: Scorer | npt.ArrayLike) -> None:
    """Write the scores of a ranker, or scores, in the format of the suffix and in the order of the data's source.

    >>> write_scores("ranked.parquet", candidates, ranker)                      # doctest: +SKIP

    .csv, .tsv, .parquet and .arrow are tables with the columns qid, doc_id (if documents have ids), score and rank; rows that
    were dropped on reading are left out, and a document that is not returned (−inf) has no rank. .npy is an array of NumPy's,
    .run a TREC run (see :func:`write_run`), .json the scores by query. Any other file holds one score per line, and −inf for
    dropped rows; :func:`read_scores` reads these and .npy. Text is compressed if .gz, .zst or .xz is added.
    """
    target = Path(path)
    write_scored(target, ScoredRows(data, scores_of(ranker, data)), score_format_of_suffix(target) or LINES)
