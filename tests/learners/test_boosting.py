"""The loop goes on from any base, stops where it should, and gives the same bytes whatever the threads and the row order."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.dataset import Dataset
from rankinite.trees.structure import DTYPES

WORLD = rk.World(features=6, documents=20, noise=0.3)
TRAIN, VALID = rk.synthesise(60, world=WORLD), rk.synthesise(30, part="valid", world=WORLD)
QUICK = rk.LambdaMART.plain(trees=12, leaves=8, min_rows=5, train_history=False)

VARIANTS = {
    "best-first": QUICK,
    "symmetric": replace(QUICK, shape="symmetric"),
    "mse": replace(QUICK, criterion="mse", min_curvature=0.1),
    "sampling": replace(QUICK, row_share=0.7, query_share=0.8, feature_share=0.7),
    "node sampling": replace(QUICK, node_row_share=0.7, node_feature_share=0.7, thresholds="random"),
    "McRank": rk.McRank(trees=4, leaves=6, min_rows=5, row_share=0.8),
    "bins from some rows": replace(QUICK, bin_sample=150),
}


def arrays(forest):
    return {name: getattr(forest.trees, name).tobytes() for name in DTYPES}


def file_bytes(ranker, path):
    ranker.save(path)
    return path.read_bytes()


def reordered(data: Dataset, seed=0) -> Dataset:
    """The same rows, queries and rows within queries in another order."""
    order = np.random.default_rng(seed).permutation(data.rows)
    qids = data.qids[data.query_of_row()][order]
    weights = None if data.weights is None else data.weights[data.query_of_row()][order]
    return Dataset.from_rows(data.features[order], data.grades[order], qids, data.feature_names, weights=weights)


# ---- the same bytes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_the_same_rows_in_another_order_give_the_same_forest(name):
    weighted = TRAIN.with_weights(np.linspace(0.5, 2.0, TRAIN.queries))
    expected = arrays(VARIANTS[name].fit(weighted))
    for seed in range(2):
        assert arrays(VARIANTS[name].fit(reordered(weighted, seed))) == expected


BIG = rk.World(features=20, documents=50, noise=0.3)


@pytest.mark.parametrize("name", VARIANTS)
def test_one_thread_and_two_give_the_same_bytes(name, tmp_path):
    data, valid = rk.synthesise(120, world=BIG), rk.synthesise(60, part="valid", world=BIG)  # rows enough to be divided
    learner = replace(VARIANTS[name], trees=4, leaves=16, train_history=True)
    found = set()
    for count in (1, 2, 3):
        with rk.threads(count):
            found.add(file_bytes(learner.fit(data, valid), tmp_path / f"{count}"))
    assert len(found) == 1


def test_another_process_gives_the_same_bytes(tmp_path):
    program = f"""
