"""The same numbers as the libraries people compare with, on data with ties and degenerate queries."""

from __future__ import annotations

from itertools import pairwise

import ir_measures
import lightgbm
import numpy as np
import pytest
import xgboost
from ir_measures import ScoredDoc
from sklearn.metrics import dcg_score, ndcg_score, roc_auc_score

import rankinite as rk


def drawn(seed: int, top_grade: int = 4, queries: int = 80):
    """Random queries: ties, one-document queries, queries without any or with only relevant documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 25, queries)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    grades = rng.integers(0, top_grade + 1, offsets[-1]).astype(np.float32)
    for query in range(0, queries, 8):
        grades[offsets[query] : offsets[query + 1]] = 0
        if query + 1 < queries:
            grades[offsets[query + 1] : offsets[query + 2]] = top_grade
    scores = rng.integers(0, 12, offsets[-1]) / 4.0 + 1.0
    qids = np.repeat(np.arange(queries), sizes)
    doc_ids = np.asarray([f"d{i}" for i in rng.permutation(offsets[-1])])
    data = rk.Dataset.from_rows(np.zeros((offsets[-1], 1)), grades, qids, ["1"], doc_ids=doc_ids)
    return data, scores


@pytest.mark.parametrize("cutoff", [None, 1, 5, 10])
def test_sklearn(cutoff):
    data, scores = drawn(1)
    ours = rk.evaluate(scores, data, [rk.NDCG(cutoff), rk.DCG(cutoff)], convention="sklearn")
    for query, (a, b) in enumerate(zip(data.offsets[:-1], data.offsets[1:], strict=True)):
        if b - a > 1:  # scikit-learn refuses one-document queries
            truth, given = data.grades[None, a:b], scores[None, a:b]
            assert ours[rk.DCG(cutoff)].per_query[query] == pytest.approx(dcg_score(truth, given, k=cutoff), abs=1e-9)
            assert ours[rk.NDCG(cutoff)].per_query[query] == pytest.approx(ndcg_score(truth, given, k=cutoff), abs=1e-9)


@pytest.mark.parametrize("relevant", [1, 3])
def test_auc_of_sklearn(relevant):
    data, scores = drawn(9)
    ours = rk.evaluate(scores, data, rk.AUC(relevant), convention=rk.Convention("all", skip_one_grade=False)).results[0]
    for value, (a, b) in zip(ours.per_query, pairwise(data.offsets), strict=True):
        truth = data.grades[a:b] >= relevant
        if truth.all() or not truth.any():
            assert np.isnan(value)
        else:
            assert value == pytest.approx(roc_auc_score(truth, scores[a:b]))


IR_MEASURES = [
    (rk.NDCG(), ir_measures.nDCG),
    (rk.NDCG(10), ir_measures.nDCG @ 10),
    (rk.AP(), ir_measures.AP),
    (rk.AP(relevant=2), ir_measures.AP(rel=2)),
    (rk.AP(5), ir_measures.AP @ 5),
    (rk.RR(), ir_measures.RR),
    (rk.Precision(5), ir_measures.P @ 5),
    (rk.Recall(5), ir_measures.R @ 5),
    (rk.ERR(20), ir_measures.ERR @ 20),
]


@pytest.mark.parametrize(("ours", "theirs"), IR_MEASURES, ids=str)
def test_ir_measures(ours, theirs):
    data, scores = drawn(2)
    query = data.qids[data.query_of_row()]
    rows = list(zip(query.tolist(), data.doc_ids.tolist(), data.grades, scores, strict=True))
    qrels = [ir_measures.Qrel(q, d, int(g)) for q, d, g, _ in rows]
    run = [ScoredDoc(q, d, float(s)) for q, d, _, s in rows]
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([theirs], qrels, run)}
    result = rk.evaluate(scores, data, [ours], convention="trec")[ours]
    for qid, value in zip(data.qids.tolist(), result.per_query, strict=True):
        assert value == pytest.approx(expected[qid], abs=2e-5 if "ERR" in str(theirs) else 1e-9), qid


@pytest.mark.parametrize("metric", ["ndcg", "map"])
def test_lightgbm(metric):
    data, scores = drawn(3, top_grade=4 if metric == "ndcg" else 1)
    theirs: dict[str, dict[str, list[float]]] = {}
    group = np.diff(data.offsets)
    train = lightgbm.Dataset(np.zeros((data.rows, 1)), data.grades, group=group, init_score=scores, params={"verbose": -1})
    lightgbm.train(
        {"objective": "lambdarank", "metric": metric, "eval_at": [1, 5, 10], "verbose": -1, "num_threads": 1},
        train,
        num_boost_round=1,
        valid_sets=[train],
        callbacks=[lightgbm.record_evaluation(theirs)],
    )
    for cutoff in (1, 5, 10):
        ours = rk.NDCG(cutoff) if metric == "ndcg" else rk.AP(cutoff)
        mean = rk.evaluate(scores, data, [ours], convention="lightgbm")[ours].mean
        assert mean == pytest.approx(theirs["training"][f"{metric}@{cutoff}"][0], abs=1e-9)


@pytest.mark.parametrize("metric", ["ndcg", "map", "pre"])
def test_xgboost(metric):
    data, scores = drawn(4, top_grade=4 if metric == "ndcg" else 1)
    matrix = xgboost.DMatrix(np.zeros((data.rows, 1)), data.grades, group=np.diff(data.offsets), base_margin=scores, nthread=1)
    names = [f"{metric}@{k}" for k in (1, 5, 10)]
    objective = "rank:ndcg" if metric == "ndcg" else "rank:map"
    booster = xgboost.train({"objective": objective, "eval_metric": names, "nthread": 1}, matrix, num_boost_round=0)
    printed = dict(part.split(":") for part in booster.eval(matrix).split("\t")[1:])
    for cutoff in (1, 5, 10):
        ours = {"ndcg": rk.NDCG(cutoff), "map": rk.AP(cutoff), "pre": rk.Precision(cutoff)}[metric]
        mean = rk.evaluate(scores, data, [ours], convention="xgboost")[ours].mean
        assert mean == pytest.approx(float(printed[f"eval-{metric}@{cutoff}"]), abs=1e-6)
