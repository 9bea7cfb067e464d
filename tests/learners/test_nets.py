"""Nets learn as the plain loop does, keep their best epoch, and give the same bytes whatever the threads and the row order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.nets import graded_pairs, lambda_pairs, trained
from rankinite.engine.parallel import Team
from rankinite.learners.descent_run import DescentRun

WORLD = rk.World(features=6, documents=12, noise=0.3)
TRAIN, VALID = rk.synthesise(40, world=WORLD), rk.synthesise(25, part="valid", world=WORLD)
QUICK = rk.LambdaRank(epochs=8, rate=0.01)


def all_pairs(data, seed=0):
    """Judgements of many pairs, some against the grades."""
    random = np.random.default_rng(seed)
    better = random.integers(0, data.rows, 400)
    query = data.query_of_row()[better]
    worse = data.offsets[query] + random.integers(0, 12, 400)
    return rk.Preferences(better, worse, np.where(data.grades[better] > data.grades[worse], 0.9, random.random(400)))


VARIANTS = {
    "net": (QUICK, TRAIN),
    "linear": (replace(QUICK, hidden=()), TRAIN),
    "two layers, sgd": (replace(QUICK, hidden=(5, 3), optimiser="sgd", rate=0.05, l2=0.01), TRAIN),
    "err": (replace(QUICK, measure="err"), TRAIN.with_weights(np.linspace(0.5, 2.0, TRAIN.queries))),
    "ranknet": (rk.RankNet(epochs=8, rate=0.01), TRAIN),
    "preferences": (rk.RankNet(epochs=8, rate=0.01), TRAIN.with_preferences(all_pairs(TRAIN))),
}
EACH = pytest.mark.parametrize("name", VARIANTS)


def ndcg(ranker, data=VALID, measure="ndcg@10"):
    return rk.evaluate(ranker, data, measure)[measure].mean


def file_bytes(ranker, path):
    ranker.save(path)
    return path.read_bytes()


# ---- what is learnt ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "pairs_of"),
    [
        (rk.LambdaRank(hidden=(), optimiser="sgd", rate=2.0), lambda_pairs(rk.NDCG(10))),
        (rk.LambdaRank(hidden=(4,), optimiser="sgd", rate=1.0, l2=0.001, sigma=2.0), lambda_pairs(rk.NDCG(10))),
        (rk.LambdaRank(hidden=(3, 2), rate=0.5, measure="err"), lambda_pairs(rk.ERR())),
        (rk.RankNet(hidden=(), rate=0.3, seed=5), graded_pairs),
        (rk.RankNet(hidden=(4,), optimiser="sgd", rate=0.05), graded_pairs),
    ],
    ids=["linear ndcg", "net ndcg", "two layers err", "linear ranknet", "net ranknet"],
)
def test_training_is_the_plain_loop(learner, pairs_of):
    """Large steps, so that some epochs are no better: the rate then falls by ``decay``, and the best epoch is kept."""
    train, valid = TRAIN.select_queries(range(10)), VALID.select_queries(range(10))
    learner = replace(learner, epochs=6, decay=0.3, patience=None)
    ranker = learner.fit(train, valid)
    frame, weights, values, best = trained(learner, pairs_of, train, valid)
    np.testing.assert_allclose(ranker.history.valid, values, rtol=0, atol=1e-12)
    assert ranker.history.best == best
    assert any(values[epoch] <= values[1:epoch].max() for epoch in range(2, 6))
    kept = weights[best]
    if isinstance(ranker, rk.Linear):
        np.testing.assert_allclose(ranker.weights, kept[:-1] * frame.scale, rtol=1e-7, atol=1e-8)
    else:
        np.testing.assert_allclose(ranker.weights, kept, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(ranker.scale, frame.scale, rtol=1e-12)
    np.testing.assert_allclose(ranker.centre, frame.centre, rtol=0, atol=1e-12)


def test_measures_are_climbed_and_hidden_units_tell():
    train, test = rk.synthesise(300, world=WORLD), rk.synthesise(200, part="test", world=WORLD)
    best_feature = max(ndcg(rk.Feature(feature), test) for feature in test.feature_names)
    learner = rk.LambdaRank(epochs=40, rate=0.01)
    linear, net = (replace(learner, hidden=hidden).fit(train, VALID) for hidden in ((), (10,)))
    assert ndcg(linear, test) > best_feature + 0.03
    assert ndcg(net, test) > ndcg(linear, test) + 0.02
    for name in ("err", "map", "mrr", "dcg@5"):
        history = replace(learner, measure=name, epochs=15).fit(train).history
        assert history.measure == str(rk.parse_measure(name))
        assert history.train[history.best] > history.train[0] + 0.2 * abs(history.train[0])


@settings(max_examples=6, deadline=None)
@given(
    judgements=st.lists(st.tuples(st.booleans(), st.floats(0.05, 0.95)), min_size=1, max_size=4),
    sigma=st.sampled_from([1.0, 2.0, 0.5]),
    hidden=st.sampled_from([(), (3,)]),
)
def test_contradicting_judges_meet_at_their_log_odds(judgements, sigma, hidden):
    """P of the cost's minimum is the mean of what the judges say, so the scores are its log-odds over σ apart."""
    data = rk.read(np.asarray([[1.0], [0.0]]), grades=[0, 0], qid=[1, 1])
    better, worse = ([int(turned is side) for turned, _ in judgements] for side in (True, False))
    pairs = rk.Preferences(np.asarray(better), np.asarray(worse), np.asarray([p for _, p in judgements]))
    rate = 0.2 / (len(judgements) * sigma**2)
    learner = rk.RankNet(hidden=hidden, optimiser="sgd", rate=rate, sigma=sigma, epochs=4000, train_history=False)
    first, second = learner.fit(data.with_preferences(pairs)).score(data)
    chance = np.mean([1 - p if turned else p for turned, p in judgements])
    assert first - second == pytest.approx(np.log(chance / (1 - chance)) / sigma, rel=1e-6, abs=1e-6)


