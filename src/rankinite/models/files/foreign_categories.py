"""Vocabularies of models from elsewhere: what the codes in their sets stand for.

LightGBM and XGBoost split by codes. A file tells the words of the codes if the model was trained on a data frame whose columns
were categorical; otherwise the codes themselves are the categories, whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rankinite.data.categories import WHOLE, Vocabulary, word_of
from rankinite.engine.kernel import Indices
from rankinite.errors import DataError
from rankinite.models.files.parsed import SAVE_AGAIN
from rankinite.trees.structure import Trees


@dataclass(frozen=True, eq=False)
class ForeignCategories:
    """What a file says of a feature that is a category."""

    place: str
    """Where the file says it."""
    words: Sequence[object] | None = None
    """What each code stands for, in order; None: the file does not say."""
    codes: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    """Codes that the file mentions besides those in sets."""


def in_vocabularies(
    trees: Trees, names: Sequence[str], known: Mapping[int, ForeignCategories]
) -> tuple[Trees, dict[str, Vocabulary]]:
    """Trees whose sets hold a file's codes, with our own; and the vocabulary of each feature that is a category.

    ``known``: what the file says of features, by position; those of which it says nothing are categories if a set is of them.
    """
    owner = np.repeat(trees.feature, trees.set_sizes)
    codes = trees.set_codes.astype(np.int64)
    features = sorted({*known, *np.unique(owner).tolist()})
    categories: dict[str, Vocabulary] = {}
    for feature in features:
        if not 0 <= feature < len(names):
            continue  # the forest is refused for it
        mine, facts = owner == feature, known.get(feature, ForeignCategories(f"feature {feature}"))
        vocabulary, codes[mine] = _coded(codes[mine], facts)
        categories[names[feature]] = vocabulary
    if trees.has_sets:  # codes rise within each set
        node = np.repeat(np.arange(len(trees.feature)), trees.set_sizes)
        trees = replace(trees, set_codes=codes[np.lexsort((codes, node))])
    return trees, categories


def _coded(codes: Indices, facts: ForeignCategories) -> tuple[Vocabulary, Indices]:
    """A vocabulary, and the places of a file's codes in it."""
    if facts.words is None:
        known = np.unique(np.concatenate((codes, facts.codes)))
        return Vocabulary(tuple(map(str, known.tolist())), numeric=True), np.searchsorted(known, codes)
    words = [word_of(value) for value in facts.words]
    if len(set(words)) < len(words):
        raise DataError(
            "a category is listed twice",
            place=facts.place,
            value=words,
            rule="Categories of a feature must differ, also when they are written as text",
            remedy="Train on categories whose names differ",
        )
    beyond = codes[codes >= len(words)]
    if len(beyond):
        raise DataError(
            f"a tree asks for the code {beyond[0]}, but the file has the names of {len(words)} categories",
            place=facts.place,
            value=int(beyond[0]),
            remedy=SAVE_AGAIN,
        )
    if not _are_whole(facts.words, words):
        return Vocabulary(tuple(words)), codes
    order = sorted(range(len(words)), key=lambda code: int(words[code]))
    place_of = np.empty(len(words), np.int64)
    place_of[order] = np.arange(len(words))
    return Vocabulary(tuple(words[code] for code in order), numeric=True), place_of[codes]


def _are_whole(values: Sequence[object], words: Sequence[str]) -> bool:
    """Whether categories are whole numbers, rather than text that looks like them."""
    return not any(isinstance(value, str) for value in values) and all(map(WHOLE.fullmatch, words)) and bool(words)
