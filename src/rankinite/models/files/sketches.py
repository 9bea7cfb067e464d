"""Sketches of training queries in model files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.identity import QuerySketch
from rankinite.errors import DataError
from rankinite.models.files.container import DAMAGED, Stored

SKETCH = "sketch"
"""What it is called among the facts and the arrays of a ranker."""


def with_sketch(stored: Stored, sketch: QuerySketch | None) -> Stored:
    """The content of a file with the sketch added; its features are named where they are not those of the ranker."""
    if sketch is None:
        return stored
    about: dict[str, Any] = {"level": sketch.level, "complete": sketch.complete}
    if stored.facts.get("feature_names") != list(sketch.features):
        about["features"] = list(sketch.features)
    arrays: dict[str, npt.NDArray[Any]] = {**stored.arrays, SKETCH: sketch.keys.view(np.int64)}  # files have no uint64
    return Stored(stored.kind, {**stored.facts, SKETCH: about}, arrays)


def stored_sketch(stored: Stored) -> QuerySketch | None:
    """The sketch of a ranker in a file; None where there is none, as in files of earlier versions."""
    if stored.facts.get(SKETCH) is None:
        return None
    about = Stored(SKETCH, stored.fact(SKETCH, dict), {}, f"{stored.prefix}{SKETCH}/")
    names = about.texts("features") if "features" in about.facts else stored.texts("feature_names")
    keys = stored.array(SKETCH, np.int64).view(np.uint64)
    level, complete = about.fact("level", int), about.fact("complete", bool)
    try:
        return QuerySketch(names, keys, level, complete=complete)
    except DataError as problem:
        rule = problem.rule or problem.remedy
        raise DataError(problem.problem, place=SKETCH, value=problem.value, rule=rule, remedy=DAMAGED) from problem
