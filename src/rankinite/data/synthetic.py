"""Artificial judged data from random cubic polynomials (paper 000 §5.1), and domains that differ by a chosen shift.

Features are uniform in [−1, 1]. The grade is a random cubic polynomial of them, cut at the quantiles of a web-like grade
distribution. The polynomial is the sum of a linear, a quadratic and a cubic part of equal variance. A world may have categories
too (``synthetic_categories``), whose effects are added to it.

Everything is drawn from streams of random numbers named by what they are for, so that the world does not depend on how much
of it is drawn: the first 100 queries of 10,000 are the 100 queries of 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, get_args

import numpy as np

from rankinite.checks import check_choice
from rankinite.choices import Part
from rankinite.data._matrix_kernels import polynomial_values
from rankinite.data.categories import MOST
from rankinite.data.coding import trimmed
from rankinite.data.dataset import Dataset
from rankinite.data.grouping import as_text
from rankinite.data.synthetic_categories import (
    CategoryEffect,
    are_levels,
    category_effects,
    category_features,
    effects_of,
    levels_of,
)
from rankinite.engine.kernel import FEATURE, GRADE, SCORE, Features, Floats, Grades, Indices, Strings
from rankinite.engine.parallel import run
from rankinite.errors import ArgumentError

WEB_SHARES = (0.3704, 0.2855, 0.2714, 0.0523, 0.0204)
"""Shares of grades 0 to 4 as judged web results have them."""
DEGREE = 3
MOST_TERMS = 10_000
REFERENCE_ROWS = 1 << 17
"""Rows from which scales and grade thresholds are taken, whatever the size drawn later."""
REFERENCE_BLOCK = 1 << 13
"""Rows of these drawn at a time: documents may have many features."""
BLOCK = 256
"""Queries drawn from one stream of random numbers; part of the definition of the data, not of its speed."""
MOST_QUERIES = 10_000_000
"""The limit of queries per part: qids are numbers, and each part of each domain has its own range of them."""
POLYNOMIAL, CHANGE, REFERENCE, FEATURES, NOISE, EFFECTS, LEVELS, REFERENCE_LEVELS = range(8)
"""What a stream of random numbers is for."""


@dataclass(frozen=True)
class World:
    """The settings of an artificial world; two worlds with equal settings are the same."""

    features: int = 50
    """The number of features."""
    documents: int = 50
    """The number of documents of each query."""
    terms: int = 20
    """The number of quadratic and of cubic terms; the linear part has all features."""
    seed: int = 0
    """Another seed gives another polynomial and other documents."""
    noise: float = 0.0
    """Label noise: the standard deviation of what is added to the polynomial's value, in units of its own."""
    shift: float = 0.5
    """How far domains 1, 2, … are from domain 0, in [0, 1]: the share of the polynomial (as standard deviation) that they
    do not have in common, and how much the offset and scale of each feature change."""
    grade_shares: tuple[float, ...] = WEB_SHARES
    """The share of each grade, from 0 up."""
    categories: tuple[int, ...] = ()
    """Categorical features beside the numeric ones, each by its number of levels, such as (200, 5000): uneven in frequency,
    each level with an effect of its own, which also depends on a numeric feature. Together they count as much as the
    polynomial."""

    def __post_init__(self) -> None:
        rules = {
            "features": (self.features >= DEGREE, f"at least {DEGREE}"),
            "documents": (self.documents >= 1, "at least 1"),
            "terms": (1 <= self.terms <= MOST_TERMS, f"in 1 … {MOST_TERMS}"),
            "seed": (self.seed >= 0, "at least 0"),
            "noise": (0 <= self.noise < np.inf, "at least 0"),
            "shift": (0 <= self.shift <= 1, "in [0, 1]"),
            "grade_shares": (
                bool(self.grade_shares) and min(self.grade_shares) >= 0 and abs(sum(self.grade_shares) - 1) < 1e-3,
                "shares that add up to 1",
            ),
            "categories": (are_levels(self.categories), f"numbers of levels, each in 2 … {MOST}"),
        }
        for name, (holds, rule) in rules.items():
            if not holds:
                raise ArgumentError(
                    f"must be {rule}",
                    owner="World",
                    setting=name,
                    value=getattr(self, name),
                    remedy=f"The default is {getattr(World, name)}",
                )

    def stream(self, *purpose: int) -> np.random.Generator:
        """The random numbers for a purpose, the same whenever they are asked for."""
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=purpose)))


