"""Models from elsewhere on the command line; the features of some have no names."""

from __future__ import annotations

import json
import pickle

import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from oracles.foreign_models import onnx_file, onnx_regressor, ranklib_text, solr_trees
from oracles.trees import random_forest


@pytest.fixture(scope="module")
def models(files):
    """A model of each library, trained on arrays, and its own scores of the test data."""
    train, test = rk.read(files.train), rk.read(files.test)
    sizes = np.diff(train.offsets)
    settings = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}
    first = lightgbm.train(settings, lightgbm.Dataset(train.features, train.grades, group=sizes), 8)
    first.save_model(files.folder / "lightgbm.txt")
    matrix = xgboost.DMatrix(train.features, train.grades)
    matrix.set_group(sizes)
    second = xgboost.train({"objective": "rank:ndcg", "max_depth": 3, "nthread": 1}, matrix, 8)
    second.save_model(files.folder / "xgboost.json")
    return {
        files.folder / "lightgbm.txt": first.predict(test.features),
        files.folder / "xgboost.json": second.predict(xgboost.DMatrix(test.features)),
    }


def test_they_score_as_their_library_does(run, files, models):
    for path, expected in models.items():
        done = run("score", path, files.test)
        assert done.code == 0
        assert [float(line) for line in done.out.split()] == pytest.approx(expected, rel=2e-6, abs=2e-6)
        assert f"{path}: the model's features" in done.err
        assert "by position" in done.err


def test_they_are_evaluated_and_compared(run, files, models):
    test = rk.read(files.test)
    first, second = models
    done = run("evaluate", first, files.test, "--json")
    expected = rk.evaluate(models[first], test, ["ndcg@10"])[rk.NDCG(10)].mean
    assert json.loads(done.out)["measures"]["ndcg@10"]["mean"] == pytest.approx(expected, abs=1e-12)
    done = run("compare", f"a={first}", f"b={second}", f"own={files.model}", "--data", files.test)
    assert done.code == 0
    assert done.err.count("by position") == 2


def test_they_are_combined_and_trained_from(run, files, models, settings, tmp_path):
    first, second = models
    assert run("combine", first, second, "--data", files.valid, "--out", tmp_path / "both.rankinite").code == 0
    assert rk.load(tmp_path / "both.rankinite").feature_names == tuple("123456")
    done = run("train", files.train, "--base", first, "--out", tmp_path / "grown.rankinite", *settings)
    assert done.code == 0
    grown = rk.load(tmp_path / "grown.rankinite")
    assert isinstance(grown, rk.Forest)
    assert (grown.truncate(8).score(rk.read(files.test)) == models[first]).all()


def test_beside_them_a_short_file_still_gets_what_our_own_need(run, files, models, tmp_path):
    """Its last feature is 0 everywhere, so that its lines do not name it."""
    lines = [
        " ".join(word for word in line.split() if not word.startswith("6:")) for line in files.test.read_text().splitlines()
    ]
    (tmp_path / "short.txt").write_text("\n".join(lines))
    done = run("compare", f"a={next(iter(models))}", f"own={files.model}", "--data", tmp_path / "short.txt")
    assert done.code == 0
    assert "'6' is not in it" in done.err
    assert "'1' … '6'" in done.err


def test_other_data_are_refused(run, files, models, tmp_path):
    rk.write(rk.read(files.test).select_features([0, 1, 2, 3]), tmp_path / "few.txt")
    path = next(iter(models))
    for arguments in (("score", path, tmp_path / "few.txt"), ("evaluate", path, tmp_path / "few.txt")):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "")
        assert "'Column_0', 'Column_1'" in done.err


@pytest.fixture(scope="module")
def stopped(files):
    """A model of XGBoost that stopped early, and its scores of the test data: up to its best round, and by all trees."""
    train, valid, test = (rk.read(path) for path in (files.train, files.valid, files.test))
    ranker = xgboost.XGBRanker(n_estimators=60, early_stopping_rounds=5, max_depth=3, n_jobs=1, eval_metric="ndcg@5")
    queries = [np.repeat(np.arange(data.queries), np.diff(data.offsets)) for data in (train, valid)]
    ranker.fit(
        train.features, train.grades, qid=queries[0], eval_set=[(valid.features, valid.grades)], eval_qid=[queries[1]],
        verbose=False,
    )  # fmt: skip
    path = files.folder / "stopped.json"
    ranker.save_model(path)
    return path, ranker.predict(test.features), ranker.get_booster().predict(xgboost.DMatrix(test.features))


