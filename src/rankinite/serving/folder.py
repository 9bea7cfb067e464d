"""Folder of an export: the model, what goes with it, and a manifest, which is written last and makes it an export."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankinite.choices import Exactness
from rankinite.data.categories import Vocabulary
from rankinite.data.dataset import Dataset
from rankinite.data.io.output_files import write_atomically
from rankinite.engine.kernel import SCORE, Reals
from rankinite.errors import ArgumentError, DataError
from rankinite.installed import versions
from rankinite.models.base import content_key
from rankinite.models.files.container import write_model
from rankinite.serving import categories, names
from rankinite.serving.adversarial_rows import adversarial_rows, takes_missing
from rankinite.serving.categories import known_codes
from rankinite.serving.float32 import shortest
from rankinite.serving.model_card import card_of
from rankinite.serving.plan import ExportPlan
from rankinite.serving.proof import Proof
from rankinite.serving.reference_scores import bounded
from rankinite.serving.target import Files, Target

MANIFEST, MODEL, SAMPLE, SCORES, CARD = "export.json", "model.rankinite", "sample.csv", "sample-scores.txt", "model-card.md"
SAMPLE_ROWS = 100
"""Rows of a sample that are written down, at most."""
MADE_ROWS = 20
"""Rows that are made where no sample is given."""


@dataclass(frozen=True)
class Exported:
    """All that one export has come to."""

    target: Target
    plan: ExportPlan
    files: Files
    exactness: Exactness
    proof: Proof
    notes: list[str]
    rows: Reals | None
    """Rows of the sample in the plan's columns."""
    data: Dataset | None
    """The sample itself."""


