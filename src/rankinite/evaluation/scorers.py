"""Scorers: what can be evaluated, and the checked scores it gives.

Anything with ``score(data)`` is a scorer; in its place there may be an array of scores, or the path of a TREC run or of a
file of scores. :func:`with_scores_read` reads the files, :func:`match_to` finds a model's features in the data, and
:func:`scores_of` gives one finite score per row (or −inf for a document that is not returned).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import check_order
from rankinite.data.io.format_detection import first_line, is_header
from rankinite.data.io.given_scores import given_scores, is_run
from rankinite.data.io.text_files import AnyPath
from rankinite.data.io.trec import pooled, rows_of_documents
from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import DataError, cut, quoted
from rankinite.plurals import counted


@runtime_checkable
class Scorer(Protocol):
    """Anything that scores the rows of a data set."""

    def score(self, data: Dataset, /) -> npt.ArrayLike:
        """One score per row; the highest comes first, −inf is not returned at all."""
        ...


@runtime_checkable
class MatchingScorer(Protocol):
    """A scorer that can find its features in data that call them otherwise, as models do that only know their positions."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it needs."""
        ...

    def matched(self, names: tuple[str, ...], place: str, note: Callable[[str], None], /) -> Scorer:
        """The scorer for data with these names, which errors call ``place``; says what was done to it, if anything."""
        ...


RankerLike: TypeAlias = Scorer | npt.ArrayLike | AnyPath
"""A ranker, scores (one per row), or the path of a TREC run or of a file with one score per row."""


def is_scorer(value: Any) -> TypeGuard[Scorer]:
    """Whether this scores data. A class does not, nor does an estimator of scikit-learn, whose ``score(X, y)`` measures it."""
    if isinstance(value, type) or not isinstance(value, Scorer) or not callable(value.score):  # a frame has columns
        return False
    try:
        parameters = signature(value.score).parameters.values()
    except ValueError:  # compiled code may not say what it takes
        return True
    needed = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    return len(needed) < 2 and all(one.name != "y" for one in parameters)


def match_to(ranker: Any, data: Dataset) -> tuple[Any, tuple[str, ...]]:
    """A ranker with its features as the data call them, and what was done to it; as it is if the data have all of them.

    Scores, and rankers that do not match features, are left as they are.
    """
    matches = isinstance(ranker, MatchingScorer) and not isinstance(ranker, type) and isinstance(data, Dataset)  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
    if not matches or set(ranker.feature_names) <= set(data.feature_names):
        return ranker, ()
    notes: list[str] = []
    matched = ranker.matched(data.feature_names, data.source, notes.append)
    return matched, tuple(dict.fromkeys(notes))  # in order, and each once


def scores_of(ranker: Scorer | npt.ArrayLike, data: Dataset, name: str = "") -> Floats:
    """The scores of a ranker, called ``name`` in messages, or scores, checked: one number per row."""
    if not isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        raise DataError(
            f"the data are a {type(data).__name__}",
            place=name,
            value=type(data).__name__,
            remedy="Give a Dataset, as rankinite.read returns",
        )
    values = ranker.score(data) if is_scorer(ranker) else ranker
    if values is ranker and hasattr(ranker, "predict") and not isinstance(ranker, type):
        predicted = "data.from_input_order(model.predict(X))" if data.regrouped else "model.predict(X)"
        raise DataError(
            f"{type(ranker).__name__} has no method score(data)",
            place=name,
            value=type(ranker).__name__,
            remedy="Give its ranker_"
            if hasattr(ranker, "ranker_")
            else f"Give its scores, {predicted}, or an object with a method score(data)",
        )
    scores = checked_scores(values, data, name)
    if values is ranker:
        check_order(values, data, name)
    return scores


def checked_scores(values: Any, data: Dataset, name: str) -> Floats:
    """Values in the order of the data's rows as scores: one number per row, none of them NaN."""
    try:
        scores = np.asarray(values, SCORE)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{type(values).__name__} is neither a ranker nor numbers ({cut(error)})",
            place=name,
            value=type(values).__name__,
            remedy="Give an object with a method score(data), or one score for each row",
        ) from error
    if scores.shape != (data.rows,):
        raise DataError(
            f"the scores have shape {scores.shape} but {data.source} has {counted(data.rows, 'row')}",
            place=name,
            value=scores.shape,
            remedy="Give one score for each row, in the order of the data's rows"
            + (", with data.from_input_order(scores)" if scores.shape == (data.input_rows,) else ""),
        )
    bad = np.flatnonzero(np.isnan(scores))
    if len(bad):
        problem = DataError(
            f"the score is NaN ({len(bad)} NaN scores in all)",
            place=row_place(data, int(bad[0])),
            value=len(bad),
            rule="NaN has no place in a ranking",
            remedy="Give −inf for a document that is not returned",
        )
        raise problem.at(name) if name else problem
    return np.ascontiguousarray(scores)


def row_place(data: Dataset, row: int) -> str:
    """A row of data, as errors name it."""
    qid = str(data.qids[np.searchsorted(data.offsets, row, side="right") - 1])
    return f"{data.source}, row {row} (query {quoted(qid)})"


def with_scores_read(rankers: Mapping[str, Any], data: Dataset) -> tuple[dict[str, Any], Dataset]:
    """The rankers with the scores of files in their place, and the data they are for.

    Judgements without features (qrels) are joined by the documents that runs return for their queries: what nobody judged has
    grade 0, as with :func:`rankinite.read_trec`. Other data have all their documents, and a run may return no others.
    """
    files = {name: path for name, path in rankers.items() if is_path(path)}
    runs = {name: path for name, path in files.items() if is_run(path)}
    if not runs or not without_features(data):
        return {name: _scores_in_file(path, data) if name in files else path for name, path in rankers.items()}, data
    joined, scores = pooled(data, list(runs.values()))
    of_runs = dict(zip(runs, scores, strict=True))
    return {
        name: of_runs[name] if name in runs else _for_joined_rows(one, data, joined) for name, one in rankers.items()
    }, joined


def is_path(ranker: object) -> TypeGuard[AnyPath]:
    """Whether a ranker is given as a path."""
    return isinstance(ranker, str | PathLike)


def without_features(data: Any) -> bool:
    """Whether these are judgements alone, whose documents can be found by their ids."""
    return isinstance(data, Dataset) and not data.feature_names and data.doc_ids is not None


def _scores_in_file(path: AnyPath, data: Dataset) -> Floats:
    try:
        return given_scores(path, data)
    except DataError as problem:
        if not is_run(path) and is_header(first_line(Path(path)), " "):  # it does not begin with a number
            problem.remedy = "Load a model with `rankinite.load(…)` first; a file of scores has one number on each line"
        raise


def _for_joined_rows(ranker: Any, data: Dataset, joined: Dataset) -> Any:
    """Scores of the judged documents for all documents: they return no others; rankers stay as they are."""
    if is_scorer(ranker):
        return ranker
    scores = given_scores(ranker, data) if is_path(ranker) else scores_of(ranker, data)
    rows = rows_of_documents(joined)
    for_joined = np.full(joined.rows, -np.inf)
    for_joined[[rows[pair] for pair in rows_of_documents(data)]] = scores
    return joined.in_row_order(for_joined)
