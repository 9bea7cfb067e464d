"""Trada: the trees of a background forest, tuned node by node to a few target rows (paper 003 §4).

At a node that n₀ source rows and n₁ target rows reach, p = n₀ / (n₀ + βn₁) says how much the source counts. The tree is one of
a sum: target rows come with what the trees before it, already adapted, leave to be explained. In squared loss that is the grade
minus the score, and a node's own response is its mean; for forests trained on λ-gradients, which the paper does not have, it is
the λ's at the scores so far, and the response is Newton's step Σλ/Σw. Both are multiplied by the shrinkage. Where a
background's scores lie far apart, the λ's are taken at a σ that brings them near (``WIDE``).

A query of weight w counts as w queries, in n₁ too. Neither the order of rows and queries nor the number of threads changes a
bit of the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np

from rankinite.adapt import _trada_kernels as _kernels
from rankinite.adapt._trada_kernels import COUNT, CURVATURE, PUSH
from rankinite.adapt.grades import check_predicted
from rankinite.adapt.settings import last_told, told
from rankinite.adapt.tuning import first_good, matched
from rankinite.checks import check_choice, check_flag, check_number, plain_numbers
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, DataError, listed
from rankinite.evaluation.evaluate import as_measures
from rankinite.gradients.base import Objective, weight_of_rows
from rankinite.gradients.lambdas import Lambdas, trainable
from rankinite.gradients.ranknet import pairs_of
from rankinite.gradients.squared import SquaredLoss
from rankinite.kernel import Features, Flags, Floats, Indices, frozen
from rankinite.measures.base import Measure
from rankinite.parallel import Team, over_queries, run
from rankinite.rankers.forest import Forest
from rankinite.rankers.inputs import columns_of
from rankinite.rankers.training import one_measure
from rankinite.scoring._kernels import Nodes
from rankinite.scoring.forest import walks_of
from rankinite.trees.structure import LEAF, Integers, Trees

BETAS: tuple[float, ...] = (3.0, 10.0, 30.0)
"""What is tried when β is chosen, the smallest first: it is the one that changes least."""
Responses = Literal["layers", "leaves"]
Loss = Literal["squared", "lambda", "pairs"]
WIDE = 2.0
"""How far apart a background's scores may lie, as σ times their standard deviation. Beyond it σ is made smaller for the target:
hardly any pair would be in doubt, and those in the wrong order would push without curvature, over all bounds."""


def trada(
    background: Forest,
    target: Dataset,
    beta: float | None = 10.0,
    *,
    responses: Responses = "layers",
    splits: bool = False,
    trim: bool = False,
    loss: Loss | None = None,
    rate: float | None = None,
    measure: Measure | str | None = None,
    valid: Dataset | None = None,
    folds: int = 5,
    seed: int = 0,
    same_scale: bool = False,
) -> Forest:
    """The background forest, tuned to target data; see :class:`Trada` for what the settings mean.

    ``beta=None`` chooses β on ``valid``, else by folds over the target's queries. Additional trees (algorithm 3 of the paper)
    are boosted from the result: ``LambdaMART(trees=30, …).fit(target, base=tuned)``.
    """
    how = Trada(responses=responses, splits=splits, trim=trim, loss=loss, rate=rate, measure=measure, same_scale=same_scale)
    if beta is not None:
        return replace(how, beta=beta).adapt(background, target)
    return how.adapt_tuned(background, target, valid, folds=folds, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Trada:
    """How a forest is tuned to target data."""

    beta: float = 10.0
    """How many source rows a target row counts for; 0 changes nothing."""
    responses: Responses = "layers"
    """What is tuned: what each node on the way adds (R in the paper), or the value of the leaf alone (RA)."""
    splits: bool = False
    """Whether thresholds move too, towards the target's own best (S)."""
    trim: bool = False
    """Whether branches that no target row reaches are cut off (T)."""
    loss: Loss | None = None
    """What the forest was trained for: squared, lambda (a measure) or pairs (RankNet); if left out, what the model says."""
    rate: float | None = None
    """The shrinkage it was trained with; if left out, what the model says."""
    measure: Measure | str | None = None
    """The measure of the λ-gradients; if left out, what the model says, else ndcg@10."""
    same_scale: bool = False
    """Whether the grades mean what they did where the forest was trained on squared loss, though it does not look so."""

    def __post_init__(self) -> None:
        plain_numbers(self)
        check_number("Trada", "beta", self.beta, 0.0)
        check_choice("Trada", "responses", self.responses, get_args(Responses))
        check_flag("Trada", "splits", self.splits)
        check_flag("Trada", "trim", self.trim)
        check_flag("Trada", "same_scale", self.same_scale)
        if self.loss is not None:
            check_choice("Trada", "loss", self.loss, get_args(Loss))
        if self.rate is not None:
            check_number("Trada", "rate", self.rate, 0.0, 1.0, above=True)
        if self.measure is not None:
            object.__setattr__(self, "measure", trainable(one_measure("Trada", "measure", self.measure)))

    def adapt_tuned(
        self,
        background: Forest,
        target: Dataset,
        valid: Dataset | None = None,
        *,
        measure: Measure | str | None = None,
        betas: Sequence[float] = BETAS,
        folds: int = 5,
        seed: int = 0,
    ) -> Forest:
        """Tune with the smallest β that does about as well as the best on queries held out (paper 003 §5.5.1)."""
        judge = one_measure("Trada", "measure", measure or self._measure(background))
        ways = [replace(self, beta=beta) for beta in betas]
        makers = [partial(way.adapt, background) for way in ways]
        return makers[first_good(makers, target, valid, judge, folds=folds, seed=seed)](target)

    def adapt(self, background: Forest, target: Dataset) -> Forest:
        """The background forest, tuned to the target: with the same trees, unless trimmed, and other numbers in them."""
        _check(background, target)
        background = cast(Forest, matched(background, target))
        rate, loss = self._rate(background), self._loss(background)
        objective = self._objective(loss, background, target)
        tuning = _Tuning(self, rate, background.trees, _Rows(background, target))
        constant = _constant(background) if loss == "squared" else 0.0
        scores = np.full((1, target.rows), background.start[0])
        push, curvature = np.empty_like(scores), np.empty_like(scores)
        with Team():
            for number in range(len(background)):
                objective.gradients(scores + constant, push, curvature)
                scores[0] += tuning.tune(number, push[0], curvature[0], constant)
                constant = 0.0  # if any, it is in the first tree alone
        own = {name: getattr(self, name) for name in ("beta", "responses", "splits", "trim", "loss", "rate")}
        own["measure"] = None if self.measure is None else str(self.measure)
        settings = {"learner": "Trada", **own, "base": background.settings}
        return replace(background, trees=tuning.result(), settings=settings, history=None)

    def _rate(self, background: Forest) -> float:
        if self.rate is not None:
            return self.rate
        rates = told(background, "rate")
        if len(rates) != 1:
            what = (
                f"was trained in parts with rates {listed(rates)}"
                if rates
                else "does not say with which shrinkage it was trained"
            )
            raise ArgumentError(f"{background!r} {what}. Give rate=, such as 0.1.")
        return float(rates[0])

    def _loss(self, background: Forest) -> Loss:
        losses: list[Any] = told(background, "loss") if self.loss is None else [self.loss]
        if len(losses) != 1 or losses[0] not in get_args(Loss):
            what = f"was trained for {listed(losses)}" if losses else "does not say what loss it was trained for"
            known = " or ".join(f"loss={loss!r}" for loss in get_args(Loss))
            raise ArgumentError(f"{background!r} {what}. One loss out of these can be tuned for: give {known} if it is near.")
        return losses[0]

    def _objective(self, loss: Loss, background: Forest, target: Dataset) -> Objective:
        """What the forest was trained for, on the target; where the model does not say, as LambdaMART does."""
        if loss == "squared":
            check_predicted(background, target, same_scale=self.same_scale)
            return SquaredLoss(target)
        spread = float(np.sort(background.score(target)).std())
        sigma = min(float(last_told(background, "sigma", 1.0)), WIDE / spread if spread > 0.0 else math.inf)
        if loss == "pairs":
            return pairs_of(target, sigma)
        measure = trainable(as_measures(self._measure(background))[0])
        truncation, normalise = last_told(background, "truncation"), last_told(background, "normalise", True)
        return Lambdas(target, measure, sigma, truncation, normalise=normalise)

    def _measure(self, background: Forest) -> Measure | str:
        return self.measure or last_told(background, "measure", "ndcg@10")


