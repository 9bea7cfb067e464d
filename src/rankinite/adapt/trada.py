"""Trada: the trees of a background forest, tuned node by node to a few target rows (paper 003 §4).

At a node that n₀ source rows and n₁ target rows reach, p = n₀ / (n₀ + βn₁) says how much the source counts. The tree is one of
a sum: target rows come with what the trees before it, already adapted, leave to be explained. In squared loss that is the grade
minus the score, and a node's own response is its mean; for forests trained on λ-gradients, which the paper does not have, it is
the λ's at the scores so far, and the response is Newton's step Σλ/Σw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from rankinite.adapt import _trada_kernels as _kernels
from rankinite.checks import check_choice, check_flag, check_number
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.evaluate import as_measures
from rankinite.gradients.base import Objective
from rankinite.gradients.lambdas import Lambdas, trainable
from rankinite.gradients.squared import SquaredLoss
from rankinite.kernel import Features, Floats, Indices, frozen
from rankinite.measures.base import Measure
from rankinite.parallel import run
from rankinite.rankers.forest import Forest
from rankinite.rankers.inputs import columns_of
from rankinite.trees.structure import LEAF, Trees, join

Responses = Literal["layers", "leaves"]
Loss = Literal["squared", "lambda"]
PIECES = 8
"""Target rows are sent down in so many pieces, whatever the threads: the order of sums must not depend on these."""


@dataclass(frozen=True, kw_only=True)
class Trada:
    """How a forest is tuned to target data."""

    beta: float = 10.0
    """How many source rows a target row counts for."""
    responses: Responses = "layers"
    """What is tuned: what each node on the way adds (R in the paper), or the value of the leaf alone (RA)."""
    splits: bool = False
    """Whether thresholds move too, towards the target's own best (S)."""
    trim: bool = False
    """Whether branches that no target row reaches are cut off (T)."""
    loss: Loss | None = None
    """What the forest was trained for: squared or lambda; if left out, what the model says."""
    rate: float | None = None
    """The shrinkage it was trained with; if left out, what the model says."""
    measure: Measure | str | None = None
    """The measure of the λ-gradients; if left out, what the model says, else ndcg@10."""

    def __post_init__(self) -> None:
        check_number("Trada", "beta", self.beta, 0.0)
        check_choice("Trada", "responses", self.responses, get_args(Responses))
        check_flag("Trada", "splits", self.splits)
        check_flag("Trada", "trim", self.trim)
        if self.loss is not None:
            check_choice("Trada", "loss", self.loss, get_args(Loss))
        if self.rate is not None:
            check_number("Trada", "rate", self.rate, 0.0, 1.0, above=True)

    def adapt(self, background: Forest, target: Dataset) -> Forest:
        """The background forest, tuned to the target."""
        _check(background, target)
        columns = columns_of(target.feature_names, background.feature_names, target.source)
        features = target.features if columns is None else frozen(np.ascontiguousarray(target.features[:, columns]))
        rate, objective = self._rate(background), self._objective(background, target)
        scores = np.full((1, target.rows), background.start[0])
        push, curvature = np.empty_like(scores), np.empty_like(scores)
        adapted: list[Trees] = []
        for number in range(len(background)):
            objective.gradients(scores, push, curvature)
            rows = _Rows(features, push[0], curvature[0])
            tree, leaf = _Tuning(self, background.trees.take(number, number + 1), rate).tuned(rows)
            scores[0] += tree.value[leaf]
            adapted.append(tree)
        settings = {"learner": "Trada", **self._told(), "base": background.settings}
        return replace(background, trees=join(adapted), settings=settings, history=None)

    def _told(self) -> dict[str, Any]:
        names = ("beta", "responses", "splits", "trim", "loss", "rate")
        return {name: getattr(self, name) for name in names} | {"measure": None if self.measure is None else str(self.measure)}

    def _rate(self, background: Forest) -> float:
        rate = _setting(background, "rate") if self.rate is None else self.rate
        if not isinstance(rate, int | float):
            raise ArgumentError(f"{background!r} does not say with which shrinkage it was trained. Give rate=, such as 0.1.")
        return float(rate)

    def _objective(self, background: Forest, target: Dataset) -> Objective:
        loss = _setting(background, "loss") if self.loss is None else self.loss
        if loss is None:
            loss = {"LambdaMART": "lambda", "RankNetTrees": "lambda"}.get(str(_setting(background, "learner")))
        if loss not in get_args(Loss):
            raise ArgumentError(
                f"{background!r} does not say what loss it was trained for, or it is {loss!r}, which cannot be tuned. Give "
                "loss='squared' or loss='lambda'."
            )
        if loss == "squared":
            return SquaredLoss(target)
        measure = self.measure or _setting(background, "measure") or "ndcg@10"
        return Lambdas(target, trainable(as_measures(measure)[0]), float(_setting(background, "sigma") or 1.0))


