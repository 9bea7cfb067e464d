"""Importance in a report is of whole rankers, whatever they are made of, and is what explanations and shuffles say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.report import importance_section, of_comparison, of_training
from rankinite.report.importance_section import few_queries, importance_of, losses_of

DATA = rk.synthesise(25, world=rk.World(documents=7, features=4, noise=0.3))
NAMES = DATA.feature_names
EVERY = np.arange(DATA.queries)
TREES = rk.LambdaMART.plain(trees=4, leaves=4, min_rows=5).fit(DATA)
BLEND = 0.4 * TREES + 0.6 * rk.Linear(NAMES, [0.5, 0.0, 1.0, -1.0])


def expected(ranker, data=DATA):
    sizes = {one.feature: one.within for one in ranker.explain(data).features}
    return {name: size / sum(sizes.values()) for name, size in sizes.items()}


def test_shares_are_those_of_contributions_within_queries_of_blends_too():
    found = importance_of({"before": TREES, "after": BLEND}, DATA)
    assert (found.kind, found.rankers) == ("contributions", ("before", "after"))
    known = [expected(TREES), expected(BLEND)]
    for feature, shares in zip(found.features, found.shares, strict=True):
        assert shares == pytest.approx([one.get(feature, 0.0) for one in known], abs=1e-5)
    largest = [max(shares) for shares in found.shares]
    assert largest == sorted(largest, reverse=True)


def test_losses_are_those_of_shuffling_the_ranker_itself():
    found = losses_of("it", BLEND, DATA, EVERY, rk.NDCG(5), NAMES[:3])
    lost = BLEND.permutation_importance(DATA, "ndcg@5", features=NAMES[:3], repeats=importance_section.REPEATS)
    assert dict(zip(found.features, found.means, strict=True)) == pytest.approx({k: v.mean for k, v in lost.items()}, abs=1e-6)
    assert found.lows == tuple(one.interval[0] for one in lost.features)
    assert (found.measure, found.others) == ("ndcg@5", 0)
    assert losses_of("it", DATA.grades, DATA, EVERY, rk.NDCG(5)) is None


def test_rankers_whose_scores_cannot_be_split_have_losses_and_forests_their_gains():
    scaled = rk.Normalised(TREES, "query")
    shown = of_comparison(rk.compare({"a": TREES, "b": scaled}, DATA, "ndcg", resamples=50), DATA, {"a": TREES, "b": scaled})
    assert shown.importance is None
    assert set(shown.losses.features) == set(NAMES)
    found, gains = importance_of({"it": TREES}, None), TREES.importance()
    assert found.kind == "gain"
    known = {name: gain / sum(gains.values()) for name, gain in gains.items()}
    assert [shares[0] for shares in found.shares] == pytest.approx([known[name] for name in found.features], abs=1e-5)
    gainless = replace(TREES, trees=replace(TREES.trees, gain=np.zeros_like(TREES.trees.gain)))
    assert importance_of({"it": gainless}, None).kind == "count"
    assert importance_of({"it": BLEND}, None) is None
    assert importance_of({"it": DATA.grades}, DATA) is None


def test_a_training_without_data_has_gains_and_one_with_data_contributions():
    assert of_training(TREES).importance.kind == "gain"
    assert of_training(TREES).losses is None
    shown = of_training(BLEND, DATA, "ndcg@5")
    assert shown.importance.kind == "contributions"
    assert shown.losses.ranker == "model"


def test_the_same_ranker_is_shown_once_and_what_is_left_out_is_counted(monkeypatch):
    assert importance_of({"a": TREES, "b": replace(TREES)}, DATA).rankers == ("a",)
    whole = importance_of({"it": BLEND}, DATA)
    monkeypatch.setattr(importance_section, "FEATURES", 2)
    found = importance_of({"it": BLEND}, DATA)
    assert found.features == whole.features[:2]
    assert (found.others, found.unused) == (len(whole.features) - 2, whole.unused)
    lost = losses_of("it", BLEND, DATA, EVERY, rk.NDCG(5))
    assert (len(lost.features), lost.others) == (2, len(NAMES) - 2)


@pytest.mark.parametrize("documents", [1, 20, 100, 10**6])
def test_few_queries_are_counted_ones_from_first_to_last(documents):
    counted = np.arange(3, 20)
    part = few_queries(DATA, counted, documents)
    assert set(part.qids) <= set(DATA.qids[counted])
    assert part.rows <= max(documents, 2 * 7)
    assert part.queries >= 2
    assert (part.qids[0], part.qids[-1]) == (DATA.qids[3], DATA.qids[19])
    assert len(set(part.qids)) == part.queries


def test_of_large_data_a_part_is_taken_and_named(monkeypatch):
    monkeypatch.setattr(importance_section, "MOST_DOCUMENTS", 50)
    found = importance_of({"it": BLEND}, DATA)
    assert found.queries == f"7 of 25 queries of {DATA.source}"
    part = few_queries(DATA, None, 50)
    known = expected(BLEND, part)
    assert [shares[0] for shares in found.shares] == pytest.approx([known[name] for name in found.features], abs=1e-5)


def test_the_deployed_ranker_of_a_choice_is_the_last_shown(adapted, choice, market):
    test = market[4]
    deployed, verdict = adapted.importance.rankers[-1], choice.verdict
    what = {"deploy": "to deploy", "try online": "to try online", "keep": "to keep"}[verdict.decision]
    assert deployed == f"{verdict.recommended} ({what})"
    assert deployed == adapted.losses.ranker
    known = expected(choice.ranker, test)
    for feature, shares in zip(adapted.importance.features, adapted.importance.shares, strict=True):
        assert shares[-1] == pytest.approx(known.get(feature, 0.0), abs=1e-5)
    lost = choice.ranker.permutation_importance(test, choice.measure, features=adapted.importance.features, repeats=5)
    assert adapted.losses.means == pytest.approx([one.mean for one in lost.features], abs=1e-6)


def test_forests_of_others_are_never_mixed_with_those_that_know_their_gains():
    forest = random_forest(2, features=4)
    foreign = replace(forest, trees=replace(forest.trees, gain=np.zeros_like(forest.trees.gain)))
    found = importance_of({"a": forest, "b": foreign}, None)
    counts = [one.importance("count") for one in (forest, foreign)]
    assert found.kind == "count"
    for feature, shares in zip(found.features, found.shares, strict=True):
        assert shares == pytest.approx([one[feature] / sum(one.values()) for one in counts], abs=1e-5)
