"""CategoryTally: the categories of data that come in pieces, each with a vocabulary of its own, and the rows of each category.

What categories are worth is measured in units of the largest grade, which only the last piece may bring. Where it does, counts
made in different units cannot be added up, and all pieces are counted anew with the largest grade known.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankinite.data.categories import Vocabulary, category_columns, vocabulary_of
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Features, Indices
from rankinite.trees._state import MISSING
from rankinite.trees.bins import CategoryCounts, centred_grades, count_categories


class CategoryTally:
    """The categories of all pieces that were shown. ``largest``: the largest grade of all, where it is known."""

    def __init__(self, largest: float = 0.0) -> None:
        self.largest = largest
        self.is_mixed = False
        """Whether pieces were counted in units of different grades."""
        self._features: dict[str, _FeatureTally] = {}

    def take(self, piece: Dataset) -> None:
        """Count the rows of a piece. All pieces have the same features as categories."""
        if not piece.categories:
            return
        largest = float(np.abs(piece.grades).max(initial=0.0))
        if largest > self.largest:
            self.is_mixed |= self.largest > 0.0  # grades that are all 0 are worth 0 in any unit
            self.largest = largest
        centred = centred_grades(piece.grades, piece.offsets, self.largest)
        for name, column in category_columns(piece):
            self._features.setdefault(name, _FeatureTally()).take(column, piece.categories[name], centred)

    def vocabularies(self) -> dict[str, Vocabulary]:
        """All categories of each feature, in order."""
        return {name: tally.vocabulary() for name, tally in self._features.items()}

    def counts(self, vocabularies: Mapping[str, Vocabulary]) -> dict[str, CategoryCounts]:
        """What the rows say of each feature's categories, in the order of these vocabularies."""
        return {name: tally.counts(vocabularies[name]) for name, tally in self._features.items()}

    def counts_do(self, least: int) -> bool:
        """Whether codes can be made of the counts; where no feature has more categories than codes, any unit will do."""
        return not self.is_mixed or all(tally.kept(least) <= MISSING for tally in self._features.values())


class _FeatureTally:
    """The categories of one feature, numbered as they come up."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._first: Vocabulary | None = None
        self._is_one, self._numeric = True, True
        self._last: tuple[Vocabulary, Indices] | None = None
        self._rows, self._worth, self._squares = np.zeros(0, np.int64), np.zeros(0, np.int64), 0

    def take(self, column: Features, vocabulary: Vocabulary, centred: Indices) -> None:
        found, numbers = count_categories(column, len(vocabulary), centred), self._numbers_of(vocabulary)
        new = np.zeros(len(self._numbers) - len(self._rows), np.int64)
        self._rows, self._worth = np.append(self._rows, new), np.append(self._worth, new)
        self._rows[numbers] += found.rows
        self._worth[numbers] += found.worth
        self._squares += found.squares

    def _numbers_of(self, vocabulary: Vocabulary) -> Indices:
        """The numbers of a piece's categories; those of a data set, whose pieces have one vocabulary, are looked up once."""
        if self._last is None or self._last[0] is not vocabulary:
            numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in vocabulary.names]
            self._last = vocabulary, np.asarray(numbers, np.int64)
            if self._first is None or (len(vocabulary) and not len(self._first)):
                self._first = vocabulary
            elif len(vocabulary):  # a piece without any category says nothing of what they are
                self._is_one &= vocabulary == self._first
            self._numeric &= vocabulary.numeric or not len(vocabulary)
        return self._last[1]

    def vocabulary(self) -> Vocabulary:
        assert self._first is not None  # features come with their first piece
        return self._first if self._is_one else vocabulary_of(self._numbers, numeric=self._numeric)

    def counts(self, vocabulary: Vocabulary) -> CategoryCounts:
        order = np.asarray([self._numbers[name] for name in vocabulary.names], np.int64)
        return CategoryCounts(self._rows[order], self._worth[order], self._squares)

    def kept(self, least: int) -> int:
        return int((self._rows >= least).sum())