def _setting(forest: Forest, name: str) -> Any:
    """A setting of the first training, below what may have been built on it."""
    settings: Any = forest.settings
    while isinstance(settings.get("base"), dict):
        settings = settings["base"]
    return settings.get(name)


def _check(background: Any, target: Any) -> None:
    if not isinstance(background, Forest) or background.grades is not None:
        raise ArgumentError(f"{background!r} cannot be tuned tree by tree. Give a forest with one score, such as LambdaMART's.")
    if not isinstance(target, Dataset) or not target.rows:
        raise DataError("the target data are no Dataset with rows. Give judged data, as rankinite.read returns.")
    inner = background.trees.feature != LEAF
    if not background.trees.rows[inner].any() and not background.trees.curvature[inner].any():
        raise DataError(f"{background!r} has no node counts, which say how much the source counts. Train or import it again.")


@dataclass(frozen=True, eq=False)
class _Rows:
    """Target rows and what is left to be explained of each."""

    features: Features
    push: Floats
    curvature: Floats

    def sent_down(self, tree: Trees) -> tuple[Floats, Indices]:
        """Rows, Σ push and Σ curvature of every node, shape (3, nodes); and the leaf of every row."""
        feature, left, right = (frozen(array.astype(np.int64)) for array in (tree.feature, tree.left, tree.right))
        push, curvature = frozen(self.push), frozen(self.curvature)
        leaf = np.zeros(len(self.push), np.int64)
        cuts = [len(self.push) * k // PIECES for k in range(PIECES + 1)]

        def work(piece: int) -> Floats:
            sums = np.zeros((3, len(tree.feature)))
            rows = (self.features, push, curvature, cuts[piece], cuts[piece + 1])
            _kernels.send_down(feature, tree.threshold, tree.missing_left, left, right, *rows, sums, leaf)
            return sums

        return np.sum(run(work, range(PIECES)), axis=0), leaf


class _Tuning:
    """One tree on its way from the source to the target."""

    def __init__(self, how: Trada, tree: Trees, rate: float) -> None:
        self.how, self.tree, self.rate = how, tree, rate
        counted = tree.rows.any()  # files that store curvature alone have that to count by
        self.source: Floats = tree.rows.astype(float) if counted else tree.curvature
        self.counter = 0 if counted else 2
        self.parent = np.full(len(tree.feature), -1)
        inner = np.flatnonzero(tree.feature != LEAF)
        self.parent[tree.left[inner]] = inner
        self.parent[tree.right[inner]] = inner

    def tuned(self, rows: _Rows) -> tuple[Trees, Indices]:
        """The tuned tree, and the leaf of every target row in it."""
        tree = self._moved(rows) if self.how.splits else self.tree
        sums, leaf = rows.sent_down(tree)
        values = self._values(tree, sums)
        if not self.how.trim:
            return replace(tree, value=values), leaf
        return _trimmed(replace(tree, value=values), sums[0], leaf)

    def _share(self, sums: Floats) -> Floats:
        """1 − p: how much the target counts at every node."""
        weight = self.how.beta * sums[self.counter]
        total = self.source + weight
        return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0.0)

    def _values(self, tree: Trees, sums: Floats) -> Floats:
        """What every node adds, had it no children."""
        share, before = self._share(sums), tree.value
        own = self.rate * np.divide(sums[1], sums[2], out=np.zeros(len(before)), where=sums[2] > 0.0)
        reached = sums[0] > 0.0
        if self.how.responses == "leaves":
            return np.where(reached, before + share * (own - before), before)
        values = before.copy()
        added = np.zeros(len(before))
        for node in range(len(before)):  # parents come first
            up = self.parent[node]
            if up < 0:
                added[node] = share[node] * (own[node] - before[node]) if reached[node] else 0.0
            else:
                step = share[node] * ((own[node] - own[up]) - (before[node] - before[up])) if reached[node] else 0.0
                added[node] = added[up] + step
            values[node] = before[node] + added[node]
        return values

    def _moved(self, rows: _Rows) -> Trees:
        """The tree with thresholds between the source's and the target's own, from the root down."""
        tree, threshold = self.tree, self.tree.threshold.copy()
        inside: dict[int, Indices] = {0: np.arange(len(rows.push))}
        for node in range(len(tree.feature)):
            own = inside.pop(node, np.empty(0, np.int64))
            if tree.feature[node] == LEAF or not len(own):
                continue
            values = rows.features[own, tree.feature[node]].astype(float)
            known = own[~np.isnan(values)]
            cut = self._cut(values[~np.isnan(values)], rows.push[known], rows.curvature[known])
            if not np.isnan(cut):
                counts = np.asarray([len(own), 0.0, rows.curvature[own].sum()])[:, None]
                weight = self.how.beta * counts[self.counter, 0]
                share = weight / (self.source[node] + weight) if self.source[node] + weight > 0.0 else 0.0
                threshold[node] = tree.threshold[node] + share * (cut - tree.threshold[node])
            goes_left = np.where(np.isnan(values), tree.missing_left[node], values <= threshold[node])
            inside[int(tree.left[node])], inside[int(tree.right[node])] = own[goes_left], own[~goes_left]
        return replace(tree, threshold=threshold)

    def _cut(self, values: Floats, push: Floats, curvature: Floats) -> float:
        order = np.argsort(values, kind="stable")
        return float(_kernels.best_cut(frozen(values[order]), frozen(push[order]), frozen(curvature[order])))


