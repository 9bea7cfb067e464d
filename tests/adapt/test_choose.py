"""Choice: every method tried on queries it did not see, whatever the order, the threads and the test data."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import (
    TREES,
    WORLD,
    background,
    background_data,
    make_small,
    regraded,
    shuffled,
    target,
    unseen,
    with_one_grade,
)
from rankinite.adapt import Trada, choose, smart
from rankinite.adapt.decision import decide, random_orders
from rankinite.adapt.held_out import holdouts_of
from rankinite.adapt.methods.catalogue import AVERAGED, METHODS, NO_DATA
from rankinite.adapt.shared_fits import SharedFits, Task
from rankinite.adapt.shift import seen_shift
from rankinite.adapt.trials import average_trial
from refusals import refused

NDCG = rk.NDCG(10)
ALL = [method.name for method in METHODS if method.usual and not method.lambda_form_of]
"""What is tried with a background of λ-gradients."""
FORESTS = ["trada", "trada-splits", "trada-trees", "additive"]
DATA = ["neighbours", "pool", "pool-10"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    make_small(monkeypatch)


@pytest.fixture(scope="module")
def choice():
    """Everything there is."""
    with pytest.MonkeyPatch.context() as patched:
        make_small(patched)
        return choose(background(), target(), background_data=background_data(), test=unseen(), also=["err", "ndcg@10"])


def same(one, other, order=slice(None)):
    """Whether all scores of two choices are the same to the bit."""
    assert list(one.models) == list(other.models)
    for a, b in zip(one.trials, other.trials, strict=True):
        assert a.unseen[order].tobytes() == b.unseen.tobytes(), a.method.name
        assert a.ranker.score(unseen()).tobytes() == b.ranker.score(unseen()).tobytes(), a.method.name
    assert one.verdict == other.verdict


# ---- what is done --------------------------------------------------------------------------------------------------


def test_every_method_is_tried_and_one_chosen_by_the_target_alone(choice):
    assert list(choice.models) == [*ALL, "average"]
    assert choice.refused == {}
    values = {name: choice.unseen[name][NDCG].per_query for name in choice.models}
    seen = {"shift": seen_shift(background(), background_data(), target(), 0), "background_queries": 40}
    by_chance = random_orders(target(), NDCG, 0)
    assert choice.verdict == decide(values, random_orders=by_chance, risk=0.1, tolerate=0.01, **seen)
    assert choice.ranker is choice.models[choice.verdict.recommended]
    assert choice.unseen.measures == choice.test.measures == (NDCG, rk.ERR())
    assert choice.unseen["smart"].qids.tolist() == target().qids.tolist()
    assert {name for pair in choice.unseen.pairs for name in (pair.first, pair.second)} == set(choice.models)
    assert all({"background", "target"} & {pair.first, pair.second} for pair in choice.unseen.pairs)


def test_baselines_are_what_they_say(choice):
    assert choice.models["background"] is background()
    trials = {trial.method.name: trial for trial in choice.trials}
    assert trials["background"].unseen.tobytes() == background().score(target()).tobytes()
    alone = SharedFits(Task({}, target(), NDCG)).target_ranker
    assert choice.models["target"].score(unseen()).tobytes() == alone.ranker.score(unseen()).tobytes()


def test_models_are_as_large_as_the_paper_compares_them(choice):
    size = {name: len(choice.models[name]) for name in ("background", *FORESTS, "pool", "pool-10")}
    assert size == {
        "background": 20,
        "trada": 20,
        "trada-splits": 20,
        "trada-trees": 22,
        "additive": 22,
        "pool": 22,
        "pool-10": 22,
    }
    assert choice.models["additive"].truncate(20).score(unseen()).tobytes() == background().score(unseen()).tobytes()


def test_the_average_is_made_of_one_method_of_each_kind(choice):
    again = average_trial(choice.trials[:-1], holdouts_of(target(), NDCG, 5, 0))
    assert again.unseen.tobytes() == choice.trials[-1].unseen.tobytes()
    parts = [ranker for _, ranker in choice.models["average"].parts]
    first = [next(name for name in kind if name in choice.models) for kind in AVERAGED]
    assert [part is choice.models[name] for part, name in zip(parts, first, strict=True)] == [True] * 3


def test_scores_do_not_depend_on_the_grades_of_their_query(choice):
    """Nor on those of the queries that were held out with it."""
    other = choose(background(), regraded(target(), 7), background_data=background_data(), curve=False)
    [part] = [part for part in holdouts_of(target(), NDCG, 5, 0) if target().qids[7] in part.held.qids]
    rest = np.setdiff1d(np.arange(target().rows), part.rows)
    changed = set()
    for before, after in zip(choice.trials, other.trials, strict=True):
        assert before.unseen[part.rows].tobytes() == after.unseen[part.rows].tobytes(), before.method.name
        if before.unseen[rest].tobytes() != after.unseen[rest].tobytes():
            changed.add(before.method.name)
    assert {"interpolate", "trada", "target", "pool"} <= changed
    assert "background" not in changed


def test_test_data_change_nothing_else(choice):
    asked = {"methods": ["trada", "additive", "pool"], "background_data": background_data(), "curve": False}
    plain = choose(background(), target(), **asked)
    later = rk.synthesise(5, part="valid", domain=1, world=WORLD)
    other = choose(background(), target(), test=regraded(unseen(), 2), shifted=later, **asked)
    same(plain, other)
    assert plain.test is plain.shifted is None
    assert other.shifted["trada"].qids.tolist() == later.qids.tolist()
    for name in asked["methods"]:
        assert choice.test[name][NDCG].per_query[:2].tolist() == other.test[name][NDCG].per_query[:2].tolist()
        assert choice.test[name][NDCG].per_query[2] != other.test[name][NDCG].per_query[2]


def test_neither_order_nor_threads_change_a_bit(choice):
    turned, order = shuffled(target(), 4)
    with rk.threads(1):
        other = choose(background(), turned, background_data=shuffled(background_data(), 5)[0], test=unseen())
    same(choice, other, order)
    assert other.curve.sizes == choice.curve.sizes
    queries = [turned.qids.tolist().index(qid) for qid in target().qids.tolist()]
    for name, values in choice.curve.values.items():
        assert values.tobytes() == other.curve.values[name][:, queries].tobytes()


def test_seeds_and_folds_matter():
    unseens = [
        choose(background(), target(), methods=[], curve=False, **change).trials[-1].unseen.tobytes()
        for change in ({}, {"seed": 1}, {"folds": 4}, {"seed": 0, "folds": 5})
    ]
    assert unseens[0] == unseens[3]
    assert len(set(unseens)) == 3


def test_queries_of_one_grade_are_trained_on_and_never_held_out():
    silent = with_one_grade(target(13), [12])
    other = choose(background(), silent, methods=["trada"], curve=False)
    assert other.unseen["trada"][NDCG].queries == 12
    assert np.isnan(other.unseen["trada"][NDCG].per_query[12])
    assert "Not counted: 1 more query with documents of one grade only" in str(other)
    assert np.isfinite(other.trials[1].unseen).all()


def test_validation_data_tune_and_the_target_decides():
    valid = rk.synthesise(8, part="valid", domain=1, world=WORLD)
    other = choose(background(), target(), valid, methods=["smart"])
    assert other.unseen["smart"].qids.tolist() == target().qids.tolist()
    learner = replace(TREES, row_share=0.7)
    assert other.models["smart"].score(unseen()).tobytes() == smart(background(), target(), valid, learner=learner).score(unseen()).tobytes()  # fmt: skip  # noqa: E501
    two = choose(background(), target(2), valid, methods=["smart"])  # enough, as folds need not tune
    assert two.curve.sizes == (1,)


# ---- what there is to adapt with -----------------------------------------------------------------------------------


def test_methods_without_what_they_need_are_refused():
    without = choose(background(), target(4), methods=[*DATA, "additive"], curve=False)
    assert {name: error.value for name, error in without.refusals.items()} == dict.fromkeys(DATA, NO_DATA)
    assert all("background_data" in why for why in without.refused.values())
    linear = choose(rk.Feature(0), target(4), methods=[*FORESTS, "lambdaboost"], curve=False)
    assert {name: error.value for name, error in linear.refusals.items()} == dict.fromkeys(FORESTS, "forest")
    assert all(f"{name}: not tried. {linear.refused[name]}" in str(linear) for name in FORESTS)
    with refused(rk.ArgumentError, owner="choose", setting="methods", value=["pool"]) as caught:
        choose(background(), target(4), methods=["pool"])
    assert "background_data" in caught.value.remedy


def test_what_is_to_be_deployed_is_the_ranker():
    """The background, where more is at risk than is accepted."""
    bold, careful = (choose(background(), target(6), methods=["additive"], curve=False, risk=risk) for risk in (1.0, 1e-9))
    assert replace(bold.verdict, risk=1e-9, decision="keep") == careful.verdict
    assert (bold.verdict.decision == "deploy") == (bold.verdict.ranks and bold.verdict.expected > 0.0)
    assert bold.ranker is bold.models[bold.verdict.recommended]
    assert (careful.verdict.recommended, careful.ranker) == ("background", careful.models["background"])


def test_what_can_be_seen_of_both_domains_counts():
    """The shift by the background's data, or else by what its ranker remembers; and its number of queries."""
    asked = {"methods": ["additive"], "curve": False}
    with_data = choose(background(), target(6), background_data=background_data(), **asked).verdict.signs
    without = choose(background(), target(6), **asked).verdict.signs
    assert with_data == replace(without, shift=seen_shift(background(), background_data(), target(6), 0))
    assert without.shift == seen_shift(background(), None, target(6), 0)
    assert without.background_queries == 40
    assert without.picked
    foreign = choose(replace(background(), sketch=None), target(6), **asked).verdict.signs
    assert foreign == replace(without, background_queries=None)
    half = 0.5 * background() + 0.5 * replace(background(), sketch=None)
    mixed = choose(half, target(6), methods=["lambdaboost"], curve=False).verdict.signs
    assert mixed.background_queries is None  # a part does not say
    assert mixed.shift == without.shift


