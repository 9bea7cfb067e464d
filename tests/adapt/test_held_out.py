"""Choices on queries held out: the number of rounds, scores of queries not train on, the first maker that will do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import (
    LINEAR,
    TREES,
    WORLD,
    background,
    background_data,
    judged_by_a_feature,
    regraded,
    shuffled,
    target,
    unseen,
    with_one_grade,
)
from rankinite.adapt.held_out import (
    best_round,
    first_good,
    fit_target_ranker,
    fit_tuned,
    held_curve,
    holdouts_of,
    judged_queries,
    standard_error,
    train,
    with_rounds,
)
from rankinite.evaluation.evaluate import evaluate
from rankinite.models.linear import Linear
from rankinite.trees.growth import Grower
from refusals import refused

NDCG = rk.NDCG(10)
BASES = {"none": lambda: None, "forest": background, "linear": lambda: Linear(target().feature_names, np.arange(5) / 5.0)}


def best_rounds(learner, parts, **more):
    return best_round(held_curve(learner, parts, **more), learner.watched(), based=more.get("base") is not None)


def per_query(scores, data, measure=NDCG):
    return evaluate(scores, data, [measure])[measure].per_query


# ---- parts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("queries", "folds", "parts"), [(12, 5, 5), (10, 5, 5), (9, 5, 9), (3, 2, 3), (12, 100, 12)])
def test_judged_queries_are_held_out_once_and_others_never(queries, folds, parts):
    data = with_one_grade(target(queries + 2), [0, queries])
    found = holdouts_of(data, NDCG, folds, seed=1)
    assert len(found) == parts
    held = [qid for part in found for qid in part.held.qids.tolist()]
    silent = data.qids[[0, queries]].tolist()
    assert sorted(held + silent) == sorted(data.qids.tolist())
    for part in found:
        assert set(silent) <= set(part.rest.qids.tolist())
        assert set(part.rest.qids.tolist()) == set(data.qids.tolist()) - set(part.held.qids.tolist())
        assert data.features[part.rows].tobytes() == part.held.features.tobytes()
    assert judged_queries(data, NDCG).tolist() == [query for query in range(data.queries) if query not in (0, queries)]


@pytest.mark.parametrize("judged", [0, 1])
def test_too_few_queries_with_different_grades_are_refused(judged):
    data = with_one_grade(target(5), np.arange(judged, 5))
    with refused(rk.DataError, place=data.source, value=judged):
        fit_tuned(TREES, data, base=background())
    with refused(rk.DataError, place=data.source, value=judged):
        fit_target_ranker(TREES, data)


def test_one_part_is_refused():
    with refused(rk.ArgumentError, value=1):
        fit_target_ranker(TREES, target(), folds=1)


# ---- the number of rounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("patience", [None, 2])
def test_the_number_of_rounds_is_best_over_all_held_queries(base, patience):
    """By the definition: the forests of all numbers of rounds, each as long as its training would have gone on."""
    start, data = BASES[base](), with_one_grade(target(13), [4])
    learner, total = replace(TREES, trees=8, patience=patience), np.zeros(9)
    parts = holdouts_of(data, NDCG, 5, seed=2)
    for part in parts:
        longest = len(_last(learner.fit(part.rest, part.held, base=start)).history.valid) - 1
        assert longest == learner.trees if patience is None else longest >= patience
        before = np.zeros(part.held.rows) if start is None else start.score(part.held)
        for rounds in range(learner.trees + 1):
            ranker = with_rounds(learner, max(1, min(rounds, longest))).fit(part.rest, base=start)
            total[rounds] += per_query(ranker.score(part.held) if rounds else before, part.held).sum()
    first = 0 if start is not None else 1
    expected = first + int(np.argmax(np.round(total[first:], 9)))
    assert best_rounds(learner, parts, base=start) == expected
    tuned = fit_tuned(learner, data, base=start, seed=2)
    alike = start if expected == 0 else with_rounds(learner, expected).fit(data, base=start)
    assert tuned.score(unseen()).tobytes() == alike.score(unseen()).tobytes()


def _last(ranker):
    return ranker.parts[-1][1] if isinstance(ranker, rk.Blend) else ranker


def test_the_measure_that_is_watched_decides():
    parts = holdouts_of(target(), NDCG, 5, seed=0)
    watched = [replace(TREES, watch=measure) for measure in ("ndcg@10", "ndcg@1", "pairwise-errors")]
    curves = []
    for learner in watched:
        sums = [learner.fit(part.rest, part.held).history.valid * part.held.queries for part in parts]
        mean = np.sum(sums, axis=0)[1:]
        curves.append(1 + int(np.argmin(mean) if learner.watch.higher_is_better is False else np.argmax(mean)))
    assert [best_rounds(learner, parts) for learner in watched] == curves
    assert len(set(curves)) > 1


@pytest.mark.parametrize("learner", [TREES, LINEAR], ids=["trees", "linear"])
@pytest.mark.parametrize("judge", [None, "valid"])
def test_where_no_round_is_best_the_base_itself_comes_back(learner, judge):
    data, perfect = judged_by_a_feature(), rk.Feature(0)
    valid = judged_by_a_feature(4, "valid") if judge else None
    assert fit_tuned(learner, data, valid, base=perfect) is perfect

    class FirstFeature:
        def score(self, data):
            return data.features[:, 0].astype(float) / 3.0

    tuned = fit_tuned(learner, data, valid, base=FirstFeature())
    assert tuned.score(data).tobytes() == FirstFeature().score(data).tobytes()


def test_validation_data_do_without_folds():
    valid = rk.synthesise(6, part="valid", domain=1, world=WORLD)
    tuned = fit_tuned(TREES, target(1), valid, base=background())
    assert tuned.score(unseen()).tobytes() == TREES.fit(target(1), valid, base=background()).score(unseen()).tobytes()
    alone = fit_target_ranker(TREES, target(4), valid)
    assert alone.unseen is valid
    assert alone.scores.tobytes() == TREES.fit(target(4), valid).score(valid).tobytes()


def test_extra_rows_always_join():
    extra = background_data().select_queries(np.arange(5))
    alone = fit_target_ranker(TREES, target(), extra=extra, seed=4)
    parts = holdouts_of(target(), NDCG, 5, seed=4)
    rounds = best_rounds(TREES, parts, extra=extra)
    for part in parts:
        joined = rk.concat([part.rest, extra], prefixes=("", "background:"))
        alike = with_rounds(TREES, rounds).fit(joined).score(part.held)
        assert alone.scores[part.rows].tobytes() == alike.tobytes()


def test_learners_without_rounds_need_validation_data():
    with refused(rk.ArgumentError, place="LambdaRank"):
        fit_target_ranker(rk.LambdaRank(epochs=2), target(4))


# ---- scores of queries not seen ------------------------------------------------------------------------------------


def test_unseen_scores_are_those_of_rankers_trained_without_the_query():
    data = with_one_grade(target(14), [3, 7])
    alone = fit_target_ranker(TREES, data, seed=5)
    parts = holdouts_of(data, NDCG, 5, seed=5)
    final = with_rounds(TREES, best_rounds(TREES, parts))
    assert alone.unseen.qids.tolist() == np.delete(data.qids, [3, 7]).tolist()
    scores = np.full(data.rows, np.nan)
    for part in parts:
        scores[part.rows] = final.fit(part.rest).score(part.held)
    assert alone.scores.tobytes() == scores[~np.isnan(scores)].tobytes()
    assert alone.ranker.score(unseen()).tobytes() == final.fit(data).score(unseen()).tobytes()


def test_unseen_scores_do_not_depend_on_the_grades_of_their_query():
    """Its grades may change how many rounds are best; where that is fixed, they change the scores of other parts alone."""
    once = replace(TREES, trees=1)
    data, other = target(), regraded(target(), 5)
    before, after = fit_target_ranker(once, data).scores, fit_target_ranker(once, other).scores
    [part] = [part for part in holdouts_of(data, NDCG, 5, 0) if data.qids[5] in part.held.qids]
    assert before[part.rows].tobytes() == after[part.rows].tobytes()
    rest = np.setdiff1d(np.arange(data.rows), part.rows)
    assert before[rest].tobytes() != after[rest].tobytes()


# ---- the order of things, and threads ------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [TREES, replace(TREES, row_share=0.7), LINEAR], ids=["trees", "drawn", "linear"])
def test_neither_order_nor_threads_change_a_bit(learner):
    data, (turned, order) = target(), shuffled(target())
    with rk.threads(1):
        alone, tuned = fit_target_ranker(learner, data), fit_tuned(learner, data, base=background())
    with rk.threads(2):
        other, again = fit_target_ranker(learner, turned), fit_tuned(learner, turned, base=background())
    assert alone.scores[order].tobytes() == other.scores.tobytes()
    assert alone.ranker.score(unseen()).tobytes() == other.ranker.score(unseen()).tobytes()
    assert tuned.score(unseen()).tobytes() == again.score(unseen()).tobytes()


# ---- interruptions -------------------------------------------------------------------------------------------------


def test_a_ranker_that_is_interrupted_does_not_count_as_trained(monkeypatch):
    grow, left = Grower.grow, iter(range(3))

    def interrupted(self, *arguments):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return grow(self, *arguments)

    monkeypatch.setattr(Grower, "grow", interrupted)
    assert TREES.fit(target()).history.stopped == "interrupted"  # by itself a learner keeps what there is
    left = iter(range(3))
    with pytest.raises(KeyboardInterrupt):
        train(TREES, target())
    left = iter(range(3))
    with pytest.raises(KeyboardInterrupt):
        train(TREES, target(), base=background())
    left = iter(range(14))  # in the second part
    with pytest.raises(KeyboardInterrupt):
        fit_target_ranker(replace(TREES, patience=None), target())


# ---- the first that will do ------------------------------------------------------------------------------------------


def test_a_standard_error_is_that_of_the_mean():
    values = np.asarray([0.1, 0.5, -0.3, 0.2])
    assert standard_error(values) == pytest.approx(np.sqrt(((values - values.mean()) ** 2).sum() / 3 / 4))
    assert standard_error(values[:1]) == 0.0


@pytest.mark.parametrize("judge", [None, "valid"])
def test_the_first_maker_within_one_standard_error_of_the_best_is_taken(judge):
    data = judged_by_a_feature(14)
    valid = judged_by_a_feature(7, "valid") if judge else None
    random = np.random.default_rng(0)
    perfect = {float(key): float(key) for key in np.unique(data.grades)}

    def noisy(amount):
        def make(train):
            assert valid is not None or train.queries < data.queries

            class Maker:
                def score(self, held):
                    noise = np.random.default_rng(held.rows).normal(size=held.rows)
                    return np.asarray([perfect[float(grade)] for grade in held.grades]) + amount * noise

            return Maker()

        return make

    for _ in range(6):
        makers = [noisy(amount) for amount in random.permutation([0.0, 0.01, 0.4, 0.6, 0.8, 3.0])]
        judged = data if valid is None else valid
        values = []
        for make in makers:
            scores = np.zeros(judged.rows)
            if valid is None:
                for part in holdouts_of(data, NDCG, 5, 0):
                    scores[part.rows] = make(part.rest).score(part.held)
            else:
                scores = make(data).score(valid)
            values.append(per_query(scores, judged))
        best = max(values, key=np.mean)
        short = [(best - other).mean() - standard_error(best - other) for other in values]
        expected = next(place for place, missing in enumerate(short) if missing <= 0)
        assert first_good(makers, data, valid, NDCG) == expected


def test_errors_are_better_when_lower():
    makers = [lambda _train: rk.Feature(1), lambda _train: rk.Feature(0)]
    data = judged_by_a_feature()
    assert first_good(makers, data, None, NDCG) == 1
    assert first_good(makers, data, None, rk.parse_measure("pairwise-errors")) == 1
    assert first_good(makers[::-1], data, None, rk.parse_measure("pairwise-errors")) == 0


def test_the_history_records_the_curve_by_which_rounds_were_chosen():
    ranker = fit_tuned(TREES, target(), folds=3)
    curve = held_curve(TREES, holdouts_of(target(), NDCG, 3, 0))
    assert ranker.history.valid.tobytes() == curve.tobytes()
    assert ranker.history.best == 1 + np.argmax(curve[1:]) == len(ranker)
