"""On real judged data, found through RANKINITE_DATA: counts, another parser's values, folds, and measures."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import rankinite as rk

FOLDER = os.environ.get("RANKINITE_DATA")
pytestmark = pytest.mark.skipif(not FOLDER, reason="RANKINITE_DATA does not name a folder with real judged data")
ROOT = Path(FOLDER or ".")
CLASSIC = ("cacm", "cisi", "cran", "lisa", "med", "npl", "time")


@pytest.mark.parametrize(("name", "queries", "rows", "top_grade"), [("mq2007", 1692, 69_623, 2), ("mq2008", 784, 15_211, 2)])
def test_letor_sets_have_their_published_sizes(name, queries, rows, top_grade):
    data = rk.read(sorted((ROOT / name).glob("S*.txt.gz")))
    assert (data.queries, data.rows, len(data.feature_names)) == (queries, rows, 46)
    assert (data.grades.min(), data.grades.max()) == (0, top_grade)
    assert data.doc_ids is not None
    assert data.doc_ids[0].startswith("GX")


def test_classic_collections_share_their_features():
    sets = [rk.read(ROOT / "classic" / f"{name}.txt.gz") for name in CLASSIC]
    together = rk.concat(sets, prefixes=[f"{name}:" for name in CLASSIC])
    assert (together.queries, together.rows, len(together.feature_names)) == (572, 56_896, 32)


def test_values_equal_those_of_another_parser():
    path = ROOT / "mq2008" / "S1.txt.gz"
    features, grades, qids = load_svmlight_file(str(path), query_id=True)
    data = rk.read(path)
    assert np.array_equal(data.features, features.toarray().astype(np.float32))
    assert np.array_equal(data.grades, grades.astype(np.float32))
    assert data.qids[data.query_of_row()].tolist() == qids.astype(str).tolist()


def test_rotating_folds_use_every_query_once_for_testing():
    folds = rk.rotating_folds([rk.read(ROOT / "mq2008" / f"S{i}.txt.gz") for i in range(1, 6)])
    tested = [qid for fold in folds for qid in fold.test.qids.tolist()]
    assert len(folds) == 5
    assert len(tested) == len(set(tested)) == 784
    for fold in folds:
        assert not {*fold.train.qids.tolist()} & {*fold.valid.qids.tolist(), *fold.test.qids.tolist()}


def test_written_and_read_back(tmp_path):
    data = rk.read(ROOT / "mq2008" / "S1.txt.gz")
    for name in ("x.txt.zst", "x.parquet"):
        rk.write(data, tmp_path / name)
        back = rk.read(tmp_path / name)
        assert np.array_equal(back.features, data.features)
        assert np.array_equal(back.offsets, data.offsets)
        assert back.doc_ids.tolist() == data.doc_ids.tolist()


def test_features_rank_better_than_chance_and_ties_matter():
    data = rk.read(sorted((ROOT / "mq2008").glob("S*.txt.gz")))
    nothing = rk.evaluate(np.zeros(data.rows), data, "ndcg@10")["ndcg@10"]
    best = max(rk.evaluate(rk.Feature(f), data, "ndcg@10")["ndcg@10"].interval[0] for f in range(46))
    assert best > nothing.interval[1]
    rules = ("lowest", "expected", "highest")
    low, middle, high = (rk.evaluate(rk.Feature(0), data, "ndcg@10", ties=t)["ndcg@10"].mean for t in rules)
    assert low < middle < high  # real features tie: elsewhere the order of rows decides


@pytest.mark.parametrize("name", ["mq2007", "mq2008", "classic"])
def test_real_features_do_not_look_like_ids(name):
    rng = np.random.default_rng(0)
    for path in sorted((ROOT / name).glob("*.txt.gz")):
        data = rk.read(path)
        for queries in (data.queries, 10, 15, 40):
            assert rk.describe(data.select_queries(rng.permutation(data.queries)[:queries])).odd_features == ()
