"""Measures of rankings: frozen values that give every query a number, exact in expectation where scores tie.

Read them in this order. ``ranking`` sorts documents by score and marks ties: all that a measure looks at. ``base`` states
what a measure promises, and computes those that are made of the relevance of a grade, the discount of a rank and the scale of
a query. ``gains`` (graded relevance), ``binary`` (relevant or not) and ``error_counts`` define the measures; ``function``
makes one of any function of the grades in rank order. ``registry`` knows all by name and writes them as text, ``spelling``
reads texts, those of other tools included; ``conventions`` holds the habits of these tools.

The arithmetic is in kernels on plain arrays: ``_ranking_kernels``, ``_kernels`` (values) and ``_swap_kernels`` (what swapping
two ranks changes). ``data_grades`` alone knows data sets: it gives the grades of one as a measure sees them.

A measure is its definition: written in one of these files and decorated by ``registry.measure``, it is known wherever measures
are named, completed, listed and tested (CONTRIBUTING.md, "Add a measure").
"""

from rankinite.measures import binary, error_counts, gains
from rankinite.measures.base import BoundedMeasure, Measure, TrainableMeasure, swap_changes
from rankinite.measures.binary import *
from rankinite.measures.conventions import CONVENTIONS, Convention, convention
from rankinite.measures.error_counts import *
from rankinite.measures.function import FunctionMeasure
from rankinite.measures.gains import *
from rankinite.measures.ranking import Ranking, Ties, rank
from rankinite.measures.registry import known_measures, register_measure
from rankinite.measures.spelling import parse_measure

__all__ = [
    "CONVENTIONS",
    "BoundedMeasure",
    "Convention",
    "FunctionMeasure",
    "Measure",
    "Ranking",
    "Ties",
    "TrainableMeasure",
    "convention",
    "known_measures",
    "parse_measure",
    "rank",
    "register_measure",
    "swap_changes",
]
__all__ += gains.__all__
__all__ += binary.__all__
__all__ += error_counts.__all__