@pytest.mark.parametrize("seed", range(3))
def test_where_the_grades_are_shuffled_the_background_is_kept(seed):
    """There is nothing to learn from these queries, and a ranker that learns from them is worse on others."""
    random, data = np.random.default_rng(seed), target(20)
    grades = np.concatenate([random.permutation(one) for one in np.split(data.grades, data.offsets[1:-1])])
    choice = choose(background(), replace(data, grades=grades), methods=["average"], curve=False)
    assert choice.verdict.decision == "keep"
    assert choice.verdict.recommended == "background"


def test_only_methods_asked_for_are_tried_beside_the_baselines():
    some = choose(background(), target(4), methods=["smart", "interpolate"], curve=False)
    assert list(some.models) == ["background", "interpolate", "smart", "target"]
    assert list(choose(background(), target(4), methods=[], curve=False).models) == ["background", "target"]
    average = choose(background(), target(4), methods=["smart", "average", "lambdaboost"], curve=False)
    assert list(average.models) == ["background", "lambdaboost", "smart", "target", "average"]
    assert average.curve is None
    alone = choose(background(), target(4), methods=["average"], curve=False)
    assert list(alone.models) == ["background", "interpolate", "lambdaboost", "trada-splits", "target", "average"]
    column = choose(rk.Feature(0), target(4), methods=["average"], curve=False)
    assert list(column.models) == ["background", "interpolate", "lambdaboost", "smart", "target", "average"]


