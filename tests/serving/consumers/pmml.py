"""PMML4S, a Java program, by pypmml: one Java machine for all documents."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
from pypmml import Model

from rankinite.serving.proof import named_rows


def scores(cases):
    """The predicted value of each document, for rows as JSON: of data frames pypmml keeps ten digits behind the point."""
    return [scored(case.files["model.pmml"], case.plan.names, case.matrix, case.plan) for case in cases]


def scored(content, names, matrix, plan=None):
    """The predicted value of one document; categories are given by name, where a plan says which they are."""
    columns = list(matrix.T) if plan is None else [named_rows(plan, matrix)[name] for name in names]
    rows = list(zip(*(pa.array(values, from_pandas=True).to_pylist() for values in columns), strict=True))
    model = Model.fromString(content.decode())
    found = json.loads(model.predict(json.dumps({"columns": list(names), "data": rows})))
    return np.asarray([score for [score] in found["data"]])
