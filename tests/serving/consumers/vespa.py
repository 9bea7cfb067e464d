"""Vespa, by a slow reader of its ranking expressions."""

from __future__ import annotations

from oracles.vespa import scores_of


def scores(cases):
    """The scores of every case's profile."""
    return [
        scores_of(case.files["model.profile"].decode(), case.files["features.json"], case.plan.names, case.matrix)
        for case in cases
    ]
