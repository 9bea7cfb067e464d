"""Recommendations: the sentences follow from the evidence.

Most methods here rank queries of two documents, so that their measures are known by hand: a query that is ranked wrong has
an ndcg of 1 / log2(3) = 0.6309, which is 0.3691 less than one that is ranked right.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import rankinite as rk
from oracles.adapting import target
from oracles.choices import KNOWN, choice_by_hand, choice_of, noisy, right_in, two_documents
from rankinite.adapt.concentration import Concentration
from rankinite.adapt.decision import BASELINES, Verdict
from rankinite.adapt.result import Choice
from rankinite.adapt.trial import Trial
from rankinite.evaluation.evaluate import evaluate

NDCG = rk.NDCG(10)


def words(choice):
    return " ".join(choice.recommendation())


def test_a_method_that_is_surely_better_is_to_be_deployed():
    """30 of 40 queries gain 0.3691."""
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,)})
    assert choice.recommendation()[0] == (
        "Deploy smart: on the 40 target queries it had not seen, its ndcg@10 is 0.2768 higher than the background's; the "
        "confidence that it is better is more than 99%, where 80% is asked for."
    )
    assert "judge more" not in words(choice)


def test_where_nothing_is_better_the_background_is_kept():
    """5 of 20 queries lose 0.3691."""
    choice = choice_by_hand({"background": (20,), "interpolate": (15,), "target": (5,)}, queries=20)
    assert choice.recommendation()[0] == (
        "Keep the background: no method was better; on the 20 unseen target queries the ndcg@10 of the candidate, interpolate, "
        "is 0.0923 lower than the background's."
    )
    assert "Deploy" not in words(choice)


def test_a_gain_without_enough_confidence_keeps_the_background():
    """One of 9 queries gains 0.3691: t is 1 with 8 degrees of freedom, whose 82.66% are corrected for 2 methods to 65.3%."""
    choice = choice_by_hand({"background": (4,), "smart": (5,), "target": (2,)}, queries=9, confidence=0.9)
    assert choice.recommendation()[0] == (
        "Keep the background: on the 9 unseen target queries the ndcg@10 of the candidate, smart, is 0.0410 higher than the "
        "background's, but the confidence that it is better is 65%, where 90% is asked for."
    )


def test_where_the_candidate_is_worse_but_another_method_better_no_more_is_claimed():
    choice = choice_by_hand({"background": (20,), "interpolate": (30,), "smart": (10,), "target": (5,)})
    forced = replace(choice, verdict=replace(choice.verdict, name="smart", best="interpolate", recommended="background"))
    assert forced.recommendation()[0] == (
        "Keep the background: on the 40 unseen target queries the ndcg@10 of the candidate, smart, is 0.0923 lower than the "
        "background's."
    )


def test_where_all_are_the_same_the_background_is_kept():
    choice = choice_by_hand(dict.fromkeys(("background", "smart", "target"), (7,)))
    assert choice.recommendation()[0] == (
        "Keep the background: no method was better; on the 40 unseen target queries the ndcg@10 of the candidate, smart, "
        "equals the background's."
    )


def test_an_error_that_is_lower_is_better():
    right = {"background": (10,), "smart": (40,), "target": (5,)}
    choice = choice_by_hand(right, measures=(rk.PairwiseErrors(),))
    assert "its pairwise-errors is 0.7500 lower than the background's; the confidence" in choice.recommendation()[0]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([0.2, 1.0, 1.0, 1.1, 2.0]),
    st.sampled_from([0.2, 0.9, 1.0, 2.0]),
    st.integers(3, 40),
    st.integers(0, 1000),
    st.sampled_from([0.3, 0.5, 0.8, 0.8, 0.95, 0.995]),
    st.booleans(),
)
def test_the_lead_gives_the_confidence_of_a_paired_t_test(before, after, queries, seed, confidence, averaged):
    """SciPy's one-sided p, times the number of methods that the candidate was picked from."""
    names = ["interpolate", "smart", *(["average"] if averaged else [])]
    noises = {"background": before, **dict.fromkeys(names, after), "target": 5.0}
    data = target(queries)
    choice = choice_of(noisy(noises, data, seed), data, confidence=confidence)
    first, second = (choice.unseen[name][NDCG].per_query for name in (choice.name, "background"))
    assume(np.ptp(first - second) > 1e-9)  # else there is nothing to test
    tries = 1 if choice.name == "average" else len(noises) - 1
    reached = 1.0 - tries * stats.ttest_rel(first, second, alternative="greater").pvalue
    assume(abs(reached - confidence) > 1e-6)
    lead, *others = choice.recommendation()
    assert lead.startswith(f"Deploy {choice.name}" if reached > confidence else "Keep the background: ")
    assert not any(other.startswith(("Deploy", "Keep")) for other in others)
    assert "interval" not in words(choice)
    if (first - second).mean() <= 1e-12:
        assert "%" not in words(choice)
        return
    digits = 1 if confidence == 0.995 else 0  # as many as are asked for
    highest, shown = 100.0 - 10.0**-digits, math.floor(100.0 * reached * 10**digits + 1e-4) / 10**digits
    expected = f"more than {highest:.{digits}f}%" if 100.0 * reached > highest else f"{shown:.{digits}f}%"
    if reached < 0.5 <= confidence:
        expected = "below 50%"
    assert f"the confidence that it is better is {expected}, where {100 * confidence:g}% is asked for" in lead


