"""What describe counts, against counting by hand."""

from __future__ import annotations

import json

import numpy as np

import rankinite as rk


def test_counts_against_slow_ones():
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 9, 200)
    features = rng.integers(0, 3, (sizes.sum(), 3)).astype(float)
    features[rng.random(features.shape) < 0.1] = np.nan
    grades = rng.integers(0, 3, sizes.sum())
    data = rk.read(features, grades=grades, group=sizes)
    found = rk.describe(data)

    duplicate = contradicting = one_grade = 0
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        seen: dict[bytes, float] = {}
        for row in range(a, b):
            key = data.features[row].tobytes()
            duplicate += key in seen
            contradicting += key in seen and seen[key] != data.grades[row]
            seen.setdefault(key, data.grades[row])
        one_grade += len(set(data.grades[a:b].tolist())) == 1
    assert (found.duplicate_rows, found.contradicting_rows) == (duplicate, contradicting)
    assert (found.one_grade_queries, found.one_document_queries) == (one_grade, (sizes == 1).sum())
    assert found.documents == (sizes.min(), np.median(sizes), sizes.max())
    assert found.grades == {float(g): int((grades == g).sum()) for g in range(3)}
    for column, summary in enumerate(found.features):
        values = data.features[:, column]
        assert summary.missing == np.isnan(values).sum()
        assert summary.zeros == (values == 0).sum()
        assert (summary.lowest, summary.highest) == (np.nanmin(values), np.nanmax(values))
        assert np.isclose(summary.mean, np.nanmean(values, dtype=np.float64))


def test_constant_and_empty_features():
    features = np.asarray([[1.0, np.nan, 2.0], [1.0, np.nan, 3.0]])
    found = rk.describe(rk.read(features, grades=[0, 1], group=[2]))
    assert found.constant_features == ("1", "2")
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["features"][1]["lowest"] is None
    assert plain["constant_features"] == ["1", "2"]


def test_data_without_features():
    data = rk.Dataset.from_rows(np.zeros((2, 0)), np.asarray([0, 1]), np.asarray(["q", "q"]), ())
    found = rk.describe(data)
    assert (found.features, found.duplicate_rows) == ((), 0)
