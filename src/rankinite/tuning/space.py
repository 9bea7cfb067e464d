"""Space: the settings that are searched, and the values of each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

from rankinite.errors import ArgumentError, DataError, listed
from rankinite.foreign_settings.answers import as_written, foreign_names
from rankinite.learners.base import Learner
from rankinite.learners.boosting import Boosting
from rankinite.learners.descent import Descent

RATES_004 = (0.01, 0.05, 0.1, 0.3, 0.5)
LEAVES_004 = tuple(range(50, 401, 30))
NET_RATES_004 = (0.0001, 0.0003, 0.001, 0.003, 0.01)
HIDDEN_004 = tuple((units,) for units in range(10, 31, 5))
"""What paper 004 swept (§4.2); of its nets it gives the ends of the ranges."""
NAMES = ("default", "paper")


@dataclass(frozen=True)
class Choices:
    """Some values."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Range:
    """All numbers from ``low`` to ``high``, both included."""

    low: float
    high: float
    log: bool = False
    """Whether ratios matter, not differences."""
    step: float | None = None


Space = Mapping[str, "Choices | Range"]


def default_space(learner: Learner, rows: int) -> Space:
    """What practitioners sweep: larger trees and leaves where there are more rows."""
    if isinstance(learner, Boosting):
        small, large = rows < 20_000, rows > 500_000
        return {
            "rate": Range(0.02, 0.3, log=True),
            "leaves": Range(8, 32 if small else 256 if large else 128, log=True),
            "min_rows": Range(5, 50 if small else 500 if large else 200, log=True),
            "row_share": Range(0.5, 1.0),
            "node_feature_share": Range(0.3, 1.0),
            "l2": Choices((0.0, 1.0, 10.0)),
        }
    if isinstance(learner, Descent):
        return {
            "rate": Range(0.0001, 0.01, log=True),
            "hidden": Choices(((10,), (20,), (30,), (20, 10))),
            "l2": Choices((0.0, 1e-5, 1e-4, 1e-3)),
        }
    return {"rate": Range(0.05, 1.0, log=True)}


def paper_space(learner: Learner) -> Space:
    """What paper 004 swept (§4.2)."""
    if isinstance(learner, Boosting):
        return {"leaves": Choices(LEAVES_004), "rate": Choices(RATES_004), "trees": Choices((3000,))}
    if isinstance(learner, Descent):
        return {"hidden": Choices(HIDDEN_004), "rate": Choices(NET_RATES_004)}
    name = type(learner).__name__
    raise ArgumentError("has nothing for this learner", setting="space", value="paper", rule=f"The paper swept no {name}")


def space_of(given: Space | str | Path, learner: Learner, rows: int) -> Space:
    """The space of a name, of a TOML file, or as it is given; refuses what the learner cannot be set to."""
    if given == "default":
        found = default_space(learner, rows)
    elif given == "paper":
        found = paper_space(learner)
    elif isinstance(given, Mapping):
        found = {str(name): _searched(str(name), value) for name, value in cast("Mapping[Any, Any]", given).items()}
    else:
        return read_space(Path(given), learner)
    check_space(found, learner)
    return found


def read_space(path: Path, learner: Learner) -> Space:
    """The space of a TOML file: ``leaves = [15, 31, 63]`` or ``rate = {low = 0.01, high = 0.3, log = true}``."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise DataError(
            f"this space cannot be read ({problem})",
            place=path,
            value=str(path),
            rule=f"A space is {' or '.join(NAMES)}, or a TOML file",
            remedy="Write lines such as leaves = [15, 31, 63] or rate = {low = 0.01, high = 0.3, log = true}",
        ) from problem
    try:
        found = {name: _searched(name, value) for name, value in content.items()}
        check_space(found, learner)
    except ArgumentError as problem:
        raise problem.at(path) from problem
    return found


def check_space(space: Space, learner: Learner) -> None:
    """Refuse settings that the learner does not have, and values that it refuses."""
    known = [field.name for field in fields(cast("Any", learner))]
    if not space:
        raise ArgumentError("is empty", setting="space", value={}, rule=f"Settings of the learner are {listed(known, 99)}")
    for name, searched in space.items():
        if name not in known:
            if (foreign := foreign_names({name: ""}, known, type(learner).__name__, as_written)) is not None:
                raise foreign
            raise ArgumentError(
                f"has {name}, which is not a setting of {type(learner).__name__}",
                setting="space",
                value=name,
                rule=f"Settings are {listed(known, 99)}",
            )
        ends = searched.values if isinstance(searched, Choices) else (searched.low, searched.high)
        whole = is_whole(learner, name)
        for value in ends:
            with_settings(learner, {name: int(value) if whole and isinstance(value, float) else value})


def is_whole(learner: Learner, name: str) -> bool:
    """Whether a setting is a whole number."""
    return "int" in str(next(field.type for field in fields(cast("Any", learner)) if field.name == name)).split(" | ")


def with_settings(learner: Learner, settings: Mapping[str, Any]) -> Learner:
    """The learner with other settings."""
    made: Any = learner
    return type(made)(**{**{f.name: getattr(made, f.name) for f in fields(made)}, **settings})


def _searched(name: str, value: Any) -> Choices | Range:
    """What a text of the space stands for."""
    if isinstance(value, Choices | Range):
        return value
    try:
        if isinstance(value, Mapping):
            return _checked_range(Range(**cast("dict[str, Any]", dict(value))))
        if isinstance(value, Iterable) and not isinstance(value, str):
            return Choices(tuple(tuple(cast("list[Any]", one)) if isinstance(one, list) else one for one in value))
        return Choices((value,))
    except (TypeError, ValueError) as problem:
        raise ArgumentError(
            f"has values of {name} that are not understood ({problem})",
            setting="space",
            value=value,
            remedy="Give a list of values, or {low = 0.01, high = 0.3, log = true}",
        ) from problem


def _checked_range(found: Range) -> Range:
    if not found.low < found.high:
        raise ValueError(f"low={found.low} is not below high={found.high}")
    if found.log and found.low <= 0:
        raise ValueError("a logarithmic range must begin above 0")
    if found.step is not None and (found.step <= 0 or found.log):
        raise ValueError("a step must be above 0, and does not go with log")
    return found
