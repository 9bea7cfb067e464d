"""Trials: scores of queries not seen, and the average of methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import background, regraded, target, unseen, with_one_grade
from oracles.trials import by_name, mean_of_grades
from rankinite.adapt.held_out import holdouts_of
from rankinite.adapt.shared_fits import SharedFits, Task
from rankinite.adapt.trials import MethodTrial, average_trial, try_method
from rankinite.models.linear import Linear

NDCG = rk.NDCG(10)


# ---- one trial -----------------------------------------------------------------------------------------------------


def tried(data, method, folds=5):
    parts = holdouts_of(data, NDCG, folds, 0)
    work = SharedFits(Task({"web": background()}, data, NDCG, folds=folds))
    reports = []
    trial = try_method(method, [*(work.on(part.rest) for part in parts), work], parts, reports.append)
    return trial, parts, reports


@pytest.mark.parametrize("queries", [7, 14])
def test_every_judged_row_is_scored_by_a_ranker_that_did_not_see_its_query(queries):
    data = with_one_grade(target(queries), [2])
    trial, parts, reports = tried(data, by_name("smart"))
    assert len(parts) == (6 if queries == 7 else 5)
    fits = len(parts) + 1
    assert sorted(reports) == [done / fits for done in range(fits + 1)]  # before the first, and after each
    whole = mean_of_grades(SharedFits(Task({}, data, NDCG)))
    expected = whole.score(data)
    for part in parts:
        expected[part.rows] = mean_of_grades(SharedFits(Task({}, part.rest, NDCG))).score(part.held)
    assert trial.unseen.tobytes() == expected.tobytes()
    assert trial.ranker.score(data).tobytes() == whole.score(data).tobytes()
    assert trial.seconds > 0.0


def test_scores_do_not_depend_on_the_grades_of_queries_held_out_with_them():
    data, other = target(14), regraded(target(14), 3)
    before, parts, _ = tried(data, by_name("smart"))
    after, _, _ = tried(other, by_name("smart"))
    for part in parts:
        same = before.unseen[part.rows].tobytes() == after.unseen[part.rows].tobytes()
        assert same == (data.qids[3] in part.held.qids)
    assert before.ranker.score(data).tobytes() != after.ranker.score(data).tobytes()


# ---- the average ---------------------------------------------------------------------------------------------------


def trial(name, scale=1.0, column=0, kind="linear"):
    """Every part is scored by the same ranker, which is a column."""
    scores = scale * target().features[:, column].astype(float)
    spreads = [np.delete(scores, part.rows).std() for part in held()]
    return MethodTrial(by_name(name, kind), scale * rk.Feature(column), scores, np.asarray([*spreads, scores.std()]), 1.0)


def held():
    return holdouts_of(target(), NDCG, 5, 0)


def test_the_average_weighs_its_parts_alike():
    parts = [trial("lambdaboost", 3.0, 0), trial("trada", 0.2, 1), trial("pool", 50.0, 2)]
    others = [trial("background", 7.0, 3, "baseline"), trial("target", 1.0, 4, "baseline")]
    average = average_trial([*parts, *others], held())
    assert average.method.name == "average"
    for (weight, ranker), part in zip(average.ranker.parts, parts, strict=True):
        assert ranker is part.ranker
        assert (weight * ranker.score(target())).std() == pytest.approx(1 / 3)


def overfitted(work: SharedFits) -> Linear:
    """A ranker whose scores vary more on the queries it was fitted to than on others, like any that overfits."""
    data = work.task.target
    return Linear(data.feature_names, np.linalg.lstsq(data.features, data.grades - data.grades.mean(), rcond=None)[0])


@pytest.mark.parametrize("queries", [6, 12])
def test_the_average_that_is_judged_is_made_by_the_rule_of_the_one_that_is_deployed(queries):
    """Each part is judged by the very blend that would be deployed if there were no queries but those that are left."""
    data, fits = target(queries), {"lambdaboost": mean_of_grades, "trada": overfitted}
    found = [tried(data, by_name(name, fit=fit)) for name, fit in fits.items()]
    parts = found[0][1]
    average = average_trial([one for one, _, _ in found], parts)

    def deployed(seen):
        rankers = [fit(SharedFits(Task({}, seen, NDCG))) for fit in fits.values()]
        return rk.Blend(tuple((1 / (2 * ranker.score(seen).std()), ranker) for ranker in rankers))

    assert average.ranker.score(unseen()) == pytest.approx(deployed(data).score(unseen()))
    for part in parts:
        assert average.unseen[part.rows] == pytest.approx(deployed(part.rest).score(part.held))


def test_the_average_does_not_mind_the_scale_of_a_ranker_nor_of_one_part():
    parts = [trial("lambdaboost", 1.0, 0), trial("trada", 1.0, 1)]
    before = average_trial(parts, held())
    stretched, spreads = parts[0].unseen.copy(), parts[0].spreads.copy()
    stretched[held()[2].rows] *= 128.0
    spreads[2] *= 128.0
    spreads[-1] *= 64.0
    changed = replace(parts[0], ranker=64.0 * parts[0].ranker, unseen=stretched, spreads=spreads)
    after = average_trial([changed, parts[1]], held())
    assert after.unseen == pytest.approx(before.unseen)
    assert after.ranker.score(target()) == pytest.approx(before.ranker.score(target()))


def test_of_each_kind_the_first_one_tried_takes_part():
    names = ["smart", "trada", "trada-splits", "interpolate", "pool", "lambdaboost"]
    trials = [trial(name, column=place % 5) for place, name in enumerate(names)]
    average = average_trial(trials, held())
    chosen = [names[place] for place in (5, 2, 4)]
    assert chosen == ["lambdaboost", "trada-splits", "pool"]
    for (_, ranker), place in zip(average.ranker.parts, (5, 2, 4), strict=True):
        assert ranker is trials[place].ranker


def test_there_is_no_average_of_one():
    for trials in (
        [trial("smart")],
        [trial("smart"), trial("trada"), trial("background", kind="baseline")],
        [trial("smart"), trial("lambdaboost", 0.0)],  # constant scores rank nothing
    ):
        assert average_trial(trials, held()) is None
