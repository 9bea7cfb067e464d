"""The Monte-Carlo test for a local optimum: its arithmetic, its verdicts, and what it refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import rankinite as rk
from rankinite.rankers.moves import moves_of

WORLD = rk.World(features=6, documents=12, terms=3, seed=4)
TRAIN = rk.synthesise(1200, world=WORLD)
LINEAR = rk.LambdaRank(hidden=(), rate=0.003, epochs=30).fit(TRAIN)
NET = rk.LambdaRank(hidden=(4,), rate=0.01, epochs=40).fit(TRAIN)


def value(ranker, data=TRAIN, measure="ndcg@10") -> float:
    return rk.evaluate(ranker, data, measure)[measure].mean


def moved(ranker, move: np.ndarray):
    """The ranker with its weights moved, on features of one scale: a slow way of its own."""
    if isinstance(ranker, rk.Net):
        weights = ranker.weights.copy()
        weights[:-1] += move
        return ranker.with_weights(weights)
    return dataclasses.replace(ranker, weights=ranker.weights + move / TRAIN.features.std(axis=0, dtype=float))


@pytest.mark.parametrize("ranker", [LINEAR, NET], ids=["linear", "net"])
def test_moves_are_the_ranker_with_other_weights(ranker):
    moves = moves_of(ranker, TRAIN, 2.0)
    assert moves.scores(np.zeros(moves.count)) == pytest.approx(2.0 * ranker.score(TRAIN), abs=1e-9)
    move = np.random.default_rng(0).normal(size=moves.count)
    assert moves.scores(move) == pytest.approx(2.0 * moved(ranker, move).score(TRAIN), abs=1e-6)
    assert len(moves.names) == moves.count == (6 if ranker is LINEAR else 6 * 4 + 4 + 4)


@pytest.mark.parametrize("ranker", [LINEAR, NET], ids=["linear", "net"])
def test_rising_directions_are_counted(ranker):
    """Against the same directions taken one by one: each is drawn from its own child of the seed's generator."""
    found = rk.local_optimum(ranker, TRAIN, directions=20, steps=(0.03,), step=0.1, seed=5)
    random = np.random.default_rng(5)
    random.permutation(TRAIN.queries - rk.evaluate(ranker, TRAIN, "ndcg@10")["ndcg@10"].skipped)  # the parts of the queries
    moves = moves_of(ranker, TRAIN, 1.0)
    rises = np.zeros(2, int)
    for child in random.spawn(20):
        direction = child.normal(size=moves.count)
        direction *= np.linalg.norm(moves.weights) / np.linalg.norm(direction)
        rises += [value(moved(ranker, step * direction)) > value(ranker) + 1e-12 for step in (0.03, 0.1)]
    assert found.rising[:, -1].tolist() == rises.tolist()
    assert found.steps == (0.03, 0.1)
    assert found.value == pytest.approx(value(ranker), abs=1e-12)


def test_trained_weights_are_an_optimum_and_others_are_not():
    found = rk.local_optimum(NET, TRAIN, steps=())
    assert found.directions == 459
    assert found.is_optimum
    assert found.confidence >= 0.99
    assert found.verdict().startswith("A local optimum of ndcg@10 at steps of 0.1")
    assert found.warnings == ()
    random = np.random.default_rng(1).normal(size=len(NET.weights))
    away = NET.with_weights(NET.weights + np.linalg.norm(NET.weights) * random / np.linalg.norm(random))
    other = rk.local_optimum(away, TRAIN, steps=(), directions=60)
    assert not other.is_optimum
    assert other.verdict().startswith("Not a local optimum")
    assert f"{int(other.rising[0, -1])} of 60" in other.verdict()


def test_an_error_is_better_when_it_is_lower():
    found = rk.local_optimum(NET, TRAIN, "pairwise-errors", directions=10, steps=(), curves=1)
    mean = value(NET, measure="pairwise-errors")
    assert found.value == pytest.approx(mean)
    assert found.curves.values[0, 10] == pytest.approx(mean)
    assert found.rising[0, -1] < 10


