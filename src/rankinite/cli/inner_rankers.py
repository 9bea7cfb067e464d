"""Rankers inside rankers, as ``--part`` names them."""

from __future__ import annotations

from typing import Any

from rankinite.errors import ArgumentError
from rankinite.plurals import counted


def kind_of(ranker: Any) -> str:
    """The name of a ranker's kind; of one that is not ours, its class."""
    return getattr(ranker, "kind", type(ranker).__name__)


def parts_of(ranker: Any) -> list[Any]:
    """The rankers that can be chosen: those of what is scaled, for a normalised ranker."""
    inside = [part.ranker for part in ranker.inside()] if hasattr(ranker, "inside") else []
    return parts_of(inside[0]) if len(inside) == 1 and ranker.about() is inside[0] else inside


def part_of(ranker: Any, numbers: list[int], model: object) -> tuple[Any, str]:
    """The part that ``--part`` asks for, level by level, and its name."""
    name = str(model)
    for number in numbers:
        inside = parts_of(ranker)
        if not inside:
            raise ArgumentError(
                f"is not there: {name} is a {kind_of(ranker)}, which has no parts",
                setting="part",
                value=number,
                remedy="Leave it out",
            )
        if number >= len(inside):
            raise ArgumentError(
                f"is not there: {name} has {counted(len(inside), 'part')}",
                setting="part",
                value=number,
                remedy=f"Give a number from 0 to {len(inside) - 1}",
            )
        ranker, name = inside[number], f"{name}, part {number}"
    return ranker, name
