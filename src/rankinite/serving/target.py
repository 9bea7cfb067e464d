"""Target: a program that serves rankers, how its files are written, and the twin that computes what it will compute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, TypeAlias

import numpy as np

from rankinite.choices import Exactness, ServedMissing
from rankinite.engine.kernel import Reals
from rankinite.errors import ArgumentError, listed, quoted
from rankinite.models.base import Ranker
from rankinite.models.forest import Forest
from rankinite.serving.categories import CategoryForm
from rankinite.serving.flattening import Flat, flatten, leaves_of
from rankinite.serving.node_table import sum_in_order, table_of
from rankinite.serving.plan import ExportPlan, no_forest
from rankinite.serving.reference_scores import flat_scores

Files: TypeAlias = dict[str, bytes]
"""Names of files in the folder → their content."""
Twin: TypeAlias = Callable[[Reals], Reals]
"""The scores that the program will give to rows × the plan's names, of the type that it compares; NaN is missing."""
BOTH: frozenset[ServedMissing] = frozenset({"nan", "zero"})
ZERO: frozenset[ServedMissing] = frozenset({"zero"})


class Target(ABC):
    """A program that serves rankers. One class in one file of ``targets``, and one line in :data:`TARGETS`."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What it is, in a few words."""
    inputs: ClassVar[Any] = np.float64
    """The type of features as the program compares them."""
    width: ClassVar[Exactness] = "exact"
    """How near its scores are at best."""
    tolerance: ClassVar[float] = 0.0
    """How far its scores may be from those predicted, relative to the largest sum that there can be; 0: the same bits."""
    negligible: ClassVar[float] = 0.0
    """Values up to this size count as 0 there."""
    shifts: ClassVar[bool] = False
    """Whether scores below 0 are forbidden there, so that they are shifted unless that is declined."""
    is_engine: ClassVar[bool] = False
    """Whether it is a search engine, which computes every feature by a query: those that nothing depends on are left out, and
    a document without a field has a missing value even if the training data had none."""
    categories: ClassVar[CategoryForm | None] = None
    """How rows give categories there, to trees that ask for sets of them; None: it holds no sets."""
    tells_unknown: ClassVar[bool] = False
    """Whether a node can send missing categories left there and unknown ones right; if not, forests that do so are refused."""
    feature_names: ClassVar[str] = r"[\s\S]*"
    """The names of features that it can hold, as a regular expression. Others are replaced on export."""
    reserved_names: ClassVar[tuple[str, ...]] = ()
    """Names that no feature can have there."""
    versions: ClassVar[str] = ""
    """The versions that files are written for, as ``--engine-version`` takes them; empty: it has no such option."""

    def tolerance_of(self, flat: Flat) -> float:
        """How far its scores of one ranker may be from those predicted: without more, ``tolerance``."""
        return self.tolerance

    def missing_rules(self, version: tuple[int, ...]) -> frozenset[ServedMissing]:
        """What a missing value can count as there."""
        return BOTH

    def check_version(self, version: tuple[int, ...]) -> None:
        """Refuse versions that this cannot be written for."""

    def same_name(self, name: str) -> str:
        """What the program compares names by."""
        return name

    def check_features(self, names: tuple[str, ...]) -> None:
        """Refuse features that the program cannot take, such as too many."""

    def flattened(self, ranker: Ranker) -> Flat:
        """The ranker as a sum; programs that hold any ranker give one that nobody looks into."""
        return flatten(ranker)

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse what shows only when all is decided, such as a name of the model or a size."""

    def check(self, flat: Flat) -> None:
        """Refuse rankers that the program cannot hold: without more, all but forests."""
        if flat.forest is None:
            raise no_forest(flat)

    @abstractmethod
    def write(self, plan: ExportPlan) -> Files:
        """The model's files."""

    @abstractmethod
    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """What the program will compute, read from the files. Of the plan only the order of features may be asked."""

    def predicted(self, plan: ExportPlan, matrix: Reals) -> Reals:
        """What the twin must give: our own trees' decisions, added up as the program adds; other rankers' own scores."""
        if plan.flat.forest is None:
            return flat_scores(plan.flat, plan.served(matrix), plan.names)
        values = table_of(plan.trees).leaf_values(plan.served(matrix))
        return sum_in_order(values, float(plan.forest.start[0]))

    def companions(self, plan: ExportPlan) -> Files:
        """What else an engineer needs there: feature sets, scripts, queries."""
        return {}

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """What to know about this model there: sizes against limits, rules that differ."""
        return []


