"""Measures as they may be given, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeGuard

from rankinite.errors import ArgumentError, quoted
from rankinite.measures.base import Measure
from rankinite.measures.conventions import CONVENTIONS, Convention
from rankinite.measures.spelling import read_measure, warn_of_gains

_EXAMPLE: Final = {"remedy": "Give for example NDCG(10) or 'ndcg@10'", "shell_remedy": "Give for example ndcg@10"}


def as_measures(
    measures: Sequence[Measure | str] | Measure | str, convention: Convention = CONVENTIONS["rankinite"]
) -> tuple[Measure, ...]:
    """The measures meant, without repetitions, in the order given; they are evaluated by the ``convention``."""
    listed: list[Any] = list(measures) if _is_list(measures) else [measures]
    parsed: list[Measure] = []
    for entry in listed:
        measure: Any = read_measure(entry) if isinstance(entry, str) else entry
        if isinstance(entry, str) and "gains" not in convention.settings.get("ndcg", {}):
            warn_of_gains(entry, measure)
        if isinstance(measure, type) or not isinstance(measure, Measure):
            raise ArgumentError(f"{quoted(measure)} is not a measure", value=measure, **_EXAMPLE)
        if measure not in parsed:
            parsed.append(measure)
    if not parsed:
        raise ArgumentError("no measure was given", value=listed, **_EXAMPLE)
    names = [str(measure) for measure in parsed]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ArgumentError(f"two measures are called {twice!r}", value=twice, remedy="Give them different names")
    return tuple(parsed)


def one_measure(name: str, field: str, chosen: Measure | str) -> Measure:
    """The measure of a setting; refuses what is none, or several."""
    error = ArgumentError("must be one measure", owner=name, setting=field, value=chosen, **_EXAMPLE)
    try:
        measures = as_measures(chosen)
    except ArgumentError as problem:
        raise error from problem
    if len(measures) != 1:
        raise error
    return measures[0]


def _is_list(measures: Any) -> TypeGuard[Iterable[Any]]:
    return isinstance(measures, Iterable) and not isinstance(measures, str | Measure)
