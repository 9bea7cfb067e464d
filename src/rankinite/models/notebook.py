"""Notebook view of a ranker: a small table of its kind, size, features, settings and training."""

from __future__ import annotations

from collections.abc import Iterable

from rankinite.grid import Grid, few
from rankinite.models.base import Fitted, Trained, line_of, names_of
from rankinite.models.training import by_learner
from rankinite.models.views import history_rows, queries_row

FIRST = ("measure", "trees", "rounds", "epochs", "leaves", "rate", "loss", "seed")
"""The settings of most interest, in the order in which they are listed."""


def card(ranker: Fitted) -> Grid:
    """The table."""
    trained = ranker.trained() if ranker.about() is ranker and not ranker.inside() else None
    title = type(ranker).__name__ + ("" if trained is None else by_learner(trained.settings))
    return Grid(("", ""), tuple(_lines(ranker, trained)), align="ll", title=title)


def _lines(ranker: Fitted, trained: Trained | None) -> Iterable[tuple[str, str]]:
    yield from ranker.summary()
    inside = ranker.inside()
    for number, part in enumerate(inside if len(inside) > 1 else ()):  # the summary names one that is alone
        yield f"part {number}" if part.weight is None else f"{part.weight:g} ×", line_of(part.ranker)
    names = names_of(ranker)
    if names:
        yield "names", f"{len(names):,}: {few(names)}"
    if trained is not None:
        yield from _settings(trained)
        yield from history_rows(trained)
        yield from queries_row(trained)


def _settings(trained: Trained) -> Iterable[tuple[str, str]]:
    known = [name for name, value in trained.settings.items() if isinstance(value, str | int | float) and name != "learner"]
    ordered = sorted(known, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    if ordered:
        yield "settings", few(f"{name} {trained.settings[name]}" for name in ordered)
