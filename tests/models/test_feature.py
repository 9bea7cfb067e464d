"""One column as a ranker."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankinite as rk
from rankinite.cli.ranker_arguments import ranker
from refusals import refused

DATA = rk.read(np.asarray([[1, 5.0], [2, np.nan], [3, -7.0]]), grades=[0, 1, 2], group=[3]).rename_features(["a", "b"])


def test_a_feature_scores_by_its_values():
    assert rk.Feature("a").score(DATA).tolist() == [1, 2, 3]
    assert rk.Feature(0, ascending=True).score(DATA).tolist() == [-1, -2, -3]
    assert rk.Feature(0).score(DATA.features).tolist() == [1, 2, 3]
    assert isinstance(rk.Feature(0), rk.Scorer)


@pytest.mark.parametrize("ascending", [False, True])
def test_a_missing_value_ranks_last_but_is_returned(ascending):
    scores = rk.Feature("b", ascending).score(DATA)
    assert scores.argmin() == 1
    assert np.isfinite(scores).all()


def test_an_infinite_value_is_returned_too():
    data = rk.read(np.asarray([[-np.inf], [1.0]]), grades=[0, 1], group=[2], infinite="keep")
    ranking = rk.rank(rk.Feature(0).score(data), data.grades, data.offsets)
    assert ranking.returned[0] == 2


def test_frames_and_lists_are_scored_too():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [4.0, 3.0]})
    for source in (frame, pl.from_pandas(frame)):
        assert rk.Feature("b").score(source).tolist() == [4, 3]
        assert rk.Feature(0).score(source).tolist() == [1, 2]
    assert rk.Feature(np.int64(1)).score([[1, 2], [3, 4]]).tolist() == [2, 4]


@pytest.mark.parametrize("feature", [True, 1.5, None])
def test_a_feature_is_a_position_or_a_name(feature):
    with refused(rk.ArgumentError, setting="feature", value=feature):
        rk.Feature(feature)


def test_unknown_features_list_the_known():
    with refused(rk.DataError, place=DATA.source, value="c"):
        rk.Feature("c").score(DATA)
    with refused(rk.DataError, place=DATA.source, value=2):
        rk.Feature(2).score(DATA)
    with refused(rk.DataError, value="a"):
        rk.Feature("a").score(DATA.features)


NUMBERED = rk.read(np.asarray([[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]]), grades=[0, 1], group=[2])
"""Its features are called 1, 2 and 3, as those of a LETOR file are."""


def test_a_number_is_a_position_and_a_text_a_name():
    assert rk.Feature(1).score(NUMBERED).tolist() == [6, 9]
    assert rk.Feature("1").score(NUMBERED).tolist() == [5, 8]
    assert repr(rk.Feature(1)) != repr(rk.Feature("1"))


@pytest.mark.parametrize("feature", [rk.Feature(1), rk.Feature("1"), rk.Feature(0, True), rk.Feature("a:b=c", True)])
def test_the_shell_reads_what_a_feature_is_printed_as(feature):
    assert ranker(str(feature)) == feature


def test_a_name_that_was_meant_as_a_position_is_recognised_and_the_reverse():
    with refused(rk.DataError, value="0") as caught:
        rk.Feature("0").score(NUMBERED)
    assert "`Feature(0)`" in caught.value.remedy
    with refused(rk.DataError, value=3) as caught:
        rk.Feature(3).score(NUMBERED)
    assert "`Feature('3')`" in caught.value.remedy
    with refused(rk.DataError, value="7") as caught:
        rk.Feature("7").score(NUMBERED)
    assert "`Feature(" not in caught.value.remedy


def test_a_frame_lists_its_columns():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    for source in (frame, pl.from_pandas(frame), pa.table(frame)):
        assert rk.Feature("b").score(source).tolist() == [2]
        with refused(rk.DataError, value="1") as caught:
            rk.Feature("1").score(source)
        assert "`Feature(1)`" in caught.value.remedy
