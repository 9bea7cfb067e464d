"""Which features moved documents: checked by splitting the scores again, feature by feature."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.report import movers, of_comparison
from rankinite.report.html import write


def compared(data, before, after):
    rankers = {"before": before, "after": after}
    return of_comparison(rk.compare(rankers, data, "ndcg@5", resamples=50), data, rankers, before="before", after="after")


@pytest.fixture
def data():
    return rk.synthesise(12, world=rk.World(features=4, documents=9, seed=3), doc_ids=True)


def test_pushes_are_changes_of_contributions_within_queries(data):
    before, after = (random_forest(seed, trees=9, features=4).renamed(data.feature_names) for seed in (1, 2))
    queries = compared(data, before, after).queries
    found, documents = queries.movers, queries.documents
    ids = {str(name): row for row, name in enumerate(data.doc_ids.tolist())}
    old, new = (one.contributions(data).values for one in (before, after))
    for place, pushes in zip(found.documents, found.pushes, strict=True):
        assert documents.rank_before[place] != documents.rank_after[place]
        row = ids[documents.ids[place]]
        query = int(np.searchsorted(data.offsets, row, side="right")) - 1
        rows = slice(data.offsets[query], data.offsets[query + 1])
        sides = [values[rows] - values[rows].mean(axis=0) for values in (old, new)]
        expected = np.subtract(*(side[row - rows.start] / side.sum(axis=1).std() for side in reversed(sides)))
        shown = dict(zip(pushes[::2], pushes[1::2], strict=True))
        for feature, push in shown.items():
            assert push == pytest.approx(expected[data.feature_index(found.features[feature])], abs=0.00051)
        largest = sorted(np.abs(expected), reverse=True)[: movers.SHOWN]
        assert [abs(push) for push in pushes[1::2]] == pytest.approx(largest[: len(shown)], abs=0.00051)
    moved = sum(a != b for a, b in zip(documents.rank_before, documents.rank_after, strict=True))
    assert len(found.documents) == moved > 0


def test_only_the_queries_that_changed_most_are_explained(data, monkeypatch, tmp_path):
    before, after = (random_forest(seed, trees=9, features=4).renamed(data.feature_names) for seed in (1, 2))
    monkeypatch.setattr(movers, "MOST_DOCUMENTS", 20)
    report = compared(data, before, after)
    queries = report.queries
    assert queries.movers.queries == 2
    changes = np.abs(np.subtract(queries.after, queries.before))
    kept = {int(np.searchsorted(queries.documents.offsets, place, side="right")) - 1 for place in queries.movers.documents}
    assert kept <= set(np.argsort(-changes, kind="stable")[:2].tolist())
    write(report, tmp_path / "report.html")
    assert '"movers":{"features"' in report.to_json()


def test_rankers_that_cannot_be_split_exactly_leave_it_out(data):
    forest = random_forest(1, trees=9, features=4).renamed(data.feature_names)
    assert compared(data, forest, rk.Normalised(rk.Feature(1), "rank")).queries.movers is None
    assert compared(data, forest, rk.Feature(1).score(data)).queries.movers is None
