"""What papers 000 and 001 adapt, and with what: LambdaRank nets, their interpolation, and languages.

Languages are a target with three backgrounds, a closed test and an open one, in place of the Korean data of both papers. Real
ones are classic collections: the target's queries are halved, and each half is the closed test once, the other the pool to
adapt with; the open test is a collection that is neither target nor background. Artificial ones are domains of a world: 0, 3
and 4 are backgrounds, 1 is the target. They have two open tests: "further", where the target's change goes on, and "aside",
another domain as far away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from papers.data import FURTHER, collection
from papers.experiment import Case, RunContext
from rankinite import NDCG, Dataset, LambdaRank, Scorer, World, split, synthesise
from rankinite.combine import powell

MEASURE = NDCG(10)
"""What everything is trained for."""
ONE_YEAR = ("43", "46")
"""The first is 0 in all of mq2008, the second in all rows of mq2007 but one: a net of one year meets the other unprepared."""
BACKGROUND_VALID, TARGET_VALID = 0.1, 0.25
"""Shares of a background's queries and of the target's that validate."""
NETS = """Nets are trained with Adam at rate 0.001, where the paper takes plain steps of 0.00001, and end where NDCG@10 is
best on validation queries: a tenth of the background's, a quarter of the target's. The latter also choose the number of
rounds of boosting and, by Powell's search for NDCG@10, the weights of interpolation."""


def of_both_years(data: Dataset) -> Dataset:
    """mq2007 or mq2008 with the features alone that vary in both."""
    return data.select_features([name for name in data.feature_names if name not in ONE_YEAR])


def with_valid(data: Dataset, draw: int, share: float = TARGET_VALID) -> tuple[Dataset, Dataset]:
    """Training and validation queries, divided anew in every draw."""
    train, valid = split(data, (1.0 - share, share), seed=draw)
    return train, valid


def net(hidden: int, draw: int, context: RunContext) -> LambdaRank:
    """Two layers with so many hidden units."""
    return LambdaRank(
        measure=MEASURE, hidden=(hidden,), optimiser="adam", rate=0.001, epochs=context.size(200, 5), patience=15, decay=0.8,
        restarts=0, seed=draw, train_history=False,
    )  # fmt: skip


def background_net(data: Dataset, draw: int, context: RunContext) -> Scorer:
    """The background ranker of both papers: 15 hidden units."""
    return net(15, draw, context).fit(*with_valid(data, draw, BACKGROUND_VALID))


def interpolated(rankers: Sequence[Scorer], valid: Dataset) -> Scorer:
    """A weighted sum of rankers; its weights are the best that Powell's search finds on the target's validation queries."""
    return powell(rankers, valid, MEASURE, most=2000).ranker


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
ABOUT_LANGUAGES = f"""The paper's data are not public. Classic collections are the languages: {", ".join(GROUPS)} are the target
in turn, with three other collections as backgrounds; each half of its queries is the closed test once, and another collection
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


def language_cases(context: RunContext, real_seconds: float, artificial_seconds: float) -> list[Case]:
    """The cases of all groups; the quick version has two."""
    real = [
        Case(
            f"{target}, half {half + 1}, draw {draw + 1}", f"{target} from {', '.join(backgrounds)}", "classic", f"half {half}",
            {"target": target, "half": half, "draw": draw}, real_seconds,
        )
        for target, (backgrounds, _) in GROUPS.items() for half in HALVES for draw in DRAWS
    ]  # fmt: skip
    artificial = [Case(f"world {seed}", f"world {seed}", settings={"seed": seed}, seconds=artificial_seconds) for seed in SEEDS]
    return [real[0], artificial[0]] if context.quick else [*real, *artificial]


def languages_of(case: Case, context: RunContext) -> Languages:
    """The data of a case."""
    if case.real:
        target, half = case.settings["target"], case.settings["half"]
        backgrounds, other = GROUPS[target]
        halves = split(collection(context, target), (0.5, 0.5), seed=0)
        return Languages(
            tuple(collection(context, name) for name in backgrounds),
            pool=halves[1 - half],
            closed=halves[half],
            opens={other: collection(context, other)},
        )
    world = replace(QUICK_WORLD if context.quick else WORLD, seed=case.settings["seed"])
    further = replace(world, shift=world.shift + FURTHER)
    tested = context.size(TEST, QUICK_TEST)
    return Languages(
        tuple(synthesise(context.size(BACKGROUND, QUICK_BACKGROUND), domain=domain, world=world) for domain in (0, 3, 4)),
        pool=synthesise(context.size(POOL, QUICK_POOL), domain=1, world=world),
        closed=synthesise(tested, part="test", domain=1, world=world),
        opens={
            "further": synthesise(tested, part="test", domain=1, world=further),
            "aside": synthesise(tested, part="test", domain=2, world=world),
        },
    )
