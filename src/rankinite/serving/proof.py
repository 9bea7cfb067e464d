"""Proof: an exported file, read back through the twin of its program, against the ranker it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.engine.kernel import Flags, Reals
from rankinite.models.base import names_of, part_scores
from rankinite.plurals import counted
from rankinite.serving.adversarial_rows import adversarial_rows, takes_missing
from rankinite.serving.categories import names_of_codes
from rankinite.serving.names import renamed
from rankinite.serving.plan import ExportPlan
from rankinite.serving.rounding import summed_sizes
from rankinite.serving.target import Target


class WrongExportError(Exception):
    """A written file does not score as it must: a fault of the writer, not of the input."""


@dataclass(frozen=True)
class Proof:
    """What came of reading a file back."""

    rows: int
    """Adversarial rows that were compared."""
    sample_rows: int
    """Rows of the sample that were compared besides."""
    largest_difference: float
    """The most that a score there differs from the ranker's own, the shift aside; NaN: the scores are not meant to be equal."""

    def facts(self) -> dict[str, Any]:
        """The result as JSON has it."""
        apart = None if np.isnan(self.largest_difference) else self.largest_difference
        return {"adversarial_rows": self.rows, "sample_rows": self.sample_rows, "largest_difference": apart}

    def sentence(self) -> str:
        """The result in words."""
        sample = f" and {counted(self.sample_rows, 'row')} of the sample" if self.sample_rows else ""
        if np.isnan(self.largest_difference):
            return f"read back: as predicted on {self.rows:,} adversarial rows{sample}"
        apart = (
            "no bit differs" if self.largest_difference == 0.0 else f"scores differ by at most {self.largest_difference:.2g}"
        )
        return f"read back: as predicted on {self.rows:,} adversarial rows{sample}; {apart} from the ranker's own"


def prove(target: Target, files: Mapping[str, bytes], plan: ExportPlan, sample: Reals | None = None, rows: int = 1000) -> Proof:
    """Compare the file's twin with what the plan predicts, on adversarial rows and on the sample; raises WrongExportError.

    ``sample``: rows × the plan's names.
    """
    missing = plan.missing == "zero" or takes_missing(plan.flat)
    made = adversarial_rows(plan.flat, plan.names, target.inputs, missing=missing, rows=rows)
    matrix = made if sample is None else np.concatenate((made, sample.astype(target.inputs)))
    found = target.twin(files, plan)(matrix)
    counted = np.where(np.abs(matrix) <= target.negligible, matrix.dtype.type(0), matrix)
    expected = target.predicted(plan, counted)
    apart = ~alike(found, expected, allowed(target, plan, counted))
    if apart.any():
        row = int(np.flatnonzero(apart)[0])
        raise WrongExportError(
            f"{target.name}: {int(apart.sum())} of {len(matrix)} rows score otherwise than predicted, such as row {row}: "
            f"{found[row]!r} instead of {expected[row]!r}"
        )
    return Proof(len(made), 0 if sample is None else len(sample), _difference(plan, counted, found))


def allowed(target: Target, plan: ExportPlan, matrix: Reals) -> Reals:
    """How far the score of each row may be from what is predicted."""
    tolerance = target.tolerance_of(plan.flat)
    return tolerance * summed_sizes(plan.flat, plan.served(matrix), plan.names) if tolerance else np.zeros(len(matrix))


def alike(found: Reals, expected: Reals, tolerance: Reals) -> Flags:
    """Where two scores are equal, or at most so far apart."""
    with np.errstate(invalid="ignore"):
        near = np.abs(found.astype(np.float64) - expected.astype(np.float64)) <= tolerance
    return (found == expected) | (np.isnan(found) & np.isnan(expected)) | near


def _difference(plan: ExportPlan, matrix: Reals, found: Reals) -> float:
    """The most that scores differ from the ranker's own; NaN where a scaling was left out."""
    if plan.flat.left_out:
        return float("nan")
    own = own_scores(plan, matrix) + plan.shift
    with np.errstate(invalid="ignore"):
        return float(np.abs(found.astype(np.float64) - own).max(initial=0.0))


def named_rows(plan: ExportPlan, matrix: Reals) -> dict[str, Any]:
    """Columns by name, as rankinite itself is given them: categories by their names."""
    import pyarrow as pa

    columns: dict[str, Any] = {name: matrix[:, number] for number, name in enumerate(plan.names)}
    named = {name: names_of_codes(columns[name], vocabulary) for name, vocabulary in plan.categories.items()}
    return columns | {name: pa.array(names, pa.string()) for name, names in named.items()}


def own_scores(plan: ExportPlan, matrix: Reals) -> Reals:
    """The ranker's own scores of rows × the plan's names, missing values counting as they will where it is served."""
    import pyarrow as pa

    served = plan.without_missing(matrix) if plan.missing == "zero" else matrix
    columns = named_rows(plan, served)
    nothing = np.zeros(len(served), served.dtype)
    ranker = renamed(plan.ranker, plan.renamed)
    table = pa.table({name: columns.get(name, nothing) for name in names_of(ranker)})
    return part_scores(ranker, table, matrix[:, -1] if plan.flat.by_query else nothing)
