"""Normalised: a ranker's scores on a scale that other rankers share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from rankinite.checks import check_choice
from rankinite.choices import Scale, ScoreScale
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.engine.kernel import SCORE, Floats, Indices
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.scorers import Scorer, is_scorer, scores_of
from rankinite.gradients.pointwise import probability
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
from rankinite.models.files.container import Stored
from rankinite.models.files.loading import build
from rankinite.models.query_scores import grouped

SCALES: dict[ScoreScale, str] = {
    "all": "to (score − centre) / spread",
    "query": "to mean 0 and variance 1 within every query",
    "rank": "by order within every query, from 1 (first) to 0 (last)",
    "probability": "to the probability that the score stands for",
    "peak": "to max (1 + score − max), with the highest score of the query",
}
"""What normalising does to scores."""
SHIFTED = ("all", "probability")
"""Scales that take ``centre`` from a score and divide it by ``spread``; the others compare the scores of a query."""
LARGEST = float(np.finfo(SCORE).max)


@dataclass(frozen=True, eq=False, repr=False)
class Normalised(Fitted):
    """Another ranker's scores, scaled so that they can be added to those of others.

    - ``all``: (score − centre) / spread, with numbers that :func:`rankinite.combine.average` takes from data;
    - ``query``: mean 0 and variance 1 within every query; 0 where all scores of a query are equal;
    - ``rank``: 1 for the first document of a query, 0 for the last, evenly spaced; tied ones share the mean of their ranks;
    - ``probability``: 1/(1 + exp(−2 (score − centre) / spread)), of a logistic loss whose σ is 1/spread;
    - ``peak``: max (1 + score − max) with the highest score of the query, for scores that are probabilities: documents far
      below it differ less where that is low (paper 004 §4.2).

    ``query``, ``rank`` and ``peak`` need to know the query: they score a Dataset, or a matrix with ``qid=``.
    """

    ranker: Scorer
    """Whose scores."""
    scale: ScoreScale = "query"
    """What they are compared with."""
    centre: float = 0.0
    """Taken from every score first; ``all`` and ``probability`` only."""
    spread: float = 1.0
    """What it is then divided by; ``all`` and ``probability`` only."""

    about_title = "the ranker whose scores they are"

    def __post_init__(self) -> None:
        if not is_scorer(self.ranker):
            raise ArgumentError(f"{quoted(self.ranker)} cannot be normalised", value=self.ranker, remedy=GIVE_RANKERS)
        check_choice("Normalised", "scale", self.scale, get_args(ScoreScale))
        for name in ("centre", "spread"):
            number: Any = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
                raise ArgumentError("must be a finite number", owner="Normalised", setting=name, value=number)
            object.__setattr__(self, name, float(number))
        if self.spread <= 0.0:
            raise ArgumentError("must be above 0", owner="Normalised", setting="spread", value=self.spread)

    def __repr__(self) -> str:
        return f"<Normalised by {self.scale}: {self.ranker!r}>"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features its ranker needs."""
        return names_of(self.ranker)

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries its ranker was trained on."""
        return sketches_of(self.ranker)

    @property
    def needs_queries(self) -> bool:
        """Whether a score depends on the other documents of its query."""
        return self.scale not in SHIFTED or needs_queries(self.ranker)

    def inside(self) -> tuple[Part, ...]:
        """The ranker whose scores are scaled."""
        return (Part(self.ranker),)

    def summands(self) -> tuple[Part, ...]:
        """Its ranker, where all scores are divided by one number."""
        return (Part(self.ranker, 1.0 / self.spread),) if self.scale == "all" else super().summands()

    def with_inside(self, rankers: Sequence[Scorer]) -> Normalised:
        """The same for the scores of another ranker."""
        return replace(self, ranker=rankers[0])

    def about(self) -> Scorer:
        """Its ranker."""
        return self.ranker

    @property
    def kind(self) -> str:
        """What it is called in a sentence."""
        return "normalised ranker"

    def line(self) -> str:
        """The ranker in one line."""
        return f"{line_of(self.ranker)}; scaled by {self.scale}"

    def summary(self) -> list[tuple[str, str]]:
        """How scores are scaled, and whose."""
        numbers = [("centre", f"{self.centre:g}"), ("spread", f"{self.spread:g}")] if self.scale in SHIFTED else []
        return [("scores of", line_of(self.ranker)), ("scaled", SCALES[self.scale]), *numbers]

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        numbers = {"centre": self.centre, "spread": self.spread} if self.scale in SHIFTED else {}
        inner = self.ranker.facts() if isinstance(self.ranker, Fitted) else {}
        return super().facts() | {"scale": self.scale, **numbers, "ranker": inner}

    def sizes(self) -> dict[str, int]:
        """How large its ranker is."""
        return self.ranker.sizes() if isinstance(self.ranker, Fitted) else super().sizes()

    def score(self, features: Dataset | npt.ArrayLike, qid: npt.ArrayLike | None = None) -> Floats:
        """One score per row; ``qid``: the query of each row, where the features come without queries."""
        scores = part_scores(self.ranker, features, qid).astype(SCORE)
        if self.scale in SHIFTED:
            with np.errstate(over="ignore"):  # beyond all floats is the largest of them: −inf would mean "not returned"
                scaled = np.clip((scores - self.centre) / self.spread, -LARGEST, LARGEST)
            return scaled if self.scale == "all" else probability(scaled, 1.0)
        order, starts = grouped(scores, features, qid)
        result = np.empty_like(scores)
        result[order] = _WITHIN[self.scale](scores[order], starts)
        return result

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """Those of its ranker, divided by the spread; refuses scales that are no multiples of its scores."""
        if self.scale != "all":
            raise not_split(
                f"a ranker scaled by {self.scale}",
                "They are no sums of what features add"
                if self.scale == "probability"
                else "They depend on the other documents of the query",
                "Explain the ranker inside it (its `.ranker`), which puts the documents of a query in the same order",
            )
        inside = split_scores(self.ranker, features, sampling)
        return weighted_sum([(1.0 / self.spread, inside)], -self.centre / self.spread)

    def response(self) -> Response | None:
        """That of its ranker, divided by the spread."""
        return added_responses([(1.0 / self.spread, response_of(self.ranker))])

    def stored(self) -> Stored:
        """Its content in a model file."""
        inside = stored_part(self.ranker, "the ranker that is normalised")
        facts = {"scale": self.scale, "centre": self.centre, "spread": self.spread, "ranker": inside.described()}
        return Stored("normalised", facts, {f"0/{name}": array for name, array in inside.arrays.items()})

    @classmethod
    def from_stored(cls, stored: Stored) -> Normalised:
        """The ranker of a model file."""
        scale: Any = stored.fact("scale", str)
        inside: Any = build(stored.part(stored.facts.get("ranker"), "0/"))
        return cls(inside, scale, stored.fact("centre", float), stored.fact("spread", float))


def fit_normalised(ranker: Scorer, data: Dataset, scale: Scale, name: str) -> Normalised:
    """The ranker on the scale asked for; for ``all``, scores on these data get mean 0 and variance 1."""
    if scale != "all":
        return Normalised(ranker, scale)
    scores = np.sort(scores_of(ranker, data, name))  # sums must not depend on the order of the rows
    centre, spread = centre_and_spread(scores, f"{name} on {data.source}")
    if spread == 0.0:
        raise DataError(
            f"all {len(scores)} scores on {data.source} are {scores[0]:g}, so that there is nothing to scale",
            place=name,
            value=float(scores[0]),
            remedy="Leave this ranker out",
        )
    return Normalised(ranker, "all", centre, spread)


def centre_and_spread(scores: Floats, place: str) -> tuple[float, float]:
    """Mean and standard deviation of sorted scores; refuses scores that have none."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre = float(scores.mean())
        spread = float(np.sqrt(np.mean((scores - centre) ** 2)))
    if not math.isfinite(spread):
        raise DataError(
            f"scores run from {scores[0]:g} to {scores[-1]:g}, which cannot be put on a scale",
            place=place,
            value=(float(scores[0]), float(scores[-1])),
            rule="A feature ranks missing values below all others",
            remedy="Fill them in, or leave this ranker out",
        )
    return centre, spread


