"""Settings outside their range are refused, and the error names the setting."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import rankinite as rk
from rankinite.learners.boosting import Boosting
from rankinite.trees.settings import TreeSettings
from refusals import refused

WRONG = {
    "leaves": [1, 0, -3, 2.0, "31", True, None],
    "depth": [0, -1, 1.5, "3"],
    "min_rows": [0, -1, 2.5, None],
    "min_curvature": [-0.1, np.nan, np.inf, "1", None, 10**400],
    "l2": [-1, np.nan, np.inf, "a", None],
    "criterion": ["gini", None, 3, []],
    "shape": ["square", None],
    "thresholds": ["worst", None],
    "row_share": [0, 0.0, 1.01, -0.5, np.nan, "all"],
    "query_share": [0, 2, None],
    "feature_share": [0, 2, np.inf],
    "node_row_share": [0, 2, False],
    "node_feature_share": [0, 2, None],
    "monotone": ["bm25", ("+",), ("",), (5,), 5, None],
    "category_rows": [0, -1, 2.5, None],
    "category_smooth": [-1, np.nan, np.inf, "a", None],
    "debias": ["positions", 1, True],
    "debias_power": [-0.1, 1.1, np.nan, "1", None],
    "bins": [1, 256, 0, 16.0],
    "bin_sample": [0, -1, "all"],
    "seed": [-1, 1.5, None, 1 << 64],
    "trees": [0, -1, 2.5, "many"],
    "rate": [0, 1.5, -0.1, np.nan, "0.1", 10**400],
    "patience": [0, -1, 1.5],
    "watch": [5, ["ndcg@10", "err"], rk.NDCG],
    "train_history": ["yes", 1, None],
    "measure": [5, ["ndcg@10", "err"], rk.NDCG, None],
    "sigma": [0, -1, np.nan, np.inf, "1", None],
    "step": ["long", None, 1],
    "step_low": [np.nan, -np.inf, "0", None, 7.0],
    "step_high": [np.nan, np.inf, "5", None, 0.0],
    "step_data": ["test", None],
    "reoptimise": [-1, 1.5, None, "5"],
    "truncation": [0, -1, 1.5, "10"],
    "reach": [0, -1, 1.5, None],
    "normalise": ["no", 1, None],
    "loss": ["absolute", None, 1],
    "max_grade": [0, -1, 2.5, "4"],
    "relevant": [np.nan, np.inf, "1", None],
    "rounds": [0, -1, 2.5, None],
    "nan": ["zero", None, 0],
}
CROSSED = {"step_low": ("step_high",)}
"""A setting that is refused → those that it is refused because of."""
LEARNERS = (rk.LambdaMART, rk.MART, rk.McRank, rk.RankNetTrees, rk.LambdaBoost)


def learners_with(field):
    return [learner for learner in LEARNERS if field in {f.name for f in fields(learner)}]


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_a_wrong_setting_is_refused_by_name(field, value):
    for learner in learners_with(field):
        with pytest.raises(rk.RankiniteError) as caught:
            learner(**{field: value})
        assert field in (caught.value.setting, *CROSSED.get(caught.value.setting, ())) or caught.value.value == value


def test_every_setting_of_every_learner_is_tried_above():
    assert {field.name for learner in LEARNERS for field in fields(learner)} == set(WRONG)


def test_unknown_names_list_the_known_ones():
    with refused(rk.ArgumentError, owner="MART", setting="criterion", value="gini") as caught:
        rk.MART(criterion="gini")
    assert all(repr(name) in str(caught.value) for name in ("newton", "mse"))
    with refused(rk.ArgumentError, owner="MART", setting="loss", value="absolute") as caught:
        rk.MART(loss="absolute")
    assert all(repr(name) in str(caught.value) for name in ("squared", "graded", "binary", "balanced"))
    with refused(rk.MeasureError, value="nonsense"):
        rk.LambdaMART.plain(measure="nonsense")
    with refused(rk.MeasureError, value="nonsense"):
        rk.McRank(watch="nonsense")


def test_settings_that_exclude_each_other_are_refused():
    with refused(rk.ArgumentError, owner="TreeSettings", setting="node_row_share", value=0.5):
        TreeSettings(shape="symmetric", node_row_share=0.5)
    with refused(rk.ArgumentError, owner="TreeSettings", setting="leaves", value=1 << 21):
        TreeSettings(shape="symmetric", leaves=1 << 21)
    with refused(rk.ArgumentError, owner="TreeSettings", setting="monotone", value="+a"):
        TreeSettings(monotone=("+a", "-a"))


def test_edges_of_the_ranges_are_allowed():
    learner = rk.LambdaMART.plain(
        leaves=2,
        depth=1,
        min_rows=1,
        bins=2,
        bin_sample=1,
        seed=(1 << 64) - 1,
        rate=1,
        row_share=1,
        l2=0,
        patience=None,
        trees=1,
    )
    assert learner.settings()["rate"] == 1
    assert isinstance(learner, Boosting)


@pytest.mark.parametrize(("leaves", "depth", "levels"), [(2, None, 1), (31, None, 4), (32, None, 5), (33, 2, 2), (8, 9, 3)])
def test_a_symmetric_tree_has_the_levels_its_leaves_fill(leaves, depth, levels):
    assert TreeSettings(leaves=leaves, depth=depth).levels() == levels


def test_monotone_names_must_be_features():
    assert TreeSettings(monotone="-b").signs(["a", "b"]).tolist() == [0, -1]
    with refused(rk.DataError, setting="monotone", value="+c"):
        TreeSettings(monotone=("+c",)).signs(["a", "b"])


def test_settings_are_plain_values_for_the_model_file():
    settings = rk.LambdaMART.plain(measure="err", watch="ndcg@5", monotone=("+1",)).settings()
    assert settings["learner"] == "LambdaMART"
    assert (settings["measure"], settings["watch"], settings["monotone"]) == ("err", "ndcg@5", ["+1"])


def test_numbers_of_numpy_are_taken_for_pythons_own():
    """A grid search draws them from np.arange or np.logspace."""
    learner = rk.LambdaMART.plain(
        leaves=np.int64(7), trees=np.int32(3), rate=np.float32(0.5), normalise=np.bool_(False), seed=np.uint8(4)
    )
    assert learner == rk.LambdaMART.plain(leaves=7, trees=3, rate=0.5, normalise=False, seed=4)
    assert {type(learner.leaves), type(learner.trees), type(learner.seed)} == {int}
    with refused(rk.ArgumentError, setting="leaves", value=7.5):
        rk.LambdaMART.plain(leaves=np.float64(7.5))


def test_of_rows_so_few_that_none_is_drawn_all_are_taken():
    data = rk.read(np.asarray([[1.0], [2.0]]), grades=[0, 1], qid=[1, 1])
    settings = {"trees": 20, "min_rows": 1, "leaves": 2, "shape": "best-first"}
    forest = rk.LambdaMART(**settings, row_share=0.01).fit(data)
    assert forest.text() == rk.LambdaMART(**settings, row_share=1.0).fit(data).text()
