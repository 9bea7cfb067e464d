"""Features are put on one scale: their unit does not matter, constant ones have no part, missing ones follow a rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.nets import Follower, climb, graded_pairs, standardised
from rankinite.data.identity import content_order, query_order
from rankinite.nets._net_kernels import Frame
from rankinite.nets.features import fit_standard
from rankinite.nets.network import first_weights, sizes_of
from refusals import refused

WORLD = rk.World(features=4, documents=15, noise=0.3)
TRAIN, VALID = rk.synthesise(20, world=WORLD), rk.synthesise(10, part="valid", world=WORLD)
QUICK = rk.LambdaRank(epochs=4, rate=0.01, hidden=(5,))
EACH = pytest.mark.parametrize("hidden", [(), (5,)], ids=["linear", "net"])


def with_features(data, features):
    return replace(data, features=np.asarray(features, np.float32), feature_names=data.feature_names[: np.shape(features)[1]])


def with_gaps(data, seed=0, share=0.2):
    features = data.features.copy()
    features[np.random.default_rng(seed).random(features.shape) < share] = np.nan
    return with_features(data, features)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-30, 1e-3, 1.0, 1e30]), shift=st.sampled_from([0.0, 1.0, 1e4]))
def test_centre_and_scale_are_mean_and_spread_of_what_is_known(seed, scale, shift):
    random = np.random.default_rng(seed)
    features = ((random.normal(size=(30, 3)) + shift) * scale).astype(np.float32)
    features[random.random(features.shape) < 0.2] = np.nan
    data = rk.read(features, grades=np.arange(30) % 3, qid=np.arange(30) // 10, missing="nan")
    standard = fit_standard(data.features, content_order(data), data.source)
    known = features.astype(float)
    np.testing.assert_allclose(standard.centre, np.nanmean(known, axis=0), rtol=1e-13, atol=1e-14 * scale)
    np.testing.assert_allclose(standard.scale, 1 / np.nanstd(known, axis=0), rtol=1e-12)


@EACH
@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_the_unit_and_the_zero_of_a_feature_do_not_matter(hidden, optimiser):
    """One query, so that there is one order to visit queries in: it follows from their content."""
    features = np.round(np.random.default_rng(0).uniform(-1, 1, (40, 3)) * 64) / 64  # exact also when moved
    grades = np.random.default_rng(1).integers(0, 4, 40)
    moved = features * [0.25, 1024.0, 1.0] + [4.0, -512.0, 32.0]
    learner = replace(QUICK, epochs=20, hidden=hidden, optimiser=optimiser, rate=0.1)
    first, second = (learner.fit(rk.read(values, grades=grades, group=[40])) for values in (features, moved))
    np.testing.assert_allclose(second.score(moved), first.score(features), rtol=0, atol=1e-9)
    assert np.ptp(first.score(features)) > 0.1


@EACH
def test_a_feature_that_never_varies_has_no_part(hidden):
    features = TRAIN.features.copy()
    features[:, 1] = 7.25
    ranker = replace(QUICK, hidden=hidden).fit(with_features(TRAIN, features), VALID)
    assert np.isfinite(ranker.weights).all()
    assert np.isfinite(ranker.history.train).all()
    other = VALID.features.copy()
    other[:, 1] = -1e6
    assert np.array_equal(ranker.score(other), ranker.score(VALID.features))
    if isinstance(ranker, rk.Linear):
        assert ranker.weights[1] == 0.0
        assert (ranker.weights[[0, 2, 3]] != 0.0).all()
    else:
        assert ranker.scale[1] == 0.0


@EACH
def test_a_feature_that_is_never_known_has_no_part(hidden):
    features = TRAIN.features.copy()
    features[:, 2] = np.nan
    ranker = replace(QUICK, hidden=hidden, nan="mean").fit(with_features(TRAIN, features))
    assert np.array_equal(ranker.score(VALID), ranker.score(np.where(np.arange(4) == 2, np.nan, VALID.features)))
    assert np.ptp(ranker.score(VALID)) > 0


@EACH
@pytest.mark.parametrize("value", [0.0, -3.5, 3e38, np.nan])
def test_features_that_all_tell_nothing_are_refused(hidden, value):
    with refused(rk.DataError, place=TRAIN.source, value=2):
        replace(QUICK, hidden=hidden, nan="mean").fit(with_features(TRAIN, np.full((TRAIN.rows, 2), value)))


@EACH
def test_values_next_to_each_other_and_far_from_zero_do_no_harm(hidden):
    near = np.where(np.arange(TRAIN.rows) % 2, np.float32(1e6), np.nextafter(np.float32(1e6), np.float32(np.inf)))
    huge, tiny = np.where(np.arange(TRAIN.rows) % 3, 3e38, -3e38), np.where(np.arange(TRAIN.rows) % 5, 1e-45, 0.0)
    data = with_features(TRAIN, np.stack((near, huge, tiny, TRAIN.features[:, 3]), axis=1))
    ranker = replace(QUICK, hidden=hidden).fit(data)
    assert np.isfinite(ranker.score(data)).all()


# ---- missing values ---------------------------------------------------------------------------------------------------


@EACH
def test_missing_values_are_refused_with_their_place_and_a_remedy(hidden):
    features = TRAIN.features.copy()
    features[17, 2] = np.nan
    gap = {"place": ", row 17", "value": TRAIN.feature_names[2]}
    data, learner = with_features(TRAIN, features), replace(QUICK, hidden=hidden)
    for train, valid in ((data, None), (VALID, data)):
        with refused(rk.DataError, **gap) as caught:
            learner.fit(train, valid)
        assert "`nan='mean'`" in caught.value.remedy
    ranker = learner.fit(TRAIN)
    for scored in (data, features, features.astype(float)):
        with refused(rk.DataError, **gap):
            ranker.score(scored)


@EACH
def test_missing_values_score_as_the_mean(hidden):
    train, valid = with_gaps(TRAIN), with_gaps(VALID, 1)
    ranker = replace(QUICK, hidden=hidden, nan="mean").fit(train, valid)
    means = np.nanmean(train.features.astype(float), axis=0)
    filled = np.where(np.isnan(valid.features), means, valid.features)
    np.testing.assert_allclose(ranker.score(valid), ranker.score(filled), rtol=0, atol=1e-12)
    assert ranker.history.valid[ranker.history.best] == pytest.approx(
        rk.evaluate(ranker.score(filled), valid, "ndcg@10")["ndcg@10"].mean, abs=1e-12
    )


@pytest.mark.parametrize("hidden", [(), (3,)], ids=["linear", "net"])
def test_missing_values_train_as_the_mean(hidden):
    train = with_gaps(TRAIN.select_queries(range(6)))
    learner = rk.RankNet(hidden=hidden, optimiser="sgd", rate=0.05, epochs=1, nan="mean")
    ranker = learner.fit(train)
    known, sizes = train.features.astype(float), sizes_of(4, hidden)
    means, spread = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    inputs = standardised(Frame(sizes, means, 1 / spread), np.where(np.isnan(known), means, known))
    random = np.random.default_rng([0, 0])
    weights = first_weights(sizes, random, silent=False)
    queries = query_order(train)[random.permutation(train.queries)]
    weights = climb(sizes, weights, inputs, train, graded_pairs, queries, Follower("sgd", 0.05))
    made = ranker.weights if hidden else ranker.weights * spread
    np.testing.assert_allclose(made, weights if hidden else weights[:-1], rtol=1e-10, atol=1e-12)


def test_without_gaps_the_rule_for_them_changes_nothing():
    first, second = (replace(QUICK, nan=rule).fit(TRAIN, VALID) for rule in ("refuse", "mean"))
    assert np.array_equal(first.weights, second.weights)


# ---- what is scored ---------------------------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("nan", ["refuse", "mean"])
def test_infinite_features_are_refused(hidden, value, nan):
    ranker = replace(QUICK, hidden=hidden, nan=nan).fit(TRAIN)
    for dtype in (np.float32, np.float64):
        features = VALID.features.astype(dtype)
        features[[5, 9], 2] = value
        with refused(rk.DataError, place=", row 5", value=float(value)):
            ranker.score(features)


@EACH
@pytest.mark.parametrize("which", ["train", "valid"])
def test_infinite_features_are_refused_in_training(hidden, which):
    data = {"train": TRAIN, "valid": VALID}
    features = data[which].features.copy()
    features[5, 2] = np.inf
    data[which] = with_features(data[which], features)
    with refused(rk.DataError, place=", row 5", value=np.inf):
        replace(QUICK, hidden=hidden).fit(**data)


@EACH
def test_features_are_found_by_name_or_by_place(hidden):
    ranker = replace(QUICK, hidden=hidden).fit(TRAIN)
    expected = ranker.score(VALID)
    assert np.array_equal(ranker.score(VALID.features), expected)
    assert np.array_equal(ranker.score(VALID.features.astype(float)), expected)
    turned = VALID.select_features(list(VALID.feature_names[::-1]))
    assert np.array_equal(ranker.score(turned), expected)
    frame = pl.DataFrame(dict(zip(turned.feature_names, turned.features.T, strict=True)) | {"url": ["x"] * VALID.rows})
    assert np.array_equal(ranker.score(frame), expected)


@EACH
def test_other_columns_are_refused(hidden):
    ranker = replace(QUICK, hidden=hidden).fit(TRAIN)
    with pytest.raises(rk.DataError):
        ranker.score(VALID.features[:, :3])
    with pytest.raises(rk.DataError):
        ranker.score(VALID.select_features([0, 1, 2]))
    with pytest.raises(rk.DataError):
        ranker.score(VALID.features[0])
    with pytest.raises(rk.DataError):
        replace(QUICK, hidden=hidden).fit(TRAIN, VALID.select_features([0, 1, 2]))
    assert ranker.score(VALID.features[:0]).shape == (0,)
