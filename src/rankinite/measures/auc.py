"""AUC within queries."""

from __future__ import annotations

from dataclasses import dataclass

from rankinite.measures import _whole_kernels
from rankinite.measures.base import Parts
from rankinite.measures.unjudged import JudgedPairsMeasure


@dataclass(frozen=True, slots=True)
class AUC(JudgedPairsMeasure):
    """Area under the ROC curve within each query: how often a relevant document is above one judged not relevant.

    A tie counts one half; documents that are not returned tie below all others, and unjudged ones are passed over. NaN where
    all documents are relevant, or none is.
    """

    name = "auc"
    parts = Parts(_whole_kernels.expected_pairs_in_order, _whole_kernels.scale_by_pairs)
