"""Recommendations: the sentences follow from the evidence.

Most methods here rank queries of two documents, so that their measures are known by hand: a query that is ranked wrong has
an ndcg of 1 / log2(3) = 0.6309, which is 0.3691 less than one that is ranked right.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.adapting import target
from oracles.choices import (
    KNOWN,
    choice_by_hand,
    choice_of,
    noisy,
    normal_gain,
    redecided,
    right_in,
    two_documents,
    verdict_for,
)
from rankinite.adapt.choice import Choice, Concentration
from rankinite.adapt.decision import BASELINES
from rankinite.adapt.gain import AVERAGED, PICKED, GainPosterior
from rankinite.adapt.recommendation import DECISION_NOTE
from rankinite.adapt.trials import MethodTrial
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.sentences import p_meaning
from rankinite.evaluation.significance import paired_differences, randomisation
from rankinite.report.verdicts import verdict_of

NDCG = rk.NDCG(10)
NUMBER = r"([+-]?\d+(?:\.\d+)?)"
ON_TARGET = re.compile(
    rf"On your (\d+) queries(?: with [a-z-]+)?: {NUMBER} ([a-z@0-9-]+) \({NUMBER} to {NUMBER}\), "
    rf"(significantly better|significantly worse|not distinguishable from zero) \(p (below )?{NUMBER}\)\."
)
TOGETHER = re.compile(
    r"Together with what adapting brought on ([\d,]+) other pairs of domains, nearly all generated: "
    rf"{NUMBER} \({NUMBER} to {NUMBER}\); "
    rf"chance of losing more than {NUMBER}: (less than |more than )?{NUMBER}%\."
)
RIGHT = {"background": (10,), "smart": (40,), "target": (5,)}
"""30 of 40 queries gain 0.3691."""


def words(choice):
    return " ".join(choice.recommendation())


def decimals(text):
    return len(text.partition(".")[2])


def rounds(text, value):
    """Whether this is how the value is printed with the decimals of the text."""
    return float(text) == pytest.approx(value, abs=0.500001 * 10.0 ** -decimals(text))


def of_interval(texts, low, high):
    """Whether two digits of half the interval are shown; four decimals where it has no width."""
    assert len({decimals(text) for text in texts}) == 1
    if low == high:
        return decimals(texts[0]) == 4
    shown = round((high - low) / 2.0 * 10.0 ** decimals(texts[0]))
    return 10 <= shown <= 100 or decimals(texts[0]) in {0, 6}


# ---- the lead ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "decision", "lead"),
    [
        ("smart", "deploy", "Deploy the ranker adapted by smart."),
        ("smart", "try online", "Try the ranker adapted by smart online before you deploy it."),
        ("smart", "keep", "Keep the background."),
        ("average", "deploy", "Deploy the averaged ranker."),
        ("average", "try online", "Try the averaged ranker online before you deploy it."),
        ("target", "deploy", "Deploy the ranker of the target alone."),
        ("target", "keep", "Keep the background."),
    ],
)
def test_the_decision_leads(method, decision, lead):
    choice = choice_by_hand({"background": (10,), "smart": (40,), "target": (5,), "average": (38,)})
    assert redecided(choice, name=method, best=method, decision=decision).recommendation()[0] == lead


@pytest.mark.parametrize("measure", [NDCG, rk.PairwiseErrors()])
@settings(max_examples=40, deadline=None)
@given(
    noises=st.tuples(st.sampled_from([0.2, 1.0, 1.0, 1.1, 2.0]), st.sampled_from([0.2, 0.9, 1.0, 2.0])),
    queries=st.integers(3, 40),
    seed=st.integers(0, 1000),
    risk=st.sampled_from([0.01, 0.1, 0.1, 0.5]),
    shift=st.sampled_from([None, 0.0, 0.9]),
    averaged=st.booleans(),
)
def test_the_sentences_say_what_the_numbers_say(measure, noises, queries, seed, risk, shift, averaged):
    """First the decision, then the target's own queries taken alone, then these together with other domains."""
    before, after = noises
    names = ["interpolate", "smart", *(["average"] if averaged else [])]
    data = target(queries)
    scores = noisy({"background": before, **dict.fromkeys(names, after), "target": 5.0}, data, seed)
    choice = choice_of(scores, data, risk=risk, shift=shift, measures=(measure,))
    verdict, sign = choice.verdict, 1.0 if measure.higher_is_better else -1.0
    lead, on_target, *others = choice.recommendation()
    first = {"deploy": "Deploy the ", "try online": "Try the ", "keep": "Keep the background."}
    assert lead.startswith(first[verdict.decision])
    assert not any(mark in lead for mark in "0123456789,;:")
    assert not any(other.startswith(("Deploy", "Keep", "Try ")) for other in others)
    values = [choice.unseen[name][measure].per_query for name in (choice.name, "background")]
    counted = ~np.isnan(values[1])
    differences = paired_differences(values[0][counted], values[1][counted])
    if not differences.any():
        assert ": no difference in " in on_target
        assert "Together" not in words(choice)
        return
    count, gap, name, low, high, finding, below, p = ON_TARGET.fullmatch(on_target).groups()
    pair = choice.unseen.pair(choice.name, "background", measure)
    assert (int(count), name) == (len(differences), str(measure))
    assert rounds(gap, differences.mean())
    assert rounds(low, pair.interval[0])
    assert rounds(high, pair.interval[1])
    assert of_interval((gap, low, high), *pair.interval)
    raw = randomisation(differences)
    assert float(p) > raw if below else rounds(p, raw)
    better = sign * differences.mean() > 0.0
    assert finding == ("not distinguishable from zero" if raw > 0.05 else f"significantly {'better' if better else 'worse'}")
    assert verdict.clear == (finding == "significantly better")
    together = [TOGETHER.fullmatch(sentence) for sentence in others if sentence.startswith("Together")]
    assert len(together) == verdict.ranks
    if together:
        pairs, expected, low, high, tolerated, beyond, chance = together[0].groups()
        ends = sorted(sign * end for end in verdict.gain.interval())
        assert others[0] == together[0].group()
        assert (int(pairs.replace(",", "")), float(tolerated)) == ((AVERAGED if averaged else PICKED).pairs, verdict.tolerate)
        assert rounds(expected, sign * verdict.expected)
        assert rounds(low, ends[0])
        assert rounds(high, ends[1])
        assert of_interval((expected, low, high), *ends)
        assert beyond or float(chance) == pytest.approx(100.0 * verdict.loss_chance, abs=1.0)
        assert beyond or (float(chance) > 100.0 * risk) == (verdict.loss_chance > risk)


