"""Measures for which a document is relevant or not: precision, recall and their kin; AP, RR and RBP; bpref, AUC and judged.

A measure is a frozen value: the lowest relevant grade, perhaps a cutoff, and two kernels, one that gives the worth of a ranking
and one that scales it. All are exact over all orders of tied documents (see ``_kernels``). Most take a document that nobody
judged for one that is not relevant; those with ``sees_unjudged`` are given a negative grade in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import (
    LOOKED_UP,
    UNJUDGED,
    CutoffMeasure,
    KernelMeasure,
    MeasureKernels,
    Swap,
    check_finite,
    check_word,
    expected_values,
    ranks_up_to,
    reciprocal_ranks,
    require_cutoff,
)
from rankinite.measures.ranking import Ranking
from rankinite.measures.registry import measure

__all__ = ["AP", "AUC", "F1", "RBP", "RR", "Bpref", "Judged", "Precision", "Recall", "Rprec", "Success"]

PrecisionShare: TypeAlias = Literal["cutoff", "returned"]
"""What precision at k is a share of where fewer documents are returned: k, as in trec_eval, or the documents there are."""
APShare: TypeAlias = Literal["all", "reachable"]
"""What AP@k is a share of: all relevant documents, or the min(k, relevant) that fit above the cutoff."""


class RelevanceThreshold:
    """The relevance of a measure for which a document is relevant or not."""

    __slots__ = ()

    relevant: float
    bounds = (0.0, 1.0)

    def table(self) -> Floats:
        """1 for the relevant ones of the grades 0, 1, 2, …"""
        return self.relevance(np.arange(LOOKED_UP, dtype=SCORE))

    def relevance(self, grades: Reals) -> Floats:
        """1 where the grade is at least the lowest relevant one, else 0."""
        return (grades >= self.relevant).astype(SCORE)


@dataclass(frozen=True, slots=True)
class BinaryMeasure(RelevanceThreshold, CutoffMeasure):
    """A measure of relevance 0 or 1, from 0 to 1 itself, that looks at the first ``cutoff`` ranks."""

    relevant: float = 1.0
    """The lowest grade that counts as relevant."""

    def __post_init__(self) -> None:
        CutoffMeasure.__post_init__(self)
        check_finite(self.name, "relevant", self.relevant)

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike, unless a measure says otherwise."""
        return np.ones(ranks_up_to(self.cutoff, ranks), SCORE)


@dataclass(frozen=True, slots=True)
class WholeMeasure(RelevanceThreshold, KernelMeasure):
    """A measure of relevance 0 or 1, from 0 to 1 itself, that looks at the whole ranking, or decides itself how far."""

    relevant: float = 1.0
    """The lowest grade that counts as relevant."""

    def __post_init__(self) -> None:
        check_finite(self.name, "relevant", self.relevant)

    def discounts(self, ranks: int) -> Floats:
        """Every rank counts."""
        return np.ones(ranks, SCORE)


# ---- how many relevant documents are found ----------------------------------------------------------------------------


