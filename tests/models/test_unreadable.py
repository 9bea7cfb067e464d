"""Models in forms that are not read: each is recognised by what its library writes, and answered with what to do."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import re
import zipfile
import zlib

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from oracles.foreign_models import solr_trees
from oracles.trees import random_forest
from refusals import refused

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3))
Y = X[:, 0] + RANDOM.normal(size=80)


def xgboost_model() -> xgboost.Booster:
    return xgboost.train({"max_depth": 2, "nthread": 1}, xgboost.DMatrix(X, Y), 2)


def lightgbm_model() -> lightgbm.Booster:
    return lightgbm.train({"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}, lightgbm.Dataset(X, Y), 2)


def catboost_file(folder) -> bytes:
    settings = {"iterations": 2, "depth": 2, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    catboost.CatBoost(settings).fit(X, Y).save_model(str(folder / "model.cbm"))
    return (folder / "model.cbm").read_bytes()


def joblib_file(compress: int) -> bytes:
    import joblib

    content = io.BytesIO()
    joblib.dump({"model": lightgbm_model(), "rows": X}, content, compress=compress)
    return content.getvalue()


def text_dump(folder) -> bytes:
    xgboost_model().dump_model(folder / "dump.txt")
    return (folder / "dump.txt").read_bytes()


def json_dump(folder) -> bytes:
    xgboost_model().dump_model(folder / "dump.json", dump_format="json")
    return (folder / "dump.json").read_bytes()


def archive() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("data.pkl", b"x")
    return content.getvalue()


TREES = [json.loads(tree) for tree in xgboost_model().get_dump(dump_format="json")]
SOLR = solr_trees(random_forest(1, trees=1))
FORMS = {
    "pickle": (lambda _: pickle.dumps(lightgbm_model()), "pickle", "save_model"),
    "old pickle": (lambda _: pickle.dumps({"model": 1}, protocol=0), "pickle", "save_model"),
    "oldest pickle of an object": (lambda _: pickle.dumps(np.zeros(3), protocol=1), "pickle", "save_model"),
    "joblib": (lambda _: joblib_file(0), "pickle", "save_model"),
    "joblib, compressed": (lambda _: joblib_file(3), "pickle", "save_model"),
    "pickle, gzip": (lambda _: gzip.compress(pickle.dumps(lightgbm_model())), "pickle", "save_model"),
    "pickle, zlib": (lambda _: zlib.compress(pickle.dumps(X), 9), "pickle", "save_model"),
    "cbm": (catboost_file, "CatBoost", 'format="json"'),
    "XGBoost text": (text_dump, "text dump", "save_model"),
    "XGBoost text of a tree": (lambda _: xgboost_model().get_dump()[0].encode(), "text dump", "save_model"),
    "XGBoost JSON": (json_dump, "JSON dump", "save_model"),
    "xgboost+json": (lambda _: json.dumps({"objective": "rank:ndcg", "splits": TREES}).encode(), "JSON dump", "save_model"),
    "XGBoost binary": (lambda _: b"binf" + bytes(200), "former binary", "model.json"),
    "LightGBM dump": (lambda _: json.dumps(lightgbm_model().dump_model()).encode(), "dump_model", "save_model"),
    "PMML": (lambda _: b'<?xml version="1.0"?>\n<!-- a -->\n<PMML version="4.4"></PMML>', "PMML", "ONNX"),
    "RankLib XML": (lambda _: b'<ensemble>\n<tree id="1" weight="0.1">', "RankLib", "## LambdaMART"),
    "Vespa": (lambda _: b"if (bm25(title) < 0.5, 1, 2) + if(x < 1, 2, 3)", "ranking expression", "Import"),
    "zip": (lambda _: archive(), "zip", "Unpack"),
    "HDF5": (lambda _: b"\x89HDF\r\n\x1a\n" + bytes(90), "HDF5", "scores"),
    "Solr's list": (lambda _: json.dumps([SOLR, SOLR]).encode(), "list", "Solr"),
    "Solr's store": (lambda _: json.dumps({"responseHeader": {}, "models": [SOLR]}).encode(), "Solr", "one"),
    "ES-LTR": (
        lambda _: json.dumps({"model": {"name": "a", "model": {"type": "model/ranklib", "definition": ""}}}).encode(),
        "uploaded",
        "model/ranklib",
    ),
    "ES-LTR, bare": (
        lambda _: json.dumps({"name": "a", "model": {"type": "model/linear", "definition": "{}"}}).encode(),
        "uploaded",
        "model/ranklib",
    ),
    "Elastic": (lambda _: json.dumps({"definition": {"trained_model": {}}}).encode(), "Elasticsearch", "Import"),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_it_is_and_what_to_do(form, tmp_path):
    make, what, remedy = FORMS[form]
    path = tmp_path / "model"
    path.write_bytes(make(tmp_path))
    with refused(rk.DataError, place=str(path)) as caught:
        rk.load(path)
    assert what in caught.value.problem
    assert remedy in caught.value.remedy


def test_pickles_are_never_run(tmp_path):
    class Attack:
        def __reduce__(self):
            return (open, (str(tmp_path / "attacked"), "w"))

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        (tmp_path / "model").write_bytes(pickle.dumps(Attack(), protocol=protocol))
        with refused(rk.DataError):
            rk.load(tmp_path / "model")
    assert not (tmp_path / "attacked").exists()


def test_an_unknown_object_is_told_what_models_have(tmp_path):
    (tmp_path / "model.json").write_text('{"weights": [1, 2], "bias": 3}')
    with refused(rk.DataError, place="model.json", value=["weights", "bias"]) as caught:
        rk.load(tmp_path / "model.json")
    for maker in ("XGBoost", "CatBoost", "Solr"):
        assert maker in caught.value.rule


@pytest.mark.parametrize("before", ["", " ", "\n\t", "\ufeff"])
def test_json_may_begin_with_blanks(before, tmp_path):
    xgboost_model().save_model(tmp_path / "model.json")
    plain = rk.load(tmp_path / "model.json")
    (tmp_path / "model.json").write_text(before + (tmp_path / "model.json").read_text(), encoding="utf-8")
    assert (rk.load(tmp_path / "model.json").score(X) == plain.score(X)).all()


def live_models() -> dict[str, object]:
    """Models in memory, and those of classes that inherit from them."""
    group, grades = [40, 40], (Y > 0).astype(int)

    class Own(xgboost.XGBRanker):
        pass

    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
    return {
        "LightGBM's booster": lightgbm_model(),
        "LightGBM's estimator": lightgbm.LGBMRanker(n_estimators=2, verbose=-1, n_jobs=1).fit(X, grades, group=group),
        "XGBoost's booster": xgboost_model(),
        "XGBoost's estimator": Own(n_estimators=2, n_jobs=1).fit(X, grades, group=group),
        "CatBoost": catboost.CatBoostRanker(iterations=2, **quiet).fit(X, grades, group_id=np.repeat([0, 1], group)),
    }


@pytest.mark.parametrize("name", live_models())
def test_a_model_in_memory_is_answered_with_the_calls_that_save_and_load_it(tmp_path, monkeypatch, name: str) -> None:
    model = live_models()[name]
    with refused(rk.DataError, value=type(model).__name__) as caught:
        rk.load(model)
    monkeypatch.chdir(tmp_path)
    save, file = re.fullmatch(r"Save it with (model\..+), and load '(.+)'", caught.value.remedy).groups()
    eval(save, {"model": model})
    assert len(rk.load(file)) == 2


def test_the_text_of_a_model_is_answered_with_a_file() -> None:
    text = lightgbm_model().model_to_string()
    with refused(rk.DataError, value=text):
        rk.load(text)
