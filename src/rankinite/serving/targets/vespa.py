"""VespaRankProfile: a rank profile of Vespa, whose second phase is the ranker as ranking expressions.

Every feature is a function, which computes it from rank features; those of the model are called ``model_…`` and are in
``vespa_expressions``. Vespa adds in float64, in an order that depends on how it compiles a forest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankinite.engine.kernel import Reals
from rankinite.errors import ArgumentError
from rankinite.models.net import Net
from rankinite.serving.feature_queries import missing_queries_note
from rankinite.serving.flattening import Flat, NetOfSums, leaves_of
from rankinite.serving.names import check_model_name
from rankinite.serving.plan import ExportPlan
from rankinite.serving.reference_scores import flat_scores
from rankinite.serving.target import Files, Target, Twin
from rankinite.serving.targets.refused_missing import check_known_missing
from rankinite.serving.targets.vespa_companions import FEATURES, companions_of, function_block
from rankinite.serving.targets.vespa_expressions import VespaFunctions
from rankinite.serving.targets.vespa_trees import largest_set, narrowed
from rankinite.serving.targets.vespa_twin import vespa_twin

MOST_WEIGHTS = 20_000
"""Of nets: more are a long text to compile, and slow."""
MOST_LISTED = 255
"""Codes in one list of a forest that Vespa compiles into its own layout."""
RANK_FEATURE = r"[A-Za-z_]\w*\([\w.,\" ]*\)(\.\w+)*|native\w+"
"""Names that are rank features themselves, such as bm25(title)."""


class VespaRankProfile(Target):
    """A file ``NAME.profile`` for an application package."""

    name = "vespa"
    title = "a rank profile of Vespa"
    inputs = np.float32
    width = "float32"
    tolerance = 1e-12
    is_engine = True
    categories = "codes"
    feature_names = r"[^\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]+"  # each is a comment in the profile: no line breaks

    def check(self, flat: Flat) -> None:
        """Refuse large nets."""
        nets = [leaf.top if isinstance(leaf, NetOfSums) else leaf for leaf in leaves_of(flat)]
        weights = sum(len(net.weights) for net in nets if isinstance(net, Net))
        if weights > MOST_WEIGHTS:
            raise ArgumentError(
                f"its nets have {weights:,} weights",
                value=weights,
                rule=f"Ranking expressions are for {MOST_WEIGHTS:,} at most",
                remedy="Export to onnx, which Vespa reads as well",
            )

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse names that a profile cannot have, expressions that are none, and what trees cannot be written as."""
        check_model_name(plan.name, r"[A-Za-z_][A-Za-z0-9_]*", "Letters, digits and _, the first no digit")
        for name, text in plan.feature_queries.items():
            if not isinstance(text, str) or not text.strip() or set(text) & set("{}\n"):
                raise ArgumentError(
                    f"has no expression for {name!r}",
                    setting="feature_queries",
                    value=text,
                    rule="A feature is computed by a ranking expression, in one line",
                    remedy='Give a text such as "bm25(title)" or "attribute(price)"',
                )
        check_known_missing(plan)
        narrowed(plan.flat)

    def write(self, plan: ExportPlan) -> Files:
        """The profile, and which function computes which feature."""
        names = function_names(plan.names)
        functions = VespaFunctions(names, plan.missing)
        ranked = functions.of_flat(narrowed(plan.flat))
        features = [
            {"name": name, "function": names[name], "expression": plan.feature_queries.get(name, placeholder(name))}
            for name in plan.names
        ]
        blocks = [function_block(entry["function"], entry["expression"], entry["name"]) for entry in features]
        blocks += [function_block(name, text) for name, text in functions.texts.items()]
        return {
            f"{plan.name}.profile": _profile(plan.name, blocks, ranked, list(names.values())).encode(),
            FEATURES: (json.dumps(features, indent=1, ensure_ascii=False) + "\n").encode(),
        }

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The profile's second phase, in float64."""
        entries: list[Any] = json.loads(files[FEATURES])
        columns = {entry["function"]: plan.names.index(entry["name"]) for entry in entries}
        return vespa_twin(files[f"{plan.name}.profile"].decode(), columns)

    def predicted(self, plan: ExportPlan, matrix: Reals) -> Reals:
        """The ranker's own parts, the leaves of trees rounded to float32."""
        return flat_scores(narrowed(plan.flat), plan.served(matrix), plan.names)

    def companions(self, plan: ExportPlan) -> Files:
        """A script that deploys the profile, a query, a second profile and a program for checks."""
        return companions_of(plan, function_names(plan.names))

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """Expressions to fill in, the size of the text, what is compared."""
        known = {name: name for name in plan.names if name in plan.feature_queries or is_rank_feature(name)}
        size = len(files[f"{plan.name}.profile"]) / 1e6
        notes = missing_queries_note(plan.names, known, f"{plan.name}.profile")
        if size > 1.0:
            notes.append(f"the profile has {size:.1f} MB, which takes some time to deploy")
        if (longest := largest_set(plan.flat)) > MOST_LISTED:
            notes.append(
                f"a split lists {longest:,} categories: Vespa computes forests with more than {MOST_LISTED} more slowly"
            )
        return [*notes, "features are compared as float32 numbers: store those that are not whole in fields of type float"]


def function_names(names: tuple[str, ...]) -> dict[str, str]:
    """The function of every feature: its name with feature_ before it, and _ for what is no letter or digit."""
    found: dict[str, str] = {}
    for name in names:
        plain = f"feature_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        own, number = plain, 1
        while own in found.values():
            number += 1
            own = f"{plain}_{number}"
        found[name] = own
    return found


def is_rank_feature(name: str) -> bool:
    """Whether a name is a rank feature of Vespa itself."""
    return re.fullmatch(RANK_FEATURE, name) is not None


def placeholder(name: str) -> str:
    """The rank feature that a name is; else an attribute, which Vespa refuses to deploy if there is none of that name."""
    return name if is_rank_feature(name) else f"attribute({re.sub(r'[^A-Za-z0-9_]', '_', name)})"


def _profile(name: str, blocks: list[str], ranked: str, features: list[str]) -> str:
    logged = "".join(f"        {feature}\n" for feature in features)
    return (
        f"# The functions feature_… compute the model's features; fill them in. Those called model_… are the model.\n"
        f"rank-profile {name} {{\n{''.join(blocks)}"
        "    first-phase {\n        expression: nativeRank\n    }\n"
        f"    second-phase {{\n        rerank-count: 100\n        expression {{\n{ranked}\n        }}\n    }}\n"
        + (f"    match-features {{\n{logged}    }}\n" if features else "")
        + "}\n"
    )
