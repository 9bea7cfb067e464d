"""What the named conventions change, on cases worked out by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import rankinite as rk
from rankinite.measures import CONVENTIONS

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
        ("letor", [0, 1, 1]),
    ],
)
def test_ndcg_of_degenerate_and_tied_queries(convention, values):
    result = rk.evaluate(SCORES, DATA, [rk.NDCG()], convention=convention)[rk.NDCG()]
    assert result.per_query == pytest.approx(values, nan_ok=True)
    assert result.skipped == np.isnan(values).sum()


def test_half_is_a_convention_of_your_own():
    half = rk.Convention("half", skip_one_grade=False, empty=0.5)
    assert rk.evaluate(SCORES, DATA, [rk.NDCG()], convention=half)[rk.NDCG()].per_query[0] == 0.5


def test_a_setting_the_user_chose_stays():
    assert CONVENTIONS["sklearn"].adapt(rk.NDCG(5)) == rk.NDCG(5, gains="linear")
    assert CONVENTIONS["sklearn"].adapt(rk.NDCG(5, gains=(0, 1))) == rk.NDCG(5, gains=(0, 1))
    assert CONVENTIONS["lightgbm"].adapt(rk.AP(5)) == rk.AP(5, of="reachable")


def test_ties_by_document_id_go_from_high_to_low():
    data = rk.Dataset.from_rows(
        np.zeros((3, 1)), np.asarray([1, 0, 0]), np.asarray(["q"] * 3), ["1"], doc_ids=np.asarray(["d1", "d3", "d2"])
    )
    assert rk.evaluate(np.zeros(3), data, ["rr"], convention="trec")["rr"].mean == pytest.approx(1 / 3)


def test_unknown_names_list_the_known():
    with pytest.raises(rk.ArgumentError, match="rankinite, lightgbm"):
        rk.evaluate(SCORES, DATA, ["ndcg"], convention="lightbgm")
    with pytest.raises(rk.ArgumentError, match="expected, lowest"):
        rk.evaluate(SCORES, DATA, ["ndcg"], ties="random")
