"""Inputs of an evaluation: rankers and measures as they may be given, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import ArgumentError, DataError
from rankinite.measures.base import Measure
from rankinite.measures.spelling import parse_measure


@runtime_checkable
class Scorer(Protocol):
    """Anything that scores the rows of a data set."""

    def score(self, data: Dataset, /) -> npt.ArrayLike:
        """One score a row; the highest comes first, −inf is not returned at all."""
        ...


def scores_of(ranker: Scorer | npt.ArrayLike, data: Dataset, name: str = "") -> Floats:
    """The scores of a ranker, or the scores given, checked: one number a row."""
    place = f"{name}: " if name else ""
    if not isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        raise DataError(f"{place}the data are a {type(data).__name__}. Give a Dataset, as rankinite.read returns.")
    given = ranker.score(data) if isinstance(ranker, Scorer) and not isinstance(ranker, type) else ranker
    try:
        scores = np.asarray(given, SCORE)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{place}{type(ranker).__name__} is neither a ranker nor numbers ({error}). Give an object with a method "
            "score(data), or one score for each row."
        ) from error
    if scores.shape != (data.rows,):
        raise DataError(
            f"{place}the scores have shape {scores.shape} but {data.source} has {data.rows} rows. "
            "Give one score for each row, in the order of the data's rows."
        )
    bad = np.flatnonzero(np.isnan(scores))
    if len(bad):
        row = int(bad[0])
        qid = str(data.qids[np.searchsorted(data.offsets, row, side="right") - 1])
        raise DataError(
            f"{place}row {row} of {data.source} (query {qid!r}) has score NaN, as have {len(bad) - 1} other rows. "
            "NaN has no place in a ranking; give −inf for a document that is not returned."
        )
    return np.ascontiguousarray(scores)


def as_measures(measures: Sequence[Measure | str] | Measure | str) -> tuple[Measure, ...]:
    """The measures meant, without repetitions, in the order given."""
    listed: list[Any] = list(measures) if _is_list(measures) else [measures]
    parsed: list[Measure] = []
    for entry in listed:
        measure: Any = parse_measure(entry) if isinstance(entry, str) else entry
        if isinstance(measure, type) or not isinstance(measure, Measure):
            raise ArgumentError(f"{measure!r} is not a measure. Give for example NDCG(10) or 'ndcg@10'.")
        if measure not in parsed:
            parsed.append(measure)
    if not parsed:
        raise ArgumentError("no measure was given. Give at least one, for example NDCG(10) or 'ndcg@10'.")
    names = [str(measure) for measure in parsed]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ArgumentError(f"two measures are called {twice!r}", value=twice, remedy="Give them different names")
    return tuple(parsed)


def one_measure(name: str, field: str, given: Measure | str) -> Measure:
    """The measure of a setting; refuses what is none, or several."""
    try:
        measures = as_measures(given)
    except ArgumentError as problem:
        raise ArgumentError(f"{name}: {field}={given!r} must be one measure. {problem}") from problem
    if len(measures) != 1:
        raise ArgumentError(f"{name}: {field}={given!r} must be one measure. Give for example NDCG(10) or 'ndcg@10'.")
    return measures[0]


def _is_list(measures: Any) -> TypeGuard[Iterable[Any]]:
    return isinstance(measures, Iterable) and not isinstance(measures, str | Measure)
