"""More target-like data: background rows that lie close to target rows of the same grade (paper 001 §3).

The paper takes the target queries whose labels have the lowest entropy, which it believes to be the least noisy, as seeds. A
background row joins the target, in its own query, if its three nearest seed rows by cosine are all within a very small distance
ε, and one of them has its grade. It says neither how small ε is, nor how many queries are seeds, nor how features are scaled
before angles between rows are compared. These are settings here.

Every background row is compared with every seed row: rows × seeds × features multiplications, in blocks, so that memory does
not grow with the product. A million rows, ten thousand seeds and a hundred features take about a minute on two cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from rankinite.adapt.grade_scales import check_scales
from rankinite.adapt.held_out import TargetRanker, fit_target_ranker
from rankinite.adapt.methods import _neighbour_kernels as _kernels
from rankinite.adapt.methods.interpolate import interpolate, target_learner
from rankinite.checks import check_choice, check_count, check_flag, check_number, plain_numbers
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.dataset_checks import check_judged
from rankinite.data.identity import check_apart, row_keys
from rankinite.data.joining import check_same_features
from rankinite.engine._math_kernels import binary_logarithms
from rankinite.engine.kernel import INDEX, Features, Flags, Floats, Grades, Indices, frozen
from rankinite.engine.parallel import run
from rankinite.errors import DataError
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.base import Learner
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted
from rankinite.nets.features import Standard, fit_standard

Scaling = Literal["standard", "none"]

BLOCK = 1024
"""Background rows compared at a time: memory stays bounded whatever their number."""
UNIT = 2.0**-24
"""The largest relative error of one operation in float32."""
ROUNDING = 1e-12
"""Distances up to this count as 0: that far rounding may take a row from itself."""


@dataclass(frozen=True, eq=False)
class Distances:
    """How far every background row is from the target."""

    distance: Floats
    """1 − cosine of the row and its k-th nearest seed row."""
    matches: Flags
    """Whether one of these seed rows has its grade; rows as near as the k-th count too."""

    def within(self, limit: float) -> Flags:
        """The rows that lie within this distance and match."""
        return self.matches & (self.distance <= limit)

    def limit(self, share: float) -> float:
        """The distance within which this share of the matching rows lies."""
        known = np.sort(self.distance[self.matches])
        return float(known[max(0, int(np.ceil(share * len(known))) - 1)]) if len(known) else 0.0


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Which background rows join the target."""

    share: float = 0.5
    """Share of the target queries that are seeds: of those with more than one grade, the ones with the lowest entropy of
    grades, equal ones by qid."""
    seed_rows: int = 10_000
    """No further query becomes a seed when all seeds together would have more rows than this; there is always one."""
    nearest: int = 3
    """How many seed rows must be close; the paper's number."""
    within: float | None = None
    """How close, as 1 − cosine: the paper's ε. It depends on the data; if left out, ``keep`` decides."""
    keep: float = 0.1
    """If ``within`` is left out, the share of the background rows matching in grade that is near enough; not in the paper."""
    scaling: Scaling = "standard"
    """standard: features have mean 0 and variance 1 on the target (not in the paper); none: they are taken as they are."""
    same_scale: bool = False
    """Whether the grades are on one scale even if they do not look so."""

    def __post_init__(self) -> None:
        plain_numbers(self)
        check_number("Neighbours", "share", self.share, 0.0, 1.0, above=True)
        check_count("Neighbours", "seed_rows", self.seed_rows)
        check_count("Neighbours", "nearest", self.nearest)
        if self.within is not None:
            check_number("Neighbours", "within", self.within, 0.0, 2.0)
        check_number("Neighbours", "keep", self.keep, 0.0, 1.0, above=True)
        check_choice("Neighbours", "scaling", self.scaling, get_args(Scaling))
        check_flag("Neighbours", "same_scale", self.same_scale)

    def choose(self, background: Dataset, target: Dataset) -> Dataset:
        """The background rows that are close to seeds and have the grade of one of the nearest, in their own queries."""
        _check(background)
        background = without_weightless(background)
        found = self.distances(background, target)
        if not found.matches.any():
            raise DataError(
                f"no row has the grade of one of the {self.nearest} rows of {target.source} nearest to it",
                place=background.source,
                value=self.nearest,
                remedy="Check the grades of both, or do without neighbours",
            )
        limit = found.limit(self.keep) if self.within is None else self.within
        chosen = found.within(limit)
        if not chosen.any():
            raise DataError(
                f"no row lies within {limit:g} of {self.nearest} rows of {target.source} and has the grade of one",
                place=background.source,
                value=limit,
                remedy=f"Raise `within` (the closest such row is {found.limit(0.0):.3g} away), or leave it out",
                shell_remedy="Do without neighbours",
            )
        return background.select_rows(background.in_row_order(chosen))

    def distances(self, background: Dataset, target: Dataset) -> Distances:
        """How far each background row is from its nearest seed rows, and whether its grade is among theirs."""
        for data in (background, target):
            _check(data)
        check_same_features(target, background)
        check_scales(background, target, same_scale=self.same_scale)
        target = without_weightless(target)
        seeds = target.select_queries(self.seeds(target))
        # By content: sums must not depend on the order of rows.
        standard = fit_standard(target.features, np.argsort(row_keys(target), kind="stable"), target.source)
        known = frozen(_directions(seeds.features, standard, self.scaling))
        rough = known.astype(np.float32).T
        slack = 4.0 * (known.shape[1] + 4) * UNIT  # twice what a sum in float32 can be wrong by, and twice that to be safe
        cosine, matches = np.empty(background.rows), np.empty(background.rows, np.bool_)

        def work(first: int) -> None:
            rows = slice(first, first + BLOCK)
            directions = _directions(background.features[rows], standard, self.scaling)
            cosines = frozen(directions.astype(np.float32) @ rough)
            room = np.empty(min(self.nearest, len(known))), np.empty(len(known), INDEX), np.empty(len(known))
            grades = background.grades[rows], seeds.grades
            _kernels.look_around(cosines, frozen(directions), known, *grades, slack, *room, cosine[rows], matches[rows])

        run(work, range(0, background.rows, BLOCK))
        distance = 1.0 - cosine
        return Distances(np.where(distance < ROUNDING, 0.0, distance), matches)

    def seeds(self, target: Dataset) -> Indices:
        """The queries whose rows are seeds, in the order of the data."""
        check_judged(target)
        entropies = np.asarray([_entropy(target.grades[a:b]) for a, b in pairwise(target.offsets.tolist())])
        mixed = np.flatnonzero(entropies > 0.0)
        if not len(mixed):
            raise DataError(
                "every query has documents of one grade only, so none can be a seed",
                place=target.source,
                value=target.queries,
                remedy="Give queries with documents of several grades, or do without neighbours",
            )
        order = mixed[np.lexsort((np.argsort(np.argsort(target.qids[mixed], kind="stable")), entropies[mixed]))]
        fitting = np.searchsorted(np.cumsum(np.diff(target.offsets)[order]), self.seed_rows, side="right")
        return np.sort(order[: max(1, min(round(self.share * len(mixed)), int(fitting)))])


