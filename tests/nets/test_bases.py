"""Nets on top of other rankers, and trees on top of nets: both are in the result, and neither makes the other worse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.gradients import lambdas, measure_changes

WORLD = rk.World(features=6, documents=12, noise=0.3)
TRAIN, VALID = rk.synthesise(40, world=WORLD), rk.synthesise(25, part="valid", world=WORLD)
QUICK = rk.LambdaRank(epochs=8, rate=0.01)


def ndcg(ranker):
    return rk.evaluate(ranker, VALID, "ndcg@10")["ndcg@10"].mean


def bases():
    forest = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=5).fit(TRAIN)
    net, linear = QUICK.fit(TRAIN), replace(QUICK, hidden=()).fit(TRAIN)
    blend = 0.5 * net + 2.0 * rk.Feature(TRAIN.feature_names[1])
    return {"forest": forest, "net": net, "linear": linear, "feature": rk.Feature(TRAIN.feature_names[0]), "blend": blend}


@pytest.fixture(scope="module", name="known")
def made_bases():
    return bases()


@pytest.mark.parametrize("hidden", [(), (6,)], ids=["linear", "net"])
@pytest.mark.parametrize("kind", ["forest", "net", "linear", "feature", "blend"])
def test_a_base_is_inside_the_result(known, kind, hidden, tmp_path):
    base = known[kind]
    result = replace(QUICK, hidden=hidden).fit(TRAIN, VALID, base=base)
    assert [part[0] for part in result.parts] == [1.0, 1.0]
    assert result.parts[0][1] is base
    net = result.parts[1][1]
    assert np.array_equal(result.score(VALID), base.score(VALID) + net.score(VALID))
    assert net.history.valid[0] == pytest.approx(ndcg(base), abs=1e-12)
    assert ndcg(result) == pytest.approx(net.history.valid.max(), abs=1e-12)
    assert net.history.best == int(np.argmax(net.history.valid))
    result.save(tmp_path / "model")
    assert rk.load(tmp_path / "model").score(VALID).tobytes() == result.score(VALID).tobytes()


def test_what_a_base_lacks_is_learnt(known):
    for kind in ("feature", "linear"):
        assert ndcg(replace(QUICK, epochs=20).fit(TRAIN, VALID, base=known[kind])) > ndcg(known[kind]) + 0.01


def test_a_net_that_cannot_help_leaves_the_base_alone():
    best = []
    for seed in range(4):
        base = rk.LambdaMART.plain(trees=60, leaves=12, min_rows=1, train_history=False).fit(VALID)  # knows it by heart
        learner = rk.LambdaRank(rate=1.0, epochs=5, patience=2, seed=seed, hidden=(seed,) if seed else ())
        result = learner.fit(TRAIN.select_queries([seed]), VALID, base=base)
        best.append(result.parts[1][1].history.best)
        assert ndcg(result) >= ndcg(base)
        assert best[-1] > 0 or np.array_equal(result.score(VALID), base.score(VALID))
    assert 0 in best


@pytest.mark.parametrize("kind", ["net", "linear"])
def test_trees_start_from_the_scores_of_a_net(known, kind):
    """Every leaf is the Newton step for the pushes at the scores so far, which begin with those of the net."""
    base, rate = known[kind], 0.1
    learner = rk.LambdaMART.plain(trees=3, leaves=5, min_rows=5, rate=rate, normalise=False, l2=0.0)
    result = learner.fit(TRAIN, base=base)
    forest, scores = result.parts[1][1], base.score(TRAIN)
    assert result.parts[0][1] is base
    assert len(forest) == 3
    for number in range(3):
        push, curvature = lambdas(TRAIN, scores, measure_changes(rk.NDCG(10)))
        step = forest.truncate(number + 1).score(TRAIN) - forest.truncate(number).score(TRAIN)
        leaves = np.unique(np.round(step, 9), return_inverse=True)[1]
        newton = np.bincount(leaves, push) / np.bincount(leaves, curvature)
        np.testing.assert_allclose(step, rate * newton[leaves], rtol=1e-6, atol=1e-9)
        scores = scores + step
    assert np.allclose(result.score(TRAIN), scores)
