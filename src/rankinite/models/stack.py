"""Stack: a ranker over the scores of other rankers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.scorers import Scorer, is_scorer
from rankinite.grid import Grid
from rankinite.models.base import (
    GIVE_RANKERS,
    Fitted,
    Part,
    line_of,
    names_of,
    needs_queries,
    part_scores,
    response_of,
    sketches_of,
    split_scores,
    stored_part,
)
from rankinite.models.explanations.contributions import (
    Contributions,
    Response,
    Sampling,
    added_responses,
    not_split,
    weighted_sum,
)
from rankinite.models.files.container import DAMAGED, Stored
from rankinite.models.files.loading import build
from rankinite.models.files.sketches import stored_sketch, with_sketch
from rankinite.models.inputs import check_meaning
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.plurals import counted


@dataclass(frozen=True, eq=False, repr=False)
class Stack(Fitted):
    """A net whose features are the scores of rankers."""

    parts: tuple[Scorer, ...]
    """The rankers, in the order of the net's features."""
    top: Net | Linear
    """What turns their scores into one."""
    sketch: QuerySketch | None = None
    """The queries that ``top`` was trained on; None: that is not known."""

    about_title = "on top of the parts' scores"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        top: Any = self.top
        if not isinstance(top, Net | Linear) or len(top.feature_names) != len(self.parts):
            raise ArgumentError(
                f"does not fit a stack of {counted(len(self.parts), 'ranker')}",
                owner="Stack",
                setting="top",
                value=top,
                remedy="Give a Net or a Linear ranker with one feature per ranker",
            )
        for part in self.parts:
            if not is_scorer(part):
                raise ArgumentError(f"{quoted(part)} cannot be stacked", value=part, remedy=GIVE_RANKERS)

    def __repr__(self) -> str:
        return f"<Stack: {self.top!r} over {', '.join(type(part).__name__ for part in self.parts)}>"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that any part needs."""
        return tuple(dict.fromkeys(name for part in self.parts for name in names_of(part)))

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries the parts were trained on, and the net over them."""
        return (self.sketch, *(sketch for part in self.parts for sketch in sketches_of(part)))

    @property
    def needs_queries(self) -> bool:
        """Whether a score depends on the other documents of its query."""
        return any(needs_queries(part) for part in self.parts)

    def inside(self) -> tuple[Part, ...]:
        """The rankers below the net."""
        return tuple(map(Part, self.parts))

    def with_inside(self, rankers: Sequence[Scorer]) -> Stack:
        """The same net over other rankers."""
        return replace(self, parts=tuple(rankers))

    def about(self) -> Net | Linear:
        """The net."""
        return self.top

    def line(self) -> str:
        """The stack in one line."""
        return f"Stack of {', '.join(type(part).__name__ for part in self.parts)} below {self.top.line()}"

    def summary(self) -> list[tuple[str, str]]:
        """What is on top."""
        return [("top", self.top.line())]

    def tables(self, most: int | None) -> list[Grid]:
        """The rankers below the net."""
        rows = tuple((str(number), line_of(part)) for number, part in enumerate(self.parts))
        return [Grid(("part", "ranker"), rows, "rl", notes=("Look into one with --part.",))]

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        parts = [part.facts() if isinstance(part, Fitted) else {} for part in self.parts]
        return super().facts() | {"top": self.top.facts(), "parts": parts}

    def score(self, features: Dataset | npt.ArrayLike, qid: npt.ArrayLike | None = None) -> Floats:
        """One score per row of a Dataset, a data frame or a matrix; ``qid``: the query of each row, for parts that need it."""
        check_meaning(features, map(names_of, self.parts), "stack")
        return self.top.score(np.column_stack([part_scores(part, features, qid) for part in self.parts]))

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """The weighted sum over the parts; refuses a net on top, which mixes their scores."""
        top = self.top
        if not isinstance(top, Linear):
            raise not_split("a stack below a net", "The net mixes the scores of its parts")
        parts = [split_scores(part, features, sampling) for part in self.parts]
        shift = top.bias - float(np.sum(top.weights * top.centre_of_features))
        return weighted_sum(list(zip(top.weights.tolist(), parts, strict=True)), shift)

    def response(self) -> Response | None:
        """That of the weighted sum."""
        weights = self.top.weights.tolist()
        return added_responses((weight, response_of(part)) for weight, part in zip(weights, self.parts, strict=True))

    def stored(self) -> Stored:
        """Its content in a model file: the net, then the rankers, the names of whose arrays begin with their number."""
        facts: list[dict[str, Any]] = []
        arrays: dict[str, npt.NDArray[Any]] = {}
        for number, part in enumerate((self.top, *self.parts)):
            inside = stored_part(part, f"part {number - 1} of the stack")
            facts.append(inside.described())
            arrays |= {f"{number}/{name}": array for name, array in inside.arrays.items()}
        return with_sketch(Stored("stack", {"top": facts[0], "parts": facts[1:]}, arrays), self.sketch)

    @classmethod
    def from_stored(cls, stored: Stored) -> Stack:
        """The stack of a model file."""
        top: Any = build(stored.part(stored.facts.get("top"), "0/"))
        if not isinstance(top, Net | Linear):
            kind = type(top).__name__
            raise DataError(
                f"the top of the stack is a {kind}",
                place="top",
                value=kind,
                rule="It must be a net or a linear ranker",
                remedy=DAMAGED,
            )
        described = stored.fact("parts", cast("type[list[Any]]", list))
        parts = tuple(build(stored.part(facts, f"{number}/")) for number, facts in enumerate(described, 1))
        return cls(parts, top, stored_sketch(stored))
