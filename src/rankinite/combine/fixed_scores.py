"""FixedScores: the scores of an array, a score file or a TREC run as a ranker, so that they can be combined like one.

``evaluation.scorers`` reads such scores for some data; here they become rankers, which a combination keeps. Most of this
is about documents that a run does not return: they get a score all the same, below those of all documents that are returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.io.given_scores import is_run
from rankinite.data.io.text_files import AnyPath
from rankinite.data.io.trec import read_run
from rankinite.engine.kernel import Flags, Floats
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.scorers import Scorer, is_path, is_scorer, scores_of, with_scores_read
from rankinite.grid import few
from rankinite.models.base import Fitted
from rankinite.models.files.container import Stored
from rankinite.models.normalised import centre_and_spread
from rankinite.plurals import counted


class FixedScores(Fitted):
    """The scores of an array or a file as a ranker of the rows that they are for; a run also scores other data.

    A document that is not returned (−inf) cannot be added to others. It counts as one standard deviation of all scores below
    the lowest score of its query: below all documents that are returned, wherever these are.
    """

    def __init__(self, scores: Floats, data: Dataset, name: str, run: AnyPath | None = None) -> None:
        self.raw, self.data, self.name, self.run = scores, data, name, run

    def __repr__(self) -> str:
        return f"<the scores of {self.name}>"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """None: it needs no features."""
        return ()

    @property
    def trained_on(self) -> tuple[()]:
        """Nothing is known of where the scores came from."""
        return ()

    def stored(self) -> Stored:
        """Refused: a model scores any data."""
        raise ArgumentError(
            f"{self.name} is given as scores, of which no model can be made",
            value=self.name,
            remedy="Write the combined scores with write_scores, or combine rankers",
        )

    def score(self, features: Dataset | npt.ArrayLike, /) -> Floats:
        """One finite score per row, unless one is +∞."""
        if not isinstance(features, Dataset):
            raise self._no_scores_for(type(features).__name__)
        raw = self.raw_for(features)
        missing = np.isneginf(raw)
        return _fill_missing(raw, missing, features) if missing.any() else raw

    def raw_for(self, data: Dataset) -> Floats:
        """The scores as they were given; −inf for what is not returned."""
        if _same_documents(data, self.data):
            return self.raw
        if self.run is None:
            raise self._no_scores_for(data.source)
        return np.asarray(read_run(self.run, data))

    def _no_scores_for(self, place: str) -> DataError:
        return DataError(
            f"ranker {self.name} is given as scores of the {self.data.rows:,} rows of {self.data.source}, and has none here",
            place=place,
            value=self.name,
            remedy="Combine rankers, or TREC runs that return documents of these queries too",
        )


def _same_documents(one: Dataset, other: Dataset) -> bool:
    """Whether these are the same documents in the same order, perhaps read twice."""
    if one is other:
        return True
    pairs = ((one.offsets, other.offsets), (one.qids, other.qids), (one.grades, other.grades))
    ids = one.doc_ids is None or other.doc_ids is None or np.array_equal(one.doc_ids, other.doc_ids)
    return ids and all(np.array_equal(first, second) for first, second in pairs)


def _fill_missing(raw: Floats, missing: Flags, data: Dataset) -> Floats:
    finite = np.sort(raw[np.isfinite(raw)])  # sums must not depend on the order of the rows
    spread = centre_and_spread(finite, "given scores")[1] if len(finite) else 0.0
    lowest = np.minimum.reduceat(np.where(missing, np.inf, raw), data.offsets[:-1])
    known = lowest[np.isfinite(lowest)]  # it is +∞ where nothing is returned for a query
    lowest[~np.isfinite(lowest)] = known.min() if len(known) else 0.0
    below = np.minimum(lowest - (spread or 1.0), np.nextafter(lowest, -np.inf))  # also where the gap is lost in rounding
    return np.where(missing, np.repeat(below, np.diff(data.offsets)), raw)


def as_rankers(rankers: Mapping[str, Any], data: Dataset) -> tuple[dict[str, Any], Dataset]:
    """The rankers, with :class:`FixedScores` in the place of arrays and files, and the data that they score."""
    given, joined = with_scores_read(rankers, data)

    def as_ranker(name: str, one: Any) -> Any:
        if is_scorer(one):
            return one
        path = rankers[name]
        run = path if is_path(path) and is_run(path) else None
        return FixedScores(np.asarray(scores_of(one, joined, f"ranker {name}")), joined, name, run)

    return {name: as_ranker(name, one) for name, one in given.items()}, joined


def returned_by_any(rankers: Sequence[Scorer], data: Dataset) -> Flags | None:
    """Which documents any of the rankers returns; None where all are."""
    fixed = [ranker for ranker in rankers if isinstance(ranker, FixedScores)]
    if len(fixed) < len(rankers):
        return None
    returned = np.logical_or.reduce([~np.isneginf(ranker.raw_for(data)) for ranker in fixed])
    return None if returned.all() else returned


def notes_on_missing(rankers: Mapping[str, Scorer], data: Dataset) -> list[str]:
    """What became of documents that are not returned."""
    notes: list[str] = []
    for name, ranker in rankers.items():
        missing = int(np.isneginf(ranker.raw_for(data)).sum()) if isinstance(ranker, FixedScores) else 0
        if missing:
            notes.append(
                f"ranker {name} does not return {missing:,} of {data.rows:,} documents: such a document counts as below "
                "the last that it returns for the query."
            )
    returned = returned_by_any(list(rankers.values()), data)
    if returned is not None:
        notes.append(f"Left out: {counted(int((~returned).sum()), 'document')} that no ranker returns.")
    return notes


def notes_on_tail(rankers: Mapping[str, Scorer], weights: Sequence[float], data: Dataset) -> list[str]:
    """What became of documents that only runs of weight 0 return."""
    weighed = zip(rankers.items(), weights, strict=False)  # a net has no weights
    without = {name: ranker for (name, ranker), weight in weighed if weight == 0.0 and isinstance(ranker, FixedScores)}
    kept = returned_by_any([ranker for name, ranker in rankers.items() if name not in without], data)
    if not without or kept is None:
        return []
    tail = int((~kept & np.logical_or.reduce([~np.isneginf(ranker.raw_for(data)) for ranker in without.values()])).sum())
    return [f"Last, and tied, come {counted(tail, 'document')} that only {few(without)} returns."] if tail else []
