"""Which features of the data a model from elsewhere means.

LightGBM and XGBoost call features that were given no names Column_0, Column_1, … and f0, f1, …, where LETOR files and arrays
have 1, 2, … here. Trained on a matrix, Column_0 is its first column. When they read a LETOR file themselves, both take the
index in the file for the position, so that Column_1 is feature 1, and Column_0 is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rankinite.errors import DataError, listed
from rankinite.models.base import Fitted, Note, Ranker
from rankinite.models.inputs import columns_of

if TYPE_CHECKING:
    from rankinite.models.forest import Forest

GENERIC = ("Column_", "f")
"""What LightGBM and XGBoost put before a number to name a feature that has no name."""


def match_features(ranker: Ranker, names: Sequence[str], place: str) -> tuple[Ranker, str | None]:
    """A ranker all of whose features are in data with these names, and what was done to it, if anything.

    Where its own names are all there, in whatever order, it is left as it is. Where a forest's names are only numbers in
    disguise and mean nothing here, its features are taken by position if there are as many; or, if it has one more, which comes
    first and no split uses, from the second on, for data whose features are called 1, 2, …. Anything else is refused.
    """
    notes: dict[str, None] = {}  # in order, and each once
    if not isinstance(ranker, Fitted):
        columns_of(names, ranker.feature_names, place)
        return ranker, None
    matched = ranker.matched(tuple(names), place, lambda sentence: notes.update({sentence: None}))
    return cast("Ranker", matched), "; ".join(notes) or None


def matched_forest(forest: Forest, names: tuple[str, ...], place: str, note: Note) -> Forest:
    """A forest that can be taken for one on data with these names."""
    wanted = forest.feature_names
    if set(wanted) <= set(names):
        return forest
    if _is_generic(wanted, names):
        return _renamed(forest, names, place, note)
    columns_of(names, wanted, place)
    return forest


def _is_generic(wanted: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether a model's names are numbers in order that say nothing of these data, or count from another end."""
    if wanted in (_counted("0", wanted), _counted("1", wanted)):
        return names in (_counted("0", names), _counted("1", names))
    return any(wanted == _counted(f"{word}0", wanted) for word in GENERIC) and not set(wanted) & set(names)


def _counted(first: str, like: tuple[str, ...]) -> tuple[str, ...]:
    """As many names as there are, counted from the first, which ends in a digit: f0, f1, …."""
    word, start = first[:-1], int(first[-1])
    return tuple(f"{word}{start + k}" for k in range(len(like)))


def _renamed(forest: Forest, names: tuple[str, ...], place: str, note: Note) -> Forest:
    own = forest.feature_names
    if len(own) == len(names):
        note(f"the model's features {_span(own)} are taken for {_span(names)} of {place}, by position")
        return forest.renamed(names)
    unused = not (forest.trees.feature == 0).any()
    if len(own) == len(names) + 1 and unused and names == _counted("1", names):
        note(
            f"the model's features {_span(own[1:])} are taken for {_span(names)} of {place}, as when it was trained on a LETOR "
            f"file: no split uses {own[0]!r}"
        )
        return forest.renamed([None, *names])
    known = set(names)
    raise DataError(
        f"{place}: there is no feature {listed([name for name in own if name not in known], 5)}, which {forest!r} needs. The "
        f"features are {listed(names, 5)}. Without names of its own, a model must have as many features as the data, or, if no "
        "split uses its first, one more. Name them in Python: rankinite.load(…).renamed([…]).save(…)."
    )


def _span(names: tuple[str, ...]) -> str:
    return listed(names) if len(names) < 3 else f"{names[0]!r} … {names[-1]!r}"
