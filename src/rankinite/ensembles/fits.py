"""Fits that are independent of each other: made on this process's threads, or on the workers of a cluster, and kept.

A :class:`Fit` is a trainer with its inputs. :func:`fit_all` makes several, and :class:`KeptFits` holds finished ones in a
folder, from which an interrupted ensemble goes on to the same bytes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rankinite.data.dataset import Dataset
from rankinite.data.identity import fingerprint
from rankinite.data.io.sealed_files import DAMAGE, SealedFolder, digest
from rankinite.engine.parallel import run
from rankinite.evaluation.scorers import Scorer
from rankinite.installed import code_key, versions
from rankinite.learners.base import Callback, Progress, Trainer
from rankinite.models.base import Fitted, content_key, trained_of
from rankinite.models.blend import Blend
from rankinite.models.files.container import model_bytes
from rankinite.models.files.loading import loaded
from rankinite.workers.cluster import Cluster, in_force
from rankinite.workers.kept_results import KeptResults
from rankinite.workers.mpi_group import mpi_in_force
from rankinite.workers.orders import unless_unwanted


def check_whole(ranker: object) -> None:
    """Raise KeyboardInterrupt again where it ended the training of the ranker or of any of its parts."""
    trained = trained_of(ranker)
    if trained is not None and trained.history is not None and trained.history.stopped == "interrupted":
        raise KeyboardInterrupt
    for part in ranker.inside() if isinstance(ranker, Fitted) else ():
        check_whole(part.ranker)


Done = Callable[[int, Fitted], None]
"""Is given the number of each fit that is done, and its ranker."""


@dataclass(frozen=True, eq=False)
class FitInputs:
    """What a trainer learns from."""

    train: Dataset
    valid: Dataset | None = None
    base: Scorer | None = None
    allow_overlap: bool = False


@dataclass(frozen=True, eq=False)
class Fit:
    """One fit: a trainer and its inputs."""

    trainer: Trainer
    inputs: FitInputs

    def ranker(self, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train."""
        inputs = self.inputs
        return self.trainer.fit(
            inputs.train, inputs.valid, base=inputs.base, callbacks=callbacks, allow_overlap=inputs.allow_overlap
        )

    def key(self) -> str:
        """A hash of all that decides the ranker: code, versions, settings, data and base."""
        inputs = self.inputs
        facts = {
            "code": code_key(),
            "versions": versions(),
            "settings": self.trainer.settings(),
            "data": [None if one is None else fingerprint(one) for one in (inputs.train, inputs.valid)],
            "base": None if inputs.base is None else content_key(inputs.base, "the base"),
        }
        return digest(json.dumps(facts, sort_keys=True).encode())


def hands_out(trainer: Trainer) -> bool:
    """Whether a trainer makes several fits, which it hands out itself; learners and trainers of users' own do not."""
    return getattr(trainer, "hands_out", False)


def fit_all(fits: Sequence[Fit], done: Done | None = None, *, in_turn: bool = False) -> list[Fitted]:
    """The rankers of all fits, in their order; ``done`` is called after each, by one thread at a time.

    On a cluster single fits are sent to workers, and trainers of several send those. Without one they run side by side, each on
    one thread, or ``in_turn``, each on all threads.
    """
    cluster = in_force()
    if cluster is not None:
        return _fit_on(cluster, fits, done)
    lock = threading.Lock()

    def fit(number: int) -> Fitted:
        ranker = fits[number].ranker()
        check_whole(ranker)
        with lock:
            if done is not None:
                done(number, ranker)
        return ranker

    together = mpi_in_force() is not None  # all processes make each fit together, so that none may be at another
    return [fit(number) for number in range(len(fits))] if in_turn or together else run(fit, range(len(fits)))


def _fit_on(cluster: Cluster, fits: Sequence[Fit], done: Done | None) -> list[Fitted]:
    """The rankers, by workers; those that an earlier run has finished are taken from the folder."""
    folder = cluster.folder / "fits"
    rankers: dict[int, Fitted] = {}
    lock = threading.Lock()

    def take(number: int, ranker: Fitted) -> None:
        with lock:
            rankers[number] = ranker
            if done is not None:
                done(number, ranker)

    single = {number: fit.key() for number, fit in enumerate(fits) if not hands_out(fit.trainer)}
    for number, key in single.items():
        kept = KeptResults(folder).get(key)
        if kept is not None:
            take(number, _loaded(kept))
    left = [number for number in single if number not in rankers]

    def send() -> None:
        orders = [(fits[number], str(folder), single[number]) for number in left]
        cluster.run(_fit_and_keep, orders, lambda place, content: take(left[place], _loaded(content)))

    def hand_out(number: int) -> None:
        take(number, fits[number].ranker())

    works: list[Callable[[], None]] = [send] if left else []
    works += [partial(hand_out, number) for number, fit in enumerate(fits) if hands_out(fit.trainer)]
    cluster.run_here(works)
    return [rankers[number] for number in range(len(fits))]


def _fit_and_keep(order: tuple[Fit, str, str]) -> bytes:
    """On a worker: train, keep the model's bytes in the shared folder, and send them back."""
    fit, folder, key = order
    ranker: Fitted = unless_unwanted(lambda look: fit.ranker(callbacks=[look]))
    content = model_bytes(ranker.stored())
    KeptResults(Path(folder)).put(key, content)
    return content


def _loaded(content: bytes) -> Fitted:
    ranker: Any = loaded(content, Path("a worker's model"))
    assert isinstance(ranker, Fitted)
    return ranker


def mean(rankers: Sequence[Fitted]) -> Fitted:
    """The mean of the scores of rankers that share a scale; a single one is its own mean."""
    return rankers[0] if len(rankers) == 1 else Blend(tuple((1.0 / len(rankers), ranker) for ranker in rankers))


def telling(callbacks: Sequence[Callback], members: int) -> Done:
    """A function that gives the callbacks a round for each member that is done.

    None of them can end the training, whose result is about all members.
    """
    done = [0]

    def tell(_number: int, ranker: Fitted) -> None:
        done[0] += 1
        trained = ranker.trained()
        history = None if trained is None else trained.history
        best = None if history is None or not len(history.valid) else float(history.valid[history.best])
        measure = "" if history is None else history.measure
        for callback in callbacks:
            callback(Progress(done[0], members, measure, None, best, done[0], lambda: ranker))

    return tell


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
