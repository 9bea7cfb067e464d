"""Flat: a ranker as a plain sum of forests, linear rankers, nets and features, which other programs can compute.

Weights are multiplied into leaves and trees put one after the other; a scaling by constants becomes weights and a start; a
scaling within queries that is the last thing done is left out, since it changes no order. What depends on the query further
inside is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from rankinite.choices import ScoreScale
from rankinite.data.categories import Vocabulary
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer
from rankinite.models.base import content_key, names_of
from rankinite.models.blend import Blend
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.models.normalised import Normalised
from rankinite.models.stack import Stack
from rankinite.serving.categories import Vocabularies, with_shared_codes
from rankinite.trees.structure import LEAF, join

QUERY = "qid"
"""The column by which rows say which query they belong to, where scores depend on that."""


@dataclass(frozen=True)
class Probability:
    """The probability 1/(1 + exp(−2 score)) of a sum."""

    inner: Flat


@dataclass(frozen=True)
class NetOfSums:
    """A net whose inputs are sums."""

    inputs: tuple[Flat, ...]
    top: Net


Leaf: TypeAlias = Forest | Linear | Net | Feature | Probability | NetOfSums
"""What a sum consists of. A forest with grades stands for the mean grade."""


@dataclass(frozen=True)
class Term:
    """A summand."""

    weight: float
    leaf: Leaf


@dataclass(frozen=True)
class Flat:
    """``start`` + the sum of weight × score over the terms."""

    names: tuple[str, ...]
    """The features of the ranker, in its order."""
    start: float
    terms: tuple[Term, ...]
    same_bits: bool
    """Whether the sum in float64, in order, is the ranker's own score to the bit: so for a single ranker that is no blend."""
    left_out: str = ""
    """The last scaling, which was left out because it changes no order; empty: none."""
    whole: bool = False
    """Whether the program holds the ranker itself: then the terms are what it is made of, and no sum."""
    by_query: bool = False
    """Whether rows have their query as a last column, ``QUERY``, because scores depend on it; only where it is ``whole``."""
    categories: Vocabularies = field(default_factory=dict[str, Vocabulary])
    """The vocabulary of each feature that is a category: all forests of the sum ask for its codes."""

    @property
    def forest(self) -> Forest | None:
        """The forest that this is, where it is one with one output; None: there is something else in it."""
        if self.whole:
            return None
        term = self.terms[0]
        alone = len(self.terms) == 1 and isinstance(term.leaf, Forest) and term.leaf.grades is None
        return term.leaf if alone and isinstance(term.leaf, Forest) else None

    @property
    def used(self) -> tuple[str, ...]:
        """The features that anything in it depends on, in the order of ``names``."""
        used = {name for term in self.terms for name in used_features(term.leaf)}
        return tuple(name for name in self.names if name in used)


def used_features(leaf: Leaf) -> set[str]:
    """The features that a summand depends on."""
    match leaf:
        case Forest():
            return {leaf.feature_names[feature] for feature in np.unique(leaf.trees.feature).tolist() if feature != LEAF}
        case Linear():
            return {name for name, weight in leaf.by_feature().items() if weight}
        case Net():
            return {name for name, scale in zip(leaf.feature_names, leaf.scale.tolist(), strict=True) if scale}
        case Feature():
            return {str(leaf.feature)}
        case Probability():
            return set(leaf.inner.used)
        case NetOfSums():
            return {name for flat in leaf.inputs for name in flat.used}


def flatten(ranker: Scorer, *, probabilities: bool = False) -> Flat:
    """The ranker as a sum; refuses what depends on the other documents of a query, and rankers that are not ours.

    ``probabilities``: for programs that compute them, so that a last scaling to probabilities is not left out.
    """
    coded, categories = with_shared_codes(ranker)
    inner, left_out = _without_last_scaling(coded, ("all", "probability") if probabilities else ("all",))
    names = names_of(ranker)
    flat = _sum(inner, names)
    same = isinstance(inner, Forest | Linear | Net | Feature)
    return replace(flat, same_bits=same, left_out=left_out, categories=categories)


def leaves_of(flat: Flat) -> Iterator[Leaf]:
    """All summands, those inside others too."""
    for term in flat.terms:
        yield term.leaf
        inside = (term.leaf.inner,) if isinstance(term.leaf, Probability) else ()
        inside = term.leaf.inputs if isinstance(term.leaf, NetOfSums) else inside
        for inner in inside:
            yield from leaves_of(inner)


def _without_last_scaling(ranker: Scorer, kept: tuple[ScoreScale, ...]) -> tuple[Scorer, str]:
    """The ranker below scalings that change no order within a query, but for those ``kept``, and what was left out."""
    left_out: list[str] = []
    while (
        isinstance(ranker, Normalised)
        and ranker.scale not in kept
        and (ranker.scale != "peak" or _is_probability(ranker.ranker))
    ):
        left_out.append(ranker.scale)
        ranker = ranker.ranker
    return ranker, ", ".join(left_out)