def _constant(background: Forest) -> float:
    """The mean grade, where it stands in the first tree in place of ``start``: LightGBM does so."""
    learners = told(background, "learner")
    return float(background.trees.value[0]) if learners[-1:] == ["LightGBM"] and len(background) else 0.0


def _check(background: Any, target: Any) -> None:
    if not isinstance(background, Forest) or background.grades is not None:
        raise ArgumentError(f"{background!r} cannot be tuned tree by tree. Give a forest with one score, such as LambdaMART's.")
    if not isinstance(target, Dataset) or not target.rows:
        raise DataError("the target data are no Dataset with rows. Give judged data, as rankinite.read returns.")
    if len(background) and not background.trees.rows.any() and not background.trees.curvature.any():
        raise DataError(f"{background!r} has no node counts, which say how much the source counts. Train or import it again.")
    counted = background.trees.rows[background.trees.offsets[:-1]] > 0
    if counted.any() and not counted.all():
        raise DataError(
            f"{background!r}: some of its trees know the number of their rows, others (XGBoost's) only curvature, so they "
            "cannot be tuned together. Tune the imported forest first, then add trees."
        )


class _Rows:
    """Target rows: the columns that the trees ask for, and what each row brings along, as whole numbers."""

    def __init__(self, background: Forest, target: Dataset) -> None:
        asked = background.trees.feature
        used: Indices = np.unique(asked[asked != LEAF]).astype(np.int64)
        self.slots: Indices = np.zeros(len(background.feature_names), np.int64)  # where each feature's column is
        self.slots[used] = np.arange(len(used))
        columns = columns_of(target.feature_names, background.feature_names, target.source)
        places = used if columns is None else columns[used]
        self.offsets = target.offsets
        self.columns: Features = np.empty((len(places), target.rows), np.float32)
        self.whole: Indices = np.empty((3, target.rows), np.int64)
        self.units: Floats = np.ones(3)
        self.leaf: Nodes = np.zeros(target.rows, np.uint32)
        self.room: Integers = np.zeros(target.rows, np.int32)

        def copy(first: int, last: int) -> None:
            for start in range(target.offsets[first], target.offsets[last], 256):  # so many rows at a time fit the cache
                end = min(start + 256, int(target.offsets[last]))
                self.columns[:, start:end] = target.features[start:end].T[places]

        over_queries(copy, self.offsets)
        self.bring(COUNT, weight_of_rows(target))

    def bring(self, what: int, values: Floats) -> None:
        """Let every row bring along a number: how much it counts, its push or its curvature."""
        largest = max(float(values.max()), -float(values.min()))
        # All rows together stay below 2⁶².
        self.units[what] = unit = math.ldexp(1.0, max(math.frexp(largest)[1], -900) + len(values).bit_length() - 62)
        _kernels.make_whole(frozen(values), unit, self.whole[what])

    def ordered(self) -> tuple[Integers, Indices]:
        """The rows by rising value of every column, missing ones last; and how many are not missing."""
        order = np.empty(self.columns.shape, np.int32)

        def work(column: int) -> None:
            order[column] = np.argsort(self.columns[column])

        run(work, range(len(order)))
        return order, len(self.leaf) - np.isnan(self.columns).sum(axis=1)