# ---- the same bytes ---------------------------------------------------------------------------------------------------


@EACH
def test_threads_do_not_matter_and_seeds_do(name, tmp_path):
    learner, train = VARIANTS[name]
    learner, found = replace(learner, restarts=2, epochs=4), set()
    for count in (1, 2, 3, 1):
        with rk.threads(count):
            found.add(file_bytes(learner.fit(train, VALID), tmp_path / "model"))
    assert len(found) == 1
    other = replace(learner, seed=1).fit(train, VALID)
    assert not np.array_equal(other.weights, rk.load(tmp_path / "model").weights)


def test_threads_do_not_matter_where_rows_are_divided(tmp_path):
    world = rk.World(features=4, documents=60)
    train, valid, found = rk.synthesise(300, world=world), rk.synthesise(290, part="valid", world=world), set()
    for count in (1, 2):
        with rk.threads(count):
            ranker = replace(QUICK, epochs=2).fit(train, valid)
            found.add((file_bytes(ranker, tmp_path / "model"), ranker.score(valid).tobytes()))
    assert len(found) == 1


def reordered(data, seed):
    """The same rows, and so the queries, in another order; preferences go with their rows."""
    order = np.random.default_rng(seed).permutation(data.rows)
    weights = None if data.weights is None else data.weights[data.query_of_row()][order]
    again = rk.read(data.features[order], grades=data.grades[order], qid=data.qids[data.query_of_row()][order], weight=weights)
    place = np.empty(data.rows, np.int64)
    place[order if again.input_row is None else order[again.input_row]] = np.arange(data.rows)
    judged = data.preferences
    if judged is None:
        return again
    turn = np.random.default_rng(seed).permutation(len(judged))
    return again.with_preferences(
        rk.Preferences(place[judged.better][turn], place[judged.worse][turn], judged.probability[turn])
    )


@EACH
def test_the_same_rows_in_another_order_give_the_same_weights(name):
    learner, train = VARIANTS[name]
    expected = learner.fit(train, VALID)
    for seed in range(3):
        again = learner.fit(reordered(train, seed), reordered(VALID, seed))
        assert again.weights.tobytes() == expected.weights.tobytes()
        assert again.history.valid.tolist() == pytest.approx(expected.history.valid.tolist(), abs=1e-12)


# ---- epochs -----------------------------------------------------------------------------------------------------------


@EACH
def test_the_best_epoch_is_kept(name):
    learner, train = VARIANTS[name]
    ranker = replace(learner, rate=0.3, epochs=12, patience=None).fit(train, VALID)
    history, measure = ranker.history, learner.watched()
    assert len(history.valid) == 13
    assert history.best == 1 + int(np.argmax(history.valid[1:]))
    assert history.valid[history.best] == pytest.approx(rk.evaluate(ranker, VALID, [measure])[measure].mean, abs=1e-12)
    assert history.train[history.best] == pytest.approx(rk.evaluate(ranker, train, [measure])[measure].mean, abs=1e-12)
    assert history.stopped == "finished"


def test_without_validation_data_the_training_data_decide():
    ranker = replace(QUICK, rate=0.3, epochs=11).fit(TRAIN)
    assert len(ranker.history.valid) == 0
    assert ranker.history.best == 1 + int(np.argmax(ranker.history.train[1:])) < 11
    assert ranker.history.train[ranker.history.best] == pytest.approx(ndcg(ranker, TRAIN), abs=1e-12)
    unwatched = replace(QUICK, rate=0.3, epochs=5, train_history=False).fit(TRAIN)
    assert unwatched.history.best == 5
    assert len(unwatched.history.train) == len(unwatched.history.valid) == 0


