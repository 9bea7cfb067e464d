"""LambdaMART on clicks: what debiasing changes, what it leaves as it was, and how training stops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.folds import holdouts_by_content
from rankinite.learners.monitor import ClickValue
from refusals import refused

SMALL = {"trees": 12, "leaves": 8, "rate": 0.3}


@pytest.fixture(scope="module")
def judged():
    return rk.synthesise(150, world=rk.World(features=5, documents=12, noise=0.2, seed=3))


@pytest.fixture(scope="module")
def log(judged):
    return rk.simulate_clicks(judged, judged.features[:, 0].astype(float), 2500, rk.ClickSettings(seed=1)).data


@pytest.fixture(scope="module")
def test_data():
    return rk.synthesise(100, part="test", world=rk.World(features=5, documents=12, noise=0.2, seed=3))


def saved(ranker, folder):
    ranker.save(folder / "ranker")
    return (folder / "ranker").read_bytes()


def test_positions_change_no_byte_of_what_is_not_debiased(log, tmp_path):
    learner = rk.LambdaMART(**SMALL)
    assert saved(learner.fit(log), tmp_path) == saved(learner.fit(log.with_positions(None)), tmp_path)
    assert not [name for name in learner.settings() if name.startswith("debias")]


@pytest.mark.parametrize("debias", ["pairwise", "additive"])
def test_the_ranker_is_better_for_it_and_keeps_the_curve(log, test_data, debias, tmp_path):
    naive = rk.LambdaMART(**SMALL).fit(log)
    ranker = rk.LambdaMART(**SMALL, debias=debias).fit(log)
    found = rk.compare({"naive": naive, "debiased": ranker}, test_data, [rk.NDCG(10)])
    assert found["debiased"][rk.NDCG(10)].mean > found["naive"][rk.NDCG(10)].mean + 0.01
    seen = ranker.history.examination
    assert seen.clicked[0] == 1
    assert seen.clicked[-1] < 0.4
    assert (seen.bias.size > 0) == (debias == "additive")
    ranker.save(tmp_path / "ranker")
    again = rk.load(tmp_path / "ranker")
    assert again.history.examination.to_dict() == seen.to_dict()
    np.testing.assert_array_equal(again.score(test_data), ranker.score(test_data))
    np.testing.assert_array_equal(ranker.score(log), ranker.score(log.with_positions(None)))


@pytest.mark.parametrize("debias", ["pairwise", "additive"])
def test_threads_and_checkpoints_change_no_byte(log, debias, tmp_path):
    learner = rk.LambdaMART(**SMALL, debias=debias)
    whole = saved(learner.fit(log), tmp_path)
    with rk.threads(1):
        assert saved(learner.fit(log), tmp_path) == whole
    keeping = rk.Checkpoint(tmp_path / "kept", every=5)
    replace(learner, trees=5).fit(log, callbacks=[keeping])
    assert saved(learner.fit(log, callbacks=[keeping]), tmp_path) == whole
    with refused(rk.ArgumentError, setting="trees", value=3):
        replace(learner, trees=3).fit(log, callbacks=[keeping])


def test_a_curve_that_is_not_trusted_at_all_changes_nothing(log):
    learner = rk.LambdaMART(**SMALL, normalise=False, debias="additive", debias_power=0.0)
    plain = rk.LambdaMART(**SMALL, normalise=False).fit(log)
    np.testing.assert_array_equal(learner.fit(log).score(log), plain.score(log))


UNGRADED = (0.0, 0.0, 1.0)  # gains by which a click of grade 1 is no better than none


@pytest.mark.parametrize(
    ("measure", "of_clicks"),
    [
        (rk.NDCG(), lambda grade, rank: 1 / np.log2(2 + rank)),
        (rk.DCG(gains=UNGRADED), lambda grade, rank: (grade == 2) / np.log2(2 + rank)),  # 0 counts, and is not left out
        (rk.NDCG(gains=UNGRADED), lambda grade, rank: 1 / np.log2(2 + rank) if grade == 2 else None),
        (rk.AP(relevant=2), lambda grade, rank: 1 / (1 + rank) if grade == 2 else None),
        (rk.Precision(3, relevant=2), lambda grade, rank: float(grade == 2 and rank < 3) / 3),
    ],
    ids=["ndcg", "dcg of grade 2", "ndcg of grade 2", "ap", "p@3"],
)
def test_clicks_are_weighed_by_how_rarely_their_positions_are_looked_at(log, measure, of_clicks):
    """Against a loop over clicks, weighted and of two grades; those for which a measure is undefined (None) do not count."""
    random = np.random.default_rng(0)
    scores, weights = random.normal(size=log.rows), random.choice([0.5, 1.0, 3.0], log.queries)
    log = replace(log, grades=log.grades * random.choice([1, 2], log.rows).astype(log.grades.dtype)).with_weights(weights)
    seen = rk.Examination(np.asarray([1, 2, 5]), np.asarray([1.0, 0.5, 0.25]), np.ones(3))
    weighed = total = 0.0
    for row in np.flatnonzero(log.grades):
        query = np.searchsorted(log.offsets, row, side="right") - 1
        inside = scores[log.offsets[query] : log.offsets[query + 1]]
        rank = int((inside > scores[row]).sum())
        value = of_clicks(log.grades[row], rank)
        if value is not None:
            weight = weights[query] / (1.0 if log.positions[row] == 1 else 0.5 if log.positions[row] < 5 else 0.25)
            weighed += weight * value
            total += weight
    assert ClickValue(log, measure)(scores, seen) == pytest.approx(weighed / total)


def test_judged_validation_data_stop_training_by_the_measure_itself(log, test_data):
    ranker = rk.LambdaMART(**SMALL, debias="pairwise").fit(log, test_data)
    kept = rk.evaluate(ranker, test_data, [rk.NDCG(10)])[rk.NDCG(10)].mean
    assert ranker.history.valid[ranker.history.best] == pytest.approx(kept)


def test_clicks_stop_training_debiased(log):
    held, rest = holdouts_by_content(log, 5)[0].held, holdouts_by_content(log, 5)[0].rest
    ranker = rk.LambdaMART(**SMALL, debias="pairwise").fit(rest, held)
    assert len(ranker.history.valid) == SMALL["trees"] + 1
    naive = rk.evaluate(ranker, held, [rk.NDCG(10)])[rk.NDCG(10)].mean
    assert ranker.history.valid[ranker.history.best] < naive  # clicks further down count for more


def test_sessions_of_the_same_documents_are_held_out_together(log):
    for part in holdouts_by_content(log, 5):
        assert part.held.queries + part.rest.queries == log.queries
        assert not set(part.held.batches.tolist()) & set(part.rest.batches.tolist())


def test_the_number_of_trees_is_found_by_clicks_held_out(log):
    ranker = rk.LambdaMART(rate=0.5, leaves=4, patience=3, debias="pairwise").fit(log.select_queries(np.arange(800)))
    assert 0 < len(ranker) < 200


def test_training_goes_on_from_a_base(log):
    base = rk.Feature(0)
    ranker = rk.LambdaMART(**SMALL, debias="pairwise").fit(log, base=base)
    assert ranker.last_trained().history.examination is not None


def test_what_cannot_be_debiased_is_refused(log, tmp_path):
    with refused(rk.DataError, place=log.source, value=None):
        rk.LambdaMART(**SMALL, debias="pairwise").fit(log.with_positions(None))
    with refused(rk.ArgumentError, owner="LambdaMART", setting="debias", value="both"):
        rk.LambdaMART(debias="both")
    with refused(rk.ArgumentError, owner="LambdaMART", setting="debias", value="pairwise"):
        rk.LambdaMART(debias="pairwise", step="exact")
    with refused(rk.ArgumentError, owner="LambdaMART", setting="debias_power", value=1.5):
        rk.LambdaMART(debias="pairwise", debias_power=1.5)
    bins = rk.bin(log, tmp_path / "log.bins")
    with refused(rk.DataError, value=None):
        rk.LambdaMART(**SMALL, debias="pairwise").fit(bins)


def test_damaged_curves_are_refused(log):
    history = rk.LambdaMART(**SMALL, debias="pairwise").fit(log).history.to_dict()
    for damage in ({"positions": [1]}, {"positions": "x"}, [], {"clicked": [0.0]}):
        broken = {**history["examination"], **damage} if isinstance(damage, dict) else damage
        with refused(rk.DataError, place="history: examination"):
            rk.History.from_dict({**history, "examination": broken})


def test_clicks_other_than_0_and_1_are_debiased_too(log):
    longer = replace(log, grades=log.grades * 2)
    ranker = rk.LambdaMART(**SMALL, debias="pairwise").fit(longer)
    assert ranker.history.examination.clicked[-1] < 0.4
