"""Forest: the sum of trees that boosting makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary, union
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch, unite_sketches
from rankinite.engine.kernel import SCORE, Floats, Indices, Reals, frozen
from rankinite.errors import ArgumentError, DataError, listed, quoted
from rankinite.evaluation.scorers import Scorer
from rankinite.grid import Grid
from rankinite.models.base import Fitted, Note, Trained, in_row_order
from rankinite.models.explanations.contributions import OWNER, Contributions, Response, Sampling, not_split
from rankinite.models.files.container import DAMAGED, Stored
from rankinite.models.files.forests import forest_parts, stored_forest
from rankinite.models.history import History, by_learner, drawn_history, plain_settings
from rankinite.models.inputs import columns_of, encode_categories, feature_matrix, two_features
from rankinite.models.text import forest_text
from rankinite.models.views import more_note, training_facts
from rankinite.plurals import counted
from rankinite.trees.structure import LEAF, Trees, join
from rankinite.trees.walk import Walks, add_trees, expected_grades, walks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.models.scorer import PreparedScorer


IMPORTANCES = ("gain", "count")


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "start", frozen(np.atleast_1d(np.ascontiguousarray(self.start, SCORE))))
        if self.grades is not None:
            object.__setattr__(self, "grades", frozen(np.ascontiguousarray(self.grades, SCORE)))
        object.__setattr__(self, "settings", plain_settings(self.settings, "Forest"))
        object.__setattr__(self, "categories", dict(self.categories))
        _check(self)

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
        leaves = int((self.trees.feature == LEAF).sum())
        used = len(np.unique(self.trees.feature[self.trees.feature != LEAF]))
        return [
            ("trees", f"{len(self):,}" + (f" ({self.rounds:,} rounds of {self.outputs})" if self.outputs > 1 else "")),
            ("leaves", f"{leaves:,}" + (f" ({leaves / len(self):.1f} per tree)" if len(self) else "")),
            ("features", f"{len(self.feature_names):,} ({used:,} used)"),
        ]

    def tables(self, most: int | None) -> list[Grid]:
        """The features with the largest gains."""
        gains, counts = self.importance("gain"), self.importance("count")
        used = [name for name in gains if counts[name]]
        total = sum(gains.values()) or 1.0
        rows = tuple((name, f"{gains[name]:.6g}", f"{gains[name] / total:.1%}", f"{counts[name]:.0f}") for name in used[:most])
        return [Grid(("feature", "gain", "share", "splits"), rows, notes=more_note(len(used) - len(rows)))]

    def facts(self) -> dict[str, Any]:
        """Everything but the trees as JSON has it."""
        return {
            **super().facts(),
            **training_facts(self.trained()),
            "trees": len(self),
            "rounds": self.rounds,
            "leaves": int((self.trees.feature == LEAF).sum()),
            "importance": {"gain": self.importance("gain"), "count": self.importance("count")},
        }

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
        if self.grades is None:
            from rankinite.gradients.pointwise import probability

            return in_row_order(probability(self.outputs_of(features)[0], _logistic_sigma(self)), features)
        sums = self.outputs_of(features)
        shares = np.exp(sums - sums.max(axis=0))
        return in_row_order(np.ascontiguousarray((shares / shares.sum(axis=0)).T), features)

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
        matrix, columns = feature_matrix(features, names, places)
        return encode_categories(features, matrix, columns, names, places), columns

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

    # ---- parts and sums ---------------------------------------------------------------------------------------

    def truncate(self, rounds: int) -> Forest:
        """The forest of the first rounds alone. Settings and history stay those of the whole training."""
        if not 0 <= rounds <= self.rounds:
            raise ArgumentError(
                f"does not lie between 0 and {self.rounds}, the rounds of this forest",
                owner="truncate",
                setting="rounds",
                value=rounds,
                remedy="Give a number of rounds that it has",
            )
        return replace(self, trees=self.trees.take(0, rounds * self.outputs))

    def renamed(self, names: Sequence[str | None]) -> Forest:
        """The same trees with other names for the features, one for each in order; None leaves out one that no split uses."""
        new: list[Any] = list(names)
        if len(new) != len(self.feature_names) or not all(name is None or isinstance(name, str) for name in new):
            raise ArgumentError(
                f"does not fit a forest with {counted(len(self.feature_names), 'feature')}",
                owner="renamed",
                setting="names",
                value=new,
                remedy="Give a name for each feature, or None to leave it out",
            )
        kept = [position for position, name in enumerate(new) if name is not None]
        position_of = np.full(len(new) + 1, LEAF)  # a leaf has feature −1, which is the last one here
        position_of[kept] = np.arange(len(kept))
        feature = position_of[self.trees.feature]
        lost = np.unique(self.trees.feature[(feature == LEAF) & (self.trees.feature != LEAF)]).tolist()
        if lost:
            name = self.feature_names[lost[0]]
            raise ArgumentError(
                f"the feature {quoted(name)} cannot be left out, because splits use it",
                owner="renamed",
                value=name,
                remedy="Give it a name",
            )
        sketch = None if self.sketch is None else self.sketch.renamed(new)
        trees = replace(self.trees, feature=feature)
        new_name = dict(zip(self.feature_names, new, strict=True))
        categories = {new_name[name]: one for name, one in self.categories.items() if new_name[name] is not None}
        names = tuple(new[k] for k in kept)
        return replace(self, trees=trees, feature_names=names, sketch=sketch, categories=categories)

    def extended(self, other: Forest) -> Forest:
        """One forest: these trees, then those of another over the same features and outputs; the starts add up.

        Settings and history are the other's, with these settings under "base": the other was trained last.
        """
        if not _are_alike(self, other):
            raise ArgumentError(
                f"cannot be extended by {other!r}: they differ in features or grades",
                place=repr(self),
                value=other,
                remedy="Add them up to a blend with +",
            )
        first, second = self, other
        if first.categories != second.categories:
            shared = {name: union((first.categories[name], second.categories[name])) for name in first.categories}
            first, second = with_vocabularies(first, shared), with_vocabularies(second, shared)
        return replace(
            second,
            trees=join([first.trees, second.trees]),
            start=first.start + second.start,
            settings={**second.settings, "base": first.settings},
            sketch=unite_sketches(first.sketch, second.sketch),
        )

    def __add__(self, other: Scorer) -> Fitted:
        if isinstance(other, Forest) and self.grades is None and _are_alike(self, other):
            return self.extended(other)
        return super().__add__(other)

    # ---- looking inside ---------------------------------------------------------------------------------------

    def importance(self, kind: Literal["gain", "count"] = "gain") -> dict[str, float]:
        """What the splits on each feature gained, or how many there are; the largest first."""
        if kind not in IMPORTANCES:
            raise ArgumentError(
                f"is unknown; the kinds are {listed(IMPORTANCES)}",
                owner="importance",
                setting="kind",
                value=kind,
                remedy="Give one of these, or call permutation_importance",
            )
        inner = self.trees.feature != LEAF
        weights = self.trees.gain[inner] if kind == "gain" else None
        totals = np.bincount(self.trees.feature[inner], weights, minlength=len(self.feature_names))
        ranked: list[int] = np.argsort(-totals, kind="stable").tolist()
        return {self.feature_names[feature]: totals[feature].item() for feature in ranked}

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

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """What every feature adds to the sum of the trees: path-dependent TreeSHAP, from the counts of the nodes."""
        from rankinite.trees.contributions import add_contributions, covered_trees, trees_without_cover

        if self.grades is not None:
            raise not_split(
                "a McRank forest", "They are mean grades under probabilities, no sums of trees", "Distil it into a forest first"
            )
        without = np.flatnonzero(trees_without_cover(self.trees))
        if len(without):
            raise ArgumentError(
                f"{len(without)} of the {len(self)} trees, from tree {without[0]} on, have neither counts of rows nor "
                "curvatures",
                place=OWNER,
                value=int(without[0]),
                rule="Contributions are means over the training rows that came by each node",
                remedy="Load the file of a library that writes them (LightGBM, XGBoost, CatBoost, rankinite), or train or "
                "distil a forest with rankinite",
            )
        matrix, columns = self.located(features)
        trees = covered_trees(self.trees)
        values = np.zeros((len(matrix), len(self.feature_names)), SCORE)
        add_contributions(trees, matrix, values, columns)
        return Contributions(values, float(self.start[0] + trees.means.sum()), self.feature_names)

    def response(self) -> Response:
        """Steps at the thresholds, and the categories of the features that splits ask for."""
        names, trees = self.feature_names, self.trees
        has_set = trees.set_sizes > 0
        inner = (trees.feature != LEAF) & ~has_set
        feature, threshold = trees.feature[inner], trees.threshold[inner]
        return Response(
            thresholds={names[one]: np.unique(threshold[feature == one]) for one in np.unique(feature).tolist()},
            categories={names[one]: self.categories[names[one]] for one in np.unique(trees.feature[has_set]).tolist()},
        )

    # ---- files ------------------------------------------------------------------------------------------------

    def stored(self) -> Stored:
        """Its content in a model file."""
        return stored_forest(self)

    @classmethod
    def from_stored(cls, stored: Stored) -> Forest:
        """The forest of a model file."""
        return cls(**forest_parts(stored))


def _check(forest: Forest) -> None:
    """Refuse trees that the kernels could not walk, and sums that are not finite, wherever the forest comes from."""
    names, outputs = forest.feature_names, len(forest.start)
    if len(set(names)) < len(names):
        repeated = min(name for name, count in Counter(names).items() if count > 1)
        raise two_features("forest", repeated)
    forest.trees.check(len(names), "forest")
    _check_categories(forest)
    _check_outputs(forest, outputs)
    _check_numbers(forest)


def _check_categories(forest: Forest) -> None:
    """Refuse sets of features without a vocabulary, codes beyond it, and thresholds on categories."""
    sizes = np.zeros(len(forest.feature_names), np.int64)
    for name, vocabulary in forest.categories.items():
        if name not in forest.feature_names:
            raise DataError(
                f"there is a vocabulary of {quoted(name)}, which is no feature", place="forest", value=name, remedy=DAMAGED
            )
        sizes[forest.feature_names.index(name)] = max(1, len(vocabulary))
    trees, inner = forest.trees, forest.trees.feature >= 0
    asked, has_set = sizes[trees.feature[inner]], trees.set_sizes[inner] > 0
    if not np.array_equal(asked > 0, has_set):
        raise DataError(
            "a node asks for the size of a category, or for the category of a number",
            place="forest",
            rule="Nodes have sets where their feature has a vocabulary, and thresholds elsewhere",
            remedy=DAMAGED,
        )
    largest = trees.set_codes[trees.set_starts[1:][trees.set_sizes > 0] - 1] if trees.has_sets else np.zeros(0)
    if (largest >= asked[has_set]).any():
        raise DataError("a set has codes beyond its vocabulary", place="forest", value=int(largest.max()), remedy=DAMAGED)


def _check_outputs(forest: Forest, outputs: int) -> None:
    """Refuse starts, grades and trees whose numbers do not fit each other."""
    if forest.start.ndim != 1 or not outputs or (forest.grades is None and outputs != 1):
        raise DataError(
            f"the start has shape {forest.start.shape}",
            place="forest",
            value=forest.start.shape,
            remedy="Give one number, or with `grades` one per grade",
        )
    if forest.grades is not None and forest.grades.shape != forest.start.shape:
        raise DataError(
            f"the grades have shape {forest.grades.shape}, but there are {outputs} outputs",
            place="forest",
            value=forest.grades.shape,
            remedy="Give one grade per output",
        )
    if len(forest.trees) % outputs:
        raise DataError(
            f"{len(forest.trees)} trees cannot be shared by {outputs} outputs",
            place="forest",
            value=len(forest.trees),
            rule="Every round has one tree per output",
        )


def _check_numbers(forest: Forest) -> None:
    """Refuse numbers that are not finite, and sums that would not be."""
    numbers = (forest.start, forest.trees.curvature, forest.trees.gain, () if forest.grades is None else forest.grades)
    if not all(np.isfinite(array).all() for array in numbers) or (forest.trees.rows < 0).any():
        raise DataError(
            "a start, grade, curvature, gain or number of rows is infinite, NaN or negative",
            place="forest",
            rule="All must be finite, and no number of rows may be below 0",
            remedy=DAMAGED,
        )
    with np.errstate(over="ignore"):
        largest = np.abs(forest.start).max() + forest.trees.largest_sum()
    if not np.isfinite(largest):
        raise DataError(
            f"the largest leaves of its {len(forest.trees)} trees add up to a number beyond 64-bit floats, so that scores "
            "would be infinite",
            place="forest",
            value=float(largest),
            remedy="The model is damaged, or its training diverged; train it with a smaller rate",
        )


def _logistic_sigma(forest: Forest) -> float:
    """The σ of the logistic loss that the forest was trained on; refuses forests that were not."""
    from rankinite.gradients.pointwise import LOSSES

    learner, loss, sigma = (forest.settings.get(name) for name in ("learner", "loss", "sigma"))
    if learner == "MART" and loss in LOSSES and isinstance(sigma, int | float):
        return sigma
    trained = f"was trained by {learner}" if learner else "does not say how it was trained"
    on = f" with loss={quoted(loss)}" if learner and loss else ""
    raise ArgumentError(
        f"this forest {trained}{on}, so that its scores are not those of probabilities",
        place=repr(forest),
        value=(learner, loss),
        rule=f"Those of MART with loss {listed(LOSSES)} are, and those of McRank",
        remedy="Train one of these",
    )


def _are_alike(first: Forest, second: Forest) -> bool:
    """Whether the trees of two forests mean the same features and outputs."""
    if first.categories.keys() != second.categories.keys():
        return False
    if (first.grades is None) != (second.grades is None) or first.feature_names != second.feature_names:
        return False
    return first.grades is None or np.array_equal(first.grades, cast(Floats, second.grades))


def with_vocabularies(forest: Forest, categories: Mapping[str, Vocabulary]) -> Forest:
    """The same forest in the codes of other vocabularies, which have all categories of its own.

    The others were unknown to it, so they are in none of its sets.
    """
    trees = forest.trees
    codes = trees.set_codes.copy()
    owner = np.repeat(trees.feature, trees.set_sizes) if trees.has_sets else np.zeros(0, np.int32)
    for name, own in forest.categories.items():
        mine = owner == forest.feature_names.index(name)
        codes[mine] = own.codes_in(categories[name])[codes[mine]].astype(np.int32)
    if trees.has_sets:  # codes rise within each set
        codes = codes[np.lexsort((codes, np.repeat(np.arange(len(trees.feature)), trees.set_sizes)))]
    return replace(forest, trees=replace(trees, set_codes=codes), categories=dict(categories))
