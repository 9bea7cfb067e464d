"""Measures of rankings: frozen values that give a query a number.

``base`` states what a measure promises, ``ranking`` is what it looks at. Measures: ``dcg``, ``err``, ``average_precision``,
``reciprocal_rank``, ``precision``, ``errors``, and ``function`` with ``function_swaps`` and ``tied_orders``; ``cutoff`` and
``binary`` hold what they share. ``spelling`` has their text and their registry, ``conventions`` the habits of other tools,
``grades`` the error of a grade without a worth.
"""

from rankinite.measures.average_precision import AP
from rankinite.measures.base import BoundedMeasure, Measure, TrainableMeasure, swap_changes
from rankinite.measures.conventions import CONVENTIONS, Convention, convention
from rankinite.measures.dcg import DCG, NDCG, AveNDCG
from rankinite.measures.err import ERR
from rankinite.measures.errors import BalancedError, PairwiseErrors
from rankinite.measures.function import FunctionMeasure
from rankinite.measures.precision import Precision, Recall
from rankinite.measures.ranking import Ranking, Ties, rank
from rankinite.measures.reciprocal_rank import RR
from rankinite.measures.spelling import known_measures, parse_measure, register_measure

for _measure in (NDCG, DCG, AveNDCG, ERR, AP, RR, Precision, Recall, PairwiseErrors, BalancedError):
    register_measure(_measure)

__all__ = [
    "AP",
    "CONVENTIONS",
    "DCG",
    "ERR",
    "NDCG",
    "RR",
    "AveNDCG",
    "BalancedError",
    "BoundedMeasure",
    "Convention",
    "FunctionMeasure",
    "Measure",
    "PairwiseErrors",
    "Precision",
    "Ranking",
    "Recall",
    "Ties",
    "TrainableMeasure",
    "convention",
    "known_measures",
    "parse_measure",
    "rank",
    "register_measure",
    "swap_changes",
]
