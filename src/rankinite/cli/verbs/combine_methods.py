"""The methods of ``rankinite combine``, and the options for each."""

from __future__ import annotations

import ast
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rankinite.cli.ranker_arguments import path_of
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.combine.combination import Combination
    from rankinite.combine.exact_weights import SearchSettings
    from rankinite.data.dataset import Dataset
    from rankinite.models.base import Ranker


CombineMethod: TypeAlias = Literal["exact", "cyclic", "average", "powell", "stacked"]
"""A method of ``rankinite.combine``."""
FITTING: dict[str, tuple[CombineMethod, ...]] = {
    "tree": ("exact",),
    "form": ("exact",),
    "low": ("exact", "cyclic"),
    "high": ("exact", "cyclic"),
    "normalise": ("exact", "cyclic"),
    "smooth": ("exact",),
    "folds": ("exact",),
    "plot": ("exact",),
    "scale": ("average",),
    "hidden": ("stacked",),
    "seed": ("exact", "stacked"),
    "valid": ("stacked",),
}
"""The methods that each option is for."""


@dataclass(frozen=True)
class Chosen:
    """The method that was chosen, and the options that were given for it."""

    method: CombineMethod
    options: dict[str, Any]
    """By name, without those that were not given."""

    @classmethod
    def checked(cls, method: CombineMethod, **every: Any) -> Chosen:
        """Refuses options that are not for the method, and ranges without weights."""
        options = {name: value for name, value in every.items() if value is not None}
        for name, value in options.items():
            if method not in FITTING[name]:
                raise ArgumentError(
                    f"is for --method {' or '.join(FITTING[name])}, not {method}",
                    setting=name,
                    value=[str(path) for path in value] if isinstance(value, list) else value,
                    remedy="Leave it out, or choose another method",
                )
        chosen = cls(method, options)
        low, high = chosen.range or (0.0, 1.0)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ArgumentError(
                f"and `high={high!r}` have no weights between them",
                setting="low",
                value=low,
                rule=f"Both must be finite, `low` below `high`; one that is left out is 0 or {1 if chosen.convex else 5}",
                remedy="Leave out both to try every ratio",
            )
        return chosen

    @property
    def convex(self) -> bool:
        """Whether a weight takes from the first ranker what it gives to the second."""
        return self.options.get("form") == "convex"

    @property
    def range(self) -> tuple[float, float] | None:
        """The lowest and the highest weight tried, where one of them was given."""
        if "low" not in self.options and "high" not in self.options:
            return None
        return self.options.get("low", 0.0), self.options.get("high", 1.0 if self.convex else 5.0)

    def settings(self) -> dict[str, Any]:
        """The settings of the search for exact weights that were given: Python has the defaults of the others."""
        chosen = {name: self.options[name] for name in ("normalise", "smooth", "folds", "seed") if name in self.options}
        if self.range is not None:
            chosen["range"] = self.range
        if "form" in self.options:
            chosen["form"] = self.options["form"]
        return chosen

    def combined(self, named: dict[str, Ranker | Path], data: Dataset, measure: str, valid: Dataset | None) -> Combination:
        """The rankers combined."""
        from rankinite import combine

        match self.method:
            case "average":
                return combine.average(named, data, measure, scale=self.options.get("scale", "all"))
            case "powell":
                return combine.powell(named, data, measure)
            case "stacked":
                from rankinite.cli.learner_options import LearnerName, value_of

                units = value_of(LearnerName("lambdarank"), "hidden", self.options.get("hidden", "none"))
                inside = dict(zip(short_names(named), named.values(), strict=True))
                found = combine.stacked(
                    inside, data, measure, hidden=units, valid=valid, seed=self.options.get("seed", 0), allow_overlap=True
                )
                return replace(found, names=tuple(named))
            case "cyclic":
                return combine.cyclic(named, data, measure, **self.settings())
            case "exact":
                if "tree" not in self.options and len(named) > 2:
                    return combine.greedy(named, data, measure, **self.settings())
                tree = _tree(self.options["tree"], list(named)) if "tree" in self.options else (1, 2)
                first, second = combine.nested_by_number(list(named.values()), tree)
                names = [list(named)[number - 1] for number in _numbers(tree)]
                return combine.exact(first, second, data, measure, names=names, **self.settings())

    def formula(self, found: Combination, most: int = 30) -> str:
        """What α does to two rankers, each named by ``most`` letters."""
        from rankinite.drawing import short

        first, second = (short(name, most) for name in found.names)
        return f"(1 − α) · {first} + α · {second}" if self.convex else f"{first} + α · {second}"

    def notes(self, found: Combination) -> tuple[str, ...]:
        """Notes on the weights, below their table."""
        notes = list(found.grid().notes)
        if self.method in FITTING["normalise"]:
            notes += self._search_notes(found)
        elif self.method == "average":
            notes.append("Weights are those of the scaled scores.")
        elif not found.weights:
            notes.append("A net combines the scores: no ranker has one weight.")
        return tuple(notes)

    def _search_notes(self, found: Combination) -> Iterator[str]:
        from rankinite.sweep.ratios import alpha_text

        search = self._search()
        if found.alpha is not None:
            low, high = map(alpha_text, search.ends)
            yield f"{self.formula(found)}: α = {alpha_text(found.alpha)}, of {low} to {high}"
        if search.normalised:
            yield "α is for scores divided by their standard deviation, a weight for scores as they are."
        elif search.range is not None:
            yield "α is for scores as they are; --normalise divides them by their standard deviation first."

    def drawn(self, found: Combination) -> Axes:
        """The curve, with the names of the rankers."""
        from rankinite.drawing import LONGEST, literal, short

        axes = found.plot()
        axes.set_title(literal(self.formula(found, LONGEST)))
        search = self._search()
        if search.range is None:
            axes.set_xlabel(literal(f"share of {short(found.names[1])}, of scores divided by their standard deviation"))
        else:
            axes.set_xlabel("α, for scores divided by their standard deviation" if search.normalised else "α")
        return axes

    def _search(self) -> SearchSettings:
        from rankinite.combine.exact_weights import SearchSettings

        return SearchSettings(**self.settings())


