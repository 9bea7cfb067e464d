"""The cost of training for a measure that is a Python function: a warning that says how often it is called."""

from __future__ import annotations

import threading
import time
import warnings

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import SCORE
from rankinite.learners.base import Learner
from rankinite.measures.function import FunctionMeasure

TIMED = 20
"""Queries on which the function is timed."""
BRIEF = 0.01
"""Seconds that need not be counted."""
_noted_calls: dict[str, int] = {}
"""The most calls that users were told of, for each measure: again only where there are ten times as many."""
_telling = threading.Lock()


def warn_of_calls(learner: Learner, train: Dataset) -> None:
    """Say once how many calls of a Python function a round takes, and how long they are; not of one that is compiled."""
    measure = getattr(learner, "measure", None)
    if not isinstance(measure, FunctionMeasure) or measure.is_compiled:
        return
    calls = measure.calls(train.grades, train.offsets, getattr(learner, "truncation", None))
    with _telling:  # fits may begin side by side
        if calls < 10 * _noted_calls.get(str(measure), 0):
            return
        seconds = calls * _seconds_of_a_call(measure, train)
        _noted_calls[str(measure)] = calls
    duration = f"about {seconds:.2g} s" if seconds >= BRIEF else f"less than {BRIEF:g} s"
    shorter = "" if measure.cutoff is not None else ", or say how many ranks count, as in cutoff=10"
    warnings.warn(
        f"{measure} is a Python function: each round of training calls it up to {calls:,} times, {duration}, and up "
        f"to {measure.orders:,} times for each query with ties when it is watched; compile it with numba.njit{shorter}",
        stacklevel=4,  # who called fit
    )


def _seconds_of_a_call(measure: FunctionMeasure, train: Dataset) -> float:
    """The mean over some queries."""
    queries = np.unique(np.linspace(0, train.queries - 1, TIMED).astype(int)).tolist()
    begun = time.perf_counter()
    for query in queries:
        measure.value(train.grades[train.offsets[query] : train.offsets[query + 1]].astype(SCORE))
    return (time.perf_counter() - begun) / len(queries)
