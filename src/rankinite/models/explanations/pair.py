"""PairExplanation: why one document of a query is ranked above another."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, quoted
from rankinite.evaluation.scorers import match_to, scores_of
from rankinite.frames import finite
from rankinite.grid import Grid, number
from rankinite.models.base import response_of, split_scores
from rankinite.models.explanations.contributions import Sampling
from rankinite.models.explanations.documents import OWNER, Document, document_of, query_of
from rankinite.models.explanations.swaps import FeatureChange, smallest_swap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 10
"""Features that are printed."""


@dataclass(frozen=True, slots=True)
class FeatureDifference:
    """What one feature adds to the difference of two documents' scores."""

    feature: str
    """The feature."""
    difference: float
    """What it adds: its contribution to the score above minus that to the score below."""
    above: float
    """Its contribution to the score of the document above."""
    below: float
    """Its contribution to the score of the document below."""
    above_value: float | str
    """Its value in the document above, of a category its name; NaN: missing, or no feature of the data."""
    below_value: float | str
    """Its value in the document below, likewise."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; a missing value is null."""
        content = {name: getattr(self, name) for name in ("feature", "difference", "above", "below")}
        values = {"above_value": self.above_value, "below_value": self.below_value}
        return content | {name: value if isinstance(value, str) else finite(value) for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class PairExplanation:
    """The difference of two documents' scores, split by feature, and what would have to change to swap them."""

    qid: str
    """The query."""
    above: Document
    """The document that was asked about as the one above."""
    below: Document
    """The other."""
    base: float
    """The model's mean, from which both scores start."""
    features: tuple[FeatureDifference, ...]
    """One per feature, the largest difference first; together they are the difference of the scores."""
    change: FeatureChange | None
    """The smallest change of one feature that lifts the document with the lower score above the other; of numbers first."""
    note: str
    """Why there is no change, or where the order is not the one asked about; may be empty."""
    sampled: bool = False
    """Whether contributions were sampled, so that they have standard errors."""

    @property
    def difference(self) -> float:
        """The score above minus the score below."""
        return self.above.score - self.below.score

    def grid(self, most: int | None = SHOWN) -> Grid:
        """The table that is printed; ``most`` features, or all."""
        shown = [one for one in self.features if one.above or one.below][:most]
        rows: list[tuple[str, ...]] = [
            (
                one.feature,
                number(one.difference, signed=True),
                _value(one.above_value),
                _value(one.below_value),
                number(one.above, signed=True),
                number(one.below, signed=True),
            )
            for one in shown
        ]
        rest = [one for one in self.features if one.above or one.below][len(shown) :]
        if rest:
            sums = [sum(getattr(one, part) for one in rest) for part in ("difference", "above", "below")]
            texts = [number(total, signed=True) for total in sums]
            rows.append((f"{len(rest)} other features", texts[0], "", "", *texts[1:]))
        rows.append(("the model's mean", number(0.0), "", "", number(self.base, signed=True), number(self.base, signed=True)))
        rows.append(("score", number(self.difference, signed=True), "", "", *(number(one.score) for one in self._both)))
        above, below = (one.name for one in self._both)
        header = ("feature", "difference", f"value in {above}", f"value in {below}", f"adds to {above}", f"adds to {below}")
        return Grid(header, tuple(rows), title=self.title(), notes=self.sentences())

    def title(self) -> str:
        """Which documents, and where they are."""
        first, second = (f"{one.name} (place {one.rank + 1}, score {number(one.score)}{_graded(one)})" for one in self._both)
        return f"query {self.qid}: {first} against {second}"

    def sentences(self) -> tuple[str, ...]:
        """What would have to change, and notes."""
        found = [] if self.change is None else [_in_words(self.change, self._other(self.change.document))]
        sampled = ["Contributions were sampled; give more permutations for smaller errors."] if self.sampled else []
        return (*found, *([self.note] if self.note else []), *sampled)

    def to_json(self) -> str:
        """Everything there is; what is missing is null."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def to_dict(self) -> dict[str, Any]:
        """The content of :meth:`to_json`."""
        return {
            "query": self.qid,
            "above": self.above.to_dict(),
            "below": self.below.to_dict(),
            "base": self.base,
            "difference": self.difference,
            "features": [one.to_dict() for one in self.features],
            "change": None if self.change is None else self.change.to_dict(),
            "notes": [self.note] if self.note else [],
            "sampled": self.sampled,
        }

    def plot(self, top: int = SHOWN, axes: Axes | None = None) -> Axes:
        """Draw how the features lead from one score to the other, the largest first."""
        from rankinite.models.explanations.plots import plot_pair

        return plot_pair(self, top, axes)

    def __str__(self) -> str:
        return self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()

    @property
    def _both(self) -> tuple[Document, Document]:
        return self.above, self.below

    def _other(self, name: str) -> Document:
        return self.below if name == self.above.name else self.above


def explain_pair(
    ranker: Any, data: Dataset, qid: str | int, above: str | int, below: str | int, sampling: Sampling
) -> PairExplanation:
    """Split the difference of two documents' scores by feature."""
    query = query_of(data, qid)
    matched, _ = match_to(ranker, query)
    scores = scores_of(matched, query)
    first, second = (document_of(query, *named, scores) for named in (("above", above), ("below", below)))
    if first.row == second.row:
        raise ArgumentError("and `below=…` name the same document", owner=OWNER, setting="above", value=above)
    split = split_scores(matched, query, sampling)
    pair = split.values[[first.row, second.row]]
    change = pair[0] - pair[1]
    order = np.argsort(-np.abs(change), kind="stable").tolist()
    places = {name: column for column, name in enumerate(query.feature_names)}

    def value(document: Document, name: str) -> float | str:
        found = float(query.features[document.row, places[name]]) if name in places else float("nan")
        return query.categories[name].names[int(found)] if name in query.categories and not np.isnan(found) else found

    features = tuple(
        FeatureDifference(name, float(change[f]), float(pair[0, f]), float(pair[1, f]), value(first, name), value(second, name))
        for f in order
        for name in (split.feature_names[f],)
    )
    swap, note = _swap(matched, data, query, first, second)
    return PairExplanation(str(query.qids[0]), first, second, split.base, features, swap, note, split.errors is not None)


def _swap(ranker: Any, data: Dataset, query: Dataset, first: Document, second: Document) -> tuple[FeatureChange | None, str]:
    """The smallest change that swaps two documents, and a sentence where there is none or where they are swapped already."""
    if first.score == second.score:
        return None, "Both have the same score: any change that adds to one of them decides."
    note = "" if first.score > second.score else f"{second.name} is the one above: the difference is below 0."
    response = response_of(ranker)
    if response is None:
        return None, f"{note} The smallest change that swaps them is not known for this kind of ranker.".strip()
    higher, lower = (first, second) if first.score > second.score else (second, first)
    change = smallest_swap(ranker, response, data, query, (lower.row, lower.name), higher.score)
    if change is not None:
        return change, note
    tried = ["every number, but not a missing one"] * bool(response.thresholds or response.slopes)
    tried += ["every category of the model and the data, and a missing one"] * bool(response.categories)
    none = f"No change of one feature alone lifts {lower.name} above {higher.name}."
    return None, f"{note} {none} The search tried {'; '.join(tried)}.".strip()


def _in_words(change: FeatureChange, other: Document) -> str:
    lifted = f"{change.document} would be above {other.name} (score {number(change.score)}) if its"
    new, old = (quoted(value) if isinstance(value, str) else _value(value) for value in (change.new, change.old))
    values = f"{quoted(change.feature)} were {new} instead of {old}"
    if change.category:
        return (
            f"{lifted} category {values}. Of the categories that lift it, this is the most frequent in the data; no change of "
            "one number to another does."
        )
    return (
        f"{lifted} feature {values}: past the values of {100 * change.passed:.1f} % of the documents. No smaller change of one "
        "number to another does that."
    )


def _graded(document: Document) -> str:
    return "" if document.grade is None else f", grade {document.grade:g}"


def _value(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "missing" if np.isnan(value) else f"{value:.6g}"