def test_a_gain_on_most_queries_is_deployed_with_what_they_show_and_what_to_expect():
    choice = choice_by_hand(RIGHT)
    lead, on_target, together, *_ = choice.recommendation()
    assert lead == "Deploy the ranker adapted by smart."
    assert on_target.startswith("On your 40 queries: +0.277 ndcg@10 (")  # 0.3691 · 30 / 40
    assert on_target.endswith("significantly better (p below 0.0001).")
    assert 0.2 < float(TOGETHER.fullmatch(together)[2]) < 0.277
    assert "judge more" not in words(choice)


def test_an_error_that_is_lower_is_better():
    choice = choice_by_hand(RIGHT, measures=(rk.PairwiseErrors(),))
    _, on_target, together, *_ = choice.recommendation()
    assert on_target.startswith("On your 40 queries: -0.75 pairwise-errors (-0.")
    assert "significantly better" in on_target
    assert float(TOGETHER.fullmatch(together)[2]) < -0.3
    assert choice.verdict.expected > 0.3


# ---- why -----------------------------------------------------------------------------------------------------------------

EXPECTED = "No gain is expected."
UNCERTAIN = "That is too uncertain: a chance of 10% is allowed."
ONLINE = "A gain is expected, but your queries cannot show it: compare both rankers on a part of the traffic."
ELSEWHERE = "Your queries alone do not show a gain; with other domains its chance is 97%."
NOISE = (
    "smart ranks your queries hardly better than random orders, so evidence from other domains does not apply. "
    "Check the grades, or judge more queries."
)
REASONS = (EXPECTED, UNCERTAIN, ONLINE, ELSEWHERE, NOISE)


