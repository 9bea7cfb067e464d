"""Lambdas against a double loop over pairs, and the laws they keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.gradients import lambdas, measure_changes
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import kernel
from rankinite.gradients.lambdas import Lambdas
from rankinite.measures._kernels import expected_linear, scale_one
from rankinite.measures.base import MeasureKernels, Swap, expected_values
from refusals import refused

TRAINABLE = [
    rk.NDCG(),
    rk.NDCG(3),
    rk.DCG(4, gains=(0, 1, 3, 7, 10)),
    rk.ERR(),
    rk.ERR(4),
    rk.AP(),
    rk.AP(3, relevant=2),
    rk.RR(),
    rk.RR(3),
]


def pushes(objective, scores):
    scores = np.ascontiguousarray(np.atleast_2d(scores), float)
    push, curvature = np.full_like(scores, np.nan), np.full_like(scores, np.nan)
    objective.gradients(scores, push, curvature)
    return push, curvature


@st.composite
def judged(draw, most=12):
    """Queries with scores that often tie; the first query has something to learn."""
    sizes = [2, *draw(st.lists(st.integers(1, most), min_size=1, max_size=4))]
    rows = sum(sizes)
    grades = [0, 4, *draw(st.lists(st.integers(0, 4), min_size=rows - 2, max_size=rows - 2))]
    scores = draw(st.lists(st.integers(-3, 3).map(lambda s: s / 2), min_size=rows, max_size=rows))
    weights = draw(st.none() | st.lists(st.floats(0.5, 3), min_size=len(sizes), max_size=len(sizes)))
    features = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 3, (rows, 2))
    data = rk.read(features.astype(float), grades=grades, group=sizes)
    return (data if weights is None else data.with_weights(weights)), np.asarray(scores)


@pytest.mark.parametrize("measure", TRAINABLE, ids=str)
@settings(max_examples=40, deadline=None)
@given(case=judged(), sigma=st.sampled_from([1.0, 0.3, 2.0]))
def test_lambdas_are_the_sum_over_pairs(measure, case, sigma):
    data, scores = case
    push, curvature = pushes(Lambdas(data, measure, sigma), scores)
    truth = lambdas(data, scores, measure_changes(measure), sigma)
    np.testing.assert_allclose(push[0], truth[0], atol=1e-12)
    np.testing.assert_allclose(curvature[0], truth[1], atol=1e-12)
    assert (curvature >= 0).all()
    np.testing.assert_allclose(np.add.reduceat(push[0], data.offsets[:-1]), 0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(case=judged(), truncation=st.integers(1, 12))
def test_truncation_leaves_out_pairs_far_down(case, truncation):
    data, scores = case
    push, curvature = pushes(Lambdas(data, rk.NDCG(), truncation=truncation), scores)
    truth = lambdas(data, scores, measure_changes(rk.NDCG()), truncation=truncation)
    np.testing.assert_allclose(push[0], truth[0], atol=1e-12)
    np.testing.assert_allclose(curvature[0], truth[1], atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(case=judged(), measure=st.sampled_from([rk.NDCG(), rk.ERR(3)]), sigma=st.sampled_from([1.0, 2.0]))
def test_normalised_lambdas_follow_the_rule(case, measure, sigma):
    data, scores = case
    push, curvature = pushes(Lambdas(data, measure, sigma, normalise=True), scores)
    truth = lambdas(data, scores, measure_changes(measure), sigma, normalise=True)
    np.testing.assert_allclose(push[0], truth[0], atol=1e-10)
    np.testing.assert_allclose(curvature[0], truth[1], atol=1e-10)


def drawn(seed=0, queries=400, most=40, grades=5):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, most + 1, queries)
    rows = int(sizes.sum())
    features = random.integers(0, 4, (rows, 3)) + random.random((rows, 3)).astype(np.float32)
    return rk.read(features, grades=random.integers(0, grades, rows), group=sizes), random


@pytest.mark.parametrize("measure", [rk.NDCG(10), rk.ERR(), rk.AP(), rk.RR()], ids=str)
@pytest.mark.parametrize("most", [12, 500])
def test_row_order_changes_no_bit(measure, most):
    data, random = drawn(1, queries=4800 // most, most=most)
    scores = random.integers(0, 9, data.rows) / 4  # many ties
    queries = random.permutation(data.queries)
    order = np.concatenate([data.offsets[q] + random.permutation(data.offsets[q + 1] - data.offsets[q]) for q in queries])
    qids = data.qids[data.query_of_row()][order]
    other = Dataset.from_rows(data.features[order], data.grades[order], qids, data.feature_names)
    for normalise in (False, True):
        ours, theirs = (Lambdas(d, measure, normalise=normalise) for d in (data, other))
        for values in (np.zeros(data.rows), scores):
            for a, b in zip(pushes(ours, values), pushes(theirs, values[order]), strict=True):
                np.testing.assert_array_equal(a[0, order], b[0])


def test_what_came_before_changes_no_bit():
    """The order of the last call is where sorting starts, nothing more."""
    data, random = drawn(2, queries=12, most=900)
    used, push = Lambdas(data, rk.NDCG(10)), None
    walk = np.zeros(data.rows)
    for step in (0.0, 0.001, 0.01, 1.0, 0.001, 0.0, 30.0):
        walk += step * random.normal(size=data.rows)
        walk[random.random(data.rows) < 0.1] = 0.0
        push, curvature = pushes(used, walk)
        fresh_push, fresh_curvature = pushes(Lambdas(data, rk.NDCG(10)), walk)
        np.testing.assert_array_equal(push, fresh_push)
        np.testing.assert_array_equal(curvature, fresh_curvature)


@pytest.mark.parametrize("most", [8, 90, 700])
def test_queries_of_all_lengths(most):
    data, random = drawn(3, queries=4, most=most)
    scores = np.round(random.normal(size=data.rows), 1)
    push, curvature = pushes(Lambdas(data, rk.NDCG(10)), scores)
    truth = lambdas(data, scores, measure_changes(rk.NDCG(10)))
    np.testing.assert_allclose(push[0], truth[0], atol=1e-12)
    np.testing.assert_allclose(curvature[0], truth[1], atol=1e-12)


def test_threads_change_no_bit():
    data, random = drawn(4, queries=2500)
    scores = random.normal(size=data.rows)
    answers = []
    for count in (1, 2, 3):
        with rk.threads(count):
            answers.append(pushes(Lambdas(data, rk.ERR()), scores))
    for push, curvature in answers[1:]:
        assert push.tobytes() == answers[0][0].tobytes()
        assert curvature.tobytes() == answers[0][1].tobytes()


@pytest.mark.parametrize("spread", [500.0, 599.0, 601.0, 800.0, 1e6, 1e300])
def test_scores_far_apart(spread):
    data, random = drawn(5, queries=6, most=9)
    scores = spread * np.round(random.random(data.rows), 1)
    push, curvature = pushes(Lambdas(data, rk.NDCG()), scores)
    truth = lambdas(data, scores, measure_changes(rk.NDCG()))
    assert np.isfinite(push).all()
    np.testing.assert_allclose(push[0], truth[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(curvature[0], truth[1], rtol=1e-9, atol=1e-12)


def test_sigma_only_scales():
    """Scores divided by σ give pushes times σ and curvatures times σ², bit for bit when σ is a power of two."""
    data, random = drawn(6)
    scores = random.normal(size=data.rows)
    push, curvature = pushes(Lambdas(data, rk.NDCG(10)), scores)
    for sigma in (0.25, 2.0, 8.0):
        again = pushes(Lambdas(data, rk.NDCG(10), sigma), scores / sigma)
        np.testing.assert_array_equal(again[0], sigma * push)
        np.testing.assert_array_equal(again[1], sigma**2 * curvature)


def test_queries_with_nothing_to_learn_get_zeros():
    data = rk.read(np.arange(8.0)[:, None], grades=[0, 2, 1, 1, 1, 0, 0, 3], group=[2, 3, 2, 1])
    push, curvature = pushes(Lambdas(data, rk.NDCG()), np.zeros(8))
    assert (push[0, :2] != 0).all()
    assert (push[0, 2:] == 0).all()
    assert (curvature[0, 2:] == 0).all()


# ---- a measure of one's own ---------------------------------------------------------------------------------------


@kernel
def prepare_top(relevance, discounts, state):
    state[0, 0] = relevance[0]


@kernel
def changes_top(relevance, discounts, state, i, out):
    for j in range(i + 1, len(relevance)):
        out[j] = (relevance[j] - state[0, 0]) * discounts[0] if i == 0 else 0.0


@kernel
def changes_broken(relevance, discounts, state, i, out):
    out[i + 1 :] = np.nan


@dataclass(frozen=True)
class TopGrade:
    """The grade of the first document."""

    changes: Callable[..., None] = changes_top
    higher_is_better = True
    pooled = False
    parts = MeasureKernels(expected_linear, scale_one)

    @property
    def swap(self):
        return Swap(prepare_top, self.changes)

    def table(self):
        return np.arange(8.0)

    def relevance(self, grades):
        return np.asarray(grades, float)

    def discounts(self, ranks):
        return np.ones(1)

    def per_query(self, ranking):
        return expected_values(self, ranking)


def test_a_measure_of_ones_own():
    data, random = drawn(7, queries=30, most=10)
    scores = random.normal(size=data.rows)
    push, curvature = pushes(Lambdas(data, TopGrade()), scores)

    def changes(grades):
        delta = np.zeros((len(grades), len(grades)))
        delta[0] = delta[:, 0] = grades - grades[0]
        return delta

    truth = lambdas(data, scores, changes)
    np.testing.assert_allclose(push[0], truth[0], atol=1e-12)
    np.testing.assert_allclose(curvature[0], truth[1], atol=1e-12)


@pytest.mark.parametrize(
    ("relevance", "shape"),
    [
        (lambda grades: np.ones(len(grades) + 1), (5,)),
        (lambda grades: np.ones((len(grades), 1)), (4, 1)),
        (lambda grades: np.where(grades > 0, np.inf, 0.0), (4,)),
        (lambda grades: np.where(grades > 0, 1.0, -np.inf), (4,)),
        (lambda grades: np.where(grades > 0, 1.0, np.nan), (4,)),
    ],
    ids=["one too many", "a column", "inf", "-inf", "NaN"],
)
def test_the_relevance_of_a_grade_is_one_finite_number(relevance, shape):
    """Each fault alone: the shape of finite numbers, and numbers that are not finite in the right shape."""

    class Own(TopGrade):
        def relevance(self, grades):
            return relevance(grades)

    data = rk.read(np.arange(4.0)[:, None], grades=[1, 0, 2, 1], group=[4])
    with refused(rk.MeasureError, value=shape, rule="The relevance of a grade must be one finite number"):
        Lambdas(data, Own())


def test_a_measure_that_gives_no_numbers_is_named():
    data = rk.read(np.arange(4.0)[:, None], grades=[1, 1, 0, 1], qid=["fine", "fine", "hit", "hit"])
    with refused(rk.MeasureError, place="query 'hit'") as caught:
        pushes(Lambdas(data, TopGrade(changes_broken)), np.zeros(4))
    assert "TopGrade" in caught.value.place


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_named(score):
    data = rk.read(np.arange(4.0)[:, None], grades=[1, 0, 0, 1], qid=["fine", "fine", "hit", "hit"])
    with refused(rk.DataError, place="query 'hit'") as caught:
        pushes(Lambdas(data, rk.NDCG()), np.asarray([0.0, 1.0, score, 0.0]))
    assert repr(caught.value.value) == repr(score)


def test_documents_above_do_not_disturb_normalised_pairs():
    """Blocks of four are computed whole: what is above a document is computed with it, and must come to nothing."""
    data = rk.read([[0.0], [1.0], [2.0], [3.0]], grades=[1, 0, 2, 0], group=[4])
    scores = np.asarray([0.01, 0.0, -0.5, -1.0])  # 0.01 is the distance that is added to each
    push, curvature = pushes(Lambdas(data, rk.NDCG(), normalise=True), scores)
    assert np.isfinite(push).all()
    nearly, bent = pushes(Lambdas(data, rk.NDCG(), normalise=True), scores + np.eye(4)[0] * 1e-9)
    np.testing.assert_allclose(push, nearly, rtol=1e-5)
    np.testing.assert_allclose(curvature, bent, rtol=1e-5)
