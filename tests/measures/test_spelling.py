"""Measures as text."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from rankinite.measures import known_measures
from rankinite.measures.base import GradeError
from refusals import refused

CUTOFF = st.none() | st.integers(1, 1000)
GAINS = st.sampled_from(["exponential", "linear"]) | st.lists(
    st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=6
).map(lambda gains: tuple(sorted(gains)))
DISCOUNT = st.sampled_from(["log2", "letor"])
GRADE = st.floats(-5, 10, allow_subnormal=False)
MEASURES = st.one_of(
    st.builds(rk.NDCG, CUTOFF, GAINS, DISCOUNT),
    st.builds(rk.DCG, CUTOFF, GAINS, DISCOUNT),
    st.builds(rk.AveNDCG, st.integers(1, 50), GAINS, DISCOUNT),
    st.builds(rk.ERR, CUTOFF, st.integers(1, 20)),
    st.builds(rk.AP, CUTOFF, GRADE, st.sampled_from(["all", "reachable"])),
    st.builds(rk.RR, CUTOFF, GRADE),
    st.builds(rk.Precision, CUTOFF, GRADE, st.sampled_from(["cutoff", "returned"])),
    st.builds(rk.Recall, CUTOFF, GRADE),
    st.builds(rk.Success, st.integers(1, 1000), GRADE),
    st.builds(rk.Rprec, GRADE),
    st.builds(rk.F1, CUTOFF, GRADE),
    st.builds(rk.RBP, CUTOFF, GRADE, st.floats(0, 1, exclude_min=True, exclude_max=True)),
    st.builds(rk.QMeasure, CUTOFF, GAINS, st.floats(0, 1e6, exclude_min=True)),
    st.builds(rk.Bpref, GRADE),
    st.builds(rk.AUC, GRADE),
    st.builds(rk.Judged, CUTOFF),
    st.builds(rk.PairwiseErrors),
    st.builds(rk.BalancedError, GRADE, GRADE),
)


@given(MEASURES)
def test_every_measure_reads_back(measure):
    assert rk.parse_measure(str(measure)) == measure
    assert hash(rk.parse_measure(str(measure))) == hash(measure)


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("ndcg@10", rk.NDCG(10)),
        ("NDCG@10", rk.NDCG(10)),
        ("map", rk.AP()),
        ("mrr@5", rk.RR(5)),
        ("precision@3", rk.Precision(3)),
        ("err:max_grade=2", rk.ERR(max_grade=2)),
        ("dcg@5:gains=0/1/3/7/10", rk.DCG(5, gains=(0, 1, 3, 7, 10))),
        ("hit@5", rk.Success(5)),
        ("success", rk.Success(10)),
        ("r-precision", rk.Rprec()),
        ("Q-measure@10", rk.QMeasure(10)),
    ],
)
def test_usual_spellings(text, measure):
    assert rk.parse_measure(text) == measure


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("ndcg_cut_10", rk.NDCG(10, gains="linear")),
        ("ndcg_cut.10", rk.NDCG(10, gains="linear")),
        ("P_10", rk.Precision(10)),
        ("P.10", rk.Precision(10)),
        ("map_cut_10", rk.AP(10)),
        ("recall_100", rk.Recall(100)),
        ("success_10", rk.Success(10)),
        ("recip_rank", rk.RR()),
        ("Rprec", rk.Rprec()),
        ("set_P", rk.Precision()),
        ("set_recall", rk.Recall()),
        ("set_F", rk.F1()),
        ("nDCG(dcg='log2')@10", rk.NDCG(10, gains="linear")),
        ('nDCG(dcg="exp-log2")@10', rk.NDCG(10)),
        ("AP(rel=2)", rk.AP(relevant=2)),
        ("P(rel=2)@5", rk.Precision(5, relevant=2)),
        ("RR@10", rk.RR(10)),
        ("R@100", rk.Recall(100)),
        ("RBP(p=0.5)", rk.RBP(p=0.5)),
        ("RBP(rel=1, p=0.8)@10", rk.RBP(10, p=0.8)),
        ("Success(rel=2)@5", rk.Success(5, relevant=2)),
        ("SetF(rel=2)", rk.F1(relevant=2)),
        ("Bpref()", rk.Bpref()),
        ("NDCG(10)", rk.NDCG(10)),
        ("NDCG(cutoff=10, gains='linear')", rk.NDCG(10, gains="linear")),
    ],
)
def test_spellings_of_other_tools(text, measure):
    assert rk.parse_measure(text) == measure


@pytest.mark.parametrize(
    ("text", "exponential", "linear"),
    [
        ("nDCG@10", "ndcg@10", "ndcg@10:gains=linear"),
        ("nDCG", "ndcg", "ndcg:gains=linear"),
        ("nDCG(cutoff=5)", "ndcg@5", "ndcg@5:gains=linear"),
        ("nDCG@5:discount=letor", "ndcg@5:discount=letor", "ndcg@5:gains=linear:discount=letor"),
    ],
)
def test_ir_measures_spelling_of_ndcg_names_both_gains(text, exponential, linear):
    data = rk.read(np.eye(4), grades=[0, 2, 1, 3], group=[2, 2])
    uses = {
        "parsed": lambda: rk.parse_measure(text),
        "evaluated": lambda: rk.evaluate([0.0, 1, 2, 3], data, ["err", text])[text].measure,
        "compared": lambda: rk.compare({"a": [0.0, 1, 2, 3], "b": [3.0, 1, 2, 0]}, data, text).measures[0],
        "trained for": lambda: rk.LambdaMART(measure=text).measure,
    }
    for use in uses.values():
        with pytest.warns(UserWarning, match="ir-measures") as caught:
            assert use() == rk.parse_measure(exponential)
        assert len(caught) == 1
        assert f"Write {exponential} for exponential gains, {linear} for linear ones" in str(caught[0].message)
        assert caught[0].filename == __file__
    assert rk.parse_measure(linear).gains == "linear"


@pytest.mark.parametrize(
    "text", ["ndcg@10", "NDCG@10", "nDCG(dcg='log2')@10", "nDCG(dcg='exp-log2')", "nDCG:gains=exponential"]
)
def test_ndcg_whose_gains_are_clear_needs_no_note(text):
    rk.parse_measure(text)  # a warning would be an error


@pytest.mark.parametrize("convention", ["trec", "sklearn"])
def test_ndcg_needs_no_note_where_its_gains_are_linear_anyway(convention):
    data = rk.read(np.eye(4), grades=[0, 2, 1, 3], group=[2, 2], doc_id=["a", "b", "c", "d"])
    for measure in ("nDCG@10", "ndcg@10:gains=linear"):
        assert rk.evaluate([0.0, 3, 1, 2], data, measure, convention=convention)[measure].mean == pytest.approx(1)
    rk.compare({"a": [0.0, 3, 1, 2], "b": [3.0, 1, 2, 0]}, data, "nDCG", convention=convention)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ndgc@10", "ndcg@10"),
        ("ndcg10", "ndcg@10"),
        ("ndcg_10", "ndcg@10"),
        ("Recal_100", "recall@100"),
        ("succes@3:relevant=2", "success@3:relevant=2"),
        ("bprev", "bpref"),
        ("pairwise-error", "pairwise-errors"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(text, meant):
    with refused(rk.MeasureError, value=text) as caught:
        rk.parse_measure(text)
    assert caught.value.remedy == f"Did you mean {meant}?"
    rk.parse_measure(meant)


def test_a_name_of_forty_letters_may_be_misspelt_and_none_longer():
    rk.register_measure(rk.FunctionMeasure("a" * 39 + "b", lambda grades: 0.0))
    for letters, settings_, meant in ((40, "", True), (41, "", False), (40, ":" + "x" * 39, True), (40, ":" + "x" * 40, False)):
        with refused(rk.MeasureError) as caught:
            rk.parse_measure("a" * letters + settings_)
        assert caught.value.remedy.startswith("Did you mean") == meant


@settings(max_examples=40, deadline=None)
@given(st.text("ndcgap@:=(),._0123456789'/", max_size=12))
def test_any_text_is_a_measure_or_refused(text):
    measure = None
    with suppress(rk.MeasureError):
        measure = rk.parse_measure(text)
    assert measure is None or rk.parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        ("rprec@10", "'rprec@10'", "10"),
        ("ndcg@10@20", "'ndcg@10@20'", "10@20"),
        ("P(judged_only=True)@5", "'P(judged_only=True)@5'", "judged_only=True"),
        ("P(5)@5", "'P(5)@5'", "5@5"),
        ("nDCG(dcg=cubic)", "ndcg", "cubic"),
        ("rbp:p=1", "rbp", 1.0),
        ("rbp:p=0", "rbp", 0.0),
        ("q:beta=0", "q", 0.0),
        ("q:gains=cubic", "q", "cubic"),
        ("P_5,10", "", "P_5,10"),
        ("infAP", "", "infAP"),
        ("ndcg(((", "", "ndcg((("),
        ("ndgc@10", "", "ndgc@10"),
        ("ndcg@ten", "'ndcg@ten'", "ten"),
        ("ndcg@0", "ndcg", 0),
        ("ndcg@", "'ndcg@'", ""),
        ("balanced-error@5", "'balanced-error@5'", "5"),
        ("ndcg:colour=red", "'ndcg:colour=red'", "colour=red"),
        ("ndcg:gains=cubic", "ndcg", "cubic"),
        ("dcg:gains=3/1", "dcg", (3.0, 1.0)),
        ("dcg:gains=0/inf/1", "dcg", (0.0, float("inf"), 1.0)),
        ("ndcg:short=long", "ndcg", "long"),
        ("avendcg:discount=none", "avendcg", "none"),
        ("ap:of=some", "ap", "some"),
        ("p@5:of=all", "p", "all"),
        ("ap:relevant=many", "'ap:relevant=many'", "many"),
        ("err:max_grade=0", "err", 0),
        ("", "", ""),
    ],
)
def test_texts_that_are_no_measure_are_refused(text, place, value):
    with refused(rk.MeasureError, place=place, value=value):
        rk.parse_measure(text)


def test_an_unknown_measure_is_answered_with_the_known():
    with refused(rk.MeasureError, value="ndgc") as caught:
        rk.parse_measure("ndgc")
    assert ", ".join(known_measures()) in caught.value.rule


def test_grades_outside_a_measures_scale_are_refused():
    grades, offsets = np.asarray([0, 5], np.float32), np.asarray([0, 2])
    with refused(GradeError, value=5.0) as caught:
        rk.ERR().per_query(rk.rank([1.0, 2.0], grades, offsets))
    assert "err:max_grade=5" in caught.value.remedy
    with refused(GradeError, value=5.0):
        rk.DCG(gains=(0, 1, 3)).per_query(rk.rank([1.0, 2.0], grades, offsets))


@dataclass(frozen=True)
class TopGrade:
    """A user's own measure: the mean grade of the documents at the top."""

    cutoff: int | None = 1

    name = "top-grade"
    higher_is_better = True
    pooled = False

    def per_query(self, ranking):
        return np.asarray([ranking.grades[a : a + self.cutoff].mean() for a in ranking.offsets[:-1]])


