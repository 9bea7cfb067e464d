"""Checkpoints: what a run has trained so far, on disk, so that it can go on after a crash as if nothing had happened."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankinite.checks import check_count
from rankinite.errors import DataError
from rankinite.learners.base import Progress
from rankinite.learners.start import OTHER_RUN
from rankinite.models.files.loading import load
from rankinite.models.forest import Forest

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
