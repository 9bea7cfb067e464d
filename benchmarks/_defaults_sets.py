"""The twelve sets of the study of defaults, each as folds of training, validation and test queries."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import rankinite as rk
from _measure import sized
from rankinite.data.folds import Fold, k_folds, rotating_folds

PARTS = 5
CLASSIC = ("cacm", "cisi", "cran", "lisa", "med", "npl", "time")
NOISE = 0.5
TESTED = sized(300, 20)
"""Test queries of an artificial world: more than real sets have, so that they say something about small differences."""
SIZES = {"artificial 100": (100, 30, 25, 3), "artificial 600": (600, 40, 50, 3), "artificial 3000": (3_000, 30, 60, 1)}
"""Training queries, documents of each, features, worlds."""


@dataclass(frozen=True)
class Set:
    """A data set and how its folds are made, when they are asked for."""

    name: str
    folds: Callable[[], list[Fold]]
    count: int
    """How many folds there are."""


def _folder() -> Path:
    return Path(os.environ["RANKINITE_DATA"])


@cache
def _letor(name: str) -> list[Fold]:
    """LETOR's own folds: three parts to train on, one to validate, one to test."""
    return rotating_folds([rk.read(_folder() / name / f"S{part}.txt.gz") for part in range(1, PARTS + 1)])


@cache
def _classic(name: str) -> list[Fold]:
    """Five folds over queries; grades as they are: 0 to 4 in cran, 0 and 1 in the others."""
    return k_folds(rk.read(_folder() / "classic" / f"{name}.txt.gz"), PARTS)


@cache
def _artificial(name: str) -> list[Fold]:
    """Each fold is a world of its own: another polynomial, other documents."""
    queries, documents, features, worlds = SIZES[name]
    found: list[Fold] = []
    for seed in range(1, worlds + 1):
        world = rk.World(features=features, documents=documents, noise=NOISE, seed=seed)
        sizes = {"train": queries, "valid": queries // 3, "test": TESTED}
        found.append(Fold(*(rk.synthesise(size, part=part, world=world) for part, size in sizes.items())))
    return found


SETS = (
    *(Set(name, partial(_letor, name), PARTS) for name in ("mq2007", "mq2008")),
    *(Set(name, partial(_classic, name), PARTS) for name in CLASSIC),
    *(Set(name, partial(_artificial, name), size[3]) for name, size in SIZES.items()),
)