def test_a_users_measure_goes_wherever_a_measure_goes():
    rk.register_measure(TopGrade)
    assert rk.parse_measure("top-grade@2") == TopGrade(2)
    assert "top-grade" in known_measures()
    data = rk.read(np.eye(4), grades=[0, 2, 1, 3], group=[2, 2])
    assert rk.evaluate(np.asarray([0.0, 1, 2, 3]), data, [TopGrade(1)])[TopGrade(1)].mean == 2.5


def test_measures_that_cannot_be_told_apart_or_read_back():
    class Plain:
        name = "plain"

    with refused(rk.MeasureError, value="Plain"):
        rk.register_measure(Plain)
    data = rk.read(np.eye(2), grades=[0, 1], group=[2])
    same = [rk.FunctionMeasure("x", lambda g: 0.0), rk.FunctionMeasure("x", lambda g: 1.0)]
    with refused(rk.ArgumentError, value="x"):
        rk.evaluate([1.0, 2.0], data, same)
    ndcg = rk.FunctionMeasure("ndcg", lambda grades: 0.25)
    assert rk.evaluate([1.0, 2.0], data, ndcg, convention="lightgbm")[ndcg].mean == 0.25


def test_a_plain_function_is_a_measure_with_exact_ties():
    measure = rk.FunctionMeasure("first", lambda grades: float(grades[0]))
    ranking = rk.rank([1, 1, 1, 0], np.asarray([0, 1, 5, 9], np.float32), np.asarray([0, 4]))
    assert measure.per_query(ranking)[0] == pytest.approx(2.0)
    nothing = rk.rank([-np.inf, -np.inf], np.asarray([0, 1], np.float32), np.asarray([0, 2]))
    assert measure.per_query(nothing)[0] == 0
    many = rk.rank(np.zeros(50), np.arange(50, dtype=np.float32), np.asarray([0, 50]))
    assert measure.per_query(many)[0] == pytest.approx(24.5, abs=2.0)
    assert measure.per_query(many)[0] == measure.per_query(many)[0]