def _trimmed(tree: Trees, counts: Floats, leaf: Indices) -> tuple[Trees, Indices]:
    """The tree in which a node that no target row reaches is a leaf, and where the rows now end."""
    keep, place = [0], 0
    cut = (counts == 0) | (tree.feature == LEAF)
    while place < len(keep):
        node = keep[place]
        if not cut[node]:
            keep += [int(tree.left[node]), int(tree.right[node])]
        place += 1
    kept = np.asarray(keep)
    place_of = np.zeros(len(tree.feature), np.int64)
    place_of[kept] = np.arange(len(kept))
    ends = cut[kept]
    changed: dict[str, Any] = {
        "feature": np.where(ends, LEAF, tree.feature[kept]),
        "threshold": np.where(ends, 0.0, tree.threshold[kept]),
        "missing_left": tree.missing_left[kept] & ~ends,
        "left": np.where(ends, 0, place_of[tree.left[kept]]),
        "right": np.where(ends, 0, place_of[tree.right[kept]]),
        "gain": np.where(ends, 0.0, tree.gain[kept]),
        **{name: getattr(tree, name)[kept] for name in ("value", "rows", "curvature")},
    }
    return Trees(**changed, offsets=np.asarray([0, len(kept)])), place_of[leaf]


BETAS: Sequence[float] = (1.0, 3.0, 10.0, 30.0, 100.0)
"""What is tried when β is to be chosen."""
