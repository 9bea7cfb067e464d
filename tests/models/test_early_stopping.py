"""Models that were trained with early stopping: which of the trees in a file count."""

from __future__ import annotations

import json

import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from refusals import refused

RANDOM = np.random.default_rng(0)
QID = np.repeat(np.arange(40), 15)
GROUP = [15] * 40


def judged():
    features = RANDOM.normal(size=(600, 6)).astype(np.float32)
    return features, np.clip(np.round(features[:, 0] + 2.0 * RANDOM.normal(size=600)), 0, 4)


(X, Y), (X_VALID, Y_VALID) = judged(), judged()


def stopped_early(**settings):
    """A ranker of XGBoost whose best iteration is not its last."""
    ranker = xgboost.XGBRanker(
        n_estimators=60, early_stopping_rounds=5, max_depth=3, n_jobs=1, eval_metric="ndcg@5", random_state=0, **settings
    )
    ranker.fit(X, Y, qid=QID, eval_set=[(X_VALID, Y_VALID)], eval_qid=[QID], verbose=False)
    assert 0 < ranker.best_iteration < ranker.get_booster().num_boosted_rounds() - 1
    return ranker


def changed(path, change):
    """The model of a JSON file with its learner changed."""
    content = json.loads(path.read_text())
    change(content["learner"])
    path.write_text(json.dumps(content))


SETTINGS = [
    {},
    {"num_parallel_tree": 3, "subsample": 0.7},
    {"booster": "dart", "rate_drop": 0.3},
]


@pytest.mark.parametrize("ending", ["json", "ubj"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_scores_are_those_of_xgbranker_and_of_the_booster_if_asked(settings, ending, tmp_path):
    ranker, path = stopped_early(**settings), tmp_path / f"model.{ending}"
    ranker.save_model(path)
    best, every = ranker.predict(X_VALID), ranker.get_booster().predict(xgboost.DMatrix(X_VALID))
    assert np.abs(best - every).max() > 0.1
    forest, whole = rk.load(path), rk.load(path, all_trees=True)
    assert forest.score(X_VALID) == pytest.approx(best, rel=2e-6, abs=2e-6)
    assert whole.score(X_VALID) == pytest.approx(every, rel=2e-6, abs=2e-6)
    parallel = settings.get("num_parallel_tree", 1)
    assert len(forest) == parallel * (ranker.best_iteration + 1)
    assert len(whole) == parallel * ranker.get_booster().num_boosted_rounds()
    assert forest.settings["best_iteration"] == ranker.best_iteration
    assert forest.settings["trees_left_out"] == len(whole) - len(forest)
    assert "trees_left_out" not in whole.settings


def test_files_that_do_not_list_the_trees_of_each_iteration_have_as_many_in_all(tmp_path):
    ranker, path = stopped_early(num_parallel_tree=3, subsample=0.7), tmp_path / "model.json"
    ranker.save_model(path)
    forest = rk.load(path)
    changed(path, lambda learner: learner["gradient_booster"]["model"].pop("iteration_indptr"))
    assert rk.load(path).score(X).tobytes() == forest.score(X).tobytes()


def test_what_was_kept_is_saved_as_it_is(tmp_path):
    stopped_early().save_model(tmp_path / "model.json")
    forest = rk.load(tmp_path / "model.json")
    forest.save(tmp_path / "own.rankinite")
    for again in (rk.load(tmp_path / "own.rankinite"), rk.load(tmp_path / "own.rankinite", all_trees=True)):
        assert again.score(X).tobytes() == forest.score(X).tobytes()
        assert again.settings == forest.settings


def test_a_booster_that_kept_only_its_best_rounds_has_all_its_trees(tmp_path):
    train, valid = xgboost.DMatrix(X, Y, qid=QID), xgboost.DMatrix(X_VALID, Y_VALID, qid=QID)
    stopping = xgboost.callback.EarlyStopping(rounds=5, save_best=True)
    settings = {"objective": "rank:ndcg", "max_depth": 3, "eval_metric": "ndcg@5", "nthread": 1}
    booster = xgboost.train(settings, train, 60, evals=[(valid, "valid")], callbacks=[stopping], verbose_eval=False)
    booster.save_model(tmp_path / "model.json")
    forest = rk.load(tmp_path / "model.json")
    assert len(forest) == booster.num_boosted_rounds() == booster.best_iteration + 1
    assert forest.settings["trees_left_out"] == 0
    assert forest.score(X) == pytest.approx(booster.predict(train), rel=2e-6, abs=2e-6)


@pytest.mark.parametrize("best", ["8", "-1", "2.0", "soon", "", 3, None])
def test_a_best_iteration_that_does_not_exist_is_refused(best, tmp_path):
    path = tmp_path / "model.json"
    ranker = stopped_early()
    ranker.save_model(path)
    changed(path, lambda learner: learner["attributes"].update(best_iteration=best))
    assert ranker.get_booster().num_boosted_rounds() == 8
    with refused(rk.DataError, place="model.json: learner.attributes.best_iteration", value=best) as caught:
        rk.load(path)
    assert "all_trees=True" in caught.value.remedy
    assert "all-trees:" in caught.value.shell_remedy
    assert len(rk.load(path, all_trees=True)) == 8


def test_wrong_bounds_of_iterations_are_refused(tmp_path):
    stopped_early().save_model(tmp_path / "model.json")
    changed(tmp_path / "model.json", lambda learner: learner["gradient_booster"]["model"].update(iteration_indptr=[99] * 9))
    with refused(rk.DataError, place="gradient_booster.model"):
        rk.load(tmp_path / "model.json")


def lightgbm_stopped_early():
    """A booster of LightGBM that still has the trees after its best iteration."""
    train = lightgbm.Dataset(X, Y, group=GROUP)
    valid = lightgbm.Dataset(X_VALID, Y_VALID, group=GROUP, reference=train)
    settings = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "verbosity": -1, "num_threads": 1}
    booster = lightgbm.train(
        settings, train, 60, valid_sets=[valid], callbacks=[lightgbm.early_stopping(5, verbose=False)],
        keep_training_booster=True,
    )  # fmt: skip
    assert 0 < booster.best_iteration < booster.num_trees()
    return booster


@pytest.mark.parametrize("iterations", [None, -1, 1])
@pytest.mark.parametrize("all_trees", [False, True])
def test_lightgbm_decides_when_it_saves_and_its_files_do_not_say_which_was_best(iterations, all_trees, tmp_path):
    booster, path = lightgbm_stopped_early(), tmp_path / "model.txt"
    booster.save_model(path, num_iteration=iterations)
    saved = {None: booster.best_iteration, -1: booster.num_trees(), 1: 1}[iterations]
    again = lightgbm.Booster(model_file=path)
    assert again.best_iteration == -1  # LightGBM does not know either
    forest = rk.load(path, all_trees=all_trees)
    assert len(forest) == again.num_trees() == saved
    assert (forest.score(X) == again.predict(X)).all()
    if iterations is None:
        assert (forest.score(X) == booster.predict(X)).all()
