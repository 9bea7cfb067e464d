"""Offers: which targets take a ranker, how near its scores will be there, and why others do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from rankinite.choices import Exactness
from rankinite.errors import ArgumentError, RankiniteError
from rankinite.grid import Grid
from rankinite.models.base import Fitted, Ranker
from rankinite.serving.exporting import plan_for
from rankinite.serving.plan import ADAPT
from rankinite.serving.target import TARGETS, exactness_of, target_named


@dataclass(frozen=True)
class Offer:
    """What a target can do for a ranker."""

    target: str
    title: str
    """What the target is."""
    exactness: Exactness | None
    """How near scores will be; None: it is refused."""
    why: str = ""
    """Why it is refused, or what has to be said first."""
    remedy: str = ""
    """What to do."""


def targets(ranker: Ranker | Fitted) -> tuple[Offer, ...]:
    """Every target, with how near the ranker's scores will be there, or why it cannot be exported to it.

    >>> [offer.target for offer in targets(ranker) if offer.exactness]         # doctest: +SKIP
    """
    return tuple(offer(ranker, name) for name in TARGETS)


def offer(ranker: Ranker | Fitted, to: str) -> Offer:
    """What one target can do for a ranker."""
    target, kind = target_named(to), cast("Ranker", ranker)
    try:
        plan = plan_for(kind, target, name="model")
    except ArgumentError as problem:
        if problem.setting == "served_missing":  # a question, not a refusal
            flat = target.flattened(kind)
            return Offer(to, target.title, exactness_of(target, flat), problem.text(), "")
        return Offer(to, target.title, None, problem.problem, problem.remedy)
    except RankiniteError as problem:
        return Offer(to, target.title, None, problem.problem, problem.remedy)
    return Offer(to, target.title, exactness_of(target, plan.flat))


def refusal(ranker: Ranker | Fitted, to: str) -> RankiniteError | None:
    """Why a target cannot hold a ranker; None: it can, though some choice may have to be made first."""
    found = offer(ranker, to)
    if found.exactness is not None:
        return None
    return ArgumentError(f"Its ranker cannot be served by {to}: {found.why}", value=to, remedy=found.remedy.removesuffix(ADAPT))


def grid_of(offers: tuple[Offer, ...]) -> Grid:
    """The offers as a table."""
    rows = tuple(
        (offer.target, offer.exactness or "refused", offer.title if offer.exactness and not offer.why else offer.why)
        for offer in offers
    )
    return Grid(("target", "scores", "what it is, or why not"), rows, "lll")
