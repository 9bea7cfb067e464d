"""Bpref: binary preference, for judgements that are far from complete."""

from __future__ import annotations

from dataclasses import dataclass

from rankinite.measures import _kernels, _whole_kernels
from rankinite.measures.base import Parts
from rankinite.measures.unjudged import JudgedPairsMeasure


@dataclass(frozen=True, slots=True)
class Bpref(JudgedPairsMeasure):
    """Binary preference: how few documents judged not relevant are above the relevant ones; others are passed over.

    The mean over R relevant documents of 1 − min(n, R)/min(N, R), where n of the N documents judged not relevant are above it;
    a relevant document that is not returned counts 0, as in trec_eval. NaN where none is relevant.
    """

    name = "bpref"
    parts = Parts(_whole_kernels.expected_bpref, _kernels.scale_if_relevant)
