"""The Monte-Carlo test for a local optimum: its arithmetic, its verdicts, and what it refuses."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import rankinite as rk
from rankinite.models.local_optimum import moves_of
from refusals import refused

WORLD = rk.World(features=6, documents=12, terms=3, seed=4)
TRAIN = rk.synthesise(1200, world=WORLD)
LINEAR = rk.LambdaRank(hidden=(), rate=0.003, epochs=30).fit(TRAIN)
NET = rk.LambdaRank(hidden=(4,), rate=0.01, epochs=40).fit(TRAIN)


def value(ranker, data=TRAIN, measure="ndcg@10") -> float:
    return rk.evaluate(ranker, data, measure)[measure].mean


def moved(ranker, move: np.ndarray):
    """The ranker with its weights moved, on features of one scale, computed slowly and independently."""
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


def test_the_shortest_step_that_can_tell_gives_the_verdict():
    """After six epochs no step of 0.1 leads up, as it leads over the hill; shorter ones show the way to the top."""
    early = rk.LambdaRank(hidden=(4,), rate=0.01, epochs=6).fit(TRAIN)
    found = rk.local_optimum(early, TRAIN)
    assert found.directions == 459
    up = dict(zip(found.steps, found.rising[:, -1] / 459, strict=True))
    assert up[0.1] == 0.0
    assert up[0.01] > 0.2
    assert found.reliable == (True,) * 5
    assert found.step == min(found.steps)
    assert found.is_optimum is False
    assert found.verdict().startswith("Not a local optimum of ndcg@10 at steps of 0.005")
    assert f"{int(found.rising[0, -1])} of 459" in found.verdict()
    assert (found.rising + found.falling + found.level == 459).all()

    asked = rk.local_optimum(early, TRAIN, step=0.1, steps=(0.01,))
    assert asked.is_optimum
    assert asked.confidence >= 0.99
    assert asked.verdict().startswith("A local optimum of ndcg@10 at steps of 0.1")
    assert asked.warnings == (
        f"But at steps of 0.01, {up[0.01]:.1%} of the directions lead up: the weights are near an optimum, not at one.",
    )


def test_a_small_bump_is_warned_of():
    counts = np.asarray([[0], [7], [2]])
    found = rk.Optimum(rk.NDCG(10), 0.5, 3, 20, 0.01, 0.01, (0.01, 0.02, 0.05), (2000,), counts, np.zeros((3, 1), int))
    assert found.is_optimum
    assert found.warnings == ("But at steps of 0.02, 35.0% of the directions lead up: a small bump, with higher ground near.",)


def test_steps_that_change_nothing_give_no_verdict():
    few = rk.split(TRAIN, (0.02, 0.98))[0]
    found = rk.local_optimum(LINEAR, few, directions=40, steps=(1e-7, 1e-6, 0.3))
    assert found.level[:, -1].tolist() == [40, 40, 0]
    assert found.reliable == (False, False, True)
    assert found.step == 0.3
    marks = [row[0] for row in found.grid().rows]
    assert marks == ["1e-07 †", "1e-06 †", "0.3 *"]
    assert [note[0] for note in found.grid().notes] == ["*", "†"]
    for none in (
        rk.local_optimum(LINEAR, few, directions=40, steps=(1e-7, 1e-6)),
        rk.local_optimum(LINEAR, few, directions=40, steps=(0.3,), step=1e-6),
    ):
        assert none.step is None
        assert none.is_optimum is None
        assert [note[0] for note in none.grid().notes] == ["†"]
        assert none.verdict().startswith("No verdict on ndcg@10: ")
        assert "more queries" in none.verdict()
        known = json.loads(json.dumps(none.to_dict(), allow_nan=False))
        assert known["optimum"] is known["step"] is known["confidence"] is None


# ---- where the optimum is known -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def circle():
    """Two features of one scale, and the measure of every direction of the two weights: between all angles where two
    documents of a query tie."""
    random = np.random.default_rng(8)
    grades = random.integers(0, 3, (80, 6))
    features = random.normal(size=(80, 6, 2)) + 0.8 * grades[:, :, None] * [1.0, 0.4]
    features = features.reshape(-1, 2).astype(np.float32)
    data = rk.read(features, grades=grades.ravel(), group=np.full(80, 6))
    scaled = (features / features.std(axis=0, dtype=float)).reshape(80, 6, 2)
    i, j = np.triu_indices(6, 1)
    x, y = np.moveaxis(scaled[:, i] - scaled[:, j], -1, 0)
    ties = np.arctan2(-x, y).ravel()
    edges = np.unique(np.mod(np.concatenate((ties, ties + np.pi)), 2 * np.pi))
    middles = (edges + np.append(edges[1:], edges[0] + 2 * np.pi)) / 2
    return data, edges, middles, np.asarray([value(at_angle(data, angle), data) for angle in middles])


def at_angle(data, angle):
    weights = np.asarray([np.cos(angle), np.sin(angle)]) / data.features.std(axis=0, dtype=float)
    return rk.Linear(data.feature_names, weights)


STEPS = (0.02, 0.05, 0.1)


def test_the_best_of_all_angles_is_certified(circle):
    data, _, middles, values = circle
    found = rk.local_optimum(at_angle(data, middles[values.argmax()]), data, steps=STEPS)
    assert found.value == pytest.approx(values.max(), abs=1e-12)
    assert found.rising[:, -1].tolist() == [0, 0, 0]
    assert any(found.reliable)
    assert found.is_optimum
    assert found.warnings[0].startswith("On 80 queries")


@pytest.mark.parametrize("away", [-0.15, -0.05, 0.05, 0.15])
def test_weights_near_the_best_angle_are_certified_only_if_no_angle_in_reach_is_better(circle, away):
    data, edges, middles, values = circle

    def known(angle: float) -> float:
        return values[edges.searchsorted(np.mod(angle, 2 * np.pi), side="right") - 1]

    angle = middles[values.argmax()] + away
    found = rk.local_optimum(at_angle(data, angle), data, steps=STEPS, seed=2)
    random = np.random.default_rng(2)
    random.permutation(found.queries[-1])
    expected = np.zeros((3, 2), int)
    for child in random.spawn(found.directions):
        direction = child.normal(size=2)
        direction /= np.linalg.norm(direction)
        for number, step in enumerate(STEPS):
            across, along = np.asarray([np.cos(angle), np.sin(angle)]) + step * direction
            gain = known(np.arctan2(along, across)) - known(angle)
            expected[number] += [gain > 1e-12, abs(gain) <= 1e-12]
    assert found.rising[:, -1].tolist() == expected[:, 0].tolist()
    assert found.level[:, -1].tolist() == expected[:, 1].tolist()
    can_tell = [step for step, level in zip(STEPS, expected[:, 1], strict=True) if level < 0.05 * found.directions]
    assert found.step == (can_tell[0] if can_tell else None)
    assert found.is_optimum == (expected[STEPS.index(can_tell[0]), 0] == 0 if can_tell else None)
    assert not found.is_optimum


def test_an_error_is_better_when_it_is_lower():
    found = rk.local_optimum(NET, TRAIN, "pairwise-errors", directions=10, steps=(0.1,), curves=1)
    mean = value(NET, measure="pairwise-errors")
    assert found.value == pytest.approx(mean)
    assert found.curves.values[0, 10] == pytest.approx(mean)
    assert found.rising[0, -1] < 10


def test_the_number_of_directions_follows_from_share_and_confidence():
    small = rk.split(TRAIN, (0.05, 0.95))[0]
    found = rk.local_optimum(LINEAR, small, share=0.1, confidence=0.9, steps=(0.1,))
    assert found.directions == 22  # log 0.1 / log 0.9 = 21.85
    assert 0.9 <= found.confidence < 0.91


def test_few_queries_are_warned_of():
    few = rk.split(TRAIN, (0.02, 0.98))[0]
    found = rk.local_optimum(LINEAR, few, directions=10, steps=(0.1,))
    assert "step function" in found.warnings[0]
    assert "step function" in str(found)
    assert rk.local_optimum(LINEAR, TRAIN, directions=10, steps=(0.1,)).warnings == ()


def test_threads_and_runs_agree():
    with rk.threads(1):
        one = rk.local_optimum(NET, TRAIN, directions=12, curves=2)
    two = rk.local_optimum(NET, TRAIN, directions=12, curves=2)
    assert one.to_dict() == two.to_dict()
    assert rk.local_optimum(NET, TRAIN, directions=12, seed=1).rising.shape == (5, 4)


def test_a_base_stays_where_it_is():
    base = rk.Feature(0)
    blend = rk.LambdaRank(hidden=(), rate=0.003, epochs=10).fit(TRAIN, base=base)
    found = rk.local_optimum(blend, TRAIN, directions=10, steps=(0.1,), curves=1)
    assert found.value == pytest.approx(value(blend), abs=1e-12)
    part = blend.parts[-1][1]
    largest = int(np.argmax(np.abs(moves_of(part, TRAIN, 1.0).weights)))
    move = np.zeros(6)
    move[largest] = 0.3 * moves_of(part, TRAIN, 1.0).length
    assert found.curves.values[0, -1] == pytest.approx(value(base + moved(part, move)), abs=1e-9)


def test_curves_pass_through_the_value_and_can_be_drawn():
    found = rk.local_optimum(NET, TRAIN, directions=2, steps=(0.1,), curves=5)
    assert found.curves.values.shape == (5, 21)
    assert found.curves.values[:, 10] == pytest.approx(np.full(5, found.value))
    assert found.curves.moved[0] == -0.3
    assert len(found.plot().axes) == 8  # two rows of four, three of them empty
    with refused(rk.ArgumentError, place="local_optimum") as caught:
        rk.local_optimum(NET, TRAIN, directions=2, steps=(0.1,)).plot()
    assert "curves=12" in caught.value.remedy


def test_features_that_never_vary_are_no_direction():
    data = dataclasses.replace(TRAIN, features=np.where(np.arange(6) == 2, 1.0, TRAIN.features).astype(np.float32))
    linear = rk.LambdaRank(hidden=(), epochs=2).fit(data)
    assert moves_of(linear, data, 1.0).count == 5
    assert moves_of(rk.LambdaRank(hidden=(3,), epochs=2).fit(data), data, 1.0).count == 5 * 3 + 3 + 3


@pytest.mark.parametrize(
    ("changed", "fields"),
    [
        ({"ranker": rk.Feature(0)}, {"value": "Feature"}),
        ({"ranker": dataclasses.replace(LINEAR, weights=np.zeros(6))}, {"place": repr(LINEAR)}),
        ({"measure": "balanced-error"}, {"setting": "measure", "value": "balanced-error"}),
        ({"measure": "nonsense"}, {"value": "nonsense"}),
        ({"step": 0.0}, {"setting": "step", "value": 0.0}),
        ({"steps": (0.1, -0.1)}, {"setting": "steps", "value": -0.1}),
        ({"steps": ()}, {"setting": "steps", "value": ()}),
        ({"share": 0.9}, {"setting": "share", "value": 0.9}),
        ({"confidence": 1.0}, {"setting": "confidence", "value": 1.0}),
        ({"directions": 0}, {"setting": "directions", "value": 0}),
        ({"curves": -1}, {"setting": "curves", "value": -1}),
        ({"data": np.zeros((2, 6))}, {"value": "ndarray"}),
    ],
)
def test_what_cannot_be_tested_is_refused(changed, fields):
    arguments = {"ranker": LINEAR, "data": TRAIN, "directions": 2, **changed}
    with refused(rk.RankiniteError, **fields):
        rk.local_optimum(arguments.pop("ranker"), arguments.pop("data"), **arguments)
