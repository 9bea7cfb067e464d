"""The plugin of Elasticsearch, by an evaluator of its format; it runs in an engine only."""

from __future__ import annotations

from oracles.ltr_plugins import plugin_scores


def scores(cases):
    """Before the releases of January 2024 (Elasticsearch 8.12) a missing feature was 0; since, a split says where it goes."""
    return [served(case, "zero" if case.plan.version and case.plan.version < (8, 12) else "direction") for case in cases]


def served(case, rule):
    """The scores of a case's rows by the model and the feature set that were written."""
    features = case.target.companions(case.plan)["feature-set.json"]
    return plugin_scores(case.files["model.json"], features, case.plan.names, case.matrix, rule)
