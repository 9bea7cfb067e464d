"""Examination: curves of how prominently positions are looked at, as estimated from clicks, and the levels they are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats, Indices, Positions, frozen
from rankinite.errors import ArgumentError, DataError
from rankinite.grid import Grid
from rankinite.pickles import StablePickle

FEWEST_CLICKS = 100
"""Clicks of a level: positions of fewer share an estimate with those below them."""
MOST_LEVELS = 100
"""Positions further down share the last estimate."""
LEAST, MOST = 0.01, 10.0
"""Bounds of t⁺ and t⁻."""
TITLE = "Clicks by position, as estimated while training"
NOTE = "How often a document is clicked, or skipped, there: 1 is the first position. Scoring does not use it."


@dataclass(frozen=True, eq=False)
class Levels:
    """Positions put together until each level has clicks enough to estimate something from."""

    first: Indices
    """The first position of each level; the first level begins at the first position there is."""
    of_row: Positions
    """The level of each row."""
    click_rate: Floats
    """The share of each level's rows that were clicked, by the weights of their queries."""

    def __len__(self) -> int:
        return len(self.first)

    def first_guess(self) -> Floats:
        """Clicks of each level as a share of those of the first: what t⁺ would be if documents were alike at all positions."""
        rate = self.click_rate[0]
        return np.clip(self.click_rate / rate, LEAST, MOST) if rate else np.ones(len(self))

    def examination(self, clicked: Floats, rounds: int) -> Examination:
        """The curves for this t⁺, one per level; t⁻ follows, as what is clicked and what is skipped add up to what is shown."""
        rates = self.click_rate
        shown = np.maximum(1.0 - rates / clicked, (1.0 - rates) / MOST)  # what would be skipped at the first position
        skipped = np.where(rates < 1.0, (1.0 - rates) / np.where(rates < 1.0, shown, 1.0), 1.0)
        return Examination(self.first, clicked, np.clip(skipped, LEAST, MOST), rounds=rounds)


def levels_of(data: Dataset, weights: Floats) -> Levels:
    """The levels of data with positions; ``weights``: one per row."""
    positions = shown_positions(data)
    clicked = data.grades > 0
    places, of_row = np.unique(positions, return_inverse=True)
    counts = np.bincount(of_row[clicked], minlength=len(places))
    starts, total = [0], 0
    for place, count in enumerate(counts.tolist()):
        if total >= FEWEST_CLICKS and len(starts) < MOST_LEVELS:
            starts, total = [*starts, place], 0
        total += count
    if total < FEWEST_CLICKS and len(starts) > 1:
        starts.pop()
    level_of_place = np.searchsorted(starts, np.arange(len(places)), side="right") - 1
    levels = level_of_place[of_row].astype(np.int32)
    rates = [_rate(clicked[levels == level], weights[levels == level]) for level in range(len(starts))]
    return Levels(places[starts].astype(np.int64), frozen(levels), np.asarray(rates))


def _rate(clicked: Any, weights: Floats) -> float:
    total = math.fsum(weights.tolist())
    return math.fsum(weights[clicked].tolist()) / total if total else 0.0


def shown_positions(data: Dataset) -> Positions:
    """The positions of data whose clicks are to be debiased; refuses data without."""
    if data.positions is None:
        raise DataError(
            "its rows have no positions, so there is nothing to debias clicks by",
            place=data.source,
            value=None,
            rule="Debiasing needs the position at which each document was shown",
            remedy="Read them with `positions='…'` (bins keep none), or leave `debias` out",
            shell_remedy="Name them with `position` (bins keep none), or leave `debias` out",
        )
    return data.positions


@dataclass(frozen=True, eq=False)
class Examination(StablePickle):
    """How prominently positions were looked at, as estimated from clicks: t⁺ of clicked ones, and t⁻ of skipped ones.

    Both are 1 at the first position. t⁺ is how often a document is clicked there, and t⁻ how often it is skipped, as a share of
    what the same document would be at the first position. Estimates of one bias per position leave t⁻ at 1 everywhere.
    """

    positions: Indices
    """The first position of each level: what holds there holds up to the next, and from the last on."""
    clicked: Floats
    """t⁺, one per level."""
    skipped: Floats
    """t⁻, one per level."""
    bias: Floats = field(default_factory=lambda: np.empty(0))
    """Where one bias per position was estimated, what it adds to a score; t⁺ is its exponential. Else empty."""
    rounds: int = 0
    """The rounds in which it was estimated; from then on it stayed as it is."""

    def __post_init__(self) -> None:
        for name, kind in (("positions", np.int64), ("clicked", np.float64), ("skipped", np.float64), ("bias", np.float64)):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), kind)))
        sound = [np.isfinite(curve).all() and (curve > 0).all() for curve in (self.clicked, self.skipped)]
        alike = self.positions.ndim == 1 and self.clicked.shape == self.skipped.shape == self.positions.shape
        alike = alike and self.bias.shape in {(0,), self.positions.shape} and bool(np.isfinite(self.bias).all())
        if not alike or not all(sound) or (np.diff(self.positions) <= 0).any() or (self.positions < 1).any():
            raise ArgumentError(
                "are not curves over rising positions",
                owner="Examination",
                setting="positions",
                value=self.positions.tolist(),
                rule="There must be a positive number of each curve for every position, which rise from 1 on",
            )

    def at(self, positions: Positions | Indices) -> Floats:
        """t⁺ at these positions; above the first known one as there."""
        place = np.searchsorted(self.positions, positions, side="right") - 1
        return self.clicked[np.maximum(place, 0)]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it."""
        names = ("positions", "clicked", "skipped", *(("bias",) if self.bias.size else ()))
        return {**{name: getattr(self, name).tolist() for name in names}, "rounds": self.rounds}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Examination:
        """From what :meth:`to_dict` gave; to the bit."""
        clicked, skipped, bias = (np.asarray(facts.get(name, ()), np.float64) for name in ("clicked", "skipped", "bias"))
        return cls(np.asarray(facts["positions"]), clicked, skipped, bias, int(facts["rounds"]))

    def grid(self) -> Grid:
        """The curves as a table."""
        shown = [(place, f"{clicked:.3f}", f"{skipped:.3f}") for place, clicked, skipped in self.rows()]
        if not self.bias.size:
            return Grid(("position", "clicked", "skipped"), tuple(shown), align="rrr", title=TITLE, notes=(NOTE,))
        biased = tuple((*row[:2], f"{bias:+.3f}") for row, bias in zip(shown, self.bias.tolist(), strict=True))
        return Grid(("position", "clicked", "bias"), biased, align="rrr", title=TITLE, notes=(NOTE,))

    def rows(self) -> list[tuple[str, float, float]]:
        """The positions of each level, and both curves there."""
        ends = [*(last - 1 for last in self.positions[1:].tolist()), None]
        places = [_range(first, last) for first, last in zip(self.positions.tolist(), ends, strict=True)]
        return list(zip(places, self.clicked.round(4).tolist(), self.skipped.round(4).tolist(), strict=True))


def _range(first: int, last: int | None) -> str:
    return f"{first}" if last == first else f"{first} on" if last is None else f"{first}–{last}"
