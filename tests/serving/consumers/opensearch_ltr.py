"""The plugin of OpenSearch, by an evaluator of its format; it runs in an engine only."""

from __future__ import annotations

from serving.consumers.es_ltr import served


def scores(cases):
    """A missing feature: up to 3.1 it is 0, up to 3.7.0 it goes right at every split, then a split says where."""
    return [served(case, rule(case.plan.version)) for case in cases]


def rule(version):
    """What a version does; no version is the newest, and a patch of 3.2 to 3.7 one since July 2026."""
    if version and version < (3, 2):
        return "zero"
    as_first_released = (3, 2), (3, 3), (3, 4), (3, 5), (3, 6), (3, 7)
    return "right" if version[:2] in as_first_released and version[2:] in {(), (0,), (0, 0)} else "direction"
