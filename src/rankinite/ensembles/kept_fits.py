"""KeptFits: finished fits in a folder, from which an interrupted ensemble goes on to the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankinite.data.io.sealed_files import DAMAGE, SealedFolder
from rankinite.ensembles.fits import Fit
from rankinite.models.base import Fitted
from rankinite.models.files.loading import loaded


class KeptFits:
    """Rankers by name; what was made by other code, settings or data is not used."""

    def __init__(self, folder: Path | str) -> None:
        self._folder = folder
        self.notes: list[str] = []
        """Which kept rankers could not be used, and why."""

    def get(self, name: str, fit: Fit) -> Fitted | None:
        """The ranker of a fit; None where it is not finished yet, or is not what was kept."""
        files = SealedFolder(self._folder, fit.key())
        content = files.unsealed(name, ("rankinite",))
        ranker: Any = None
        try:
            ranker = None if content is None else loaded(content["rankinite"], files.path(name, "rankinite"))
        except DAMAGE as problem:
            files.note(name, problem)
        self.notes += files.notes
        return ranker if isinstance(ranker, Fitted) else None

    def put(self, name: str, fit: Fit, ranker: Fitted) -> None:
        """Keep the ranker of a fit."""
        files = SealedFolder(self._folder, fit.key())
        files.folder.mkdir(parents=True, exist_ok=True)
        ranker.save(files.path(name, "rankinite"))
        files.seal(name, ("rankinite",))
