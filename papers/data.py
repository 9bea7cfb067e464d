"""Data of the experiments: LETOR's folds, the classic collections, and pairs of domains, real and artificial.

A pair of domains is a background with many judged queries, a target with few, and open tests that neither has seen. A target's
queries are halved once: the pool, from which samples are drawn to adapt with, and the test. Real pairs are LETOR's two years,
its short and long queries, and classic collections; artificial ones are domains of a world at the papers' sizes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from papers.experiment import Case, RunContext
from rankinite import Dataset, Fold, World, concat, read, rotating_folds, split, synthesise
from rankinite.seeds import generator

PARTS = 5
RECOVERED = "Of the 69,623 rows of mq2007, 10,488 are not as published but recovered from published models."


def letor_folds(context: RunContext, name: str) -> list[Fold]:
    """LETOR's five folds of mq2007 or mq2008; in the quick version each part has few queries."""
    return rotating_folds(_letor_parts(context, name))


def letor(context: RunContext, name: str) -> Dataset:
    """All parts of mq2007 or mq2008 together."""
    return concat(_letor_parts(context, name))


def _letor_parts(context: RunContext, name: str) -> list[Dataset]:
    return [_first_queries(_read(context.path(name, f"S{number}.txt.gz")), context) for number in range(1, PARTS + 1)]


def fold_cases(name: str, context: RunContext, seconds: float) -> list[Case]:
    """A case per fold of mq2007 or mq2008; the quick version has one."""
    return [
        Case(f"{name}, fold {fold}", name, name, f"{name}, fold {fold}", {"fold": fold}, seconds)
        for fold in range(1, context.size(PARTS, 1) + 1)
    ]


def terms_of_queries(context: RunContext, name: str, data: Dataset) -> np.ndarray:
    """How many terms each query has."""
    with context.path(name, "queries.tsv").open(encoding="utf-8") as lines:
        terms = {row["qid"]: int(row["terms"]) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}
    return np.asarray([terms[qid] for qid in data.qids.tolist()])


def collection(context: RunContext, name: str) -> Dataset:
    """A classic collection with grades 0 and 1, as all but one have; cran's go up to 4."""
    data = _read(context.path("classic", f"{name}.txt.gz"))
    return _first_queries(data.map_grades(lambda grades: (grades > 0).astype(grades.dtype)), context)


@cache
def _read(path: Path) -> Dataset:
    return read(path)


def _first_queries(data: Dataset, context: RunContext) -> Dataset:
    return data.select_queries(np.arange(min(data.queries, 40))) if context.quick else data


Load = Callable[[RunContext], Dataset]
SHORT, LONG = 3, 5
"""Queries with at most 3 terms are short, those with at least 5 long."""
CLASSIC = {("cran", "cisi"): "time", ("cran", "time"): "cisi", ("npl", "cran"): "cisi", ("cisi", "time"): "npl"}
"""Background and target → the collection of the open test."""
FURTHER_CLASSIC = {("cran", "npl"): "cacm", ("npl", "cacm"): "lisa", ("cisi", "lisa"): "med", ("cran", "med"): "time"}
"""The same for collections with fewer queries: with both lists every collection is a target."""
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
        return bool(self.data)


def sample(pool: Dataset, share: float, draw: int) -> Dataset:
    """A share of the pool's queries; a larger sample of the same draw contains the smaller one."""
    order = generator(draw).permutation(pool.queries)
    return pool.select_queries(np.sort(order[: max(1, round(share * pool.queries))]))


def real_pairs() -> list[Pair]:
    """mq2007 → mq2008, short → long queries of mq2007, and four pairs of classic collections."""
    years = _halved("mq2007 → mq2008", "mq2007", partial(letor, name="mq2007"), partial(letor, name="mq2008"))
    lengths = _halved("short → long", "mq2007", _short, _long, {"mq2008": partial(letor, name="mq2008")})
    return [years, lengths, *_classic_pairs(CLASSIC)]


def all_real_pairs() -> list[Pair]:
    """With four more pairs of classic collections, whose pools have as few as 15 queries."""
    return [*real_pairs(), *_classic_pairs(FURTHER_CLASSIC)]


def artificial_pair(seed: int, shift: float, domain: int = 1, *, full: World = WORLD) -> Pair:
    """A domain of the world with this seed, and its domain 0 as background, which is the same for all shifts.

    Two open tests: "further", where the target's change goes on, and "aside", another domain as far away.
    """

    def drawn(context: RunContext, queries: int, quick: int, domain: int, shift: float, *, test: bool = False) -> Dataset:
        world = replace(QUICK_WORLD if context.quick else full, seed=seed, shift=shift)
        return synthesise(context.size(queries, quick), part="test" if test else "train", domain=domain, world=world)

    tested = partial(drawn, queries=TESTED, quick=QUICK_TESTED, test=True)
    return Pair(
        f"world {seed}, shift {shift:g}",
        background=partial(drawn, queries=BACKGROUND, quick=QUICK_BACKGROUND, domain=0, shift=shift),
        pool=partial(drawn, queries=POOLED, quick=QUICK_POOLED, domain=domain, shift=shift),
        test=partial(tested, domain=domain, shift=shift),
        opens={
            "further": partial(tested, domain=domain, shift=min(1.0, shift + FURTHER)),
            "aside": partial(tested, domain=domain + 1, shift=shift),
        },
    )


def _halved(name: str, data: str, background: Load, target: Load, opens: Mapping[str, Load] | None = None) -> Pair:
    def half(context: RunContext, which: int) -> Dataset:
        return split(target(context), (0.5, 0.5), seed=0)[which]

    return Pair(name, background, partial(half, which=0), partial(half, which=1), opens or {}, data)


def _classic_pairs(chosen: Mapping[tuple[str, str], str]) -> list[Pair]:
    def load(name: str) -> Load:
        return partial(collection, name=name)

    return [
        _halved(f"{background} → {target}", "classic", load(background), load(target), {other: load(other)})
        for (background, target), other in chosen.items()
    ]


def _short(context: RunContext) -> Dataset:
    data = letor(context, "mq2007")
    return data.select_queries(terms_of_queries(context, "mq2007", data) <= SHORT)


def _long(context: RunContext) -> Dataset:
    data = letor(context, "mq2007")
    return data.select_queries(terms_of_queries(context, "mq2007", data) >= LONG)
