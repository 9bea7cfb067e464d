"""Served: what an engine returned, compared with what the exported model must give, and what is wrong with its features."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary
from rankinite.data.dataset import Dataset
from rankinite.data.grouping import order_of
from rankinite.data.io.text_files import AnyPath
from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.errors import DataError, listed, quoted
from rankinite.models.files.loading import load
from rankinite.plurals import agreeing, counted
from rankinite.serving.exporting import plan_for, sample_rows
from rankinite.serving.folder import MODEL, SAMPLE, named_columns, range_of, read_manifest
from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files, Target, Twin, target_named

ROUNDED = 1e-6
"""Scores this near, relative to their size, are equal but for digits that were not printed."""


@dataclass(frozen=True)
class Served:
    """How served scores compare with those expected."""

    rows: int
    equal: int
    """Scores with the same bits."""
    near: int
    """Scores that differ in digits that are rarely printed."""
    largest_difference: float
    first_difference: int | None
    """The first row that differs by more; None: there is none."""
    expected: Floats
    served: Floats
    reasons: tuple[str, ...]
    """What would explain the differences."""
    findings: tuple[str, ...] = ()
    """What is wrong with the deployment even if the scores are right for these rows: features missing in all of them, values
    that the sample of the export does not have, one score for all rows."""

    @property
    def as_expected(self) -> bool:
        """Whether no score differs by more than its last digits, and there are no findings."""
        return self.first_difference is None and not self.findings

    def text(self) -> str:
        """The result in words."""
        lines = [f"{counted(self.rows, 'score')}: {self.equal:,} equal, {self.near:,} equal but for the last digits"]
        if self.first_difference is not None:
            row = self.first_difference
            apart = self.rows - self.equal - self.near
            lines.append(
                f"{apart:,} {agreeing(apart, 'differs')}, by up to {self.largest_difference:.6g}; the first is row "
                f"{row + 1}: {self.served[row]:.9g} instead of {self.expected[row]:.9g}"
            )
        return "\n".join([*lines, *self.reasons, *self.findings])


def check_served(folder: AnyPath, scores: npt.ArrayLike, data: Dataset | None = None) -> Served:
    """Compare scores that an engine gave with those of the model in the folder of an export.

    ``scores``: one per row of ``data``, in the order of its source; without data, of the export's own sample.
    """
    place = Path(folder)
    manifest = read_manifest(place)
    target = target_named(manifest["target"])
    plan = _plan(place, target, manifest)
    files: Files = {name: _content(place / name) for name in manifest["files"]}
    sample = _sample(place, plan, target)
    rows = sample if data is None else _in_source_order(data, sample_rows(plan, data))
    rows = rows.astype(target.inputs)
    if data is not None and order_of(scores) is not None:
        scores = data.to_input_order(scores)
    served = np.asarray(scores, SCORE)
    if served.shape != (len(rows),):
        raise DataError(
            f"there {agreeing(len(served), 'is')} {counted(len(served), 'score')} for {counted(len(rows), 'row')}",
            place=place,
            value=len(served),
            rule="There must be one score per row, in their order",
            remedy=f"Score the rows of {place / SAMPLE}, or give the data that were scored" if data is None else "",
        )
    twin = target.twin(files, plan)
    found = _compared(served, twin(rows), _reasons(served, rows, twin, plan))
    findings = [] if data is None else _wrong_features(rows, plan, manifest.get("ranges", {}))
    if len(served) > 1 and np.ptp(served) == 0.0 and np.ptp(twin(sample)) > 0.0:
        findings.append(f"All {len(served)} rows have the same score: does the engine compute the features, and use the model?")
    return replace(found, findings=tuple(findings))


def _wrong_features(rows: Reals, plan: ExportPlan, ranges: Mapping[str, Any]) -> list[str]:
    """The features that no row has, and those with values outside their range in the export's sample."""
    missing, outside = list[str](), list[str]()
    for name, column in zip(plan.names, rows.T, strict=True):
        found = range_of(column)
        if found is None:
            missing += [name] if ranges.get(name, True) else []  # None: the sample has no value either
        elif limits := ranges.get(name):
            low, high = limits
            if found[0] < low or found[1] > high:
                outside.append(f"{quoted(name)} ({found[0]:.9g} to {found[1]:.9g} instead of {low:.9g} to {high:.9g})")
    texts = list[str]()
    if missing:
        texts.append(
            f"Missing in every row: {listed(missing, 5)}. Look at how the engine computes {agreeing(len(missing), 'it')}."
        )
    if outside:
        shown = ", ".join(outside[:5]) + (f", … ({len(outside)} in all)" if len(outside) > 5 else "")
        texts.append(
            f"Outside the range of the export's sample: {shown}. Either the engine computes them otherwise than training did, "
            "or the sample is too small: then export again with a larger one."
        )
    return texts


