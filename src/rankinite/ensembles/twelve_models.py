"""The twelve models of the challenge (paper 004 §4.2, Table 2), as trainers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rankinite.data.sampling import AUG50, AUG70
from rankinite.ensembles.augmented import Augmented
from rankinite.ensembles.average import Average
from rankinite.ensembles.bag import Bag
from rankinite.ensembles.rescaled import Rescaled
from rankinite.ensembles.summarised import Summarised
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
