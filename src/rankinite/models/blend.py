"""Weighted sums of rankers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.sketch import QuerySketch
from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.inputs import Scorer
from rankinite.grid import Grid
from rankinite.models.base import (
    Fitted,
    Part,
    Trained,
    is_scorer,
    line_of,
    names_of,
    needs_queries,
    part_scores,
    sketches_of,
    stored_part,
    trained_of,
)
from rankinite.models.files.container import DAMAGED, Stored
from rankinite.models.files.loading import build
from rankinite.models.files.sketches import stored_sketch, with_sketch
from rankinite.models.inputs import check_meaning


@dataclass(frozen=True, eq=False, repr=False)
class Blend(Fitted):
    """The sum of weight × score over its parts, added in order. ``0.3 * a + 0.7 * b`` makes one.

    A part is a ranker, or anything else with ``score(data)``; with such a part the blend scores but cannot be saved.
    """

    parts: tuple[tuple[float, Scorer], ...]
    """Weights and rankers."""
    sketch: QuerySketch | None = None
    """The queries that the weights were chosen by; None: by none, or by such as are not known."""

    about_title = "part 1, the correction"

    def __post_init__(self) -> None:
        if not self.parts:
            raise ArgumentError("a blend needs at least one part.")
        object.__setattr__(self, "parts", tuple(_checked(part) for part in self.parts))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that any part needs."""
        return tuple(dict.fromkeys(name for names in self._names() for name in names))

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries the parts were trained on, and the weights chosen by."""
        chosen = () if self.sketch is None else (self.sketch,)
        return (*chosen, *(sketch for _, part in self.parts for sketch in sketches_of(part)))

    @property
    def needs_queries(self) -> bool:
        """Whether a score depends on the other documents of its query."""
        return any(needs_queries(part) for _, part in self.parts)

    def inside(self) -> tuple[Part, ...]:
        """Its parts with their weights."""
        return tuple(Part(part, weight) for weight, part in self.parts)

    def summands(self) -> tuple[Part, ...]:
        """Its parts."""
        return self.inside()

    def with_inside(self, rankers: Sequence[Scorer]) -> Blend:
        """The same weights for other rankers."""
        return replace(self, parts=tuple((weight, own) for (weight, _), own in zip(self.parts, rankers, strict=True)))

    def last_trained(self) -> Scorer:
        """Its last part: whatever was trained from a base comes after it."""
        return self.parts[-1][1]

    def trained(self) -> Trained | None:
        """How its last part was trained."""
        return trained_of(self.last_trained())

    def about(self) -> Scorer:
        """The correction that LambdaBoost has put on top of a base, or the blend itself."""
        trained = self.trained()
        on_base = [weight for weight, _ in self.parts] == [1.0, 1.0]
        return self.parts[1][1] if on_base and trained is not None and trained.learner == "LambdaBoost" else self

    def tables(self, most: int | None) -> list[Grid]:
        """The parts, each with its weight."""
        rows = tuple((str(number), f"{weight:g}", line_of(part)) for number, (weight, part) in enumerate(self.parts))
        return [Grid(("part", "weight", "ranker"), rows, align="rrl", notes=("Look into one with --part.",))]

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        parts = [{"weight": weight, **(part.facts() if isinstance(part, Fitted) else {})} for weight, part in self.parts]
        return super().facts() | {"parts": parts}

    def sizes(self) -> dict[str, int]:
        """The sizes of its parts, added up."""
        total = Counter[str]()
        for _, part in self.parts:
            total.update(part.sizes() if isinstance(part, Fitted) else {type(part).__name__.lower(): 1})
        return dict(total)

    def score(self, features: Dataset | npt.ArrayLike, qid: npt.ArrayLike | None = None) -> Floats:
        """One score a row of a Dataset, a data frame or a matrix; ``qid``: the query of each row, for parts that need it."""
        check_meaning(features, self._names(), "blend")
        total = self._part_scores(0, features, qid)
        for number in range(1, len(self.parts)):
            scores = self._part_scores(number, features, qid)
            if scores.shape != total.shape:
                raise DataError(
                    f"part {number} of the blend ({_kind(self.parts[number][1])}) gave scores of shape {scores.shape}, but "
                    f"part 0 of shape {total.shape}. Every part must give one score for each row."
                )
            total = _bounded(np.add, total, scores)
        return total

    def stored(self) -> Stored:
        """What a model file holds: every part, its arrays named with its number before them."""
        facts: list[dict[str, Any]] = []
        arrays: dict[str, npt.NDArray[Any]] = {}
        for number, (weight, part) in enumerate(self.parts):
            inside = stored_part(part, f"part {number} of the blend")
            facts.append({"weight": weight, "ranker": inside.described()})
            arrays |= {f"{number}/{name}": array for name, array in inside.arrays.items()}
        return with_sketch(Stored("blend", {"parts": facts}, arrays), self.sketch)

    @classmethod
    def from_stored(cls, stored: Stored) -> Blend:
        """The blend that a model file holds."""
        parts: list[tuple[float, Scorer]] = []
        for number, facts in enumerate(stored.fact("parts", cast("type[list[Any]]", list))):
            part: Any = cast("dict[str, Any]", facts) if isinstance(facts, dict) else {}
            weight = part.get("weight")
            if type(weight) not in (int, float):
                raise DataError(f"the weight of part {number} is {weight!r}, not a number. {DAMAGED}")
            parts.append((weight, build(stored.part(part.get("ranker"), f"{number}/"))))
        return cls(tuple(parts), stored_sketch(stored))

    def __repr__(self) -> str:
        return f"<Blend: {' + '.join(f'{weight:g} × {_kind(part)}' for weight, part in self.parts)}>"

    def _names(self) -> list[tuple[str, ...]]:
        return [names_of(part) for _, part in self.parts]

    def _part_scores(self, number: int, features: Any, qid: npt.ArrayLike | None) -> Floats:
        weight, part = self.parts[number]
        scores = part_scores(part, features, qid)
        if scores.ndim != 1 or scores.dtype.kind not in "fiub":
            raise DataError(
                f"part {number} of the blend ({_kind(part)}) gave {scores.dtype} of shape {scores.shape}. Every part must give "
                "one number for each row."
            )
        return _bounded(np.multiply, scores.astype(SCORE), np.asarray(weight))  # a weight of 1 changes no bit


def added(first: Scorer, second: Scorer) -> Blend:
    """The sum of two rankers. Blends are opened where their scores stay the same to the bit, which depends on the order."""
    ahead = first.parts if isinstance(first, Blend) else ((1.0, first),)
    sketch = first.sketch if isinstance(first, Blend) else None
    # (a + b) + c adds in the same order as a + b + c, but a + (b + c) does not.
    behind = second.parts if _opens(second) else ((1.0, second),)
    return Blend(ahead + behind, sketch)


def weighted(ranker: Scorer, weight: float) -> Blend:
    """A ranker times a number. Blends are opened where their scores stay the same to the bit."""
    if _opens(ranker) and ranker.parts[0][0] == 1.0:
        ranker = ranker.parts[0][1]
    if isinstance(ranker, Blend) and weight == 1.0:
        return ranker
    return Blend(((weight, ranker),))


def _opens(ranker: Scorer) -> TypeGuard[Blend]:
    """Whether a ranker is a blend of one part, whose weight was chosen by no queries that would be forgotten."""
    return isinstance(ranker, Blend) and len(ranker.parts) == 1 and ranker.sketch is None


def _bounded(operation: np.ufunc, first: Floats, second: Floats) -> Floats:
    """A sum or product that is infinite only where one of its two is: −inf would mean "not returned"."""
    with np.errstate(over="ignore", invalid="ignore"):  # evaluation refuses NaN, which 0 × −inf gives
        result: Floats = operation(first, second)
    overflown = np.isinf(result) & np.isfinite(first) & np.isfinite(second)
    if overflown.any():
        result[overflown] = np.copysign(np.finfo(SCORE).max, result[overflown])
    return result


def _checked(part: Any) -> tuple[float, Scorer]:
    """A weight and a ranker, as which anything may have been given."""
    try:
        weight, ranker = part
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{part!r} is no part of a blend. Give pairs of a weight and a ranker.") from error
    if not is_scorer(ranker):
        raise ArgumentError(f"{ranker!r} cannot be part of a blend. Give rankers: objects with a method score(data).")
    try:
        number = float(weight)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{weight!r} is no weight of a ranker. Give a number.") from error
    if not math.isfinite(number):
        raise ArgumentError(f"a ranker's weight is {number}. Weights must be finite.")
    return number, ranker


def _kind(part: object) -> str:
    return type(part).__name__
