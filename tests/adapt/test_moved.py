"""What adaptation has moved: every number against a comparison by hand, in Python and on the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import lightgbm
import numpy as np
import pytest

import rankinite as rk
from rankinite.adapt.forest_changes import moved
from rankinite.adapt.methods.trada import trada

WORLD = rk.World(features=6, documents=12, terms=4, noise=0.3, seed=3, shift=0.6)
SOURCE = rk.synthesise(100, world=WORLD)
TARGET = rk.synthesise(2, domain=1, world=WORLD)
MART = rk.MART(trees=6, leaves=8, min_rows=5, rate=0.2).fit(SOURCE)


def test_a_forest_has_not_moved_from_itself():
    told = moved(MART, trada(MART, TARGET, 0.0, splits=True))
    assert not any(array.any() for array in (told.leaves_changed, told.thresholds_changed, told.trimmed, told.largest_change))
    assert told.leaves.tolist() == [8] * 6
    assert told.by_feature() == {}
    assert "No threshold moved" in told.feature_grid().text()


def test_every_number_is_that_of_a_comparison_by_hand():
    adapted = trada(MART, TARGET, splits=True)
    told = moved(MART, adapted)
    for number in range(6):
        old, new = (forest.trees.take(number, number + 1) for forest in (MART, adapted))
        leaf = old.feature == -1
        change = np.abs(new.value - old.value)[leaf]
        assert told.leaves_changed[number] == (change > 0).sum() > 0
        assert told.thresholds_changed[number] == (new.threshold != old.threshold).sum() > 0
        assert told.thresholds[number] == (~leaf).sum()
        assert told.mean_change[number] == pytest.approx(change.mean())
        assert told.largest_change[number] == change.max()
    distance = np.abs(adapted.trees.threshold - MART.trees.threshold)
    shifts = told.by_feature()
    for name, shift in shifts.items():
        asked = MART.trees.feature == MART.feature_names.index(name)
        assert shift.splits == asked.sum()
        assert shift.moved == (distance[asked] > 0).sum()
        assert shift.total == pytest.approx(distance[asked].sum())
    assert sum(shift.total for shift in shifts.values()) == pytest.approx(distance.sum())
    totals = [shift.total for shift in shifts.values()]
    assert totals == sorted(totals, reverse=True)
    assert list(told.by_feature(2)) == list(shifts)[:2]


def test_trimmed_nodes_are_counted_and_the_others_still_find_their_own():
    kept, cut = trada(MART, TARGET, splits=True), trada(MART, TARGET, splits=True, trim=True)
    told, whole = moved(MART, cut), moved(MART, kept)
    assert told.trimmed.sum() == len(kept.trees.feature) - len(cut.trees.feature) > 0
    assert (told.leaves + told.thresholds + told.trimmed == np.diff(MART.trees.offsets)).all()
    assert (told.thresholds_changed == whole.thresholds_changed).all()
    assert {name: shift.total for name, shift in told.by_feature().items()} == {
        name: pytest.approx(shift.total) for name, shift in whole.by_feature().items()
    }


def test_trees_added_behind_are_counted_and_features_found_by_name():
    longer = rk.MART(trees=2, leaves=4, min_rows=1).fit(TARGET, base=trada(MART, TARGET))
    told = moved(MART, longer)
    assert told.added == 2
    assert (told.mean_change == moved(MART, trada(MART, TARGET)).mean_change).all()
    assert "2 trees were added" in str(told)
    turned = MART.feature_names[::-1]
    feature = np.where(MART.trees.feature < 0, -1, 5 - MART.trees.feature)
    again = replace(MART, feature_names=turned, trees=replace(MART.trees, feature=feature))
    assert not moved(MART, again).leaves_changed.any()


def test_it_prints_and_becomes_json():
    told = moved(MART, trada(MART, TARGET, splits=True, trim=True))
    lines = str(told).splitlines()
    assert len(lines) == 3 + 6 + 1
    assert lines[-1].split()[:2] == ["all", str(told.leaves_changed.sum())]
    assert told._repr_html_().count("<tr>") == 8
    kept = json.loads(json.dumps(told.to_dict(), allow_nan=False))
    assert [tree["trimmed"] for tree in kept["trees"]] == told.trimmed.tolist()
    assert kept["features"][next(iter(told.by_feature()))]["moved"] > 0
    nothing = replace(MART, trees=MART.trees.take(0, 0))
    assert moved(nothing, nothing).to_dict()["trees"] == []
    assert "what moved" in str(moved(nothing, nothing))


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (lambda: (MART, rk.Feature("1")), "no forest"),
        (lambda: (rk.Feature("1"), MART), "no forest"),
        (lambda: (MART, MART.truncate(3)), "fewer trees"),
        (lambda: (MART, rk.MART(trees=6, leaves=8).fit(rk.synthesise(50, domain=2, world=WORLD))), "its own adaptation"),
        (lambda: (MART, replace(MART, feature_names=[f"x{k}" for k in range(6)])), "its own adaptation"),
    ],
)
def test_rankers_that_do_not_belong_together_are_refused(pair, words):
    with pytest.raises(rk.ArgumentError, match=words):
        moved(*pair())


def test_a_model_without_names_is_compared_with_what_became_of_it(tmp_path):
    """LightGBM calls the features of arrays Column_0, …; the adapted forest calls them as the target does."""
    data = rk.synthesise(30, world=rk.World(documents=10, features=4))
    made = lightgbm.LGBMRanker(n_estimators=4, num_leaves=4, verbose=-1, n_jobs=1)
    made.fit(data.features, data.grades.astype(int), group=np.diff(data.offsets)).booster_.save_model(tmp_path / "model.txt")
    foreign = rk.load(tmp_path / "model.txt")
    adapted = rk.adapt.trada(foreign, data)
    assert set(foreign.feature_names).isdisjoint(adapted.feature_names)
    told = rk.adapt.moved(foreign, adapted)
    assert told.leaves_changed.sum() == (foreign.trees.value != adapted.trees.value)[foreign.trees.feature < 0].sum() > 0
