"""Models that do not know the names of their features, given to Python's functions: matched as in the shell, with a note."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.data.identity import QuerySketch
from refusals import refused

NAMES = ("1", "2", "3")
GENERIC = {"LightGBM": "Column_{}", "XGBoost": "f{}", "CatBoost": "{}"}


@pytest.fixture(scope="module")
def data() -> rk.Dataset:
    return random_dataset(5, queries=30, features=3).rename_features(NAMES)


def unnamed(maker: str, seed: int = 1) -> rk.Forest:
    return random_forest(seed, trees=6, features=3).renamed([GENERIC[maker].format(k) for k in range(3)])


def named(seed: int = 1) -> rk.Forest:
    return random_forest(seed, trees=6, features=3).renamed(NAMES)


@pytest.mark.parametrize("maker", GENERIC)
def test_scores_evaluations_and_comparisons_are_those_of_the_named_model(maker, data):
    forest = unnamed(maker)
    assert (forest.score(data) == named().score(data)).all()
    assert [s.tolist() for s in forest.staged_scores(data, 3)] == [s.tolist() for s in named().staged_scores(data, 3)]
    found, expected = rk.evaluate(forest, data, ["ndcg@5", "err"]), rk.evaluate(named(), data, ["ndcg@5", "err"])
    assert [r.mean for r in found.results] == [r.mean for r in expected.results]
    (note,) = set(found.warnings) - set(expected.warnings)
    assert "by position" in note
    assert note in str(found).replace("\n", " ") or note in found.to_dict()["warnings"]
    compared = rk.compare({"a": forest, "b": named(2)}, data, "ndcg@5", resamples=100)
    plain = rk.compare({"a": named(), "b": named(2)}, data, "ndcg@5", resamples=100)
    assert compared["a"]["ndcg@5"].mean == plain["a"]["ndcg@5"].mean
    (note,) = set(compared.warnings) - set(plain.warnings)
    assert note.startswith("a: the model's features")


def test_nothing_is_noted_where_names_are_there(data):
    assert rk.evaluate(named(), data, "ndcg").notes == ()
    assert rk.evaluate(rk.Feature(0), data, "ndcg").notes == ()
    assert rk.evaluate(named().score(data), data, "ndcg").notes == ()


@pytest.mark.parametrize(
    "combine",
    [
        lambda rankers, data: rk.combine.exact(*rankers, data, "ndcg@5"),
        lambda rankers, data: rk.combine.average(rankers, data, "ndcg@5"),
        lambda rankers, data: rk.combine.powell(rankers, data, "ndcg@5", most=20),
        lambda rankers, data: rk.combine.stacked(rankers, data, "ndcg@5", learner=rk.LambdaRank(hidden=(2,), epochs=2)),
    ],
    ids=["exact", "average", "powell", "stacked"],
)
def test_combinations_have_the_names_of_the_data(combine, data, tmp_path):
    found = combine([unnamed("XGBoost"), named(2)], data)
    expected = combine([named(), named(2)], data)
    assert (found.ranker.score(data) == expected.ranker.score(data)).all()
    assert found.value == expected.value
    assert set(found.ranker.feature_names) <= set(NAMES)
    (note,) = set(found.warnings) - set(expected.warnings)
    assert note.startswith("ranker 1: the model's features 'f0' … 'f2' are taken for '1' … '3'")
    found.ranker.save(tmp_path / "combined.rankinite")
    assert (rk.load(tmp_path / "combined.rankinite").score(data) == expected.ranker.score(data)).all()


def test_blends_score_data_by_the_same_rule(data):
    blend = 0.5 * unnamed("LightGBM") + rk.Feature("2")
    assert (blend.score(data) == (0.5 * named() + rk.Feature("2")).score(data)).all()


def test_training_goes_on_from_it_as_one_forest(data):
    learner = rk.LambdaMART.plain(trees=2, leaves=3, min_rows=2)
    grown, expected = learner.fit(data, base=unnamed("XGBoost")), learner.fit(data, base=named())
    assert isinstance(grown, rk.Forest)
    assert grown.feature_names == NAMES
    assert (grown.score(data) == expected.score(data)).all()


def test_what_a_model_was_trained_on_is_known_under_its_own_names(data):
    sketch = QuerySketch.of(data)
    own = replace(named(), sketch=sketch).renamed(["f0", "f1", "f2"])
    assert rk.evaluate(own, data, "ndcg").overlap == rk.evaluate(replace(named(), sketch=sketch), data, "ndcg").overlap


@pytest.mark.parametrize("names", [("1", "2", "3", "4"), ("1", "2"), ("f0", "a", "b")])
def test_what_is_not_clear_is_refused_everywhere(names):
    data = random_dataset(5, queries=30, features=len(names)).rename_features(names)
    forest = unnamed("XGBoost")
    for use in (
        forest.score,
        lambda data: rk.evaluate(forest, data, "ndcg"),
        lambda data: rk.compare({"a": forest, "b": rk.Feature(0)}, data, "ndcg"),
        lambda data: rk.combine.average([forest, rk.Feature(0)], data, "ndcg"),
        lambda data: rk.LambdaMART.plain(trees=1).fit(data, base=forest),
    ):
        with refused(rk.DataError, place=data.source, value="f1" if "f0" in names else "f0"):
            use(data)


def test_arrays_and_frames_are_as_before(data):
    frame = {"1": data.features[:, 0], "2": data.features[:, 1], "3": data.features[:, 2]}
    import pyarrow as pa

    with refused(rk.DataError, value="f0"):
        unnamed("XGBoost").score(pa.table(frame))
    assert (unnamed("XGBoost").score(np.asarray(data.features)) == named().score(data)).all()