def test_the_number_of_directions_follows_from_share_and_confidence():
    small = rk.split(TRAIN, (0.05, 0.95))[0]
    found = rk.local_optimum(LINEAR, small, share=0.1, confidence=0.9, steps=())
    assert found.directions == 22  # log 0.1 / log 0.9 = 21.85
    assert 0.9 <= found.confidence < 0.91


def test_few_queries_are_warned_of():
    few = rk.split(TRAIN, (0.02, 0.98))[0]
    found = rk.local_optimum(LINEAR, few, directions=10, step=1e-6, steps=())
    assert "step function" in found.warnings[0]
    assert "longer step" in found.warnings[1]
    assert found.level[0, -1] == 10
    assert "step function" in str(found)


def test_threads_and_runs_agree():
    with rk.threads(1):
        one = rk.local_optimum(NET, TRAIN, directions=12, curves=2)
    two = rk.local_optimum(NET, TRAIN, directions=12, curves=2)
    assert one.to_dict() == two.to_dict()
    assert rk.local_optimum(NET, TRAIN, directions=12, seed=1).rising.shape == (4, 4)


def test_a_base_stays_where_it_is():
    base = rk.Feature(0)
    blend = rk.LambdaRank(hidden=(), rate=0.003, epochs=10).fit(TRAIN, base=base)
    found = rk.local_optimum(blend, TRAIN, directions=10, steps=(), curves=1)
    assert found.value == pytest.approx(value(blend), abs=1e-12)
    part = blend.parts[-1][1]
    largest = int(np.argmax(np.abs(moves_of(part, TRAIN, 1.0).weights)))
    move = np.zeros(6)
    move[largest] = 0.3 * moves_of(part, TRAIN, 1.0).length
    assert found.curves.values[0, -1] == pytest.approx(value(base + moved(part, move)), abs=1e-9)


def test_curves_pass_through_the_value_and_can_be_drawn():
    found = rk.local_optimum(NET, TRAIN, directions=2, steps=(), curves=5)
    assert found.curves.values.shape == (5, 21)
    assert found.curves.values[:, 10] == pytest.approx(np.full(5, found.value))
    assert found.curves.moved[0] == -0.3
    assert len(found.plot().axes) == 8  # two rows of four, three of them empty
    with pytest.raises(rk.ArgumentError, match="curves=12"):
        rk.local_optimum(NET, TRAIN, directions=2, steps=()).plot()


def test_features_that_never_vary_are_no_direction():
    data = dataclasses.replace(TRAIN, features=np.where(np.arange(6) == 2, 1.0, TRAIN.features).astype(np.float32))
    linear = rk.LambdaRank(hidden=(), epochs=2).fit(data)
    assert moves_of(linear, data, 1.0).count == 5
    assert moves_of(rk.LambdaRank(hidden=(3,), epochs=2).fit(data), data, 1.0).count == 5 * 3 + 3 + 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"ranker": rk.Feature(0)}, "no weights to move"),
        ({"ranker": dataclasses.replace(LINEAR, weights=np.zeros(6))}, "Train it first"),
        ({"measure": "balanced-error"}, "each query"),
        ({"measure": "nonsense"}, "names no measure"),
        ({"step": 0.0}, "above 0"),
        ({"share": 0.9}, "at most 0.5"),
        ({"confidence": 1.0}, "confidence"),
        ({"directions": 0}, "from 1 on"),
        ({"curves": -1}, "from 0 on"),
        ({"data": np.zeros((2, 6))}, "Give a Dataset"),
    ],
)
def test_what_cannot_be_tested_is_refused(arguments, words):
    given = {"ranker": LINEAR, "data": TRAIN, "directions": 2, **arguments}
    with pytest.raises(rk.RankiniteError, match=words):
        rk.local_optimum(given.pop("ranker"), given.pop("data"), **given)
