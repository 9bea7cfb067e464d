"""Solr, by a slow copy of what its Java does."""

from __future__ import annotations

from oracles.solr import scores_of


def scores(cases):
    """The scores of every case's files."""
    return [scores_of(case.files, case.plan.names, case.matrix) for case in cases]