def _compared(served: Floats, expected: Reals, reasons: tuple[str, ...]) -> Served:
    wide = expected.astype(SCORE)
    equal = served.astype(expected.dtype) == expected
    with np.errstate(invalid="ignore"):
        near = ~equal & (np.abs(served - wide) <= ROUNDED * np.maximum(np.abs(wide), 1e-3))
        largest = float(np.nanmax(np.abs(served - wide), initial=0.0))
    wrong = np.flatnonzero(~equal & ~near)
    first = int(wrong[0]) if len(wrong) else None
    explained = () if first is None else reasons
    return Served(len(served), int(equal.sum()), int(near.sum()), largest, first, wide, served, explained)


def _reasons(served: Floats, rows: Reals, twin: Twin, plan: ExportPlan) -> tuple[str, ...]:
    """What would explain that scores differ."""
    found = list[str]()
    apart = served - twin(rows).astype(SCORE)
    scale = float(np.abs(served).max(initial=1.0))
    if len(apart) > 1 and np.ptp(apart) <= ROUNDED * scale and abs(apart[0]) > ROUNDED * scale:
        found.append(f"Every served score is {apart[0]:+.6g} from the expected one: the order is the same; look at --shift.")
    if np.isnan(rows).any():
        as_zero = twin(plan.without_missing(rows))
        if plan.missing == "nan" and np.allclose(served, as_zero, rtol=ROUNDED, atol=0.0):
            found.append("The engine takes missing features for 0: export with --served-missing zero, or let it send none.")
    return tuple(found)


def _plan(folder: Path, target: Target, manifest: dict[str, Any]) -> ExportPlan:
    return plan_for(
        load(folder / MODEL),
        target,
        name=str(manifest.get("name")),
        served_missing=manifest.get("served_missing"),
        shift=manifest.get("shift"),
        version=manifest.get("engine_version"),
        renamed=manifest.get("renamed"),
    )


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise DataError(f"a file of the export cannot be read ({problem})", place=path, remedy="Export again") from problem


def _sample(folder: Path, plan: ExportPlan, target: Target) -> Reals:
    """The rows of the export's own sample."""
    import csv

    lines = list(csv.reader(io.StringIO(_content(folder / SAMPLE).decode(), newline="")))
    try:
        named = named_columns(target, plan)
        cells = [[_number(word, named.get(column)) for column, word in enumerate(line)] for line in lines[1:]]
        return np.asarray(cells, target.inputs).reshape(len(lines) - 1, len(plan.names))
    except ValueError as problem:
        raise DataError("this is not the sample that was exported", place=folder / SAMPLE, remedy="Export again") from problem


def _number(word: str, vocabulary: Vocabulary | None) -> float:
    """What a cell of the sample stands for: a number, or the code of a category, beyond all codes where it is unknown."""
    if not word:
        return float("nan")
    return float(word) if vocabulary is None else vocabulary.places.get(word, len(vocabulary))


def _in_source_order(data: Dataset, rows: Reals) -> Reals:
    """The rows in the order they were read."""
    if data.input_row is None:
        return rows
    if len(rows) != data.input_rows:
        raise DataError(
            f"{counted(data.input_rows - len(rows), 'row')} {agreeing(data.input_rows - len(rows), 'was')} left out on reading",
            place=data.source,
            value=len(rows),
            remedy="Read all of them with `unjudged='keep'`",
        )
    ordered = np.empty_like(rows)
    ordered[data.input_row] = rows
    return ordered