@measure("p", "precision", "prec", "set_p", "setp", cut_name="p")
@dataclass(frozen=True, slots=True)
class Precision(BinaryMeasure):
    """The share of relevant documents among the first ``cutoff``; without a cutoff, among all returned ones."""

    of: PrecisionShare = "cutoff"

    parts = MeasureKernels(_kernels.expected_linear, _kernels.scale_one)

    def __post_init__(self) -> None:
        BinaryMeasure.__post_init__(self)
        check_word(self.name, "of", self.of, get_args(PrecisionShare))

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike: one over the cutoff, or 1 where the documents returned decide."""
        share = self.cutoff if self.cutoff is not None and self.of == "cutoff" else 1
        return np.full(ranks_up_to(self.cutoff, ranks), 1.0 / share, SCORE)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        values = expected_values(self, ranking)
        if self.cutoff is not None and self.of == "cutoff":
            return values
        return _per_returned(values, self.cutoff, ranking)


@measure("recall", "r", "set_recall", "setr", cut_name="recall")
@dataclass(frozen=True, slots=True)
class Recall(BinaryMeasure):
    """The share of the relevant documents that are among the first ``cutoff``. NaN where none is relevant."""

    parts = MeasureKernels(_kernels.expected_linear, _kernels.scale_by_relevant)


@measure("f1", "set_f", "setf")
@dataclass(frozen=True, slots=True)
class F1(BinaryMeasure):
    """The harmonic mean of precision and recall at the cutoff; without one, of all returned documents.

    That is 2·found / (cutoff + relevant). NaN where no document is relevant.
    """

    @property
    def parts(self) -> MeasureKernels:
        """Precision at the cutoff, scaled; or the F1 of a set."""
        if self.cutoff is None:
            return MeasureKernels(_kernels.expected_set_f1, _kernels.scale_if_relevant)
        return MeasureKernels(_kernels.expected_linear, _kernels.scale_f1)

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike, as for precision."""
        return np.full(ranks_up_to(self.cutoff, ranks), 1.0 / (self.cutoff or 1), SCORE)


@measure("success", "hit", "hit_rate", cut_name="success")
@dataclass(frozen=True, slots=True)
class Success(BinaryMeasure):
    """1 where a relevant document is among the first ``cutoff``, else 0 (hit@k). NaN where none is relevant."""

    cutoff: int | None = 10

    parts = MeasureKernels(_kernels.expected_reciprocal_rank, _kernels.scale_if_relevant)
    swap = Swap(_swap_kernels.prepare_first_two, _swap_kernels.changes_first)

    def __post_init__(self) -> None:
        BinaryMeasure.__post_init__(self)
        require_cutoff(self.name, self.cutoff)


@measure("rprec", "r-precision")
@dataclass(frozen=True, slots=True)
class Rprec(WholeMeasure):
    """R-precision: the share of relevant documents among the first R, where R are relevant. NaN where none is."""

    parts = MeasureKernels(_kernels.expected_first_relevant, _kernels.scale_by_relevant)


# ---- at which ranks they are ------------------------------------------------------------------------------------------


@measure("ap", "map", cut_name="map_cut")
@dataclass(frozen=True, slots=True)
class AP(BinaryMeasure):
    """Average precision: the mean precision at the ranks of the relevant documents. NaN where none is relevant."""

    of: APShare = "all"

    swap = Swap(_swap_kernels.prepare_precisions, _swap_kernels.changes_precisions)

    def __post_init__(self) -> None:
        BinaryMeasure.__post_init__(self)
        check_word(self.name, "of", self.of, get_args(APShare))

    @property
    def parts(self) -> MeasureKernels:
        """Precisions, over the relevant documents there are or that can be reached."""
        scale = _kernels.scale_by_relevant if self.of == "all" else _kernels.scale_by_reachable
        return MeasureKernels(_kernels.expected_average_precision, scale)

    def discounts(self, ranks: int) -> Floats:
        """1, 1/2, 1/3, … up to the cutoff."""
        return reciprocal_ranks(self.cutoff, ranks)


@measure("rr", "mrr", "recip_rank")
@dataclass(frozen=True, slots=True)
class RR(BinaryMeasure):
    """Reciprocal rank: one over the rank of the first relevant document. NaN where none is relevant."""

    parts = MeasureKernels(_kernels.expected_reciprocal_rank, _kernels.scale_if_relevant)
    swap = Swap(_swap_kernels.prepare_first_two, _swap_kernels.changes_first)

    def discounts(self, ranks: int) -> Floats:
        """1, 1/2, 1/3, … up to the cutoff."""
        return reciprocal_ranks(self.cutoff, ranks)


