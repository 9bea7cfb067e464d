"""Edits of a forest: fewer rounds, other names for its features, the trees of another behind its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rankinite.data.categories import Vocabulary, union
from rankinite.data.sketch import united
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, quoted
from rankinite.plurals import counted
from rankinite.trees.structure import LEAF, join

if TYPE_CHECKING:
    from rankinite.models.forest import Forest


def truncated(forest: Forest, rounds: int) -> Forest:
    """The forest of the first rounds alone."""
    if not 0 <= rounds <= forest.rounds:
        raise ArgumentError(
            f"does not lie between 0 and {forest.rounds}, the rounds of this forest",
            owner="truncate",
            setting="rounds",
            value=rounds,
            remedy="Give a number of rounds that it has",
        )
    return replace(forest, trees=forest.trees.take(0, rounds * forest.outputs))


def renamed(forest: Forest, names: Sequence[str | None]) -> Forest:
    """The same trees with other names for the features; None leaves one out."""
    new: list[Any] = list(names)
    if len(new) != len(forest.feature_names) or not all(name is None or isinstance(name, str) for name in new):
        raise ArgumentError(
            f"does not fit a forest with {counted(len(forest.feature_names), 'feature')}",
            owner="renamed",
            setting="names",
            value=new,
            remedy="Give a name for each feature, or None to leave it out",
        )
    kept = [position for position, name in enumerate(new) if name is not None]
    position_of = np.full(len(new) + 1, LEAF)  # a leaf has feature −1, which is the last one here
    position_of[kept] = np.arange(len(kept))
    feature = position_of[forest.trees.feature]
    lost = np.unique(forest.trees.feature[(feature == LEAF) & (forest.trees.feature != LEAF)]).tolist()
    if lost:
        name = forest.feature_names[lost[0]]
        raise ArgumentError(
            f"the feature {quoted(name)} cannot be left out, because splits use it",
            owner="renamed",
            value=name,
            remedy="Give it a name",
        )
    sketch = None if forest.sketch is None else forest.sketch.renamed(new)
    trees = replace(forest.trees, feature=feature)
    new_name = dict(zip(forest.feature_names, new, strict=True))
    categories = {new_name[name]: one for name, one in forest.categories.items() if new_name[name] is not None}
    names = tuple(new[k] for k in kept)
    return replace(forest, trees=trees, feature_names=names, sketch=sketch, categories=categories)


def extended(first: Forest, second: Forest) -> Forest:
    """One forest: the trees of the first, then those of the second, with the starts added up."""
    if not are_alike(first, second):
        raise ArgumentError(
            f"cannot be extended by {second!r}: they differ in features or grades",
            place=repr(first),
            value=second,
            remedy="Add them up to a blend with +",
        )
    if first.categories != second.categories:
        shared = {name: union((first.categories[name], second.categories[name])) for name in first.categories}
        first, second = with_vocabularies(first, shared), with_vocabularies(second, shared)
    return replace(
        second,
        trees=join([first.trees, second.trees]),
        start=first.start + second.start,
        settings={**second.settings, "base": first.settings},
        sketch=united(first.sketch, second.sketch),
    )


def with_vocabularies(forest: Forest, categories: Mapping[str, Vocabulary]) -> Forest:
    """The same forest in the codes of other vocabularies, which have all categories of its own.

    The others were unknown to it, so they are in none of its sets.
    """
    trees = forest.trees
    codes = trees.set_codes.copy()
    owner = np.repeat(trees.feature, trees.set_sizes) if trees.has_sets else np.zeros(0, np.int32)
    for name, own in forest.categories.items():
        mine = owner == forest.feature_names.index(name)
        codes[mine] = own.codes_in(categories[name])[codes[mine]].astype(np.int32)
    if trees.has_sets:  # codes rise within each set
        codes = codes[np.lexsort((codes, np.repeat(np.arange(len(trees.feature)), trees.set_sizes)))]
    return replace(forest, trees=replace(trees, set_codes=codes), categories=dict(categories))


def are_alike(first: Forest, second: Forest) -> bool:
    """Whether the trees of two forests mean the same features and outputs."""
    if first.categories.keys() != second.categories.keys():
        return False
    if (first.grades is None) != (second.grades is None) or first.feature_names != second.feature_names:
        return False
    return first.grades is None or np.array_equal(first.grades, cast(Floats, second.grades))