@pytest.mark.parametrize(
    ("facts", "decision", "reason"),
    [
        ({"gain": normal_gain(-0.001, 0.3), "clear": True}, "keep", EXPECTED),
        ({"gain": GainPosterior((1.0,), (0.0,), (0.02,)), "clear": False}, "keep", EXPECTED),
        ({"gain": normal_gain(0.02, 0.11), "clear": True}, "keep", UNCERTAIN),
        ({"gain": normal_gain(0.02, 0.09), "clear": False}, "try online", ONLINE),
        ({"gain": GainPosterior((1.0,), (0.0188079,), (0.01,)), "clear": False}, "deploy", ELSEWHERE),  # Φ(1.88) = 97%
        ({"gain": normal_gain(0.02, 0.09), "clear": True}, "deploy", None),
        ({"gain": normal_gain(0.02, 0.01), "clear": True, "noise_chance": 0.11}, "keep", NOISE),
    ],
)
def test_each_decision_has_its_reason_where_the_numbers_do_not_say_it(facts, decision, reason):
    choice = redecided(choice_by_hand(RIGHT), **facts)
    assert choice.verdict.decision == decision
    assert [sentence for sentence in choice.recommendation() if sentence in REASONS] == ([reason] if reason else [])
    assert ("Together" in words(choice)) == (reason != NOISE)
    assert choice.to_dict()["better_than_random_orders"] == (reason != NOISE)


def test_where_no_query_differs_nothing_else_is_said():
    choice = choice_by_hand(dict.fromkeys(("background", "smart", "target"), (7,)))
    assert choice.recommendation() == ("Keep the background.", "On your 40 queries with smart: no difference in ndcg@10.")


def test_where_gains_and_losses_cancel_out_that_is_no_difference_in_any_query():
    choice = choice_by_hand({"background": (19,), "smart": (1, 20), "target": (5,)}, queries=20)
    assert "On your 20 queries with smart: 0.000 ndcg@10 (" in words(choice)
    assert "not distinguishable from zero (p 1.0000)." in words(choice)


def test_a_method_that_may_rank_no_better_than_random_orders_is_kept_back():
    """Five of 9 queries of two documents are right."""
    choice = choice_by_hand({"background": (4,), "smart": (5,), "target": (2,)}, queries=9, risk=1.0)
    assert choice.recommendation()[0] == "Keep the background."
    assert NOISE in choice.recommendation()


@pytest.mark.parametrize(
    ("chance", "risk", "text", "allowed"),
    [
        (0.0004, 0.1, "less than 1%", None),
        (0.0104, 0.1, "1%", None),
        (0.096, 0.1, "10%", None),
        (0.1004, 0.1, "11%", "10%"),  # not rounded down to what is allowed
        (0.126, 0.1, "13%", "10%"),
        (0.0504, 0.05, "6%", "5%"),
        (0.00514, 0.005, "0.6%", "0.5%"),
        (0.0049, 0.005, "0.5%", None),
        (0.29, 0.3, "29%", None),
    ],
)
def test_chances_are_rounded_but_not_across_what_is_allowed(chance, risk, text, allowed):
    choice = redecided(choice_by_hand(RIGHT), gain=normal_gain(0.02, chance), risk=risk)
    assert f"; chance of losing more than 0.01: {text}." in choice.recommendation()[2]
    assert ("too uncertain" in words(choice)) == (allowed is not None)
    assert allowed is None or f"a chance of {allowed} is allowed" in words(choice)


def test_no_chance_is_said_to_be_none_or_certain():
    choice = redecided(choice_by_hand(RIGHT), gain=normal_gain(-0.9, 1.0 - 1e-9), noise_chance=1e-9)
    assert "losing more than 0.01: more than 99%." in choice.recommendation()[2]
    assert "cannot predict the grades is less than 0.1%" in choice.explanation()[-1].replace("no ranker can", "cannot")
    sure = redecided(choice, gain=GainPosterior((1.0,), (0.5,), (0.01,)), clear=False)
    assert "with other domains its chance is more than 99%." in words(sure)


# ---- the other numbers ---------------------------------------------------------------------------------------------------


