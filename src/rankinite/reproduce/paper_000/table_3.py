"""Paper 000, Table 3 (§5.5): a ranker of web queries adapted to a class of queries, names of persons."""

from __future__ import annotations

from collections.abc import Sequence

from rankinite.data.joining import concat
from rankinite.reproduce.adaptation import NETS, ONE_YEAR, of_both_years
from rankinite.reproduce.claims import ALIKE, BETTER, Compared
from rankinite.reproduce.data_sets import PARTS, RECOVERED, letor, letor_folds
from rankinite.reproduce.domain_pairs import BACKGROUND as BACKGROUND_QUERIES
from rankinite.reproduce.domain_pairs import POOLED, TESTED, WORLD, artificial_pair
from rankinite.reproduce.experiment import Case, Experiment, Lab
from rankinite.reproduce.item import Item
from rankinite.reproduce.outcome import Outcome
from rankinite.reproduce.paper_000.adaptation_runs import (
    BACKGROUND,
    DRAWS,
    INTERPOLATED,
    OWN,
    SETTINGS,
    SMART,
    adapted,
    layout,
)

WEB, TARGET = "mq2007", "mq2008"
SEEDS, SHIFT = tuple(range(1, 9)), 0.5


def cases(lab: Lab) -> Sequence[Case]:
    """LETOR's folds of mq2008, and artificial domains at the paper's sizes."""
    real = [
        Case(
            f"{TARGET}, fold {fold}, draw {draw + 1}", f"{WEB} → {TARGET}", TARGET, f"fold {fold}",
            {"fold": fold, "draw": draw}, 4.0,
        )
        for fold in range(1, lab.size(PARTS, 1) + 1) for draw in range(lab.size(DRAWS, 1))
    ]  # fmt: skip
    worlds = SEEDS[: lab.size(len(SEEDS), 1)]
    return [*real, *(Case(f"world {seed}", f"world {seed}", settings={"seed": seed}, seconds=20.0) for seed in worlds)]


def run(case: Case, lab: Lab) -> Outcome:
    """Adapt to mq2008, or to an artificial domain."""
    if not case.real:
        pair = artificial_pair(case.settings["seed"], SHIFT)
        return adapted(pair.background(lab), pair.pool(lab), pair.test(lab), 10, 0, lab)
    fold = letor_folds(lab, TARGET)[case.settings["fold"] - 1]
    parts = letor(lab, WEB), concat([fold.train, fold.valid]), fold.test
    background, pool, test = map(of_both_years, parts)
    return adapted(background, pool, test, 10, case.settings["draw"], lab)


ITEM = Item(
    "000", "table-3", "NDCG of rankers of name queries: background, in-domain, interpolated and LambdaSMART",
    (
        *(
            Compared(f"LambdaSMART is far better than the {other}", SMART, other, BETTER)
            for other in (BACKGROUND, OWN, INTERPOLATED)
        ),
        Compared("… and than the Interpolated Ranker by NDCG@3", SMART, INTERPOLATED, BETTER, "ndcg@3"),
        Compared("… and by NDCG@1", SMART, INTERPOLATED, BETTER, "ndcg@1"),
        Compared("The Interpolated Ranker is about as good as the In-domain Ranker", INTERPOLATED, OWN, ALIKE),
    ),
    (Experiment("000-query-class", cases, run),),
    layout,
    f"""The paper's data are not public. In their place: mq2007 as background and mq2008 as target, whose LETOR parts are
    tested in turn, {DRAWS} draws each, without features {" and ".join(ONE_YEAR)}, which are 0 throughout one of the two
    years; and artificial domains of {len(SEEDS)} worlds, {BACKGROUND_QUERIES:,} background and {POOLED:,} target queries ×
    {WORLD.documents} documents × {WORLD.features} features, shift {SHIFT:g}, {TESTED} queries to test. The background
    ranker is a two-layer LambdaRank net with 15 hidden units, the in-domain one with 10. {NETS} {SETTINGS} {RECOVERED}""",
)  # fmt: skip
