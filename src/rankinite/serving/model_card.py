"""Model card: what a model is, what it was trained on, how good it was and how it is served, as one page of Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from rankinite.choices import Exactness
from rankinite.data.dataset import Dataset
from rankinite.data.identity import fingerprint
from rankinite.evaluation.evaluate import evaluate
from rankinite.installed import version_line
from rankinite.measures.gains import NDCG
from rankinite.models.base import line_of, trained_of
from rankinite.plurals import counted
from rankinite.serving.adversarial_rows import adversarial_rows, takes_missing
from rankinite.serving.plan import ExportPlan
from rankinite.serving.scoring_time import seconds_to_score
from rankinite.trees.structure import LEAF

BATCH = 100
"""Documents that are scored together for the estimate of time."""


def card_of(plan: ExportPlan, exactness: Exactness, notes: list[str], sample: Dataset | None) -> str:
    """The page."""
    sections = [
        f"# {plan.name}",
        f"{line_of(plan.ranker)}. Written by {version_line()}.",
        "\n".join(["## Served", "", *_served(plan, exactness, notes)]),
        "\n".join(["## Training", "", *_training(plan)]),
        "\n".join(["## Quality", "", *_quality(plan, sample)]),
        "\n".join(["## Size and time", "", *_size(plan)]),
    ]
    return "\n\n".join(sections) + "\n"


def _served(plan: ExportPlan, exactness: Exactness, notes: list[str]) -> Iterator[str]:
    yield f"- scores: {exactness}"
    if plan.missing == "nan":
        yield "- a missing feature stays missing there"
    yield from (f"- {note}" for note in notes)


def _training(plan: ExportPlan) -> Iterator[str]:
    trained = trained_of(plan.ranker)
    if trained is None or not trained.settings:
        yield "It is not known how it was trained."
        return
    yield f"Settings: `{json.dumps(dict(trained.settings), ensure_ascii=False)}`"
    if trained.sketch is not None:
        yield f"\nTrained on {counted(trained.sketch.queries, 'query')}."
    history = trained.history
    if history is not None and len(history.valid):
        yield f"\n{history.measure} on the validation data that chose its size: {history.valid[history.best]:.4f}"
    elif history is not None and history.best < len(history.held_out):
        held_out = f"{history.held_out[history.best]:.4f}, the mean of {counted(history.held_out_parts, 'smaller training')}"
        yield f"\n{history.measure} on training queries held out to choose its size: {held_out}"


def _quality(plan: ExportPlan, sample: Dataset | None) -> Iterator[str]:
    if sample is None or not sample.judged:
        yield "No judged sample was given when it was exported."
        return
    result = evaluate(plan.ranker, sample, [NDCG(10)])
    low, high = result[NDCG(10)].interval
    yield f"ndcg@10 on {sample.source}: {result[NDCG(10)].mean:.4f} (95 % interval {low:.4f} to {high:.4f})."
    yield f"\nFingerprint of these data: `{fingerprint(sample)}`"
    yield from (f"\n{warning}" for warning in result.warnings)


def _size(plan: ExportPlan) -> Iterator[str]:
    yield f"- features: {len(plan.names):,}: {', '.join(plan.names)}"
    forest = plan.flat.forest
    if forest is not None:
        yield f"- {counted(len(forest), 'tree')}, {counted(int((forest.trees.feature == LEAF).sum()), 'leaf')}"
    yield f"- about {microseconds(plan):.1f} µs per document in rankinite, {BATCH} at a time; features cost more than trees"


def microseconds(plan: ExportPlan) -> float:
    """The time that the ranker takes for one of a hundred documents on this machine, the best of five tries."""
    names = plan.ranker.feature_names
    there = tuple(plan.renamed.get(name, name) for name in names)
    rows = adversarial_rows(plan.flat, there, np.float32, missing=takes_missing(plan.flat), rows=BATCH)
    return seconds_to_score(plan.ranker, names, rows) / BATCH * 1e6
