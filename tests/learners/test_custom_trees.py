"""A loss of one's own trains what the same loss trains inside, and is refused where it gives no pushes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import rankinite as rk
from rankinite.trees.structure import DTYPES
from refusals import refused

WORLD = rk.World(features=6, documents=16, noise=0.3)
TRAIN, VALID = rk.synthesise(40, world=WORLD), rk.synthesise(20, part="valid", world=WORLD)
WEIGHTED = TRAIN.with_weights(np.arange(TRAIN.queries) % 3.0)
TREES = {"trees": 12, "leaves": 6, "min_rows": 5, "row_share": 0.8}


def squared(scores, grades, offsets):
    return grades - scores, np.ones_like(scores)


def ranknet(scores, grades, offsets):
    push, curvature = np.zeros_like(scores), np.zeros_like(scores)
    for a, b in pairwise(offsets):
        apart = scores[a:b, None] - scores[a:b]
        better = grades[a:b, None] > grades[a:b]
        chance = 1.0 / (1.0 + np.exp(apart))
        size, bend = np.where(better, chance, 0.0), np.where(better, chance * (1.0 - chance), 0.0)
        push[a:b], curvature[a:b] = size.sum(1) - size.sum(0), bend.sum(1) + bend.sum(0)
    return push, curvature


def arrays(forest):
    return {name: getattr(forest.trees, name).tobytes() for name in DTYPES}


@pytest.mark.parametrize("data", [TRAIN, WEIGHTED], ids=["plain", "weighted"])
def test_squared_loss_is_that_of_mart_to_the_bit(data):
    for base in (None, rk.Feature(TRAIN.feature_names[0])):
        theirs = rk.MART(**TREES).fit(data, VALID, base=base)
        start = rk.MART(**TREES).objective(data).start[0]
        mine = rk.CustomTrees(loss=squared, start=start, **TREES).fit(data, VALID, base=base)
        trees = [ranker if base is None else ranker.parts[-1][1] for ranker in (mine, theirs)]
        assert arrays(trees[0]) == arrays(trees[1])
        assert trees[0].history.valid.tobytes() == trees[1].history.valid.tobytes()
        assert mine.score(VALID).tobytes() == theirs.score(VALID).tobytes()


def test_ranknet_is_that_of_ranknet_trees():
    mine, theirs = rk.CustomTrees(loss=ranknet, **TREES).fit(WEIGHTED), rk.RankNetTrees(**TREES).fit(WEIGHTED)
    assert mine.trees.feature.tobytes() == theirs.trees.feature.tobytes()
    np.testing.assert_allclose(mine.score(TRAIN), theirs.score(TRAIN), atol=1e-9)


def test_threads_and_a_checkpoint_change_no_byte(tmp_path):
    learner = rk.CustomTrees(loss=ranknet, **TREES)
    found = []
    for count in (1, 2):
        with rk.threads(count):
            learner.fit(TRAIN, VALID).save(tmp_path / f"{count}")
        found.append((tmp_path / f"{count}").read_bytes())
    rk.CustomTrees(loss=ranknet, **{**TREES, "trees": 4}).fit(TRAIN, VALID, callbacks=[rk.Checkpoint(tmp_path / "c", every=2)])
    learner.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(tmp_path / "c", every=2)]).save(tmp_path / "resumed")
    assert len({*found, (tmp_path / "resumed").read_bytes()}) == 1


def test_the_function_gets_copies_and_sees_rows_as_the_data_have_them():
    seen = []

    def spoiling(scores, grades, offsets):
        seen.append(scores.copy())
        np.testing.assert_array_equal(grades, TRAIN.grades)
        np.testing.assert_array_equal(offsets, TRAIN.offsets)
        push = grades - scores
        scores[:] = np.nan
        return push.tolist(), np.ones(TRAIN.rows, np.float32)  # whatever numbers there are

    learner = rk.CustomTrees(loss=spoiling, start=0.5, trees=3, leaves=4)
    forest = learner.fit(TRAIN)
    np.testing.assert_array_equal(seen[0], 0.5)
    np.testing.assert_array_equal(seen[2], forest.truncate(2).score(TRAIN))
    assert arrays(forest) == arrays(rk.CustomTrees(loss=squared, start=0.5, trees=3, leaves=4).fit(TRAIN))


def test_a_model_records_the_name_of_the_loss(tmp_path):
    rk.CustomTrees(loss=squared, **TREES).fit(TRAIN).save(tmp_path / "m")
    loaded = rk.load(tmp_path / "m")
    assert loaded.settings["loss"] == "function squared"
    assert set(loaded.settings["function_code"]) == {"loss"}
    with refused(rk.ArgumentError, value=["function squared"]):
        rk.adapt.trada(loaded, VALID)
    assert isinstance(rk.adapt.trada(loaded, VALID, loss="squared", same_scale=True), rk.Forest)
    with pytest.raises(rk.DataError, match="function_code"):
        rk.CustomTrees(loss=ranknet, **TREES).fit(TRAIN, callbacks=[kept(tmp_path)])


def kept(folder):
    """A checkpoint that was made with another loss of the same name."""

    def other(scores, grades, offsets):
        return squared(scores, grades, offsets)

    other.__name__ = "ranknet"
    keep = rk.Checkpoint(folder / "c", every=1)
    rk.CustomTrees(loss=other, **TREES).fit(TRAIN, callbacks=[keep])
    return keep


def ones(scores):
    return np.ones_like(scores)


ARRAYS = {
    "nothing": (lambda s, g, o: None, None),
    "one array": (lambda s, g, o: s, None),
    "three arrays": (lambda s, g, o: (s, s, s), None),
    "a short push": (lambda s, g, o: (s[:3], ones(s)), (3,)),
    "a table": (lambda s, g, o: (s, ones(s)[None]), (1, TRAIN.rows)),
    "a number": (lambda s, g, o: (s, 1.0), ()),
    "words": (lambda s, g, o: ("push", ones(s)), "str"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_no_push_and_curvature_is_refused(name):
    function, value = ARRAYS[name]
    with refused(rk.ArgumentError, place="the loss <lambda>") as caught:
        rk.CustomTrees(loss=function, **TREES).fit(TRAIN)
    assert value is None or caught.value.value == value


@pytest.mark.parametrize(("push", "curvature"), [(np.nan, 1.0), (np.inf, 1.0), (1.0, -0.25), (1.0, np.nan)])
def test_the_first_row_that_is_wrong_is_named(push, curvature):
    row = int(TRAIN.offsets[2]) + 1

    def wrong(scores, grades, offsets):
        pushes, curvatures = squared(scores, grades, offsets)
        pushes[row:], curvatures[row:] = push, curvature
        return pushes, curvatures

    qid = TRAIN.qids[2]
    with refused(rk.DataError, place=f"{TRAIN.source}, row {row} (query '{qid}')"):
        rk.CustomTrees(loss=wrong, **TREES).fit(TRAIN)


def test_what_is_no_function_is_refused():
    for loss in ("squared", None, rk.MART):
        with refused(rk.ArgumentError, setting="loss", value=loss):
            rk.CustomTrees(loss=loss)
    with refused(rk.ArgumentError, setting="start", value="high"):
        rk.CustomTrees(loss=squared, start="high")


def test_errors_of_the_function_pass_through():
    with pytest.raises(KeyError, match="mine"):
        rk.CustomTrees(loss=lambda s, g, o: {}["mine"], **TREES).fit(TRAIN)
