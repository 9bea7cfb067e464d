"""Swap changes against swapping and measuring again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.measures import DEFINITIONS
from rankinite.measures.base import factored_measures, ranks_up_to, trainable_measures
from rankinite.measures.binary import BinaryMeasure
from refusals import refused

TRAINABLE = [
    *(measure for measure, _ in DEFINITIONS if isinstance(measure, rk.TrainableMeasure)),
    rk.NDCG(5, gains="linear", discount="letor"),
    rk.ERR(4),
    rk.ERR(max_grade=16),
    rk.AP(3, relevant=2),
    rk.AP(3, of="reachable"),
    rk.RR(3),
]
GRADES = st.lists(st.integers(0, 4), min_size=1, max_size=14)


def in_order(measure, grades):
    scores = -np.arange(len(grades), dtype=float)
    return measure.per_query(rk.rank(scores, np.asarray(grades, np.float32), np.asarray([0, len(grades)])))[0]


@pytest.mark.parametrize("measure", TRAINABLE, ids=str)
@settings(max_examples=80, deadline=None)
@given(grades=GRADES)
def test_every_swap_change_equals_measuring_again(measure, grades):
    changes = rk.swap_changes(measure, np.asarray(grades, float))
    before = in_order(measure, grades)
    for i in range(len(grades)):
        for j in range(len(grades)):
            swapped = list(grades)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            after = in_order(measure, swapped)
            truth = 0.0 if np.isnan(before) else after - before
            assert changes[i, j] == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("measure", TRAINABLE, ids=str)
@settings(max_examples=40, deadline=None)
@given(grades=GRADES)
def test_moving_a_better_document_down_never_helps(measure, grades):
    """For ERR this is Theorem 1 of paper 004."""
    changes = rk.swap_changes(measure, np.asarray(grades, float))
    for i in range(len(grades)):
        for j in range(i + 1, len(grades)):
            if grades[i] > grades[j]:
                assert changes[i, j] <= 1e-15


def test_trainable_measures_are_those_with_swaps():
    assert all(isinstance(measure, rk.TrainableMeasure) for measure in TRAINABLE)
    others = (rk.Precision(5), rk.Recall(5), rk.AveNDCG(), rk.PairwiseErrors(), rk.BalancedError(), rk.F1(5), rk.QMeasure())
    assert not any(isinstance(measure, rk.TrainableMeasure) for measure in others)


def test_measures_that_can_be_trained_for_or_swept_are_asked_of_the_registry():
    trained, swept = trainable_measures(), factored_measures()
    assert {"ndcg", "dcg", "err", "ap", "rr", "success", "rbp"} <= set(trained)
    assert set(swept) >= {*trained, "p", "recall", "rprec", "f1", "q", "bpref", "auc", "judged"}
    assert {"avendcg", "pairwise-errors", "balanced-error"}.isdisjoint(swept)

    @rk.register_measure
    @dataclass(frozen=True, slots=True)
    class Coverage(BinaryMeasure):
        """The share of the relevant documents above the cutoff."""

        name = "coverage"
        parts = rk.Recall.parts
        swap = rk.RR.swap

        def discounts(self, ranks):
            return np.ones(ranks_up_to(self.cutoff, ranks))

    @rk.register_measure
    @dataclass(frozen=True)
    class Needy(Coverage):
        level: float = field(kw_only=True)

        name = "needy"

    assert trainable_measures() == [*trained, "coverage"]
    assert factored_measures() == [*swept, "coverage"]
    assert repr(rk.parse_measure("coverage@5:relevant=2")) == f"{Coverage.__qualname__}(cutoff=5, relevant=2.0)"


def test_what_cannot_be_swapped_is_refused():
    with refused(rk.MeasureError, value="p@3") as caught:
        rk.swap_changes(rk.Precision(3), np.asarray([1.0, 0.0]))
    assert ", ".join(trainable_measures()) in caught.value.rule
    for grades in (np.empty(0), np.zeros((2, 2)), np.float64(1.0)):
        with refused(rk.MeasureError, place="swap_changes", value=np.shape(grades)):
            rk.swap_changes(rk.NDCG(), grades)


def test_long_queries_keep_their_precision():
    grades = np.random.default_rng(0).choice(5, 1000, p=[0.6, 0.2, 0.1, 0.06, 0.04]).astype(float)
    changes = rk.swap_changes(rk.ERR(), grades)
    before = in_order(rk.ERR(), grades)
    for i, j in [(0, 999), (10, 20), (500, 501), (3, 700)]:
        swapped = grades.copy()
        swapped[i], swapped[j] = grades[j], grades[i]
        assert changes[i, j] == pytest.approx(in_order(rk.ERR(), swapped) - before, abs=1e-13)
