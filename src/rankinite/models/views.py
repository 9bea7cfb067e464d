"""Views of models: plain facts and rows of text, from which notebooks, ``inspect`` and reports are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rankinite.grid import Grid, few
from rankinite.models.base import Fitted, Trained, line_of, names_of
from rankinite.models.history import by_learner
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.models.base import Trained

MISSING = {"refuse": "refused", "mean": "taken for the feature's mean"}
"""What is done with a missing value, in words."""


def training_facts(trained: Trained) -> dict[str, Any]:
    """How a model was trained, as JSON has it."""
    return {
        "settings": dict(trained.settings),
        "history": None if trained.history is None else trained.history.to_dict(),
        "training_queries": None if trained.sketch is None else trained.sketch.queries,
    }


def history_rows(trained: Trained) -> Iterable[tuple[str, str]]:
    """How training went."""
    history = trained.history
    if history is None:
        return
    yield "training", f"{history.stopped} after {counted(history.rounds, trained.unit)}, {trained.unit} {history.best:,} kept"
    for name, values in (("train", history.train), ("valid", history.valid)):
        if history.best < len(values):
            went = f"{values[0]:.4f} before, {values[history.best]:.4f} kept, {values[-1]:.4f} last"
            yield f"{history.measure} on {name}", went
    held_out = history.held_out
    if history.best < len(held_out):
        went = f"{held_out[0]:.4f} before, {held_out[history.best]:.4f} after as many {trained.unit}s, {held_out[-1]:.4f} last"
        whose = f"the mean of {counted(history.held_out_parts, 'smaller training')} on held-out queries, not of this model"
        yield f"{history.measure} held out", f"{went}: {whose}"


def queries_row(trained: Trained) -> Iterable[tuple[str, str]]:
    """How many queries it was trained on."""
    sketch = trained.sketch
    if sketch is not None:
        about, more = "about " if sketch.level else "", "" if sketch.complete else ", and others that are not known"
        yield "trained on", f"{about}{counted(sketch.queries, 'query')}{more}"


def more_note(hidden: int) -> tuple[str, ...]:
    """The note below a table that shows only some features."""
    return (f"… and {hidden} more (--importance 0 lists all)",) if hidden else ()


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
