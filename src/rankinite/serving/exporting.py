"""Export of a ranker to a program that serves it: written, read back, and written down with all that goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from rankinite.choices import Exactness, ServedMissing
from rankinite.data.dataset import Dataset
from rankinite.data.io.text_files import AnyPath
from rankinite.engine.kernel import SCORE, Reals
from rankinite.models.base import Fitted, Ranker
from rankinite.models.inputs import encode_categories, feature_matrix
from rankinite.plurals import agreeing, counted
from rankinite.serving import categories, names
from rankinite.serving.decisions import decided, missing_decided, shift_decided, version_of
from rankinite.serving.feature_queries import read_feature_queries
from rankinite.serving.flattening import not_ours
from rankinite.serving.folder import Exported, write_folder
from rankinite.serving.plan import ExportPlan
from rankinite.serving.proof import Proof, prove
from rankinite.serving.target import Target, exactness_of, refuse_sets, target_named


@dataclass(frozen=True)
class Export:
    """An exported model."""

    folder: Path
    """Where it is."""
    target: str
    """What it is for."""
    name: str
    """What it is called there."""
    files: tuple[str, ...]
    """What is in the folder, the model itself first."""
    exactness: Exactness
    """How near its scores are to the ranker's."""
    served_missing: ServedMissing
    """What a missing value counts as."""
    shift: float
    """What was added to every score."""
    check: Proof
    """What came of reading it back."""
    notes: tuple[str, ...]
    """What to know before it is deployed."""


def export(
    ranker: Ranker,
    folder: AnyPath,
    *,
    to: str,
    name: str | None = None,
    feature_queries: Mapping[str, Any] | AnyPath | None = None,
    served_missing: ServedMissing | None = None,
    shift: float | str | None = None,
    sample: Dataset | None = None,
    engine_version: str | None = None,
    overwrite: bool = False,
) -> Export:
    """Write a ranker for the program that will serve it (``to``; :func:`rankinite.targets` lists them) into a folder.

    The file is read back as that program reads it, on rows made of the ranker's own thresholds and on those of the ``sample``,
    and is refused unless every score is as predicted. ``name``: what the model is called there; the folder's name if left
    out. ``feature_queries``: how an engine computes each feature, as a mapping or a JSON file. ``served_missing``: what a
    missing feature counts as there. ``shift``: what is added to every score: a number, ``"none"``, or ``"auto"``, enough that
    none is below 0, which is the default for engines that forbid such scores. ``engine_version``: the version of the engine.
    ``overwrite``: replace an earlier export in the folder. Features whose names the program cannot hold get others; the
    folder's ``names.json`` has them.

    >>> rk.export(ranker, "out", to="es-ltr", name="shop")                       # doctest: +SKIP
    """
    target, path = target_named(to), Path(folder)
    plan = plan_for(
        ranker,
        target,
        name=path.resolve().name if name is None else name,
        feature_queries=feature_queries,
        served_missing=served_missing,
        shift=shift,
        version=engine_version,
    )
    rows = None if sample is None else sample_rows(plan, sample)
    files = target.write(plan)
    proof = prove(target, files, plan, rows)
    exactness, notes = exactness_of(target, plan.flat), _notes(target, plan, files)
    made = Exported(target, plan, files, exactness, proof, notes, rows, sample)
    written = write_folder(path, made, overwrite=overwrite)
    return Export(path, to, plan.name, written, exactness, plan.missing, plan.shift, proof, tuple(notes))


def plan_for(
    ranker: Ranker,
    target: Target,
    *,
    name: str,
    feature_queries: Mapping[str, Any] | AnyPath | None = None,
    served_missing: ServedMissing | None = None,
    shift: float | str | None = None,
    version: str | None = None,
    renamed: Mapping[str, str] | None = None,
) -> ExportPlan:
    """All decisions of an export; refuses what the target cannot hold. ``renamed``: names there, if these are decided."""
    if not isinstance(ranker, Fitted):
        raise not_ours(ranker)
    meant = version_of(target, version)
    flat = target.flattened(ranker)
    target.check(flat)
    refuse_sets(flat, target)
    missing = missing_decided(target, meant, flat, served_missing)
    added = shift_decided(target, flat, shift)
    every = flat.names
    if renamed is None:
        renamed = {} if flat.whole else names.safe_names(every, target.feature_names, target.same_name, target.reserved_names)
    if renamed:  # from here on the sum has the names that its features have there
        flat = target.flattened(cast("Ranker", names.renamed(ranker, renamed)))
    columns = flat.used if target.is_engine else flat.names
    target.check_features(columns)
    queries = read_feature_queries(feature_queries, dict(zip(every, flat.names, strict=True)), columns)
    plan = ExportPlan(name, ranker, decided(flat, missing, added), columns, missing, added, meant, queries, renamed)
    target.check_plan(plan)
    return plan


def sample_rows(plan: ExportPlan, sample: Dataset) -> Reals:
    """The rows of a sample in the plan's columns, found by the model's names or those there; refuses one without them."""
    own = plan.own_names[:-1] if plan.flat.by_query else plan.own_names
    features = own if set(own) <= set(sample.feature_names) or not plan.renamed else plan.names
    places = {plan.names.index(name): vocabulary for name, vocabulary in plan.categories.items()}
    matrix, columns = feature_matrix(sample, features, places)
    matrix = encode_categories(sample, matrix, columns, features, places)
    rows = matrix if columns is None else np.ascontiguousarray(matrix[:, columns])
    return np.column_stack((rows, sample.query_of_row().astype(SCORE))) if plan.flat.by_query else rows


def _notes(target: Target, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
    notes = list[str]()
    if plan.flat.left_out:
        notes.append(f"scores are not scaled by {plan.flat.left_out} there, which changes no order within a query")
    if target.negligible:
        notes.append(f"values up to {target.negligible:.0e} count as 0 there")
    if plan.shift:
        notes.append(f"{plan.shift:g} is added to every score")
    if plan.missing == "zero":
        notes.append("a missing feature counts as 0 there")
    if changed := [f"{old!r} is {new!r}" for old, new in plan.renamed.items() if new in plan.names]:
        shown = ", ".join([*changed[:3], *["…"] * (len(changed) > 3)])
        has = agreeing(len(changed), "has")
        notes.append(f"{counted(len(changed), 'feature')} {has} another name there, as in {names.FILE}: {shown}")
    if plan.categories:
        notes.append(categories.note(plan.categories, target.categories or "codes"))
    if target.is_engine and len(plan.names) < len(plan.flat.names):
        unused = len(plan.flat.names) - len(plan.names)
        notes.append(f"{unused} of {len(plan.flat.names)} features {agreeing(unused, 'is')} not used and left out")
    return [*notes, *target.notes(plan, files)]
