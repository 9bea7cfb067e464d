"""The text of a forest loses nothing: read back, it scores the same."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.model_texts import NODE, forest_sums
from oracles.trees import random_forest, random_matrix
from rankinite.models.forest import Forest
from rankinite.trees.structure import LEAF, Trees
from refusals import refused


@pytest.mark.parametrize("grades", [None, (0.0, 1.0)])
def test_the_text_read_back_scores_the_same(grades):
    forest = random_forest(1, trees=4, grades=grades)
    forest = Forest(forest.trees, ("plain-name_1.x", 'has "quotes" and <= 3', "b m\n25"), forest.start, forest.grades)
    head, *trees = forest.text().split("\n\ntree ")
    outputs = "1 output" if grades is None else f"{len(grades)} outputs"
    assert head.startswith(f"forest: {len(forest)} trees, 3 features, {outputs}\nstart: ")
    assert len(trees) == len(forest)
    matrix = random_matrix(2, 40, 3)
    for row, sums in zip(matrix.tolist(), forest.outputs_of(matrix).T.tolist(), strict=True):
        assert forest_sums(forest.text(), row, list(forest.feature_names)) == sums


def test_rows_and_gains_are_there():
    forest = next(f for f in (random_forest(seed, trees=1, most=3) for seed in range(9)) if len(f.trees.feature) == 3)
    written = NODE.fullmatch(forest.text().splitlines()[4])
    assert int(written["rows"]) == forest.trees.rows[0]
    assert float(written["gain"]) == forest.trees.gain[0]
    assert float(written["value"]) == forest.trees.value[0]


def test_only_the_first_trees_if_asked():
    forest = random_forest(4, trees=5)
    assert forest.text(2).count("\ntree ") == 2
    assert forest.text(2).endswith("… and 3 more trees\n")
    assert forest.text().startswith(forest.text(2).removesuffix("… and 3 more trees\n"))
    assert forest.text(9) == forest.text()
    with refused(rk.ArgumentError, setting="first", value=-1):
        forest.text(-1)


def test_a_tree_deeper_than_pythons_stack_is_written():
    depth = 1500
    forest = Forest(chain(depth), ("a",))
    lines = forest.text().splitlines()
    assert len(lines) == 4 + 2 * depth + 1
    assert forest.score(np.asarray([[0.5], [depth]])).tolist() == [1.0, float(2 * depth)]


def chain(depth):
    """Node 2k asks whether a <= k; yes is leaf 2k+1, no goes on."""
    nodes = 2 * depth + 1
    inner = (np.arange(nodes) % 2 == 0) & (np.arange(nodes) < 2 * depth)
    return Trees(
        feature=np.where(inner, 0, LEAF),
        threshold=np.where(inner, np.arange(nodes) // 2, 0.0),
        missing_left=np.zeros(nodes, bool),
        left=np.where(inner, np.arange(nodes) + 1, 0),
        right=np.where(inner, np.arange(nodes) + 2, 0),
        value=np.where(np.arange(nodes) < 4, 1.0, np.arange(nodes)),
        rows=np.ones(nodes),
        curvature=np.ones(nodes),
        gain=np.zeros(nodes),
        offsets=np.asarray([0, nodes]),
    )
