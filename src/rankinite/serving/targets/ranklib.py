"""RankLibEnsemble: a model that RankLib's ``-load`` reads: an ensemble of trees, or a linear model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankinite.choices import ServedMissing
from rankinite.engine.kernel import Reals
from rankinite.serving.flattening import Flat
from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import ZERO, Files, Target, Twin, float32_prediction
from rankinite.serving.targets.linear_form import check_trees_or_linear, linear_form
from rankinite.serving.targets.ranklib_text import ensemble_text, linear_sum, linear_text, twin_of
from rankinite.serving.targets.tree_limits import check_leaves

FILE = "model.txt"


class RankLibEnsemble(Target):
    """A model for RankLib, whose features are the numbers of a LETOR file."""

    name = "ranklib"
    title = "RankLib's model, as its -load reads it"
    inputs = np.float32
    width = "float32"

    def missing_rules(self, version: tuple[int, ...]) -> frozenset[ServedMissing]:
        """A missing feature counts as 0."""
        return ZERO

    def check(self, flat: Flat) -> None:
        """Refuse what is neither trees nor linear."""
        check_trees_or_linear(flat, "RankLib")

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse leaves beyond float32."""
        if plan.flat.forest is not None:
            check_leaves(plan)

    def write(self, plan: ExportPlan) -> Files:
        """The text."""
        ids = feature_ids(plan.names)
        if plan.flat.forest is not None:
            return {FILE: ensemble_text(plan.trees_with_start, ids).encode()}
        form, number_of = linear_form(plan.flat), dict(zip(plan.names, ids, strict=True))
        return {FILE: linear_text(form.bias, {number_of[name]: weight for name, weight in form.weights.items()}).encode()}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The text as RankLib means it."""
        return twin_of(files[FILE].decode(), {number: column for column, number in enumerate(feature_ids(plan.names))})

    def predicted(self, plan: ExportPlan, matrix: Reals) -> Reals:
        """Our decisions, added up in float32; a linear model's sum in float64."""
        return linear_prediction(plan, matrix) if plan.flat.forest is None else float32_prediction(plan, matrix)

    def companions(self, plan: ExportPlan) -> Files:
        """A program that has RankLib score the sample."""
        ids = " ".join(map(str, feature_ids(plan.names)))
        return {"check.sh": CHECK.replace("IDS", ids).encode()}

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """Which number stands for which feature, where that is not plain."""
        ids = feature_ids(plan.names)
        if tuple(map(str, ids)) == plan.names:
            return []
        shown = ", ".join(f"{number} is {name}" for number, name in list(zip(ids, plan.names, strict=True))[:5])
        return [f"RankLib knows features by their numbers in LETOR files: {shown}{', …' if len(ids) > 5 else ''}"]


def linear_prediction(plan: ExportPlan, matrix: Reals) -> Reals:
    """A linear ranker with its centres multiplied out, added up in float64 in the order of features."""
    form, place = linear_form(plan.flat), {name: column for column, name in enumerate(plan.names)}
    return linear_sum(form.bias, {place[name]: weight for name, weight in form.weights.items()})(matrix)


def feature_ids(names: tuple[str, ...]) -> tuple[int, ...]:
    """The number of each feature: its name, where all names are numbers of a LETOR file; else its position, from 1 on."""
    if all(name.isascii() and name.isdecimal() and name == str(int(name)) and 0 < int(name) < 10**9 for name in names):
        return tuple(map(int, names))
    return tuple(range(1, len(names) + 1))


CHECK = """#!/bin/sh
# Scores of the sample by RankLib. Run: RANKLIB=RankLib.jar sh check.sh; then: rankinite check . --scores served.txt
set -eu
cd "$(dirname "$0")"
awk -F, -v ids="IDS" 'BEGIN { split(ids, id, " ") }
    NR > 1 { line = "0 qid:1"; for (i = 1; i <= NF; i++) if ($i != "") line = line " " id[i] ":" $i; print line }' \\
    sample.csv > sample.letor
java -jar "${RANKLIB:-RankLib.jar}" -load model.txt -rank sample.letor -score ranklib-scores.txt
awk '{ print $3 }' ranklib-scores.txt > served.txt
"""
