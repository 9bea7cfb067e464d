"""The ways in which ``rankinite combine`` combines rankers, and what can be said for each."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.combine.result import Combination
    from rankinite.data.dataset import Dataset
    from rankinite.rankers.base import Ranker


class Method(StrEnum):
    """The ways to combine."""

    exact = "exact"
    cyclic = "cyclic"
    average = "average"
    powell = "powell"
    stacked = "stacked"


class Form(StrEnum):
    """What a weight does."""

    sum = "sum"
    convex = "convex"


class Scale(StrEnum):
    """What scores are compared with before they are averaged."""

    all = "all"
    query = "query"
    rank = "rank"


FITTING = {
    "tree": (Method.exact,),
    "form": (Method.exact,),
    "low": (Method.exact, Method.cyclic),
    "high": (Method.exact, Method.cyclic),
    "normalise": (Method.exact, Method.cyclic),
    "smooth": (Method.exact,),
    "folds": (Method.exact,),
    "plot": (Method.exact,),
    "scale": (Method.average,),
    "hidden": (Method.stacked,),
    "seed": (Method.exact, Method.stacked),
    "valid": (Method.stacked,),
}
"""The methods that each option is for."""


@dataclass(frozen=True)
class Chosen:
    """The way to combine, and the options that were given for it."""

    method: Method
    given: dict[str, Any]

    @classmethod
    def checked(cls, method: Method, **every: Any) -> Chosen:
        """Refuses options that are not for the method, and ranges without weights."""
        given = {name: value for name, value in every.items() if value is not None}
        for name in given:
            if method not in FITTING[name]:
                known = " or ".join(FITTING[name])
                raise ArgumentError(f"--{name} is for --method {known}, not {method}. Leave it out, or choose another method.")
        chosen = cls(method, given)
        low, high = chosen.ends
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ArgumentError(
                f"--low {low:g} and --high {high:g} have no weights between them. Give finite numbers, the lower one as --low; "
                f"left out, they are 0 and {1 if chosen.convex else 5}."
            )
        return chosen

    @property
    def convex(self) -> bool:
        """Whether a weight takes from the first ranker what it gives to the second."""
        return self.given.get("form") is Form.convex

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest weight tried."""
        return self.given.get("low", 0.0), self.given.get("high", 1.0 if self.convex else 5.0)

    @property
    def normalise(self) -> bool:
        """Whether scores are divided by their standard deviation first."""
        return self.given.get("normalise", self.method in FITTING["normalise"])

    def combined(self, named: dict[str, Ranker], data: Dataset, measure: str, valid: Dataset | None) -> Combination:
        """The rankers combined."""
        from rankinite import combine

        searching: dict[str, Any] = {"range": self.ends, "normalise": self.normalise}
        match self.method:
            case Method.average:
                return combine.average(named, data, measure, scale=self.given.get("scale", Scale.all).value)
            case Method.powell:
                return combine.powell(named, data, measure)
            case Method.stacked:
                from rankinite.cli.learners import Learner, value_of

                units = value_of(Learner.lambdarank, "hidden", self.given.get("hidden", "none"))
                return combine.stacked(
                    named, data, measure, hidden=units, valid=valid, seed=self.given.get("seed", 0), allow_overlap=True
                )
            case Method.cyclic:
                return combine.cyclic(named, data, measure, **searching)
            case Method.exact:
                searching |= {name: self.given[name] for name in ("smooth", "folds", "seed") if name in self.given}
                searching["form"] = "convex" if self.convex else "sum"
                if "tree" not in self.given and len(named) > 2:
                    return combine.greedy(named, data, measure, **searching)
                tree = _tree(self.given["tree"], list(named)) if "tree" in self.given else (1, 2)
                first, second = combine.nested_by_number(list(named.values()), tree)
                names = [list(named)[number - 1] for number in _numbers(tree)]
                return combine.exact(first, second, data, measure, names=names, **searching)

    def formula(self, found: Combination) -> str:
        """What α does to two rankers."""
        first, second = (name if len(name) <= 30 else f"…{name[-29:]}" for name in found.names)
        return f"(1 − α) · {first} + α · {second}" if self.convex else f"{first} + α · {second}"

    def notes(self, found: Combination) -> tuple[str, ...]:
        """What there is to say of the weights, below their table."""
        notes = list(found.grid().notes)
        if found.alpha is not None:
            low, high = self.ends
            notes.append(f"{self.formula(found)}: α = {found.alpha:.6g}, of {low:g} to {high:g}")
        if self.normalise:
            notes.append("α is for scores divided by their standard deviation, a weight for scores as they are.")
        elif self.method is Method.average:
            notes.append("Weights are those of the scaled scores.")
        elif not found.weights:
            notes.append("A net combines the scores: no ranker has one weight.")
        return tuple(notes)

    def drawn(self, found: Combination) -> Axes:
        """The curve, with the names of the rankers."""
        axes = found.plot()
        axes.set_title(f"{found.measure} of {self.formula(found)}".replace("$", r"\$"))  # dollars would begin a formula
        axes.set_xlabel("α, for scores divided by their standard deviation" if self.normalise else "α")
        return axes


def _tree(text: str, names: list[str]) -> Any:
    """Nested pairs of numbers, in which every ranker stands once."""
    try:
        tree = ast.literal_eval(text)
        numbers = _numbers(tree)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ArgumentError(f"--tree {text}: write nested pairs of numbers, such as '((1,3),2)'.") from error
    for number in numbers:
        if not 1 <= number <= len(names):
            raise ArgumentError(f"--tree {text}: there is no ranker {number}. They are counted from 1 to {len(names)}.")
        if numbers.count(number) > 1:
            raise ArgumentError(f"--tree {text}: ranker {number} stands there twice. Give each one place.")
    for number, name in enumerate(names, 1):
        if number not in numbers:
            raise ArgumentError(f"--tree {text}: ranker {number}, {name}, is not in it. Add it, or do not give that ranker.")
    return tree


def _numbers(tree: Any) -> list[int]:
    """The numbers in nested pairs, from left to right."""
    first, second = tree
    if not isinstance(tree, tuple):
        raise TypeError
    return [number for side in (first, second) for number in ([side] if type(side) is int else _numbers(side))]
