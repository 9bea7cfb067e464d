"""The mean of a measure alone, as training watches it round by round: that of all members, where each has some queries."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.engine.over_members import gathered
from rankinite.errors import DataError, MeasureError, RankiniteError
from rankinite.evaluation.evaluate import mean_of, refuse_infinite
from rankinite.evaluation.query_values import values_per_query
from rankinite.measures.base import Measure
from rankinite.measures.conventions import convention


def mean_value(scores: Floats, data: Dataset, measure: Measure) -> float:
    """The mean of a measure over the queries that count: the same number as ``evaluate`` gives for all data at once."""
    rules = convention("rankinite")
    if data.members is None:
        values = values_per_query(scores, data, [measure], rules, rules.ties)[0]
        refuse_infinite(measure, values, data)
        return mean_of(measure, values, data)
    if measure.pooled:
        raise MeasureError(
            "it is measured over all queries together, which no single machine has",
            place=measure,
            value=str(measure),
            remedy="Watch another measure, or train on one machine",
        )
    own, problem = np.empty(0), None
    try:
        own = values_per_query(scores, data, [measure], rules, rules.ties)[0] if data.queries else own
    except RankiniteError as raised:
        own, problem = np.asarray([np.inf]), raised  # the others wait for values: one that cannot be tells them
    values = gathered(data.members, own)
    if np.isinf(values).any():
        raise problem or DataError(
            "another member cannot measure its queries, or finds an infinite value",
            place=data.source,
            value=str(measure),
            remedy="Look at that member's message, or watch another measure",
        )
    return mean_of(measure, values, data)
