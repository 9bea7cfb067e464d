"""Forest: the sum of trees that boosting makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary
from rankinite.data.dataset import Dataset
from rankinite.data.sketch import QuerySketch
from rankinite.engine.kernel import SCORE, Floats, Indices, Reals, frozen
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer
from rankinite.grid import Grid
from rankinite.models import forest_edits, views
from rankinite.models.base import Fitted, Note, Trained, in_row_order
from rankinite.models.category_inputs import with_codes
from rankinite.models.files.container import Stored
from rankinite.models.files.forests import forest_parts, stored_forest
from rankinite.models.forest_checks import check_forest
from rankinite.models.history import History
from rankinite.models.importance import tree_importance
from rankinite.models.inputs import columns_of, located
from rankinite.models.text import forest_text
from rankinite.models.training import by_learner, drawn_history, plain_settings
from rankinite.plurals import counted
from rankinite.trees.structure import Trees
from rankinite.trees.walk import Walks, add_trees, expected_grades, walks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.models.scorer import PreparedScorer


@dataclass(frozen=True, eq=False, repr=False)
class Forest(Fitted):
    """Trees whose values add up to a score: a row's score is ``start``, then plus its value in tree 0, in tree 1, ….

    The sum is taken in float64 and in exactly this order, so that training that continues from a forest sees the same scores to
    the bit. A forest with ``grades`` (McRank) has n sums, one for each of them, and every n-th tree adds to the same
    one; its score is the mean grade under the probabilities that the sums stand for.
    """

    trees: Trees
    """All trees, round by round; tree t adds to output t modulo outputs."""
    feature_names: tuple[str, ...]
    """The features the trees ask for, by position."""
    start: Floats = field(default_factory=lambda: np.zeros(1))
    """Where the sum of each output begins."""
    grades: Floats | None = None
    """One per output, when the outputs are probabilities of grades; else there is one output, the score."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How the forest was made, as JSON has it: ``{"learner": "LambdaMART", …}``."""
    history: History | None = None
    """How training went."""
    sketch: QuerySketch | None = None
    """Which queries it was trained on; None: that is not known, as for models from elsewhere."""
    categories: Mapping[str, Vocabulary] = field(default_factory=dict[str, Vocabulary])
    """The vocabulary of each feature that is a category; the sets of its trees are of these codes."""

    shows = frozenset({"trees", "splits", "history"})
    explained_by = "of_forest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "start", frozen(np.atleast_1d(np.ascontiguousarray(self.start, SCORE))))
        if self.grades is not None:
            object.__setattr__(self, "grades", frozen(np.ascontiguousarray(self.grades, SCORE)))
        object.__setattr__(self, "settings", plain_settings(self.settings, "Forest"))
        object.__setattr__(self, "categories", dict(self.categories))
        check_forest(self)

    @property
    def outputs(self) -> int:
        """How many sums there are: one, or one per grade."""
        return len(self.start)

    @property
    def rounds(self) -> int:
        """Rounds of boosting: trees for each output."""
        return len(self.trees) // self.outputs

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries it was trained on."""
        return (self.sketch,)

    def __len__(self) -> int:
        return len(self.trees)

    # ---- what it is -------------------------------------------------------------------------------------------

    def trained(self) -> Trained:
        """How it was trained."""
        return Trained(self.settings, self.history, self.sketch)

    def matched(self, names: tuple[str, ...], place: str, note: Note) -> Forest:
        """Itself, or with its features taken by position where its names are mere numbers."""
        from rankinite.models.files.matching import matched_forest

        return matched_forest(self, names, place, note)

    def summary(self) -> list[tuple[str, str]]:
        """Trees, leaves and features."""
        return views.forest_summary(self)

    def tables(self, most: int | None) -> list[Grid]:
        """The features with the largest gains."""
        return [views.importance_grid(self, most)]

    def facts(self) -> dict[str, Any]:
        """Everything but the trees as JSON has it."""
        return super().facts() | views.training_facts(self.trained()) | views.forest_facts(self)

    def sizes(self) -> dict[str, int]:
        """How many trees."""
        return {"trees": len(self)}

    def __repr__(self) -> str:
        return (
            f"<Forest{by_learner(self.settings)}: {counted(len(self), 'tree')}, {counted(len(self.feature_names), 'feature')}>"
        )

    # ---- scoring ----------------------------------------------------------------------------------------------

    def score(self, features: Dataset | npt.ArrayLike) -> Floats:
        """One score per row of a Dataset, a data frame (features found by name) or a matrix (columns in order).

        float64 values are compared with the thresholds as they are, not rounded to float32 first.
        """
        return self._scores_from(self.outputs_of(features))

    def scorer(self, names: Sequence[str] | None = None) -> PreparedScorer:
        """A function from matrices to scores, for services that score many small ones: the trees are laid out once, here.

        ``names``: what the columns of the matrices are; left out, they are ``feature_names``. Any thread may call it, and any
        process that was forked later. The scores are those of :meth:`score`, to the bit.
        """
        from rankinite.models.scorer import ForestScorer, PreparedScorer, matched_by_names

        matched, columns = matched_by_names(self, names)
        if matched is not self:
            return matched.scorer(columns)
        if self.categories:
            return PreparedScorer(self, columns)
        places = columns_of(columns, self.feature_names, "the columns")
        return ForestScorer(self, columns, tuple(run.at(places) for run in self._walks.runs))

    def probabilities(self, features: Dataset | npt.ArrayLike) -> Floats:
        """The probabilities that scores stand for: one per row, or for a forest with ``grades`` shape (rows, grades).

        For forests whose last training had a logistic loss. MART with loss binary: that the grade is relevant; balanced: the
        same if both classes were equally frequent; graded: the probability (2^g − 1)/2^max_grade that the grade stands for.
        McRank: of each grade. Others are refused.
        """
        from rankinite.models.probabilities import probabilities_of

        return in_row_order(probabilities_of(self, features), features)

    def outputs_of(self, features: Dataset | npt.ArrayLike) -> Floats:
        """The sums themselves, shape (outputs, rows)."""
        matrix, columns = self.located(features)
        sums = self._started(len(matrix))
        add_trees(self._walks, matrix, 0, len(self), sums, columns)
        return sums

    def staged_scores(self, features: Dataset | npt.ArrayLike, every: int = 1) -> Iterator[Floats]:
        """The scores after ``every`` rounds, twice as many, …, and in the end after all."""
        if every < 1:
            raise ArgumentError("must be a whole number from 1 on", owner="staged_scores", setting="every", value=every)
        matrix, columns = self.located(features)
        stages = self._stages(matrix, self._walks.with_columns(columns), every)
        return (in_row_order(scores, features) for scores in stages)

    def _stages(self, matrix: Reals, walks: Walks, every: int) -> Iterator[Floats]:
        sums = self._started(len(matrix))
        for first in range(0, self.rounds, every):
            last = min(first + every, self.rounds)
            add_trees(walks, matrix, first * self.outputs, last * self.outputs, sums)
            yield self._scores_from(sums.copy())

    def _scores_from(self, sums: Floats) -> Floats:
        return sums[0] if self.grades is None else expected_grades(sums, self.grades)

    def _started(self, rows: int) -> Floats:
        return np.repeat(self.start[:, None], rows, axis=1)

    def located(self, features: Dataset | npt.ArrayLike) -> tuple[Reals, Indices | None]:
        """A matrix of all rows with categories in the forest's own codes, and the column of each feature; None: in order."""
        names = self._names_in(features)
        places = {self.feature_names.index(name): vocabulary for name, vocabulary in self.categories.items()}
        matrix, columns = located(features, names, places)
        return with_codes(features, matrix, columns, names, places), columns

    def _names_in(self, features: Dataset | npt.ArrayLike) -> tuple[str, ...]:
        """What the features are called in a Dataset, which may be other names where these here are mere positions."""
        if not isinstance(features, Dataset) or features.feature_names == self.feature_names:
            return self.feature_names
        from rankinite.models.files.matching import names_in_data

        known = features.feature_names
        found = names_in_data(self, known, features.source, lambda _: None)
        return tuple(known[0] if name is None else name for name in found)  # any will do for one that no split uses

    @cached_property
    def _walks(self) -> Walks:
        return walks_of(self.trees)

    def __getstate__(self) -> dict[str, Any]:
        # Copies lay their trees out themselves: unpickled arrays would be writeable, for which Numba compiles anew.
        return {name: value for name, value in self.__dict__.items() if name != "_walks"}

    # ---- parts and sums ---------------------------------------------------------------------------------------

    def truncate(self, rounds: int) -> Forest:
        """The forest of the first rounds alone. Settings and history stay those of the whole training."""
        return forest_edits.truncated(self, rounds)

    def renamed(self, names: Sequence[str | None]) -> Forest:
        """The same trees with other names for the features, one for each in order; None leaves out one that no split uses."""
        return forest_edits.renamed(self, names)

    def extended(self, other: Forest) -> Forest:
        """One forest: these trees, then those of another over the same features and outputs; the starts add up.

        Settings and history are the other's, with these settings under "base": the other was trained last.
        """
        return forest_edits.extended(self, other)

    def __add__(self, other: Scorer) -> Fitted:
        if isinstance(other, Forest) and self.grades is None and forest_edits.are_alike(self, other):
            return self.extended(other)
        return super().__add__(other)

    # ---- looking inside ---------------------------------------------------------------------------------------

    def importance(self, kind: Literal["gain", "count"] = "gain") -> dict[str, float]:
        """What the splits on each feature gained, or how many there are; the largest first."""
        return tree_importance(self.trees, self.feature_names, kind)

    def text(self, first: int | None = None) -> str:
        """The trees as text with all digits; ``first``: how many of them, or all."""
        return forest_text(self, first)

    def plot_importance(self, top: int = 20, kind: Literal["gain", "count"] = "gain", axes: Axes | None = None) -> Axes:
        """Draw the most important features as bars."""
        from rankinite.models.plots import plot_importance

        return plot_importance(self.importance(kind), kind, top, axes)

    def plot_history(self, axes: Axes | None = None) -> Axes:
        """Draw the measure after every round of training."""
        return drawn_history(self, self.history, axes, "round")

    def plot_tree(self, number: int, axes: Axes | None = None) -> Axes:
        """Draw one tree, its root on the left."""
        from rankinite.models.plots import plot_tree

        if not 0 <= number < len(self):
            raise ArgumentError(
                f"is not the number of a tree: this forest has {counted(len(self), 'tree')}",
                owner="plot_tree",
                setting="number",
                value=number,
                rule="Trees are counted from 0",
            )
        tree = self.trees.take(number, number + 1)
        return plot_tree(tree, self.feature_names, f"tree {number}", axes, self.categories)

    # ---- files ------------------------------------------------------------------------------------------------

    def stored(self) -> Stored:
        """Its content in a model file."""
        return stored_forest(self)

    @classmethod
    def from_stored(cls, stored: Stored) -> Forest:
        """The forest of a model file."""
        return cls(**forest_parts(stored))