@pytest.mark.parametrize("patience", [1, 3])
def test_training_ends_when_patience_does(patience):
    learner = replace(QUICK, rate=0.2, epochs=60, patience=patience)
    ranker = learner.fit(TRAIN, VALID)
    assert ranker.history.stopped == "early"
    assert len(ranker.history.valid) - 1 == ranker.history.best + patience
    longer = replace(learner, epochs=len(ranker.history.valid) + 5, patience=None).fit(TRAIN, VALID)
    assert longer.history.valid[: len(ranker.history.valid)].tolist() == ranker.history.valid.tolist()


def test_the_rate_falls_after_an_epoch_that_was_no_better():
    steady, falling = (replace(QUICK, rate=0.1, epochs=20, decay=decay, patience=None).fit(TRAIN, VALID) for decay in (1, 1e-9))
    values = steady.history.valid
    worse = next(epoch for epoch in range(2, 21) if values[epoch] <= values[1:epoch].max())
    assert falling.history.valid[: worse + 1].tolist() == values[: worse + 1].tolist()
    assert (falling.history.valid[worse + 1 :] == values[worse]).all()  # a rate of next to nothing moves nothing
    assert not (values[worse + 1 :] == values[worse]).all()


def test_of_equal_epochs_the_first_is_kept():
    """No training at all is a choice only where there is a base."""
    learner = replace(QUICK, rate=1e-15, patience=3)
    ranker, above = learner.fit(TRAIN, VALID), learner.fit(TRAIN, VALID, base=rk.Feature(0)).parts[1][1]
    for history, best in ((ranker.history, 1), (above.history, 0)):
        assert len(set(history.valid.tolist())) == 1
        assert history.best == best
        assert len(history.valid) == 1 + best + 3


def test_errors_are_watched_downwards():
    watched = rk.PairwiseErrors()
    ranker = replace(QUICK, rate=0.3, watch=watched, patience=None).fit(TRAIN, VALID)
    history = ranker.history
    assert history.best == 1 + int(np.argmin(history.valid[1:])) != 1 + int(np.argmax(history.valid[1:]))
    assert history.valid[history.best] == pytest.approx(rk.evaluate(ranker, VALID, [watched])[watched].mean, abs=1e-12)


def test_the_best_of_several_starts_is_kept():
    learner = replace(QUICK, restarts=3, rate=0.1)
    singles = []
    for number in range(4):
        with Team():
            run = DescentRun(learner, TRAIN, VALID, None, ())
            run.starts = [run._begin(number)]
            singles.append(run.train())
    values = [single.history.valid[single.history.best] for single in singles]
    assert len(set(values)) > 1
    together = learner.fit(TRAIN, VALID)
    assert np.array_equal(together.weights, singles[int(np.argmax(values))].weights)
    assert together.history.valid[together.history.best] == max(values) == pytest.approx(ndcg(together), abs=1e-12)
    alone = replace(learner, restarts=0).fit(TRAIN, VALID)
    assert np.array_equal(alone.weights, singles[0].weights)


# ---- callbacks --------------------------------------------------------------------------------------------------------


def test_callbacks_hear_of_every_epoch_and_may_stop():
    heard, rankers = [], []

    def listen(progress):
        heard.append(progress)
        rankers.append(progress.ranker())
        return progress.round == 4

    ranker = QUICK.fit(TRAIN, VALID, callbacks=[listen])
    assert [progress.round for progress in heard] == [1, 2, 3, 4]
    assert {progress.rounds for progress in heard} == {8}
    assert [progress.valid for progress in heard] == ranker.history.valid[1:].tolist()
    assert [progress.train for progress in heard] == ranker.history.train[1:].tolist()
    assert ranker.history.stopped == "callback"
    assert heard[-1].best == ranker.history.best
    assert np.array_equal(rankers[-1].weights, ranker.weights)
    whole = replace(QUICK, epochs=4).fit(TRAIN, VALID)
    assert np.array_equal(whole.weights, ranker.weights)


def test_an_interrupt_keeps_what_there_is():
    def interrupt(progress):
        if progress.round == 3:
            raise KeyboardInterrupt

    ranker = replace(QUICK, restarts=1).fit(TRAIN, VALID, callbacks=[interrupt])
    whole = replace(QUICK, restarts=1, epochs=3).fit(TRAIN, VALID)
    assert ranker.history.stopped == "interrupted"
    assert np.array_equal(ranker.weights, whole.weights)
    assert ranker.history.valid.tolist() == whole.history.valid.tolist()
