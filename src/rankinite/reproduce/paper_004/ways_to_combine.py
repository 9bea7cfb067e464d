"""Ways to combine six models on queries that trained none of them (§4.3): those of the paper's Table 1, and further ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from rankinite.choices import Scale
from rankinite.combine import Combination, average, cyclic, exact, greedy, nested_by_number, powell, stacked
from rankinite.combine.exact_weights import Nested
from rankinite.data.dataset import Dataset
from rankinite.learners.lambdarank import LambdaRank
from rankinite.measures.base import TrainableMeasure
from rankinite.models.base import Fitted
from rankinite.reproduce.experiment import Lab

Models = Mapping[str, Fitted]
Way = Callable[[Models, Dataset], Combination]
"""Combines models on judged queries."""
BRACKETS: Mapping[str, Nested] = {"Tree 1": (((1, 3), (2, 4)), (5, 6)), "Tree 2": (((4, 5), (1, 6)), (2, 3))}
"""Which pairs are combined first: Tree 1 begins with models that differ in their measure alone, Tree 2 with unlike ones."""
AVERAGE, TREES_MEAN = "all six averaged", "1 to 4 averaged"
ABOUT_WAYS = """Exact: every ratio of two weights is tried; "smoothed": on a curve that is averaged over windows whose width is
chosen by five-fold cross-validation on the combining queries. Greedy combines the pair that gains most, again and again;
cyclic improves one weight at a time, from the average; Powell searches along conjugate directions. Stacked: LambdaRank on the
models' scores (two-layer: 10 hidden units; Adam at rate 0.003, at most 100 epochs), whose epoch is the best on the combining
queries."""


def averages() -> dict[str, Way]:
    """Means of scaled scores, which have no weights to choose."""
    return {
        AVERAGE: _averaged,
        "2 and 4 averaged": partial(_averaged, numbers=(2, 4)),
        TREES_MEAN: partial(_averaged, numbers=(1, 2, 3, 4)),
        f"{AVERAGE}, scaled by query": partial(_averaged, scale="query"),
        f"{AVERAGE}, scaled by rank": partial(_averaged, scale="rank"),
    }


def searches(measure: TrainableMeasure, lab: Lab) -> dict[str, Way]:
    """All ways that choose weights for a measure."""
    ways: dict[str, Way] = {}
    for tree, order in BRACKETS.items():
        ways[f"{tree}, exact"] = partial(_exact, order=order, measure=measure)
        ways[f"{tree}, smoothed"] = partial(_exact, order=order, measure=measure, folds=5)
    ways["greedy"] = partial(greedy, measure=measure)
    ways["cyclic"] = partial(cyclic, measure=measure)
    ways["Powell"] = partial(powell, measure=measure, most=lab.size(2000, 50))
    for name, hidden in (("linear", ()), ("two-layer", (10,))):
        ways[f"stacked {name} LambdaRank"] = partial(stacked, measure=measure, learner=_stacking(measure, hidden, lab))
    return ways


def ways_to_combine(measures: Mapping[str, TrainableMeasure], lab: Lab) -> dict[str, Way]:
    """All ways, each search once for every measure, whose name it has behind its own."""
    ways = averages()
    for shown, measure in measures.items():
        ways |= {chosen_for(name, shown): way for name, way in searches(measure, lab).items()}
    return ways


def chosen_for(way: str, shown: str) -> str:
    """The name of a way whose weights were chosen for a measure."""
    return f"{way}, for {shown}"


def _stacking(measure: TrainableMeasure, hidden: tuple[int, ...], lab: Lab) -> LambdaRank:
    return LambdaRank(
        measure=measure, hidden=hidden, optimiser="adam", rate=0.003, epochs=lab.size(100, 5), patience=15, decay=0.8,
        restarts=0, seed=0,
    )  # fmt: skip


def _averaged(models: Models, data: Dataset, *, numbers: Iterable[int] = range(1, 7), scale: Scale = "all") -> Combination:
    listed = list(models.values())
    return average([listed[number - 1] for number in numbers], data, scale=scale)


def _exact(models: Models, data: Dataset, *, order: Nested, measure: TrainableMeasure, folds: int | None = None) -> Combination:
    first, second = nested_by_number(models, order)
    return exact(first, second, data, measure, folds=folds, seed=0)
