"""TrialStore: finished trials in a folder, from which an interrupted run goes on.

A trial that does not fit its seal (``data/io/sealed_files``), or cannot be a trial of this task, is made again with a note.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.adapt.held_out import holdouts_of, measurable_queries
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.methods.catalogue import AdaptationMethod
from rankinite.adapt.methods.trada import Trada
from rankinite.adapt.shared_fits import Task
from rankinite.adapt.trials import MethodTrial
from rankinite.data.identity import fingerprint
from rankinite.data.io.sealed_files import AGAIN, DAMAGE, SealedFolder, digest
from rankinite.engine.kernel import SCORE
from rankinite.errors import DataError
from rankinite.installed import code_key, versions
from rankinite.models.base import Fitted, content_key, names_of
from rankinite.models.files.loading import loaded


class TrialStore:
    """The finished trials of one task; those of other tasks in the same folder are not touched."""

    def __init__(self, folder: Path | str, task: Task, tuning: Trada = Trada()) -> None:  # noqa: B008 - frozen
        self._task, self._files = task, SealedFolder(folder, task_key(task, tuning))

    @property
    def folder(self) -> Path:
        """Where the files of this task are."""
        return self._files.folder

    @property
    def notes(self) -> list[str]:
        """Which kept work could not be used, and why."""
        return self._files.notes

    def get(self, method: AdaptationMethod) -> MethodTrial | None:
        """The trial of a method; None where it is not finished yet, or is not what was kept."""
        content = self._files.unsealed(method.name, ("rankinite", "npz"))
        if content is None:
            return None
        try:
            ranker = loaded(content["rankinite"], self._files.path(method.name, "rankinite"))
            with np.load(io.BytesIO(content["npz"]), allow_pickle=False) as stored:
                trial = MethodTrial(method, ranker, stored["unseen"], stored["spreads"], float(stored["seconds"]))  # pyright: ignore[reportArgumentType] - checked below
            self._check(trial)
        except DAMAGE as problem:
            self._files.note(method.name, problem)
            return None
        return trial

    def put(self, trial: MethodTrial) -> None:
        """Keep a finished trial, unless it could not be used again, as one with infinite scores."""
        try:
            self._check(trial)
        except DataError:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        name = trial.method.name
        trial.ranker.save(self._files.path(name, "rankinite"))
        facts = {"unseen": trial.unseen, "spreads": trial.spreads, "seconds": np.asarray(trial.seconds)}
        self._files.write(name, "npz", _packed(facts))
        self._files.seal(name, ("rankinite", "npz"))

    def get_curve(self, name: str, methods: Sequence[str]) -> LearningCurve | None:
        """The learning curve of these methods, as :meth:`get`."""
        if self._files.unsealed(name, ("npz",)) is None:
            return None
        try:
            curve = LearningCurve.load(self._files.path(name, "npz"), self._task.measure)
            self._check_curve(curve, methods)
        except DAMAGE as problem:
            self._files.note(name, problem)
            return None
        return curve

    def put_curve(self, name: str, curve: LearningCurve) -> None:
        """Keep a learning curve."""
        self.folder.mkdir(parents=True, exist_ok=True)
        curve.save(self._files.path(name, "npz"))
        self._files.seal(name, ("npz",))

    # ---- what a trial may be ----------------------------------------------------------------------------------

    def _check(self, trial: MethodTrial) -> None:
        """Refuse what is no trial of this task."""
        task = self._task
        ranker: Any = trial.ranker
        fits = len(holdouts_of(task.target, task.measure, task.folds, task.seed)) + 1
        if not isinstance(ranker, Fitted):
            kind = type(ranker).__name__
            raise DataError(f"a {kind} is no ranker of ours", value=kind, remedy=AGAIN)
        foreign = set(names_of(ranker)) - set(task.target.feature_names)
        if foreign:
            problem = f"its ranker needs the feature {min(foreign)!r}, which {task.target.source} does not have"
            raise DataError(problem, value=min(foreign), remedy=AGAIN)
        _check_numbers("the scores", trial.unseen, (task.target.rows,))
        _check_numbers("the spreads", trial.spreads, (fits,))
        _check_numbers("the seconds", np.asarray(trial.seconds), ())
        if trial.seconds < 0.0 or (trial.spreads < 0.0).any():
            raise DataError("a spread or the time is negative", value=trial.seconds, remedy=AGAIN)

    def _check_curve(self, curve: LearningCurve | None, methods: Sequence[str]) -> None:
        """Refuse what is no learning curve of these methods."""
        if curve is None or list(curve.values) != list(methods):
            found = None if curve is None else list(curve.values)
            raise DataError("it is not about the methods that are asked for", value=found, remedy=AGAIN)
        if not curve.sizes or any(type(size) is not int or size < 1 for size in curve.sizes):
            raise DataError("a size is no whole number from 1 on", value=curve.sizes, remedy=AGAIN)
        queries = len(measurable_queries(self._task.target, self._task.measure))
        for values in curve.values.values():
            _check_numbers("the values", values, (len(curve.sizes), queries))


def _check_numbers(what: str, array: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.dtype != SCORE or array.shape != shape:
        problem = f"{what} are {array.dtype} of shape {array.shape}, not {np.dtype(SCORE)} of shape {shape}"
        raise DataError(problem, value=array.shape, remedy=AGAIN)
    if not np.isfinite(array).all():
        raise DataError(f"{what} are not all finite", value=what, remedy=AGAIN)


def _packed(arrays: dict[str, npt.NDArray[Any]]) -> bytes:
    content = io.BytesIO()
    np.savez(content, **arrays)  # pyright: ignore[reportArgumentType] - one of its keywords is no array
    return content.getvalue()


def task_key(task: Task, tuning: Trada = Trada()) -> str:  # noqa: B008 - frozen
    """A hash of all that decides what the trials give: code, versions, settings, data and backgrounds."""
    compared = replace(tuning, same_scale=False)  # it decides which methods are tried, not what they give
    data = (task.target, task.valid, task.background_data)
    facts = {
        "code": code_key(),
        "versions": versions(),
        "settings": [str(task.measure), task.folds, task.seed, str(compared)],
        "data": [None if one is None else fingerprint(one) for one in data],
        "backgrounds": [content_key(ranker, name) for name, ranker in task.backgrounds.items()],
    }
    return digest(json.dumps(facts, sort_keys=True).encode())