import sys, rankinite as rk
from dataclasses import replace
world = rk.World(features=6, documents=20, noise=0.3)
train, valid = rk.synthesise(60, world=world), rk.synthesise(30, part="valid", world=world)
rk.{VARIANTS["node sampling"]!r}.fit(train, valid).save(sys.argv[1])
""".replace("NDCG(", "rk.NDCG(")
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "other")], check=True, env={**os.environ, "PYTHONHASHSEED": "7"}
    )
    own = file_bytes(VARIANTS["node sampling"].fit(TRAIN, VALID), tmp_path / "own")
    assert hashlib.sha256(own).digest() == hashlib.sha256((tmp_path / "other").read_bytes()).digest()


def test_seeds_change_what_is_drawn_and_nothing_else():
    for name, learner in VARIANTS.items():
        same = arrays(learner.fit(TRAIN)) == arrays(replace(learner, seed=1).fit(TRAIN))
        assert same == (not learner.is_random), name


def test_a_query_of_doubled_rows_is_drawn_like_any_other():
    """Equal rows must not cancel out in the key of their query."""
    doubled = np.repeat(np.arange(TRAIN.rows), 2)
    data = Dataset.from_rows(
        TRAIN.features[doubled], TRAIN.grades[doubled], TRAIN.qids[TRAIN.query_of_row()][doubled], TRAIN.feature_names
    )
    forest = replace(QUICK, query_share=0.5).fit(data)
    drawn = {int(rows) for rows in forest.trees.rows[forest.trees.offsets[:-1]]}
    assert all(0.2 * data.rows < rows < 0.8 * data.rows for rows in drawn)
    assert len(drawn) > 3


# ---- laws of the scores -----------------------------------------------------------------------------------------------


PLAIN = replace(QUICK, normalise=False)  # dividing by the distance of scores, which has a unit, breaks the law


@pytest.mark.parametrize("learner", [PLAIN, replace(PLAIN, criterion="mse"), replace(PLAIN, shape="symmetric")])
def test_sigma_only_scales_the_scores(learner):
    expected = learner.fit(TRAIN).score(TRAIN)
    for sigma in (2.0, 4.0, 0.5):
        assert np.array_equal(replace(learner, sigma=sigma).fit(TRAIN).score(TRAIN) * sigma, expected)
    ranknet = rk.RankNetTrees(trees=8, leaves=6, min_rows=5)
    assert np.array_equal(replace(ranknet, sigma=2.0).fit(TRAIN).score(TRAIN) * 2, ranknet.fit(TRAIN).score(TRAIN))


@pytest.mark.parametrize(
    "learner", [QUICK, rk.MART(trees=12, leaves=6), rk.McRank(trees=6, leaves=4), rk.MART(trees=12, loss="graded")]
)
def test_rounds_from_a_base_go_on_as_if_never_interrupted(learner):
    half = replace(learner, trees=learner.trees // 2)
    whole, first = learner.fit(TRAIN), half.fit(TRAIN)
    second = half.fit(TRAIN, base=first)
    assert isinstance(second, rk.Forest)
    assert arrays(second) == arrays(whole)
    assert np.array_equal(second.score(VALID), whole.score(VALID))
    assert second.start.tolist() == whole.start.tolist()


class Outsider:
    """Anything that scores."""

    def score(self, data):
        return 3.0 * data.features[:, 0]


def test_any_ranker_is_a_base_and_is_inside_the_result(tmp_path):
    forest = replace(QUICK, trees=3).fit(TRAIN)
    for base in (rk.Feature("1"), 0.5 * forest + 2.0 * rk.Feature("2"), Outsider(), rk.McRank(trees=2, leaves=4).fit(TRAIN)):
        result = QUICK.fit(TRAIN, VALID, base=base)
        value = rk.evaluate(result, VALID, "ndcg@10")["ndcg@10"].mean
        assert value > rk.evaluate(base, VALID, "ndcg@10")["ndcg@10"].mean + 0.02
        own = result.parts[-1][1]
        assert own.history.valid[0] == pytest.approx(rk.evaluate(base, VALID, "ndcg@10")["ndcg@10"].mean, abs=1e-12)
        assert np.allclose(result.score(VALID), np.asarray(base.score(VALID)) + own.score(VALID))
        if not isinstance(base, Outsider):
            result.save(tmp_path / "model")
            assert np.array_equal(rk.load(tmp_path / "model").score(VALID), result.score(VALID))


def test_a_base_that_is_best_stays_alone():
    """Trees that only make it worse on the validation data are cut off to the last one."""
    answers = VALID.map_grades(lambda grades: 4 - grades)
    base = replace(QUICK, trees=40).fit(answers)  # knows the validation data by heart
    result = replace(QUICK, trees=10, patience=None).fit(TRAIN.map_grades(lambda grades: grades), answers, base=base)
    assert result.rounds == base.rounds
    assert result.history.best == 0
    assert np.array_equal(result.score(answers), base.score(answers))


# ---- when training ends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner", [QUICK, replace(QUICK, watch="err"), rk.McRank(trees=5, leaves=4), replace(QUICK, row_share=0.5)]
)
def test_the_history_is_what_evaluating_the_stages_gives(learner):
    forest = replace(learner, patience=None, train_history=True).fit(TRAIN, VALID)
    measure = learner.watched()
    history = forest.history
    assert history.measure == str(measure)
    assert len(history.train) == len(history.valid) == learner.trees + 1
    assert forest.rounds == history.best == 1 + int(np.argmax(history.valid[1:]))
    for rounds in range(forest.rounds + 1):
        for data, values in ((TRAIN, history.train), (VALID, history.valid)):
            assert values[rounds] == rk.evaluate(forest.truncate(rounds), data, [measure])[measure].mean


def test_training_ends_when_patience_does():
    forest = replace(QUICK, trees=200, rate=0.5, patience=7).fit(TRAIN, VALID)
    assert forest.history.stopped == "early"
    assert len(forest.history.valid) - 1 == forest.history.best + 7
    assert forest.rounds == forest.history.best
    longer = replace(QUICK, trees=forest.history.best + 30, rate=0.5, patience=None).fit(TRAIN, VALID)
    assert longer.history.valid.tolist()[: len(forest.history.valid)] == forest.history.valid.tolist()
    assert longer.history.stopped == "finished"


def test_errors_are_watched_downwards():
    forest = rk.MART(loss="balanced", trees=15, leaves=6, watch=rk.BalancedError(), patience=None).fit(TRAIN, VALID)
    assert forest.rounds == 1 + int(np.argmin(forest.history.valid[1:]))
    assert forest.history.valid[forest.rounds] < forest.history.valid[1]


def test_callbacks_hear_of_every_round_and_may_stop():
    heard, other = [], []

    def stop_at_five(progress):
        heard.append(progress)
        return progress.round == 5

    forest = QUICK.fit(TRAIN, callbacks=[stop_at_five, lambda progress: other.append(len(progress.ranker()))])
    assert [progress.round for progress in heard] == [1, 2, 3, 4, 5]
    assert other == [1, 2, 3, 4, 5]  # one callback's wish does not silence the next
    assert (forest.rounds, forest.history.stopped) == (5, "callback")
    assert {(p.rounds, p.measure, p.train, p.valid) for p in heard} == {(12, "ndcg@10", None, None)}
    assert arrays(forest) == arrays(replace(QUICK, trees=5).fit(TRAIN))

    heard.clear()
    forest = replace(QUICK, train_history=True).fit(TRAIN, VALID, callbacks=[stop_at_five])
    assert [p.valid for p in heard] == forest.history.valid[1:].tolist()
    assert [p.train for p in heard] == forest.history.train[1:].tolist()
    assert heard[-1].best == forest.history.best


def test_ctrl_c_keeps_what_there_is():
    def interrupt(progress):
        if progress.round == 4:
            raise KeyboardInterrupt

    forest = QUICK.fit(TRAIN, callbacks=[interrupt])
    assert (forest.rounds, forest.history.stopped) == (4, "interrupted")
    assert arrays(forest) == arrays(replace(QUICK, trees=4).fit(TRAIN))


def test_ctrl_c_while_measuring_leaves_a_history_that_fits():
    calls = []

    class Interrupting:
        higher_is_better, pooled = True, False

        def __str__(self):
            return "interrupting"

        def per_query(self, ranking):
            calls.append(ranking)
            if len(calls) == 8:  # the validation data of round 3
                raise KeyboardInterrupt
            return rk.NDCG(10).per_query(ranking)

    forest = replace(QUICK, watch=Interrupting(), train_history=True, patience=None).fit(TRAIN, VALID)
    assert forest.history.stopped == "interrupted"
    assert len(forest.history.train) == len(forest.history.valid) == 3
    assert forest.rounds == forest.history.best <= 2


def test_ctrl_c_before_the_first_round_is_passed_on():
    def interrupt(grades):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace(QUICK, watch=rk.FunctionMeasure("never", interrupt)).fit(TRAIN, VALID)


def test_errors_of_callbacks_are_passed_on():
    with pytest.raises(ZeroDivisionError):
        QUICK.fit(TRAIN, callbacks=[lambda progress: 1 / 0])


def test_training_ends_when_nothing_is_left_to_gain():
    """Three groups of rows, one grade each, and a full step: the second tree has nothing to do."""
    features = np.repeat(np.arange(3), 10)[:, None].astype(np.float32)
    data = rk.read(features, grades=np.repeat([0, 2, 3], 10), qid=np.tile([1, 2], 15))
    forest = rk.MART(trees=50, leaves=3, min_rows=1, rate=1.0).fit(data)
    assert forest.history.stopped == "exhausted"
    assert forest.rounds == 1
    assert forest.score(data).tolist() == pytest.approx(data.grades.tolist(), abs=1e-6)


def test_whole_numbers_and_floats_are_the_same_settings():
    assert rk.LambdaMART.plain(l2=1, rate=1, sigma=2).settings() == rk.LambdaMART.plain(l2=1.0, rate=1.0, sigma=2.0).settings()
    assert str(rk.LambdaMART.plain(l2=1).settings()) == str(rk.LambdaMART.plain(l2=1.0).settings())
