"""The simplest ranker: one column of the data, such as BM25."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.errors import DataError
from rankinite.kernel import SCORE, Floats


@dataclass(frozen=True, slots=True)
class Feature:
    """Ranks by one feature, given by position or by name. A missing value (NaN) ranks below all others."""

    feature: int | str
    ascending: bool = False
    """True: small values rank high, as for a distance or a URL's length."""

    def __str__(self) -> str:
        return f"{'ascending' if self.ascending else 'feature'}:{self.feature}"

    def score(self, features: Dataset | npt.NDArray[np.floating]) -> Floats:
        """The feature's values, signed so that higher ranks higher."""
        if isinstance(features, Dataset):
            values = features.features[:, features.feature_index(self.feature)]
        elif isinstance(self.feature, int) and features.ndim == 2 and 0 <= self.feature < features.shape[1]:
            values = features[:, self.feature]
        else:
            raise DataError(
                f"feature {self.feature!r} cannot be taken from an array of shape {features.shape}. "
                "Give its position, or score a Dataset, whose features have names."
            )
        signed = -values.astype(SCORE) if self.ascending else values.astype(SCORE)
        # The lowest score that is still ranked: −inf would mean "not returned".
        lowest = np.finfo(SCORE).min
        return np.maximum(np.where(np.isnan(signed), lowest, signed), lowest)
