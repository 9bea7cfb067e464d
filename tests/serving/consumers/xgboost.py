"""XGBoost itself."""

from __future__ import annotations

import numpy as np
import xgboost


def scores(cases):
    """``predict`` of the JSON; ``inplace_predict`` of the UBJSON must say the same."""
    return [agreed(case.files, case.matrix) for case in cases]


def agreed(files, matrix):
    """The scores of both files by both ways to predict."""
    text, binary = (booster_of(files[name]) for name in ("model.json", "model.ubj"))
    found = text.predict(xgboost.DMatrix(matrix, feature_names=text.feature_names, nthread=1))
    assert np.array_equal(found, binary.inplace_predict(matrix))
    for row in range(min(len(matrix), 5)):  # single rows take another way through the trees
        assert text.inplace_predict(matrix[row : row + 1])[0] == found[row]
    return found


def booster_of(content):
    """A loaded model; one thread, since two wait for each other longer than they work on so few rows."""
    return xgboost.Booster({"nthread": 1}, model_file=bytearray(content))