def test_several_backgrounds_are_interpolated_and_the_best_is_adapted():
    poor = -1.0 * background()
    two = choose({"poor": poor, "good": background()}, target(5), curve=False, methods=["interpolate", "additive", "smart"])
    assert two.models["background"] is background()
    listed = choose([poor, background()], target(5), curve=False, methods=["interpolate", "additive", "smart"])
    same(two, listed)
    assert two.models["additive"].truncate(20).score(unseen()).tobytes() == background().score(unseen()).tobytes()


def test_forests_among_several_backgrounds_are_adapted_even_where_another_ranks_better():
    perfect = replace(target(6), features=np.column_stack((target(6).grades, target(6).features[:, 1:])).astype(np.float32))
    mixed = choose([background(), rk.Feature(0)], perfect, curve=False, methods=["trada", "additive"])
    assert isinstance(mixed.models["background"], rk.Feature)
    assert len(mixed.models["trada"]) == 20
    assert mixed.refused == {}


def test_a_forest_that_does_not_record_its_rate_is_not_tuned():
    foreign = replace(background(), settings={"learner": "XGBoost", "loss": "lambda"}, history=None)
    other = choose(foreign, target(4), methods=[*FORESTS, "lambdaboost", "average"], curve=False)
    assert list(other.refused) == ["trada", "trada-splits", "trada-trees"]
    assert (other.refusals["trada"].value, "rate" in other.refusals["trada"].remedy) == ([], True)
    assert list(other.models) == ["background", "lambdaboost", "additive", "target", "average"]


