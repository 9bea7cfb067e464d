"""Rankers inside rankers: which one is meant, and what it is called."""

from __future__ import annotations

from typing import Any

from rankinite.errors import ArgumentError

KINDS = {"Linear": "linear ranker", "Normalised": "normalised ranker"}
"""How a kind of ranker is called where that is not the name of its class."""


def kind_of(ranker: object) -> str:
    """What a ranker is."""
    return KINDS.get(type(ranker).__name__, type(ranker).__name__.lower())


def described(part: Any) -> str:
    """A ranker in a line."""
    match type(part).__name__:
        case "Feature":
            return str(part)
        case "Normalised":
            return f"{described(part.ranker)}; scaled by {part.scale}"
        case "Stack":
            return f"Stack of {', '.join(type(inside).__name__ for inside in part.parts)} below {described(part.top)}"
        case _:
            return repr(part).strip("<>")


def feature_ranked_by(ranker: Any) -> str:
    """The feature of a ranker that is one feature, by name or by position, and which of its values come first."""
    which = f"named {ranker.feature!r}" if isinstance(ranker.feature, str) else f"at position {ranker.feature}, counted from 0"
    return f"the feature {which}; {'small' if ranker.ascending else 'large'} values first"


def trained(ranker: Any) -> Any:
    """The ranker whose trees or weights are meant: what normalised scores come from, the top of a stack, a correction."""
    match type(ranker).__name__:
        case "Normalised":
            return trained(ranker.ranker)
        case "Stack":
            return ranker.top
        case "Blend":
            return correction(ranker) or ranker
        case _:
            return ranker


def correction(ranker: Any) -> Any:
    """The weights that LambdaBoost has put on top of a base; None for anything else."""
    if type(ranker).__name__ != "Blend" or [weight for weight, _ in ranker.parts] != [1.0, 1.0]:
        return None
    last = ranker.parts[1][1]
    return last if type(last).__name__ == "Linear" and last.settings.get("learner") == "LambdaBoost" else None


def parts_of(ranker: Any) -> list[Any]:
    """The rankers that a ranker is made of."""
    match type(ranker).__name__:
        case "Normalised":
            return parts_of(ranker.ranker)
        case "Blend":
            return [part for _, part in ranker.parts]
        case "Stack":
            return list(ranker.parts)
        case _:
            return []


def part_of(ranker: Any, numbers: list[int], model: object) -> tuple[Any, str]:
    """The part of a part … that is asked for, and how it is called."""
    way = str(model)
    for number in numbers:
        inside = parts_of(ranker)
        if not inside:
            raise ArgumentError(f"--part {number}: {way} is a {kind_of(ranker)}, which has no parts. Leave it out.")
        if number >= len(inside):
            raise ArgumentError(f"--part {number}: {way} has {len(inside)} parts, counted from 0.")
        ranker, way = inside[number], f"{way}, part {number}"
    return ranker, way
