"""What a notebook shows of a ranker: a small table of its kind, size, features, settings and training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankinite.grid import Grid, few, number
from rankinite.models.base import Fitted
from rankinite.models.blend import Blend
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.history import History
from rankinite.models.net import Linear, Net
from rankinite.models.normalised import Normalised
from rankinite.models.stack import Stack

FIRST = ("measure", "trees", "rounds", "epochs", "leaves", "rate", "loss", "seed")
"""Settings that are asked for most, in the order in which they are listed."""


def card(ranker: Fitted) -> Grid:
    """The table."""
    return Grid(("", ""), tuple(_lines(ranker)), align="ll", title=f"{type(ranker).__name__}{_maker(ranker)}")


def _lines(ranker: Fitted) -> Iterable[tuple[str, str]]:
    yield from _size(ranker)
    names: tuple[str, ...] = getattr(ranker, "feature_names", ())
    if names:
        yield "features", f"{len(names):,}: {few(names)}"
    settings: Mapping[str, Any] = getattr(ranker, "settings", {})
    known = [name for name, value in settings.items() if isinstance(value, str | int | float) and name != "learner"]
    ordered = sorted(known, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    if ordered:
        yield "settings", few(f"{name} {settings[name]}" for name in ordered)
    history: History | None = getattr(ranker, "history", None)
    if history is not None:
        yield "training", _trained(history, getattr(ranker, "unit", "round"))


def _size(ranker: Fitted) -> Iterable[tuple[str, str]]:
    match ranker:
        case Forest():
            yield "trees", f"{len(ranker):,}"
        case Net():
            yield "hidden units", ", ".join(map(str, ranker.hidden)) or "none"
            yield "weights", f"{len(ranker.weights):,}"
        case Linear():
            yield "weights that are not 0", f"{int((ranker.weights != 0.0).sum()):,}"
        case Blend():
            for weight, part in ranker.parts:
                yield f"{weight:g} ×", _told(part)
        case Stack():
            yield "top", _told(ranker.top)
            for place, part in enumerate(ranker.parts, 1):
                yield f"part {place}", _told(part)
        case Normalised():
            yield "scores of", _told(ranker.ranker)
            yield "scaled by", ranker.scale
        case Feature():
            yield "column", str(ranker)
        case _:
            return


def _trained(history: History, unit: str) -> str:
    """How training went, in a line."""
    values = [
        f"{number(float(own[history.best]))} on {name} data"
        for own, name in ((history.valid, "validation"), (history.train, "training"))
        if history.best < len(own)
    ]
    kept = f"{history.best} of {max(len(history.train), len(history.valid), 1) - 1} {unit}s kept ({history.stopped})"
    return "; ".join([kept, *(f"{history.measure} {value}" for value in values)])


def _maker(ranker: Fitted) -> str:
    learner = getattr(ranker, "settings", {}).get("learner")
    return f" by {learner}" if isinstance(learner, str) else ""


def _told(part: object) -> str:
    return str(part) if isinstance(part, Feature) else repr(part).strip("<>")
