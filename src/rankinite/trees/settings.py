"""TreeSettings: what trees should be like."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from rankinite.checks import check_choice, check_count, check_number, check_seed, plain_numbers
from rankinite.errors import ArgumentError, DataError, listed, quoted

if TYPE_CHECKING:
    from rankinite.engine.kernel import Indices

Criterion = Literal["newton", "mse"]
Shape = Literal["best-first", "symmetric"]
Thresholds = Literal["best", "random"]
MOST_LEVELS = 20
"""Levels of a symmetric tree: a million leaves."""


@dataclass(frozen=True, kw_only=True)
class TreeSettings:
    """The settings of every learner that grows trees."""

    leaves: int = 31
    """Leaves of a tree, at most; a symmetric tree has the largest power of two that fits."""
    depth: int | None = None
    """Levels of a tree, at most; no limit if left out."""
    min_rows: int = 20
    """Rows a leaf must have, whatever their queries weigh; in a symmetric tree, a leaf with fewer takes its parent's value."""
    min_curvature: float = 0.0
    """Curvature (second derivative of the cost) a leaf must have, summed over its rows."""
    l2: float = 0.0
    """Added to a leaf's curvature: pulls the values of light leaves towards 0."""
    criterion: Criterion = "newton"
    """How splits are judged: newton (the cost to second order) or mse (least squares on the gradients, as in the papers; a
    row counts as often as its query weighs)."""
    shape: Shape = "best-first"
    """best-first splits the leaf that gains most; symmetric asks one question per level, which regularises."""
    thresholds: Thresholds = "best"
    """best, or random: one threshold drawn per feature and node (symmetric: and level), which regularises."""
    row_share: float = 1.0
    """Share of the rows drawn for each tree."""
    query_share: float = 1.0
    """Share of the queries drawn for each tree."""
    feature_share: float = 1.0
    """Share of the features drawn for each tree."""
    node_row_share: float = 1.0
    """Share of a node's rows drawn to find its split."""
    node_feature_share: float = 1.0
    """Share of the features drawn for each node (symmetric: for each level)."""
    monotone: tuple[str, ...] = ()
    """Features the score must not fall with (+name) or not rise with (-name)."""
    category_rows: int = 5
    """Rows a category must have in the training data to be told apart; rarer ones go where missing values go."""
    category_smooth: float = 100.0
    """Rows by which a category's mean is pulled towards that of its node before categories are put in order, and by which
    splits of many categories are held back: more for many categories with few rows each."""
    bins: int = 255
    """Bins a feature's values are put into, at most 255."""
    bin_sample: int = 100_000
    """Rows the bins are made from, drawn by their content; all, if there are no more."""
    seed: int = 0
    """Seed of everything that is drawn at random."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        plain_numbers(self)  # those of the learners too
        whole = {"leaves": 2, "min_rows": 1, "category_rows": 1, "bins": 2, "bin_sample": 1}
        for field, least in whole.items():
            check_count(name, field, getattr(self, field), least)
        if self.depth is not None:
            check_count(name, "depth", self.depth, 1)
        check_seed(name, self.seed)
        if self.bins > 255:
            raise ArgumentError(
                "is too many", owner=name, setting="bins", value=self.bins, rule="A code is one byte", remedy="Give at most 255"
            )
        for field in ("min_curvature", "l2", "category_smooth"):
            check_number(name, field, getattr(self, field), 0.0)
            object.__setattr__(self, field, float(getattr(self, field)))  # 1 and 1.0 must make the same model file
        for field in ("row_share", "query_share", "feature_share", "node_row_share", "node_feature_share"):
            check_number(name, field, getattr(self, field), 0.0, 1.0, above=True)
            object.__setattr__(self, field, float(getattr(self, field)))
        for field, known in (("criterion", Criterion), ("shape", Shape), ("thresholds", Thresholds)):
            check_choice(name, field, getattr(self, field), get_args(known))
        object.__setattr__(self, "monotone", _monotone_entries(name, self.monotone))
        if self.shape == "symmetric":
            self._check_symmetric(name)

    @property
    def draws_for_trees(self) -> bool:
        """Whether rows are drawn for each tree."""
        return min(self.row_share, self.query_share) < 1.0

    @property
    def draws(self) -> bool:
        """Whether rows are drawn at random, for trees or at nodes."""
        return self.draws_for_trees or self.node_row_share < 1.0

    @property
    def is_random(self) -> bool:
        """Whether two trees on the same gradients may differ."""
        return self.draws or self.thresholds == "random" or min(self.feature_share, self.node_feature_share) < 1.0

    def _check_symmetric(self, name: str) -> None:
        """Refuse settings that symmetric trees cannot follow."""
        if self.levels() > MOST_LEVELS:
            raise ArgumentError(
                "is too many for `shape='symmetric'`, whose trees have room for all of them",
                owner=name,
                setting="leaves",
                value=self.leaves,
                remedy=f"Give fewer than {2 << MOST_LEVELS}, or a `depth` of at most {MOST_LEVELS}",
            )
        if self.node_row_share < 1.0:
            raise ArgumentError(
                "does not go with `shape='symmetric'`, where all nodes of a level share one split",
                owner=name,
                setting="node_row_share",
                value=self.node_row_share,
                remedy="Draw rows for each tree with `row_share`, or choose `shape='best-first'`",
            )

    def levels(self) -> int:
        """The levels of a symmetric tree: as many as its leaves fill."""
        fitting = self.leaves.bit_length() - 1
        return fitting if self.depth is None else min(self.depth, fitting)

    def signs(self, feature_names: Sequence[str], categories: Collection[str] = ()) -> Indices:
        """The monotone constraint of every feature: 1, −1 or 0. Those that are categories can have none."""
        import numpy as np

        signs = np.zeros(len(feature_names), np.int64)
        position = {name: column for column, name in enumerate(feature_names)}
        for entry in self.monotone:
            if entry[1:] not in position:
                raise DataError(
                    f"names no feature: none is called {quoted(entry[1:])}",
                    setting="monotone",
                    value=entry,
                    rule=f"The features are {listed(feature_names)}",
                )
            if entry[1:] in categories:
                raise DataError(
                    "names a category, and categories have no sizes that a score could rise with",
                    setting="monotone",
                    value=entry,
                    remedy="Leave it out, or read the feature as a number",
                )
            signs[position[entry[1:]]] = 1 if entry[0] == "+" else -1
        return signs


def _monotone_entries(name: str, monotone: object) -> tuple[str, ...]:
    entries: tuple[object, ...] = (monotone,)
    if isinstance(monotone, Iterable) and not isinstance(monotone, str):
        entries = tuple(monotone)
    for entry in entries:
        if not isinstance(entry, str) or len(entry) < 2 or entry[0] not in "+-":
            raise ArgumentError(
                "is not a sign and the name of a feature",
                owner=name,
                setting="monotone",
                value=entry,
                remedy="Write them as '+bm25' or '-url_length'",
            )
    signs = tuple(str(entry) for entry in entries)
    known = set(signs)
    both = [entry for entry in signs if entry[0] == "+" and f"-{entry[1:]}" in known]
    if both:
        raise ArgumentError(
            f"contradicts {quoted('-' + both[0][1:])}, which is given too",
            owner=name,
            setting="monotone",
            value=both[0],
            remedy="Give one of them",
        )
    return signs
