"""The pairs of domains that adapting is measured on: what a background is trained on, what it meets, and what judges it."""

from __future__ import annotations

import csv
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import numpy as np

import rankinite as rk
from _measure import sized

SHIFTS = {"small": 0.25, "medium": 0.5, "large": 0.75}
FURTHER = 0.25
"""How much more the first open test of an artificial domain is shifted."""
WORLD = {"features": 40, "documents": 20, "noise": 0.3}
QUERIES = {"background": 1_000, "pool": 200, "test": 300}
CLASSIC = {("cran", "cisi"): "time", ("cran", "time"): "cisi", ("npl", "cran"): "cisi", ("cisi", "time"): "npl"}
"""Background and target → the collection of the open test."""


@dataclass(frozen=True)
class Material:
    """The data of a pair."""

    background: rk.Dataset
    pool: rk.Dataset
    """The target queries that samples are drawn from."""
    test: rk.Dataset
    """The closed test: other queries of the target."""
    opens: Mapping[str, rk.Dataset] = field(default_factory=dict)
    """Open tests: queries of domains that neither the background nor the target sample has seen."""


@dataclass(frozen=True)
class Pair:
    """A background domain and a target domain."""

    name: str
    what: str
    load: Callable[[], Material]
    sizes: tuple[int | None, ...] = (20, 80, None)
    """How many target queries are judged, None: the whole pool."""
    real: bool = True
    """Whether its data are in the folder that RANKINITE_DATA names."""

    @property
    def seed(self) -> int:
        return zlib.crc32(self.name.encode())

    @cached_property
    def material(self) -> Material:
        found = self.load()
        if found.test is not found.pool:
            return found
        pool, test = rk.split(found.pool, (0.5, 0.5), seed=self.seed)
        return Material(found.background, pool, test, found.opens)

    def sample(self, size: int | None, draw: int) -> rk.Dataset:
        """The judged target queries of a draw; a larger sample of the same draw holds the smaller one."""
        pool = self.material.pool
        if size is None:
            return pool
        size = sized(size, 8)
        order = np.random.default_rng((self.seed, draw)).permutation(pool.queries)
        return pool.select_queries(np.sort(order[:size]))


def _data(*parts: str) -> Path:
    return Path(os.environ["RANKINITE_DATA"], *parts)


def _letor(name: str) -> rk.Dataset:
    return rk.concat([rk.read(_data(name, f"S{k}.txt.gz")) for k in range(1, 6)])


def _two_years() -> Material:
    target = _letor("mq2008")
    return Material(_letor("mq2007"), target, target)


def _short_to_long() -> Material:
    with _data("mq2007", "queries.tsv").open(encoding="utf-8") as lines:
        terms = {row["qid"]: int(row["terms"]) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}
    data = _letor("mq2007")
    length = np.asarray([terms[qid] for qid in data.qids.tolist()])
    short, long = data.select_queries(length <= 3), data.select_queries(length >= 5)
    return Material(short, long, long, {"mq2008": _letor("mq2008")})


def _collection(name: str) -> rk.Dataset:
    """Grades above 0 are 1: cran's go up to 4, the others' to 1."""
    return rk.read(_data("classic", f"{name}.txt.gz")).map_grades(lambda grades: (grades > 0).astype(grades.dtype))


def _classic(background: str, target: str, other: str) -> Material:
    found = _collection(target)
    return Material(_collection(background), found, found, {other: _collection(other)})


def _artificial(shift: float) -> Material:
    world, further = (rk.World(**WORLD, shift=own) for own in (shift, shift + FURTHER))
    queries = sized(QUERIES, dict.fromkeys(QUERIES, 20))
    return Material(
        rk.synthesise(queries["background"], world=world),
        rk.synthesise(queries["pool"], domain=1, world=world),
        rk.synthesise(queries["test"], domain=1, world=world, part="test"),
        {
            "further": rk.synthesise(queries["test"], domain=1, world=further, part="test"),
            "aside": rk.synthesise(queries["test"], domain=2, world=world, part="test"),
        },
    )


PAIRS = {
    pair.name: pair
    for pair in (
        Pair("mq2007-mq2008", "Million Query 2007 → 2008", _two_years),
        Pair("short-long", "queries of mq2007 with at most 3 terms → with 5 or more; open test: mq2008", _short_to_long),
        *(
            Pair(f"{a}-{b}", f"{a} → {b}; open test: {c}", partial(_classic, a, b, c), (5, 15, None))
            for (a, b), c in CLASSIC.items()
        ),
        *(
            Pair(f"synthetic-{name}", f"artificial domains, shift {shift:g}", partial(_artificial, shift), real=False)
            for name, shift in SHIFTS.items()
        ),
    )
}
_SHIFTS = ", ".join(f"{name}: s = {shift:g}" for name, shift in SHIFTS.items())
ABOUT = f"""Artificial domains: {QUERIES["background"]:,} background queries × {WORLD["documents"]} documents,
{WORLD["features"]} features, label noise {WORLD["noise"]:g}; a pool of {QUERIES["pool"]} target queries and
{QUERIES["test"]} to test. With shift s the target's polynomial is √(1−s²) of the background's and s of its own, and
features are moved and stretched by about half of s; {_SHIFTS}. They have two open tests: "further", the same change gone
on to s + {FURTHER:g}, and "aside", another domain as far from the background as the target is. The target queries of the
other pairs are halved once, a pool and a test. mq2007 → mq2008 has no open test, as there are no further data with its
features. Where classic collections meet, a grade above 0 is 1."""
