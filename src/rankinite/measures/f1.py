"""F1: precision and recall in one number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Floats
from rankinite.measures import _kernels, _whole_kernels
from rankinite.measures.base import Parts
from rankinite.measures.binary import BinaryMeasure
from rankinite.measures.cutoff import ranks_up_to


@dataclass(frozen=True, slots=True)
class F1(BinaryMeasure):
    """The harmonic mean of precision and recall at the cutoff; without one, of all returned documents.

    That is 2·found / (cutoff + relevant). NaN where no document is relevant.
    """

    name = "f1"

    @property
    def parts(self) -> Parts:
        """Precision at the cutoff, scaled; or the F1 of a set."""
        if self.cutoff is None:
            return Parts(_whole_kernels.expected_set_f1, _kernels.scale_if_relevant)
        return Parts(_kernels.expected_linear, _whole_kernels.scale_f1)

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike, as for precision."""
        return np.full(ranks_up_to(self.cutoff, ranks), 1.0 / (self.cutoff or 1), SCORE)
