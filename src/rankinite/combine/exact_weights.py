"""Exact combination: the weight that is best for a measure, by following every crossing (papers 000 §4, 002 §7.1, 004 §4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from rankinite.checks import check_count
from rankinite.combine.result import Combination
from rankinite.combine.scored_rankers import Rankers, gather
from rankinite.combine.weight_search import Combiner, Nested, Search
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, quoted
from rankinite.evaluation.scorers import RankerLike
from rankinite.measures.base import Measure
from rankinite.plurals import agreeing, counted
from rankinite.sweep.curve import Form


def exact(
    first: Nested, second: Nested, data: Dataset, measure: Measure | str = "ndcg@10", *,
    form: Form = Search.form, range: tuple[float, float] | None = Search.range, normalise: bool | None = Search.normalise,
    smooth: float | None = Search.smooth, folds: int | None = Search.folds, seed: int = Search.seed,
    names: Sequence[str] | None = None,
) -> Combination:  # fmt: skip
    """Combine two rankers with the weight that is exactly best for a measure on these data.

    A ranker may also be given as scores, one per row of ``data``, or as the path of a score file or of a TREC run; see
    :class:`Combination` for what the result then is.

    ``form``: first + α·second ("sum"), or (1 − α)·first + α·second ("convex"). Every ratio of the two weights is tried: the
    best open interval is found and its middle taken, or one ranker alone where nothing is better: the second is left out where
    α is 0, the first where it is ∞ (1 if convex). So the result is never below the better of the two, and it depends neither
    on which is called the first nor on the scale of the scores. Either may itself be a pair, which is combined first:
    ``exact(((a, c), (b, d)), (e, f), …)``.

    ``range``: tries only these α instead, which may be negative; 0 alone leaves a ranker out, where the range has it.
    ``normalise``: whether α is for scores divided by their standard deviation; if left out, it is unless a range is given,
    whose α are for scores as they are.

    Against overfitting: ``smooth`` takes the best α of the curve averaged over windows of that width (in units of α where
    there is a range, else of the share of the second ranker, 0 to 1); ``folds`` chooses the width by cross-validation over
    queries (``seed`` says how they are dealt). The result may then be below the better of the two.

    ``names``: what the rankers are called in the result, in the order of the arguments; by number if left out.
    """
    search = Search(form, range, normalise, smooth, folds, seed)
    leaves = [*_leaves(first), *_leaves(second)]
    material = gather(leaves if names is None else _called(names, leaves), data, measure)
    combiner = Combiner(material, search)
    weights, curve = combiner.fold((first, second), count())
    return combiner.result("exact", weights, curve if len(leaves) == 2 else None)


def greedy(
    rankers: Rankers, data: Dataset, measure: Measure | str = "ndcg@10", *,
    form: Form = Search.form, range: tuple[float, float] | None = Search.range, normalise: bool | None = Search.normalise,
    smooth: float | None = Search.smooth, folds: int | None = Search.folds, seed: int = Search.seed,
) -> Combination:  # fmt: skip
    """Combine many rankers, two at a time: always the pair whose exact combination gains most over the better of the two.

    It ends when all are one or no pair gains anything; the best so far is the result. Settings as for :func:`exact`.
    """
    combiner = Combiner(gather(rankers, data, measure), Search(form, range, normalise, smooth, folds, seed))
    return combiner.result("greedy", combiner.gather_pairs())


def cyclic(
    rankers: Rankers,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    weights: Sequence[float] | None = None,
    rounds: int = 10,
    range: tuple[float, float] | None = None,
    normalise: bool | None = None,
) -> Combination:
    """Improve the weights of many rankers one at a time, each to its exact best given the others, until none gains.

    The measure never falls: a weight changes only if that is better. ``weights``: where to start, such as those of a
    :class:`Combination`; if left out, all alike. ``rounds``: the most passes over all of them. ``range`` and
    ``normalise`` as for :func:`exact`, α being the weight of one ranker beside all others as they are.
    """
    check_count("combine", "rounds", rounds)
    combiner = Combiner(gather(rankers, data, measure), Search(range=range, normalise=normalise))
    return combiner.result("cyclic", combiner.cycle(_start(weights, combiner), rounds))


def _start(weights: Sequence[float] | None, combiner: Combiner) -> Floats:
    rankers = len(combiner.material.rankers)
    if weights is None:
        return combiner.even_weights() if combiner.search.range is None else np.ones(rankers)
    start = np.asarray(weights, float)
    if start.shape != (rankers,) or not np.isfinite(start).all():
        raise ArgumentError(
            f"must be {rankers} finite numbers, one per ranker",
            owner="cyclic",
            setting="weights",
            value=weights,
            remedy="Leave them out to weigh all alike",
        )
    return start / combiner.units


def _leaves(nested: Nested) -> list[RankerLike]:
    if not isinstance(nested, tuple):
        return [nested]
    if len(nested) != 2:
        problem = f"there {agreeing(len(nested), 'is')} {counted(len(nested), 'ranker')} between one pair of brackets"
        raise ArgumentError(problem, value=len(nested), remedy="Nest pairs: ((a, b), c)")
    return [*_leaves(nested[0]), *_leaves(nested[1])]


def _called(names: Sequence[str], leaves: list[RankerLike]) -> dict[str, RankerLike]:
    called = dict(zip(names, leaves, strict=False))
    if not len(names) == len(called) == len(leaves):
        problem = f"must be {len(leaves)} different texts, one per ranker"
        raise ArgumentError(problem, owner="exact", setting="names", value=names, remedy="Leave it out to use numbers")
    return called


def nested_by_number(rankers: Mapping[str, Any] | Sequence[Any], order: Nested) -> Nested:
    """Nested pairs of numbers such as (((1, 3), (2, 4)), (5, 6)) with the rankers of these numbers, counted from 1."""
    listed = list(rankers.values()) if isinstance(rankers, Mapping) else list(rankers)
    if isinstance(order, tuple):
        return tuple(nested_by_number(listed, one) for one in order)
    if not isinstance(order, int) or not 1 <= order <= len(listed):
        problem = f"{quoted(order)} names none of the {len(listed)} rankers"
        raise ArgumentError(problem, value=order, rule="They are counted from 1")
    return listed[order - 1]