def test_a_model_ends_at_its_best_round_and_a_note_says_so(run, files, stopped):
    path, best, every = stopped
    assert np.abs(best - every).max() > 0.01
    done = run("score", path, files.test)
    assert [float(line) for line in done.out.split()] == pytest.approx(best, rel=2e-6, abs=2e-6)
    assert f"{path}: training stopped early" in done.err
    assert f"all-trees:{path} takes all" in done.err
    done = run("score", f"all-trees:{path}", files.test)
    assert [float(line) for line in done.out.split()] == pytest.approx(every, rel=2e-6, abs=2e-6)
    assert "stopped early" not in done.err
    assert "stopped early" not in run("score", path, files.test, "--quiet").err


def test_all_trees_are_asked_for_wherever_a_ranker_is_named(run, files, stopped, settings, tmp_path):
    path, best, every = stopped
    means = {
        name: rk.evaluate(scores, rk.read(files.test), ["ndcg@10"])[rk.NDCG(10)].mean
        for name, scores in (("best", best), ("every", every))
    }
    done = run("compare", f"best={path}", f"every=all-trees:{path}", "--data", files.test, "--json")
    assert done.code == 0
    systems = json.loads(done.out)["systems"]
    assert {name: one["measures"]["ndcg@10"]["mean"] for name, one in systems.items()} == pytest.approx(means, abs=1e-12)
    done = run("evaluate", f"all-trees:{path}", files.test, "--json")
    assert json.loads(done.out)["measures"]["ndcg@10"]["mean"] == pytest.approx(means["every"], abs=1e-12)
    done = run("inspect", f"all-trees:{path}", "--json")
    whole = len(rk.load(path, all_trees=True))
    assert json.loads(done.out)["trees"] == whole
    out = tmp_path / "grown.rankinite"
    assert run("train", files.train, "--base", f"all-trees:{path}", "--out", out, *settings).code == 0
    assert rk.load(out).truncate(whole).score(rk.read(files.test).features) == pytest.approx(every, rel=2e-6, abs=2e-6)
    again = tmp_path / "again.rankinite"
    assert run("train", "--config", tmp_path / "grown.toml", "--out", again).code == 0
    assert again.read_bytes() == out.read_bytes()


def test_a_note_on_early_stopping_is_shown_by_inspect_too(run, stopped):
    done = run("inspect", stopped[0])
    assert "stopped early" in done.err
    assert "trees left out" in done.out


def test_a_best_round_that_there_is_not_is_bad_input(run, files, stopped, tmp_path):
    content = json.loads(stopped[0].read_text())
    content["learner"]["attributes"]["best_iteration"] = "1000"
    (tmp_path / "wrong.json").write_text(json.dumps(content))
    done = run("score", tmp_path / "wrong.json", files.test)
    assert (done.code, done.out) == (2, "")
    assert "all-trees:FILE" in done.err
    done = run("score", f"all-trees:{tmp_path / 'nowhere.json'}", files.test)
    assert done.code == 2
    assert f"{tmp_path / 'nowhere.json'}" in done.err


def test_python_and_shell_match_features_alike(run, files, models):
    test = rk.read(files.test)
    for path in models:
        done = run("evaluate", path, files.test, "--json")
        found = rk.evaluate(rk.load(path), test, "ndcg@10")
        assert json.loads(done.out)["measures"]["ndcg@10"]["mean"] == found["ndcg@10"].mean
        assert found.notes[0].replace(test.source, str(files.test)) in done.err


def test_models_of_engines_are_compared(run, files, tmp_path):
    forest = random_forest(1, trees=4, features=6)
    (tmp_path / "ranklib.txt").write_text(ranklib_text(forest))
    (tmp_path / "solr.json").write_text(json.dumps(solr_trees(forest)))
    (tmp_path / "trees.onnx").write_bytes(onnx_file([onnx_regressor(forest)], 6))
    paths = [tmp_path / name for name in ("ranklib.txt", "solr.json", "trees.onnx")]
    done = run("compare", *paths, "--data", files.test, "--json")
    assert done.code == 0
    assert done.err.count("by position") == 2  # RankLib's numbers are the names
    assert len(json.loads(done.out)["systems"]) == 3


@pytest.mark.parametrize("verb", ["score", "evaluate", "inspect"])
def test_a_pickle_is_told_from_scores(run, files, tmp_path, verb):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps({"model": 1}))
    done = run(verb, tmp_path / "model.pkl", *([] if verb == "inspect" else [files.test]))
    assert done.code == 2
    assert "pickle" in done.err
    assert "save_model" in done.err