def _is_probability(ranker: Scorer) -> bool:
    """Whether all scores lie between 0 and 1, so that max (1 + score − max) rises with the score."""
    return isinstance(ranker, Normalised) and ranker.scale == "probability"


def _sum(ranker: Scorer, names: tuple[str, ...]) -> Flat:
    start, terms = 0.0, list[Term]()
    for weight, leaf in _summands(ranker, 1.0):
        if leaf is None:
            start += weight
        else:
            terms.append(Term(weight, leaf))
    terms, start = _forests_joined(terms, start, names)
    return Flat(names, start, tuple(terms), same_bits=False)


def _summands(ranker: Scorer, weight: float) -> Iterator[tuple[float, Leaf | None]]:
    """Weights and leaves; a weight without a leaf is a constant."""
    match ranker:
        case Blend():
            for part_weight, part in ranker.parts:
                yield from _summands(part, weight * part_weight)
        case Normalised(scale="all"):
            yield -weight * ranker.centre / ranker.spread, None
            yield from _summands(ranker.ranker, weight / ranker.spread)
        case Normalised(scale="probability"):
            inner = _sum(ranker.ranker, names_of(ranker))
            yield weight, Probability(_scaled(inner, ranker.centre, ranker.spread))
        case Normalised():
            raise needs_query(f"the scores of a part are scaled by {ranker.scale} within every query")
        case Stack(top=Linear() as top):
            yield weight * top.bias, None
            for part, slope, centre in zip(ranker.parts, top.weights.tolist(), top.centre_of_features.tolist(), strict=True):
                yield -weight * slope * centre, None
                yield from _summands(part, weight * slope)
        case Stack(top=Net() as top):
            yield weight, NetOfSums(tuple(_sum(part, names_of(ranker)) for part in ranker.parts), top)
        case Feature(feature=int()):
            raise no_name(ranker)
        case Forest() | Linear() | Net() | Feature():
            yield weight, ranker
        case _ if getattr(ranker, "needs_queries", False):
            raise needs_query("it has summaries of a query's scores as features")
        case _:
            raise not_ours(ranker)


def no_name(feature: Feature) -> ArgumentError:
    """The refusal of a feature that is given by position."""
    return ArgumentError(
        f"{feature} names no feature, only its position",
        value=feature.feature,
        rule="Other programs find features by name",
        remedy=f"Give its name, as in Feature('bm25') instead of {feature!r}",
    )


def not_ours(ranker: object) -> ArgumentError:
    """The refusal of a ranker that is not ours."""
    kind = type(ranker).__name__
    return ArgumentError(f"a {kind} cannot be exported", value=kind, rule="Only rankers of rankinite can")


def needs_query(why: str) -> ArgumentError:
    """The refusal of a ranker whose scores depend on the other documents of a query."""
    return ArgumentError(
        f"a score depends on the other documents of its query: {why}",
        value=why,
        rule="The program scores one document at a time",
        remedy="Distil it into one forest (rankinite distil), or export to mlflow, which scores whole queries",
    )


def _scaled(flat: Flat, centre: float, spread: float) -> Flat:
    terms = tuple(Term(term.weight / spread, term.leaf) for term in flat.terms)
    return replace(flat, start=(flat.start - centre) / spread, terms=terms)


def _forests_joined(terms: list[Term], start: float, names: tuple[str, ...]) -> tuple[list[Term], float]:
    """All forests with one output as one, in the place of the first; equal ones count once, with their weights added up."""
    weights: dict[str, float] = {}
    forests: dict[str, Forest] = {}
    others: list[Term] = []
    for term in terms:
        if isinstance(term.leaf, Forest) and term.leaf.grades is None:
            key = content_key(term.leaf, "the forest")
            weights[key] = weights.get(key, 0.0) + term.weight
            forests[key] = term.leaf
        else:
            others.append(term)
    if not forests:
        return others, start
    alone = len(forests) == 1 and next(iter(weights.values())) == 1.0
    if alone and (others or start == 0.0):
        return [Term(1.0, next(iter(forests.values()))), *others], start
    parts = [_weighted(forest, weights[key], names) for key, forest in forests.items()]
    first = parts[0]
    total = float(sum(part.start[0] for part in parts)) + (0.0 if others else start)
    merged = replace(
        first,
        trees=join([part.trees for part in parts]),
        start=np.asarray([total]),
        history=None,
        sketch=None,
        categories={name: vocabulary for part in parts for name, vocabulary in part.categories.items()},
    )
    return [Term(1.0, merged), *others], start if others else 0.0


def _weighted(forest: Forest, weight: float, names: tuple[str, ...]) -> Forest:
    """The forest times a number, over the features of the whole ranker."""
    place = {name: number for number, name in enumerate(names)}
    columns = np.asarray([*(place[name] for name in forest.feature_names), LEAF])  # a leaf's −1 finds the last
    trees = replace(forest.trees, value=forest.trees.value * weight, feature=columns[forest.trees.feature])
    return replace(forest, trees=trees, start=forest.start * weight, feature_names=names)
