"""Parity with ir-measures on a thousand rankings with ties, from the same files of judgements and runs.

ir-measures breaks ties by document id: trec_eval by falling ones, its Python providers by rising ones. Our convention ``trec``
does the former; for the latter the run is given to us with its ties resolved. The files have judged documents that are not
returned, returned ones that nobody judged, and queries without a relevant document.
"""

from __future__ import annotations

from itertools import permutations

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, Bpref, Judged, P, R, Rprec, SetF, SetP, SetR, Success, nDCG

import rankinite as rk
from rankinite.data.dataset import remember_judged_rows

QUERIES = 1000
EXPONENTIAL = {grade: 2**grade - 1 for grade in range(5)}
BY_FALLING_ID = {
    "ndcg_cut_10": nDCG @ 10,
    "nDCG(dcg='log2')": nDCG,
    "nDCG(gains='0/1/3/7/15')@5": nDCG(gains=EXPONENTIAL) @ 5,
    "map": AP,
    "map_cut_5": AP @ 5,
    "AP(rel=2)": AP(rel=2),
    "recip_rank": RR,
    "RR(rel=3)": RR(rel=3),
    "P_10": P @ 10,
    "P(rel=2)@5": P(rel=2) @ 5,
    "recall.5": R @ 5,
    "success_1": Success @ 1,
    "Success(rel=2)@5": Success(rel=2) @ 5,
    "Rprec": Rprec,
    "Rprec(rel=2)": Rprec(rel=2),
    "bpref": Bpref,
    "Bpref(rel=2)": Bpref(rel=2),
    "SetF": SetF,
    "SetF(rel=2)": SetF(rel=2),
    "SetP": SetP,
    "SetR": SetR,
}
"""Our text → the measure of trec_eval, by way of ir-measures."""
BY_RISING_ID = {"RR@5": RR @ 5, "RR(rel=2)@10": RR(rel=2) @ 10, "Judged@5": Judged @ 5, "Judged": Judged}
"""Our text → a measure that ir-measures computes itself."""


def computed(measures, qrels, run):
    """Query, measure and value, by ir-measures. Measures with gains apart: beside them others may be given their gains."""
    with_gains = [measure for measure in measures if "gains" in measure.params]
    for together in ([measure for measure in measures if measure not in with_gains], with_gains):
        yield from ir_measures.iter_calc(together, qrels, run) if together else ()


class Files:
    """A thousand queries: judgements, and a run with ties and the same with the ties resolved by rising document id."""

    def __init__(self, folder):
        random = np.random.default_rng(11)
        self.qrels, self.run, self.resolved = (folder / name for name in ("qrels.txt", "run.txt", "resolved.txt"))
        judged, tied, resolved = [], [], []
        for query in range(QUERIES):
            documents = [f"d{number}" for number in random.permutation(100)[: random.integers(1, 25)]]
            highest = random.integers(0, 5)  # sometimes nothing is relevant
            fates = random.choice(["judged", "missed", "unjudged"], len(documents), p=[0.6, 0.15, 0.25])
            fates[0] = "judged"
            judged += [
                f"q{query} 0 {document} {random.integers(0, highest + 1)}\n"
                for document, fate in zip(documents, fates, strict=True)
                if fate != "unjudged"
            ]
            returned = [d for d, fate in zip(documents, fates, strict=True) if fate != "missed"]
            scores = {document: int(random.integers(0, 6)) for document in returned}
            order = sorted(returned, key=lambda document: (-scores[document], document))
            tied += [f"q{query} Q0 {document} 1 {scores[document]} x\n" for document in order]
            resolved += [f"q{query} Q0 {document} 1 {100 - place} x\n" for place, document in enumerate(order)]
        for path, lines in ((self.qrels, judged), (self.run, tied), (self.resolved, resolved)):
            path.write_text("".join(lines))

    def theirs(self, measures, run):
        """Every measure's value per query, by ir-measures."""
        found = {measure: {} for measure in measures}
        files = list(ir_measures.read_trec_qrels(str(self.qrels))), list(ir_measures.read_trec_run(str(run)))
        for metric in computed(measures, *files):
            found[metric.measure][metric.query_id] = metric.value
        return found

    def ours(self, texts, run):
        """The same by ours."""
        data, (scores,) = rk.read_trec(self.qrels, [run])
        found = rk.evaluate(scores, data, list(texts), convention="trec")
        return {text: dict(zip(data.qids.tolist(), found[text].per_query.tolist(), strict=True)) for text in texts}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return Files(tmp_path_factory.mktemp("trec"))


def assert_equal(ours, theirs, names):
    for text, measure in names.items():
        assert len(ours[text]) == QUERIES
        assert ours[text] == pytest.approx(theirs[measure], abs=1e-9), text


def test_a_thousand_rankings_with_ties(files):
    assert_equal(files.ours(BY_FALLING_ID, files.run), files.theirs(BY_FALLING_ID.values(), files.run), BY_FALLING_ID)
    assert_equal(files.ours(BY_RISING_ID, files.resolved), files.theirs(BY_RISING_ID.values(), files.run), BY_RISING_ID)


def test_a_thousand_rankings_without_ties(files):
    names = BY_FALLING_ID | BY_RISING_ID
    assert_equal(files.ours(names, files.resolved), files.theirs(names.values(), files.resolved), names)


def test_the_expectation_is_their_mean_over_all_orders():
    """Each order of the tied documents is a query of its own to ir-measures."""
    random = np.random.default_rng(12)
    qrels, run, ours = [], [], {}
    names = BY_FALLING_ID | BY_RISING_ID | {"nDCG(dcg='exp-log2')@3": nDCG(gains=EXPONENTIAL) @ 3}
    for case in range(25):
        count = int(random.integers(2, 6))
        grades, judged = random.integers(0, 4, count), random.random(count) < 0.7
        scores = np.sort(random.integers(0, 2, count))[::-1]
        judged[0], grades[0] = True, max(grades[0], 3)
        data = rk.read(np.zeros((count, 1)), grades=np.where(judged, grades, 0), group=[count])
        remember_judged_rows(data, judged)
        found = rk.evaluate(scores, data, list(names), convention=rk.Convention("expected", skip_one_grade=False, empty=0.0))
        ours[case] = {text: found[text].mean for text in names}
        first = int((scores == scores[0]).sum())
        orders = [a + b for a in permutations(range(first)) for b in permutations(range(first, count))]
        for number, order in enumerate(orders):
            qid = f"{case}-{number}"
            qrels += [ir_measures.Qrel(qid, f"d{row}", int(grades[row])) for row in range(count) if judged[row]]
            run += [ir_measures.ScoredDoc(qid, f"d{row}", float(count - place)) for place, row in enumerate(order)]
    drawn = {(measure, case): [] for measure in names.values() for case in ours}
    for metric in computed(names.values(), qrels, run):
        drawn[metric.measure, int(metric.query_id.partition("-")[0])].append(metric.value)
    for text, measure in names.items():
        for case, values in ours.items():
            assert values[text] == pytest.approx(np.mean(drawn[measure, case]), abs=1e-9), (text, case)
