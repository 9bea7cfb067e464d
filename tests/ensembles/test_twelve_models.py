"""The ensemble that won: its twelve models are those of the paper's Table 2, and its score is their scaled mean."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from rankinite.ensembles import Average, Rescaled, challenge
from refusals import refused

WORLD = rk.World(features=5, documents=9, noise=0.3)
TRAIN = rk.synthesise(30, world=WORLD)
TEST = rk.synthesise(20, part="test", world=WORLD)
TREES = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=3, train_history=False)
NET = rk.LambdaRank(hidden=(3,), epochs=2)
POINTS = rk.MART(trees=3, leaves=4, min_rows=3)


@pytest.fixture(scope="module")
def ensemble():
    return challenge(TREES, NET, POINTS).fit(TRAIN)


def test_the_score_is_the_mean_of_twelve_scaled_scores(ensemble):
    assert len(ensemble.parts) == 12
    total = np.zeros(TEST.rows)
    for weight, part in ensemble.parts:
        assert weight == pytest.approx(1 / 12)
        own = part.ranker.score(TRAIN)
        total += (part.ranker.score(TEST) - own.mean()) / own.std() / 12
    np.testing.assert_allclose(ensemble.score(TEST), total, atol=1e-9)


def test_the_members_are_those_of_the_paper():
    trainers = challenge(TREES, NET, POINTS, max_grade=3).trainers
    assert list(trainers) == [f"M{number}" for number in range(1, 13)]
    for first, measure in ((1, "err:max_grade=3"), (5, "ndcg@10")):
        plain, fifty, seventy = (trainers[f"M{first + shift}"] for shift in range(3))
        assert str(plain.trainer.measure) == measure
        assert plain.parts == fifty.parts == seventy.parts == 10
        assert (fifty.trainer.share, fifty.trainer.copies) == rk.AUG50
        assert (seventy.trainer.share, seventy.trainer.copies) == rk.AUG70
        assert trainers[f"M{first + 3}"].trainer == plain
    for name in ("M9", "M10", "M11"):
        assert trainers[name].members == 1
    graded = trainers["M11"].trainer.trainer
    assert (graded.loss, graded.max_grade) == ("graded", 3)
    assert trainers["M12"].scale == "peak"
    assert trainers["M12"].trainer == trainers["M11"]


def test_single_models_stop_by_a_tenth_of_the_queries():
    net = challenge(TREES, NET, POINTS).trainers["M10"].fit(TRAIN)
    part = rk.Bag(NET, 10).fit(TRAIN).parts[0][1]
    assert net.text() == part.text()


def test_it_can_be_saved_evaluated_and_distilled(ensemble, tmp_path):
    ensemble.save(tmp_path / "model")
    assert np.array_equal(rk.load(tmp_path / "model").score(TEST), ensemble.score(TEST))
    student = rk.distil(ensemble, TRAIN, test=TEST, trees=20, leaves=8)
    assert student.ranker.sizes()["trees"] <= 20
    assert any("mimicked" in warning for warning in student.warnings)  # nets, M4, M8 and M12 have no trees over raw features


def test_finished_members_are_kept_and_the_result_has_the_same_bytes(tmp_path, monkeypatch):
    members = {"trees": rk.Bag(TREES, 3), "net": NET, "points": POINTS}
    whole = Average(members).fit(TRAIN)
    fitted = []
    fit = rk.MART.fit

    def interrupted(self, *arguments, **settings):
        fitted.append(self)
        if len(fitted) == 1:
            raise KeyboardInterrupt
        return fit(self, *arguments, **settings)

    monkeypatch.setattr(rk.MART, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Average(members, tmp_path / "keep").fit(TRAIN)
    seen = count_fits(monkeypatch, rk.LambdaMART, rk.LambdaRank)
    resumed = Average(members, tmp_path / "keep").fit(TRAIN)
    assert seen == []
    assert len(fitted) == 2
    whole.save(tmp_path / "whole")
    resumed.save(tmp_path / "resumed")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()
    Average(members, tmp_path / "keep").fit(TRAIN.select_queries(range(29)))  # other data: all are made again
    assert len(seen) == 4
    assert len(fitted) == 3


def test_damaged_members_are_made_again(tmp_path, monkeypatch):
    members = {"net": NET, "points": POINTS}
    first = Average(members, tmp_path).fit(TRAIN)
    for path in tmp_path.rglob("*.rankinite"):
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    seen = count_fits(monkeypatch, rk.LambdaRank, rk.MART)
    again = Average(members, tmp_path).fit(TRAIN)
    assert len(seen) == 2
    assert np.array_equal(again.score(TEST), first.score(TEST))


def count_fits(monkeypatch, *kinds):
    seen = []
    for kind in kinds:
        real = kind.fit

        def fit(self, *arguments, real=real, **settings):
            seen.append(self)
            return real(self, *arguments, **settings)

        monkeypatch.setattr(kind, "fit", fit)
    return seen


def test_averages_go_anywhere_a_learner_goes():
    pair = Average({"trees": rk.Bag(TREES, 3), "net": NET})
    rounds = []
    ranker = pair.fit(TRAIN, callbacks=[rounds.append])
    assert [(one.round, one.rounds) for one in rounds] == [(1, 2), (2, 2)]
    assert len(ranker.parts) == 2
    found = rk.cross_validate({"pair": pair, "one": TREES}, TRAIN, 3)
    assert found.systems == ("pair", "one")
    assert set(pair.settings()["of"]) == {"trees", "net"}
    with refused(rk.ArgumentError, owner="Average", setting="trainers"):
        Average({"one": TREES})
    with refused(rk.ArgumentError, owner="Rescaled", setting="scale", value="log"):
        Rescaled(TREES, "log")
    with refused(rk.ArgumentError, owner="Bag", setting="members", value=4):
        rk.Bag(TREES, 3, members=4)
