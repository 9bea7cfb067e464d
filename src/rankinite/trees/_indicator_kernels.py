"""Columns that say whether the category of a row is in a set."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Indices, Reals, kernel


@kernel
def fill_indicators(
    matrix: Reals, columns: Indices, feature: Indices, starts: Indices, words: npt.NDArray[np.uint32], out_wide: Reals
) -> None:
    """The features of every row, then for every set 0 where its feature's category is in it, 1 where it is not, NaN if missing.

    ``out_wide``: rows × (features + sets); ``columns``: where each feature is in the matrix. The category of a number is its
    whole part; what lies beyond a set's words is not in it.
    """
    features = len(columns)
    for row in range(len(matrix)):
        for f in range(features):
            out_wide[row, f] = matrix[row, columns[f]]
        for k in range(len(feature)):
            x = matrix[row, columns[feature[k]]]
            if x != x:  # noqa: PLR0124 - NaN alone differs from itself
                out_wide[row, features + k] = x
                continue
            out_wide[row, features + k] = 1
            size = 32 * (starts[k + 1] - starts[k])
            if -1 < x < size:
                code = int(x)
                bit = (words[starts[k] + (code >> 5)] >> np.uint32(code & 31)) & np.uint32(1)
                if bit:
                    out_wide[row, features + k] = 0
