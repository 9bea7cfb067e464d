"""Trada: the trees of a background forest, tuned node by node to a few target rows (paper 003 §4).

At a node that n₀ source rows and n₁ target rows reach, p = n₀ / (n₀ + βn₁) is how much the source counts. The tree is one of
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
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np

from rankinite.adapt.background_settings import last_recorded, recorded_measure, recorded_values
from rankinite.adapt.grade_scales import check_predicted
from rankinite.adapt.held_out import first_good, match_background
from rankinite.adapt.methods.trada_trees import TargetRows, Tuning
from rankinite.checks import check_choice, check_flag, check_number, plain_numbers
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.identity import QuerySketch, check_apart, unite_sketches
from rankinite.engine.parallel import Team
from rankinite.errors import ArgumentError, DataError, listed, quoted
from rankinite.gradients.base import Objective, weight_of_rows, weighted_mean
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.pointwise import SquaredLoss
from rankinite.gradients.ranknet import pairs_of
from rankinite.learners.base import plain_setting
from rankinite.measures.base import Measure, require_trainable
from rankinite.measures.spelling import as_measures, one_measure
from rankinite.models.forest import Forest
from rankinite.trees.structure import join

BETAS: tuple[float, ...] = (3.0, 10.0, 30.0)
"""Values that are tried when β is chosen, the smallest first, as it changes least."""
Responses = Literal["layers", "leaves"]
Loss = Literal["squared", "lambda", "pairs"]
WIDE = 2.0
"""How far apart a background's scores may lie, as σ times their standard deviation within queries. Beyond it σ is made smaller
for the target: hardly any pair would be in doubt, and those in the wrong order would push without curvature, over any bound."""


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
    allow_overlap: bool = False,
) -> Forest:
    """The background forest, tuned to target data; see :class:`Trada` for what the settings mean.

    ``beta=None`` chooses β on ``valid``, else by folds over the target's queries; queries that ``target`` and ``valid`` share
    are refused unless ``allow_overlap`` is true. Additional trees (algorithm 3 of the paper) are boosted from the result:
    ``LambdaMART(trees=30, …).fit(target, base=tuned)``.
    """
    settings = Trada(
        responses=responses, splits=splits, trim=trim, loss=loss, rate=rate, measure=measure, same_scale=same_scale
    )
    if beta is not None:
        return replace(settings, beta=beta).adapt(background, target)
    check_apart({"target": target}, {"valid": valid}, allow_overlap=allow_overlap)
    return settings.adapt_tuned(background, target, valid, folds=folds, seed=seed)


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
    """What the forest was trained for: squared, lambda (a measure) or pairs (RankNet); if left out, what the model records."""
    rate: float | None = None
    """The shrinkage it was trained with; if left out, what the model records."""
    measure: Measure | str | None = None
    """The measure of the λ-gradients; if left out, what the model records, else ndcg@10."""
    same_scale: bool = False
    """For squared loss: whether the grades mean what they did where the forest was trained, even if they do not look so."""

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
            object.__setattr__(self, "measure", require_trainable(one_measure("Trada", "measure", self.measure)))

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
        """Tune with the smallest β that does about as well as the best on queries held out (paper 003 §5.5.1).

        ``measure``: what judges them; if left out, that of the λ-gradients.
        """
        self.check(background, target)
        judge = one_measure("Trada", "measure", measure or self._measure(background))
        tried = [replace(self, beta=beta, same_scale=True) for beta in betas]  # folds may miss grades that the target has
        best = first_good([partial(one.adapt, background) for one in tried], target, valid, judge, folds=folds, seed=seed)
        return tried[best].adapt(background, target)

    def adapt(self, background: Forest, target: Dataset) -> Forest:
        """The background forest, tuned to the target: with the same trees, unless trimmed, and other numbers in them."""
        self.check(background, target)
        target = without_weightless(target)
        background = _bias_first(cast(Forest, match_background(background, target)))
        rate, loss = self._rate(background), self._loss(background)
        sigma = None if loss == "squared" else _sigma(background, target)
        objective = self._objective(loss, background, target, sigma)
        changes: dict[str, Any] = {"beta": self.beta, "layers": self.responses == "layers", "splits": self.splits}
        tuning = Tuning(background.trees, TargetRows(background, target), rate=rate, **changes)
        constant = _constant(background) if loss == "squared" else 0.0
        scores = np.full((1, target.rows), background.start[0])
        push, curvature = np.empty_like(scores), np.empty_like(scores)
        with Team():
            for number in range(len(background)):
                objective.gradients(scores + constant, push, curvature)
                scores[0] += tuning.tune(number, push[0], curvature[0], constant)
                constant = 0.0  # if any, it is in the first tree alone
        recorded = {f.name: plain_setting(getattr(self, f.name)) for f in fields(self) if f.name != "same_scale"}
        settings = {"learner": "Trada", **recorded, "sigma": sigma, "base": background.settings}
        sketch = unite_sketches(background.sketch, QuerySketch.of(target, background.feature_names))
        trees = tuning.result(trim=self.trim)
        return replace(background, trees=trees, settings=settings, history=None, sketch=sketch)

    def check(self, background: Any, target: Any) -> None:
        """Refuse what cannot be tuned: no forest or no counts in it, an unknown rate or loss, grades on another scale."""
        _check(background, target)
        self._rate(background)
        if self._loss(background) == "squared" and not self.same_scale:
            check_predicted(background, target)

    def _rate(self, background: Forest) -> float:
        if self.rate is not None:
            return self.rate
        rates = recorded_values(background, "rate")
        if len(rates) != 1:
            problem = "its shrinkage is not recorded"
            if rates:
                problem = f"it was trained in parts, with the rates {listed(rates)}"
            raise ArgumentError(
                problem,
                place=repr(background),
                value=rates,
                remedy="Give `rate`, such as 0.1",
                shell_remedy="Give `background_rate`, such as 0.1",
            )
        return float(rates[0])

    def _loss(self, background: Forest) -> Loss:
        losses: list[Any] = recorded_values(background, "loss") if self.loss is None else [self.loss]
        if len(losses) != 1 or losses[0] not in get_args(Loss):
            nearest = f"the one of {listed(get_args(Loss))} that is nearest"
            raise ArgumentError(
                f"it was trained for {listed(losses)}" if losses else "its loss is not recorded",
                place=repr(background),
                value=losses,
                remedy=f"Give `loss`, {nearest}",
                shell_remedy=f"Give `background_loss`, {nearest}",
            )
        return losses[0]

    def _objective(self, loss: Loss, background: Forest, target: Dataset, sigma: float | None) -> Objective:
        """What the forest was trained for, on the target; where the model does not record it, what LambdaMART trains for."""
        if sigma is None:
            return SquaredLoss(target)
        if loss == "pairs":
            return pairs_of(target, sigma)
        measure = require_trainable(as_measures(self._measure(background))[0])
        truncation, normalise = last_recorded(background, "truncation"), last_recorded(background, "normalise", True)
        return Lambdas(target, measure, sigma, truncation, normalise=normalise)

    def _measure(self, background: Forest) -> Measure | str:
        measure = self.measure or recorded_measure(background)
        if measure is not None:
            return measure
        name = last_recorded(background, "measure")
        raise ArgumentError(
            f"it was trained for {quoted(name)}, which is not known here",
            place=repr(background),
            value=name,
            rule="A model file records a measure by its name, and contains no function",
            remedy="Give `measure`: that one, or another",
        )


def _sigma(background: Forest, target: Dataset) -> float:
    """The σ of the λ-gradients: that of the background, unless its scores lie too far apart within queries."""
    recorded, scores = float(last_recorded(background, "sigma", 1.0)), background.score(target)
    query = target.query_of_row()
    order = np.lexsort((scores, query))  # whatever order the rows come in
    sums = np.add.reduceat(scores[order], target.offsets[:-1])
    apart = scores - (sums / np.diff(target.offsets))[query]
    spread = math.sqrt(weighted_mean(target, apart * apart, weight_of_rows(target)))
    return recorded if recorded * spread <= WIDE else WIDE / spread


def _constant(background: Forest) -> float:
    """The mean grade, where the first tree contains it in place of ``start``, as LightGBM's do."""
    learners = recorded_values(background, "learner")
    return float(background.trees.value[0]) if learners[-1:] == ["LightGBM"] and len(background) else 0.0


