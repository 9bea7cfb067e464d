"""R-precision."""

from __future__ import annotations

from dataclasses import dataclass

from rankinite.measures import _kernels, _whole_kernels
from rankinite.measures.base import Parts
from rankinite.measures.binary import WholeMeasure


@dataclass(frozen=True, slots=True)
class Rprec(WholeMeasure):
    """R-precision: the share of relevant documents among the first R, where R are relevant. NaN where none is."""

    name = "rprec"
    parts = Parts(_whole_kernels.expected_first_relevant, _kernels.scale_by_relevant)
