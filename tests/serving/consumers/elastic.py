"""Elasticsearch's own learning to rank, by an evaluator of its format; it runs in an engine only."""

from __future__ import annotations

from oracles.elastic_ltr import elastic_scores


def scores(cases):
    """From 8.19 on, but not in 9.0.0, the engine sees to it that no score is below 0."""
    return [
        elastic_scores(case.files["model.json"], case.plan.names, case.matrix, lifts=lifts(case.plan.version)) for case in cases
    ]


def lifts(version):
    """Whether a version adds to scores; no version is the newest."""
    return not version or (8, 19) <= version < (9,) or version >= (9, 0, 1)
