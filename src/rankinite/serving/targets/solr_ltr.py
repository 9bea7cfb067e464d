"""SolrLTR: models for Solr's learning-to-rank module, and all that it takes to upload them.

Solr computes in float32. Trees become a MultipleAdditiveTreesModel, nets a NeuralNetworkModel and linear rankers a LinearModel.
A feature that a document does not have gets the defaultValue of its definition: NaN, which splits send by ``missing``, the
centre of a net, or 0. What Solr does is in ``solr_twin``; how its slack is met, in ``solr_thresholds``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from rankinite.choices import ServedMissing
from rankinite.engine.kernel import Reals
from rankinite.errors import ArgumentError
from rankinite.models.feature import Feature
from rankinite.serving.feature_queries import missing_queries_note
from rankinite.serving.flattening import Flat
from rankinite.serving.names import check_model_name
from rankinite.serving.plan import ExportPlan, no_forest
from rankinite.serving.target import BOTH, ZERO, Files, Target, Twin, float32_prediction
from rankinite.serving.targets.refused_missing import check_known_missing
from rankinite.serving.targets.solr_companions import FEATURES, MODEL, WRAPPER, companions_of, wrapper_of
from rankinite.serving.targets.solr_layers import one_ranker
from rankinite.serving.targets.solr_models import check_writable, solr_files
from rankinite.serving.targets.solr_twin import solr_twin
from rankinite.serving.targets.tree_limits import check_depth, check_leaves

FIRST, FIRST_WITH_MISSING = (7, 3), (9, 2)
"""The version from which on Solr has all kinds of models, and that from which on trees can send missing values."""
LIMIT = 1_000_000
"""Bytes that ZooKeeper holds as one entry, a little less than its limit of 1,048,575."""
STEPS = 1e-5
"""What rounding at every step may add up to, relative to what is added: a float32 has 6e-8, and a layer hundreds of inputs."""
MOST_LEVELS = 300
"""Nested splits: Solr reads them by recursion."""


class SolrLTR(Target):
    """A model and features for the stores of Solr's ``ltr`` module."""

    name = "solr-ltr"
    title = "Solr's learning-to-rank module"
    inputs = np.float32
    width = "float32"
    is_engine = True
    feature_names = r"""[^ \t\r\n,="]+"""  # logged features are separated by blanks and commas
    versions = "9.2 or later, or from 7.3 on with `served_missing='zero'`"

    def tolerance_of(self, flat: Flat) -> float:
        """Trees give the predicted bits; layers are rounded to float32 at every step."""
        return 0.0 if flat.forest is not None else STEPS

    def missing_rules(self, version: tuple[int, ...]) -> frozenset[ServedMissing]:
        """Trees know missing values since 9.2."""
        return BOTH if not version or version >= FIRST_WITH_MISSING else ZERO

    def check_version(self, version: tuple[int, ...]) -> None:
        """Refuse versions before 7.3."""
        if version < FIRST:
            raise ArgumentError(
                "is too old",
                setting="engine_version",
                value=".".join(map(str, version)),
                rule="Solr has all kinds of models since 7.3",
                remedy="Use Solr 7.3 or later",
            )

    def check(self, flat: Flat) -> None:
        """Refuse all but forests, nets and linear rankers."""
        if flat.forest is None and one_ranker(flat) is None:
            known = no_forest(flat)
            rule = "Solr holds a sum of trees, a linear ranker, or a net"
            raise ArgumentError(known.problem, value=known.value, rule=rule, remedy=known.remedy)

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse names that a request cannot hold, what float32 cannot, and missing values that the ranker refuses."""
        check_model_name(plan.name, r"[A-Za-z_][A-Za-z0-9_.-]*", "Letters, digits, and _ . - after the first")
        if plan.flat.forest is not None:
            check_leaves(plan)
            check_depth(plan.trees, MOST_LEVELS)
        check_known_missing(plan)
        _check_one_default(plan)
        check_writable(plan)

    def write(self, plan: ExportPlan) -> Files:
        """The model, its features and, for a model too large for ZooKeeper, what is uploaded in its place."""
        model, features = solr_files(plan)
        files = {MODEL: json.dumps(model, separators=(",", ":")).encode(), FEATURES: json.dumps(features, indent=1).encode()}
        return files if len(files[MODEL]) <= LIMIT else {**files, WRAPPER: json.dumps(wrapper_of(plan), indent=1).encode()}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The model and its features, computed as Solr does."""
        return solr_twin(json.loads(files[MODEL]), json.loads(files[FEATURES]), plan.names)

    def predicted(self, plan: ExportPlan, matrix: Reals) -> Reals:
        """Our decisions, added up in float32; other rankers' own scores."""
        if plan.flat.forest is not None:
            return float32_prediction(plan, matrix)
        return super().predicted(plan, matrix)

    def companions(self, plan: ExportPlan) -> Files:
        """Scripts that upload the model and check it, features for that check, and a request."""
        return companions_of(plan)

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """Queries to fill in, the version that is needed, the size, scaled features."""
        notes = missing_queries_note(plan.names, plan.feature_queries, FEATURES)
        if plan.missing == "nan" and plan.flat.forest is not None and not plan.version:
            notes.append("missing values need Solr 9.2 or later")
        if WRAPPER in files:
            notes.append(
                f"the model has {len(files[MODEL]) / 1e6:.1f} MB, more than ZooKeeper's 1 MB: copy {MODEL} as {plan.name}.json "
                f"into a folder that all nodes have on their resource path; {WRAPPER} is uploaded in its place"
            )
        return notes


def _check_one_default(plan: ExportPlan) -> None:
    """Refuse missing values that count as something else in each summand, or as less than any number."""
    several = len(plan.flat.terms) > 1 or any(isinstance(term.leaf, Feature) for term in plan.flat.terms)
    if plan.missing == "nan" and plan.flat.forest is None and several:
        raise ArgumentError(
            "is not for features, or sums of linear rankers",
            setting="served_missing",
            value="nan",
            rule="A feature of Solr has one default value for documents without it",
            remedy="Give `served_missing='zero'` if it is to count as 0",
        )