@pytest.mark.parametrize(
    ("sure", "confidence", "text"),
    [
        (0.796, 0.8, "is 79%, where 80%"),  # not rounded up to what was asked for
        (0.804, 0.8, "is 80%, where 80%"),
        (0.9949, 0.995, "is 99.4%, where 99.5%"),
        (0.9951, 0.995, "is 99.5%, where 99.5%"),
        (0.9996, 0.8, "is more than 99%, where 80%"),
        (1.0, 0.999, "is more than 99.9%, where 99.9%"),
        (0.139, 0.8, "is below 50%, where 80%"),
        (0.139, 0.1, "is 13%, where 10%"),
    ],
)
def test_confidences_are_rounded_down_to_the_digits_asked_for(sure, confidence, text):
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,)})
    verdict = replace(
        choice.verdict, sure=sure, confidence=confidence, recommended="smart" if sure >= confidence else "background"
    )
    assert text in replace(choice, verdict=verdict).recommendation()[0]


def test_the_other_numbers_are_explained_apart():
    for noises, tries in (({"smart": 0.9}, 2), ({"smart": 0.9, "interpolate": 1.0, "average": 0.8}, 1)):
        choice = choice_of(noisy({"background": 1.0, **noises, "target": 5.0}, target(25)), target(25))
        pair = choice.unseen.pair(choice.name, "background", NDCG)
        decides, interval, p, agree = choice.explanation()
        assert choice.verdict.tries == tries
        assert ("Bonferroni" in decides) == (tries > 1)
        assert "one-sided" in decides
        assert f"{pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}" in interval
        assert f"The p-value, {pair.randomisation.holm_text}, " in p
        assert f"all {len(choice.unseen.pairs)} pairs" in p
        assert "ask for more than the decision" in agree
        assert "less than ± and p ask for" in choice.grid().text()
        strict = replace(choice, verdict=replace(choice.verdict, confidence=0.98))
        assert "ask for more" not in strict.explanation()[3]
        assert "less than" not in strict.grid().notes[2]
        assert choice.to_dict()["explanation"] == list(choice.explanation())
        assert choice.to_dict()["confidence_corrected_for"] == tries
        assert str(choice).startswith(choice.recommendation()[0])
        assert "<details>" in choice._repr_html_()


def test_where_one_query_carries_the_gain_it_is_named_with_what_is_left_without_it():
    """Oracle: the means of both rankers on the data without that query."""
    data = target(12)
    before = noisy({"smart": 0.5}, data, 1)["smart"]
    after = before.copy()
    gains = data.offsets[3], data.offsets[4]
    before[slice(*gains)] = -data.grades[slice(*gains)]
    after[slice(*gains)] = data.grades[slice(*gains)]
    verdict = Verdict("smart", "smart", "smart", 0.8, 0.84, 1)
    scores = {"background": before, "smart": after, "target": before}
    trials = tuple(Trial(KNOWN[name], rk.Feature(0), array, np.ones(6), 1.0) for name, array in scores.items())
    choice = Choice(verdict, rk.Feature(0), NDCG, trials, {}, rk.compare(scores, data, NDCG, against=BASELINES))
    found = choice.concentration
    assert found.queries == (str(data.qids[3]),)
    kept = [query for query in range(12) if query != 3]
    rows = np.isin(data.query_of_row(), kept)
    without = [evaluate(scored[rows], data.select_queries(kept), NDCG)[NDCG] for scored in (after, before)]
    whole = [evaluate(scored, data, NDCG)[NDCG] for scored in (after, before)]
    assert found.rest == pytest.approx(without[0].mean - without[1].mean, abs=1e-12)
    assert found.gain == pytest.approx(whole[0].mean - whole[1].mean)
    sums = [first.mean * first.queries - second.mean * second.queries for first, second in (without, whole)]
    assert found.share == pytest.approx(1.0 - sums[0] / sums[1])
    assert f"Query '{data.qids[3]}' alone carries all of the gain: without it the mean gain falls from " in words(choice)
    assert choice.to_dict()["concentration"] == {**vars(found), "queries": list(found.queries)}
    assert choice.verdict == verdict