@measure("rbp")
@dataclass(frozen=True, slots=True)
class RBP(BinaryMeasure):
    """Rank-biased precision: (1 − p)·Σ p^(rank − 1) over the relevant documents, of rank 1, 2, …"""

    p: float | None = None
    """How probably the user goes on to the next document, between 0 and 1. If None, 0.8 or as the convention has it."""

    parts = MeasureKernels(_kernels.expected_linear, _kernels.scale_one)
    swap = Swap(_swap_kernels.prepare_nothing, _swap_kernels.changes_linear)

    def __post_init__(self) -> None:
        BinaryMeasure.__post_init__(self)
        check_finite(self.name, "p", self._continues)
        if not 0.0 < self._continues < 1.0:
            raise MeasureError(
                f"p={quoted(self.p)} is not between 0 and 1",
                place=self.name,
                value=self.p,
                rule="It is the probability that the user goes on from one document to the next",
                remedy="Give for example rbp:p=0.8",
            )

    @property
    def _continues(self) -> float:
        return 0.8 if self.p is None else self.p

    def discounts(self, ranks: int) -> Floats:
        """1 − p, (1 − p)·p, (1 − p)·p², … up to the cutoff."""
        factors = np.full(ranks_up_to(self.cutoff, ranks), self._continues, SCORE)
        factors[:1] = 1.0 - self._continues
        return np.multiply.accumulate(factors)  # not a power: products have the same bits everywhere


# ---- judged documents alone -------------------------------------------------------------------------------------------


class JudgedPairsMeasure(WholeMeasure):
    """A measure of the order of relevant documents and those judged not relevant; it passes over all others."""

    __slots__ = ()

    sees_unjudged = True

    def relevance(self, grades: Reals) -> Floats:
        """1 where the grade is at least the lowest relevant one, 0 where it is lower, −1 where nobody judged the document."""
        return np.where(grades < 0.0, UNJUDGED, grades >= self.relevant).astype(SCORE)


@measure("bpref")
@dataclass(frozen=True, slots=True)
class Bpref(JudgedPairsMeasure):
    """Binary preference: how few documents judged not relevant are above the relevant ones; others are passed over.

    The mean over R relevant documents of 1 − min(n, R)/min(N, R), where n of the N documents judged not relevant are above it;
    a relevant document that is not returned counts 0, as in trec_eval. NaN where none is relevant.
    """

    parts = MeasureKernels(_kernels.expected_bpref, _kernels.scale_if_relevant)


@measure("auc")
@dataclass(frozen=True, slots=True)
class AUC(JudgedPairsMeasure):
    """Area under the ROC curve within each query: how often a relevant document is above one judged not relevant.

    A tie counts one half; documents that are not returned tie below all others, and unjudged ones are passed over. NaN where
    all documents are relevant, or none is.
    """

    parts = MeasureKernels(_kernels.expected_pairs_in_order, _kernels.scale_by_pairs)


@measure("judged")
@dataclass(frozen=True, slots=True)
class Judged(CutoffMeasure):
    """The share of judged documents among the first ``cutoff`` returned; without a cutoff, among all returned ones.

    Where it is low, other measures say little: to them an unjudged document is one that is not relevant.
    """

    bounds = (0.0, 1.0)
    sees_unjudged = True
    parts = MeasureKernels(_kernels.expected_linear, _kernels.scale_one)

    def table(self) -> Floats:
        """1 for the grades 0, 1, 2, …"""
        return np.ones(LOOKED_UP, SCORE)

    def relevance(self, grades: Reals) -> Floats:
        """1 where the grade is not negative."""
        return (grades >= 0.0).astype(SCORE)

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike."""
        return np.ones(ranks_up_to(self.cutoff, ranks), SCORE)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query; 0 where no document is returned."""
        return _per_returned(expected_values(self, ranking), self.cutoff, ranking)


def _per_returned(numbers: Floats, cutoff: int | None, ranking: Ranking) -> Floats:
    """Numbers of documents as shares of those that are returned, up to the cutoff."""
    return numbers / np.clip(ranking.returned, 1, max(ranking.longest, 1) if cutoff is None else cutoff)
