"""rankinite: learning to rank with lambda gradients.

Everything public is here; modules load when first used, so that importing the package is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankinite.version import VERSION

if TYPE_CHECKING:
    from rankinite import adapt as adapt
    from rankinite import combine as combine
    from rankinite import ensembles as ensembles
    from rankinite import report as report
    from rankinite import reproduce as reproduce
    from rankinite.binned.data import Binned as Binned
    from rankinite.binned.making import bin as bin  # noqa: A004 - what it does
    from rankinite.data.categories import Vocabulary as Vocabulary
    from rankinite.data.clicks import ClickLog as ClickLog
    from rankinite.data.clicks import ClickSettings as ClickSettings
    from rankinite.data.clicks import simulate_clicks as simulate_clicks
    from rankinite.data.dataset import Dataset as Dataset
    from rankinite.data.description import Description as Description
    from rankinite.data.description import describe as describe
    from rankinite.data.folds import Fold as Fold
    from rankinite.data.folds import batch_folds as batch_folds
    from rankinite.data.folds import k_folds as k_folds
    from rankinite.data.folds import rotating_folds as rotating_folds
    from rankinite.data.folds import split as split
    from rankinite.data.io.plain_scores import read_scores as read_scores
    from rankinite.data.io.preference_files import read_preferences as read_preferences
    from rankinite.data.io.reading import read as read
    from rankinite.data.io.trec import read_run as read_run
    from rankinite.data.io.trec import read_trec as read_trec
    from rankinite.data.io.trec_lines import write_qrels as write_qrels
    from rankinite.data.io.writing import write as write
    from rankinite.data.joining import concat as concat
    from rankinite.data.preferences import Preferences as Preferences
    from rankinite.data.sampling import AUG50 as AUG50
    from rankinite.data.sampling import AUG70 as AUG70
    from rankinite.data.sampling import augment as augment
    from rankinite.data.sampling import sample_documents as sample_documents
    from rankinite.data.sketch import QuerySketch as QuerySketch
    from rankinite.data.synthetic import World as World
    from rankinite.data.synthetic import synthesise as synthesise
    from rankinite.distillation.students import Distilled as Distilled
    from rankinite.distillation.students import distil as distil
    from rankinite.engine.parallel import threads as threads
    from rankinite.ensembles.cross_validation import cross_validate as cross_validate
    from rankinite.ensembles.trainers import Augmented as Augmented
    from rankinite.ensembles.trainers import Bag as Bag
    from rankinite.ensembles.trainers import Seeds as Seeds
    from rankinite.errors import ArgumentError as ArgumentError
    from rankinite.errors import DataError as DataError
    from rankinite.errors import MeasureError as MeasureError
    from rankinite.errors import RankiniteError as RankiniteError
    from rankinite.evaluation.caveats import TrainingOverlap as TrainingOverlap
    from rankinite.evaluation.compare import Comparison as Comparison
    from rankinite.evaluation.compare import compare as compare
    from rankinite.evaluation.evaluate import Evaluation as Evaluation
    from rankinite.evaluation.evaluate import evaluate as evaluate
    from rankinite.evaluation.outputs import write_run as write_run
    from rankinite.evaluation.outputs import write_scores as write_scores
    from rankinite.evaluation.scorers import Scorer as Scorer
    from rankinite.gradients.examination import Examination as Examination
    from rankinite.learners.base import Progress as Progress
    from rankinite.learners.checkpoint import Checkpoint as Checkpoint
    from rankinite.learners.custom_trees import CustomTrees as CustomTrees
    from rankinite.learners.lambdaboost import LambdaBoost as LambdaBoost
    from rankinite.learners.lambdamart import LambdaMART as LambdaMART
    from rankinite.learners.lambdarank import LambdaRank as LambdaRank
    from rankinite.learners.mart import MART as MART
    from rankinite.learners.mcrank import McRank as McRank
    from rankinite.learners.ranknet import RankNet as RankNet
    from rankinite.learners.ranknet_trees import RankNetTrees as RankNetTrees
    from rankinite.measures import AP as AP
    from rankinite.measures import AUC as AUC
    from rankinite.measures import DCG as DCG
    from rankinite.measures import ERR as ERR
    from rankinite.measures import F1 as F1
    from rankinite.measures import NDCG as NDCG
    from rankinite.measures import RBP as RBP
    from rankinite.measures import RR as RR
    from rankinite.measures import AveNDCG as AveNDCG
    from rankinite.measures import BalancedError as BalancedError
    from rankinite.measures import BoundedMeasure as BoundedMeasure
    from rankinite.measures import Bpref as Bpref
    from rankinite.measures import Convention as Convention
    from rankinite.measures import FunctionMeasure as FunctionMeasure
    from rankinite.measures import Judged as Judged
    from rankinite.measures import Measure as Measure
    from rankinite.measures import PairwiseErrors as PairwiseErrors
    from rankinite.measures import Precision as Precision
    from rankinite.measures import QMeasure as QMeasure
    from rankinite.measures import Ranking as Ranking
    from rankinite.measures import Recall as Recall
    from rankinite.measures import Rprec as Rprec
    from rankinite.measures import Success as Success
    from rankinite.measures import TrainableMeasure as TrainableMeasure
    from rankinite.measures import parse_measure as parse_measure
    from rankinite.measures import rank as rank
    from rankinite.measures import register_measure as register_measure
    from rankinite.measures import swap_changes as swap_changes
    from rankinite.models.base import Ranker as Ranker
    from rankinite.models.blend import Blend as Blend
    from rankinite.models.explanations.contributions import Contributions as Contributions
    from rankinite.models.explanations.pair import PairExplanation as PairExplanation
    from rankinite.models.explanations.permutation import PermutationImportance as PermutationImportance
    from rankinite.models.explanations.permutation import permutation_importance as permutation_importance
    from rankinite.models.explanations.query import QueryExplanation as QueryExplanation
    from rankinite.models.explanations.summary import WithinQueries as WithinQueries
    from rankinite.models.feature import Feature as Feature
    from rankinite.models.files.loading import load as load
    from rankinite.models.files.matching import match_features as match_features
    from rankinite.models.forest import Forest as Forest
    from rankinite.models.history import History as History
    from rankinite.models.linear import Linear as Linear
    from rankinite.models.local_optimum import Optimum as Optimum
    from rankinite.models.local_optimum import local_optimum as local_optimum
    from rankinite.models.net import Net as Net
    from rankinite.models.normalised import Normalised as Normalised
    from rankinite.models.stack import Stack as Stack
    from rankinite.planning.plan import Plan as Plan
    from rankinite.planning.plan import plan as plan
    from rankinite.serving.exporting import Export as Export
    from rankinite.serving.exporting import export as export
    from rankinite.serving.offers import targets as targets
    from rankinite.serving.served_scores import check_served as check_served
    from rankinite.sweep.curve import Curve as Curve
    from rankinite.sweep.ratios import RatioCurve as RatioCurve
    from rankinite.tuning.result import Tuned as Tuned
    from rankinite.tuning.tune import tune as tune
    from rankinite.warming.helpers import warm_up as warm_up
    from rankinite.workers.cluster import cluster as cluster

LEARNERS = {
    "rankinite.learners.lambdamart": "LambdaMART",
    "rankinite.learners.mart": "MART",
    "rankinite.learners.mcrank": "McRank",
    "rankinite.learners.ranknet_trees": "RankNetTrees",
    "rankinite.learners.lambdarank": "LambdaRank",
    "rankinite.learners.ranknet": "RankNet",
    "rankinite.learners.lambdaboost": "LambdaBoost",
}
"""What can train: the module and its class. The command line calls each by the name of its module."""
_HOMES = {
    "rankinite.binned.data": ("Binned",),
    "rankinite.binned.making": ("bin",),
    "rankinite.data.dataset": ("Dataset",),
    "rankinite.data.description": ("Description", "describe"),
    "rankinite.data.folds": ("Fold", "batch_folds", "k_folds", "rotating_folds", "split"),
    "rankinite.data.joining": ("concat",),
    "rankinite.data.io.preference_files": ("read_preferences",),
    "rankinite.data.categories": ("Vocabulary",),
    "rankinite.data.preferences": ("Preferences",),
    "rankinite.data.io.reading": ("read",),
    "rankinite.data.sampling": ("AUG50", "AUG70", "augment", "sample_documents"),
    "rankinite.data.sketch": ("QuerySketch",),
    "rankinite.data.synthetic": ("World", "synthesise"),
    "rankinite.data.clicks": ("ClickLog", "ClickSettings", "simulate_clicks"),
    "rankinite.data.io.plain_scores": ("read_scores",),
    "rankinite.data.io.trec": ("read_run", "read_trec"),
    "rankinite.data.io.trec_lines": ("write_qrels",),
    "rankinite.data.io.writing": ("write",),
    "rankinite.errors": ("ArgumentError", "DataError", "MeasureError", "RankiniteError"),
    "rankinite.evaluation.compare": ("Comparison", "compare"),
    "rankinite.evaluation.evaluate": ("Evaluation", "evaluate"),
    "rankinite.evaluation.scorers": ("Scorer",),
    "rankinite.evaluation.outputs": ("write_run", "write_scores"),
    "rankinite.evaluation.caveats": ("TrainingOverlap",),
    "rankinite.measures": (
        *("AP", "AUC", "DCG", "ERR", "F1", "NDCG", "RBP", "RR", "AveNDCG", "BalancedError", "Bpref", "Judged"),
        *("PairwiseErrors", "Precision", "QMeasure", "Recall", "Rprec", "Success"),
        *("BoundedMeasure", "Convention", "FunctionMeasure", "Measure", "Ranking", "TrainableMeasure"),
        *("parse_measure", "rank", "register_measure", "swap_changes"),
    ),
    "rankinite.distillation.students": ("Distilled", "distil"),
    "rankinite.engine.parallel": ("threads",),
    "rankinite.ensembles.trainers": ("Augmented", "Bag", "Seeds"),
    "rankinite.ensembles.cross_validation": ("cross_validate",),
    "rankinite.models.base": ("Ranker",),
    "rankinite.models.blend": ("Blend",),
    "rankinite.learners.base": ("Progress",),
    "rankinite.learners.checkpoint": ("Checkpoint",),
    "rankinite.learners.custom_trees": ("CustomTrees",),
    "rankinite.models.explanations.contributions": ("Contributions",),
    "rankinite.models.explanations.pair": ("PairExplanation",),
    "rankinite.models.explanations.permutation": ("PermutationImportance", "permutation_importance"),
    "rankinite.models.explanations.query": ("QueryExplanation",),
    "rankinite.models.explanations.summary": ("WithinQueries",),
    "rankinite.models.feature": ("Feature",),
    "rankinite.models.forest": ("Forest",),
    "rankinite.gradients.examination": ("Examination",),
    "rankinite.models.history": ("History",),
    "rankinite.models.files.loading": ("load",),
    "rankinite.models.files.matching": ("match_features",),
    "rankinite.models.linear": ("Linear",),
    "rankinite.models.net": ("Net",),
    "rankinite.models.normalised": ("Normalised",),
    "rankinite.models.stack": ("Stack",),
    "rankinite.planning.plan": ("Plan", "plan"),
    "rankinite.serving.exporting": ("Export", "export"),
    "rankinite.serving.offers": ("targets",),
    "rankinite.serving.served_scores": ("check_served",),
    "rankinite.sweep.curve": ("Curve",),
    "rankinite.sweep.ratios": ("RatioCurve",),
    "rankinite.models.local_optimum": ("Optimum", "local_optimum"),
    "rankinite.tuning.result": ("Tuned",),
    "rankinite.tuning.tune": ("tune",),
    "rankinite.warming.helpers": ("warm_up",),
    "rankinite.workers.cluster": ("cluster",),
    **{module: (name,) for module, name in LEARNERS.items()},
}
_PACKAGES = ("adapt", "combine", "ensembles", "report", "reproduce")
"""Packages that are themselves part of the face: ``rk.combine.exact``, ``rk.adapt.choose``, ``rk.ensembles.challenge``, …."""
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__version__ = VERSION
__all__ = sorted([*_HOME_OF, *_PACKAGES, "__version__"])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"rankinite.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rankinite' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
