"""Decisions of one export: what missing values count as, what is added to scores, which version is meant."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast, get_args

import numpy as np

from rankinite.choices import ServedMissing
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.models.forest import Forest
from rankinite.models.history import MISSING_VALUES
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, Probability, Term, leaves_of
from rankinite.serving.plan import lowest_leaves, tells_missing_from_zero, zero_directions
from rankinite.serving.target import Target


def version_of(target: Target, text: str | None) -> tuple[int, ...]:
    """The version as numbers; empty where none was given."""
    if text is None:
        return ()
    if not target.versions:
        raise ArgumentError(
            f"is not for {target.name}, whose files are the same for all versions",
            setting="engine_version",
            value=text,
            remedy="Leave it out",
        )
    if not re.fullmatch(r"\d{1,4}(\.\d{1,6}){0,3}", text):
        raise ArgumentError(
            "is not a version", setting="engine_version", value=text, remedy=f"Give numbers and points: {target.versions}"
        )
    version = tuple(map(int, text.split(".")))
    target.check_version(version)
    return version


def missing_decided(target: Target, version: tuple[int, ...], flat: Flat, asked: Any) -> ServedMissing:
    """What a missing value will count as: what was asked for, or the only thing that cannot surprise."""
    rules = target.missing_rules(version)
    if asked is not None:
        if asked not in get_args(ServedMissing):
            raise ArgumentError("is unknown", setting="served_missing", value=asked, remedy="Give nan or zero")
        if asked not in rules:
            raise ArgumentError(
                f"cannot be had from {target.name}{_in_version(version)}",
                setting="served_missing",
                value=asked,
                rule=f"A missing value counts as {' or '.join(sorted(rules))} there",
                remedy=f"Give {' or '.join(sorted(rules))}, or another target",
            )
        return asked
    trained = _trained_with_missing(flat)
    if target.is_engine and trained is False and "zero" in rules:
        return "zero"  # the model never saw a missing value; engines have one for every document without a field
    if "nan" in rules:
        return "nan"
    if trained is False or not any(map(_tells_missing, leaves_of(flat))):
        return "zero"
    raise ArgumentError(
        f"must be given: {target.name}{_in_version(version)} takes a missing value for 0, and the model tells them apart",
        setting="served_missing",
        value=None,
        rule="The model may have been trained on data with missing values",
        remedy="Give `served_missing='zero'` if it is to count as 0, or choose another target",
    )


def _tells_missing(leaf: object) -> bool:
    """Whether a missing value may score otherwise than 0 does."""
    if isinstance(leaf, Linear | Net):
        return leaf.nan == "mean" and bool(leaf.frame.centre.any())
    return isinstance(leaf, Forest) and tells_missing_from_zero(leaf)


def _in_version(version: tuple[int, ...]) -> str:
    return f" {'.'.join(map(str, version))}" if version else ""


def _trained_with_missing(flat: Flat) -> bool | None:
    """Whether training data had missing values; None: that is not known."""
    known = [answer for leaf in leaves_of(flat) for answer in _answers(leaf)]
    if any(known):
        return True
    return None if None in known else False


def _answers(leaf: object) -> Iterator[bool | None]:
    if isinstance(leaf, Linear | Net):
        yield leaf.nan == "mean"
    if isinstance(leaf, Forest):
        settings: Any = leaf.settings
        while isinstance(settings, Mapping):  # training that went on from another forest keeps its settings
            yield cast("dict[str, Any]", settings).get(MISSING_VALUES)
            settings = cast("dict[str, Any]", settings).get("base")


def shift_decided(target: Target, flat: Flat, asked: Any) -> float:
    """What is added to every score: nothing, a number, or enough that none is below 0."""
    if asked == "none" or (asked is None and (not target.shifts or flat.forest is None)):
        return 0.0
    if asked not in {None, "auto"}:
        return _number(asked)
    if flat.forest is None:
        raise ArgumentError(
            "cannot be found, because the ranker is no forest and has no lowest score",
            setting="shift",
            value=asked,
            remedy="Give a number, or none",
        )
    return _lift(lowest_leaves(flat.forest))


def _lift(lowest: Floats) -> float:
    """Enough that no sum of numbers from these on is below 0, even where every addition rounds down in float32."""
    if lowest.min() >= 0.0:
        return 0.0  # numbers from 0 on never add up to less
    rounding = (len(lowest) + 2) * 2.0**-23 * (1.0 + float(np.abs(lowest).sum()))
    return max(0.0, float(np.ceil(rounding - lowest.sum())))  # a whole number rounds no leaf needlessly


def _number(asked: Any) -> float:
    try:
        number = float(asked)
    except (TypeError, ValueError) as error:
        raise ArgumentError("is not understood", setting="shift", value=asked, remedy="Give auto, none or a number") from error
    if not math.isfinite(number):
        raise ArgumentError("must be finite", setting="shift", value=asked, remedy="Give auto, none or a number")
    return number


def decided(flat: Flat, missing: ServedMissing, shift: float) -> Flat:
    """The sum with these decisions in it: the directions of missing values, and the shift in the start."""
    terms = flat.terms if missing == "nan" else _with_zeros(flat).terms
    if shift == 0.0:
        return replace(flat, terms=terms)
    forest = terms[0].leaf
    if flat.forest is not None and isinstance(forest, Forest):
        return replace(flat, terms=(Term(1.0, replace(forest, start=forest.start + shift)),))
    return replace(flat, terms=terms, start=flat.start + shift)


def _with_zeros(flat: Flat) -> Flat:
    """The sum with every missing value sent where 0 goes, by all its trees."""
    return replace(flat, terms=tuple(Term(term.weight, _leaf_with_zeros(term.leaf)) for term in flat.terms))


def _leaf_with_zeros(leaf: Leaf) -> Leaf:
    if isinstance(leaf, Forest):
        return zero_directions(leaf)
    if isinstance(leaf, Probability):
        return Probability(_with_zeros(leaf.inner))
    return NetOfSums(tuple(map(_with_zeros, leaf.inputs)), leaf.top) if isinstance(leaf, NetOfSums) else leaf
