"""Recommendations: what they say follows from the evidence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import target
from rankinite.adapt.choice import Choice, size_of
from rankinite.adapt.deciding import BASELINES, decide
from rankinite.adapt.methods import AVERAGE, METHODS
from rankinite.adapt.trials import Trial
from rankinite.evaluation.evaluate import evaluate

NDCG = rk.NDCG(10)
KNOWN = {method.name: method for method in (*METHODS, AVERAGE)}


def scores_with(noise, seed, data):
    return data.grades + noise * np.random.default_rng(seed).normal(size=data.rows)


def chosen(noises, *, queries=20, data=None, test=None, shifted=None, confidence=0.8, measures=(NDCG,), **more):
    """What is said of methods whose scores are the grades and so much noise."""
    data = target(queries) if data is None else data
    scores = {name: scores_with(noise, place, data) for place, (name, noise) in enumerate(noises.items())}
    unseen = rk.compare(scores, data, measures, against=BASELINES)
    verdict = decide({name: evaluate(own, data, [NDCG])[NDCG].per_query for name, own in scores.items()}, confidence=confidence)
    trials = tuple(
        Trial(KNOWN[name], rk.Feature(place), own, np.ones(6), 1.0) for place, (name, own) in enumerate(scores.items())
    )
    others = {}
    for name, own in (("test", test), ("shifted", shifted)):
        if own is not None:
            others[name] = rk.compare({n: scores_with(noises[n], 9, own) for n in noises}, own, measures, against=BASELINES)
    return Choice(verdict, trials[list(noises).index(verdict.name)].ranker, NDCG, trials, {}, unseen, **others, **more)


def words(choice):
    return " ".join(choice.recommendation())


def test_a_method_that_is_surely_better_is_to_be_deployed():
    choice = chosen({"background": 3.0, "smart": 0.1, "target": 5.0}, queries=40)
    assert choice.name == choice.verdict.recommended == "smart"
    pair = choice.unseen.pair("smart", "background", NDCG)
    assert choice.recommendation()[0].startswith(
        f"Deploy smart: it beats the background ({choice.verdict.sure:.1%} sure, 80% asked for); "
        "on target queries it has not seen it is "
        f"{pair.difference:.4f} above the background"
    )
    assert "judge more" not in words(choice)


def test_where_nothing_is_better_the_background_is_kept():
    choice = chosen({"background": 0.0, "interpolate": 2.0, "target": 5.0})
    assert choice.recommendation()[0].startswith("Keep the background: ")
    assert f"({choice.verdict.sure:.1%} sure, 80% asked for)" in choice.recommendation()[0]
    assert "below the background" in choice.recommendation()[0]
    assert "Deploy" not in words(choice)


def test_where_all_are_the_same_the_background_is_kept():
    choice = chosen({"background": 0.0, "smart": 0.0, "target": 0.0})
    assert choice.recommendation()[0].startswith("Keep the background")
    assert "it is as good as the background" in choice.recommendation()[0]


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
    assert (f"With {queries} judged queries most differences are chance" in words(choice)) == warned


def test_test_data_and_shifted_data_are_told_apart():
    noises = {"background": 3.0, "smart": 0.1, "target": 5.0}
    test, shifted = target(30), target(25)
    choice = chosen(noises, test=test, shifted=shifted)
    for name, seen in (("test", choice.test), ("shifted", choice.shifted)):
        pair = seen.pair("smart", "background", NDCG)
        [said] = [line for line in choice.recommendation() if line.startswith(f"On the {name} data")]
        way = "above" if pair.difference > 0 else "below" if pair.difference < 0 else "as good as"
        assert way in said
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
    assert told["test"]["pairs"][0]["low"] is None
    assert len(str(choice)) > 1000


def test_sizes_count_what_is_inside():
    forest = rk.LambdaMART(trees=3, leaves=3, min_rows=2).fit(target())
    linear = rk.Linear(target().feature_names, np.ones(5))
    assert size_of(forest) == "3 trees"
    assert size_of(0.5 * (forest + linear) + 0.5 * forest + rk.Feature(0)) == "6 trees + 1 linear + 1 feature"