@pytest.mark.parametrize("noise", [1e-17, 1e-6])
def test_no_query_carries_a_gain_that_is_rounding_or_too_small_to_print(noise, monkeypatch):
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,)})
    gains = [(str(place), 0.5, 0.5 + noise * (place == 0)) for place in range(9)]
    monkeypatch.setattr(Choice, "gains", lambda *_: gains)
    assert (choice.concentration is None) == (noise < 1e-12)
    assert "carr" not in words(choice)


@pytest.mark.parametrize(
    ("found", "carried", "left"),
    [
        ((("17",), 0.629, 0.02, 0.008), "Query '17' alone carries 62%", "it the mean gain falls from 0.0200 to 0.0080"),
        ((("a", "b"), 0.7, 0.02, 0.006), "Queries 'a' and 'b' carry 70%", "them the mean gain falls from 0.0200 to 0.0060"),
        ((("17",), 1.2, 0.02, -0.004), "Query '17' alone carries all", "it the mean gain of 0.0200 becomes a loss of 0.0040"),
    ],
)
def test_the_sentence_on_a_concentrated_gain(found, carried, left, monkeypatch):
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,)})
    monkeypatch.setattr(Choice, "concentration", Concentration(*found))
    assert f"{carried} of the gain: without {left}." in choice.recommendation()


def test_a_tie_names_the_best_method_and_why_another_is_taken():
    """31 queries are right by smart and 30 by interpolate, which differ in three: the mean of smart is 1 − 9 · 0.3691 / 40."""
    near = choice_by_hand({"background": (5,), "interpolate": (2, 32), "smart": (31,), "target": (3,)})
    assert "Of the candidates smart has the best mean, 0.9170, but not clearly, so interpolate is taken, which is simpler." in (
        near.recommendation()
    )
    assert near.name == "interpolate"
    clear = choice_by_hand({"background": (5,), "interpolate": (20,), "smart": (31,), "target": (3,)})
    assert clear.name == "smart"
    assert "has the best mean" not in words(clear)


def test_adapted_trees_come_with_the_papers_warning_and_others_do_not():
    right = {"background": (5,), "interpolate": (30,), "trada": (40,), "target": (5,)}
    assert (
        "Trees adapted to the target shine on queries like these. If those to come differ, interpolate is the more cautious "
        "choice; here its mean is 0.0923 below that of trada."
    ) in choice_by_hand(right).recommendation()
    alone = choice_by_hand({name: right[name] for name in ("background", "trada", "target")})
    assert "Trees adapted to the target shine on queries like these." in alone.recommendation()
    for other in ("interpolate", "lambdaboost", "pool"):
        assert "shine" not in words(choice_by_hand({"background": (5,), other: (40,), "target": (5,)}))


@pytest.mark.parametrize(("queries", "warned"), [(12, True), (29, True), (30, False)])
def test_few_queries_are_warned_of(queries, warned):
    choice = choice_by_hand({"background": (5,), "smart": (10,), "target": (2,)}, queries=queries)
    assert (f"With {queries} judged queries small differences cannot be told from chance" in words(choice)) == warned


def test_test_data_and_shifted_data_are_reported_apart():
    """On the test data 20 of 30 queries gain 0.3691, on the shifted data 10 of 25 lose it."""
    right = {"background": (10,), "smart": (40,), "target": (5,)}
    test, shifted = two_documents(30), two_documents(25)
    on_test = {"background": 10, "smart": 30, "target": 1}
    on_shifted = {"background": 15, "smart": 5, "target": 1}
    others = {
        name: (data, {method: right_in(data, range(count)) for method, count in counts.items()})
        for name, data, counts in (("test", test, on_test), ("shifted", shifted, on_shifted))
    }
    choice = choice_by_hand(right, **others)
    assert choice.recommendation()[-2:] == (
        "On the test data, which decided nothing, the ndcg@10 of smart is 0.2460 higher than the background's.",
        "On the shifted data, which decided nothing, the ndcg@10 of smart is 0.1476 lower than the background's.",
    )
    assert "On the" not in words(choice_by_hand(right))