def _bias_first(background: Forest) -> Forest:
    """The same sum with the bias in ``start``, where a last tree of one leaf contains it, as CatBoost's do."""
    if recorded_values(background, "learner")[-1:] != ["CatBoost"]:
        return background
    trees = background.trees
    constant = np.flatnonzero(np.diff(trees.offsets) == 1).tolist()
    if not constant:
        return background
    kept = join([trees.take(number, number + 1) for number in range(len(trees)) if number not in constant])
    return replace(background, trees=kept, start=background.start + trees.value[trees.offsets[constant]].sum())


def _check(background: Any, target: Any) -> None:
    if not isinstance(background, Forest) or background.grades is not None:
        raise ArgumentError(
            "it cannot be tuned tree by tree",
            place=quoted(background),
            value=type(background).__name__,
            remedy="Give a forest with one score, such as LambdaMART's",
        )
    if not isinstance(target, Dataset) or not target.rows:
        raise DataError(
            "the target data are no Dataset with rows",
            value=type(target).__name__,
            remedy="Give judged data, as rankinite.read returns",
        )
    _check_counts(background)


def _check_counts(background: Forest) -> None:
    """Refuse trees that do not know how much the source counts in their nodes, or count it in different units."""
    place = repr(background)
    if len(background) and not background.trees.rows.any() and not background.trees.curvature.any():
        raise DataError(
            "its nodes have no counts, by which the source is weighed",
            place=place,
            value=0,
            rule="Models of RankLib, Solr and ONNX have none",
            remedy="Choose another method, which trains trees on top of it or combines it with others",
        )
    counted = background.trees.rows[background.trees.offsets[:-1]] > 0
    if counted.any() and not counted.all():
        raise DataError(
            "some of its trees know the number of their rows, others (XGBoost's) only curvature, so they cannot be tuned "
            "together",
            place=place,
            value=int(counted.sum()),
            remedy="Tune the imported forest first, then add trees",
        )
