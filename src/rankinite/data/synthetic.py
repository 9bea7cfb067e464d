"""Artificial judged data from random cubic polynomials (paper 000 §5.1), and domains that differ by a chosen shift.

Features are uniform in [−1, 1]. The grade is a random cubic polynomial of them, cut at the quantiles of a web-like grade
distribution. The polynomial is the sum of a linear, a quadratic and a cubic part of equal variance.

A world may have categories too: levels of uneven frequency, each with an effect on relevance of its own. A categorical feature
with L levels adds √(1 − i)·a[level] + √i·b[level]·x to the value that is cut into grades: a and b are normal numbers, one of
each per level, x a numeric feature of mean 0 and variance 1, i = 0.3. Averaged over documents this has mean 0 and variance 1
for every feature; all categorical features together count as much as the polynomial of the numeric ones. The level of
frequency rank r (from 0) is drawn with probability proportional to 1 / (r + 2).

Everything is drawn from streams of random numbers named by what they are for, so that the world does not depend on how much
of it is drawn: the first 100 queries of 10,000 are the 100 queries of 100.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt

from rankinite.checks import check_choice
from rankinite.choices import Part
from rankinite.data._kernels import polynomial_values
from rankinite.data.categories import MOST, Vocabulary, drop_unused_categories
from rankinite.data.dataset import Dataset
from rankinite.data.grouping import as_text
from rankinite.engine.kernel import FEATURE, GRADE, SCORE, Features, Floats, Grades, Indices
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
INTERACTION = 0.3
"""The share of a category's variance that depends on a numeric feature."""
NOUNS = ("brand", "shop", "author", "city", "series", "colour")
"""What categorical features are called."""

Stream = Callable[..., np.random.Generator]
"""The random numbers for a purpose, given as whole numbers."""


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
        levels = cast("Sequence[Any]", self.categories)  # as users give them
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
            "categories": (
                all(isinstance(count, int | np.integer) and 2 <= count <= MOST for count in levels),
                f"numbers of levels, each in 2 … {MOST}",
            ),
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
    document = np.strings.add(as_text(["-"]), as_text(np.arange(world.documents)))
    categories = category_features(world.categories)
    drawn = Dataset(
        features=features,
        grades=grades,
        offsets=np.arange(queries + 1) * world.documents,
        qids=qids,
        feature_names=(*(str(number) for number in range(1, world.features + 1)), *categories),
        doc_ids=np.strings.add(np.repeat(qids, world.documents), np.tile(document, queries)) if doc_ids else None,
        source=f"synthetic {part} {domain}",
        categories=categories,
    )
    return drop_unused_categories(drawn)


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
        """The codes of some documents; rows × categorical features."""
        uniform = random.random((rows, len(self.effects)))  # row by row, so that more rows do not change the first ones
        codes = [effect.codes(uniform[:, number]) for number, effect in enumerate(self.effects)]
        return np.stack(codes, axis=1) if codes else uniform.astype(FEATURE)

    def effects_of(self, documents: Features, levels: Features) -> Floats:
        """What all categorical features together add, of variance 1; one value per document."""
        standard = (documents - self.offset) / self.scale
        added = [effect.values(levels[:, number], standard) for number, effect in enumerate(self.effects)]
        return np.sum(added, axis=0) / np.sqrt(len(self.effects))

    def category_values(self, documents: Features, random: np.random.Generator) -> Floats:
        """The effects of levels drawn for these documents."""
        rows = len(documents)
        return self.effects_of(documents, self.levels(random, rows)) if self.effects else np.zeros(rows)

    def grades(self, documents: Features, levels: Features, random: np.random.Generator) -> Grades:
        values = self.polynomial.values(documents)
        if self.effects:
            values = values + self.effects_of(documents, levels)
        if self.noise:
            values = values + self.noise * random.standard_normal(len(values))
        return np.searchsorted(self.thresholds, values, side="right").astype(GRADE)


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


# ---- categories ---------------------------------------------------------------------------------------------------------


class CategoryEffect(NamedTuple):
    """How often the levels of one categorical feature are drawn in a domain, and what each means for relevance."""

    chances: Floats
    """Sums of the chances of the levels up to each of them; shape (levels,)."""
    main: Floats
    """The effect of each level."""
    slope: Floats
    """The effect of each level for each unit of the numeric feature."""
    partner: int
    """The numeric feature."""

    def codes(self, uniform: Floats) -> Features:
        """The levels of some documents, each by a number drawn from [0, 1)."""
        return np.searchsorted(self.chances, uniform, side="right").astype(FEATURE)

    def values(self, codes: Features, standard: Features) -> Floats:
        """What the levels add; ``standard``: rows × numeric features, uniform in [−1, 1]."""
        level = codes.astype(np.int64)
        return self.main[level] + self.slope[level] * (np.sqrt(3.0) * standard[:, self.partner].astype(SCORE))


def category_effects(levels: Sequence[int], features: int, shift: float, domain: int, stream: Stream) -> list[CategoryEffect]:
    """The effects of all categorical features of a domain; ``stream`` gives the random numbers of a domain and a feature.

    Domain 0 and the others have the levels and their frequencies in common; of the effects, a share ``shift`` is their own.
    """
    effects: list[CategoryEffect] = []
    for number, count in enumerate(levels):
        random = stream(0, number)
        chance = random.permutation(1 / np.arange(2.0, count + 2))
        chance /= chance.sum()
        partner = int(random.integers(features))
        # main and slope of each level: those of all domains, and those of this one
        shared, added = (_standardised(stream(of, number, 1).standard_normal((2, count)), chance) for of in (0, domain))
        main, slope = np.sqrt(1 - shift**2) * shared + shift * added if domain else shared
        chances = np.cumsum(chance)
        chances[-1] = 1.0
        effects.append(CategoryEffect(chances, np.sqrt(1 - INTERACTION) * main, np.sqrt(INTERACTION) * slope, partner))
    return effects


def _standardised(effects: npt.NDArray[np.float64], chance: Floats) -> Floats:
    """Effects (2 × levels) of mean 0 and variance 1 over documents; all 0 where there is one level."""
    centred = effects - (effects @ chance)[:, None]
    spread = np.sqrt((centred**2) @ chance)[:, None]
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)


def category_features(levels: Sequence[int]) -> dict[str, Vocabulary]:
    """The names of the categorical features, and their vocabularies: brand_0000, brand_0001, …"""
    named: dict[str, Vocabulary] = {}
    for number, count in enumerate(levels):
        again = number // len(NOUNS)
        noun = NOUNS[number % len(NOUNS)] + (str(again + 1) if again else "")
        digits = max(4, len(str(count - 1)))
        named[noun] = Vocabulary(tuple(f"{noun}_{level:0{digits}}" for level in range(count)))
    return named
