"""Training that cannot go well is refused: senseless settings, rates too large, data that teach nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from refusals import refused

WORLD = rk.World(features=4, documents=15, noise=0.3)
TRAIN, VALID = rk.synthesise(20, world=WORLD), rk.synthesise(10, part="valid", world=WORLD)
PREFERRED = TRAIN.with_preferences(rk.Preferences(np.arange(0, 300, 15), np.arange(1, 300, 15), np.full(20, 0.9)))
LEARNERS = [rk.LambdaRank, rk.RankNet]
EACH = pytest.mark.parametrize("kind", LEARNERS)


# ---- diverging --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [(), (5,), (4, 3)], ids=str)
@pytest.mark.parametrize("rate", [1e9, 1e200])
@pytest.mark.parametrize(
    ("learner", "train"),
    [(rk.LambdaRank(optimiser="sgd"), TRAIN), (rk.RankNet(optimiser="sgd"), TRAIN), (rk.RankNet(optimiser="sgd"), PREFERRED)],
    ids=["LambdaRank", "RankNet", "preferences"],
)
def test_a_rate_that_is_too_large(learner, train, hidden, rate):
    with refused(rk.ArgumentError, owner=type(learner).__name__, setting="rate", value=rate) as caught:
        replace(learner, hidden=hidden, rate=rate).fit(train, VALID)
    assert "adam" in caught.value.remedy


def test_adam_diverges_too_but_is_not_its_own_remedy():
    with refused(rk.ArgumentError, setting="rate", value=1e9) as caught:
        rk.LambdaRank(rate=1e9).fit(TRAIN)
    assert "optimiser" not in caught.value.remedy


def test_one_start_that_diverges_is_enough():
    with refused(rk.ArgumentError, setting="rate", value=1e9):
        rk.LambdaRank(rate=1e9, optimiser="sgd", restarts=2).fit(TRAIN, VALID)


# ---- settings ---------------------------------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("rate", 0),
        ("rate", -0.1),
        ("rate", np.nan),
        ("rate", "0.1"),
        ("hidden", (0,)),
        ("hidden", (10, -1)),
        ("hidden", (1.5,)),
        ("hidden", (True,)),
        ("hidden", True),
        ("hidden", "x"),
        ("hidden", "10"),
        ("hidden", None),
        ("hidden", {10}),
        ("optimiser", "lbfgs"),
        ("optimiser", None),
        ("nan", "zero"),
        ("epochs", 0),
        ("epochs", 2.5),
        ("patience", 0),
        ("decay", 2),
        ("decay", 0.0),
        ("restarts", -1),
        ("l2", -1.0),
        ("seed", -1),
        ("seed", 1 << 64),
        ("sigma", 0.0),
        ("train_history", 1),
    ],
    ids=str,
)
def test_settings_without_sense(kind, setting, value):
    with refused(rk.ArgumentError, owner=kind.__name__, setting=setting):
        kind(**{setting: value})


def test_measures_that_cannot_be_trained_for():
    with refused(rk.MeasureError, value="p@5"):
        rk.LambdaRank(measure="p@5")
    for field in ("measure", "watch"):
        with refused(rk.MeasureError, value="nonsense"):
            rk.LambdaRank(**{field: "nonsense"})
        with refused(rk.ArgumentError, owner="LambdaRank", setting=field, value=["err", "ndcg"]):
            rk.LambdaRank(**{field: ["err", "ndcg"]})


def test_settings_say_the_same_in_several_ways(tmp_path):
    first = rk.LambdaRank(hidden=(3,), epochs=2, rate=1, decay=1, sigma=1)
    others = [replace(first, hidden=3), replace(first, hidden=[3]), replace(first, epochs=np.int64(2), rate=np.float64(1.0))]
    first.fit(TRAIN).save(tmp_path / "first")
    for other in others:
        other.fit(TRAIN).save(tmp_path / "other")
        assert (tmp_path / "other").read_bytes() == (tmp_path / "first").read_bytes()


# ---- what is given to fit ---------------------------------------------------------------------------------------------


@EACH
def test_checkpoints_are_refused(kind, tmp_path):
    with refused(rk.ArgumentError, owner=kind.__name__, setting="callbacks"):
        kind().fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / "checkpoint")])


@EACH
def test_data_that_teach_nothing(kind):
    learner = kind(epochs=1)
    with refused(rk.DataError, place=TRAIN.source, value=TRAIN.queries):
        learner.fit(TRAIN.map_grades(lambda grades: 0 * grades + 1))
    with refused(rk.DataError, place=TRAIN.source):
        learner.fit(TRAIN.with_weights(np.zeros(TRAIN.queries)))
    with refused(rk.DataError, place="train", value="ndarray"):
        learner.fit(TRAIN.features)


@EACH
def test_bases_that_do_not_score(kind):
    class Broken:
        def score(self, data):
            return np.full(data.rows, np.nan)

    with refused(rk.DataError, place="row 0 (query '1')", value=TRAIN.rows):
        kind(epochs=1).fit(TRAIN, base=Broken())
    with refused(rk.ArgumentError, setting="base", value=3):
        kind(epochs=1).fit(TRAIN, base=3)
    with pytest.raises(rk.DataError):
        kind(epochs=1).fit(TRAIN, VALID.select_features([0]), base=rk.Feature(0))


@EACH
def test_validation_data_on_which_the_measure_is_undefined(kind):
    with pytest.raises(rk.RankiniteError):
        kind(epochs=1, watch="ndcg@10").fit(TRAIN, VALID.map_grades(lambda grades: 0 * grades))
