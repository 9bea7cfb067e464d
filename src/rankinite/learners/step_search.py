"""StepSearch: exact weights for trees, or for their leaves, on the data they are chosen on (paper 000 §4, §5.6, §6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import INDEX, SCORE, Floats, Indices
from rankinite.evaluation.values import mean_value
from rankinite.learners.boosting import StepSettings
from rankinite.measures.base import Measure, sign_of
from rankinite.sweep.sweep import Sweep
from rankinite.trees.growth import Grower, GrownTree
from rankinite.trees.structure import Trees

Added = Callable[[GrownTree, Floats], Floats]
"""What a tree just grown, with these values in its nodes, adds to every row that weights are chosen on."""


class StepSearch:
    """Exact weights for trees, on the data that they are chosen on."""

    def __init__(
        self, settings: StepSettings, measure: Measure, data: Dataset, scores: Floats, grower: Grower, added: Added
    ) -> None:
        self.settings, self.measure, self.data, self.grower, self.added = settings, measure, data, grower, added
        self.scores = scores
        """The scores of the rows of ``data``, which training keeps up to date."""
        self.taken: list[float] = []
        """The weight of each tree so far."""
        self._sweep = Sweep(data, measure)

    def values(self, grown: GrownTree) -> Floats:
        """What every node of a tree adds, before shrinkage."""
        if self.settings.step == "newton":
            return grown.values()
        values = self.grower.means(grown) if self.settings.step == "exact" else grown.values()
        if self.settings.step == "leaves":
            leaves = self.added(grown, np.arange(len(values), dtype=SCORE)).astype(INDEX)
            weights = self.leaf_weights(leaves, values)
            self.taken.append(float(weights[np.unique(leaves)].mean()))
            return weights * values
        weight = self._weight(self.scores, self.added(grown, values))
        self.taken.append(weight)
        return weight * values

    def leaf_weights(self, leaves: Indices, values: Floats) -> Floats:
        """A weight for each leaf, one after the other, given those before it and 1 for those behind.

        ``leaves``: the node in which each row ends; ``values``: what each node adds.
        """
        weights, total = np.ones(len(values)), self.scores + values[leaves]
        for node in np.unique(leaves).tolist():
            if values[node] != 0.0:
                leaf = np.where(leaves == node, values[node], 0.0)
                rest = total - leaf
                weights[node] = self._weight(rest, leaf)
                total = rest + weights[node] * leaf
        return weights

    def reoptimised(self, kept: Sequence[Trees], added_by: Callable[[Trees], Floats]) -> list[Trees]:
        """The trees, each with the weight that is best given all others, and only if that is better than the one it has.

        ``added_by``: what a tree adds to every row that weights are chosen on.
        """
        scores, trees = self.scores.copy(), list(kept)
        value = self._value(scores)
        for number, tree in enumerate(trees):
            added = added_by(tree)
            rest = scores - added
            factor = self._weight(rest, added)
            changed = rest + factor * added
            reached = self._value(changed)
            if reached > value:
                scores, value, trees[number] = changed, reached, replace(tree, value=factor * tree.value)
        return trees

    def _weight(self, scores: Floats, tree: Floats) -> float:
        """The best weight of what a tree adds to every row."""
        return self._sweep.curve(scores, tree, self.settings.step_low, self.settings.step_high).best()[0]

    def _value(self, scores: Floats) -> float:
        """The measure, higher being better."""
        return sign_of(self.measure) * mean_value(scores, self.data, self.measure)
