"""The first pass over data: how many rows and queries there are, what is missing, and which categories there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.binned.data import Binned
from rankinite.binned.tally import CategoryTally
from rankinite.data.categories import Vocabulary, recode
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Flags
from rankinite.errors import DataError, quoted
from rankinite.trees._state import MISSING
from rankinite.trees.bins import missing_features


class Counted:
    """What the first pass finds out. ``like``: bins that the data will be coded with, if these are known."""

    def __init__(self, like: Binned | None) -> None:
        self.sizes: list[npt.NDArray[Any]] = []
        """Rows of each query, piece by piece."""
        self.missing: Flags = np.zeros(0, np.bool_)
        self.weighted, self.judged = False, True
        self.tally = CategoryTally()
        self._like, self._codes = like, {} if like is None else like.bins.categories

    def take(self, piece: Dataset) -> None:
        """Look at a piece."""
        _check_piece(piece)
        self.sizes.append(np.diff(piece.offsets))
        found = self._missing_in(piece)
        found[: len(self.missing)] |= self.missing
        self.missing, self.weighted, self.judged = found, piece.weights is not None, piece.judged
        self.tally.take(piece)

    def _missing_in(self, piece: Dataset) -> Flags:
        """Which features have the code of missing values in some row, as far as it is known which categories are rare."""
        if self._like is None:
            return missing_features(piece.features)
        features = recode(piece, self._like.categories).features
        found = missing_features(features)
        for feature, codes in self._codes.items():
            column = features[:, feature]
            found[feature] |= bool((codes[column[~np.isnan(column)].astype(np.int64)] == MISSING).any())  # rare ones
        return found

    def categories(self, source: str) -> dict[str, Vocabulary]:
        """The vocabularies to code with: those of ``like``, or of the data."""
        own = self.tally.vocabularies()
        if self._like is None:
            return own
        for name, wanted in self._like.categories.items():
            _check_kind(name, own.get(name, wanted), wanted, source, self._like.source)
        return dict(self._like.categories)


def _check_piece(piece: Dataset) -> None:
    """Refuse what bins do not keep."""
    if piece.preferences is not None:
        raise DataError("judged pairs are not kept in bins", place=piece.source, remedy="Train on them in memory")


def _check_kind(name: str, own: Vocabulary, wanted: Vocabulary, source: str, like: str) -> None:
    """Refuse whole numbers where text is expected, and text where numbers are, if not a single category is known."""
    if own.numeric == wanted.numeric or not len(own) or any(one in wanted.places for one in own.names):
        return
    kinds = ("whole numbers", "text") if own.numeric else ("text", "whole numbers")
    raise DataError(
        f"the category {quoted(name)} is {kinds[0]}, such as {quoted(own.names[0])}, but {kinds[1]} in {like}",
        place=source,
        value=own.names[0],
        rule="Categories are matched by name, so that all of these would count as missing",
        remedy="Write the same names to both, in place of codes",
    )