def test_the_other_numbers_are_explained_apart():
    for noises in ({"smart": 0.9}, {"smart": 0.9, "interpolate": 1.0, "average": 0.8}):
        choice = choice_of(noisy({"background": 1.0, **noises, "target": 5.0}, target(25)), target(25))
        pair = choice.unseen.pair(choice.name, "background", NDCG)
        decides, interval, _p, grades = choice.explanation()
        pairs = (AVERAGED if "average" in noises else PICKED).pairs
        assert f"combines the 25 target queries with what adapting has brought on {pairs:,} pairs of domains" in decides
        assert "the chance of losing more than 0.01 is at most 10%" in decides
        assert f"{pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}" in interval
        assert "random orders" in grades
        assert DECISION_NOTE in choice.grid().notes
        told = choice.to_dict()
        assert told["explanation"] == list(choice.explanation())
        assert str(choice).startswith(choice.recommendation()[0])
        assert "<details>" in choice._repr_html_()


def test_raw_and_corrected_p_are_each_explained():
    """The raw one is of one pair whose rankers are equally good; the corrected one bounds any false finding among all."""
    choice = choice_by_hand({"background": (30,), "smart": (38,), "interpolate": (36,), "target": (5,)})
    p, found = choice.unseen.pair(choice.name, "background", NDCG).randomisation, choice.explanation()[2]
    assert p.raw_text != p.holm_text
    raw, _, corrected = found.partition("Corrected")
    assert f"at least this large with probability {p.raw_text} (randomisation test, paired by query, two-sided" in raw
    assert f"With {len(choice.unseen.pairs)} pairs tested" in raw
    assert f"by Holm's method it is {p.holm_text}: " in corrected
    assert "at most 0.05" in corrected
    assert p.holm_text not in raw
    data = two_documents(40)
    alone = rk.compare({"a": right_in(data, range(20)), "b": right_in(data, range(29))}, data, NDCG)
    assert "Holm" not in p_meaning(alone, alone.pairs[0])


@pytest.mark.parametrize(("gained", "odd"), [(4, True), (3, False), (7, False)])
def test_an_interval_that_seems_to_contradict_its_p_value_is_explained(gained, odd):
    """Of 40 queries 3 gain: the interval has 0. 4: it has not, but 2 of 16 patterns of signs are as extreme. 7: p is 0.016."""
    choice = choice_by_hand({"background": (30,), "smart": (30 + gained,), "target": (25,)})
    pair = choice.unseen.pair("smart", "background", NDCG)
    assert pair.randomisation.raw == pytest.approx(2.0 ** (1 - gained))
    assert odd == (pair.interval[0] > 0.0 and pair.randomisation.raw > 0.05)
    assert ("It excludes 0 although p is 0.1250" in choice.explanation()[1]) == odd


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([0.2, 0.9, 1.0, 2.0]),
    st.integers(3, 40),
    st.integers(0, 1000),
    st.sampled_from([NDCG, rk.PairwiseErrors()]),
)
def test_a_comparison_of_the_same_two_rankers_finds_the_same_in_the_same_words(noise, queries, seed, measure):
    """All but where it was found; one pair needs no correction."""
    data = target(queries)
    scores = noisy({"background": 1.0, "smart": noise, "target": 5.0}, data, seed)
    choice = redecided(choice_of(scores, data, measures=(measure,)), name="smart", best="smart")
    two = rk.compare({name: scores[name] for name in ("background", "smart")}, data, measure)
    _, found, *_ = verdict_of(two, "background", "smart", measure)
    assert found.partition(": ")[2] == choice.recommendation()[1].partition(": ")[2]
    assert found.startswith("On ")


# ---- what else to know ---------------------------------------------------------------------------------------------------


def test_where_one_query_carries_the_gain_it_is_named_with_what_is_left_without_it():
    """Oracle: the means of both rankers on the data without that query."""
    data = target(12)
    before = noisy({"smart": 0.5}, data, 1)["smart"]
    after = before.copy()
    gains = data.offsets[3], data.offsets[4]
    before[slice(*gains)] = -data.grades[slice(*gains)]
    after[slice(*gains)] = data.grades[slice(*gains)]
    verdict = verdict_for("smart")
    scores = {"background": before, "smart": after, "target": before}
    trials = tuple(MethodTrial(KNOWN[name], rk.Feature(0), array, np.ones(6), 1.0) for name, array in scores.items())
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
    choice = choice_by_hand(RIGHT)
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
    choice = choice_by_hand(RIGHT)
    monkeypatch.setattr(Choice, "concentration", Concentration(*found))
    assert f"{carried} of the gain: without {left}." in choice.recommendation()


