"""Bags, seeds and augmented data: what they train is what their parts would have been trained to by hand."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from rankinite import Augmented, Bag, Seeds
from rankinite.data.folds import holdouts
from refusals import refused

WORLD = rk.World(features=5, documents=15, noise=0.3)
TRAIN = rk.synthesise(30, world=WORLD)
VALID = rk.synthesise(12, part="valid", world=WORLD)
TEST = rk.synthesise(20, part="test", world=WORLD)
DRAWN = rk.LambdaMART.plain(trees=6, leaves=4, min_rows=3, row_share=0.7)
PLAIN = rk.LambdaMART.plain(trees=6, leaves=4, min_rows=3)
NET = rk.RankNet(epochs=3, hidden=(3,))


def mean_score(rankers, data):
    return np.mean([ranker.score(data) for ranker in rankers], axis=0)


def test_a_bag_is_the_mean_of_fits_that_stop_by_another_part_each():
    bag = Bag(PLAIN, parts=4, seed=7).fit(TRAIN)
    byhand = [PLAIN.fit(part.rest, part.held) for part in holdouts(TRAIN, 4, seed=7)]
    assert len(bag.parts) == 4
    assert [weight for weight, _ in bag.parts] == [0.25] * 4
    assert [part.text() for _, part in bag.parts] == [forest.text() for forest in byhand]
    np.testing.assert_allclose(bag.score(TEST), mean_score(byhand, TEST), rtol=1e-12)


def test_every_query_of_a_bag_is_held_out_once_and_valid_is_learnt_from_too():
    whole = rk.concat([TRAIN, VALID])
    held = [set(part.held.qids.tolist()) for part in holdouts(whole, 5)]
    assert set.union(*held) == set(whole.qids.tolist())
    assert sum(map(len, held)) == whole.queries
    given, joined = Bag(PLAIN, parts=5).fit(TRAIN, VALID), Bag(PLAIN, parts=5).fit(whole)
    assert np.array_equal(given.score(TEST), joined.score(TEST))


def test_seeds_are_the_mean_of_fits_with_other_random_numbers():
    many = Seeds(DRAWN, count=3).fit(TRAIN, VALID)
    byhand = [
        rk.LambdaMART.plain(trees=6, leaves=4, min_rows=3, row_share=0.7, seed=seed).fit(TRAIN, VALID) for seed in range(3)
    ]
    assert [part.text() for _, part in many.parts] == [forest.text() for forest in byhand]
    assert len({forest.text() for forest in byhand}) == 3
    assert Seeds(NET, count=1).fit(TRAIN, VALID).text() == NET.fit(TRAIN, VALID).text()


def test_augmented_data_train_and_validation_data_stay():
    ranker = Augmented(PLAIN, *rk.AUG50, seed=3).fit(TRAIN, VALID)
    assert ranker.text() == PLAIN.fit(rk.augment(TRAIN, *rk.AUG50, seed=3), VALID).text()


def test_trainers_fit_into_each_other_and_go_from_a_base():
    base = rk.Feature(0)
    both = Bag(Augmented(DRAWN, 0.5, 2), parts=2).fit(TRAIN, base=base)
    first = holdouts(TRAIN, 2)[0]
    byhand = DRAWN.fit(rk.augment(first.rest, 0.5, 2), first.held, base=base)
    assert np.array_equal(both.parts[0][1].score(TEST), byhand.score(TEST))
    seeds = Seeds(Bag(PLAIN, parts=3), count=2).fit(TRAIN)
    assert [len(part.parts) for _, part in seeds.parts] == [3, 3]
    assert seeds.parts[1][1].score(TEST).tolist() == Bag(PLAIN, parts=3, seed=1).fit(TRAIN).score(TEST).tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_bytes_on_any_number_of_threads(threads, tmp_path):
    with rk.threads(threads):
        Bag(DRAWN, parts=3).fit(TRAIN).save(tmp_path / "bag")
    with rk.threads(3):
        Bag(DRAWN, parts=3).fit(TRAIN).save(tmp_path / "other")
    assert (tmp_path / "bag").read_bytes() == (tmp_path / "other").read_bytes()


def test_callbacks_are_given_a_round_for_each_member():
    rounds = []
    Bag(PLAIN, parts=3).fit(TRAIN, callbacks=[rounds.append])
    assert [(progress.round, progress.rounds) for progress in rounds] == [(1, 3), (2, 3), (3, 3)]
    assert {progress.measure for progress in rounds} == {"ndcg@10"}
    assert all(0.0 < progress.valid < 1.0 for progress in rounds)


def test_what_cannot_be_trained_is_refused(tmp_path):
    with refused(rk.ArgumentError, place="LambdaMART", value=1):
        Seeds(PLAIN, count=3)
    with refused(rk.ArgumentError, place="LambdaBoost"):
        Seeds(rk.LambdaBoost(), count=3)
    with refused(rk.ArgumentError, owner="Bag", setting="parts", value=1):
        Bag(PLAIN, parts=1)
    with refused(rk.ArgumentError, owner="Augmented", setting="share", value=1.5):
        Augmented(PLAIN, 1.5, 2)
    with refused(rk.ArgumentError, place=TRAIN.source, value=31):
        Bag(PLAIN, parts=31).fit(TRAIN)
    with refused(rk.ArgumentError, owner="Bag", setting="callbacks"):
        Bag(PLAIN, parts=2).fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / "checkpoint")])
