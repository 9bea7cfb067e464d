"""KeptFits: finished fits in a folder, from which an interrupted ensemble goes on to the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankinite.data.dataset import Dataset
from rankinite.data.fingerprint import arrays_key, fingerprint
from rankinite.data.io.sealed_files import DAMAGE, SealedFolder, digest
from rankinite.evaluation.inputs import Scorer
from rankinite.installed import code_key, versions
from rankinite.learners.base import Trainer
from rankinite.models.base import Fitted, stored_part
from rankinite.models.files.loading import loaded


class KeptFits:
    """The rankers of trainers on the same data; what was made by other code, settings or data is not used."""

    def __init__(self, folder: Path | str, train: Dataset, valid: Dataset | None, base: Scorer | None) -> None:
        self._folder = folder
        self._data = {
            "code": code_key(),
            "versions": versions(),
            "data": [None if one is None else fingerprint(one) for one in (train, valid)],
            "base": None if base is None else _ranker_key(base),
        }
        self.notes: list[str] = []
        """Which kept rankers could not be used, and why."""

    def get(self, name: str, trainer: Trainer) -> Fitted | None:
        """The ranker of a trainer; None where it is not finished yet, or is not what was kept."""
        files = self._files(trainer)
        content = files.unsealed(name, ("rankinite",))
        ranker: Any = None
        try:
            ranker = None if content is None else loaded(content["rankinite"], files.path(name, "rankinite"))
        except DAMAGE as problem:
            files.note(name, problem)
        self.notes += files.notes
        return ranker if isinstance(ranker, Fitted) else None

    def put(self, name: str, trainer: Trainer, ranker: Fitted) -> None:
        """Keep the ranker of a trainer."""
        files = self._files(trainer)
        files.folder.mkdir(parents=True, exist_ok=True)
        ranker.save(files.path(name, "rankinite"))
        files.seal(name, ("rankinite",))

    def _files(self, trainer: Trainer) -> SealedFolder:
        facts = {**self._data, "settings": trainer.settings()}
        return SealedFolder(self._folder, digest(json.dumps(facts, sort_keys=True).encode()))


def _ranker_key(ranker: Scorer) -> str:
    stored = stored_part(ranker, "the base")
    return arrays_key(dict(stored.arrays), stored.described())
