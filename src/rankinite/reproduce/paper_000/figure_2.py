"""Paper 000, Figure 2 (§5.4): NDCG@10 against the number of trees, LambdaMART and McRank."""

from __future__ import annotations

from collections.abc import Sequence

from rankinite.data.dataset import Dataset
from rankinite.evaluation.evaluate import evaluate
from rankinite.learners.lambdamart import LambdaMART
from rankinite.learners.mcrank import McRank
from rankinite.measures import NDCG
from rankinite.models.forest import Forest
from rankinite.reproduce.claims import Measured
from rankinite.reproduce.data_sets import fold_cases, letor_folds
from rankinite.reproduce.experiment import Case, Experiment, Lab, Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.item import Item
from rankinite.reproduce.outcome import Outcome, Points
from rankinite.reproduce.paper_000.worlds import artificial

MEASURE = NDCG(10)
EVERY = 10
"""Trees between two points of a curve."""
ARTIFICIAL, WEB = "artificial", "mq2007"
CURVE = "test"


def contenders(lab: Lab) -> dict[str, LambdaMART | McRank]:
    """20 leaves and rate 0.15 for both, the best on the paper's validation data; McRank grows five trees in a round."""
    return {
        "LambdaMART": LambdaMART.paper(
            measure=MEASURE, trees=lab.size(5000, 40), leaves=20, rate=0.15, patience=None, seed=0, train_history=False
        ),
        "McRank": McRank.paper(trees=lab.size(1000, 20), leaves=20, rate=0.15, patience=None, seed=0, train_history=False),
    }


def cases(lab: Lab) -> Sequence[Case]:
    """The artificial data, and the first fold of mq2007 in place of the paper's web data."""
    return [Case(ARTIFICIAL, ARTIFICIAL, seconds=1500.0), *fold_cases(WEB, lab, 60.0)[:1]]


def run(case: Case, lab: Lab) -> Outcome:
    """Train without stopping, and follow NDCG@10 on the test queries."""
    fold = letor_folds(lab, WEB)[case.settings["fold"] - 1] if case.real else artificial(lab)
    forests = {name: learner.fit(fold.train) for name, learner in contenders(lab).items()}
    curves = {name: _curve(forest, fold.test) for name, forest in forests.items() if isinstance(forest, Forest)}
    return Outcome(curves={CURVE: curves})


def _curve(forest: Forest, test: Dataset) -> Points:
    """Trees, all those of a round counted, and NDCG@10."""
    rounds = max(1, EVERY // forest.outputs)
    values = [evaluate(scores, test, MEASURE)[MEASURE].mean for scores in forest.staged_scores(test, every=rounds)]
    places = [min(stage * rounds, forest.rounds) * forest.outputs for stage in range(1, len(values) + 1)]
    return places, values


def trees_needed(points: Points, goal: float) -> float | None:
    """The trees of the first point of a curve that reaches a value."""
    return next((x for x, y in zip(*points, strict=True) if y >= goal), None)


def half_the_trees(results: Outcomes) -> tuple[str, bool | None]:
    """How many trees LambdaMART needs for the best that McRank reaches, of those that McRank needs."""
    told: list[str] = []
    shares: list[float] = []
    for case, outcome in results:
        lambdas, classes = (outcome.curves[CURVE][name] for name in ("LambdaMART", "McRank"))
        goal = max(classes[1]) - 0.001  # the very last digits of a plateau say nothing
        ours, theirs = trees_needed(lambdas, goal), trees_needed(classes, goal)
        assert theirs is not None
        if ours is None:
            told.append(f"{case.unit}: LambdaMART does not reach McRank's {goal:.4f}")
            shares.append(float("inf"))
        else:
            told.append(f"{case.unit}: {goal:.4f} with {ours:,.0f} trees, McRank with {theirs:,.0f}")
            shares.append(ours / theirs)
    return "; ".join(told), all(share <= 0.6 for share in shares)


def layout(results: Outcomes) -> list[PaperFigure]:
    """Both panels of the figure."""
    panels = [Panel(case.unit, "trees", "NDCG@10 on test queries", outcome.curves[CURVE]) for case, outcome in results]
    return [PaperFigure("000-figure-2", "NDCG@10 against the number of trees", panels)]


EXPERIMENT = Experiment("000-trees", cases, run)
ITEM = Item(
    "000", "figure-2", "Accuracy against speed: NDCG@10 after so many trees of LambdaMART and McRank",
    (Measured("LambdaMART reaches McRank's accuracy with about half of the trees", half_the_trees),),
    (EXPERIMENT,),
    layout,
    """20 leaves and rate 0.15 for both, plain λ and least-squares splits, no validation data; all five trees of a round of
    McRank are counted, as they are in the paper. The claim is asked at the best NDCG@10 that McRank reaches, less 0.001:
    LambdaMART is taken to need about half if it needs at most 0.6 of the trees.""",
)  # fmt: skip
