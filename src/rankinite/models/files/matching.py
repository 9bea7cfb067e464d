"""Matching of features: which features of the data a model from elsewhere means.

LightGBM, XGBoost and CatBoost call features without names Column_0, Column_1, …; f0, f1, …; and 0, 1, …; here those of LETOR
files and arrays are 1, 2, …. In a model trained on a matrix, Column_0 is the first column. When LightGBM and XGBoost read a
LETOR file themselves, both take the index in the file for the position, so that Column_1 is feature 1, and Column_0 is unused.

The shell calls :func:`match_features` for every model that it loads. In Python a forest finds its features by the same rule
when it scores a Dataset; :func:`rankinite.evaluate`, :func:`rankinite.compare`, :mod:`rankinite.combine` and learners with a
base ask rankers for ``matched`` first (:func:`rankinite.evaluation.scorers.match_to`), so that results carry the note, and
what is made of the rankers has the names of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rankinite.errors import DataError, listed
from rankinite.models.base import Fitted, Note, Ranker
from rankinite.models.inputs import columns_of
from rankinite.plurals import agreeing

if TYPE_CHECKING:
    from rankinite.models.forest import Forest

GENERIC = ("Column_", "f", "")
"""What LightGBM, XGBoost and CatBoost put before the number of a feature that has no name, counted from 0."""


def match_features(ranker: Ranker, names: Sequence[str], place: str) -> tuple[Ranker, str | None]:
    """A ranker all of whose features are in data with these names, and what was done to it, if anything.

    If the data have all of its features, in whatever order, it is left as it is. If the names of a forest's features are mere
    numbers that the data do not have, its features are taken by position if the data have as many; or, if it has one more,
    which comes first and no split uses, from the second on, for data whose features are called 1, 2, …. Anything else is
    refused.
    """
    notes: dict[str, None] = {}  # in order, and each once
    if not isinstance(ranker, Fitted):
        columns_of(names, ranker.feature_names, place)
        return ranker, None
    matched = ranker.matched(tuple(names), place, lambda sentence: notes.update({sentence: None}))
    return cast("Ranker", matched), "; ".join(notes) or None


def matched_forest(forest: Forest, names: tuple[str, ...], place: str, note: Note) -> Forest:
    """The forest with the feature names of the data, where these are clear."""
    found = names_in_data(forest, names, place, note)
    return forest if found == forest.feature_names else forest.renamed(found)


def names_in_data(forest: Forest, names: tuple[str, ...], place: str, note: Note) -> tuple[str | None, ...]:
    """What data with these names call each feature of a forest; None: they have none such, and no split uses it."""
    wanted = forest.feature_names
    if set(wanted) <= set(names):
        return wanted
    if _is_generic(wanted, names):
        return _by_position(forest, names, place, note)
    columns_of(names, wanted, place)
    return wanted


def _is_generic(wanted: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether a model's names are mere numbers in order, which the data do not have or count from another start."""
    if all(counted in (_counted("0", counted), _counted("1", counted)) for counted in (wanted, names)):
        return True
    return any(wanted == _counted(f"{word}0", wanted) for word in GENERIC) and not set(wanted) & set(names)


def _counted(first: str, like: tuple[str, ...]) -> tuple[str, ...]:
    """As many names as there are, counted from the first, which ends in a digit: f0, f1, …."""
    word, start = first[:-1], int(first[-1])
    return tuple(f"{word}{start + k}" for k in range(len(like)))


def _by_position(forest: Forest, names: tuple[str, ...], place: str, note: Note) -> tuple[str | None, ...]:
    wanted = forest.feature_names
    if len(wanted) == len(names):
        note(f"{_taken(wanted, names, place)}, by position")
        return names
    unused = not (forest.trees.feature == 0).any()
    if len(wanted) == len(names) + 1 and unused and names == _counted("1", names):
        letor = f"as when it was trained on a LETOR file: no split uses {wanted[0]!r}"
        note(f"{_taken(wanted[1:], names, place)}, {letor}")
        return (None, *names)
    known = set(names)
    missing = [name for name in wanted if name not in known]
    raise DataError(
        f"there is no feature {listed(missing, 5)}, which {forest!r} needs. The features are {listed(names, 5)}",
        place=place,
        value=missing[0],
        rule="A model without names must have as many features as the data, or one more if no split uses its first",
        remedy="Name the features of the model with rankinite.load(…).renamed([…]), or those of the data with `rename=…`",
        shell_remedy="Give the features of the data the names that the model has for them, with `rename=…` or `names=…`",
    )


def _taken(wanted: tuple[str, ...], names: tuple[str, ...], place: str) -> str:
    feature, are = agreeing(len(wanted), "feature"), agreeing(len(wanted), "is")
    return f"the model's {feature} {_span(wanted)} {are} taken for {_span(names)} of {place}"


def _span(names: tuple[str, ...]) -> str:
    return listed(names) if len(names) < 3 else f"{names[0]!r} … {names[-1]!r}"