def short_names(specs: Iterable[str]) -> list[str]:
    """The names of rankers in a model file: those they were given, else their files' without folders; all different.

    A model that is passed on should not show where files were on the machine that made it.
    """
    names: list[str] = []
    for spec in specs:
        path = path_of(spec, Path.cwd())[1]
        short = path.stem if path is not None and (path.is_file() or os.sep in spec) else spec
        again = (f"{short}-{number}" for number in count(2))
        names.append(short if short not in names else next(name for name in again if name not in names))
    return names


def _tree(text: str, names: list[str]) -> Any:
    """Nested pairs of numbers, with every ranker once."""
    try:
        tree = ast.literal_eval(text)
        numbers = _numbers(tree)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise _bad_tree("is no tree", text, "Write nested pairs of numbers, such as '((1,3),2)'") from error
    for number in numbers:
        if not 1 <= number <= len(names):
            raise _bad_tree(f"has {number}, which is no ranker", text, f"Count the rankers from 1 to {len(names)}")
        if numbers.count(number) > 1:
            raise _bad_tree(f"has ranker {number} twice", text, "Give each ranker once")
    for number, name in enumerate(names, 1):
        if number not in numbers:
            raise _bad_tree(f"does not contain ranker {number}, {name}", text, "Add it, or do not give that ranker")
    return tree


def _bad_tree(problem: str, text: str, remedy: str) -> ArgumentError:
    return ArgumentError(problem, setting="tree", value=text, remedy=remedy)


def _numbers(tree: Any) -> list[int]:
    """The numbers in nested pairs, from left to right."""
    first, second = tree
    if not isinstance(tree, tuple):
        raise TypeError
    return [number for side in (first, second) for number in ([side] if type(side) is int else _numbers(side))]
