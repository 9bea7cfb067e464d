"""Random forests for exports: few and many trees, thresholds of all sizes, on and off the floats of 32 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oracles.trees import random_trees
from rankinite.data.categories import Vocabulary
from rankinite.models.forest import Forest
from rankinite.trees.structure import LEAF, sets_of


def forest_of(seed: int) -> Forest:
    """A forest that only its seed decides."""
    random = np.random.default_rng([seed, 18])
    features = int(random.integers(1, 7))
    trees = random_trees(random, int(random.integers(0, 13)), features, most=int(random.integers(1, 17)))
    nodes = len(trees.feature)
    kinds = np.stack(
        [
            trees.threshold,  # tenths, so that they repeat
            random.normal(size=nodes),
            random.normal(size=nodes).astype(np.float32).astype(np.float64),
            np.zeros(nodes),
            random.normal(size=nodes) * 10.0 ** random.integers(-3, 7, nodes),
            random.integers(-3, 20, nodes).astype(np.float64),
        ]
    )
    threshold = kinds[random.integers(len(kinds), size=nodes), np.arange(nodes)]
    threshold[random.random(nodes) < 0.02] = np.inf  # missing or not: the grower makes such splits
    value = random.normal(size=nodes) * 10.0 ** random.integers(-3, 2, nodes)
    inner = trees.feature != LEAF
    trees = replace(trees, threshold=np.where(inner, threshold, 0.0), value=value)
    names = tuple(f"f{number}" for number in range(features))
    return Forest(trees, names, start=np.asarray([random.choice([0.0, float(random.normal())])]))


def category_forest_of(seed: int) -> Forest:
    """The forest of this seed with sets in place of thresholds for some of its features, one at least."""
    random = np.random.default_rng([seed, 22])
    forest = forest_of(seed)
    chosen = random.random(len(forest.feature_names)) < 0.5
    chosen[random.integers(len(chosen))] = True
    vocabularies = {place: vocabulary_of_size(random, int(random.choice(SIZES))) for place in np.flatnonzero(chosen).tolist()}
    return with_sets(forest, vocabularies, random)


def with_missing_left(forest: Forest, seed: int) -> Forest:
    """The forest with missing categories sent left by about half of its sets, as XGBoost may have it."""
    trees = forest.trees
    chosen = (np.random.default_rng([seed, 23]).random(len(trees.feature)) < 0.5) & (trees.set_sizes > 0)
    return replace(forest, trees=replace(trees, missing_left=trees.missing_left | chosen))


SIZES = (1, 2, 5, 31, 32, 33, 70)
"""Of vocabularies: words of 32 bits are full, or just not, or just no longer enough."""


def vocabulary_of_size(random: np.random.Generator, size: int) -> Vocabulary:
    """Words that formats may stumble over, or whole numbers."""
    if random.random() < 0.3:
        return Vocabulary(tuple(map(str, np.sort(random.choice(np.arange(-500, 5000), size, replace=False)))), numeric=True)
    odd = ["it's", 'a "b"', "é<&>", "特徴", "x,y", "a b", "\\", "0", "NaN", "unknown"]
    return Vocabulary(tuple(sorted([*odd, *(f"v{number}" for number in range(size))][:size])))


def with_sets(forest: Forest, vocabularies: dict[int, Vocabulary], random: np.random.Generator) -> Forest:
    """A forest whose nodes ask for random sets of categories of these features, sometimes for all of them.

    Missing ones go right there, as where our own learners grow such nodes.
    """
    trees, sets = forest.trees, []
    for feature in trees.feature.tolist():
        size = len(vocabularies.get(feature, ()))
        members = np.flatnonzero(random.random(size) < random.choice([0.1, 0.5, 0.9, 1.0]))
        sets.append([] if not size else members.tolist() or [int(random.integers(size))])
    asks = np.asarray([bool(codes) for codes in sets], np.bool_)
    trees = replace(
        trees, threshold=np.where(asks, 0.0, trees.threshold), missing_left=trees.missing_left & ~asks, **sets_of(sets)
    )
    categories = {forest.feature_names[place]: vocabulary for place, vocabulary in vocabularies.items()}
    return replace(forest, trees=trees, categories=categories)
