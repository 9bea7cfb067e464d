"""Rankers that look at how others score the whole query, against loops over queries."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.folds import holdouts
from rankinite.ensembles import Summarised
from rankinite.models.normalised import Normalised
from rankinite.models.query_summaries import QuerySummaries, summaries_of, summary_names
from refusals import refused

WORLD = rk.World(features=5, documents=9, noise=0.3)
TRAIN = rk.synthesise(30, world=WORLD)
VALID = rk.synthesise(12, part="valid", world=WORLD)
TEST = rk.synthesise(20, part="test", world=WORLD)
MART = rk.MART(trees=4, leaves=4, min_rows=3, loss="graded")
TREES = rk.LambdaMART.plain(trees=6, leaves=5, min_rows=3)
SOURCE = MART.fit(TRAIN)
RANKER = Summarised(TREES, (MART,), folds=3, seed=2).fit(TRAIN, VALID)


def slow_summaries(scores, data):
    rows = np.empty((data.rows, 4))
    for first, last in pairwise(data.offsets):
        own = np.sort(scores[first:last])[::-1]
        rows[first:last] = own[0], own.mean(), own[:3].max(), own[:3].mean()
    return rows.astype(np.float32)


@pytest.mark.parametrize("documents", [1, 2, 3, 4, 9])
def test_summaries_are_those_of_each_query(documents):
    data = rk.synthesise(7, world=rk.World(features=3, documents=documents))
    scores = rk.Feature(0).score(data)
    np.testing.assert_allclose(summaries_of([rk.Feature(0)], data), slow_summaries(scores, data), rtol=1e-6)
    both = summaries_of([rk.Feature(0), rk.Feature(2)], data)
    assert both.shape == (data.rows, len(summary_names(2)))
    np.testing.assert_allclose(both[:, 4:], slow_summaries(rk.Feature(2).score(data), data), rtol=1e-6)


def extended(data, scores):
    names = (*data.feature_names, *summary_names(1))
    features = np.column_stack((data.features, slow_summaries(scores, data)))
    made = rk.read(features, grades=data.grades, qid=data.qids[data.query_of_row()])
    return made.rename_features(dict(zip(made.feature_names, names, strict=True)))


def test_training_queries_are_summed_up_by_sources_that_did_not_see_them():
    scores = np.empty(TRAIN.rows)
    for part in holdouts(TRAIN, 3, seed=2):
        scores[part.rows] = MART.fit(part.rest).score(part.held)
    train, valid = extended(TRAIN, scores), extended(VALID, SOURCE.score(VALID))
    assert RANKER.top.text() == TREES.fit(train, valid).text()


def test_scores_are_those_of_the_top_over_features_and_summaries():
    features = np.column_stack((TEST.features, slow_summaries(SOURCE.score(TEST), TEST)))
    np.testing.assert_array_equal(RANKER.score(TEST), RANKER.top.score(features))
    shuffled = np.random.default_rng(0).permutation(TEST.rows)
    again = RANKER.score(TEST.features[shuffled], qid=TEST.query_of_row()[shuffled])
    np.testing.assert_array_equal(again, RANKER.score(TEST)[shuffled])
    with refused(rk.DataError, value="ndarray"):
        RANKER.score(TEST.features)


def test_it_is_saved_with_its_sources_and_describes_itself(tmp_path):
    RANKER.save(tmp_path / "model")
    loaded = rk.load(tmp_path / "model")
    assert isinstance(loaded, QuerySummaries)
    assert np.array_equal(loaded.score(TEST), RANKER.score(TEST))
    assert loaded.feature_names == TEST.feature_names
    assert loaded.needs_queries
    assert loaded.sizes() == {"trees": len(RANKER.top)}
    assert "30 of the 30" in rk.evaluate(loaded, TRAIN, "ndcg@10").warnings[0]
    assert not rk.evaluate(loaded, TEST, "ndcg@10").warnings


def test_bags_and_several_sources():
    trainer = Summarised(rk.Bag(TREES, 3), (MART, rk.MART(trees=3, leaves=4, min_rows=3)), folds=3)
    ranker = trainer.fit(TRAIN)
    assert len(ranker.top.parts) == 3
    assert len(ranker.sources) == 2
    features = np.column_stack((TEST.features, summaries_of(ranker.sources, TEST)))
    np.testing.assert_array_equal(ranker.score(TEST), ranker.top.score(features))
    assert trainer.reseeded(1).fit(TRAIN).score(TEST).tolist() != ranker.score(TEST).tolist()


def test_bad_input_is_refused():
    with refused(rk.ArgumentError, owner="Summarised", setting="sources"):
        Summarised(TREES, ())
    with refused(rk.ArgumentError, owner="Summarised", setting="folds", value=1):
        Summarised(TREES, (MART,), folds=1)
    with refused(rk.ArgumentError, setting="base"):
        Summarised(TREES, (MART,)).fit(TRAIN, base=rk.Feature(0))
    with refused(rk.ArgumentError, owner="QuerySummaries", setting="top"):
        QuerySummaries((SOURCE,), rk.Feature("1"))


# ---- scores as probabilities, and by the highest of the query ---------------------------------------------------------


def test_probabilities_and_peaks_are_those_of_the_formula():
    raw = rk.MART(trees=4, leaves=4, min_rows=3, loss="graded", sigma=0.7).fit(TRAIN)
    chances = Normalised(raw, "probability", spread=1 / 0.7)
    np.testing.assert_allclose(chances.score(TEST), 1 / (1 + np.exp(-2 * 0.7 * raw.score(TEST))), rtol=1e-12)
    np.testing.assert_allclose(chances.score(TEST), raw.probabilities(TEST), rtol=1e-12)
    peaks = Normalised(chances, "peak").score(TEST)
    for first, last in pairwise(TEST.offsets):
        own = chances.score(TEST)[first:last]
        np.testing.assert_allclose(peaks[first:last], own.max() * (1 + own - own.max()), rtol=1e-12)
    assert Normalised(chances, "peak").needs_queries
    assert not chances.needs_queries


@pytest.mark.parametrize("scale", ["probability", "peak"])
def test_they_are_saved(scale, tmp_path):
    ranker = Normalised(SOURCE, scale, spread=2.0)
    ranker.save(tmp_path / "model")
    assert np.array_equal(rk.load(tmp_path / "model").score(TEST), ranker.score(TEST))
