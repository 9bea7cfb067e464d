"""What cannot be learnt from is refused in words: never a silent constant, never somebody else's exception."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.engine.kernel import kernel
from rankinite.measures.base import Swap
from refusals import refused

WORLD = rk.World(features=4, documents=20)
DATA = rk.synthesise(20, world=WORLD)
LEARNERS = {
    "LambdaMART": rk.LambdaMART.plain(trees=3, min_rows=2, leaves=4),
    "RankNetTrees": rk.RankNetTrees(trees=3, min_rows=2, leaves=4),
    "MART": rk.MART(trees=3, min_rows=2, leaves=4),
    "McRank": rk.McRank(trees=3, min_rows=2, leaves=4),
}
QUICK = LEARNERS["LambdaMART"]
EACH = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def small(features, grades, qid):
    return rk.read(np.asarray(features, np.float32), grades=grades, qid=qid)


# ---- data that teach nothing ------------------------------------------------------------------------------------------


FOUND = {"LambdaMART": DATA.queries, "RankNetTrees": DATA.queries, "MART": DATA.rows, "McRank": 1.0}
"""What each learner says that it found where all grades are 1: queries without pairs, rows without a split, one grade."""


@EACH
def test_grades_all_equal(learner):
    with refused(rk.DataError, place=DATA.source, value=FOUND[type(learner).__name__]):
        learner.fit(DATA.map_grades(lambda grades: 0 * grades + 1))


def test_no_pairs_in_any_query():
    data = rk.read(DATA.features, grades=DATA.grades, qid=np.arange(DATA.rows))  # one query a row
    for name in ("LambdaMART", "RankNetTrees"):
        with refused(rk.DataError, place="array", value=DATA.rows):
            LEARNERS[name].fit(data)


@EACH
def test_weights_all_zero(learner):
    with refused(rk.DataError, place=DATA.source) as caught:
        learner.fit(DATA.with_weights(np.zeros(DATA.queries)))
    assert caught.value.value in (0.0, "ndcg@10", "RankNet")


@EACH
@pytest.mark.parametrize("value", [1.0, np.nan], ids=["constant", "missing"])
def test_features_that_tell_nothing(learner, value):
    with refused(rk.DataError, value=DATA.rows):
        learner.fit(rk.read(np.full((DATA.rows, 3), value), grades=DATA.grades, qid=DATA.query_of_row()))


@EACH
def test_one_row(learner):
    with pytest.raises(rk.DataError):
        learner.fit(small([[1.0]], [1], [1]))


@EACH
def test_fewer_rows_than_leaves_need(learner):
    two = small([[1.0], [2.0], [3.0]], [0, 1, 2], [1, 1, 1])
    with refused(rk.DataError, value=3):
        learner.fit(two)
    forest = replace(learner, min_rows=1, leaves=1000, trees=30).fit(two)  # fewer rows than leaves is no fault
    assert np.argsort(forest.score(two)).tolist() == [0, 1, 2]


@EACH
def test_one_query_and_one_useful_feature_are_enough(learner):
    noise = np.random.default_rng(0).normal(size=12)
    data = small(np.stack((np.full(12, np.nan), np.ones(12), np.arange(12)), axis=1), [0, 1, 2] * 4, ["q"] * 12)
    data = rk.read(np.column_stack((data.features, noise)), grades=np.repeat([0, 1, 2], 4), qid=["q"] * 12)
    forest = replace(learner, trees=30).fit(data)
    assert set(forest.trees.feature.tolist()) <= {-1, 2, 3}
    assert rk.evaluate(forest, data, "ndcg")["ndcg"].mean == pytest.approx(1.0)


@EACH
def test_too_much_curvature_asked_for(learner):
    with refused(rk.DataError, place=DATA.source, value=DATA.rows):
        replace(learner, min_curvature=1e9).fit(DATA)


@EACH
def test_no_features_at_all(learner):
    with pytest.raises(rk.RankiniteError):
        learner.fit(DATA.select_features([]))


def test_validation_data_that_say_nothing():
    with refused(rk.DataError, place="synthetic valid 0", value=5):
        QUICK.fit(DATA, rk.synthesise(5, part="valid", world=WORLD).map_grades(lambda grades: 0 * grades))


# ---- measures ---------------------------------------------------------------------------------------------------------


@kernel
def _prepare(relevance, discounts, state):
    """Nothing."""


@kernel
def _nan_changes(relevance, discounts, state, i, out):
    """No number at all."""
    for j in range(i + 1, len(relevance)):
        out[j] = np.nan


@kernel
def _infinite_changes(relevance, discounts, state, i, out):
    """Beyond all bounds."""
    for j in range(i + 1, len(relevance)):
        out[j] = np.inf


class Broken:
    """NDCG with other swap changes."""

    higher_is_better, pooled = True, False

    def __init__(self, changes):
        self.swap = Swap(_prepare, changes)
        self._real = rk.NDCG(10)
        self.parts = self._real.parts

    def __str__(self):
        return "broken"

    def __getattr__(self, name):
        return getattr(self._real, name)

    def per_query(self, ranking):
        return self._real.per_query(ranking)

    def table(self):
        return self._real.table()

    def relevance(self, grades):
        return self._real.relevance(grades)

    def discounts(self, ranks):
        return self._real.discounts(ranks)


@pytest.mark.parametrize("changes", [_nan_changes, _infinite_changes])
def test_swap_changes_that_are_no_numbers(changes):
    with refused(rk.MeasureError, place=f"{DATA.source}, query '1'", value="lambdas of broken"):
        replace(QUICK, measure=Broken(changes)).fit(DATA)


def test_measures_that_cannot_be_trained_for():
    for measure in ("p@5", rk.AveNDCG()):
        with refused(rk.MeasureError, value=str(measure)):
            replace(QUICK, measure=measure).fit(DATA)


def test_grades_outside_the_measures_scale():
    with refused(rk.MeasureError, place=f"{DATA.source}, row 18 (query '1')", value=7.0):
        replace(QUICK, measure="err").fit(DATA.map_grades(lambda grades: grades + 3))
    with refused(rk.DataError, place=DATA.source, value=9.0):
        replace(LEARNERS["MART"], loss="graded").fit(DATA.map_grades(lambda grades: grades + 5))


# ---- things that are not what they should be --------------------------------------------------------------------------


@pytest.mark.parametrize("thing", [None, DATA.features, "train.txt", 3])
def test_not_a_data_set(thing):
    with refused(rk.DataError, place="train"):
        QUICK.fit(thing)
    if thing is not None:
        with refused(rk.DataError, place="valid"):
            QUICK.fit(DATA, thing)


def test_validation_data_with_other_features():
    with refused(rk.DataError, place=DATA.source, value="other"):
        QUICK.fit(DATA, DATA.rename_features({"2": "other"}))
    with pytest.raises(rk.DataError):
        QUICK.fit(DATA, DATA.select_features([0, 1]))


@pytest.mark.parametrize("base", [3, "model", rk.Forest, QUICK, np.zeros(DATA.rows)])
def test_a_base_that_is_no_ranker(base):
    with refused(rk.ArgumentError, setting="base") as caught:
        QUICK.fit(DATA, base=base)
    assert caught.value.value is base


class Odd:
    """Scores that are not one finite number a row."""

    def __init__(self, scores):
        self.scores = scores

    def score(self, data):
        return self.scores


@pytest.mark.parametrize(
    "scores", [np.zeros(3), np.full(DATA.rows, np.nan), np.full(DATA.rows, np.inf), np.full(DATA.rows, -np.inf), "words", None]
)
@EACH
def test_a_base_with_scores_that_are_none(learner, scores):
    base = Odd(scores)
    with pytest.raises(rk.RankiniteError) as caught:
        learner.fit(DATA, base=base)
    error = caught.value
    assert error.value is base if isinstance(learner, rk.McRank) else error.place.startswith(("base", DATA.source))


def test_a_base_with_other_features():
    base = QUICK.fit(DATA.rename_features({"3": "elsewhere"}))
    if not (base.trees.feature == 2).any():
        pytest.fail("the base should use the feature")
    with refused(rk.DataError, place=DATA.source, value="elsewhere"):
        QUICK.fit(DATA, base=base)
    with refused(rk.DataError, place=DATA.source, value="elsewhere"):
        QUICK.fit(DATA, base=0.5 * base)


def test_mcrank_goes_on_from_its_like_alone():
    mcrank = LEARNERS["McRank"]
    other_grades = mcrank.fit(DATA.map_grades(lambda grades: np.minimum(grades, 2)))
    for base in (rk.Feature("1"), QUICK.fit(DATA), other_grades):
        with refused(rk.ArgumentError, setting="base"):
            mcrank.fit(DATA, base=base)


def test_mcrank_with_too_many_grades():
    with refused(rk.DataError, place=DATA.source, value=DATA.rows):
        LEARNERS["McRank"].fit(DATA.map_grades(lambda grades: np.arange(DATA.rows, dtype=np.float32)))


@pytest.mark.parametrize("callbacks", [print, [3], 5, None, ["print"]])
def test_callbacks_that_cannot_be_called(callbacks):
    with refused(rk.ArgumentError, setting="callbacks", value=callbacks):
        QUICK.fit(DATA, callbacks=callbacks)


def test_a_constraint_on_an_unknown_feature():
    with refused(rk.DataError, setting="monotone", value="+bm25"):
        replace(QUICK, monotone=("+bm25",)).fit(DATA)


def test_a_base_that_settles_everything_leaves_nothing_to_learn():
    """Pushes near the smallest float: no tree is better than one of nonsense."""
    base = Odd(1500.0 * DATA.grades.astype(np.float64))
    assert len(QUICK.fit(DATA, base=base).parts[1][1]) == 0
    forest = QUICK.fit(DATA, base=Odd(80.0 * DATA.grades.astype(np.float64))).parts[1][1]
    assert np.isfinite(forest.trees.value).all()


def test_mcrank_refuses_what_it_cannot_keep():
    with refused(rk.ArgumentError, owner="McRank", setting="monotone", value=("+0",)):
        rk.McRank(monotone=("+0",))
    base = rk.McRank(trees=2, leaves=4, min_rows=2).fit(DATA)
    turned = DATA.select_features(list(reversed(DATA.feature_names)))
    with refused(rk.ArgumentError, setting="base", value=base):
        rk.McRank(trees=2, leaves=4, min_rows=2).fit(turned, base=base)


def test_contradicting_signs_are_refused():
    with refused(rk.ArgumentError, owner="MART", setting="monotone", value="+a"):
        rk.MART(monotone=("+a", "-a"))


def test_a_huge_least_curvature_forbids_every_split():
    with refused(rk.DataError, place=DATA.source, value=DATA.rows):
        replace(QUICK, min_curvature=1e30).fit(DATA)


def test_preferences_need_no_grades():
    flat = DATA.map_grades(np.zeros_like)
    pairs = [(int(start), int(start) + 1) for start in flat.offsets[:-1]]
    better, worse = np.asarray(pairs).T
    data = flat.with_preferences(rk.Preferences(better, worse, np.ones(len(pairs))))
    forest = rk.RankNetTrees(trees=3, leaves=4, min_rows=2).fit(data)
    assert len(forest) == 3
    assert not len(forest.history.train)


def test_a_base_that_cannot_be_improved_is_returned_as_it_is():
    ended = rk.MART(trees=3, rate=1.0, leaves=8, min_rows=200).fit(DATA)
    again = rk.MART(trees=3, rate=1.0, leaves=8, min_rows=DATA.rows).fit(DATA, base=ended)
    assert len(again) == len(ended)
    assert again.score(DATA).tolist() == ended.score(DATA).tolist()


@pytest.mark.parametrize("shape", ["best-first", "symmetric"])
def test_trees_that_tell_no_rows_apart_are_refused(shape):
    with refused(rk.DataError, value=DATA.rows):
        rk.LambdaMART(shape=shape, min_rows=DATA.rows).fit(DATA)
    with refused(rk.DataError, value=DATA.rows):
        rk.MART(trees=None, shape=shape, min_rows=DATA.rows).fit(DATA)
