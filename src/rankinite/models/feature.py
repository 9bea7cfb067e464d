"""Feature: the simplest ranker, one column of the data such as BM25."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import ArgumentError, DataError, listed, quoted
from rankinite.models.base import Fitted, Note
from rankinite.models.explanations.contributions import Contributions, Response, Sampling
from rankinite.models.files.container import DAMAGED, Stored


@dataclass(frozen=True, slots=True)
class Feature(Fitted):
    """Ranks by one feature. A missing value (NaN) ranks below all others.

    A number is a position, counted from 0; a text is a name. LETOR files name their features "1", "2", …, so that
    ``Feature("11")`` is the one with index 11 in such a file, and ``Feature(11)`` the twelfth, with index 12.
    """

    feature: int | str
    """The feature's position, or its name."""
    ascending: bool = False
    """True: small values rank high, as for a distance or a URL's length."""

    def __post_init__(self) -> None:
        feature: Any = self.feature
        if isinstance(feature, str):
            return
        if isinstance(feature, bool) or not isinstance(feature, SupportsIndex):
            raise ArgumentError(
                "must be a feature's position or its name",
                owner="Feature",
                setting="feature",
                value=feature,
                remedy="Give 0 for the first feature, or a name such as 'bm25'",
            )
        object.__setattr__(self, "feature", operator.index(feature))

    def __str__(self) -> str:
        if isinstance(self.feature, str):
            return f"{'ascending' if self.ascending else 'feature'}:{self.feature}"
        return f"{'ascending-column' if self.ascending else 'column'}:{self.feature}"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The feature's name; empty when it is given by position."""
        return (self.feature,) if isinstance(self.feature, str) else ()

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Nothing: a column is not trained."""
        return ()

    def matched(self, names: tuple[str, ...], place: str, note: Note) -> Feature:
        """Itself; scoring explains a missing feature better than a match could."""
        if isinstance(self.feature, int) and 0 <= self.feature < len(names):
            note(f"position {self.feature} is the feature {names[self.feature]!r} of {place}")
        return self

    def line(self) -> str:
        """The ranker in one line."""
        return str(self)

    def summary(self) -> list[tuple[str, str]]:
        """The feature, and which of its values come first."""
        which = f"named {self.feature!r}" if isinstance(self.feature, str) else f"at position {self.feature}, counted from 0"
        return [
            ("written", str(self)),
            ("ranks by", f"the feature {which}; {'small' if self.ascending else 'large'} values first"),
        ]

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        return {**super(Feature, self).facts(), "ranker": str(self)}

    def score(self, features: Dataset | npt.ArrayLike) -> Floats:
        """The feature's values in a data set, a matrix or a data frame, signed so that higher ranks higher."""
        values = self._column(features).astype(SCORE)
        signed = -values if self.ascending else values
        # The lowest score that is still ranked: −inf would mean "not returned".
        lowest = np.finfo(SCORE).min
        return np.maximum(np.where(np.isnan(signed), lowest, signed), lowest)

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """The feature's own score; a column has no mean in the model, so that the base is 0."""
        name = str(self.feature)
        if isinstance(features, Dataset) and isinstance(self.feature, int):
            name = features.feature_names[features.feature_index(self.feature)]
        return Contributions(self.score(features)[:, None], 0.0, (name,))

    def response(self) -> Response | None:
        """A line; not known for a column that is given by its position alone."""
        return Response(slopes={self.feature: -1.0 if self.ascending else 1.0}) if isinstance(self.feature, str) else None

    def stored(self) -> Stored:
        """Its content in a model file."""
        return Stored("feature", {"feature": self.feature, "ascending": self.ascending}, {})

    @classmethod
    def from_stored(cls, stored: Stored) -> Feature:
        """The feature of a model file."""
        feature = stored.facts.get("feature")
        if type(feature) not in (int, str):
            raise DataError(
                f"{quoted(feature)} is neither a name nor a position", place="feature", value=feature, remedy=DAMAGED
            )
        return cls(cast("int | str", feature), stored.fact("ascending", bool))

    def _column(self, features: Any) -> npt.NDArray[Any]:
        if isinstance(features, Dataset):
            try:
                return features.features[:, features.feature_index(self.feature)]
            except DataError as problem:
                meant = self._meant(features.feature_names)
                raise DataError(
                    problem.problem,
                    place=problem.place,
                    value=self.feature,
                    rule=problem.rule,
                    remedy=meant or problem.remedy,
                    shell_remedy="" if meant else problem.shell_remedy,
                ) from problem
        frame: Any = features
        columns: tuple[Any, ...] = tuple(
            frame.column_names if hasattr(frame, "column_names") else getattr(frame, "columns", ())
        )
        if isinstance(self.feature, str) and self.feature in columns:
            return np.asarray(frame[self.feature])
        matrix = np.asarray(features)
        if isinstance(self.feature, int) and matrix.ndim == 2 and 0 <= self.feature < matrix.shape[1]:
            return matrix[:, self.feature]
        position_or_names = "Give its position, counted from 0, or score a Dataset or a data frame, whose features have names"
        raise DataError(
            f"feature {quoted(self.feature)} cannot be taken from a {type(features).__name__} of shape {matrix.shape}",
            value=self.feature,
            rule=f"Its columns are {listed(columns)}, counted from 0" if columns else "",
            remedy=self._meant(columns) if columns else position_or_names,
        )

    def _meant(self, names: tuple[Any, ...]) -> str:
        """What may have been meant where a position was given as a name, or a name as a position."""
        feature = self.feature
        if isinstance(feature, str) and feature.isdecimal() and feature in map(str, range(len(names))):
            return f"The one at position {int(feature)}, counted from 0, is `Feature({int(feature)})`"
        if isinstance(feature, int) and str(feature) in names:
            return f"The one named {str(feature)!r} is `Feature({str(feature)!r})`"
        return ""
