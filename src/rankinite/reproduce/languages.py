"""Languages: a target with three backgrounds, a closed test and an open one, in place of the Korean data of papers 000 and 001.

Real ones are classic collections: the target's queries are halved, and each half is the closed test once, the other the pool to
adapt with; the open test is a collection that is neither target nor background. Artificial ones are domains of a world: 0, 3
and 4 are backgrounds, 1 is the target. They have two open tests: "further", where the target's change goes on, and "aside",
another domain as far away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rankinite.data.dataset import Dataset
from rankinite.data.folds import split
from rankinite.data.synthetic import World, synthesise
from rankinite.reproduce.data_sets import collection
from rankinite.reproduce.domain_pairs import FURTHER
from rankinite.reproduce.experiment import Case, Lab

GROUPS = {
    "cran": (("npl", "cisi", "time"), "cacm"),
    "npl": (("cran", "cisi", "time"), "cacm"),
    "cisi": (("cran", "npl", "time"), "lisa"),
    "time": (("cran", "npl", "cisi"), "med"),
    "cacm": (("cran", "npl", "cisi"), "lisa"),
}
"""The target's collection → those of the backgrounds, and that of the open test."""
WORLD = World(features=100, documents=25, terms=20, noise=0.3, shift=0.5)
QUICK_WORLD = World(features=20, documents=10, terms=20, noise=0.3, shift=0.5)
SEEDS = tuple(range(1, 9))
"""The artificial worlds."""
BACKGROUND, POOL, TEST = 3_000, 1_000, 300
"""Queries of an artificial background, of the target's pool, and of each test."""
QUICK_BACKGROUND, QUICK_POOL, QUICK_TEST = 60, 40, 40
HALVES, DRAWS = (0, 1), (0, 1, 2)
ABOUT = f"""The paper's data are not public. Classic collections are the languages: {", ".join(GROUPS)} are the target in
turn, with three other collections as backgrounds; each half of its queries is the closed test once, and another collection
is the open test (grades above 0 count as 1, divisions and seeds are drawn {len(DRAWS)} times). Artificial ones are domains
of {len(SEEDS)} worlds: three backgrounds of {BACKGROUND:,} queries × {WORLD.documents} documents × {WORLD.features}
features, a target of {POOL:,} queries, {TEST} queries in each test, and two open tests, half of the open queries each: the
target's change gone further, and another domain as far away. Collections are small and few: what they leave open, languages
with thousands of judged queries would decide."""


@dataclass(frozen=True)
class Languages:
    """The data of one group."""

    backgrounds: tuple[Dataset, ...]
    pool: Dataset
    """The target's queries to adapt with."""
    closed: Dataset
    """Other queries of the target."""
    opens: Mapping[str, Dataset]
    """Queries of domains that are neither the target's nor a background's."""


def language_cases(lab: Lab, real_seconds: float, artificial_seconds: float) -> list[Case]:
    """The cases of all groups; the quick version has two."""
    real = [
        Case(
            f"{target}, half {half + 1}, draw {draw + 1}", f"{target} from {', '.join(backgrounds)}", "classic", f"half {half}",
            {"target": target, "half": half, "draw": draw}, real_seconds,
        )
        for target, (backgrounds, _) in GROUPS.items() for half in HALVES for draw in DRAWS
    ]  # fmt: skip
    artificial = [Case(f"world {seed}", f"world {seed}", settings={"seed": seed}, seconds=artificial_seconds) for seed in SEEDS]
    return [real[0], artificial[0]] if lab.quick else [*real, *artificial]


def languages_of(case: Case, lab: Lab) -> Languages:
    """The data of a case."""
    return _collections(case, lab) if case.real else _domains(case.settings["seed"], lab)


def _collections(case: Case, lab: Lab) -> Languages:
    target, half = case.settings["target"], case.settings["half"]
    backgrounds, other = GROUPS[target]
    halves = split(collection(lab, target), (0.5, 0.5), seed=0)
    return Languages(
        tuple(collection(lab, name) for name in backgrounds), halves[1 - half], halves[half], {other: collection(lab, other)}
    )


def _domains(seed: int, lab: Lab) -> Languages:
    world = replace(QUICK_WORLD if lab.quick else WORLD, seed=seed)
    further = replace(world, shift=world.shift + FURTHER)
    tested = lab.size(TEST, QUICK_TEST)
    return Languages(
        tuple(synthesise(lab.size(BACKGROUND, QUICK_BACKGROUND), domain=domain, world=world) for domain in (0, 3, 4)),
        synthesise(lab.size(POOL, QUICK_POOL), domain=1, world=world),
        synthesise(tested, part="test", domain=1, world=world),
        {
            "further": synthesise(tested, part="test", domain=1, world=further),
            "aside": synthesise(tested, part="test", domain=2, world=world),
        },
    )