def _directions(features: Features, standard: Standard, scaling: Scaling) -> Floats:
    """Rows of length 1; missing values count as the mean. A row of zeros stays one, at right angles to all others."""
    values = np.where(np.isnan(features), standard.centre, features)
    if scaling == "standard":
        values = (values - standard.centre) * standard.scale
    length = np.sqrt((values * values).sum(axis=1, keepdims=True))
    return np.divide(values, length, out=np.zeros_like(values), where=length > 0.0)


def _entropy(grades: Grades) -> float:
    shares = np.sort(np.unique(grades, return_counts=True)[1]) / len(grades)
    return 0.0 if len(shares) == 1 else float(-(shares * binary_logarithms(shares)).sum())


def _check(data: Any) -> None:
    if not isinstance(data, Dataset):
        kind = type(data).__name__
        raise DataError(f"a {kind} cannot have neighbours", value=kind, remedy="Give judged data, as rankinite.read returns")
    check_judged(data)
    for first in range(0, data.rows, BLOCK):
        infinite = np.argwhere(np.isinf(data.features[first : first + BLOCK]))
        if len(infinite):
            row, feature = infinite[0].tolist()
            raise DataError(
                f"feature {data.feature_names[feature]!r} is infinite, and so would be its distance",
                place=f"{data.source}, row {first + row}",
                value=data.feature_names[feature],
                remedy="Read the data with `infinite='clip'`",
            )


def neighbours(
    backgrounds: Scorer | Sequence[Scorer],
    target: Dataset,
    background_data: Dataset,
    valid: Dataset | None = None,
    *,
    measure: Measure | str = "ndcg@10",
    which: Neighbours | None = None,
    own: TargetRanker | None = None,
    learner: Learner | None = None,
    folds: int = 5,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Fitted:
    """Weigh the background, a ranker of the target alone, and one of the target and background rows that are like it.

    With one background that is the paper's 3-way interpolation. ``which``: what rows are like it. ``own``: the ranker of the
    target alone, if it is trained already. The rows are chosen once, by all of the target; folds then hold out its queries.
    Queries that ``background_data`` shares with the others, or ``target`` and ``valid`` with each other, are refused unless
    ``allow_overlap`` is true.
    """
    learnt, judged = {"background_data": background_data, "target": target}, {"target": target, "valid": valid}
    check_apart(learnt, judged, allow_overlap=allow_overlap)
    target = without_weightless(target)
    maker = target_learner(measure, seed, target.rows) if learner is None else learner
    alone = fit_target_ranker(maker, target, valid, folds=folds, seed=seed) if own is None else own
    chosen = (Neighbours() if which is None else which).choose(background_data, target)
    third = fit_target_ranker(maker, target, valid, extra=chosen, folds=folds, seed=seed)
    return interpolate(backgrounds, target, valid, measure=measure, own=(alone, third), allow_overlap=True)  # checked above
