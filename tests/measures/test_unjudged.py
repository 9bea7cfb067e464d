"""Documents that nobody judged: as a TREC run returns them, and as rows with a negative grade."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from rankinite.sweep.sweep import Sweep

SEEING = ["judged@3", "judged", "bpref", "auc"]
QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 0\nq1 0 d 2\nq2 0 a 1\nq2 0 b 0\nq2 0 s -2\n"
RUN = (
    "q1 Q0 x 1 9 r\nq1 Q0 b 2 8 r\nq1 Q0 a 3 7 r\nq1 Q0 y 4 6 r\nq1 Q0 c 5 5 r\n"  # d is missing
    "q2 Q0 s 1 3 r\nq2 Q0 a 2 2 r\n"
)
OTHER = "q1 Q0 x 1 9 o\nq1 Q0 z 2 8 o\nq2 Q0 b 1 1 o\n"
VALUES = {
    "judged@3": [2 / 3, 1 / 2],
    "judged": [3 / 5, 1 / 2],
    "bpref": [(1 - 1 / 2) / 2, 1.0],
    "auc": [(1 + 0) / 4, 1.0],  # a above c; d, which is not returned, is above neither
}


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / name for name in ("qrels.txt", "run.txt", "other.txt")]
    for path, text in zip(paths, (QRELS, RUN, OTHER), strict=True):
        path.write_text(text)
    return paths


def test_a_run_knows_what_is_judged_whatever_other_runs_return(files):
    qrels, run, other = files
    for runs in ([run], [run, other]):
        data, scores = rk.read_trec(qrels, runs)
        found = rk.evaluate(scores[0], data, SEEING, convention="trec")
        for text, values in VALUES.items():
            assert found[text].per_query == pytest.approx(values), text
    for same in (np.asarray(scores[0]), 2 * scores[0]):
        assert rk.evaluate(same, data, SEEING, convention="trec").to_csv() == found.to_csv()
    second = rk.evaluate(scores[0][data.offsets[1] :], data.select_queries(["q2"]), SEEING, convention="trec")
    for text, values in VALUES.items():
        assert second[text].mean == pytest.approx(values[1]), text
    compared = rk.compare({"run": scores[0], "other": scores[1]}, data, SEEING, convention="trec")
    assert compared.evaluations["run"]["judged@3"].per_query == pytest.approx(VALUES["judged@3"])
    assert compared.evaluations["other"]["judged@3"].per_query == pytest.approx([0.0, 1.0])


def test_other_measures_take_unjudged_documents_for_irrelevant_ones(files):
    qrels, run, _ = files
    data, (scores,) = rk.read_trec(qrels, [run])
    asked = ["ndcg@10", "ap", "p@3", "rprec", "success@1"]
    alone = rk.evaluate(scores, data, asked)
    beside = rk.evaluate(scores, data, [*asked, *SEEING])
    plain = rk.evaluate(np.asarray(scores), data, asked)
    for text in asked:
        assert np.array_equal(alone[text].per_query, beside[text].per_query)
        assert np.array_equal(alone[text].per_query, plain[text].per_query)


def test_exact_weights_are_found_by_judged_documents(tmp_path):
    """Of a thousand ratios none gives more, by an evaluation that knows what is unjudged."""
    random = np.random.default_rng(4)
    documents = [(f"q{q}", f"d{d}") for q in range(12) for d in range(8)]
    judged = "".join(f"{q} 0 {d} {random.integers(0, 2)}\n" for q, d in documents if random.random() < 0.6)
    (tmp_path / "qrels.txt").write_text(judged)
    for name in "ab":
        lines = [f"{q} Q0 {d} 1 {random.normal():.6f} {name}\n" for q, d in documents]
        (tmp_path / name).write_text("".join(lines))
    data, (a, b) = rk.read_trec(tmp_path / "qrels.txt", [tmp_path / "a", tmp_path / "b"])
    for measure in ("bpref", "auc"):
        alpha, best = Sweep(data, measure).curve(a, b, 0, 5).best()
        assert best == pytest.approx(rk.evaluate(a + alpha * b, data, measure)[measure].mean, abs=1e-12)
        for other in np.linspace(0.001, 5, 200):
            assert rk.evaluate(a + other * b, data, measure)[measure].mean <= best + 1e-12


def test_rows_with_a_negative_grade_are_unjudged():
    grades, scores = [-1, 0, 1, -1, 0], [5.0, 4, 3, 2, 1]
    data = rk.read(np.zeros((5, 1)), grades=grades, group=[5], unjudged="keep")
    found = rk.evaluate(scores, data, SEEING)
    for text, value in {"judged@3": 2 / 3, "judged": 3 / 5, "bpref": 0.0, "auc": 1 / 2}.items():
        assert found[text].mean == pytest.approx(value), text
    dropped = rk.read(np.zeros((5, 1)), grades=grades, group=[5], unjudged="drop")
    for text in ("bpref", "auc"):
        assert rk.evaluate([4.0, 3, 1], dropped, text)[text].mean == found[text].mean
    assert rk.evaluate([4.0, 3, 1], dropped, "judged@3")["judged@3"].mean == 1.0
