"""One column as a ranker."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk

DATA = rk.read(np.asarray([[1, 5.0], [2, np.nan], [3, -7.0]]), grades=[0, 1, 2], group=[3]).rename_features(["a", "b"])


def test_a_feature_scores_by_its_values():
    assert rk.Feature("a").score(DATA).tolist() == [1, 2, 3]
    assert rk.Feature(0, ascending=True).score(DATA).tolist() == [-1, -2, -3]
    assert rk.Feature(0).score(DATA.features).tolist() == [1, 2, 3]
    assert isinstance(rk.Feature(0), rk.Ranker)


@pytest.mark.parametrize("ascending", [False, True])
def test_a_missing_value_ranks_last_but_is_returned(ascending):
    scores = rk.Feature("b", ascending).score(DATA)
    assert scores.argmin() == 1
    assert np.isfinite(scores).all()


def test_an_infinite_value_is_returned_too():
    data = rk.read(np.asarray([[-np.inf], [1.0]]), grades=[0, 1], group=[2], infinite="keep")
    ranking = rk.rank(rk.Feature(0).score(data), data.grades, data.offsets)
    assert ranking.returned[0] == 2


def test_unknown_features_list_the_known():
    with pytest.raises(rk.DataError, match="'a', 'b'"):
        rk.Feature("c").score(DATA)
    with pytest.raises(rk.DataError, match="from 0 to 1"):
        rk.Feature(2).score(DATA)
    with pytest.raises(rk.DataError, match="Give its position"):
        rk.Feature("a").score(DATA.features)
