"""Adversarial rows: the rows on which a wrong copy of a ranker shows, made from its own thresholds.

A copy goes wrong where a value equals a threshold or lies next to it, where it is 0 or missing, and deep in a tree, where few
rows come by. Half of the rows have values from all thresholds of each feature; the other half are led to a node, by values
that just pass every threshold on the way, and stand on or beside that node's own. Categories are codes, missing, or whole
numbers that are no code: −1, and those just beyond the vocabulary and a word of 32 bits further.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.engine.kernel import Reals
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.seeds import generator
from rankinite.serving.categories import known_codes
from rankinite.serving.flattening import Flat, leaves_of, used_features
from rankinite.trees.structure import LEAF

ROWS = 1000
"""As many, if nothing else is asked for."""
DOCUMENTS = 8
"""Of a query, on average."""


def adversarial_rows(
    flat: Flat, names: tuple[str, ...], dtype: Any, *, missing: bool, rows: int = ROWS, seed: int = 0
) -> Reals:
    """Rows × names of this type; ``missing``: with values that are missing."""
    random = generator(seed)
    forests = [leaf for leaf in leaves_of(flat) if isinstance(leaf, Forest)]
    codes = {name: codes_and_others(len(vocabulary), dtype) for name, vocabulary in flat.categories.items()}
    pools = [codes[name] if name in codes else _pool(forests, name, dtype, missing=missing) for name in names]
    matrix = np.empty((rows, len(names)), dtype)
    for column, pool in enumerate(pools):
        matrix[:, column] = random.choice(pool, rows)
    place = {name: number for number, name in enumerate(names)}
    forests = [forest for forest in forests if used_features(forest) <= set(names)]  # others ask for summaries of a query
    for row in range(rows // 2 if forests else 0):
        forest = forests[random.integers(len(forests))]
        _lead(forest, matrix[row], place, random, missing=missing)
    if flat.by_query:  # below 0, so that they are not queries of a sample
        matrix[:, -1] = -1.0 - random.integers(1 + rows // DOCUMENTS, size=rows)
    return matrix


def takes_missing(flat: Flat) -> bool:
    """Whether all its parts score rows with missing values."""
    return all(isinstance(leaf, Forest | Feature) or getattr(leaf, "nan", "mean") == "mean" for leaf in leaves_of(flat))


def codes_and_others(categories: int, dtype: Any) -> Reals:
    """Values of a category: all codes, numbers that are none, and missing values, an eighth each."""
    others = max(4, categories // 8)
    unknown = np.resize(np.asarray([-1, categories, categories + 1, categories + 32]), others)
    return np.concatenate((np.arange(categories), unknown, np.full(others, np.nan))).astype(dtype)


def _pool(forests: list[Forest], name: str, dtype: Any, *, missing: bool) -> Reals:
    """Values of a feature: its thresholds, their neighbours, ordinary ones, and perhaps none."""
    thresholds = [np.zeros(1), np.ones(1), np.asarray([-1.5, 0.1, 3.0])]
    for forest in forests:
        if name in forest.feature_names:
            trees = forest.trees
            thresholds.append(trees.threshold[trees.feature == forest.feature_names.index(name)])
    with np.errstate(over="ignore"):  # thresholds beyond the type become infinite, and are left out
        exact = np.unique(np.concatenate(thresholds).astype(dtype))
        exact = exact[np.isfinite(exact)]
        beside = [np.nextafter(exact, dtype(side)) for side in (-np.inf, np.inf)]
    values = np.concatenate((exact, *beside, np.asarray([-0.0], dtype)))
    values = values[np.isfinite(values)]
    return np.concatenate((values, np.full(max(1, len(values) // 8), np.nan, dtype))) if missing else values


def _lead(forest: Forest, row: Reals, place: dict[str, int], random: np.random.Generator, *, missing: bool) -> None:
    """Change a row so that it comes to some node and stands on its threshold, just above it, or has no value."""
    trees = forest.trees
    if not len(trees):
        return
    tree = int(random.integers(len(trees)))
    root, end = int(trees.offsets[tree]), int(trees.offsets[tree + 1])
    inner = np.flatnonzero(trees.feature[root:end] != LEAF)
    if not len(inner):
        return
    parent = {int(child): int(node) for node in inner for child in (trees.left[root + node], trees.right[root + node])}
    node = int(random.choice(inner))
    way = [node]
    while way[-1] in parent:
        way.append(parent[way[-1]])
    turns = [
        (root + ancestor, child == trees.left[root + ancestor]) for ancestor, child in zip(way[:0:-1], way[-2::-1], strict=True)
    ]
    columns = [place.get(name, LEAF) for name in forest.feature_names]
    _pass_thresholds(forest, row, columns, turns, root + node, random, missing=missing)
    if trees.has_sets:
        _pass_sets(forest, row, columns, turns, root + node, random)


def _pass_thresholds(
    forest: Forest, row: Reals, columns: list[int], turns: list[tuple[int, bool]], last: int, random: np.random.Generator,
    *, missing: bool,
) -> None:  # fmt: skip
    """Values that just pass every threshold on the way, and stand on or beside that of the last node."""
    trees = forest.trees
    above, most = dict[int, Any](), dict[int, Any]()  # what each column must exceed, and what it may be at most
    for node, to_left in turns:
        column, threshold = columns[trees.feature[node]], trees.threshold[node]
        if trees.set_of(node):
            continue
        if to_left:
            most[column] = min(threshold, most.get(column, np.inf))
        else:
            above[column] = max(threshold, above.get(column, -np.inf))
    kind = row.dtype.type
    for column in above | most:
        value = _at_most(most[column], kind) if column in most else _over(above[column], kind)
        if np.isfinite(value) or missing:  # nothing but a missing value is beyond an infinite threshold
            row[column] = value if np.isfinite(value) else np.nan
    if trees.set_of(last):
        return
    threshold, column = trees.threshold[last], columns[trees.feature[last]]
    choices = [_at_most(threshold, kind), _over(threshold, kind), *([kind(np.nan)] if missing else [])]
    fits = [
        x
        for x in choices
        if np.isnan(x) or (x > above.get(column, -np.inf) and x <= most.get(column, np.inf) and np.isfinite(x))
    ]
    if fits:
        row[column] = fits[random.integers(len(fits))]


def _pass_sets(
    forest: Forest, row: Reals, columns: list[int], turns: list[tuple[int, bool]], last: int, random: np.random.Generator
) -> None:
    """Categories, missing and unknown ones too, that every set on the way sends there; at the last node either side will do."""
    trees = forest.trees
    fits = dict[int, Reals]()
    for node, to_left in [*turns, (last, None)]:
        members, feature = trees.set_of(node), int(trees.feature[node])
        if not members:
            continue
        vocabulary = forest.categories[forest.feature_names[feature]]
        values = fits.setdefault(columns[feature], codes_and_others(len(vocabulary), row.dtype))
        codes = known_codes(values, vocabulary)
        goes_left = np.where(np.isnan(codes), trees.missing_left[node], np.isin(codes, members))
        if to_left is not None:
            fits[columns[feature]] = values[goes_left == to_left]
    for column, values in fits.items():
        if len(values):
            row[column] = random.choice(values)


def _at_most(number: float, kind: Any) -> Any:
    """The largest value of a type that is not above a number."""
    with np.errstate(over="ignore"):  # below the lowest is minus infinity
        near = kind(min(number, float(np.finfo(kind).max)))
        return np.nextafter(near, kind(-np.inf)) if float(near) > number else near


def _over(number: float, kind: Any) -> Any:
    """The smallest value of a type above a number."""
    with np.errstate(over="ignore"):  # above the largest is infinity
        return np.nextafter(_at_most(number, kind), kind(np.inf))
