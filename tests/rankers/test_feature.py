"""One column as a ranker."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankinite as rk

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
