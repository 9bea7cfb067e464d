"""Queries that are missing in a run and queries that nobody judged: counted, named, and valued as other tools value them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval

import rankinite as rk

MEASURES = {"ap": ir_measures.AP, "ndcg@10": ir_measures.nDCG @ 10, "p@5": ir_measures.P @ 5, "rr": ir_measures.RR}


@dataclass(frozen=True)
class Trec:
    """Judgements and a run as files, and as what other tools take."""

    qrels: Path
    run: Path
    judged: dict[str, dict[str, int]]
    returned: dict[str, dict[str, float]]


def drawn(folder: Path, seed: int) -> Trec:
    """Ten judged queries; some are missing in the run, which has other queries and documents that nobody judged."""
    rng = np.random.default_rng(seed)
    judged = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in rng.permutation(30)[:12]} for q in range(10)}
    asked = [f"q{q}" for q in rng.permutation(14)[:9]]
    returned = {
        qid: {f"d{d}": float(score) for d, score in zip(rng.permutation(30)[:15], rng.random(15), strict=True)} for qid in asked
    }
    lines = [f"{qid} 0 {doc} {grade}\n" for qid, own in judged.items() for doc, grade in own.items()]
    (folder / "q.qrels").write_text("".join(lines))
    lines = [f"{qid} Q0 {doc} 1 {score!r} t\n" for qid, own in returned.items() for doc, score in own.items()]
    (folder / "r.run").write_text("".join(lines))
    return Trec(folder / "q.qrels", folder / "r.run", judged, returned)


@pytest.mark.parametrize("seed", range(4))
def test_what_does_not_meet_is_counted(tmp_path, seed):
    trec = drawn(tmp_path, seed)
    data, (scores,) = rk.read_trec(trec.qrels, [trec.run])
    coverage = rk.evaluate(scores, data, "map", convention="trec").coverage
    met = [qid for qid in trec.returned if qid in trec.judged]
    assert coverage.queries == len(trec.judged)
    assert coverage.unanswered == tuple(qid for qid in trec.judged if qid not in trec.returned)
    assert coverage.unjudged_queries == tuple(qid for qid in trec.returned if qid not in trec.judged)
    assert coverage.documents == sum(len(trec.returned[qid]) for qid in met)
    assert coverage.unjudged_documents == sum(doc not in trec.judged[qid] for qid in met for doc in trec.returned[qid])


@pytest.mark.parametrize("seed", range(4))
def test_queries_that_the_run_lacks_count_0_as_in_ir_measures_and_trec_eval_c(tmp_path, seed):
    trec = drawn(tmp_path, seed)
    data, (scores,) = rk.read_trec(trec.qrels, [trec.run])
    ours = rk.evaluate(scores, data, list(MEASURES), convention="trec")
    theirs = ir_measures.calc_aggregate(list(MEASURES.values()), trec.judged, trec.returned)
    for name, measure in MEASURES.items():
        assert ours[name].mean == pytest.approx(theirs[measure], abs=1e-9)
    # trec_eval without -c leaves them out: over the queries that meet, the sums are the same.
    met = pytrec_eval.RelevanceEvaluator(trec.judged, {"map"}).evaluate(trec.returned)
    assert ours.coverage.unanswered
    assert set(met) == set(trec.judged) - set(ours.coverage.unanswered)
    assert ours["ap"].mean * len(trec.judged) == pytest.approx(sum(values["map"] for values in met.values()), abs=1e-9)


def test_results_warn_in_text_and_json(tmp_path):
    trec = drawn(tmp_path, 1)
    data, (scores,) = rk.read_trec(trec.qrels, [trec.run])
    result = rk.evaluate(scores, data, "map", convention="trec")
    lacking, strange = result.coverage.unanswered, result.coverage.unjudged_queries
    first, second = result.warnings
    assert first.startswith(f"No document is returned for {len(lacking)} of 10 judged queries ('{lacking[0]}'")
    assert second.startswith(f"Queries of the run that nobody judged are left out: {len(strange)} ('{strange[0]}'")
    assert all(warning in str(result) for warning in result.warnings)
    stored = json.loads(result.to_json())
    assert stored["warnings"] == list(result.warnings)
    assert stored["coverage"]["unanswered"] == list(lacking)
    both = rk.compare({"run": scores, "all": data.in_row_order(np.zeros(data.rows))}, data, "map", convention="trec")
    assert [warning.split(":")[0] for warning in both.warnings] == ["run", "run"]
    assert all(warning in str(both) for warning in both.warnings)
    assert json.loads(both.to_json())["warnings"] == list(both.warnings)


def test_scores_without_an_answer_to_a_query_are_counted_too():
    data = rk.read(np.zeros((4, 1)), grades=[0, 1, 0, 1], qid=["a", "a", "b", "b"])
    result = rk.evaluate([1.0, -np.inf, -np.inf, -np.inf], data, "ndcg")
    assert result.coverage.unanswered == ("b",)
    assert result["ndcg"].per_query[1] == 0
    assert rk.evaluate(rk.Feature(0), data, "ndcg").warnings == ()


def test_documents_by_other_names_are_suspected(tmp_path):
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "r").write_text("1 Q0 doc-a 1 2 t\n1 Q0 doc-b 2 1 t\n")
    data, (scores,) = rk.read_trec(tmp_path / "q", [tmp_path / "r"])
    (warning,) = rk.evaluate(scores, data, "map").warnings
    assert warning.startswith("None of the 2 documents returned for judged queries is judged.")
