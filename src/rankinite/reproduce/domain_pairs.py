"""Pairs of domains: a background with many judged queries, a target with few, and open tests that neither has seen.

A target's queries are halved once: the pool, from which samples are drawn to adapt with, and the test. Real pairs are LETOR's
two years, its short and long queries, and classic collections; artificial ones are domains of a world at the papers' sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.folds import split
from rankinite.data.synthetic import World, synthesise
from rankinite.reproduce.data_sets import collection, letor, terms_of_queries
from rankinite.reproduce.experiment import Lab
from rankinite.seeds import generator

Load = Callable[[Lab], Dataset]
POOL, TEST = 0, 1
"""The halves of a target."""
SHORT, LONG = 3, 5
"""Queries with at most 3 terms are short, those with at least 5 long."""
CLASSIC = {("cran", "cisi"): "time", ("cran", "time"): "cisi", ("npl", "cran"): "cisi", ("cisi", "time"): "npl"}
"""Background and target → the collection of the open test."""
FURTHER_CLASSIC = {("cran", "npl"): "cacm", ("npl", "cacm"): "lisa", ("cisi", "lisa"): "med", ("cran", "med"): "time"}
"""The same for collections with fewer queries: with both lists every collection is a target."""
SHIFTS = (0.25, 0.5, 0.75)
FURTHER = 0.25
"""How much more the open test "further" of an artificial target is shifted."""
WORLD = World(features=300, documents=25, terms=20, noise=0.3)
QUICK_WORLD = World(features=30, documents=10, terms=20, noise=0.3)
BACKGROUND, POOLED, TESTED = 6_000, 1_000, 500
"""Queries of an artificial background, pool and test: the sizes of papers 001 and 003."""
QUICK_BACKGROUND, QUICK_POOLED, QUICK_TESTED = 200, 50, 60


@dataclass(frozen=True)
class Pair:
    """A background domain and a target domain, each part loaded when it is asked for."""

    name: str
    background: Load
    pool: Load
    """The target's queries that samples are drawn from."""
    test: Load
    """The closed test: other queries of the target."""
    opens: Mapping[str, Load] = field(default_factory=dict)
    """Open tests: queries of domains that neither the background nor the pool has."""
    data: str = ""
    """The folder of real data that it needs; empty where it is artificial."""

    @property
    def real(self) -> bool:
        """Whether its data are real."""
        return bool(self.data)


def sample(pool: Dataset, share: float, draw: int) -> Dataset:
    """A share of the pool's queries; a larger sample of the same draw contains the smaller one."""
    order = generator(draw).permutation(pool.queries)
    return pool.select_queries(np.sort(order[: max(1, round(share * pool.queries))]))


def real_pairs() -> list[Pair]:
    """mq2007 → mq2008, short → long queries of mq2007, and four pairs of classic collections."""
    years = _halved("mq2007 → mq2008", "mq2007", partial(letor, name="mq2007"), partial(letor, name="mq2008"))
    lengths = _halved("short → long", "mq2007", _short, _long, {"mq2008": partial(letor, name="mq2008")})
    return [years, lengths, *_classic(CLASSIC)]


def further_pairs() -> list[Pair]:
    """Four more pairs of classic collections, whose pools have as few as 15 queries."""
    return _classic(FURTHER_CLASSIC)


def artificial_pair(seed: int, shift: float, domain: int = 1, *, full: World = WORLD) -> Pair:
    """A domain of the world with this seed, and its domain 0 as background, which is the same for all shifts.

    Two open tests: "further", where the target's change goes on, and "aside", another domain as far away.
    """

    def drawn(lab: Lab, queries: int, quick: int, domain: int, shift: float, *, test: bool = False) -> Dataset:
        world = replace(QUICK_WORLD if lab.quick else full, seed=seed, shift=shift)
        return synthesise(lab.size(queries, quick), part="test" if test else "train", domain=domain, world=world)

    tested = partial(drawn, queries=TESTED, quick=QUICK_TESTED, test=True)
    opens = {
        "further": partial(tested, domain=domain, shift=min(1.0, shift + FURTHER)),
        "aside": partial(tested, domain=domain + 1, shift=shift),
    }
    return Pair(
        f"world {seed}, shift {shift:g}",
        partial(drawn, queries=BACKGROUND, quick=QUICK_BACKGROUND, domain=0, shift=shift),
        partial(drawn, queries=POOLED, quick=QUICK_POOLED, domain=domain, shift=shift),
        partial(tested, domain=domain, shift=shift),
        opens,
    )


def _halved(name: str, data: str, background: Load, target: Load, opens: Mapping[str, Load] | None = None) -> Pair:
    def part(lab: Lab, which: int) -> Dataset:
        return split(target(lab), (0.5, 0.5), seed=0)[which]

    return Pair(name, background, partial(part, which=POOL), partial(part, which=TEST), opens or {}, data)


def _classic(chosen: Mapping[tuple[str, str], str]) -> list[Pair]:
    return [
        _halved(f"{first} → {second}", "classic", _collection(first), _collection(second), {third: _collection(third)})
        for (first, second), third in chosen.items()
    ]


def _collection(name: str) -> Load:
    return partial(collection, name=name)


def _short(lab: Lab) -> Dataset:
    data = letor(lab, "mq2007")
    return data.select_queries(_lengths(lab, data) <= SHORT)


def _long(lab: Lab) -> Dataset:
    data = letor(lab, "mq2007")
    return data.select_queries(_lengths(lab, data) >= LONG)


def _lengths(lab: Lab, data: Dataset) -> np.ndarray:
    terms = terms_of_queries(lab, "mq2007")
    return np.asarray([terms[qid] for qid in data.qids.tolist()])
