"""Index: documents in SQLite's full-text search, their features for a query, and re-ranking inside the database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pyarrow as pa
from market import Document, Market, Query

FEATURES = """
SELECT pages.id AS id,
       -bm25(texts, 3.0, 1.0) AS bm25,
       -bm25(texts, 1.0, 0.0) AS bm25_title,
       -bm25(texts, 0.0, 1.0) AS bm25_body,
       pages.title_words AS title_words,
       pages.body_words AS body_words,
       pages.age AS age,
       pages.visits AS visits
FROM texts JOIN pages ON pages.id = texts.rowid
WHERE texts MATCH :words
ORDER BY bm25(texts, 3.0, 1.0), pages.id
LIMIT :candidates
"""
"""The first search: the best documents by BM25, with their features. ``visits`` is NULL for new documents."""
CANDIDATES = 40


class Index:
    """A database of one market's documents."""

    def __init__(self, documents: list[Document], new: int) -> None:
        self._database = sqlite3.connect(":memory:")
        try:
            self._database.execute("CREATE VIRTUAL TABLE texts USING fts5(title, body)")
        except sqlite3.OperationalError as problem:
            raise SystemExit(
                f"This SQLite has no full-text search ({problem}): use one that was compiled with FTS5."
            ) from problem
        self._database.execute("CREATE TABLE pages (id INTEGER PRIMARY KEY, title_words, body_words, age REAL, visits REAL)")
        for page in documents:
            text = (page.number, " ".join(page.title), " ".join(page.body))
            self._database.execute("INSERT INTO texts (rowid, title, body) VALUES (?, ?, ?)", text)
            facts = (page.number, len(page.title), len(page.body), page.age, None if page.age < new else page.visits)
            self._database.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", facts)

    def features(self, query: Query) -> tuple[list[str], list[tuple[float | None, ...]]]:
        """The names of columns, and one row per candidate; the first column is the document's number."""
        cursor = self._database.execute(FEATURES, _parameters(query))
        return [column[0] for column in cursor.description], cursor.fetchall()

    def reranked(self, query: Query, model: Path, count: int = 10) -> list[tuple[int, float]]:
        """The best documents by an exported model, and their scores: one statement computes features, scores and order."""
        scored = model.read_text(encoding="utf-8").removeprefix("WITH")
        statement = f"WITH features AS ({FEATURES}), {scored} ORDER BY score DESC, id LIMIT :count"
        return self._database.execute(statement, {**_parameters(query), "count": count}).fetchall()


def judged(index: Index, market: Market, queries: list[Query]) -> pa.Table:
    """The log of a judged search: a row per candidate with its query, document, grade and features."""
    columns: dict[str, list[object]] = {}
    for query in queries:
        names, rows = index.features(query)
        grades = market.judge(query, [int(row[0] or 0) for row in rows])
        for row, grade in zip(rows, grades, strict=True):
            for name, value in zip(("qid", "grade", *names), (query.name, grade, *row), strict=True):
                columns.setdefault(name, []).append(value)
    return pa.table(columns)


def _parameters(query: Query) -> dict[str, object]:
    return {"words": " OR ".join(f'"{word}"' for word in query.words), "candidates": CANDIDATES}
