"""RankNet's pairs, from grades and from preferences, against double loops and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.gradients import all_alike, downhill, lambdas, preference_cost, preference_pushes, ranknet_cost
from rankinite.data.preferences import Preferences
from rankinite.gradients.ranknet import PreferencePairs, RankNetPairs


def pushes(objective, scores):
    scores = np.ascontiguousarray(np.atleast_2d(scores), float)
    push, curvature = np.full_like(scores, np.nan), np.full_like(scores, np.nan)
    objective.gradients(scores, push, curvature)
    return push, curvature


def scores_for(data, seed):
    return np.random.default_rng(seed).integers(-4, 5, data.rows) / 2


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), sigma=st.sampled_from([1.0, 0.5, 3.0]))
def test_ranknet_is_the_sum_over_pairs(seed, sigma):
    data = random_dataset(seed, most=9)
    scores = scores_for(data, seed)
    push, curvature = pushes(RankNetPairs(data, sigma), scores)
    truth = lambdas(data, scores, all_alike, sigma)
    np.testing.assert_allclose(push[0], truth[0], atol=1e-12)
    np.testing.assert_allclose(curvature[0], truth[1], atol=1e-12)
    np.testing.assert_allclose(np.add.reduceat(push[0], data.offsets[:-1]), 0, atol=1e-12)


def test_ranknet_goes_downhill():
    data = random_dataset(3)
    scores = np.random.default_rng(3).normal(size=(1, data.rows))
    push, _ = pushes(RankNetPairs(data, 1.5), scores)
    np.testing.assert_allclose(push, downhill(lambda s: ranknet_cost(data, s[0], 1.5), scores), atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), sigma=st.sampled_from([1.0, 0.5, 3.0]))
def test_preferences_are_the_sum_over_judged_pairs(seed, sigma):
    data = random_dataset(seed)
    scores = scores_for(data, seed)
    push, curvature = pushes(PreferencePairs(data, sigma), scores)
    truth = preference_pushes(data, scores, sigma)
    np.testing.assert_allclose(push[0], truth[0], atol=1e-12)
    np.testing.assert_allclose(curvature[0], truth[1], atol=1e-12)
    np.testing.assert_allclose(np.add.reduceat(push[0], data.offsets[:-1]), 0, atol=1e-12)


def test_preferences_go_downhill():
    data = random_dataset(8)
    scores = np.random.default_rng(8).normal(size=(1, data.rows))
    push, _ = pushes(PreferencePairs(data, 0.7), scores)
    np.testing.assert_allclose(push, downhill(lambda s: preference_cost(data, s, 0.7), scores), atol=1e-8)


def test_the_order_of_the_list_changes_no_bit():
    data = random_dataset(9, queries=30, most=9)
    scores = scores_for(data, 9)
    judged = data.preferences
    order = np.random.default_rng(9).permutation(len(judged))
    other = data.with_preferences(Preferences(judged.better[order], judged.worse[order], judged.probability[order]))
    for a, b in zip(pushes(PreferencePairs(data), scores), pushes(PreferencePairs(other), scores), strict=True):
        np.testing.assert_array_equal(a, b)


def test_judges_may_contradict_each_other():
    data = rk.read(np.arange(2.0)[:, None], grades=[0, 0], group=[2])
    both = data.with_preferences(Preferences(np.asarray([0, 1, 0]), np.asarray([1, 0, 0]), np.asarray([0.8, 0.8, 1.0])))
    push, curvature = pushes(PreferencePairs(both), np.zeros(2))
    np.testing.assert_allclose(push, 0, atol=1e-15)
    np.testing.assert_allclose(curvature, 0.5)  # two pairs; a document against itself is none


@pytest.mark.parametrize("make", [RankNetPairs, PreferencePairs])
def test_far_scores_stay_finite_and_threads_change_nothing(make):
    random = np.random.default_rng(1)
    data = rk.read(random.random((30_000, 2)), grades=random.integers(0, 3, 30_000), group=[10] * 3000)
    first = np.repeat(np.arange(3000) * 10, 2)
    data = data.with_preferences(Preferences(first + random.integers(0, 5, 6000), first + 5, random.random(6000)))
    scores = 1e5 * random.normal(size=data.rows)
    answers = []
    for count in (1, 2):
        with rk.threads(count):
            answers.append(pushes(make(data), scores))
    assert np.isfinite(answers[0]).all()
    assert answers[0][0].any()
    assert answers[0][0].tobytes() == answers[1][0].tobytes()
    assert answers[0][1].tobytes() == answers[1][1].tobytes()
