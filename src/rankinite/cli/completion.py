"""Names that a shell completes, asked of what owns them when the shell asks; only ``CONVENTIONS`` is listed here."""

from __future__ import annotations

from collections.abc import Iterable

CONVENTIONS = ("rankinite", "lightgbm", "xgboost", "ranklib", "trec", "sklearn", "letor")
"""Tools to count like, which ``--help`` names: their owner imports Numba, and help must be quick. A test compares."""


def measures(incomplete: str) -> list[str]:
    """Measures: the last of several with commas between them."""
    from rankinite.measures.registry import usual_measures

    return _last(incomplete, usual_measures())


def methods(incomplete: str) -> list[str]:
    """Methods of adaptation: the last of several with commas between them."""
    from rankinite.adapt.decision import BASELINES
    from rankinite.adapt.methods.catalogue import AVERAGE, METHODS

    return _last(incomplete, [method.name for method in (*METHODS, AVERAGE) if method.name not in BASELINES])


def conventions(incomplete: str) -> list[str]:
    """Tools to count like."""
    return _last(incomplete, CONVENTIONS)


def targets(incomplete: str) -> list[str]:
    """Programs that serve rankers."""
    from rankinite.serving.target import TARGETS

    return [name for name in TARGETS if name.startswith(incomplete)]


def rankers(incomplete: str) -> list[str]:
    """Prefixes of rankers that are no files; where nothing is typed yet the shell offers files."""
    from rankinite.cli.ranker_arguments import PREFIXES

    return _last(incomplete, PREFIXES) if incomplete else []


def _last(incomplete: str, names: Iterable[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]