def test_a_tie_names_the_best_method_and_why_another_is_taken():
    """31 queries are right by smart and 30 by interpolate, which differ in three: the mean of smart is 1 − 9 · 0.3691 / 40."""
    near = choice_by_hand({"background": (5,), "interpolate": (2, 32), "smart": (31,), "target": (3,)})
    assert (
        "smart has the best mean, 0.917, but not clearly, so interpolate is taken, which is simpler." in near.recommendation()
    )
    assert near.name == "interpolate"
    clear = choice_by_hand({"background": (5,), "interpolate": (20,), "smart": (31,), "target": (3,)})
    assert clear.name == "smart"
    assert "has the best mean" not in words(clear)


WARNING = "Trees adapted to the target are at their best on queries like these."


def test_adapted_trees_come_with_the_papers_warning_and_others_do_not():
    for adapted in ("trada", "smart", "additive", "average"):
        assert WARNING in choice_by_hand({"background": (5,), adapted: (40,), "target": (5,)}).recommendation()
    for other in ("interpolate", "lambdaboost", "pool"):
        assert WARNING not in words(choice_by_hand({"background": (5,), other: (40,), "target": (5,)}))
    kept = redecided(choice_by_hand({"background": (5,), "trada": (40,), "target": (5,)}), decision="keep")
    assert WARNING not in words(kept)


@pytest.mark.parametrize(("right", "named"), [(30, True), (6, True), (5, False), (4, False), (0, False)])
def test_a_more_cautious_choice_is_one_that_is_better_than_the_background(right, named):
    """Five queries are ranked right by the background, and all 40 by trada."""
    choice = choice_by_hand({"background": (5,), "interpolate": (right,), "trada": (40,), "target": (5,)})
    below = (40 - right) * 0.3691 / 40
    safer = f"interpolate is the more cautious choice; its mean here is {below:.3f} below that of trada."
    assert (f"{WARNING} If later queries differ, {safer}" in choice.recommendation()) == named
    assert ("cautious" in words(choice)) == named
    assert (WARNING in choice.recommendation()) != named


@pytest.mark.parametrize(("queries", "warned"), [(12, True), (29, True), (30, False)])
def test_few_queries_are_warned_of(queries, warned):
    """Five gain, of which 2 in 32 patterns of signs make as much; with six it is clear, and no warning is needed."""
    choice = choice_by_hand({"background": (5,), "smart": (10,), "target": (2,)}, queries=queries)
    warning = f"With {queries} judged queries small differences cannot be told from chance"
    assert (warning in words(choice)) == warned
    assert warning not in words(choice_by_hand({"background": (5,), "smart": (11,), "target": (2,)}, queries=queries))


def test_test_data_and_shifted_data_are_reported_apart():
    """On the test data 20 of 30 queries gain 0.3691, on the shifted data 10 of 25 lose it."""
    test, shifted = two_documents(30), two_documents(25)
    on_test = {"background": 10, "smart": 30, "target": 1}
    on_shifted = {"background": 15, "smart": 5, "target": 1}
    others = {
        name: (data, {method: right_in(data, range(count)) for method, count in counts.items()})
        for name, data, counts in (("test", test, on_test), ("shifted", shifted, on_shifted))
    }
    *_, tested, moved = choice_by_hand(RIGHT, **others).recommendation()
    assert tested.startswith("On the 30 test queries, which decided nothing: +0.246 ndcg@10 (")
    assert tested.endswith("significantly better (p below 0.0001).")
    assert moved.startswith("On the 25 shifted queries, which decided nothing: -0.148 ndcg@10 (")
    assert moved.endswith("significantly worse (p 0.0020).")  # 2 of 1024 patterns of signs
    assert "which decided nothing" not in words(choice_by_hand(RIGHT))
    one = two_documents(1)
    single = choice_by_hand(RIGHT, test=(one, {name: right_in(one, [0]) for name in on_test}))
    assert single.recommendation()[-1] == "On the 1 test query, which decided nothing: no difference in ndcg@10."
