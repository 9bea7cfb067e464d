"""Recommendations: what they say follows from the evidence."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.adapting import target
from rankinite.adapt.concentration import Concentration
from rankinite.adapt.decision import BASELINES, Verdict, decide
from rankinite.adapt.methods.catalogue import AVERAGE, METHODS
from rankinite.adapt.result import Choice, size_of
from rankinite.adapt.trial import Trial
from rankinite.evaluation.evaluate import evaluate

NDCG = rk.NDCG(10)
KNOWN = {method.name: method for method in (*METHODS, AVERAGE)}


def scores_with(noise, seed, data):
    return data.grades + noise * np.random.default_rng(seed).normal(size=data.rows)


def chosen(noises, *, queries=20, data=None, test=None, shifted=None, confidence=0.8, measures=(NDCG,), seed=0, **more):
    """What is said of methods whose scores are the grades and so much noise."""
    data = target(queries) if data is None else data
    scores = {name: scores_with(noise, seed + place, data) for place, (name, noise) in enumerate(noises.items())}
    unseen = rk.compare(scores, data, measures, against=BASELINES)
    sign = 1.0 if measures[0].higher_is_better else -1.0
    values = {name: sign * evaluate(own, data, measures)[measures[0]].per_query for name, own in scores.items()}
    verdict = decide(values, confidence=confidence)
    trials = tuple(
        Trial(KNOWN[name], rk.Feature(place), own, np.ones(6), 1.0) for place, (name, own) in enumerate(scores.items())
    )
    others = {}
    for name, own in (("test", test), ("shifted", shifted)):
        if own is not None:
            others[name] = rk.compare({n: scores_with(noises[n], 9, own) for n in noises}, own, measures, against=BASELINES)
    return Choice(verdict, trials[list(noises).index(verdict.name)].ranker, measures[0], trials, {}, unseen, **others, **more)


def words(choice):
    return " ".join(choice.recommendation())


def test_a_method_that_is_surely_better_is_to_be_deployed():
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0}, queries=40)
    assert choice.name == choice.verdict.recommended == "smart"
    pair = choice.unseen.pair("smart", "background", NDCG)
    assert choice.verdict.sure > 0.99
    assert choice.recommendation()[0] == (
        f"Deploy smart: on the 40 target queries it had not seen, its ndcg@10 is {pair.difference:.4f} higher than the "
        "background's; the confidence that it is better is more than 99%, where 80% is asked for."
    )
    assert "judge more" not in words(choice)


def test_where_nothing_is_better_the_background_is_kept():
    choice = chosen({"background": 0.0, "interpolate": 2.0, "target": 5.0})
    pair = choice.unseen.pair("interpolate", "background", NDCG)
    assert choice.recommendation()[0] == (
        "Keep the background: no method was better; on the 20 unseen target queries the ndcg@10 of the candidate, interpolate, "
        f"is {-pair.difference:.4f} lower than the background's."
    )
    assert "Deploy" not in words(choice)


def test_where_the_candidate_is_worse_but_another_method_better_no_more_is_claimed():
    choice = chosen({"background": 1.0, "interpolate": 0.4, "smart": 3.0, "target": 5.0}, queries=40)
    assert choice.unseen.pair("interpolate", "background", NDCG).better == "interpolate"
    forced = replace(choice, verdict=replace(choice.verdict, name="smart", best="interpolate", recommended="background"))
    gap = choice.unseen.pair("background", "smart", NDCG).difference
    assert forced.recommendation()[0] == (
        "Keep the background: on the 40 unseen target queries the ndcg@10 of the candidate, smart, "
        f"is {gap:.4f} lower than the background's."
    )


def test_where_all_are_the_same_the_background_is_kept():
    choice = chosen({"background": 0.0, "smart": 0.0, "target": 0.0})
    assert choice.recommendation()[0].startswith("Keep the background: no method was better; ")
    assert choice.recommendation()[0].endswith("the candidate, smart, equals the background's.")


def test_an_error_that_is_lower_is_better():
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0}, queries=40, measures=(rk.PairwiseErrors(),))
    pair = choice.unseen.pair("smart", "background", rk.PairwiseErrors())
    assert pair.difference < 0.0
    assert (
        f"its pairwise-errors is {-pair.difference:.4f} lower than the background's; the confid" in choice.recommendation()[0]
    )


PERCENTAGE = r"[\d.]+%"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([0.2, 1.0, 1.0, 1.1, 2.0]),
    st.sampled_from([0.2, 0.9, 1.0, 2.0]),
    st.integers(3, 40),
    st.integers(0, 1000),
    st.sampled_from([0.3, 0.5, 0.8, 0.8, 0.95, 0.995, 1.0]),
    st.booleans(),
)
def test_one_number_leads_and_none_is_said_of_what_is_worse(before, after, queries, seed, confidence, averaged):
    names = ["interpolate", "smart", *(["average"] if averaged else [])]
    noises = {"background": before, **dict.fromkeys(names, after), "target": 5.0}
    choice = chosen(noises, queries=queries, seed=seed, confidence=confidence)
    lead, *others = choice.recommendation()
    means = {name: float(np.nanmean(choice.unseen[name][NDCG].per_query)) for name in (choice.name, "background")}
    gain = means[choice.name] - means["background"]
    deployed = choice.verdict.recommended == choice.name
    assert lead.startswith(f"Deploy {choice.name}" if deployed else "Keep the background: ")
    assert not any(other.startswith(("Deploy", "Keep")) for other in others)
    assert "sure" not in words(choice)
    assert "interval" not in words(choice)
    shown = [float(text[:-1]) for text in re.findall(PERCENTAGE, lead)]
    if gain <= 1e-12:
        assert not re.findall(PERCENTAGE, words(choice))
        return
    reached, asked = shown
    assert asked == pytest.approx(100.0 * confidence)
    if "below" in lead:  # what a correction leaves of it
        assert (reached, deployed) == (50.0, False)
        assert choice.verdict.sure < 0.5
    else:
        assert (reached >= asked or f"more than {reached:g}%" in lead) == deployed or asked == 100.0
        assert 0.0 <= 100.0 * choice.verdict.sure - reached <= 1.0
    assert f"{abs(gain):.4f} higher" in lead or "less than 0.0001 higher" in lead


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
def test_confidences_are_cut_off_to_the_digits_asked_for(sure, confidence, text):
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0})
    told = replace(
        choice.verdict, sure=sure, confidence=confidence, recommended="smart" if sure >= confidence else "background"
    )
    assert text in replace(choice, verdict=told).recommendation()[0]


def test_the_other_numbers_are_explained_apart():
    for noises, tries in (({"smart": 0.9}, 2), ({"smart": 0.9, "interpolate": 1.0, "average": 0.8}, 1)):
        choice = chosen({"background": 1.0, **noises, "target": 5.0}, queries=25)
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
    before = scores_with(0.5, 1, data)
    after = before.copy()
    gains = data.offsets[3], data.offsets[4]
    before[slice(*gains)] = -data.grades[slice(*gains)]
    after[slice(*gains)] = data.grades[slice(*gains)]
    verdict = Verdict("smart", "smart", "smart", 0.8, 0.84, 1)
    scores = {"background": before, "smart": after, "target": before}
    trials = tuple(Trial(KNOWN[name], rk.Feature(0), own, np.ones(6), 1.0) for name, own in scores.items())
    choice = Choice(verdict, rk.Feature(0), NDCG, trials, {}, rk.compare(scores, data, NDCG, against=BASELINES))
    found = choice.concentration
    assert found.queries == (str(data.qids[3]),)
    kept = [query for query in range(12) if query != 3]
    rows = np.isin(data.query_of_row(), kept)
    without = [evaluate(own[rows], data.select_queries(kept), NDCG)[NDCG] for own in (after, before)]
    whole = [evaluate(own, data, NDCG)[NDCG] for own in (after, before)]
    assert found.rest == pytest.approx(without[0].mean - without[1].mean, abs=1e-12)
    assert found.gain == pytest.approx(whole[0].mean - whole[1].mean)
    sums = [first.mean * first.queries - second.mean * second.queries for first, second in (without, whole)]
    assert found.share == pytest.approx(1.0 - sums[0] / sums[1])
    assert f"Query '{data.qids[3]}' alone carries all of the gain: without it the mean gain falls from " in words(choice)
    assert choice.to_dict()["concentration"] == {**vars(found), "queries": list(found.queries)}
    assert choice.verdict == verdict


@pytest.mark.parametrize("noise", [1e-17, 1e-6])
def test_of_a_gain_that_is_rounding_or_too_small_to_print_no_query_is_said_to_carry_it(noise, monkeypatch):
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0})
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
def test_how_a_concentrated_gain_is_told(found, carried, left, monkeypatch):
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0})
    monkeypatch.setattr(Choice, "concentration", Concentration(*found))
    assert f"{carried} of the gain: without {left}." in choice.recommendation()


def test_a_tie_is_told_with_the_name_of_the_best():
    choice = chosen({"background": 6.0, "interpolate": 1.0, "smart": 0.95, "target": 6.0})
    name, best = choice.name, choice.verdict.best
    assert (name == best) == ("has the best mean" not in words(choice))
    forced = replace(choice, verdict=replace(choice.verdict, name="interpolate", best="smart"))
    assert "smart has the best mean" in words(forced)
    assert "so interpolate is taken, which is simpler." in words(forced)


def test_adapted_trees_come_with_the_papers_warning_and_others_do_not():
    noises = {"background": 6.0, "interpolate": 3.0, "trada": 0.1, "target": 6.0}
    trees = chosen(noises)
    assert trees.name == "trada"
    pair = trees.unseen["interpolate"][NDCG].mean - trees.unseen["trada"][NDCG].mean
    assert "Trees adapted to the target shine on queries like these. If those to come differ, interpolate is the more" in words(
        trees
    )
    assert f"cautious choice; here its mean is {-pair:.4f} below that of trada." in words(trees)
    assert "cautious" not in words(chosen({name: noises[name] for name in ("background", "trada", "target")}))
    assert "shine on queries like these." in words(chosen({name: noises[name] for name in ("background", "trada", "target")}))
    for other in ("interpolate", "lambdaboost", "pool"):
        assert "shine" not in words(chosen({"background": 6.0, other: 0.1, "target": 6.0}))


@pytest.mark.parametrize(("queries", "warned"), [(12, True), (29, True), (30, False)])
def test_few_queries_are_warned_of(queries, warned):
    choice = chosen({"background": 2.0, "smart": 1.0, "target": 3.0}, queries=queries)
    assert (f"With {queries} judged queries small differences cannot be told from chance" in words(choice)) == warned


def test_test_data_and_shifted_data_are_told_apart():
    noises = {"background": 3.0, "smart": 0.1, "target": 5.0}
    test, shifted = target(30), target(25)
    choice = chosen(noises, test=test, shifted=shifted)
    for name, seen in (("test", choice.test), ("shifted", choice.shifted)):
        pair = seen.pair("smart", "background", NDCG)
        [said] = [line for line in choice.recommendation() if line.startswith(f"On the {name} data")]
        assert ("higher" if pair.difference > 0 else "lower" if pair.difference < 0 else "equals") in said
        assert name in str(choice)
    assert "On the" not in words(chosen(noises))


# ---- tables and JSON -----------------------------------------------------------------------------------------------


def test_the_table_has_every_method_and_marks_the_chosen_one():
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0}, measures=(NDCG, rk.PairwiseErrors()))
    grid = choice.grid()
    assert [row[0] for row in grid.rows] == ["background", "smart", "target"]
    assert grid.strong == {(1, 0)}
    assert grid.rows[0][3] == grid.rows[2][4] == ""  # nothing is compared with itself
    pair = choice.unseen.pair("smart", "target", NDCG)
    assert grid.rows[1][4].startswith(f"{pair.difference:+.4f} (")
    assert "method" in grid.markdown()
    refusing = replace(choice, refused={"pool": "needs the background's data"})
    assert "pool: not tried, needs the background's data." in str(refusing)
    assert "pool" in refusing._repr_html_()


def test_gains_are_sorted_by_what_was_gained():
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0}, test=target(30))
    for seen in (choice.test, choice.unseen):
        gains = choice.gains(seen)
        differences = [new - old for _, old, new in gains]
        assert differences == sorted(differences, reverse=True)
        assert {qid for qid, _, _ in gains} == set(seen["smart"].qids.tolist())
    assert choice.gains() == choice.gains(choice.test)


def test_json_holds_all_without_nan_even_of_one_query():
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0}, test=target(1), shifted=target(2))
    told = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    assert (told["chosen"], told["recommended"], told["measure"]) == (choice.name, choice.verdict.recommended, "ndcg@10")
    assert list(told["methods"]) == list(told["unseen"]["systems"]) == ["background", "smart", "target"]
    assert told["recommendation"] == list(choice.recommendation())
    assert told["curve"] is None
    assert told["test"]["pairs"][0]["low"] == -1.0  # one query says nothing
    assert len(str(choice)) > 1000


def test_sizes_count_what_is_inside():
    forest = rk.LambdaMART(trees=3, leaves=3, min_rows=2).fit(target())
    linear = rk.Linear(target().feature_names, np.ones(5))
    assert size_of(forest) == "3 trees"
    assert size_of(0.5 * (forest + linear) + 0.5 * forest + rk.Feature(0)) == "6 trees + 1 linear + 1 feature"
