"""Forests score as walking every row by hand does, whatever the input, the threads and how they were put together."""

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
from rankinite.trees.structure import LEAF, Trees
from refusals import refused

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
        with refused(rk.ArgumentError, setting="rounds", value=rounds):
            FOREST.truncate(rounds)
    with refused(rk.ArgumentError, setting="every", value=0):
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
        with refused(rk.ArgumentError, place=repr(FOREST), value=other):
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


def test_a_feature_missing_in_the_data_is_named():
    data = random_dataset(2)
    with refused(rk.DataError, place=data.source, value="f1"):
        FOREST.score(data.rename_features(["f0", "g", "f2"]))
    with refused(rk.DataError, place="the table", value="f1"):
        FOREST.score(pd.DataFrame({"f0": [1.0], "f2": [2.0]}))
    with refused(rk.DataError, value="f2"):
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
    ("features", "value"),
    [
        (np.zeros(3), (3,)),
        (np.zeros((2, 4)), 4),
        (np.asarray([["a", "b", "c"]]), "<U1"),
        (np.zeros((2, 3), complex), "complex128"),
        ([[1, 2], [3]], "list"),
        (None, ()),
        (object(), "object"),
        (pl.DataFrame({"f0": [1.0], "f1": ["x"], "f2": [2.0]}), "f1"),
        (pl.LazyFrame({"f0": [1.0]}), "LazyFrame"),
        (pl.Series([1.0]), "Series"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_be_scored_is_refused(features, value):
    with refused(rk.DataError, value=value):
        FOREST.score(features)


def test_a_forest_is_a_ranker_with_a_short_name():
    assert isinstance(FOREST, Ranker)
    assert isinstance(FOREST, rk.Scorer)
    assert repr(FOREST) == "<Forest by Random: 6 trees, 3 features>"
    assert len(FOREST) == 6


def test_a_copy_scores_the_same():
    FOREST.score(MATRIX)
    assert pickle.loads(pickle.dumps(FOREST)).score(MATRIX).tobytes() == FOREST.score(MATRIX).tobytes()


@pytest.mark.parametrize(
    ("changed", "fields"),
    [
        ({"feature_names": ("a", "a", "b")}, {"place": "forest", "value": "a"}),
        ({"feature_names": ("a",)}, {"place": "forest"}),
        ({"start": np.zeros(2)}, {"place": "forest", "value": (2,)}),
        ({"start": np.asarray([np.nan])}, {"place": "forest"}),
        ({"grades": np.asarray([1.0, 2.0])}, {"place": "forest", "value": (2,)}),
        ({"start": np.zeros(4), "grades": np.arange(4.0)}, {"place": "forest", "value": 6}),
        ({"settings": {"measure": rk.NDCG(10)}}, {"setting": "settings", "value": {"measure": rk.NDCG(10)}}),
        ({"settings": {"rate": np.inf}}, {"setting": "settings", "value": {"rate": np.inf}}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_not_a_forest_is_refused(changed, fields):
    whole = {"trees": FOREST.trees, "feature_names": FOREST.feature_names, **changed}
    with refused(rk.RankiniteError, **fields):
        Forest(**whole)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("feature", 0, -2), ("left", 0, 0), ("left", 0, 99), ("right", 0, -1), ("value", 1, np.nan), ("threshold", 0, np.nan),
        ("gain", 0, np.inf), ("curvature", 0, np.nan), ("rows", 0, -1), ("offsets", 0, 1), ("offsets", 1, 2**62),
    ],
)  # fmt: skip
def test_nodes_that_do_not_make_a_tree_are_refused(name, at, value):
    trees = random_trees(np.random.default_rng(0), 3, 3, most=6)
    assert trees.feature[0] != LEAF
    arrays = {field: getattr(trees, field).copy() for field in trees.__dataclass_fields__}
    arrays[name][at] = value
    with refused(rk.DataError, place="forest"):
        Forest(Trees(**arrays), ("a", "b", "c"))


def test_a_node_with_two_parents_is_refused():
    trees = random_trees(np.random.default_rng(0), 1, 3, most=6)
    arrays = {field: getattr(trees, field).copy() for field in trees.__dataclass_fields__}
    arrays["right"][0] = arrays["left"][0]
    with refused(rk.DataError, place="forest"):
        Forest(Trees(**arrays), ("a", "b", "c"))
