"""Examples run, and do what they say."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def search(monkeypatch):
    """The program of examples/sqlite_search, whose files have names that anything may have."""
    monkeypatch.syspath_prepend(str(EXAMPLES / "sqlite_search"))
    names = ("market", "index", "search")
    yield importlib.import_module("search")
    for name in names:
        sys.modules.pop(name, None)


def test_the_database_ranks_all_queries_as_the_ranker_does(search, tmp_path, monkeypatch, capsys):
    learner = rk.LambdaMART(trees=10, leaves=6, min_rows=5)
    monkeypatch.setattr(
        search, "adapt", lambda model, few: rk.adapt.smart(model, few, learner=learner, folds=2)
    )  # the quicker way
    result = search.run(search.Sizes(documents=250, train=15, valid=6, few=12, test=8, trees=12), tmp_path / "made")
    shown = capsys.readouterr().out
    assert [shown.count(name) for name in ("NDCG@10", "BM25 ", "model ", "adapted ")] == [2, 2, 3, 2]
    own = result.adapted.score(result.log)
    queries, documents = result.log["qid"].to_numpy(), result.log["id"].to_numpy()
    assert result.log["visits"].null_count
    for query in result.queries:
        rows = {int(documents[row]): own[row] for row in np.flatnonzero(queries == query.name)}
        found = result.index.reranked(query, result.exported, len(rows) + 1)
        assert {number for number, _ in found} == set(rows)
        expected = np.asarray([rows[number] for number, _ in found])
        np.testing.assert_allclose([score for _, score in found], expected, rtol=1e-13, atol=1e-13)
        assert (np.diff(expected) <= 1e-13).all()
    assert len(result.queries) == 8
    assert len(np.unique(own)) > 20
