"""Forests in model files: their arrays and facts (docs/formats/model.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from rankinite.engine.kernel import SCORE
from rankinite.models.files.categories import described, stored_categories
from rankinite.models.files.container import SETS, Stored
from rankinite.models.files.sketches import stored_sketch, with_sketch
from rankinite.models.history import stored_history
from rankinite.trees.structure import DTYPES, SET_DTYPES, Trees

if TYPE_CHECKING:
    from rankinite.models.forest import Forest


def stored_forest(forest: Forest) -> Stored:
    """The content of a forest in a model file."""
    kept = DTYPES | SET_DTYPES if forest.trees.has_sets else DTYPES
    arrays: dict[str, npt.NDArray[Any]] = {name: getattr(forest.trees, name) for name in kept}
    arrays["start"] = forest.start
    if forest.grades is not None:
        arrays["grades"] = forest.grades
    facts: dict[str, Any] = {
        "feature_names": list(forest.feature_names),
        "graded": forest.grades is not None,
        "settings": forest.settings,
        "history": None if forest.history is None else forest.history.to_dict(),
    }
    if forest.categories:
        facts["categories"] = described(forest.categories)
    return with_sketch(Stored("forest", facts, arrays), forest.sketch)


def forest_parts(stored: Stored) -> dict[str, Any]:
    """What the forest of a model file is made from."""
    kinds = DTYPES | SET_DTYPES if stored.has_array(SETS) else DTYPES
    return {
        "trees": Trees(**{name: stored.array(name, dtype) for name, dtype in kinds.items()}),
        "feature_names": stored.texts("feature_names"),
        "start": stored.array("start", SCORE),
        "grades": stored.array("grades", SCORE) if stored.fact("graded", bool) else None,
        "settings": stored.fact("settings", dict),
        "history": stored_history(stored),
        "sketch": stored_sketch(stored),
        "categories": stored_categories(stored) if "categories" in stored.facts else {},
    }
