"""Journal: finished trials in Optuna's own file, which ``optuna-dashboard`` shows and several searches can share."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

from rankinite.engine.file_locks import locked
from rankinite.errors import DataError
from rankinite.tuning.proposals import Proposer, optuna_library
from rankinite.tuning.tried import Tried

STUDY = "rankinite"
ID = "rankinite_id"


class Journal:
    """The file ``journal.log`` of a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        optuna = optuna_library()
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = folder / "journal.lock"
        journal = optuna.storages.journal
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that journals are experimental
            storage = optuna.storages.JournalStorage(journal.JournalFileBackend(str(folder / "journal.log")))
        try:
            with locked(self._lock):
                study_name = f"{STUDY} {name}"
                self._study = optuna.create_study(
                    study_name=study_name, storage=storage, direction="maximize", load_if_exists=True
                )
        except (ValueError, KeyError, TypeError) as problem:
            place = folder / "journal.log"
            raise DataError(
                f"this journal cannot be read ({problem})",
                place=place,
                value=str(place),
                remedy="Remove it, or give another folder",
            ) from problem

    def add(self, tried: Tried, identity: str, proposer: Proposer) -> None:
        """Write a finished trial, unless it is there: a search that goes on, or another one, comes to it again."""
        with locked(self._lock):
            known = {trial.user_attrs.get(ID) for trial in self._study.get_trials(deepcopy=False)}
            if identity not in known:
                self._study.add_trial(proposer.frozen(tried, **{ID: identity, "state": tried.state}))

    def others(self, known: set[str]) -> Generator[tuple[str, dict[str, Any]]]:
        """The identities and values of trials that are not among those known."""
        for trial in self._study.get_trials(deepcopy=False):
            identity = trial.user_attrs.get(ID)
            if identity is not None and identity not in known:
                yield identity, trial.params