class _Tuning:
    """All trees, on their way from the source to the target."""

    def __init__(self, how: Trada, rate: float, trees: Trees, rows: _Rows) -> None:
        self.how, self.rate, self.trees, self.rows = how, rate, trees, rows
        counted = trees.rows.any()  # files that store curvature alone have that to count by
        self.source: Floats = frozen(trees.rows.astype(float) if counted else trees.curvature)
        self.counter = COUNT if counted else CURVATURE
        self.nodes = walks_of(trees).with_columns(rows.slots).nodes
        self.threshold, self.value = trees.threshold.copy(), trees.value.copy()
        self.reached: Flags = np.zeros(len(self.value), np.bool_)
        self.order = rows.ordered() if how.splits else None

    def tune(self, number: int, push: Floats, curvature: Floats, constant: float) -> Floats:
        """Tune one tree to what is left to be explained; what it now adds to the score of every target row."""
        rows, how = self.rows, self.how
        rows.bring(PUSH, push)
        rows.bring(CURVATURE, curvature)
        root, end = int(self.trees.offsets[number]), int(self.trees.offsets[number + 1])
        if self.order is not None:
            arrays = (rows.columns, *self.order, self.nodes, self.source, rows.whole, rows.units)
            _kernels.move_thresholds(*arrays, root, end, self.counter, how.beta, self.threshold, rows.leaf, rows.room)
        sums = self._sums(root, end)
        numbers = (root, self.counter, how.beta, self.rate, constant, how.responses == "layers")
        _kernels.tune_values(self.nodes, self.trees.value, self.source, rows.units, *numbers, sums, self.value)
        self.reached[root:end] = sums[:, COUNT] > 0
        return self.value[rows.leaf]

    def _sums(self, root: int, end: int) -> Indices:
        """What the rows that end in each leaf bring along, shape (nodes, 3)."""
        rows = self.rows

        def work(first: int, last: int) -> Indices:
            sums = np.zeros((end - root, 3), np.int64)
            ends = (root, int(rows.offsets[first]), int(rows.offsets[last]))
            _kernels.send_down(rows.columns, self.nodes, self.threshold, rows.whole, *ends, sums, rows.leaf)
            return sums

        return np.sum(over_queries(work, rows.offsets), axis=0)

    def result(self) -> Trees:
        """The tuned trees."""
        tuned = replace(self.trees, value=self.value, threshold=self.threshold)
        if not self.how.trim:
            return tuned
        kept: Flags = np.zeros_like(self.reached)
        _kernels.mark_kept(self.nodes, self.trees.offsets[:-1], self.reached, kept)
        return _trimmed(tuned, kept, self.reached)


def _trimmed(trees: Trees, kept: Flags, reached: Flags) -> Trees:
    """The trees of the nodes kept alone; those not reached are leaves."""
    offsets: Indices = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)))[trees.offsets]
    place = np.cumsum(kept) - 1 - np.repeat(offsets[:-1], np.diff(trees.offsets))  # of each node in its new tree
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    inner = (trees.feature != LEAF) & reached
    changed: dict[str, Any] = {
        "feature": np.where(inner, trees.feature, LEAF),
        "threshold": np.where(inner, trees.threshold, 0.0),
        "missing_left": trees.missing_left & inner,
        "left": np.where(inner, place[root + trees.left], 0),
        "right": np.where(inner, place[root + trees.right], 0),
        "gain": np.where(inner, trees.gain, 0.0),
        **{name: getattr(trees, name) for name in ("value", "rows", "curvature")},
    }
    return Trees(**{name: array[kept] for name, array in changed.items()}, offsets=offsets)
