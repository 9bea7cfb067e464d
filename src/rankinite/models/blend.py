"""Blend: a weighted sum of rankers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.scorers import Scorer, is_scorer
from rankinite.grid import Grid
from rankinite.models.base import (
    GIVE_RANKERS,
    Fitted,
    Part,
    Trained,
    line_of,
    names_of,
    needs_queries,
    part_scores,
    response_of,
    sketches_of,
    split_scores,
    stored_part,
    trained_of,
)
from rankinite.models.explanations.contributions import Contributions, Response, Sampling, added_responses, weighted_sum
from rankinite.models.files.container import DAMAGED, Stored
from rankinite.models.files.loading import build
from rankinite.models.files.sketches import stored_sketch, with_sketch
from rankinite.models.inputs import check_meaning

ONE_SCORE = "Every part must give one number per row"


@dataclass(frozen=True, eq=False, repr=False)
class Blend(Fitted):
    """The sum of weight × score over its parts, added in order. ``0.3 * a + 0.7 * b`` makes one.

    A part is a ranker, or anything else with ``score(data)``; a blend with the latter scores but cannot be saved.
    """

    parts: tuple[tuple[float, Scorer], ...]
    """Weights and rankers."""
    sketch: QuerySketch | None = None
    """The queries that the weights were chosen by; None: by no queries, or by queries that are not known."""

    about_title = "part 1, the correction"

    def __post_init__(self) -> None:
        if not self.parts:
            raise ArgumentError(
                "has no parts", owner="Blend", setting="parts", value=self.parts, remedy="Give at least one weight and ranker"
            )
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
        return replace(self, parts=tuple((weight, new) for (weight, _), new in zip(self.parts, rankers, strict=True)))

    def last_trained(self) -> Scorer:
        """Its last part: whatever was trained from a base comes after it."""
        return self.parts[-1][1]

    def trained(self) -> Trained | None:
        """How its last part was trained."""
        return trained_of(self.last_trained())

    def about(self) -> Scorer:
        """The part that was trained as a correction of a base, or the blend itself."""
        trained = self.trained()
        on_base = [weight for weight, _ in self.parts] == [1.0, 1.0]
        return self.parts[1][1] if on_base and trained is not None and trained.correction else self

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
        """One score per row of a Dataset, a data frame or a matrix; ``qid``: the query of each row, for parts that need it."""
        check_meaning(features, self._names(), "blend")
        total = self._part_scores(0, features, qid)
        for number in range(1, len(self.parts)):
            scores = self._part_scores(number, features, qid)
            if scores.shape != total.shape:
                raise DataError(
                    f"the scores have shape {scores.shape}, but those of part 0 have shape {total.shape}",
                    place=self._place(number),
                    value=scores.shape,
                    rule=ONE_SCORE,
                )
            total = _bounded(np.add, total, scores)
        return total

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """The weighted sum over the parts."""
        return weighted_sum([(weight, split_scores(part, features, sampling)) for weight, part in self.parts])

    def response(self) -> Response | None:
        """That of the weighted sum."""
        return added_responses((weight, response_of(part)) for weight, part in self.parts)

    def stored(self) -> Stored:
        """Its content in a model file: every part, the names of whose arrays begin with its number."""
        facts: list[dict[str, Any]] = []
        arrays: dict[str, npt.NDArray[Any]] = {}
        for number, (weight, part) in enumerate(self.parts):
            inside = stored_part(part, f"part {number} of the blend")
            facts.append({"weight": weight, "ranker": inside.described()})
            arrays |= {f"{number}/{name}": array for name, array in inside.arrays.items()}
        return with_sketch(Stored("blend", {"parts": facts}, arrays), self.sketch)

    @classmethod
    def from_stored(cls, stored: Stored) -> Blend:
        """The blend of a model file."""
        parts: list[tuple[float, Scorer]] = []
        for number, facts in enumerate(stored.fact("parts", cast("type[list[Any]]", list))):
            part: Any = cast("dict[str, Any]", facts) if isinstance(facts, dict) else {}
            weight = part.get("weight")
            if type(weight) not in (int, float):
                raise DataError(
                    f"the weight {quoted(weight)} is not a number", place=f"part {number}", value=weight, remedy=DAMAGED
                )
            parts.append((weight, build(stored.part(part.get("ranker"), f"{number}/"))))
        return cls(tuple(parts), stored_sketch(stored))

    def __repr__(self) -> str:
        return f"<Blend: {' + '.join(f'{weight:g} × {_kind(part)}' for weight, part in self.parts)}>"

    def _place(self, number: int) -> str:
        return f"part {number} of the blend ({_kind(self.parts[number][1])})"

    def _names(self) -> list[tuple[str, ...]]:
        return [names_of(part) for _, part in self.parts]

    def _part_scores(self, number: int, features: Any, qid: npt.ArrayLike | None) -> Floats:
        weight, part = self.parts[number]
        scores = part_scores(part, features, qid)
        if scores.ndim != 1 or scores.dtype.kind not in "fiub":
            raise DataError(
                f"the scores are {scores.dtype} of shape {scores.shape}",
                place=self._place(number),
                value=scores.shape,
                rule=ONE_SCORE,
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
    """A weight and a ranker; refuses anything else."""
    try:
        weight, ranker = part
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{quoted(part)} is not a part of a blend", value=part, remedy="Give pairs of a weight and a ranker"
        ) from error
    if not is_scorer(ranker):
        raise ArgumentError(f"{quoted(ranker)} cannot be part of a blend", value=ranker, remedy=GIVE_RANKERS)
    try:
        number = float(weight)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{quoted(weight)} is not the weight of a ranker", value=weight, remedy="Give a number") from error
    if not math.isfinite(number):
        raise ArgumentError(f"a ranker has the weight {number}", value=number, rule="Weights must be finite")
    return number, ranker


def _kind(part: object) -> str:
    return type(part).__name__
