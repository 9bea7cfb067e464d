"""Vocabulary: the categories of a feature. In the matrix of features a category is its code, its place in the vocabulary.

A vocabulary is sorted, so that the order of the rows decides no code. Data sets read apart have vocabularies of their own;
whoever brings two together matches categories by name (:func:`recoded`), never by code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import FEATURE, Features, frozen
from rankinite.errors import DataError, quoted
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset

MOST = 1 << 24
"""Categories of a feature: beyond, 32-bit floats do not tell all whole numbers apart."""


@dataclass(frozen=True)
class Vocabulary:
    """The categories of a feature, all different and in order; the code of a category is its place."""

    names: tuple[str, ...]
    """The categories: whole numbers by size, others by the code points of their letters."""
    numeric: bool = False
    """Whether they are whole numbers: then a plain number names the category of that value, otherwise of that code."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        if len(self.names) > MOST:
            raise DataError(
                f"a feature has {counted(len(self.names), 'category')}",
                value=len(self.names),
                rule=f"There may be {MOST:,} at most",
                remedy="Leave the column out, or group its values",
            )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The code of each category."""
        return {name: code for code, name in enumerate(self.names)}

    def codes_in(self, other: Vocabulary) -> Features:
        """For each of these categories its code in another vocabulary; NaN where that does not have it. Shape (len(self),)."""
        if self.names == other.names:
            return np.arange(len(self), dtype=FEATURE)
        places = other.places
        return np.asarray([places.get(name, np.nan) for name in self.names], FEATURE)

    def codes_of(self, numbers: npt.NDArray[Any]) -> Features:
        """The codes of categories given as plain numbers: by value where they are whole numbers, else codes as they are.

        Of a number that is not whole its whole part counts. What is no category becomes NaN.
        """
        values = np.trunc(np.asarray(numbers, np.float64))
        if not self.numeric:
            known = (values >= 0) & (values < len(self))
            return np.where(known, values, np.nan).astype(FEATURE)
        if not self.names:
            return np.full(values.shape, np.nan, FEATURE)
        places = np.minimum(np.searchsorted(self._numbers, values), len(self) - 1)
        return np.where(self._numbers[places] == values, places, np.nan).astype(FEATURE)

    def plain_numbers(self, codes: Features) -> npt.NDArray[np.float64]:
        """The inverse of :meth:`codes_of`: the values of whole numbers, otherwise the codes themselves."""
        if not self.numeric:
            return codes.astype(np.float64)
        return np.append(self._numbers, np.nan)[np.where(np.isnan(codes), len(self), codes).astype(np.int64)]

    @cached_property
    def _numbers(self) -> npt.NDArray[np.float64]:
        return frozen(np.asarray([int(name) for name in self.names], np.float64))


def word_of(value: object) -> str:
    """A value of a categorical column as a category: booleans and whole floats are whole numbers."""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    return str(value)


def vocabulary_of(names: Iterable[str], *, numeric: bool = False) -> Vocabulary:
    """The vocabulary of categories in any order and number; ``numeric``: they are whole numbers."""
    different = set(names)
    return Vocabulary(tuple(sorted(different, key=int) if numeric else sorted(different)), numeric)


def union(vocabularies: Iterable[Vocabulary]) -> Vocabulary:
    """All categories of several vocabularies; whole numbers only where all of them are, of those that are not empty."""
    parts = list(vocabularies)
    parts = [part for part in parts if len(part)] or parts[:1]
    if all(part == parts[0] for part in parts):
        return parts[0]
    return vocabulary_of((name for part in parts for name in part.names), numeric=all(part.numeric for part in parts))


def recoded(data: Dataset, categories: Mapping[str, Vocabulary]) -> Dataset:
    """The data with the codes of these vocabularies; a category that these do not have is missing.

    A feature that is not categorical in the data holds plain numbers (:meth:`Vocabulary.codes_of`). Other features stay as they
    are; a categorical one that the vocabularies do not name is refused, as its codes would count as sizes.
    """
    surplus = [name for name in data.categories if name not in categories]
    if surplus:
        raise DataError(
            f"feature {quoted(surplus[0])} is a category here, but a number where it is used",
            place=data.source,
            value=surplus[0],
            remedy="Read both data sets with the same `categories`",
        )
    if all(data.categories.get(name) == vocabulary for name, vocabulary in categories.items()):
        return data
    features = data.features.copy()
    for name, vocabulary in categories.items():
        column = data.feature_index(name)
        features[:, column] = recoded_column(features[:, column], data.categories.get(name), vocabulary)
    return replace(data, features=features, categories=dict(categories))


def recoded_column(values: npt.NDArray[Any], own: Vocabulary | None, wanted: Vocabulary) -> Features:
    """A column in the codes of another vocabulary; ``own`` is None for plain numbers."""
    if own is None:
        return wanted.codes_of(values)
    if own.names == wanted.names:
        return values.astype(FEATURE, copy=False)
    code_of = np.append(own.codes_in(wanted), FEATURE(np.nan))
    return code_of[np.where(np.isnan(values), len(own), values).astype(np.int64)]