def synthesise(
    queries: int = 10_000, *, part: Part = "train", domain: int = 0, world: World | None = None, doc_ids: bool = False
) -> Dataset:
    """Draw judged queries from an artificial world.

    The parts "train", "valid" and "test" of a domain are disjoint draws. Domain 0 is the paper's data; in domain d > 0, with
    s = ``world.shift``, the polynomial is √(1−s²)·f₀ + s·f_d, and the features are moved and stretched. Each domain has the
    same grade shares. Qids are numbers that differ between all parts and domains. Effects of categories, which all parts share,
    are mixed with those of the domain as the polynomials are.

    >>> synthesise(100, part="valid", world=World(noise=0.1))
    <Dataset synthetic valid 0: 100 queries, 5,000 rows, 50 features>
    """
    world = world or World()
    _check_draw(queries, part, domain)
    place = domain * len(get_args(Part)) + get_args(Part).index(part)
    features = np.empty((queries * world.documents, world.features + len(world.categories)), FEATURE)
    grades = np.empty(len(features), GRADE)
    judge = _judge(world, domain)

    def draw(block: int) -> None:
        rows = slice(block * BLOCK * world.documents, (block + 1) * BLOCK * world.documents)
        count = len(features[rows])
        numbers = features[rows, : world.features] = judge.documents(world.stream(FEATURES, place, block), count)
        levels = features[rows, world.features :] = judge.levels(world.stream(LEVELS, place, block), count)
        grades[rows] = judge.grades(numbers, levels, world.stream(NOISE, place, block))

    run(draw, range(-(-queries // BLOCK)))
    qids = as_text(np.arange(queries) + place * MOST_QUERIES + 1)
    categories = category_features(world.categories)
    drawn = Dataset(
        features=features,
        grades=grades,
        offsets=np.arange(queries + 1) * world.documents,
        qids=qids,
        feature_names=(*(str(number) for number in range(1, world.features + 1)), *categories),
        doc_ids=_doc_ids(qids, world.documents) if doc_ids else None,
        source=f"synthetic {part} {domain}",
        categories=categories,
    )
    return trimmed(drawn)


def _check_draw(queries: int, part: str, domain: int) -> None:
    check_choice("synthesise", "part", part, get_args(Part))
    if not 1 <= queries <= MOST_QUERIES:
        raise ArgumentError(
            f"must lie between 1 and {MOST_QUERIES}",
            owner="synthesise",
            setting="queries",
            value=queries,
            remedy="Draw more from another domain or with another seed",
        )
    if domain < 0:
        raise ArgumentError(
            "is negative", owner="synthesise", setting="domain", value=domain, rule="Domains are numbered from 0"
        )


class _Polynomial(NamedTuple):
    """A sum of monomials: ``factors`` (monomials × degree) names the variables of each, −1 where it has fewer."""

    factors: Indices
    coefficients: Floats

    def values(self, inputs: Features) -> Floats:
        out = np.empty(len(inputs), SCORE)
        polynomial_values(inputs, self.factors, self.coefficients, out)
        return out

    def scaled(self, by: float) -> _Polynomial:
        return _Polynomial(self.factors, self.coefficients * by)

    def plus(self, other: _Polynomial) -> _Polynomial:
        factors = np.concatenate((self.factors, other.factors))
        return _Polynomial(factors, np.concatenate((self.coefficients, other.coefficients)))


class _Judge(NamedTuple):
    """How one domain draws documents and grades them."""

    offset: Features
    scale: Features
    polynomial: _Polynomial
    noise: float
    """Standard deviation of the label noise, in the polynomial's units."""
    thresholds: Floats
    """Grade g means: at least thresholds[g − 1], below thresholds[g]."""
    effects: Sequence[CategoryEffect]
    """Of the categorical features."""

    def documents(self, random: np.random.Generator, rows: int) -> Features:
        uniform = random.random((rows, len(self.offset)), FEATURE)
        return (self.offset + self.scale * (2 * uniform - 1)).astype(FEATURE, copy=False)

    def levels(self, random: np.random.Generator, rows: int) -> Features:
        return levels_of(self.effects, random, rows)

    def effects_of(self, documents: Features, levels: Features) -> Floats:
        return effects_of(self.effects, levels, (documents - self.offset) / self.scale)

    def category_values(self, documents: Features, random: np.random.Generator) -> Floats:
        """The effects of levels drawn for these documents."""
        rows = len(documents)
        return self.effects_of(documents, self.levels(random, rows)) if self.effects else np.zeros(rows)

    def noisy_values(self, documents: Features, levels: Features, random: np.random.Generator) -> Floats:
        values = self.polynomial.values(documents)
        if self.effects:
            values = values + self.effects_of(documents, levels)
        return values + self.noise * random.standard_normal(len(values)) if self.noise else values

    def grades(self, documents: Features, levels: Features, random: np.random.Generator) -> Grades:
        return np.searchsorted(self.thresholds, self.noisy_values(documents, levels, random), side="right").astype(GRADE)


def _judge(world: World, domain: int) -> _Judge:
    """The domain's features, polynomial and thresholds, the last from a reference sample of its own."""
    shift = world.shift if domain else 0.0
    random = world.stream(CHANGE, domain)
    offset = (0.5 * shift * random.standard_normal(world.features)).astype(FEATURE)
    scale = np.exp(0.5 * shift * random.standard_normal(world.features)).astype(FEATURE)
    shared = _random_polynomial(world, 0)
    effects = category_effects(world.categories, world.features, shift, domain, partial(world.stream, EFFECTS))
    judge = _Judge(offset, scale, shared, 0.0, np.zeros(0), effects)
    random, levels_random = world.stream(REFERENCE, domain), world.stream(REFERENCE_LEVELS, domain)
    added = _random_polynomial(world, domain)
    blocks = (judge.documents(random, REFERENCE_BLOCK) for _ in range(REFERENCE_ROWS // REFERENCE_BLOCK))
    sampled = [(shared.values(block), added.values(block), judge.category_values(block, levels_random)) for block in blocks]
    shared_values, added_values, category_values = (np.concatenate(values) for values in zip(*sampled, strict=True))
    shared_factor = np.sqrt(1 - shift**2) / shared_values.std()
    added_factor = shift / added_values.std()
    values = shared_factor * shared_values + added_factor * added_values
    if effects:
        values = values + category_values
    noise = world.noise * float(values.std())
    if noise:
        values = values + noise * random.standard_normal(len(values))
    shares = np.clip(np.cumsum(world.grade_shares)[:-1], 0, 1)
    polynomial = shared.scaled(shared_factor)
    if shift:
        polynomial = polynomial.plus(added.scaled(added_factor))
    return _Judge(offset, scale, polynomial, noise, np.quantile(values, shares), effects)


def _random_polynomial(world: World, number: int) -> _Polynomial:
    """A linear, a quadratic and a cubic part of variance 1 each over uniform features; monomials have distinct variables."""
    random = world.stream(POLYNOMIAL, number)
    factors: list[Indices] = []
    coefficients: list[Floats] = []
    for degree in range(1, DEGREE + 1):
        count = world.features if degree == 1 else world.terms
        chosen = random.random((count, world.features)).argsort(axis=1)[:, :degree]
        if degree == 1:
            chosen = np.arange(world.features)[:, None]
        weights = random.standard_normal(count)
        factors.append(np.pad(chosen, ((0, 0), (0, DEGREE - degree)), constant_values=-1))
        # The variance of a product of d uniform variables is 3^−d, and different products are uncorrelated.
        coefficients.append(weights / np.sqrt((weights**2).sum() * 3.0**-degree))
    return _Polynomial(np.ascontiguousarray(np.concatenate(factors), np.int64), np.concatenate(coefficients))


def _doc_ids(qids: Strings, documents: int) -> Strings:
    numbers = np.strings.add(as_text(["-"]), as_text(np.arange(documents)))
    return np.strings.add(np.repeat(qids, documents), np.tile(numbers, len(qids)))