def write_folder(folder: Path, made: Exported, *, overwrite: bool) -> tuple[str, ...]:
    """Write everything and give the names of the files, the model's own first."""
    claim(folder, overwrite=overwrite)
    files = {**made.files, **made.target.companions(made.plan), **_sample(made)}
    if made.plan.categories:
        files[categories.FILE] = categories.companion(made.plan.categories, made.target.categories or "codes")
    if made.plan.renamed:
        called = dict(zip(made.plan.own_names, made.plan.names, strict=True))
        files[names.FILE] = json.dumps(called, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    files[CARD] = card_of(made.plan, made.exactness, made.notes, made.data).encode()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as handle:
            handle.write(content)
    write_model(folder / MODEL, made.plan.ranker.stored())  # pyright: ignore - rankers of ours can be stored
    with write_atomically(folder / MANIFEST) as handle:
        handle.write(json.dumps(_manifest(made, files), indent=1, ensure_ascii=False).encode() + b"\n")
    return tuple(dict.fromkeys((*files, MODEL, MANIFEST)))


def claim(folder: Path, *, overwrite: bool) -> None:
    """Make the folder; refuse one with other files, unless they are an earlier export that may be replaced."""
    try:
        folder.mkdir(parents=False, exist_ok=True)
        there = [path.name for path in folder.iterdir()]
    except OSError as problem:
        remedy = "Give another, whose parent exists"
        raise DataError(f"this folder cannot be made ({problem})", place=folder, value=str(folder), remedy=remedy) from problem
    if not there:
        return
    if MANIFEST not in there:
        raise ArgumentError(
            "holds files that are no export", setting="folder", value=str(folder), remedy="Give a new or an empty folder"
        )
    if not overwrite:
        raise ArgumentError(
            "holds an export already",
            setting="folder",
            value=str(folder),
            remedy="Pass `overwrite=True`, or give another folder",
        )
    for name in [MANIFEST, MODEL, *read_manifest(folder)["files"]]:  # the manifest first: without it this is no export
        with suppress(FileNotFoundError):
            (folder / name).unlink()


def read_manifest(folder: Path) -> dict[str, Any]:
    """What the manifest of an export says; refuses folders without one."""
    try:
        content: Any = json.loads((folder / MANIFEST).read_bytes())
    except OSError as problem:
        raise DataError(
            f"there is no {MANIFEST} here ({problem})", place=folder, remedy="Give the folder of an export"
        ) from problem
    except ValueError as problem:
        raise DataError("this is not JSON", place=folder / MANIFEST, remedy="Export the model again") from problem
    if not isinstance(content, dict) or not isinstance(content.get("files"), dict) or "target" not in content:
        raise DataError("this is no manifest of an export", place=folder / MANIFEST, remedy="Export the model again")
    inside = folder.resolve()
    if any(inside not in (folder / str(name)).resolve().parents for name in content["files"]):
        raise DataError("a file lies outside the folder", place=folder / MANIFEST, remedy="Export the model again")
    return content


def _sample(made: Exported) -> Files:
    """Rows as the program is given them, and its scores of them."""
    plan, kind = made.plan, made.target.inputs
    if made.rows is None:
        missing = plan.missing == "zero" or takes_missing(plan.flat)
        rows = adversarial_rows(plan.flat, plan.names, kind, missing=missing, rows=MADE_ROWS, seed=1)
    else:
        rows = made.rows[:SAMPLE_ROWS].astype(kind)
    named = named_columns(made.target, plan)
    for column, vocabulary in named.items():  # a category without a name cannot be told from a missing one
        rows[known_codes(rows[:, column], vocabulary) == vocabulary.places.get("", -1), column] = np.nan
    scores = made.target.twin(made.files, plan)(rows)
    return {SAMPLE: as_csv(plan.names, rows, named), SCORES: "".join(f"{shortest(score)}\n" for score in scores).encode()}


def named_columns(target: Target, plan: ExportPlan) -> dict[int, Vocabulary]:
    """The columns of a sample that hold names of categories, with their vocabularies."""
    named = plan.categories if target.categories == "names" else {}
    return {plan.names.index(name): vocabulary for name, vocabulary in named.items()}


def as_csv(names: tuple[str, ...], rows: Reals, named: Mapping[int, Vocabulary]) -> bytes:
    """Rows with a head; missing values are empty. ``named``: columns whose codes are written as names."""
    import csv

    texts = [
        [name or "" for name in categories.names_of_codes(values, named[column])]
        if column in named
        else ["" if np.isnan(value) else shortest(value) for value in values]
        for column, values in enumerate(rows.T)
    ]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(list(cells) for cells in zip(*texts, strict=True)) if texts else writer.writerows([[]] * len(rows))
    return text.getvalue().encode("utf-8", "surrogatepass")


def _ranges(made: Exported) -> dict[str, tuple[float, float] | None]:
    """The range of each number in the whole sample, for checks of what is served; None: no row has a value."""
    if made.rows is None:
        return {}
    columns = zip(made.plan.names, made.rows.astype(made.target.inputs).T, strict=True)
    ranges = {name: range_of(column) for name, column in columns}
    return {name: found for name, found in ranges.items() if found is None or name not in made.plan.categories}


def range_of(column: Reals) -> tuple[float, float] | None:
    """The lowest and the highest value, infinite ones as the last of all floats, which JSON can hold; None: there is none."""
    values = bounded(column[~np.isnan(column)].astype(SCORE))
    return (float(values.min()), float(values.max())) if len(values) else None


def _manifest(made: Exported, files: Mapping[str, bytes]) -> dict[str, Any]:
    plan = made.plan
    return {
        "format": 1,
        "rankinite": versions().get("rankinite"),
        "target": made.target.name,
        "name": plan.name,
        "engine_version": ".".join(map(str, plan.version)) or None,
        "exactness": made.exactness,
        "served_missing": plan.missing,
        "shift": plan.shift,
        "features": list(plan.names),
        "renamed": dict(plan.renamed),
        "ranges": _ranges(made),
        "model": content_key(plan.ranker, "the ranker"),
        "notes": made.notes,
        "check": made.proof.facts(),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
