"""SQLite and DuckDB, which must agree."""

from __future__ import annotations

import sqlite3

import duckdb
import numpy as np
import pyarrow as pa

from rankinite.serving.proof import named_rows


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def sqlite_scores(case):
    """SQLite's scores, missing values being NULL."""
    names, columns = case.plan.names, named_rows(case.plan, case.matrix)
    kinds = "".join(f", {quoted(name)} {'TEXT COLLATE NOCASE' if name in case.plan.categories else 'REAL'}" for name in names)
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE features (id INTEGER PRIMARY KEY{kinds})")
        values = [pa.array(columns[name], from_pandas=True).to_pylist() for name in names]
        rows = zip(range(len(case.matrix)), *values, strict=True)
        database.executemany(f"INSERT INTO features VALUES ({', '.join('?' * (len(names) + 1))})", rows)
        return in_order(database.execute(case.files["model.sql"].decode()).fetchall(), len(case.matrix))


def duckdb_scores(case):
    """DuckDB's scores."""
    columns = {name: pa.array(values, from_pandas=True) for name, values in named_rows(case.plan, case.matrix).items()}
    with duckdb.connect() as database:
        database.register("features", pa.table({"id": np.arange(len(case.matrix)), **columns}))
        return in_order(database.execute(case.files["model.sql"].decode()).fetchall(), len(case.matrix))


def in_order(found, rows):
    scores = dict(found)
    assert len(scores) == len(found) == rows
    return np.asarray([scores[number] for number in range(rows)], np.float64)


def scores(cases):
    """Both databases' scores, which are the same bits unless a function like tanh is in it."""
    found = []
    for case in cases:
        found.append(sqlite_scores(case))
        others = duckdb_scores(case)
        if case.target.tolerance_of(case.plan.flat):
            np.testing.assert_allclose(others, found[-1], rtol=1e-13, atol=1e-13)
        else:
            np.testing.assert_array_equal(others, found[-1])
    return found
