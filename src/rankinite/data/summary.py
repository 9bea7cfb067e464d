"""The summary of a data set that notebooks show."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.grade_summary import grade_ranges
from rankinite.engine.kernel import INDEX
from rankinite.grid import Grid, few
from rankinite.short_names import short_source


def dataset_grid(data: Dataset) -> Grid:
    """How many queries, documents and features there are, which grades, and which categories."""
    sizes = np.diff(data.offsets) if data.queries else np.zeros(1, INDEX)
    grades, counts = np.unique(data.grades, return_counts=True)
    counted = [f"{grade:g}: {count:,}" for grade, count in zip(grades.tolist(), counts.tolist(), strict=True)]
    if grade_ranges(data.grades):
        counted = [f"{grades[0]:.4g} … {grades[-1]:.4g}: {len(grades):,} different"]
    categories = few([f"{name} ({len(one):,})" for name, one in data.categories.items()])
    rows = (
        ("queries", f"{data.queries:,}"),
        ("documents", f"{data.rows:,}"),
        ("documents per query", f"{sizes.min()} … {np.median(sizes):g} … {sizes.max()}"),
        ("grades", few(counted) if data.judged else "no grades"),
        ("features", f"{len(data.feature_names):,}: {few(data.feature_names)}"),
        *((("categories", categories),) if data.categories else ()),
        *((("rows", "regrouped: see to_input_order and from_input_order"),) if data.regrouped else ()),
        *((("preferences", f"{len(data.preferences):,}"),) if data.preferences is not None else ()),
    )
    return Grid(("", ""), rows, align="ll", title=f"Dataset {short_source(data.source)}")
