"""Where rows are too many for the precision of cells, training says so, and what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rankinite as rk
from rankinite.trees import growth

DATA = rk.synthesise(20, world=rk.World(features=5, documents=10))
LEARNER = rk.LambdaMART.plain(trees=2, leaves=4, min_rows=2)


def test_more_rows_than_cells_are_precise_for_are_said(monkeypatch):
    monkeypatch.setattr(growth, "PRECISE", 100)
    with pytest.warns(UserWarning, match=r"200 rows: beyond 100 in a tree.*query_share=0\.5"):
        LEARNER.fit(DATA)
    replace(LEARNER, query_share=0.5).fit(DATA)  # warnings are errors in tests: there is none