def _standard(scores: Floats, starts: Indices) -> Floats:
    sizes = np.diff(np.append(starts, len(scores)))
    largest = np.maximum(np.abs(scores[starts]), np.abs(scores[starts + sizes - 1]))
    scores = np.ldexp(scores, -np.repeat(np.frexp(largest)[1], sizes))  # by powers of two: squares of huge ones would overflow
    away = scores - np.repeat(np.add.reduceat(scores, starts) / sizes, sizes)
    spread = np.sqrt(np.repeat(np.add.reduceat(away * away, starts) / sizes, sizes))
    equal = np.repeat(scores[starts] == scores[starts + sizes - 1], sizes)
    return np.divide(away, spread, out=np.zeros_like(away), where=~equal & (spread > 0.0))


def _places(scores: Floats, starts: Indices) -> Floats:
    sizes = np.diff(np.append(starts, len(scores)))
    place = np.arange(len(scores)) - np.repeat(starts, sizes)
    new = np.append(True, scores[1:] != scores[:-1])
    new[starts] = True
    blocks = np.flatnonzero(new)
    lengths = np.diff(np.append(blocks, len(scores)))
    mean = np.repeat(place[blocks] + (lengths - 1) / 2, lengths)
    return mean / np.maximum(np.repeat(sizes, sizes) - 1, 1)


def _peak(scores: Floats, starts: Indices) -> Floats:
    sizes = np.diff(np.append(starts, len(scores)))
    highest = np.repeat(scores[starts + sizes - 1], sizes)
    return highest * (1.0 + scores - highest)


_WITHIN = {"query": _standard, "rank": _places, "peak": _peak}
"""Scales that compare the scores of a query, which come by rising score."""