def test_what_was_adapted_once_can_be_adapted_again():
    tuned = Trada(beta=10.0).adapt(background(), target(6))
    again = choose(tuned, target(4), background_data=background_data(), methods=["trada", "additive", "pool"], curve=False)
    assert again.refused == {}
    learner = SharedFits(Task({"web": tuned}, target(4), NDCG)).learner(5)
    assert (learner.rate, learner.leaves) == (0.2, 6)


def test_models_trained_anew_have_the_shape_of_the_background_only_where_that_is_a_forest():
    net = rk.Linear(target().feature_names, np.ones(5), settings={"rate": 0.001, "leaves": 2})
    work = SharedFits(Task({"net": net}, target(), NDCG, seed=3))
    learner = work.learner(7)
    assert (learner.rate, learner.leaves, learner.trees, learner.seed, learner.patience) == (0.1, 12, 7, 3, None)
    assert (work.size, work.added, work.forest) == (330, 30, None)


def test_a_linear_ranker_and_a_blend_can_be_backgrounds():
    linear = rk.Linear(target().feature_names, np.arange(5) / 3.0)
    for ranker in (linear, 0.5 * background() + linear):
        found = choose(ranker, target(4), methods=["lambdaboost", "smart"], curve=False)
        assert np.isfinite(found.ranker.score(unseen())).all()


def test_infinite_features_leave_out_the_methods_that_refuse_them():
    features = target().features.copy()
    features[5, 3] = np.inf
    other = choose(background(), replace(target(), features=features), methods=["lambdaboost", "smart"], curve=False)
    assert list(other.refused) == ["lambdaboost"]
    assert "infinite='clip'" in other.refused["lambdaboost"]
    assert "smart" in other.models


def test_json_has_every_method(choice):
    found = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    assert found["curve"]["queries"] == list(choice.curve.sizes)
    assert list(found["methods"]) == list(choice.models)
    assert found["methods"]["trada"]["size"] == "20 trees"
    assert all(name in str(choice) for name in choice.models)


def test_a_curve_is_kept_for_the_methods_it_was_made_of(tmp_path):
    kept = {"backgrounds": background(), "target": target(16), "keep": tmp_path}
    first = choose(**kept, methods=["lambdaboost", "trada", "average"])
    second = choose(**kept, methods=["lambdaboost", "smart", "average"])
    for choice in (first, second):
        values = choice.unseen["average"][NDCG].per_query
        assert choice.curve.values["average"][-1] == pytest.approx(values[~np.isnan(values)])
