"""Drawings show what they should and can be rendered."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import rankinite as rk
from oracles.drawings import close_figures, plt, rendered  # noqa: F401 - a fixture is used by its name
from oracles.trees import random_forest
from rankinite.models.forest import Forest
from rankinite.models.history import History
from rankinite.trees.structure import LEAF
from refusals import refused

pytestmark = pytest.mark.usefixtures("close_figures")


def test_importance_is_drawn_with_the_largest_on_top():
    forest = random_forest(1, trees=10, features=6)
    axes = forest.plot_importance(top=3, kind="count")
    expected = list(forest.importance("count").items())[:3]
    assert [label.get_text() for label in axes.get_yticklabels()] == [name for name, _ in expected]
    assert [bar.get_width() for bar in axes.patches] == [count for _, count in expected]
    assert axes.yaxis_inverted()
    assert f"{sum(count > 0 for count in forest.importance('count').values()) - 3} more not shown" in axes.get_title()
    assert rendered(axes).startswith(b"\x89PNG")
    with refused(rk.ArgumentError, setting="top", value=0):
        forest.plot_importance(top=0)


def test_history_is_drawn_round_by_round():
    history = History("ndcg@10", np.asarray([0.1, 0.4, 0.5]), np.asarray([0.1, 0.3, 0.2]), 1, "early")
    forest = random_forest(2)
    axes = Forest(forest.trees, forest.feature_names, history=history).plot_history()
    train, valid, kept = axes.get_lines()
    assert train.get_xydata().tolist() == [[0, 0.1], [1, 0.4], [2, 0.5]]
    assert valid.get_ydata().tolist() == [0.1, 0.3, 0.2]
    assert kept.get_xdata() == [1, 1]
    assert axes.get_ylabel() == "ndcg@10"
    assert rendered(axes).startswith(b"\x89PNG")
    without = Forest(forest.trees, forest.feature_names)
    with refused(rk.ArgumentError, place=repr(without)):
        without.plot_history()


def test_a_tree_is_drawn_with_every_node_and_nothing_over_each_other():
    forest = random_forest(3, trees=3, most=12)
    forest = Forest(forest.trees, ("bm25", "a$b^c", "a name far too long to be shown as a whole"))
    for number in range(3):
        axes = forest.plot_tree(number)
        tree = forest.trees.take(number, number + 1)
        texts = axes.texts
        assert len(texts) == len(tree.feature)
        for node, text in enumerate(texts):
            assert f"{tree.rows[node]:,} rows" in text.get_text()
            assert ("≤" in text.get_text()) == (tree.feature[node] != LEAF)
        assert rendered(axes).startswith(b"\x89PNG")
        boxes = [text.get_bbox_patch().get_window_extent() for text in texts]
        apart = [a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0 for i, a in enumerate(boxes) for b in boxes[:i]]
        assert all(apart)
    with refused(rk.ArgumentError, setting="number", value=3):
        forest.plot_tree(3)


def test_names_are_not_formulas():
    forest = random_forest(1, trees=10, features=2)
    axes = Forest(forest.trees, ("$x^$", "$$")).plot_importance()
    assert rendered(axes).startswith(b"\x89PNG")


def test_axes_given_are_drawn_on():
    _, axes = plt.subplots()
    assert random_forest(1).plot_importance(axes=axes) is axes


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with refused(rk.ArgumentError) as caught:
        random_forest(1).plot_importance()
    assert "pip install rankinite[plots]" in caught.value.remedy
