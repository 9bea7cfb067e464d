"""Forests score as a walk of every row by hand does, whatever the input, the threads and the way they were put together."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest, random_matrix, random_trees, scores
from rankinite.models.base import Ranker
from rankinite.models.blend import Blend
from rankinite.models.forest import Forest
from rankinite.models.importance import permutation_importance
from rankinite.trees.structure import LEAF, Trees

FOREST = random_forest(1, trees=6, features=3)
MATRIX = random_matrix(1, 100, 3)


@given(
    st.integers(0, 10**6),
    st.integers(0, 4),
    st.integers(0, 4),
    st.integers(0, 150),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([None, (0.0, 1.0), (0.0, 1.5, 4.0)]),
)
@settings(max_examples=60, deadline=None)
def test_scores_are_those_of_walking_down_by_hand(seed, trees, features, rows, dtype, grades):
    forest = random_forest(seed, trees, features, most=12, grades=grades)
    matrix = random_matrix(seed, rows, features, dtype)
    if grades is None:
        assert forest.score(matrix).tolist() == scores(forest, matrix)
    else:  # the shares of the grades are taken by our own exp, the oracle's by the C library's
        assert forest.score(matrix).tolist() == pytest.approx(scores(forest, matrix), rel=1e-14, abs=1e-15)


def test_values_between_two_floats_are_compared_as_they_are():
    tree = Trees(
        feature=np.asarray([0, LEAF, LEAF]),
        threshold=np.asarray([0.1, 0, 0]),
        missing_left=np.zeros(3, bool),
        left=np.asarray([1, 0, 0]),
        right=np.asarray([2, 0, 0]),
        value=np.asarray([0.0, -1, 1]),
        rows=np.ones(3),
        curvature=np.ones(3),
        gain=np.ones(3),
        offsets=np.asarray([0, 3]),
    )
    forest = Forest(tree, ("a",))
    assert float(np.float32(0.1)) > 0.1
    assert forest.score(np.asarray([[0.1], [np.nextafter(0.1, 1)]])).tolist() == [-1, 1]
    assert forest.score(np.asarray([[0.1]], np.float32)).tolist() == [1]
    assert forest.score([[0], [1]]).tolist() == [-1, 1]


def test_threads_and_neighbours_change_nothing():
    forest = random_forest(3, trees=40, features=5, most=40)
    matrix = random_matrix(3, 20_001, 5)
    with rk.threads(1):
        alone = forest.score(matrix)
    with rk.threads(3):
        together = forest.score(matrix)
    assert alone.tobytes() == together.tobytes()
    assert forest.score(matrix[777:790]).tobytes() == alone[777:790].tobytes()


@pytest.mark.parametrize("grades", [None, (0.0, 1.0, 3.0)])
def test_stages_are_the_scores_of_the_first_rounds(grades):
    forest = random_forest(4, trees=7, grades=grades)
    stages = list(forest.staged_scores(MATRIX))
    assert len(stages) == forest.rounds == 7
    for rounds, stage in enumerate(stages, 1):
        assert stage.tobytes() == forest.truncate(rounds).score(MATRIX).tobytes()
    assert stages[-1].tobytes() == forest.score(MATRIX).tobytes()
    assert [stage.tobytes() for stage in forest.staged_scores(MATRIX, every=3)] == [stages[i].tobytes() for i in (2, 5, 6)]
    assert forest.truncate(0).score(MATRIX).tolist() == scores(forest.truncate(0), MATRIX)


def test_rounds_outside_the_forest_are_refused():
    for rounds in (-1, 7):
        with pytest.raises(rk.ArgumentError, match="from 0 to"):
            FOREST.truncate(rounds)
    with pytest.raises(rk.ArgumentError, match="from 1 on"):
        FOREST.staged_scores(MATRIX, every=0)


def test_the_sum_of_two_forests_adds_tree_by_tree():
    first, second = random_forest(5), random_forest(6)
    both = first + second
    assert isinstance(both, Forest)
    assert len(both) == len(first) + len(second)
    assert both.score(MATRIX).tolist() == scores(both, MATRIX)
    assert both.settings["base"] == first.settings
    again = both.truncate(first.rounds)
    np.testing.assert_allclose(again.score(MATRIX) - second.start, first.score(MATRIX), rtol=1e-12)


def test_forests_that_mean_different_things_add_up_to_a_blend():
    graded = random_forest(7, grades=(0.0, 1.0))
    renamed = Forest(FOREST.trees, ("x", "y", "z"))
    for other in (graded, renamed):
        assert isinstance(FOREST + other, Blend)
        with pytest.raises(rk.ArgumentError, match="cannot be extended"):
            FOREST.extended(other)
    assert isinstance(graded + graded, Blend)
    longer = graded.extended(graded)
    assert longer.score(MATRIX).tolist() == pytest.approx(scores(longer, MATRIX), rel=1e-14)


# ---- inputs ---------------------------------------------------------------------------------------------------------


def test_features_of_a_dataset_are_found_by_name():
    data = random_dataset(2, queries=30)
    expected = scores(FOREST, data.features)
    assert FOREST.score(data).tolist() == expected
    assert FOREST.score(data.select_features(["f2", "f0", "f1"])).tolist() == expected
    more = rk.read(np.hstack((np.ones((data.rows, 1)), data.features)), grades=data.grades, group=[data.rows])
    assert FOREST.score(more.rename_features(["extra", "f0", "f1", "f2"])).tolist() == expected


def test_a_feature_the_data_lack_is_named():
    data = random_dataset(2)
    with pytest.raises(rk.DataError, match=r"no feature 'f1'.*rename_features"):
        FOREST.score(data.rename_features(["f0", "g", "f2"]))
    with pytest.raises(rk.DataError, match="no feature 'f1'"):
        FOREST.score(pd.DataFrame({"f0": [1.0], "f2": [2.0]}))
    with pytest.raises(rk.DataError, match="more than once"):
        FOREST.score(
            rk.read(np.ones((2, 4)), grades=[0, 1], group=[2]).rename_features(["f0", "f1", "f2", "f2"]),
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_frames_are_scored_by_the_names_of_their_columns(dtype):
    matrix = random_matrix(9, 40, 3, dtype)
    matrix[:, 1] = np.arange(40)
    pandas = pd.DataFrame({"url": [object()] * 40, "f2": matrix[:, 2], "f0": matrix[:, 0], "f1": np.arange(40)})
    frames = [
        pandas,
        pandas.assign(f1=pandas["f1"].astype("Int64")),
        pl.DataFrame({name: pandas[name].to_numpy() for name in ("f1", "f2", "f0")}),
        pa.table({"f1": np.arange(40), "f0": matrix[:, 0], "f2": matrix[:, 2], "id": ["a"] * 40}),
    ]
    for frame in frames:
        assert FOREST.score(frame).tolist() == scores(FOREST, matrix)


def test_missing_cells_of_frames_are_missing_values():
    matrix = np.asarray([[1.0, np.nan, -0.3], [np.nan, 2.0, 0.1]])
    columns = {"f0": [1.0, None], "f1": [None, 2], "f2": [-0.3, 0.1]}
    for frame in (pd.DataFrame(columns).convert_dtypes(), pl.DataFrame(columns), pa.table(columns)):
        assert FOREST.score(frame).tolist() == scores(FOREST, matrix)


def test_other_matrices_are_scored_too():
    whole = np.asarray([[0, 1, 2], [-1, 0, 3]])
    expected = scores(FOREST, whole)
    for matrix in (whole, whole.tolist(), whole.astype(np.float16), np.asfortranarray(whole, np.float32), whole.astype(">f4")):
        assert FOREST.score(matrix).tolist() == expected
    assert FOREST.score(scipy.sparse.csr_array(whole)).tolist() == expected
    assert FOREST.score(np.asarray([[None, 1, 2.5]], object)).tolist() == scores(FOREST, np.asarray([[np.nan, 1, 2.5]]))
    assert FOREST.score(np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.zeros(3), r"reshape\(1, -1\)"),
        (np.zeros((2, 4)), "4 columns but the model has 3"),
        (np.asarray([["a", "b", "c"]]), "must be numbers"),
        (np.zeros((2, 3), complex), "must be numbers"),
        ([[1, 2], [3]], "matrix of numbers"),
        (None, "shape|matrix"),
        (object(), "matrix of numbers"),
        (pl.DataFrame({"f0": [1.0], "f1": ["x"], "f2": [2.0]}), "'f1' holds"),
        (pl.LazyFrame({"f0": [1.0]}), "collect"),
        (pl.Series([1.0]), "matrix|table"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_be_scored_is_refused(given, said):
    with pytest.raises(rk.DataError, match=said):
        FOREST.score(given)


# ---- looking inside -------------------------------------------------------------------------------------------------


def test_importance_is_what_counting_says():
    gains = dict.fromkeys(FOREST.feature_names, 0.0)
    counts = dict.fromkeys(FOREST.feature_names, 0)
    for feature, gain in zip(FOREST.trees.feature.tolist(), FOREST.trees.gain.tolist(), strict=True):
        if feature != LEAF:
            gains[FOREST.feature_names[feature]] += gain
            counts[FOREST.feature_names[feature]] += 1
    assert FOREST.importance() == gains
    assert FOREST.importance("count") == counts
    for kind in ("gain", "count"):
        values = list(FOREST.importance(kind).values())
        assert values == sorted(values, reverse=True)
    with pytest.raises(rk.ArgumentError, match="'gain' and 'count'"):
        FOREST.importance("cover")


def test_shuffling_a_feature_costs_what_it_is_worth():
    data = random_dataset(11, queries=60, features=3)
    data = rk.read(data.features, grades=np.argsort(np.argsort(data.features[:, 1])) % 5, qid=data.query_of_row())
    data = data.rename_features(["f0", "f1", "f2"])
    ranker = rk.Feature("f1")
    drops = permutation_importance(ranker, data, "ndcg@10", repeats=4, seed=3)
    assert drops["f0"] == drops["f2"] == (0.0, 0.0)
    assert drops["f1"] != (0.0, 0.0)
    assert drops == permutation_importance(ranker, data, rk.NDCG(10), repeats=4, seed=3)
    assert np.isnan(permutation_importance(ranker, data, "ndcg@10", repeats=1)["f1"].error)
    forest = random_forest(12, features=3)
    mine = forest.permutation_importance(data, "ndcg@10", repeats=3, seed=1)
    assert set(mine) == set(forest.feature_names)
    means = [drop.mean for drop in mine.values()]
    assert means == sorted(means, reverse=True)
    with pytest.raises(rk.ArgumentError, match="at least once"):
        forest.permutation_importance(data, "ndcg", repeats=0)
    with pytest.raises(rk.DataError, match="Give a Dataset"):
        forest.permutation_importance(data.features, "ndcg")


def test_the_drop_is_that_of_evaluating_shuffled_data():
    data = random_dataset(13, queries=40)
    forest = random_forest(13)
    drops = forest.permutation_importance(data, "ndcg@5", repeats=2, seed=7)
    whole = rk.evaluate(forest, data, "ndcg@5")["ndcg@5"].mean
    used = [name for name in forest.feature_names if forest.importance("count")[name]]
    for name, random in zip(used, np.random.default_rng(7).spawn(len(used)), strict=True):
        losses = []
        for _ in range(2):
            matrix = data.features.copy()
            column = data.feature_index(name)
            matrix[:, column] = random.permutation(matrix[:, column])
            losses.append(whole - rk.evaluate(forest.score(matrix), data, "ndcg@5")["ndcg@5"].mean)
        assert drops[name].mean == pytest.approx(np.mean(losses))
        assert drops[name].error == pytest.approx(abs(losses[0] - losses[1]) / 2)


def test_a_forest_is_a_ranker_with_a_short_name():
    assert isinstance(FOREST, Ranker)
    assert isinstance(FOREST, rk.Scorer)
    assert repr(FOREST) == "<Forest by Random: 6 trees, 3 features>"
    assert len(FOREST) == 6


def test_a_copy_scores_the_same():
    FOREST.score(MATRIX)
    assert pickle.loads(pickle.dumps(FOREST)).score(MATRIX).tobytes() == FOREST.score(MATRIX).tobytes()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"feature_names": ("a", "a", "b")}, "two features"),
        ({"feature_names": ("a",)}, "unknown feature"),
        ({"start": np.zeros(2)}, "Give one number"),
        ({"start": np.asarray([np.nan])}, "no number"),
        ({"grades": np.asarray([1.0, 2.0])}, "one an output"),
        ({"start": np.zeros(4), "grades": np.arange(4.0)}, "cannot be shared"),
        ({"settings": {"measure": rk.NDCG(10)}}, "JSON"),
        ({"settings": {"rate": np.inf}}, "JSON"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_forest_is_refused(changed, said):
    whole = {"trees": FOREST.trees, "feature_names": FOREST.feature_names, **changed}
    with pytest.raises(rk.RankiniteError, match=said):
        Forest(**whole)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("feature", 0, -2), ("left", 0, 0), ("left", 0, 99), ("right", 0, -1), ("value", 1, np.nan), ("threshold", 0, np.nan),
        ("gain", 0, np.inf), ("curvature", 0, np.nan), ("rows", 0, -1), ("offsets", 0, 1), ("offsets", 1, 2**62),
    ],
)  # fmt: skip
def test_nodes_that_make_no_tree_are_refused(name, at, value):
    trees = random_trees(np.random.default_rng(0), 3, 3, most=6)
    assert trees.feature[0] != LEAF
    arrays = {field: getattr(trees, field).copy() for field in trees.__dataclass_fields__}
    arrays[name][at] = value
    with pytest.raises(rk.DataError, match=r"damaged|no number"):
        Forest(Trees(**arrays), ("a", "b", "c"))


def test_a_node_with_two_parents_is_refused():
    trees = random_trees(np.random.default_rng(0), 1, 3, most=6)
    arrays = {field: getattr(trees, field).copy() for field in trees.__dataclass_fields__}
    arrays["right"][0] = arrays["left"][0]
    with pytest.raises(rk.DataError, match="no parent, or has two"):
        Forest(Trees(**arrays), ("a", "b", "c"))
