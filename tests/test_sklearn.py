"""The estimators do what scikit-learn asks of them, and train what the learners train."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import rankinite as rk
from rankinite.sklearn import (
    LambdaBoostRanker,
    LambdaMARTRanker,
    LambdaRankRanker,
    MARTRanker,
    McRankRanker,
    RankNetRanker,
    RankNetTreesRanker,
)
from refusals import refused

WORLD = rk.World(features=5, documents=20, noise=0.2)
TRAIN, TEST = rk.synthesise(40, world=WORLD), rk.synthesise(20, part="test", world=WORLD)
X, Y, Q = TRAIN.features, TRAIN.grades, np.asarray(TRAIN.qids.tolist())[TRAIN.query_of_row()]
TEST_Q = np.asarray(TEST.qids.tolist())[TEST.query_of_row()]
SMALL = {"trees": 10, "leaves": 6, "min_rows": 5}
SMALL_NET = {"epochs": 4, "hidden": (3,), "rate": 0.02}
PAIRS = [
    (LambdaMARTRanker, rk.LambdaMART, SMALL),
    (MARTRanker, rk.MART, SMALL),
    (McRankRanker, rk.McRank, SMALL),
    (RankNetTreesRanker, rk.RankNetTrees, SMALL),
    (LambdaRankRanker, rk.LambdaRank, SMALL_NET),
    (RankNetRanker, rk.RankNet, {**SMALL_NET, "hidden": ()}),
    (LambdaBoostRanker, rk.LambdaBoost, {"rounds": 5}),
]
TREES = PAIRS[:4]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize(("estimator", "learner", "small"), PAIRS)
def test_an_estimator_has_the_settings_of_its_learner_and_trains_the_same(estimator, learner, small):
    parameters = inspect.signature(estimator.__init__).parameters
    direct = {f.name: str(f.default) if isinstance(f.default, rk.Measure) else f.default for f in fields(learner)}
    assert {name: p.default for name, p in parameters.items() if name != "self"} == direct
    fitted = estimator(**small).fit(X, Y, qid=Q)
    expected = learner(**small).fit(TRAIN)
    assert np.array_equal(fitted.predict(TEST.features), expected.score(TEST))
    assert type(fitted.ranker_) is type(expected)
    value = rk.evaluate(expected, TEST, "ndcg@10")["ndcg@10"].mean
    assert fitted.score(TEST.features, TEST.grades, qid=TEST_Q) == value
    assert fitted.n_features_in_ == 5


@pytest.mark.parametrize(("estimator", "learner", "small"), TREES)
def test_trees_tell_the_importance_of_features(estimator, learner, small):
    fitted, expected = estimator(**small).fit(X, Y, qid=Q), learner(**small).fit(TRAIN)
    assert fitted.forest_ is fitted.ranker_
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert np.argmax(fitted.feature_importances_) == int(next(iter(expected.importance()))) - 1


@pytest.mark.parametrize(("estimator", "_learner", "small"), PAIRS)
def test_estimators_can_be_cloned_set_and_pickled(estimator, _learner, small):
    one = estimator(**small, watch="err")
    assert one.get_params()["watch"] == "err"
    assert clone(one).get_params() == one.get_params()
    assert one.set_params(patience=9).patience == 9
    assert "patience=9" in repr(one)
    with pytest.raises(ValueError, match="nonsense"):
        one.set_params(nonsense=1)
    with pytest.raises(NotFittedError):
        one.predict(X)
    fitted = estimator(**small).fit(X, Y, qid=Q)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    for name in ("ranker_", "forest_"):
        assert not hasattr(clone(fitted), name)


WEIGHTS = "a weight belongs to a whole query"
DATA = "bad data raise DataError, which is no ValueError"
NOT_OURS = {
    "check_all_zero_sample_weights_error": DATA,
    "check_sample_weights_shape": DATA,
    "check_fit2d_1sample": "one document cannot be ranked",
    "check_sample_weights_not_overwritten": WEIGHTS,
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
}
"""What scikit-learn asks of estimators that rankers cannot do."""


@pytest.mark.parametrize(
    ("estimator", "_learner", "small"),
    [pytest.param(*pair, marks=[] if pair[0] in {LambdaMARTRanker, RankNetRanker} else pytest.mark.slow) for pair in PAIRS],
)
def test_scikit_learns_own_checks_pass(estimator, _learner, small, monkeypatch):
    """They give no queries, and grades below 0: here all rows are one query, and the lowest grade is 0."""
    fit, score = estimator.fit, estimator.score

    def fit_one_query(self, X, y, sample_weight=None):
        judged = np.asarray(y)
        if judged.dtype.kind in "if" and np.isfinite(judged).all():
            y = judged - judged.min()
        return fit(self, X, y, qid=np.zeros(judged.size), sample_weight=sample_weight)

    monkeypatch.setattr(estimator, "fit", fit_one_query)
    monkeypatch.setattr(estimator, "score", lambda self, X, y: score(self, X, y, qid=np.zeros(len(y))))
    quick = {**small, "min_rows": 1} if "min_rows" in small else small
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks provoke them
        checks = check_estimator(estimator(**quick), expected_failed_checks=NOT_OURS, on_skip=None)
    assert sum(check["status"] == "passed" for check in checks) > 35


def test_rows_of_a_query_may_be_scattered():
    order = np.random.default_rng(0).permutation(len(X))
    first, second = LambdaMARTRanker(**SMALL).fit(X, Y, qid=Q), LambdaMARTRanker(**SMALL).fit(X[order], Y[order], qid=Q[order])
    assert np.array_equal(first.predict(TEST.features), second.predict(TEST.features))
    assert np.array_equal(second.predict(TEST.features[::-1]), second.predict(TEST.features)[::-1])


def test_frames_keep_their_names():
    names = [f"feature {n}" for n in range(5)]
    frame = pd.DataFrame(X, columns=names)
    fitted = LambdaMARTRanker(**SMALL, monotone=("+feature 2",)).fit(frame, pd.Series(Y), qid=pd.Series(Q))
    assert fitted.feature_names_in_.tolist() == names == list(fitted.forest_.feature_names)
    assert np.array_equal(fitted.predict(frame), fitted.forest_.score(frame))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.rename(columns={"feature 0": "other"}))
    with pytest.raises(ValueError, match="5 features"):
        LambdaMARTRanker(**SMALL).fit(X, Y, qid=Q).predict(X[:, :3])


def test_missing_values_weights_and_early_stopping():
    holes = X.copy()
    holes[::7, 0] = np.nan
    weights = 1.0 + (TRAIN.query_of_row() % 3)
    valid = (TEST.features, TEST.grades, TEST_Q)
    fitted = LambdaMARTRanker(trees=200, rate=0.5, patience=5, leaves=6).fit(
        holes, Y, qid=Q, sample_weight=weights, eval_set=valid
    )
    data = rk.read(holes, grades=Y, qid=Q, weight=weights)
    expected = rk.LambdaMART(trees=200, rate=0.5, patience=5, leaves=6).fit(data, TEST)
    assert fitted.forest_.history.stopped == "early"
    assert np.array_equal(fitted.predict(holes), expected.score(holes))
    with refused(rk.ArgumentError, owner="LambdaMARTRanker.fit", setting="eval_set"):
        LambdaMARTRanker().fit(X, Y, qid=Q, eval_set=(X, Y))
    with pytest.raises(rk.DataError):
        LambdaMARTRanker(**SMALL).fit(X, Y, qid=Q, eval_set=(X, Y, Q))
    assert len(LambdaMARTRanker(**SMALL).fit(X, Y, qid=Q, eval_set=(X, Y, Q), allow_overlap=True).forest_)


def test_nets_take_missing_values_where_there_is_a_rule():
    holes = X.copy()
    holes[::7, 0] = np.nan
    assert not get_tags(LambdaRankRanker()).input_tags.allow_nan
    with pytest.raises(ValueError, match="NaN"):
        LambdaRankRanker(**SMALL_NET).fit(holes, Y, qid=Q)
    with pytest.raises(ValueError, match="NaN"):
        LambdaRankRanker(**SMALL_NET).fit(X, Y, qid=Q).predict(holes)
    ruled = LambdaRankRanker(**SMALL_NET, nan="mean")
    assert get_tags(ruled).input_tags.allow_nan
    weights, valid = 1.0 + (TRAIN.query_of_row() % 3), (TEST.features, TEST.grades, TEST_Q)
    fitted = ruled.fit(holes, Y, qid=Q, sample_weight=weights, eval_set=valid)
    data = rk.read(holes, grades=Y, qid=Q, weight=weights)
    assert np.array_equal(fitted.predict(holes), rk.LambdaRank(**SMALL_NET, nan="mean").fit(data, TEST).score(holes))
    assert len(fitted.ranker_.history.valid) == 5


def test_a_query_of_weight_two_counts_twice_in_the_score():
    fitted = LambdaMARTRanker(**SMALL).fit(X, Y, qid=Q)
    values = rk.evaluate(fitted.forest_, TEST, "ndcg@10")["ndcg@10"].per_query
    weights = 1.0 + np.arange(20) % 2
    value = fitted.score(TEST.features, TEST.grades, qid=TEST_Q, sample_weight=weights[TEST.query_of_row()])
    assert value == pytest.approx(np.concatenate((values, values[1::2])).mean())


def test_a_forgotten_qid_is_asked_for():
    with refused(rk.ArgumentError, owner="LambdaMARTRanker.fit", setting="qid", value=None) as fitting:
        LambdaMARTRanker().fit(X, Y)
    assert "set_fit_request" in fitting.value.remedy
    with refused(rk.ArgumentError, owner="LambdaMARTRanker.score", setting="qid", value=None) as scoring:
        LambdaMARTRanker(**SMALL).fit(X, Y, qid=Q).score(X, Y)
    assert "set_score_request" in scoring.value.remedy


def test_wrong_settings_are_refused_when_fitting():
    with refused(rk.ArgumentError, owner="LambdaMART", setting="leaves", value=1):
        LambdaMARTRanker(leaves=1).fit(X, Y, qid=Q)
    with refused(rk.ArgumentError, owner="LambdaRank", setting="hidden", value=0):
        LambdaRankRanker(hidden=(0,)).fit(X, Y, qid=Q)


def test_group_k_fold_without_routing():
    values = []
    for train, test in GroupKFold(3).split(X, Y, groups=Q):
        assert not set(Q[train]) & set(Q[test])
        fitted = LambdaMARTRanker(**SMALL).fit(X[train], Y[train], qid=Q[train])
        values.append(fitted.score(X[test], Y[test], qid=Q[test]))
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = LambdaMARTRanker(**SMALL).set_fit_request(qid=True).set_score_request(qid=True)
        routed = cross_validate(ranker, X, Y, params={"qid": Q, "groups": Q}, cv=GroupKFold(3), error_score="raise")
    assert routed["test_score"].tolist() == values


@pytest.mark.usefixtures("routing")
def test_a_grid_is_searched_by_query():
    ranker = LambdaMARTRanker(trees=5, min_rows=5).set_fit_request(qid=True).set_score_request(qid=True)
    search = GridSearchCV(ranker, {"leaves": np.asarray([2, 8]), "rate": np.asarray([0.1, 0.3], np.float32)}, cv=GroupKFold(3))
    search.fit(X, Y, qid=Q, groups=Q)
    assert search.best_params_["leaves"] == 8
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    again = LambdaMARTRanker(trees=5, min_rows=5, **search.best_params_).fit(X, Y, qid=Q)
    assert np.array_equal(search.predict(TEST.features), again.predict(TEST.features))


@pytest.mark.usefixtures("routing")
def test_the_units_of_a_net_are_searched():
    ranker = RankNetRanker(epochs=4, rate=0.02).set_fit_request(qid=True).set_score_request(qid=True)
    search = GridSearchCV(ranker, {"hidden": [(), (3,), 4]}, cv=GroupKFold(2), error_score="raise")
    search.fit(X, Y, qid=Q, groups=Q)
    again = RankNetRanker(epochs=4, rate=0.02, **search.best_params_).fit(X, Y, qid=Q)
    assert np.array_equal(search.predict(TEST.features), again.predict(TEST.features))
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])


@pytest.mark.usefixtures("routing")
def test_a_pipeline_hands_the_queries_on():
    ranker = LambdaMARTRanker(**SMALL).set_fit_request(qid=True).set_score_request(qid=True)
    pipe = make_pipeline(StandardScaler(), ranker).fit(X, Y, qid=Q)
    scaled = StandardScaler().fit(X)
    alone = LambdaMARTRanker(**SMALL).fit(scaled.transform(X), Y, qid=Q)
    assert np.array_equal(pipe.predict(TEST.features), alone.predict(scaled.transform(TEST.features)))
    value = alone.score(scaled.transform(TEST.features), TEST.grades, qid=TEST_Q)
    assert pipe.score(TEST.features, TEST.grades, qid=TEST_Q) == value
    search = GridSearchCV(make_pipeline(StandardScaler(), ranker), {"lambdamartranker__leaves": [2, 6]}, cv=GroupKFold(2))
    assert search.fit(X, Y, qid=Q, groups=Q).best_params_ == {"lambdamartranker__leaves": 6}


@pytest.mark.usefixtures("routing")
def test_importances_select_features():
    ranker = LambdaMARTRanker(**SMALL).set_fit_request(qid=True)
    selector = SelectFromModel(ranker, max_features=2, threshold=-np.inf).fit(X, Y, qid=Q)
    gains = LambdaMARTRanker(**SMALL).fit(X, Y, qid=Q).feature_importances_
    assert np.flatnonzero(selector.get_support()).tolist() == sorted(np.argsort(gains)[-2:].tolist())


def test_without_scikit_learn_the_message_says_what_to_install():
    program = "import sys; sys.modules['sklearn'] = None\nimport rankinite.sklearn"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.returncode
    assert "pip install rankinite[sklearn]" in done.stderr
