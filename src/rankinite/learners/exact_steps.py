"""How far boosting goes along a tree: Newton's step in every leaf, or exact weights for a measure (paper 000 §4, §5.6, §6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from rankinite.checks import check_choice, check_count, check_number
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import INDEX, SCORE, Floats, Indices
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import evaluate
from rankinite.measures.base import Measure, sign_of
from rankinite.sweep.sweep import Sweep
from rankinite.trees.grow import Grower, Grown
from rankinite.trees.structure import Trees
from rankinite.trees.walk import add_trees, walks_of

Step = Literal["newton", "exact", "newton-exact", "leaves"]
StepData = Literal["train", "valid"]
Said = Callable[[Grown, Floats], Floats]
"""What a tree just grown, with these values in its nodes, says of every row that weights are chosen on."""


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """Settings of learners whose trees can be weighted exactly."""

    step: Step = "newton"
    """newton, one step a leaf; exact: leaves of the mean gradient times the weight that is best for the watched measure;
    newton-exact: newton's leaves times that weight; leaves: newton's leaves, each times its own best weight."""
    step_low: float = 0.1
    """The lowest exact weight; 0 could add the same useless tree for ever."""
    step_high: float = 5.0
    """The highest exact weight."""
    step_data: StepData = "train"
    """The queries that exact weights are chosen on: train, or valid, which overfits less."""
    reoptimise: int = 0
    """Every so many rounds the weights of all trees are improved once more, one after the other; 0: never."""

    def check_steps(self) -> None:
        """Refuse settings that mean nothing."""
        name = type(self).__name__
        check_choice(name, "step", self.step, get_args(Step))
        check_choice(name, "step_data", self.step_data, get_args(StepData))
        check_number(name, "step_low", self.step_low)
        check_number(name, "step_high", self.step_high)
        check_count(name, "reoptimise", self.reoptimise, 0)
        if self.step_low >= self.step_high:
            raise ArgumentError(
                f"{name}: step_low={self.step_low:g} must be below step_high={self.step_high:g}: it is where weights begin."
            )
        constrained = getattr(self, "monotone", ())
        if constrained and (self.step in ("exact", "leaves") or self.step_low < 0.0):
            raise ArgumentError(
                f"{name}: step={self.step!r} with step_low={self.step_low:g} could break monotone={constrained[0]!r}. Choose "
                "step='newton', or 'newton-exact' with weights from 0 on."
            )
        for number in ("step_low", "step_high"):
            object.__setattr__(self, number, float(getattr(self, number)))


class StepSearch:
    """Exact weights for trees, on the data that they are chosen on."""

    def __init__(
        self, settings: StepSettings, measure: Measure, data: Dataset, scores: Floats, grower: Grower, said: Said
    ) -> None:
        self.settings, self.measure, self.data, self.grower, self.said = settings, measure, data, grower, said
        self.scores = scores
        """The scores of the rows of ``data``, which training keeps up to date."""
        self.taken: list[float] = []
        """The weight of each tree so far."""
        self._sweep = Sweep(data, measure)

    def values(self, grown: Grown) -> Floats:
        """What every node of a tree adds, before shrinkage."""
        if self.settings.step == "newton":
            return grown.values()
        values = self.grower.means(grown) if self.settings.step == "exact" else grown.values()
        if self.settings.step == "leaves":
            leaves = self.said(grown, np.arange(len(values), dtype=SCORE)).astype(INDEX)
            weights = self.leaf_weights(leaves, values)
            self.taken.append(float(weights[np.unique(leaves)].mean()))
            return weights * values
        weight = self._weight(self.scores, self.said(grown, values))
        self.taken.append(weight)
        return weight * values

    def leaf_weights(self, leaves: Indices, values: Floats) -> Floats:
        """A weight for each leaf, one after the other, given those before it and 1 for those behind.

        ``leaves``: the node in which each row ends; ``values``: what each node adds.
        """
        weights, total = np.ones(len(values)), self.scores + values[leaves]
        for node in np.unique(leaves).tolist():
            if values[node] != 0.0:
                own = np.where(leaves == node, values[node], 0.0)
                rest = total - own
                weights[node] = self._weight(rest, own)
                total = rest + weights[node] * own
        return weights

    def reoptimised(self, kept: Sequence[Trees]) -> list[Trees]:
        """The trees, each with the weight that is best given all others, and only if that is better than the one it has."""
        scores, trees = self.scores.copy(), list(kept)
        value = self._value(scores)
        for number, tree in enumerate(trees):
            said = np.zeros((1, self.data.rows))
            add_trees(walks_of(tree), self.data.features, 0, 1, said)
            rest = scores - said[0]
            factor = self._weight(rest, said[0])
            changed = rest + factor * said[0]
            reached = self._value(changed)
            if reached > value:
                scores, value, trees[number] = changed, reached, replace(tree, value=factor * tree.value)
        return trees

    def _weight(self, scores: Floats, tree: Floats) -> float:
        """The best weight of what a tree says of every row."""
        return self._sweep.curve(scores, tree, self.settings.step_low, self.settings.step_high).best()[0]

    def _value(self, scores: Floats) -> float:
        """The measure, higher being better."""
        value = evaluate(scores, self.data, [self.measure])[self.measure].mean
        return sign_of(self.measure) * value
