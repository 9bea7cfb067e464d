"""One column as a ranker."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankinite as rk
from rankinite.cli.ranker_arguments import ranker

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


@pytest.mark.parametrize("given", [True, 1.5, None])
def test_a_feature_is_a_position_or_a_name(given):
    with pytest.raises(rk.ArgumentError, match="position or its name"):
        rk.Feature(given)


def test_unknown_features_list_the_known():
    with pytest.raises(rk.DataError, match="'a', 'b'"):
        rk.Feature("c").score(DATA)
    with pytest.raises(rk.DataError, match="from 0 to 1"):
        rk.Feature(2).score(DATA)
    with pytest.raises(rk.DataError, match="Give its position"):
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
    with pytest.raises(rk.DataError, match=r"named '0'\..*'1', '2', '3'\..*position 0, counted from 0, is Feature\(0\)"):
        rk.Feature("0").score(NUMBERED)
    with pytest.raises(rk.DataError, match=r"position 3\..*from 0 to 2\..*named '3' is Feature\('3'\)"):
        rk.Feature(3).score(NUMBERED)
    with pytest.raises(rk.DataError, match=r"no feature is named '7'\..*'1', '2', '3'\.$"):
        rk.Feature("7").score(NUMBERED)


def test_a_frame_lists_its_columns():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    for source in (frame, pl.from_pandas(frame), pa.table(frame)):
        assert rk.Feature("b").score(source).tolist() == [2]
        with pytest.raises(rk.DataError, match=r"'a', 'b', counted from 0\. The one at position 1.* is Feature\(1\)"):
            rk.Feature("1").score(source)
