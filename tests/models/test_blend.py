"""Blends are weighted sums, taken in order; writing them differently changes no bit unless the order does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.models.base import Ranker
from rankinite.models.blend import Blend
from rankinite.models.forest import Forest
from refusals import refused

DATA = random_dataset(3, queries=20)
A, B = random_forest(1), random_forest(2)
C = rk.Feature("f1")
GRADED = random_forest(4, grades=(0.0, 1.0))


class Constant:
    def __init__(self, value):
        self.value = value

    def score(self, data):
        return np.full(len(data), self.value)


def scored(ranker):
    return ranker.score(DATA)


def test_a_weighted_sum():
    blend = 0.3 * A + GRADED * 0.7
    assert isinstance(blend, Blend)
    assert isinstance(blend, Ranker)
    assert blend.parts == ((0.3, A), (0.7, GRADED))
    assert scored(blend).tolist() == (0.3 * scored(A) + 0.7 * scored(GRADED)).tolist()
    assert repr(blend) == "<Blend: 0.3 × Forest + 0.7 × Forest>"


WEIGHTS = st.sampled_from([1.0, 0.1, -3.0, 0.7, 0.0])


@given(WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS)
@settings(max_examples=60, deadline=None)
def test_opening_blends_changes_no_bit(u, v, w, x):
    a, b, c = scored(A), scored(GRADED), scored(C)
    assert scored((u * A + v * GRADED) + w * C).tobytes() == ((u * a + v * b) + w * c).tobytes()
    assert scored(u * A + (v * GRADED + w * C)).tobytes() == (u * a + (v * b + w * c)).tobytes()
    assert scored(x * (u * A + v * GRADED)).tobytes() == (x * (u * a + v * b)).tobytes()
    assert scored(x * (u * A)).tobytes() == (x * (u * a)).tobytes()
    assert scored(x * (u * A) + w * (v * C)).tobytes() == (x * (u * a) + w * (v * c)).tobytes()
    assert scored(C + (x * A)).tobytes() == (c + x * a).tobytes()


def test_blends_are_opened_where_the_order_stays():
    assert len((0.1 * A + 0.2 * GRADED + C + Constant(1.0)).parts) == 4
    assert (A + (GRADED + C)).parts[1][0] == 1.0
    assert isinstance((A + (GRADED + C)).parts[1][1], Blend)
    blend = A + C
    assert 1.0 * blend is blend
    assert (2.0 * (1.0 * A)).parts == ((2.0, A),)


def test_numpy_numbers_are_weights():
    for weight in (np.float64(0.5), np.float32(0.5), np.int64(2), 2):
        assert (weight * A).parts == (A * weight).parts == ((float(weight), A),)


def test_sums_of_lists():
    assert sum([A, C]).parts == ((1.0, A), (1.0, C))
    assert isinstance(sum([A, B]), Forest)
    assert scored(Constant(2.0) + A).tolist() == (2.0 + scored(A)).tolist()
    for other in (3, "x", None, Forest):
        with pytest.raises(TypeError):
            A + other
    with pytest.raises(TypeError):
        A * "x"
    with pytest.raises(TypeError):
        3 + A


def test_anything_that_scores_may_take_part():
    blend = 0.5 * C + Constant(1.0)
    assert scored(blend).tolist() == (0.5 * scored(C) + 1.0).tolist()
    assert rk.evaluate(blend, DATA, "ndcg").results[0].mean == rk.evaluate(C, DATA, "ndcg").results[0].mean


def test_feature_names_are_those_of_all_parts():
    assert (C + rk.Feature("x") + A + rk.Feature(3) + Constant(0.0)).feature_names == ("f1", "x", "f0", "f2")


def test_arrays_need_parts_that_agree_on_the_columns():
    turned = Forest(B.trees, ("f2", "f1", "f0"))
    frame = pd.DataFrame(DATA.features, columns=["f0", "f1", "f2"])
    blend = A + turned
    assert scored(blend).tobytes() == blend.score(frame).tobytes()
    with refused(rk.DataError, place="blend", value=2):
        blend.score(DATA.features)
    agreed = A + GRADED + rk.Feature(0)
    assert scored(agreed).tobytes() == agreed.score(DATA.features).tobytes()


def test_documents_stay_returned_however_large_the_weights():
    missing = rk.read(np.asarray([[np.nan], [1.0]]), grades=[0, 1], group=[2], missing="nan").rename_features(["x"])
    scores = (3.0 * rk.Feature("x") + rk.Feature("x")).score(missing)
    assert np.isfinite(scores).all()
    assert scores[0] == np.finfo(float).min
    assert scores[1] == 4.0
    assert (rk.Feature("x") + Constant(-np.inf)).score(missing).tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf])
def test_weights_are_finite(weight):
    with refused(rk.ArgumentError) as caught:
        weight * A
    assert repr(caught.value.value) == repr(weight)


@pytest.mark.parametrize(
    ("parts", "value"),
    [((), ()), (((1.0, 3),), 3), (((1.0, Forest),), Forest), ((("x", A),), "x"), ((A,), A), (((1.0, A, B),), (1.0, A, B))],
    ids=str,
)
def test_what_is_not_a_part_is_refused(parts, value):
    with refused(rk.ArgumentError, value=value):
        Blend(parts)


class Odd:
    def __init__(self, scores):
        self.scores = scores

    def score(self, data):
        return self.scores


@pytest.mark.parametrize("scores", [[1.0], [[1.0]], 3.0, ["a"], None], ids=str)
def test_scores_that_do_not_fit_are_refused(scores):
    with refused(rk.DataError, place="part 1 of the blend (Odd)", value=np.shape(scores)):
        scored(A + Odd(scores))
