"""Changes of a forest by adaptation: every number against a comparison by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import lightgbm
import numpy as np
import pytest

import rankinite as rk
from rankinite.adapt.forest_diff import moved
from rankinite.adapt.methods.trada import trada
from refusals import refused

WORLD = rk.World(features=6, documents=12, terms=4, noise=0.3, seed=3, shift=0.6)
SOURCE = rk.synthesise(100, world=WORLD)
TARGET = rk.synthesise(2, domain=1, world=WORLD)
MART = rk.MART(trees=6, leaves=8, min_rows=5, rate=0.2).fit(SOURCE)


def test_a_forest_has_not_moved_from_itself():
    found = moved(MART, trada(MART, TARGET, 0.0, splits=True))
    assert not any(
        array.any() for array in (found.leaves_changed, found.thresholds_changed, found.trimmed, found.largest_change)
    )
    assert found.leaves.tolist() == [8] * 6
    assert found.by_feature() == {}
    assert "No threshold moved" in found.feature_grid().text()


def test_every_number_is_that_of_a_comparison_by_hand():
    adapted = trada(MART, TARGET, splits=True)
    found = moved(MART, adapted)
    for number in range(6):
        old, new = (forest.trees.take(number, number + 1) for forest in (MART, adapted))
        leaf = old.feature == -1
        change = np.abs(new.value - old.value)[leaf]
        assert found.leaves_changed[number] == (change > 0).sum() > 0
        assert found.thresholds_changed[number] == (new.threshold != old.threshold).sum() > 0
        assert found.thresholds[number] == (~leaf).sum()
        assert found.mean_change[number] == pytest.approx(change.mean())
        assert found.largest_change[number] == change.max()
    distance = np.abs(adapted.trees.threshold - MART.trees.threshold)
    shifts = found.by_feature()
    for name, shift in shifts.items():
        asked = MART.trees.feature == MART.feature_names.index(name)
        assert shift.splits == asked.sum()
        assert shift.moved == (distance[asked] > 0).sum()
        assert shift.total == pytest.approx(distance[asked].sum())
    assert sum(shift.total for shift in shifts.values()) == pytest.approx(distance.sum())
    totals = [shift.total for shift in shifts.values()]
    assert totals == sorted(totals, reverse=True)
    assert list(found.by_feature(2)) == list(shifts)[:2]


def test_trimmed_nodes_are_counted_and_the_others_still_find_their_own():
    kept, cut = trada(MART, TARGET, splits=True), trada(MART, TARGET, splits=True, trim=True)
    found, whole = moved(MART, cut), moved(MART, kept)
    assert found.trimmed.sum() == len(kept.trees.feature) - len(cut.trees.feature) > 0
    assert (found.leaves + found.thresholds + found.trimmed == np.diff(MART.trees.offsets)).all()
    assert (found.thresholds_changed == whole.thresholds_changed).all()
    assert {name: shift.total for name, shift in found.by_feature().items()} == {
        name: pytest.approx(shift.total) for name, shift in whole.by_feature().items()
    }


def test_trees_added_behind_are_counted_and_features_found_by_name():
    longer = rk.MART(trees=2, leaves=4, min_rows=1).fit(TARGET, base=trada(MART, TARGET))
    found = moved(MART, longer)
    assert found.added == 2
    assert (found.mean_change == moved(MART, trada(MART, TARGET)).mean_change).all()
    assert "2 trees were added" in str(found)
    turned = MART.feature_names[::-1]
    feature = np.where(MART.trees.feature < 0, -1, 5 - MART.trees.feature)
    again = replace(MART, feature_names=turned, trees=replace(MART.trees, feature=feature))
    assert not moved(MART, again).leaves_changed.any()


def test_it_prints_and_becomes_json():
    found = moved(MART, trada(MART, TARGET, splits=True, trim=True))
    lines = str(found).splitlines()
    assert len(lines) == 3 + 6 + 1
    assert lines[-1].split()[:2] == ["all", str(found.leaves_changed.sum())]
    assert found._repr_html_().count("<tr>") == 8
    kept = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [tree["trimmed"] for tree in kept["trees"]] == found.trimmed.tolist()
    assert kept["features"][next(iter(found.by_feature()))]["moved"] > 0
    nothing = replace(MART, trees=MART.trees.take(0, 0))
    assert moved(nothing, nothing).to_dict()["trees"] == []
    assert "what moved" in str(moved(nothing, nothing))


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        (lambda: (MART, rk.Feature("1")), "Feature"),
        (lambda: (rk.Feature("1"), MART), "Feature"),
        (lambda: (MART, MART.truncate(3)), 3),
        (lambda: (MART, rk.MART(trees=6, leaves=8).fit(rk.synthesise(50, domain=2, world=WORLD))), "4"),
        (lambda: (MART, replace(MART, feature_names=[f"x{k}" for k in range(6)])), f"x{MART.trees.feature[0]}"),
    ],
)
def test_rankers_that_do_not_belong_together_are_refused(pair, value):
    with refused(rk.ArgumentError, value=value):
        moved(*pair())


def test_a_model_without_names_is_compared_with_what_became_of_it(tmp_path):
    """LightGBM calls the features of arrays Column_0, …; the adapted forest calls them as the target does."""
    data = rk.synthesise(30, world=rk.World(documents=10, features=4))
    made = lightgbm.LGBMRanker(n_estimators=4, num_leaves=4, verbose=-1, n_jobs=1)
    made.fit(data.features, data.grades.astype(int), group=np.diff(data.offsets)).booster_.save_model(tmp_path / "model.txt")
    foreign = rk.load(tmp_path / "model.txt")
    adapted = rk.adapt.trada(foreign, data)
    assert set(foreign.feature_names).isdisjoint(adapted.feature_names)
    found = rk.adapt.moved(foreign, adapted)
    assert found.leaves_changed.sum() == (foreign.trees.value != adapted.trees.value)[foreign.trees.feature < 0].sum() > 0
