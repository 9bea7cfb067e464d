"""Fits of one method to several tasks: on this process's threads, or on the workers of a cluster."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4
from weakref import WeakKeyDictionary

from rankinite.adapt.groundwork import Groundwork
from rankinite.adapt.methods.catalogue import METHODS, AdaptationMethod
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.engine.parallel import run
from rankinite.evaluation.scorers import scores_of
from rankinite.models.base import Fitted
from rankinite.workers.cluster import in_force

MOST_REMEMBERED = 16
"""Groundworks that a worker remembers: what one method needed of a task, the next need not make again."""
_names: WeakKeyDictionary[Groundwork, str] = WeakKeyDictionary()
_remembered: OrderedDict[str, Groundwork] = OrderedDict()


@dataclass(frozen=True, eq=False)
class MethodFit:
    """What a method made of a task."""

    ranker: Fitted
    seen: Floats
    """The scores of the target's rows."""
    held: Floats | None
    """The scores of the rows held out."""


def fit_method(
    method: AdaptationMethod, works: Sequence[Groundwork], held: Sequence[Dataset | None], done: Callable[[], None]
) -> list[MethodFit]:
    """Fit a method to each task, and score what was held out of it; ``done`` is called after each."""
    cluster = in_force()
    if cluster is not None:
        pieces = [(method.name, _name(work), work, data) for work, data in zip(works, held, strict=True)]
        return cluster.run(_fit_on_worker, pieces, lambda _number, _fit: done())

    def fit(number: int) -> MethodFit:
        found = _fit(method, works[number], held[number])
        done()
        return found

    return run(fit, range(len(works)))  # side by side, each on one thread: small data gain nothing from more


def _fit(method: AdaptationMethod, work: Groundwork, held: Dataset | None) -> MethodFit:
    ranker = method.fit(work)
    scored = None if held is None else scores_of(ranker, held, method.name)
    return MethodFit(ranker, scores_of(ranker, work.task.target, method.name), scored)


def _fit_on_worker(piece: tuple[str, str, Groundwork, Dataset | None]) -> MethodFit:
    method, name, sent, held = piece
    work = _remembered.pop(name, sent)
    _remembered[name] = work
    while len(_remembered) > MOST_REMEMBERED:
        _remembered.popitem(last=False)
    return _fit(next(one for one in METHODS if one.name == method), work, held)


def _name(work: Groundwork) -> str:
    """A name by which workers know a groundwork again."""
    return _names.setdefault(work, uuid4().hex)
