"""LtrPlugin: what the learning-to-rank plugins of Elasticsearch and OpenSearch share.

Forests are written as ``model/xgboost+json``; linear rankers, and forests where a plugin's rule for missing values would get in
the way, as ``model/ranklib``, in which a missing feature is 0. For linear rankers there is ``model/linear`` too, but it has no
constant and adds in float32, where RankLib's form has one and adds in float64.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from rankinite.choices import ServedMissing
from rankinite.engine.kernel import Reals
from rankinite.errors import ArgumentError
from rankinite.plurals import counted
from rankinite.serving.feature_queries import missing_queries_note
from rankinite.serving.flattening import Flat
from rankinite.serving.float32 import above32
from rankinite.serving.names import check_model_name
from rankinite.serving.plan import ExportPlan, lowest_score
from rankinite.serving.target import BOTH, ZERO, Files, Target, Twin, float32_prediction
from rankinite.serving.targets.linear_form import check_linear_missing, check_trees_or_linear, linear_form
from rankinite.serving.targets.ltr_plugin_files import FEATURE_SET, plugin_files
from rankinite.serving.targets.query_templates import NAMES, parameters_of
from rankinite.serving.targets.ranklib import linear_prediction
from rankinite.serving.targets.ranklib_text import ensemble_text, linear_text, twin_of
from rankinite.serving.targets.tree_limits import check_depth, check_leaves
from rankinite.serving.targets.xgboost_dump import MOST_DEPTH, MissingRule, dump_text, dump_twin
from rankinite.trees.structure import LEAF

FILE = "model.json"
XGBOOST, RANKLIB = "model/xgboost+json", "model/ranklib"
MOST_FEATURES = 10_000
BYTES_OF_NODE = 40
CACHE_BYTES = 10 << 20
REQUEST_BYTES = 100 << 20
"""The largest request that an engine takes, unless http.max_content_length says otherwise."""
MODEL_NAMES = r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}"


class LtrPlugin(Target):
    """A plugin that keeps feature sets and models in an index and scores by ``sltr`` queries."""

    inputs = np.float32
    width = "float32"
    shifts = True
    is_engine = True
    feature_names = NAMES
    engine: ClassVar[str]
    """What the engine is called in sentences."""
    directions: ClassVar[str]
    """The versions that send a missing feature where each split says."""

    @abstractmethod
    def missing_rule(self, version: tuple[int, ...]) -> MissingRule:
        """Where this version sends a missing feature in XGBoost's models."""

    def zero_form(self, version: tuple[int, ...]) -> str:
        """The type of a forest's definition where a missing feature is to count as 0."""
        return XGBOOST

    def assumption(self, plan: ExportPlan) -> str:
        """What a forest's scores there depend on and was not said; empty: nothing."""
        if plan.missing == "zero" or plan.version:
            return ""
        return f"a missing feature goes where each split says, which is so in {self.engine} {self.directions}"

    def missing_rules(self, version: tuple[int, ...]) -> frozenset[ServedMissing]:
        """0 can be had from every version; directions from those that know of missing values."""
        return ZERO if self.missing_rule(version) == "zero" else BOTH

    def check(self, flat: Flat) -> None:
        """Refuse what is neither trees nor linear."""
        check_trees_or_linear(flat, "The plugin")

    def check_features(self, names: tuple[str, ...]) -> None:
        """Refuse more features than a set can have."""
        if len(names) > MOST_FEATURES:
            raise ArgumentError(
                f"the model uses {counted(len(names), 'feature')}",
                value=len(names),
                rule=f"A feature set of the plugin has at most {MOST_FEATURES:,}",
                remedy="Distil the model into one that uses fewer (rankinite distil)",
            )

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse a name that is no part of an address, numbers beyond float32, and missing values that go elsewhere there."""
        rule = "It begins with a letter or digit and has letters, digits and . _ - only, 200 at most"
        check_model_name(plan.name, MODEL_NAMES, rule)
        check_linear_missing(plan, "the plugin")
        parameters_of(plan)  # refuses queries that are none
        if plan.flat.forest is None:
            return
        check_leaves(plan)
        check_depth(plan.trees, MOST_DEPTH)
        trees = plan.trees
        turned = above32(trees.threshold) == np.inf  # where the children are written the other way round
        left = int(((trees.missing_left != turned) & (trees.feature != LEAF)).sum())
        if left and plan.missing == "nan" and self.missing_rule(plan.version) == "right":
            raise ArgumentError(
                f"cannot be had: missing features go right at every split there, and elsewhere at {left:,} of them here",
                setting="served_missing",
                value="nan",
                rule=f"A missing feature goes where a split says in {self.engine} {self.directions}",
                remedy="Give `served_missing='zero'` if it is to count as 0, or the version with its patch, as in 3.4.1",
            )

    def write(self, plan: ExportPlan) -> Files:
        """The body of the request that creates the model."""
        name, kind, definition = json.dumps(plan.name), self._definition_type(plan), self._definition(plan)
        return {FILE: f'{{"model": {{"name": {name}, "model": {{"type": "{kind}", "definition": {definition}}}}}}}\n'.encode()}

    def _definition_type(self, plan: ExportPlan) -> str:
        if plan.flat.forest is None:
            return RANKLIB
        return self.zero_form(plan.version) if plan.missing == "zero" else XGBOOST

    def _definition(self, plan: ExportPlan) -> str:
        """What JSON has for the definition: an array of trees, or a text."""
        ids = range(1, len(plan.names) + 1)
        if plan.flat.forest is None:
            form, number_of = linear_form(plan.flat), dict(zip(plan.names, ids, strict=True))
            weights = {number_of[name]: weight for name, weight in form.weights.items()}
            return json.dumps(linear_text(form.bias, weights))
        if self._definition_type(plan) == RANKLIB:
            return json.dumps(ensemble_text(plan.trees_with_start, ids))
        return dump_text(plan.trees_with_start, plan.names)

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The model as this version of the plugin computes it. Of the plan the version is asked too: it is the program's."""
        model = json.loads(files[FILE])["model"]["model"]
        if model["type"] == XGBOOST:
            return dump_twin(model["definition"], plan.names, self.missing_rule(plan.version))
        score = twin_of(model["definition"], {column + 1: column for column in range(len(plan.names))})
        return lambda matrix: score(matrix).astype(np.float32)

    def predicted(self, plan: ExportPlan, matrix: Reals) -> Reals:
        """Our decisions, added up in float32; a linear ranker's sum in float64, rounded once."""
        if plan.flat.forest is None:
            return linear_prediction(plan, matrix).astype(np.float32)
        return float32_prediction(plan, matrix)

    def companions(self, plan: ExportPlan) -> Files:
        """Feature set, upload, rescoring, check."""
        return plugin_files(plan, self.engine)

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """Sizes against limits, scores below 0, queries to fill in."""
        notes = missing_queries_note(plan.names, plan.feature_queries, FEATURE_SET)
        if plan.flat.forest is not None and (assumption := self.assumption(plan)):
            notes.append(assumption)
        if not plan.names:
            notes.append("the model uses no feature: every document gets the same score")
        if len(files[FILE]) > REQUEST_BYTES:
            size = f"{len(files[FILE]) / 2**20:,.0f} MB"
            notes.append(
                f"the request has {size}, more than an engine takes by default: raise http.max_content_length above it"
            )
        if plan.flat.forest is None:
            return [*notes, "a linear ranker has no lowest score: where one may be below 0, which Lucene forbids, add a shift"]
        lowest = lowest_score(plan.flat.forest)
        if lowest < 0.0:
            notes.append(
                f"scores may be as low as {lowest:.6g}, and Lucene forbids those below 0: leave out the shift, or raise it"
            )
        if self._definition_type(plan) == XGBOOST:
            notes.append(_cache_note(BYTES_OF_NODE * len(plan.trees_with_start.feature)))
        return notes


def _cache_note(used: int) -> str:
    """A model's memory against the cache of models."""
    size = f"{used / 2**20:.1f} MB" if used >= 1 << 20 else f"{used / 2**10:.1f} kB"
    cache = f"{CACHE_BYTES >> 20} MB, or a tenth of the heap if that is less"
    if used <= CACHE_BYTES:
        return f"the model takes {size} of the plugin's cache ({cache})"
    setting = f"set ltr.caches.max_mem to {-(-used // 2**20) * 2}mb"
    return f"the model takes {size}, more than the plugin's cache ({cache}), and is parsed anew for every query: {setting}"
