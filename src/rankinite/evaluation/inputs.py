"""Inputs of an evaluation: rankers and measures as they may be given, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any, Final, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.row_values import check_order
from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import ArgumentError, DataError, cut, quoted
from rankinite.measures.base import Measure
from rankinite.measures.conventions import CONVENTIONS, Convention
from rankinite.measures.spelling import read_measure, warn_of_gains
from rankinite.plurals import counted

_EXAMPLE: Final = {"remedy": "Give for example NDCG(10) or 'ndcg@10'", "shell_remedy": "Give for example ndcg@10"}


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


def matched_to(ranker: Any, data: Dataset) -> tuple[Any, tuple[str, ...]]:
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


def as_measures(
    measures: Sequence[Measure | str] | Measure | str, convention: Convention = CONVENTIONS["rankinite"]
) -> tuple[Measure, ...]:
    """The measures meant, without repetitions, in the order given; they are evaluated by the ``convention``."""
    listed: list[Any] = list(measures) if _is_list(measures) else [measures]
    parsed: list[Measure] = []
    for entry in listed:
        measure: Any = read_measure(entry) if isinstance(entry, str) else entry
        if isinstance(entry, str) and "gains" not in convention.settings.get("ndcg", {}):
            warn_of_gains(entry, measure)
        if isinstance(measure, type) or not isinstance(measure, Measure):
            raise ArgumentError(f"{quoted(measure)} is not a measure", value=measure, **_EXAMPLE)
        if measure not in parsed:
            parsed.append(measure)
    if not parsed:
        raise ArgumentError("no measure was given", value=listed, **_EXAMPLE)
    names = [str(measure) for measure in parsed]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ArgumentError(f"two measures are called {twice!r}", value=twice, remedy="Give them different names")
    return tuple(parsed)


def one_measure(name: str, field: str, chosen: Measure | str) -> Measure:
    """The measure of a setting; refuses what is none, or several."""
    error = ArgumentError("must be one measure", owner=name, setting=field, value=chosen, **_EXAMPLE)
    try:
        measures = as_measures(chosen)
    except ArgumentError as problem:
        raise error from problem
    if len(measures) != 1:
        raise error
    return measures[0]


def _is_list(measures: Any) -> TypeGuard[Iterable[Any]]:
    return isinstance(measures, Iterable) and not isinstance(measures, str | Measure)
