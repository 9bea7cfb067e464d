"""LambdaBoost takes the feature and the step that least squares gives, round by round, and says what it has changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.lambdaboost import boosted, centred, choice, fitted, means, weights_of
from rankinite.nets.features import Columns
from rankinite.sweep.sweep import Sweep
from refusals import refused

WORLD = rk.World(features=6, documents=12, noise=0.3)
TRAIN, VALID = rk.synthesise(30, world=WORLD), rk.synthesise(25, part="valid", world=WORLD)
QUICK = rk.LambdaBoost(rounds=12)
LINEAR = rk.LambdaRank(hidden=(), rate=0.01, epochs=3).fit(rk.synthesise(10, part="test", world=WORLD))
BASES = {
    "none": None,
    "feature": rk.Feature(TRAIN.feature_names[0]),
    "forest": rk.LambdaMART.plain(trees=3, leaves=4, min_rows=5).fit(TRAIN),
    "net": rk.LambdaRank(epochs=3, rate=0.01, hidden=(3,)).fit(TRAIN),
    "linear": LINEAR,
    "blend": 0.5 * LINEAR + 2.0 * rk.Feature(TRAIN.feature_names[1]),
}
EACH_BASE = pytest.mark.parametrize("kind", BASES)
STEPS = pytest.mark.parametrize("step", ["least-squares", "exact"])


def value(ranker, data=VALID, measure="ndcg@10"):
    return rk.evaluate(ranker, data, measure)[measure].mean


def own(ranker):
    """What training has made of the ranker, without its base."""
    return ranker.parts[-1][1] if isinstance(ranker, rk.Blend) else ranker


def bytes_of(ranker, path):
    ranker.save(path)
    return path.read_bytes()


def with_gaps(data, seed=0):
    features = data.features.copy()
    features[np.random.default_rng(seed).random(features.shape) < 0.3] = np.nan
    features[:, 2] = 7.0
    return rk.read(features, grades=data.grades, qid=data.qids[data.query_of_row()])


def reordered(data, seed):
    """The same rows, and so the queries, in another order."""
    order = np.random.default_rng(seed).permutation(data.rows)
    return rk.read(data.features[order], grades=data.grades[order], qid=data.qids[data.query_of_row()][order])


# ---- choice and step --------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), features=st.integers(1, 5), gaps=st.booleans(), far=st.sampled_from([0.0, 50.0]))
def test_the_choice_is_that_of_least_squares(seed, features, gaps, far):
    """Of features of any place and unit, with gaps and constants: none leaves less of the pushes."""
    random, data = np.random.default_rng(seed), random_dataset(seed, features=features, queries=9)
    values = (data.features * 10.0 ** random.integers(-3, 4, features) + far * random.normal(size=features)).astype(np.float32)
    if gaps:
        values[random.random(values.shape) < 0.3] = np.nan
        values[:, random.integers(features)] = 1.0 if features > 1 else values[:, 0]
    if not (np.nanmax(values, axis=0, initial=-np.inf) > np.nanmin(values, axis=0, initial=np.inf)).any():
        return
    data = rk.read(values, grades=data.grades, qid=data.qids[data.query_of_row()])
    push = random.normal(size=data.rows)
    feature, factor = Columns(data).best(push)
    columns = centred(data.features)
    expected, left = fitted(columns[:, feature], push)
    assert factor == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert left <= fitted(columns[:, choice(columns, push)[0]], push)[1] * (1 + 1e-9)


class Fixed:
    """Scores that depend on nothing; none of them tie, as ties are broken by the features."""

    def score(self, data):
        return np.random.default_rng(0).normal(size=data.rows)


@pytest.mark.parametrize(
    ("unit", "place"),
    [(1.0, [0, 0, 4096, 0, -512, 64]), ([4.0, 0.5, 1024.0, 1.0, 2.0**-10, 8.0], 0.0)],
    ids=["place", "unit"],
)
def test_place_and_unit_of_a_feature_have_no_part_in_the_scores(unit, place):
    """Pushes sum to 0, so that Σ push·h is the same with and without a constant, and Σ h² is of h without it."""
    features, unit = np.round(TRAIN.features * 64) / 64, np.asarray(unit, np.float32)
    data, moved = (
        rk.read(values, grades=TRAIN.grades, qid=TRAIN.qids[TRAIN.query_of_row()])
        for values in (features, (features * unit + np.asarray(place)).astype(np.float32))
    )
    learner = replace(QUICK, rounds=40, sigma=4.0)
    first, second = (own(learner.fit(one, base=Fixed())) for one in (data, moved))
    assert np.count_nonzero(first.weights) > 3
    np.testing.assert_allclose(second.weights * unit, first.weights, rtol=1e-6)
    np.testing.assert_allclose(second.score(moved), first.score(data), atol=1e-6)


@pytest.mark.parametrize("kind", ["none", "feature", "forest"])
@pytest.mark.parametrize(
    "learner",
    [
        replace(QUICK, rate=1.0, sigma=4.0),
        replace(QUICK, rate=0.5, measure="err", sigma=8.0),
        replace(QUICK, rate=0.7, nan="mean", measure="map", sigma=4.0),
    ],
    ids=["ndcg", "err", "map"],
)
def test_training_is_the_plain_loop(learner, kind):
    base, train, valid = BASES[kind], TRAIN.select_queries(range(10)), VALID.select_queries(range(10))
    if learner.nan == "mean" and kind != "feature":
        train, valid = with_gaps(train), with_gaps(valid, 1)
        base = None if base is None else rk.LambdaMART.plain(trees=3, leaves=4, min_rows=5).fit(train)
    if learner.measure == rk.ERR():
        train = train.with_weights(np.linspace(0.0, 2.0, train.queries))
    trained = own(learner.fit(train, valid, base=base))
    expected = boosted(learner, train, valid, base)
    assert len(set(expected.features)) > 1
    np.testing.assert_allclose(trained.history.valid, expected.values, rtol=0, atol=1e-12)
    assert trained.history.best == (0 if base else 1) + int(np.argmax(expected.values[0 if base else 1 :]))
    np.testing.assert_allclose(trained.weights, expected.weights[trained.history.best], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(trained.centre, means(train.features, weights_of(train)), rtol=1e-12)
    assert set(trained.changes()) == {train.feature_names[f] for f in expected.features[: trained.history.best]}


@pytest.mark.parametrize("step", ["least-squares", "exact"])
def test_a_query_of_weight_w_counts_w_times(step):
    """In the least squares as in the pushes: weights that are all alike change nothing."""
    random, learner = np.random.default_rng(0), replace(QUICK, step=step)
    plain = learner.fit(TRAIN)
    four = learner.fit(TRAIN.with_weights(np.full(TRAIN.queries, 4.0)))  # a power of two, so that nothing is rounded
    assert four.weights.tobytes() == plain.weights.tobytes()
    if step == "exact":
        return  # chosen for a measure, which counts every query once
    counts = random.integers(1, 4, TRAIN.queries)
    copies = rk.concat([TRAIN.select_queries(counts > n) for n in range(3)], prefixes=("", "again:", "once more:"))
    base = rk.Feature(TRAIN.feature_names[0])  # no scores tie at the start, where copies would be put in another order
    weighted, repeated = (own(learner.fit(data, base=base)) for data in (TRAIN.with_weights(counts), copies))
    np.testing.assert_allclose(weighted.weights, repeated.weights, rtol=1e-9)
    assert not np.allclose(weighted.weights, own(learner.fit(TRAIN, base=base)).weights, rtol=1e-3)


# ---- the exact step ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["none", "feature", "linear"])
@pytest.mark.parametrize("measure", ["ndcg@10", "err", "map"])
def test_an_exact_step_is_never_below_a_grid(kind, measure):
    """Round by round, on the training data, from the scores before the round."""
    base = BASES[kind]
    learner = rk.LambdaBoost(measure=measure, step="exact", rounds=6, rate=1.0)
    rankers = []
    trained = own(learner.fit(TRAIN, base=base, callbacks=[lambda progress: rankers.append(progress.ranker())]))
    assert len(trained.history.steps) == 6
    start = np.zeros(TRAIN.rows) if base is None else base.score(TRAIN)
    before = start
    for ranker, weight in zip(rankers, trained.history.steps, strict=True):
        after = start + ranker.score(TRAIN)
        reached, said = value(after, TRAIN, measure), (after - before) / weight
        assert 0.1 < weight < 5.0
        grid = [value(before + step * said, TRAIN, measure) for step in np.linspace(0.1, 5.0, 41)]
        assert reached >= max(grid) - 1e-9
        before = after


def test_an_exact_run_is_the_plain_loop():
    learner = rk.LambdaBoost(step="exact", rounds=5, step_low=0.5, step_high=20.0, patience=None)
    train, valid = TRAIN.select_queries(range(10)), VALID.select_queries(range(10))
    sweep = Sweep(train, rk.NDCG(10))
    expected = boosted(learner, train, valid, LINEAR, lambda scores, said: sweep.curve(scores, said, 0.5, 20.0).best()[0])
    ranker = learner.fit(train, valid, base=LINEAR)
    np.testing.assert_allclose(ranker.history.valid, expected.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ranker.weights - LINEAR.weights, expected.weights[ranker.history.best], rtol=1e-7, atol=1e-10)


# ---- the same bytes ---------------------------------------------------------------------------------------------------


@STEPS
@EACH_BASE
def test_threads_do_not_matter(kind, step, tmp_path):
    found = set()
    for count in (1, 2, 3):
        with rk.threads(count):
            ranker = replace(QUICK, step=step).fit(TRAIN, VALID, base=BASES[kind])
            found.add((bytes_of(ranker, tmp_path / "model"), ranker.score(VALID).tobytes()))
    assert len(found) == 1


@STEPS
@pytest.mark.parametrize("gaps", [False, True])
def test_the_same_rows_in_another_order_give_the_same_weights(gaps, step):
    train, valid = (with_gaps(TRAIN), with_gaps(VALID)) if gaps else (TRAIN, VALID)
    learner = replace(QUICK, step=step, nan="mean", rounds=40)
    expected = learner.fit(train, valid)
    for seed in range(3):
        again = learner.fit(reordered(train, seed), reordered(valid, seed))
        assert again.weights.tobytes() == expected.weights.tobytes()
        assert again.centre.tobytes() == expected.centre.tobytes()
    queries = np.random.default_rng(5).permutation(train.queries)
    assert learner.fit(train.select_queries(queries), valid).weights.tobytes() == expected.weights.tobytes()


# ---- bases and rounds -------------------------------------------------------------------------------------------------


@EACH_BASE
def test_a_base_is_inside_the_result_and_the_changes_are_told(kind, tmp_path):
    base = BASES[kind]
    ranker = rk.LambdaBoost(rounds=30).fit(TRAIN, VALID, base=base)
    history, start = own(ranker).history, np.zeros(VALID.rows) if base is None else base.score(VALID)
    changes = own(ranker).changes()
    assert 0 < len(changes) <= history.best
    columns = VALID.features.astype(float) - TRAIN.features.astype(float).mean(axis=0)
    change = np.asarray([changes.get(name, 0.0) for name in VALID.feature_names])
    np.testing.assert_allclose(ranker.score(VALID), start + columns @ change, rtol=0, atol=1e-9)
    assert list(changes.values()) == sorted(changes.values(), key=abs, reverse=True)
    assert history.valid[0] == pytest.approx(value(start), abs=1e-12)
    assert value(ranker) == pytest.approx(history.valid[history.best], abs=1e-12)
    ranker.save(tmp_path / "model")
    again = rk.load(tmp_path / "model")
    assert again.score(VALID).tobytes() == ranker.score(VALID).tobytes()
    assert own(again).changes() == changes
    assert bytes_of(again, tmp_path / "again") == (tmp_path / "model").read_bytes()


def test_a_linear_base_and_its_changes_are_one_linear_ranker():
    ranker = QUICK.fit(TRAIN, VALID, base=LINEAR)
    assert isinstance(ranker, rk.Linear)
    assert ranker.before.tobytes() == LINEAR.weights.tobytes()
    assert ranker.settings["base"] == LINEAR.settings
    assert ranker.settings["learner"] == "LambdaBoost"
    untouched = [f for f, name in enumerate(ranker.feature_names) if name not in ranker.changes()]
    assert 0 < len(untouched) < 6
    assert ranker.weights[untouched].tobytes() == LINEAR.weights[untouched].tobytes()
    assert "before" in ranker.text()
    twice = QUICK.fit(TRAIN, VALID, base=ranker)
    assert twice.before.tobytes() == ranker.weights.tobytes()


def test_missing_values_keep_a_linear_base_apart():
    """Each part has means of its own."""
    learner, data = replace(QUICK, nan="mean"), with_gaps(TRAIN)
    base = rk.LambdaRank(hidden=(), epochs=3, nan="mean").fit(with_gaps(VALID))
    ranker = learner.fit(data, with_gaps(VALID), base=base)
    assert isinstance(ranker, rk.Blend)
    assert np.array_equal(ranker.score(data), base.score(data) + own(ranker).score(data))
    whole = learner.fit(TRAIN, VALID, base=base)
    assert (type(whole), whole.nan) == (rk.Linear, "mean")
    assert (QUICK.fit(TRAIN, base=base).nan, learner.fit(TRAIN, base=LINEAR).nan) == ("refuse", "refuse")
    filled = np.where(np.isnan(data.features), whole.centre, data.features)
    np.testing.assert_allclose(whole.score(data), whole.score(filled), atol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in BASES if kind != "none"])
def test_where_nothing_is_better_the_base_is_left_alone(kind):
    """Graded by the base itself, the validation data cannot be ranked better than it does."""
    base = BASES[kind]
    scores = base.score(VALID)
    valid = rk.read(VALID.features, grades=scores > np.median(scores), qid=VALID.qids[VALID.query_of_row()])
    ranker = replace(QUICK, patience=3).fit(TRAIN, valid, base=base)
    history = own(ranker).history
    assert value(base, valid) == history.valid[0] == 1.0
    assert (history.best, history.stopped, len(history.valid)) == (0, "early", 4)
    assert ranker.score(VALID).tobytes() == scores.tobytes()
    assert own(ranker).changes() == {}


def test_the_best_round_is_kept_and_patience_ends():
    learner = rk.LambdaBoost(rounds=300, rate=1.0, patience=10)
    ranker = learner.fit(TRAIN, VALID)
    history = ranker.history
    assert history.best == 1 + int(np.argmax(history.valid[1:]))
    assert (history.stopped, len(history.valid)) == ("early", history.best + 11)
    assert value(ranker) == pytest.approx(history.valid[history.best], abs=1e-12)
    cut = replace(learner, rounds=history.best, patience=None).fit(TRAIN)
    assert cut.weights.tobytes() == ranker.weights.tobytes()
    assert cut.history.best == history.best
    errors = replace(learner, watch="pairwise-errors", patience=None, rounds=40).fit(TRAIN, VALID).history
    assert errors.best == 1 + int(np.argmin(errors.valid[1:]))
    quiet = replace(learner, train_history=False, rounds=5).fit(TRAIN)
    assert len(quiet.history.train) == len(quiet.history.valid) == 0
    assert quiet.history.best == 5


def test_measures_are_climbed():
    train, test = rk.synthesise(300, world=WORLD), rk.synthesise(200, part="test", world=WORLD)
    best = max(value(rk.Feature(name), test) for name in test.feature_names)
    assert value(rk.LambdaBoost(rounds=150).fit(train, VALID), test) > best + 0.02
    for base in (LINEAR, BASES["feature"]):
        assert value(rk.LambdaBoost(rounds=150).fit(train, VALID, base=base), test) > value(base, test) + 0.01


# ---- callbacks --------------------------------------------------------------------------------------------------------


def test_callbacks_hear_of_every_round_and_may_stop():
    heard, rankers = [], []

    def listen(progress):
        heard.append(progress)
        rankers.append(progress.ranker())
        return progress.round == 4

    ranker = QUICK.fit(TRAIN, VALID, callbacks=[listen])
    assert [progress.round for progress in heard] == [1, 2, 3, 4]
    assert {progress.rounds for progress in heard} == {12}
    assert [progress.valid for progress in heard] == ranker.history.valid[1:].tolist()
    assert ranker.history.stopped == "callback"
    assert heard[-1].best == ranker.history.best
    assert np.array_equal(rankers[-1].weights, ranker.weights)
    assert np.array_equal(replace(QUICK, rounds=4).fit(TRAIN, VALID).weights, ranker.weights)


def test_an_interrupt_keeps_what_there_is():
    def interrupt(progress):
        if progress.round == 3:
            raise KeyboardInterrupt

    ranker = replace(QUICK, step="exact").fit(TRAIN, VALID, callbacks=[interrupt])
    whole = replace(QUICK, step="exact", rounds=3).fit(TRAIN, VALID)
    assert ranker.history.stopped == "interrupted"
    assert np.array_equal(ranker.weights, whole.weights)
    assert ranker.history.steps.tolist() == whole.history.steps.tolist()
    assert ranker.history.valid.tolist() == whole.history.valid.tolist()


# ---- what cannot be learnt from ---------------------------------------------------------------------------------------


def test_features_that_never_vary_are_never_chosen():
    features = TRAIN.features.copy()
    features[:, 1] = 3.0
    data = rk.read(features, grades=TRAIN.grades, qid=TRAIN.qids[TRAIN.query_of_row()])
    ranker = rk.LambdaBoost(rounds=100).fit(data)
    assert ranker.weights[1] == 0.0
    assert len(ranker.changes()) == 5
    features[:] = 3.0
    with refused(rk.DataError, place="array", value=6):
        QUICK.fit(rk.read(features, grades=TRAIN.grades, qid=TRAIN.qids[TRAIN.query_of_row()]))


def test_the_weights_before_must_fit_and_come_back_inside_a_blend(tmp_path):
    names = ("a", "b")
    for wrong in ([1.0], [1.0, np.nan], "x"):
        with refused(rk.DataError, place="linear ranker: before"):
            rk.Linear(names, np.ones(2), before=wrong)
    ranker = rk.Linear(names, np.asarray([1.0, 2.0]), before=np.asarray([1.0, 5.0]))
    assert ranker.changes() == {"b": -3.0}
    (1.0 * ranker + 2.0 * rk.Linear(names, np.ones(2))).save(tmp_path / "blend")
    first, second = (part for _, part in rk.load(tmp_path / "blend").parts)
    assert first.before.tolist() == [1.0, 5.0]
    assert second.before is None
    assert second.changes() == {"a": 1.0, "b": 1.0}


def test_boosting_that_can_split_nothing_says_so_with_validation_data_too():
    data = rk.read(np.ones((4, 2)), grades=[1, 0, 1, 0], qid=[1, 1, 2, 2])
    for valid in (None, data):
        with refused(rk.DataError, place=data.source, value=data.rows):
            rk.LambdaMART.plain(trees=3, min_rows=1).fit(data, valid)


def test_features_without_any_use_end_training():
    """Alike within every query, and of mean 0 over those that push: no feature has anything to do with the pushes."""
    data = rk.read(np.asarray([[1.0], [1.0], [0.0], [0.0]]), grades=[1, 0, 1, 0], qid=[1, 1, 2, 2])
    for valid in (None, data):
        with refused(rk.DataError, place=data.source, value=1):
            QUICK.fit(data, valid)
        ranker = QUICK.fit(data, valid, base=rk.Feature(0))
        assert own(ranker).history.stopped == "exhausted"
        assert ranker.score(data).tolist() == [1.0, 1.0, 0.0, 0.0]


def test_data_and_settings_that_are_refused(tmp_path):
    with refused(rk.DataError, place=TRAIN.source, value=TRAIN.queries):
        QUICK.fit(TRAIN.map_grades(lambda grades: 0 * grades + 1))
    with refused(rk.DataError, place="array, row 0", value="2") as caught:
        QUICK.fit(with_gaps(TRAIN))
    assert "`nan='mean'`" in caught.value.remedy
    with refused(rk.DataError, place="array, row 0", value="2"):
        QUICK.fit(TRAIN, with_gaps(VALID))
    with refused(rk.DataError, place="train"):
        QUICK.fit(TRAIN.features)
    with refused(rk.ArgumentError, setting="base", value=5):
        QUICK.fit(TRAIN, base=5)
    with refused(rk.ArgumentError, owner="LambdaBoost", setting="callbacks"):
        QUICK.fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / "checkpoint")])
    with refused(rk.MeasureError, value="p@5"):
        rk.LambdaBoost(measure="p@5")
    with refused(rk.ArgumentError, owner="LambdaBoost", setting="step_low", value=6):
        rk.LambdaBoost(step_low=6)
    with refused(rk.MeasureError, value="pairwise-errors"):
        replace(QUICK, step="exact", watch="pairwise-errors").fit(TRAIN)
