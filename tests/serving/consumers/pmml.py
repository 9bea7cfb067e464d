"""PMML4S, a Java program, by pypmml: one Java machine for all documents."""

from __future__ import annotations

import json

import numpy as np
from pypmml import Model


def scores(cases):
    """The predicted value of each document, for rows as JSON: of data frames pypmml keeps ten digits behind the point."""
    return [scored(case.files["model.pmml"], case.plan.names, case.matrix) for case in cases]


def scored(content, names, matrix):
    """The predicted value of one document."""
    rows = [[None if np.isnan(value) else value for value in row] for row in matrix.tolist()]
    model = Model.fromString(content.decode())
    found = json.loads(model.predict(json.dumps({"columns": list(names), "data": rows})))
    return np.asarray([score for [score] in found["data"]])
