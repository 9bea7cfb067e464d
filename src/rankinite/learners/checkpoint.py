"""Checkpoints: what a run has trained so far, on disk, so that it can go on after a crash as if nothing had happened."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankinite.checks import check_count
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.learners.base import Progress
from rankinite.models.files.loading import load
from rankinite.models.forest import Forest
from rankinite.plurals import counted

OTHER_RUN = "Train as before, or delete the checkpoint to start afresh"
_MAY_CHANGE = ("trees", "patience")
"""Settings under which a run may go on that began with others."""


@dataclass(eq=False)
class Checkpoint:
    """A callback that keeps the forest in a file every few rounds; with the file there, training goes on from it.

    >>> learner.fit(train, valid, callbacks=[Checkpoint("model.checkpoint", every=50)])         # doctest: +SKIP

    The result has the same bytes as that of an uninterrupted run. The file is refused when data or settings have changed,
    the number of trees and the patience aside.
    """

    path: Path | str
    every: int = 50
    """Rounds between two checkpoints."""

    def __post_init__(self) -> None:
        self.path = Path(self.path)
        check_count("Checkpoint", "every", self.every)
        self._run: dict[str, Any] = {}

    def resume(self, settings: dict[str, Any], data: dict[str, str]) -> Forest | None:
        """The forest of the checkpoint, or None where there is no file yet."""
        kept = {name: value for name, value in settings.items() if name not in _MAY_CHANGE}
        self._run = {"settings": kept, **data}
        path = Path(self.path)
        if not path.exists():
            return None
        ranker = load(path)
        found: Any = ranker.settings.get("checkpoint") if isinstance(ranker, Forest) else None
        if not isinstance(ranker, Forest) or not isinstance(found, dict):
            raise DataError(
                "this is not a checkpoint",
                place=path,
                value=type(ranker).__name__,
                remedy="Give another path, or delete the file",
            )
        self._check(path, found)
        return ranker

    def __call__(self, progress: Progress) -> None:
        """Write the file when it is time."""
        if progress.round % self.every:
            return
        forest = progress.ranker()
        assert isinstance(forest, Forest)  # nets refuse checkpoints when training begins
        try:
            replace(forest, settings={**forest.settings, "checkpoint": self._run}).save(self.path)
        except (DataError, OSError) as problem:
            raise DataError(
                f"the checkpoint of round {progress.round} cannot be written ({problem})",
                place=self.path,
                value=progress.round,
                rule="The one before it, if there was one, is intact",
                remedy="Make room, or give another path, and train again to go on from it",
            ) from problem

    def _check(self, path: Path, found: dict[str, Any]) -> None:
        """Refuse a checkpoint of another run, and say in what it differs."""
        expected = json.loads(json.dumps(self._run))
        if found == expected:
            return
        before, now = found.get("settings"), expected["settings"]
        if not isinstance(before, dict):
            raise DataError(
                "what this checkpoint keeps of its run is damaged", place=path, value=before, remedy="Delete it to start afresh"
            )
        recorded: dict[str, Any] = before
        names = dict.fromkeys([*now, *recorded])
        changed = [name for name in names if recorded.get(name) != now.get(name)]
        other = " and ".join(name for name in ("train", "valid") if found.get(name) != expected.get(name))
        changes = ", ".join(f"`{name}={recorded.get(name)!r}` (now {now.get(name)!r})" for name in changed)
        why = f"with {changes}" if changed else f"on other {other or 'kinds of'} data, or from another base"
        raise DataError(f"this checkpoint was made {why}", place=path, value=changed or other, remedy=OTHER_RUN)


def check_continues(forest: Forest, place: str, train: Dataset, valid: Dataset | None, outputs: int) -> None:
    """Refuse a forest that training cannot go on from: its trees are to walk these rows, and its history to be lengthened.

    ``outputs``: how many sums the objective has.
    """
    if forest.feature_names != train.feature_names:
        raise DataError(
            f"this checkpoint has {_differing(forest.feature_names, train.feature_names, train.source)}",
            place=place,
            value=forest.feature_names,
            rule="Features must be the same, in the same order",
            remedy=OTHER_RUN,
        )
    if forest.categories != train.categories:
        raise DataError(
            "this checkpoint has other categories than the training data",
            place=place,
            value=list(forest.categories),
            rule="Vocabularies must be the same",
            remedy=OTHER_RUN,
        )
    if forest.outputs != outputs:
        raise DataError(
            f"this checkpoint has {counted(forest.outputs, 'score')} per row, not {outputs}",
            place=place,
            value=forest.outputs,
            remedy=OTHER_RUN,
        )
    history, rounds = forest.history, forest.rounds
    sizes = () if history is None else (len(history.train), len(history.valid), len(history.steps))
    measured = rounds + 1  # after every round, and before the first
    whole = sizes in [(values, 0 if valid is None else measured, steps) for values in (0, measured) for steps in (0, rounds)]
    if history is None or not whole or not all(np.isfinite(values).all() for values in (history.train, history.valid)):
        raise DataError(
            f"the history of this checkpoint does not fit its {counted(rounds, 'round')} of trees",
            place=place,
            value=sizes,
            rule="It must have one finite number for each round and one for the start",
            remedy=OTHER_RUN,
        )


def _differing(names: tuple[str, ...], wanted: tuple[str, ...], source: str) -> str:
    """Where the names of features first differ, or how many there are."""
    for position, (name, other) in enumerate(zip(names, wanted, strict=False)):
        if name != other:
            return f"the feature {quoted(name)} at position {position}, where {source} has {quoted(other)}"
    return f"{counted(len(names), 'feature')}, but {source} has {len(wanted)}"


def check_not_shortened(forest: Forest, rounds: int) -> None:
    """Refuse to go back behind a checkpoint of debiased clicks: it keeps the estimates of its last round alone."""
    if rounds < forest.rounds:
        raise ArgumentError(
            f"is less than the {counted(forest.rounds, 'round')} of the checkpoint, which keeps the debiasing of the last one "
            "alone",
            setting="trees",
            value=rounds,
            remedy=f"Give at least {forest.rounds}, and truncate the ranker; or delete the checkpoint to start afresh",
        )
