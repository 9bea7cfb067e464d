"""SQLExpression: one SQL statement that scores the rows of a table, for SQLite and DuckDB.

Every tree is a CASE expression, NULL is a missing value, and categories are compared as texts. Numbers, comparisons and sums
are in double and in the order of ours, so that forests, linear rankers and columns have the same bits in both databases; tanh
and exp are the database's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from rankinite.errors import ArgumentError
from rankinite.models.base import Ranker
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.plurals import counted
from rankinite.serving.category_words import check_words
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, flatten, leaves_of
from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files, Target, Twin
from rankinite.serving.targets.sql_stages import KEY, SCORE, TABLE, SQLStages, check_columns, plain, too_large
from rankinite.serving.targets.sql_text import deepest_nesting, quoted_name
from rankinite.serving.targets.sql_twin import twin_of
from rankinite.trees.structure import LEAF

FILE, RERANK = "model.sql", "rerank.sql"
MOST_NESTED = 14
"""CASE expressions in each other: SQLite's parser took 16 of ours before its version 3.46."""
MANY_SPLITS = 20_000
"""SQLite prepares a statement in a time that grows with the square of its numbers: a second and more from here on."""
TOLERANCE = 1e-14
"""Of what is added up: what another tanh and exp may change."""


class SQLExpression(Target):
    """``model.sql``, which reads the table ``features``."""

    name = "sql"
    title = "one SQL statement, for SQLite and DuckDB"
    is_engine = True
    categories = "names"
    feature_names = r"[^\0]+"
    reserved_names = (KEY,)

    def flattened(self, ranker: Ranker) -> Flat:
        """The ranker as a sum, with probabilities."""
        return flatten(ranker, probabilities=True)

    def tolerance_of(self, flat: Flat) -> float:
        """None but for tanh and exp."""
        return 0.0 if all(map(_is_plain, leaves_of(flat))) else TOLERANCE

    def check(self, flat: Flat) -> None:
        """Refuse trees with more leaves than SQLite's parser can follow, and more features than it has columns."""
        check_columns(len(flat.used) + 1)
        for leaf in leaves_of(flat):
            nested = deepest_nesting(leaf.trees) if isinstance(leaf, Forest) else 0
            if nested > MOST_NESTED:
                raise too_large(f"expressions that are nested {nested} deep", nested, f"{MOST_NESTED} levels")

    def same_name(self, name: str) -> str:
        """The name without the difference of capitals."""
        return plain(name)

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse queries of features that are no expressions, words that are no text, and nets with too many units."""
        check_words(
            plan.categories,
            "SQL",
            "[^\0\ud800-\udfff]*",
            "Categories have no character with the code 0, and no half characters",
        )
        for name, query in plan.feature_queries.items():
            if not isinstance(query, str) or not query.strip():
                raise ArgumentError(
                    f"has no expression for {name!r} but {query!r}",
                    setting="feature_queries",
                    value=query,
                    rule="A feature is computed by an expression of SQL, which is a text",
                    remedy='Give for example {"age": "julianday() - published"}',
                )
        if any(isinstance(leaf, Net | NetOfSums) for leaf in leaves_of(plan.flat)):
            self.write(plan)  # refuses steps with too many columns

    def write(self, plan: ExportPlan) -> Files:
        """The statement."""
        return {FILE: SQLStages(plan.names, plan.missing, plan.categories).text(plan.flat).encode()}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The statement parsed, and computed in NumPy."""
        return twin_of(files[FILE].decode(), plan.names, SCORE, plan.categories)

    def companions(self, plan: ExportPlan) -> Files:
        """The statement with a query of features before it, and a program that scores the sample."""
        columns = ",\n".join(
            f"{plan.feature_queries.get(name, quoted_name(name))} AS {quoted_name(name)}" for name in plan.names
        )
        key, score = quoted_name(KEY), quoted_name(SCORE)
        features = f"WITH {quoted_name(TABLE)} AS (\nSELECT {key}{',' if columns else ''}\n{columns}\nFROM documents),\n"
        statement = self.write(plan)[FILE].decode().removeprefix("WITH\n")
        rerank = f"{RERANK_HEAD}{features}{statement}ORDER BY {score} DESC, {key}\nLIMIT 10\n"
        return {RERANK: rerank.encode(), "check.py": CHECK.encode()}

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """What the database needs, how large the statement is, and what missing values do to rankers that refuse them."""
        leaves = list(leaves_of(plan.flat))
        found = [f"{len(files[FILE]) / 1e3:,.0f} kB of SQL; SQLite needs version 3.35 or later"]
        if not all(map(_is_plain, leaves)):
            found.append("it calls tanh or exp, which SQLite has only if it was compiled with SQLITE_ENABLE_MATH_FUNCTIONS")
        splits = sum(int((leaf.trees.feature != LEAF).sum()) for leaf in leaves if isinstance(leaf, Forest))
        if splits > MANY_SPLITS:
            found.append(f"with {splits:,} splits SQLite needs seconds to prepare the statement: prepare it once and keep it")
        if plan.missing == "nan" and any(isinstance(leaf, Linear | Net) and leaf.nan == "refuse" for leaf in leaves):
            found.append("a row with a missing value scores NULL there, which rankinite refuses")
        columns = len(plan.names) - len(plan.feature_queries)
        if columns:
            found.append(f"{RERANK} takes {columns} of {counted(len(plan.names), 'feature')} from columns of that name")
        return found


def _is_plain(leaf: Leaf) -> bool:
    """Whether it is computed by comparisons, sums and products alone."""
    if isinstance(leaf, Forest):
        return leaf.grades is None
    return isinstance(leaf, Linear | Feature) or (isinstance(leaf, Net) and not leaf.hidden)


RERANK_HEAD = """\
-- Put the table and the condition of your first search in the place of "documents", and check the features' expressions.
"""

CHECK = '''"""Scores of the sample by SQLite, or by DuckDB (--duckdb): run it, then: rankinite check . --scores served.txt"""

import csv
import json
import os
import sys

if "--duckdb" in sys.argv[1:]:
    import duckdb

    database = duckdb.connect()
else:
    import sqlite3

    database = sqlite3.connect(":memory:")

with open("sample.csv", encoding="utf-8", newline="") as file:
    names, *lines = csv.reader(file)
categories = {}
if os.path.exists("categories.json"):
    with open("categories.json", encoding="utf-8") as file:
        categories = json.load(file)["categories"]
kinds = ["VARCHAR" if name in categories else "DOUBLE PRECISION" for name in names]
columns = ["id INTEGER", *('"' + name.replace('"', '""') + '" ' + kind for name, kind in zip(names, kinds))]
database.execute("CREATE TABLE features (" + ", ".join(columns) + ")")
for number, line in enumerate(lines):
    row = [number]
    for value, kind in zip(line, kinds):
        row.append(None if value == "" else value if kind == "VARCHAR" else float(value))
    database.execute("INSERT INTO features VALUES (" + ", ".join("?" * len(row)) + ")", row)
with open("model.sql", encoding="utf-8") as file:
    scores = dict(database.execute(file.read()).fetchall())
with open("served.txt", "w", encoding="utf-8") as file:
    file.writelines(f"{scores[number]!r}\\n" for number in range(len(lines)))
'''
