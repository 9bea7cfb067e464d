"""Names that a shell completes. Measures are asked of their registry, packages of others included; what takes longer to import
is listed here, and a test compares.
"""

from __future__ import annotations

from collections.abc import Iterable

METHODS = (
    *("interpolate", "interpolate-lambdarank", "lambdaboost", "trada", "trada-leaves", "trada-trim", "trada-splits"),
    *("trada-trees", "trada-trees-lambda", "additive", "additive-lambda", "smart", "smart-paper", "smart-nodes"),
    *("target-lambda", "neighbours", "pool", "pool-lambda", "pool-10", "pool-10-lambda", "pool-20", "average"),
)
CONVENTIONS = ("rankinite", "lightgbm", "xgboost", "ranklib", "trec", "sklearn", "letor")
TARGETS = (
    *("lightgbm", "es-ltr", "opensearch-ltr", "solr-ltr", "onnx", "elastic", "vespa", "xgboost", "ranklib", "mlflow", "c"),
    *("sql", "pmml"),
)
RANKERS = ("feature:", "ascending:", "column:", "ascending-column:", "all-trees:")


def measures(incomplete: str) -> list[str]:
    """Measures: the last of several with commas between them."""
    from rankinite.measures.registry import usual_measures

    return _last(incomplete, usual_measures())


def methods(incomplete: str) -> list[str]:
    """Methods of adaptation: the last of several with commas between them."""
    return _last(incomplete, METHODS)


def conventions(incomplete: str) -> list[str]:
    """Tools to count like."""
    return _last(incomplete, CONVENTIONS)


def targets(incomplete: str) -> list[str]:
    """Programs that serve rankers."""
    return [name for name in TARGETS if name.startswith(incomplete)]


def rankers(incomplete: str) -> list[str]:
    """Prefixes of rankers that are no files; where nothing is typed yet the shell offers files."""
    return _last(incomplete, RANKERS) if incomplete else []


def _last(incomplete: str, names: Iterable[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]
