"""Recommendations: the sentences follow from the evidence.

Most methods here rank queries of two documents, so that their measures are known by hand: a query that is ranked wrong has
an ndcg of 1 / log2(3) = 0.6309, which is 0.3691 less than one that is ranked right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


# ---- the lead ------------------------------------------------------------------------------------------------------------


def test_a_gain_leads_with_what_to_expect_then_the_risk_then_the_evidence():
    """30 of 40 queries gain 0.3691."""
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,)})
    assert choice.recommendation()[:4] == (
        "Deploy the ranker adapted by smart.",
        "Expect about +0.26 ndcg@10 on new queries.",
        "The chance of losing more than 0.01 is less than 1%.",
        "On the 40 target queries that it had not seen, the ndcg@10 of smart is 0.277 higher than the background's.",
    )
    assert choice.verdict.expected == pytest.approx(0.26, abs=0.005)
    assert "judge more" not in words(choice)


def test_where_nothing_is_better_the_background_is_kept():
    """5 of 40 queries lose 0.3691."""
    choice = choice_by_hand({"background": (40,), "interpolate": (35,), "target": (5,)})
    assert choice.recommendation()[:4] == (
        "Keep the background.",
        "Of the candidate, interpolate, expect about -0.030 ndcg@10 on new queries.",
        "On the 40 target queries that it had not seen, the ndcg@10 of interpolate is 0.046 lower than the background's.",
        "No method was better there.",
    )
    assert choice.verdict.expected == pytest.approx(-0.03, abs=0.0005)
    assert "Deploy" not in words(choice)


def test_a_gain_at_too_high_a_risk_keeps_the_background():
    """One of 20 queries gains 0.3691 and one loses it: other domains still promise something."""
    right = {"background": (19,), "smart": (1, 20), "target": (5,)}
    choice = choice_by_hand(right, queries=20)
    verdict = choice.verdict
    assert choice.recommendation()[:3] == (
        "Keep the background.",
        f"Of the candidate, smart, expect about {verdict.expected:+.4f} ndcg@10 on new queries, but that is too uncertain.",
        f"The chance of losing more than 0.01 is {100 * verdict.loss_chance:.0f}%, where 10% is allowed.",
    )
    assert verdict.expected > 0.0
    assert verdict.loss_chance > 0.1
    bolder = choice_by_hand(right, queries=20, risk=0.5, tolerate=0.005)
    lead, gain, loss, *_ = bolder.recommendation()
    assert lead == "Deploy the ranker adapted by smart."
    assert gain.startswith("Expect about +0.0")
    assert loss.startswith("The chance of losing more than 0.005 is ")


def test_where_the_candidate_is_worse_but_another_method_better_no_more_is_claimed():
    choice = choice_by_hand({"background": (20,), "interpolate": (30,), "smart": (10,), "target": (5,)})
    verdict = replace(choice.verdict, name="smart", best="interpolate", recommended="background", expected=-0.091)
    lead, gain, evidence, *_ = replace(choice, verdict=verdict).recommendation()
    assert (lead, gain) == (
        "Keep the background.",
        "Of the candidate, smart, expect about -0.091 ndcg@10 on new queries.",
    )
    assert evidence == (
        "On the 40 target queries that it had not seen, the ndcg@10 of smart is 0.092 lower than the background's."
    )
    assert "No method was better" not in words(choice)


def test_where_all_are_the_same_the_background_is_kept():
    choice = choice_by_hand(dict.fromkeys(("background", "smart", "target"), (7,)))
    assert choice.recommendation()[:4] == (
        "Keep the background.",
        "The candidate, smart, is neither better nor worse on any target query.",
        "On the 40 target queries that it had not seen, the ndcg@10 of smart equals the background's.",
        "No method was better there.",
    )


def test_what_is_not_surely_better_than_a_random_order_is_not_deployed():
    """Five of 9 queries of two documents are right."""
    choice = choice_by_hand({"background": (4,), "smart": (5,), "target": (2,)}, queries=9, risk=1.0)
    lead, reason, _, why, *_ = choice.recommendation()
    assert lead == "Keep the background."
    assert reason == "The candidate, smart, is not surely better than random orders of the documents."
    assert why == "So other domains tell nothing of this one: are the grades right, and are there enough of them?"
    assert "only the spread counts here" in choice.explanation()[0]
    assert choice.to_dict()["better_than_random_orders"] is False


def test_an_error_that_is_lower_is_better():
    right = {"background": (10,), "smart": (40,), "target": (5,)}
    choice = choice_by_hand(right, measures=(rk.PairwiseErrors(),))
    _, gain, _, evidence, *_ = choice.recommendation()
    assert gain.startswith("Expect about -0.7")
    assert choice.verdict.expected > 0.0
    assert "the pairwise-errors of smart is 0.75 lower than the background's" in evidence


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([0.2, 1.0, 1.0, 1.1, 2.0]),
    st.sampled_from([0.2, 0.9, 1.0, 2.0]),
    st.integers(3, 40),
    st.integers(0, 1000),
    st.sampled_from([0.01, 0.1, 0.1, 0.5]),
    st.booleans(),
)
def test_both_numbers_that_decide_follow_the_lead(before, after, queries, seed, risk, averaged):
    names = ["interpolate", "smart", *(["average"] if averaged else [])]
    noises = {"background": before, **dict.fromkeys(names, after), "target": 5.0}
    data = target(queries)
    choice = choice_of(noisy(noises, data, seed), data, risk=risk)
    verdict = choice.verdict
    lead, *others = choice.recommendation()
    assert lead.startswith("Keep the background." if verdict.recommended == "background" else "Deploy the ")
    assert not any(mark in lead for mark in "0123456789,;:")
    assert not any(other.startswith(("Deploy", "Keep")) for other in others)
    assert "interval" not in words(choice)
    first, second = (choice.unseen[name][NDCG].per_query for name in (choice.name, "background"))
    if not verdict.ranks or np.allclose(first, second, atol=1e-12, rtol=0.0):
        assert "expect about" not in words(choice)
        return
    gain, loss = others[:2]
    told = float(gain.lower().partition("expect about ")[2].partition(" ")[0])
    assert told == pytest.approx(verdict.expected, rel=0.06, abs=6e-5)
    assert loss.startswith("The chance of losing more than 0.01 is") == (verdict.expected > 0.0)
    assert ("is allowed" in loss) == (verdict.expected > 0.0 and verdict.loss_chance > risk)


@pytest.mark.parametrize(
    ("chance", "risk", "text"),
    [
        (0.0004, 0.1, "is less than 1%"),
        (0.0104, 0.1, "is 1%"),
        (0.096, 0.1, "is 10%."),
        (0.1004, 0.1, "is 11%, where 10%"),  # not rounded down to what is allowed
        (0.126, 0.1, "is 13%, where 10%"),
        (0.0504, 0.05, "is 6%, where 5%"),
        (0.00514, 0.005, "is 0.6%, where 0.5%"),
        (0.0049, 0.005, "is 0.5%."),
        (0.9999, 0.1, "is more than 99%, where 10%"),
        (0.29, 0.3, "is 29%."),
    ],
)
def test_chances_are_rounded_but_not_across_what_is_allowed(chance, risk, text):
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,)})
    recommended = "smart" if chance <= risk else "background"
    verdict = replace(choice.verdict, loss_chance=chance, risk=risk, recommended=recommended)
    assert text in replace(choice, verdict=verdict).recommendation()[2]


def test_gains_are_given_with_the_digits_that_count():
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,)})
    texts = {0.0212: "+0.021", 0.1267: "+0.13", 0.00044: "+0.0004", 1e-6: "0", -0.0031: "-0.0031", 3.21: "+3.2", 123.4: "+123"}
    for gain, text in texts.items():
        verdict = replace(choice.verdict, expected=gain, recommended="smart" if gain > 0.0 else "background")
        assert f"xpect about {text} ndcg@10" in replace(choice, verdict=verdict).recommendation()[1]


def test_the_other_numbers_are_explained_apart():
    for noises, counts in (({"smart": 0.9}, 18), ({"smart": 0.9, "interpolate": 1.0, "average": 0.8}, 32)):
        choice = choice_of(noisy({"background": 1.0, **noises, "target": 5.0}, target(25)), target(25))
        pair = choice.unseen.pair(choice.name, "background", NDCG)
        decides, interval, p, agree = choice.explanation()
        assert "which must be above 0" in decides
        assert "the chance of losing more than 0.01, which may be at most 10%" in decides
        assert "the 25 target queries with what adapting has brought on the 9 pairs of domains" in decides
        assert f"counts about as much as {counts} target queries" in decides
        assert f"{pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}" in interval
        assert f"The p-value, {pair.randomisation.holm_text}, " in p
        assert f"all {len(choice.unseen.pairs)} pairs" in p
        assert "the target queries alone" in agree
        assert "Neither decides: a change needs an expected gain, and at most 10% chance of losing more than 0.01." in (
            choice.grid().notes
        )
        told = choice.to_dict()
        assert told["explanation"] == list(choice.explanation())
        assert (told["expected_gain"], told["loss_chance"]) == (choice.verdict.expected, choice.verdict.loss_chance)
        assert (told["risk"], told["tolerate"], told["better_than_random_orders"]) == (0.1, 0.01, True)
        assert str(choice).startswith(choice.recommendation()[0])
        assert "<details>" in choice._repr_html_()


# ---- what else to know ---------------------------------------------------------------------------------------------------


def test_where_one_query_carries_the_gain_it_is_named_with_what_is_left_without_it():
    """Oracle: the means of both rankers on the data without that query."""
    data = target(12)
    before = noisy({"smart": 0.5}, data, 1)["smart"]
    after = before.copy()
    gains = data.offsets[3], data.offsets[4]
    before[slice(*gains)] = -data.grades[slice(*gains)]
    after[slice(*gains)] = data.grades[slice(*gains)]
    verdict = Verdict("smart", "smart", "smart", 0.02, 0.03)
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
        ((("17",), 0.629, 0.02, 0.008), "Query '17' alone carries 62%", "it the mean gain falls from 0.020 to 0.008"),
        ((("a", "b"), 0.7, 0.02, 0.006), "Queries 'a' and 'b' carry 70%", "them the mean gain falls from 0.020 to 0.006"),
        ((("17",), 1.2, 0.02, -0.004), "Query '17' alone carries all", "it the mean gain of 0.020 becomes a loss of 0.004"),
    ],
)
def test_the_sentence_on_a_concentrated_gain(found, carried, left, monkeypatch):
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,)})
    monkeypatch.setattr(Choice, "concentration", Concentration(*found))
    assert f"{carried} of the gain: without {left}." in choice.recommendation()


def test_a_tie_names_the_best_method_and_why_another_is_taken():
    """31 queries are right by smart and 30 by interpolate, which differ in three: the mean of smart is 1 − 9 · 0.3691 / 40."""
    near = choice_by_hand({"background": (5,), "interpolate": (2, 32), "smart": (31,), "target": (3,)})
    assert "Of the candidates smart has the best mean, 0.917, but not clearly, so interpolate is taken, which is simpler." in (
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
        "choice; here its mean is 0.092 below that of trada."
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
        "On the test data, which decided nothing, the ndcg@10 of smart is 0.246 higher than the background's.",
        "On the shifted data, which decided nothing, the ndcg@10 of smart is 0.148 lower than the background's.",
    )
    assert "which decided nothing" not in words(choice_by_hand(right))
