"""What the named conventions change, on cases worked out by hand."""

from __future__ import annotations

from itertools import pairwise
from math import log2

import numpy as np
import pytest

import rankinite as rk
from rankinite.measures import CONVENTIONS
from refusals import refused

# Query a: no relevant document; b: all relevant; c: grades 0 and 2, tied scores, the better one second.
DATA = rk.read(np.zeros((6, 1)), grades=[0, 0, 1, 1, 0, 2], qid=["a", "a", "b", "b", "c", "c"])
SCORES = np.asarray([1.0, 2.0, 1.0, 2.0, 1.0, 1.0])
SECOND = 1 / log2(3)


@pytest.mark.parametrize(
    ("convention", "values"),
    [
        ("rankinite", [np.nan, np.nan, (1 + SECOND) / 2]),
        ("lightgbm", [1, 1, SECOND]),
        ("xgboost", [1, 1, SECOND]),
        ("ranklib", [0, 1, SECOND]),
        ("sklearn", [0, 1, (1 + SECOND) / 2]),
        ("letor", [0, 1, 1]),  # without a cutoff no list is short
    ],
)
def test_ndcg_of_degenerate_and_tied_queries(convention, values):
    result = rk.evaluate(SCORES, DATA, [rk.NDCG()], convention=convention)[rk.NDCG()]
    assert result.per_query == pytest.approx(values, nan_ok=True)
    assert result.skipped == np.isnan(values).sum()


def letor_ndcg(ranked: list[int], k: int) -> float:
    """NDCG@k as LETOR's script computes it: rank 2 is not discounted, and a list shorter than k has no NDCG@k: it adds 0."""

    def dcg(grades: list[int]) -> float:
        return sum((2**g - 1) / (1 if place < 2 else log2(place + 1)) for place, g in enumerate(grades[:k]))

    ideal = dcg(sorted(ranked, reverse=True))
    return dcg(ranked) / ideal if len(ranked) >= k and ideal else 0.0


def test_letor_against_its_script():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 15, 60)
    grades, scores = rng.integers(0, 3, sizes.sum()), rng.normal(size=sizes.sum())
    data = rk.read(np.zeros((sizes.sum(), 1)), grades=grades, group=sizes)
    for k in (1, 5, 10):
        ours = rk.evaluate(scores, data, rk.NDCG(k), convention="letor")[rk.NDCG(k)].per_query
        for query, (a, b) in enumerate(pairwise(data.offsets)):
            ranked = grades[a:b][np.argsort(-scores[a:b], kind="stable")].tolist()
            assert ours[query] == pytest.approx(letor_ndcg(ranked, k))


def test_short_lists_elsewhere():
    data = rk.read(np.zeros((2, 1)), grades=[1, 1], group=[2])
    for convention, value in [("ranklib", 1.0), ("xgboost", 1.0), ("trec", 0.2)]:
        if convention == "trec":
            data = rk.read(np.zeros((2, 1)), grades=[1, 1], group=[2], doc_id=["a", "b"])
        assert rk.evaluate([1.0, 2.0], data, "p@10", convention=convention)["p@10"].mean == pytest.approx(value)


def test_trec_compares_scores_in_single_precision():
    data = rk.read(np.zeros((2, 1)), grades=[1, 0], group=[2], doc_id=["d1", "d2"])
    near = [20.00000012, 20.0000001]
    assert rk.evaluate(near, data, "rr", convention="trec")["rr"].mean == 0.5  # tied: d2 comes before d1
    assert rk.evaluate(near, data, "rr")["rr"].mean == 1.0


def test_lowest_and_highest_are_values_for_errors_too():
    data = rk.read(np.zeros((3, 1)), grades=[0, 1, 2], group=[3])
    for ties, errors, ndcg in [("lowest", 0.0, None), ("highest", 3.0, 1.0)]:
        found = rk.evaluate(np.zeros(3), data, ["pairwise-errors", "ndcg"], ties=ties)
        assert found["pairwise-errors"].mean == errors
        assert ndcg is None or found["ndcg"].mean == ndcg


def test_half_is_a_convention_of_your_own():
    half = rk.Convention("half", skip_one_grade=False, empty=0.5)
    assert rk.evaluate(SCORES, DATA, [rk.NDCG()], convention=half)[rk.NDCG()].per_query[0] == 0.5


def test_a_setting_the_user_chose_stays():
    assert CONVENTIONS["sklearn"].adapt(rk.NDCG(5)) == rk.NDCG(5, gains="linear")
    assert CONVENTIONS["sklearn"].adapt(rk.NDCG(5, gains=(0, 1))) == rk.NDCG(5, gains=(0, 1))
    assert CONVENTIONS["lightgbm"].adapt(rk.AP(5)) == rk.AP(5, of="reachable")


@pytest.mark.parametrize(("text", "p"), [("rbp", 0.9), ("rbp:p=0.8", 0.8), ("RBP(p=0.5)", 0.5), ("rbp:relevant=2", 0.9)])
def test_trec_has_another_persistence_where_none_is_chosen(text, p):
    data = rk.read(np.zeros((4, 1)), grades=[0, 2, 2, 0], group=[4], doc_id=["a", "b", "c", "d"])
    expected = (1 - p) * (p + p**2)  # the documents of rank 2 and 3
    assert rk.evaluate([4.0, 3.0, 2.0, 1.0], data, text, convention="trec")[text].mean == pytest.approx(expected)
    assert rk.evaluate([4.0, 3.0, 2.0, 1.0], data, "rbp")["rbp"].mean == pytest.approx(0.2 * (0.8 + 0.64))


def test_ties_by_document_id_go_from_high_to_low():
    data = rk.Dataset.from_rows(
        np.zeros((3, 1)), np.asarray([1, 0, 0]), np.asarray(["q"] * 3), ["1"], doc_ids=np.asarray(["d1", "d3", "d2"])
    )
    assert rk.evaluate(np.zeros(3), data, ["rr"], convention="trec")["rr"].mean == pytest.approx(1 / 3)


def test_unknown_names_list_the_known():
    with refused(rk.ArgumentError, setting="convention", value="lightbgm") as caught:
        rk.evaluate(SCORES, DATA, ["ndcg"], convention="lightbgm")
    assert ", ".join(CONVENTIONS) in caught.value.rule
    with refused(rk.ArgumentError, setting="ties", value="random") as caught:
        rk.evaluate(SCORES, DATA, ["ndcg"], ties="random")
    assert "expected, lowest" in caught.value.rule
    with refused(rk.DataError, value="doc_id") as caught:
        rk.evaluate(SCORES, DATA, ["ndcg"], ties="doc_id")
    assert "`ties='order'`" in caught.value.remedy
