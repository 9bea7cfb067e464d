"""Members of ensembles by recipe: the twelve models of the challenge (paper 004 §4.2, Table 2), the subsets that the paper
compares (Table 3), and single fits of one learner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rankinite.checks import check_count
from rankinite.data.sampling import AUG50, AUG70
from rankinite.ensembles.trainers import Augmented, Average, Bag, OnePartOut, Rescaled, Summarised
from rankinite.learners.base import Trainer
from rankinite.learners.lambdamart import LambdaMART
from rankinite.learners.lambdarank import LambdaRank
from rankinite.learners.mart import MART

PARTS = 10
"""Parts of the queries: as many rankers in a bag, and one part to stop a single one by."""


def challenge(
    trees: LambdaMART | None = None,
    net: LambdaRank | None = None,
    points: MART | None = None,
    *,
    max_grade: int = 4,
    ndcg: str = "ndcg@10",
    keep: Path | str | None = None,
) -> Average:
    """The ensemble that won: M1 … M12, each scaled to unit variance, averaged.

    M1–M4 are LambdaMART for ERR: on the data, on Aug50, on Aug70, and with summaries of MART's scores as features; M5–M8 the
    same for NDCG. Each is a bag of ten. M9 and M10 are nets for ERR and NDCG, M11 is MART on the probabilities of grades, M12
    the same with scores scaled by the highest of the query; each of these stops by a tenth of the queries.

    ``trees``, ``net``, ``points``: the settings of LambdaMART, LambdaRank and MART, whose measures and loss are set here; if
    left out, the papers' rate of boosting with our sizes. ``max_grade``: the highest grade of the scale. ``keep``: a folder
    for finished models, from which an interrupted run goes on.

    >>> ranker = challenge(max_grade=2).fit(train)                                             # doctest: +SKIP
    """
    forest = trees or LambdaMART.plain(trees=1000, train_history=False)
    two_layers = net or LambdaRank(hidden=(25,), restarts=1, train_history=False)
    graded = replace(points or MART(trees=500, train_history=False), loss="graded", max_grade=max_grade, sigma=1.0)
    chances = Rescaled(graded, "probability")
    found: dict[str, Trainer] = {}
    for first, measure in ((1, f"err:max_grade={max_grade}"), (5, ndcg)):
        learner = replace(forest, measure=measure)
        found[f"M{first}"] = Bag(learner, PARTS)
        found[f"M{first + 1}"] = Bag(Augmented(learner, *AUG50), PARTS)
        found[f"M{first + 2}"] = Bag(Augmented(learner, *AUG70), PARTS)
        found[f"M{first + 3}"] = Summarised(Bag(learner, PARTS), (chances,))
    found["M9"] = Bag(replace(two_layers, measure=f"err:max_grade={max_grade}"), PARTS, members=1)
    found["M10"] = Bag(replace(two_layers, measure=ndcg), PARTS, members=1)
    found["M11"] = Bag(chances, PARTS, members=1)
    found["M12"] = Rescaled(Bag(chances, PARTS, members=1), "peak")
    return Average(found, keep)


MEMBERS = 10
"""Members of a recipe with one learner, unless told otherwise."""
_LAMBDAMART, _NETS, _MARTS = [f"M{number}" for number in range(1, 9)], ["M9", "M10"], ["M11", "M12"]
CHALLENGE_SUBSETS: Mapping[str, tuple[str, ...]] = {
    "all minus MARTs": (*_LAMBDAMART, *_NETS),
    "LambdaMART only": tuple(_LAMBDAMART),
    "all minus LambdaRanks": (*_LAMBDAMART, *_MARTS),
    "augmented only": ("M2", "M3", "M6", "M7"),
    "non-augmented": ("M1", "M4", "M5", "M8", *_NETS, *_MARTS),
    "just ERR": ("M1", "M2", "M3", "M4", "M9"),
    "just NDCG": ("M5", "M6", "M7", "M8", "M10"),
}
"""The ensembles of paper 004, Table 3, by their names there; all twelve are compared anyway."""


def seed_members(trainer: Trainer, count: int = MEMBERS) -> dict[str, Trainer]:
    """The same trainer with ``count`` seeds; refuses one that draws nothing at random."""
    check_count("seed_members", "count", count, 2)
    return {f"seed {number}": trainer.reseeded(number) for number in range(count)}


def bag_members(trainer: Trainer, count: int = MEMBERS) -> dict[str, Trainer]:
    """The fits of a bag of ``count`` parts, each of which stops by another part."""
    check_count("bag_members", "count", count, 2)
    return {f"part {number + 1}": OnePartOut(trainer, count, number) for number in range(count)}
