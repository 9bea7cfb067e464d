"""Names that a shell completes: listed here, as importing what defines them takes too long; a test compares."""

from __future__ import annotations

from collections.abc import Iterable

MEASURES = (
    *("ndcg@10", "ndcg@5", "ndcg@3", "ndcg@1", "ndcg", "dcg@10", "dcg", "avendcg", "err", "err@10", "map", "ap", "mrr", "rr"),
    *("p@1", "p@5", "p@10", "recall@10", "success@1", "success@10", "f1@10", "rprec", "bpref", "rbp", "q", "q@10", "auc"),
    *("judged@10", "pairwise-errors", "balanced-error"),
)
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
    return _last(incomplete, MEASURES)


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
