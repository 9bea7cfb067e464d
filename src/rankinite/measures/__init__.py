"""Measures of rankings: frozen values that give a query a number.

``base`` states what a measure promises, ``ranking`` is what it looks at. Measures: ``dcg``, ``err``, ``average_precision``,
``reciprocal_rank``, ``precision``, ``success``, ``r_precision``, ``f1``, ``rbp``, ``q_measure``, ``bpref``, ``auc``,
``judged``, ``errors``, and ``function`` with ``function_swaps`` and ``tied_orders``; ``cutoff``, ``binary`` and ``unjudged``
hold what they share. ``spelling`` has their text and their registry, ``other_spellings`` the names that other tools give them,
``conventions`` the habits of these tools,
``grades`` the error of a grade without a worth.
"""

from rankinite.measures.auc import AUC
from rankinite.measures.average_precision import AP
from rankinite.measures.base import BoundedMeasure, Measure, TrainableMeasure, swap_changes
from rankinite.measures.bpref import Bpref
from rankinite.measures.conventions import CONVENTIONS, Convention, convention
from rankinite.measures.dcg import DCG, NDCG, AveNDCG
from rankinite.measures.err import ERR
from rankinite.measures.errors import BalancedError, PairwiseErrors
from rankinite.measures.f1 import F1
from rankinite.measures.function import FunctionMeasure
from rankinite.measures.judged import Judged
from rankinite.measures.precision import Precision, Recall
from rankinite.measures.q_measure import QMeasure
from rankinite.measures.r_precision import Rprec
from rankinite.measures.ranking import Ranking, Ties, rank
from rankinite.measures.rbp import RBP
from rankinite.measures.reciprocal_rank import RR
from rankinite.measures.spelling import known_measures, parse_measure, register_measure
from rankinite.measures.success import Success

for _measure in (
    *(NDCG, DCG, AveNDCG, ERR, AP, RR, Precision, Recall, Success, Rprec, F1, RBP, QMeasure, Bpref, AUC, Judged),
    *(PairwiseErrors, BalancedError),
):
    register_measure(_measure)

__all__ = [
    "AP",
    "AUC",
    "CONVENTIONS",
    "DCG",
    "ERR",
    "F1",
    "NDCG",
    "RBP",
    "RR",
    "AveNDCG",
    "BalancedError",
    "BoundedMeasure",
    "Bpref",
    "Convention",
    "FunctionMeasure",
    "Judged",
    "Measure",
    "PairwiseErrors",
    "Precision",
    "QMeasure",
    "Ranking",
    "Recall",
    "Rprec",
    "Success",
    "Ties",
    "TrainableMeasure",
    "convention",
    "known_measures",
    "parse_measure",
    "rank",
    "register_measure",
    "swap_changes",
]
