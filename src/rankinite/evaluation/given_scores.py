"""Rankers that are given as scores: the paths of runs and score files, and arrays, for the rows of the data."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.io.format_detection import first_line, is_header
from rankinite.data.io.given_scores import given_scores, is_run
from rankinite.data.io.text_files import AnyPath
from rankinite.data.io.trec import pooled, rows_of_documents
from rankinite.engine.kernel import Floats
from rankinite.errors import DataError
from rankinite.evaluation.inputs import Scorer, is_scorer, scores_of

RankerLike: TypeAlias = Scorer | npt.ArrayLike | AnyPath
"""A ranker, scores (one per row), or the path of a TREC run or of a file with one score per row."""


def settled(rankers: Mapping[str, Any], data: Dataset) -> tuple[dict[str, Any], Dataset]:
    """The rankers with the scores of files in their place, and the data they are for.

    Judgements without features (qrels) are joined by the documents that runs return for their queries: what nobody judged has
    grade 0, as with :func:`rankinite.read_trec`. Other data have all their documents, and a run may return no others.
    """
    files = {name: path for name, path in rankers.items() if is_path(path)}
    runs = {name: path for name, path in files.items() if is_run(path)}
    if not runs or not without_features(data):
        return {name: _read(path, data) if name in files else path for name, path in rankers.items()}, data
    joined, scores = pooled(data, list(runs.values()))
    found = dict(zip(runs, scores, strict=True))
    return {name: found[name] if name in found else _carried(one, data, joined) for name, one in rankers.items()}, joined


def is_path(ranker: object) -> TypeGuard[AnyPath]:
    """Whether a ranker is given as a path."""
    return isinstance(ranker, str | PathLike)


def without_features(data: Any) -> bool:
    """Whether these are judgements alone, whose documents can be found by their ids."""
    return isinstance(data, Dataset) and not data.feature_names and data.doc_ids is not None


def _read(path: AnyPath, data: Dataset) -> Floats:
    try:
        return given_scores(path, data)
    except DataError as problem:
        if not is_run(path) and is_header(first_line(Path(path)), " "):  # it does not begin with a number
            problem.remedy = "Load a model with `rankinite.load(…)` first; a file of scores has one number on each line"
        raise


def _carried(ranker: Any, data: Dataset, joined: Dataset) -> Any:
    """Scores of the judged documents for all documents: they return no others; rankers stay as they are."""
    if is_scorer(ranker):
        return ranker
    scores = given_scores(ranker, data) if is_path(ranker) else scores_of(ranker, data)
    rows = rows_of_documents(joined)
    found = np.full(joined.rows, -np.inf)
    found[[rows[pair] for pair in rows_of_documents(data)]] = scores
    return joined.in_row_order(found)
