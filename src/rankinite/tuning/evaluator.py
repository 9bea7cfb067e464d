"""Evaluator: what a setting is worth on the queries of one fold, found by threads or workers.

What is finished is kept, and shared with other searches.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from rankinite.data.folds import Fold
from rankinite.data.identity import fingerprint
from rankinite.data.io.sealed_files import digest
from rankinite.engine.kernel import Floats
from rankinite.engine.parallel import run, thread_count
from rankinite.errors import ArgumentError, RankiniteError
from rankinite.evaluation.evaluate import evaluate
from rankinite.installed import code_key, versions
from rankinite.learners.base import Learner
from rankinite.learners.training_bins import share_bins
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import Fitted
from rankinite.tuning.space import with_settings
from rankinite.workers.claims import Claims
from rankinite.workers.cluster import in_force
from rankinite.workers.kept_results import KeptResults
from rankinite.workers.orders import unless_unwanted


@dataclass(frozen=True, eq=False)
class FoldTask:
    """A learner to train and judge on one fold."""

    learner: Learner
    fold: Fold
    measure: Measure


@dataclass(frozen=True, eq=False)
class FoldValue:
    """What came of it."""

    values: Floats
    """The measure of each test query on which it is defined, higher being better."""
    rounds: int = 0
    """The round, or epoch, that was best on the validation queries."""
    size: int = 0
    """The size of the model: numbers stored in trees or weights."""
    seconds: float = 0.0
    refusal: str = ""
    """Why nothing came of it."""

    def to_bytes(self) -> bytes:
        """As they are kept and sent."""
        content = io.BytesIO()
        np.savez(
            content,
            values=self.values,
            rounds=np.asarray(self.rounds),
            size=np.asarray(self.size),
            seconds=np.asarray(self.seconds),
            refusal=np.asarray(self.refusal),
        )
        return content.getvalue()

    @classmethod
    def refused(cls, why: str, seconds: float = 0.0) -> FoldValue:
        """Nothing can be trained so."""
        return cls(np.empty(0), seconds=seconds, refusal=why)

    @classmethod
    def from_bytes(cls, content: bytes) -> FoldValue:
        """As they were kept."""
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            facts: dict[str, Any] = {name: stored[name].item() for name in ("rounds", "size", "seconds", "refusal")}
            return cls(stored["values"], **facts)


def fold_value(task: FoldTask) -> bytes:
    """Train on a fold, stop by its validation queries, and judge by its test queries. The codes of a fold are made once."""
    share_bins(task.fold.train)
    share_bins(task.fold.valid)
    start = perf_counter()
    try:
        ranker: Fitted = unless_unwanted(
            lambda look: task.learner.fit(task.fold.train, task.fold.valid, callbacks=[look], allow_overlap=True)
        )
        per_query = evaluate(ranker, task.fold.test, [task.measure])[task.measure].per_query
    except RankiniteError as problem:
        return FoldValue.refused(str(problem), perf_counter() - start).to_bytes()
    trained = ranker.trained()
    history = None if trained is None else trained.history
    if history is not None and history.stopped == "interrupted":
        raise KeyboardInterrupt
    values = sign_of(task.measure) * per_query[~np.isnan(per_query)]
    rounds = 0 if history is None else int(history.best)
    return FoldValue(values, rounds, model_size(ranker), perf_counter() - start).to_bytes()


def model_size(ranker: Fitted) -> int:
    """How many numbers a model consists of, apart from what it records of its training."""
    arrays = ranker.stored().arrays
    return sum(array.size for name, array in arrays.items() if not name.startswith(("sketch", "history")))


SMALL = 500_000
"""Rows up to which fits run side by side, each on one thread; larger ones run in turn, each on all."""
PAUSE = 0.05
"""Seconds between two looks at whether another process has finished."""

Piece = tuple[Mapping[str, Any], int]
"""Settings, and the number of a fold."""


class Evaluator:
    """Trains and judges a learner with any settings on any of the folds."""

    def __init__(self, learner: Learner, folds: Sequence[Fold], measure: Measure, keep: Path | None) -> None:
        self._learner, self.folds, self._measure = learner, folds, measure
        self._known: dict[str, FoldValue] = {}
        self._kept = None if keep is None else KeptResults(keep / "values")
        self._claims = None if keep is None else Claims(keep / "claims")
        data = [[fingerprint(part) for part in fold] for fold in folds]
        self._facts = {"code": code_key(), "versions": versions(), "measure": str(measure)}
        self._data = data

    @property
    def at_once(self) -> int:
        """How many pieces are worked on at once."""
        cluster = in_force()
        if cluster is not None:
            return cluster.size
        return thread_count() if self._is_small else 1

    @property
    def _is_small(self) -> bool:
        return self.folds[0].train.rows <= SMALL

    def key(self) -> str:
        """A hash of all that decides the values, apart from the settings that are searched."""
        facts = {**self._facts, "data": self._data, "learner": self._learner.settings()}
        return digest(json.dumps(facts, sort_keys=True).encode())

    def known(self, piece: Piece) -> FoldValue | None:
        """What was found before, here or by another process."""
        key = self._key(piece)
        if key not in self._known and self._kept is not None:
            content = self._kept.get(key)
            if content is not None:
                self._known[key] = FoldValue.from_bytes(content)
        return self._known.get(key)

    def values(self, pieces: Sequence[Piece]) -> list[FoldValue]:
        """The values of all pieces. Those that another process is at are waited for."""
        while True:
            left = [piece for piece in pieces if self.known(piece) is None]
            if not left:
                return [self._known[self._key(piece)] for piece in pieces]
            ours = self._claimed(left)
            if ours:
                self._work_on(ours)
            else:
                time.sleep(PAUSE)

    def _claimed(self, left: Sequence[Piece]) -> list[Piece]:
        """Some of the pieces, as many as are worked on at once, for no other process to work on; one of equals."""
        distinct = {self._key(piece): piece for piece in left}
        if self._claims is None:
            return list(distinct.values())
        ours: list[Piece] = []
        for key, piece in distinct.items():
            if len(ours) < self.at_once and self._claims.take(key):
                ours.append(piece)
        fresh = [piece for piece in ours if self.known(piece) is None]  # another may have finished it just before
        for piece in ours:
            if piece not in fresh:
                self._claims.give_back(self._key(piece))
        return fresh

    def _work_on(self, pieces: Sequence[Piece]) -> None:
        """Train and judge; each value is kept as soon as it is there."""
        tasks: list[FoldTask] = []
        trained: list[Piece] = []
        try:
            for settings, number in pieces:
                try:
                    learner = with_settings(self._learner, settings)
                except ArgumentError as problem:  # settings that exclude each other
                    self._keep((settings, number), FoldValue.refused(str(problem)).to_bytes())
                    continue
                tasks.append(FoldTask(learner, self.folds[number], self._measure))
                trained.append((settings, number))
            self._train(tasks, trained)
        finally:
            if self._claims is not None:
                for piece in pieces:
                    self._claims.give_back(self._key(piece))

    def _train(self, tasks: Sequence[FoldTask], pieces: Sequence[Piece]) -> None:
        def done(number: int, content: bytes) -> None:
            self._keep(pieces[number], content)

        cluster = in_force()
        if cluster is not None:
            cluster.run(fold_value, tasks, done)
        elif self._is_small and len(tasks) > 1:
            run(lambda number: done(number, fold_value(tasks[number])), range(len(tasks)))
        else:
            for number, task in enumerate(tasks):
                done(number, fold_value(task))

    def _keep(self, piece: Piece, content: bytes) -> None:
        key = self._key(piece)
        self._known[key] = FoldValue.from_bytes(content)
        if self._kept is not None:
            self._kept.put(key, content)

    def _key(self, piece: Piece) -> str:
        settings, number = piece
        plain = {**self._learner.settings(), **{name: str(value) for name, value in settings.items()}}
        facts = {**self._facts, "data": self._data[number], "settings": plain}
        return digest(json.dumps(facts, sort_keys=True).encode())
