"""CutoffMeasure: what measures with a cutoff share, as fields, checks, text and the way to their values.

A measure of relevance 0 or 1 is a :class:`rankinite.measures.binary.BinaryMeasure`, which adds the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np

from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import MeasureError, quoted
from rankinite.measures.base import PartedMeasure, expected_values
from rankinite.measures.ranking import Ranking
from rankinite.measures.spelling import LARGEST_CUTOFF, spell

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class CutoffMeasure:
    """A measure that looks at the first ``cutoff`` ranks; a subclass has a ``name`` and the members of a PartedMeasure."""

    cutoff: int | None = None

    name: ClassVar[str]
    higher_is_better = True
    pooled = False

    def __post_init__(self) -> None:
        check_cutoff(self.name, self.cutoff)

    def __str__(self) -> str:
        return spell(self)

    def per_query(self: PartedMeasure, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        return expected_values(self, ranking)


def check_given(name: str, cutoff: int | None) -> None:
    """Refuse to go without a cutoff."""
    if cutoff is None:
        raise MeasureError(
            "there is no cutoff, and without one it would say nothing", place=name, remedy=f"Give one, as in {name}@10"
        )


def check_cutoff(name: str, cutoff: object) -> None:
    """Refuse a cutoff that is not a number of ranks."""
    sound = isinstance(cutoff, int) and not isinstance(cutoff, bool) and 1 <= cutoff <= LARGEST_CUTOFF
    if cutoff is not None and not sound:
        raise MeasureError(
            f"the cutoff {quoted(cutoff)} is not a number of ranks",
            place=name,
            value=cutoff,
            rule=f"A cutoff is a whole number from 1 on, of {len(str(LARGEST_CUTOFF))} digits at most",
            remedy="Leave it out for the whole ranking",
        )


def check_word(name: str, setting: str, word: object, known: Sequence[str]) -> None:
    """Refuse a word that is not among those a setting knows."""
    if word not in known:
        raise MeasureError(
            f"{setting}={quoted(word)} is unknown",
            place=name,
            value=word,
            rule=f"Known are {', '.join(known)}",
            remedy=f"Write for example {name}:{setting}={known[0]}",
        )


def widened(measure: M, times: int) -> M:
    """The same measure over so many times as many ranks; itself where it looks at all."""
    if not isinstance(measure, CutoffMeasure) or measure.cutoff is None:
        return measure
    return replace(measure, cutoff=min(measure.cutoff * times, LARGEST_CUTOFF))


def ranks_up_to(cutoff: int | None, ranks: int) -> int:
    """How many of ``ranks`` ranks a measure with this cutoff looks at."""
    return ranks if cutoff is None else min(cutoff, ranks)


def per_returned(found: Floats, cutoff: int | None, ranking: Ranking) -> Floats:
    """Numbers of documents as shares of those that are returned, up to the cutoff."""
    return found / np.clip(ranking.returned, 1, max(ranking.longest, 1) if cutoff is None else cutoff)


def reciprocal_ranks(cutoff: int | None, ranks: int) -> Floats:
    """1, 1/2, 1/3, … up to the cutoff."""
    return 1.0 / np.arange(1, ranks_up_to(cutoff, ranks) + 1, dtype=SCORE)