def refuse_sets(flat: Flat, target: Target) -> None:
    """Refuse forests that ask for categories, where the program knows only numbers."""
    asking = [leaf for leaf in leaves_of(flat) if isinstance(leaf, Forest) and leaf.trees.has_sets]
    if asking and target.categories is None:
        names = [name for name in asking[0].feature_names if name in asking[0].categories]
        holding = [name for name in TARGETS if target_named(name).categories]
        raise ArgumentError(
            f"its trees ask for categories ({listed(names, 5)}), which {target.name} cannot hold",
            value=names[0],
            rule="Features are numbers there",
            remedy=f"Export to {' or '.join(holding)}, or train on columns of 0 and 1 in place of the categories",
        )
    if not target.tells_unknown:
        _refuse_unknown(asking, target)


def _refuse_unknown(forests: Sequence[Forest], target: Target) -> None:
    """Refuse nodes that send missing categories left. Our learners grow none; models of XGBoost may have them."""
    for forest in forests:
        trees = forest.trees
        nodes = np.flatnonzero(trees.missing_left & (trees.set_sizes > 0))
        if len(nodes):
            name = forest.feature_names[trees.feature[nodes[0]]]
            telling = [target for target in TARGETS if target_named(target).tells_unknown]
            raise ArgumentError(
                f"its trees send missing categories of {quoted(name)} left, unknown ones right; {target.name} does not do so",
                value=name,
                rule="Missing and unknown categories go the same way there",
                remedy=f"Export to {' or '.join(telling)}, or distil it into a forest of rankinite (rankinite distil)",
            )


def float32_prediction(plan: ExportPlan, matrix: Reals) -> Reals:
    """Our trees' decisions, their values rounded to float32 with the start in the first tree, added up in float32."""
    trees = plan.trees_with_start
    values = table_of(trees).leaf_values(plan.served(matrix))
    return sum_in_order(values.astype(np.float32))


TARGETS = {
    "lightgbm": ("rankinite.serving.targets.lightgbm", "LightGBMText"),
    "es-ltr": ("rankinite.serving.targets.es_ltr", "ElasticsearchLTR"),
    "opensearch-ltr": ("rankinite.serving.targets.opensearch_ltr", "OpenSearchLTR"),
    "solr-ltr": ("rankinite.serving.targets.solr_ltr", "SolrLTR"),
    "onnx": ("rankinite.serving.targets.onnx", "OnnxModel"),
    "elastic": ("rankinite.serving.targets.elastic", "ElasticLTR"),
    "vespa": ("rankinite.serving.targets.vespa", "VespaRankProfile"),
    "xgboost": ("rankinite.serving.targets.xgboost", "XGBoostModel"),
    "ranklib": ("rankinite.serving.targets.ranklib", "RankLibEnsemble"),
    "mlflow": ("rankinite.serving.targets.mlflow", "MLflowFolder"),
    "c": ("rankinite.serving.targets.c", "CSource"),
    "sql": ("rankinite.serving.targets.sql", "SQLExpression"),
    "pmml": ("rankinite.serving.targets.pmml", "PMMLDocument"),
}
"""The name of a target → its module and class; imported when needed."""


def target_named(name: Any, setting: str = "to") -> Target:
    """The target of this name; refuses others, which were given by this setting."""
    if name not in TARGETS:
        raise ArgumentError("is unknown", setting=setting, value=name, remedy=f"Give one of {listed(list(TARGETS))}")
    module, kind = TARGETS[name]
    return getattr(import_module(module), kind)()


def exactness_of(target: Target, flat: Flat) -> Exactness:
    """How near the scores will be: the target's width, but for sums that are made in another order here or there."""
    if flat.left_out:
        return "same order"
    same = flat.same_bits and not target.tolerance_of(flat)
    return "last bits" if target.width == "exact" and not same else target.width
