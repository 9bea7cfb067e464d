"""The plugin of OpenSearch, by an evaluator of its format; it runs in an engine only."""

from __future__ import annotations

from serving.consumers.es_ltr import served


def scores(cases):
    """A missing feature: up to 3.1 it is 0, up to 3.7 it goes right at every split, from 3.8 on a split says where."""
    return [served(case, rule(case.plan.version)) for case in cases]


def rule(version):
    """What a version does; no version is the newest."""
    if not version or version >= (3, 8):
        return "direction"
    return "right" if version >= (3, 2) else "zero"
