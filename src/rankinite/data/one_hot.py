"""One-hot columns: a category as one column of 0 and 1 for each of its words, for rankers that add up numbers.

The column ``brand=acme`` is 1 where the brand is acme. Where it is missing, or a word that has no column, all columns of the
brand are 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rankinite.checks import check_count
from rankinite.data.categories import Vocabulary
from rankinite.engine.kernel import FEATURE, Features
from rankinite.errors import ArgumentError, DataError, listed, quoted

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset

MOST_COLUMNS = 100
"""Categories of a feature that become columns unless more are asked for: nets and linear rankers have a weight for each."""
IS = "="
"""What is between the name of a feature and that of a category in the name of a column."""


class Named(Protocol):
    """Whatever has features with names: a data set, a ranker."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names, in order."""
        ...


def one_hot(data: Dataset, names: Sequence[str], known: Collection[str] = (), most: int = MOST_COLUMNS) -> Dataset:
    """The data with columns of 0 and 1 in the place of each category named.

    ``known``: names of features elsewhere. A feature has the columns that it has there, if it has any; else one for each of its
    categories here, of which there may be ``most``.
    """
    check_count("one_hot", "most", most, 1)
    blocks: list[Features] = []
    renamed: list[str] = []
    for column, name in enumerate(data.feature_names):
        values = data.features[:, column]
        if name not in names:
            blocks.append(values[:, None])
            renamed.append(name)
            continue
        words = columns_of_category(name, names, known) or _own_words(data, name, most)
        blocks.append(_indicators(values, data.categories[name], words))
        renamed += [f"{name}{IS}{word}" for word in words]
    _refuse_unclear(data, names, renamed)
    features = np.hstack(blocks) if blocks else data.features
    kept = {name: vocabulary for name, vocabulary in data.categories.items() if name not in names}
    return replace(data, features=np.ascontiguousarray(features, FEATURE), feature_names=tuple(renamed), categories=kept)


def columns_of_category(name: str, names: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """The words that have a column of a category among known features, in order; ``names``: all categories with columns."""
    return tuple(dict.fromkeys(one.removeprefix(name + IS) for one in known if category_of(one, names) == name))


def category_of(feature: str, names: Iterable[str]) -> str | None:
    """The category that a feature is a column of; None: it is none of these."""
    return max((name for name in names if feature.startswith(name + IS)), key=len, default=None)


def categories_of(data: Dataset, names: Sequence[str] | str | None) -> list[str]:
    """The categories to be made columns: those named, or all."""
    if names is None:
        return list(data.categories)
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        data.feature_index(name)
    numbers = [name for name in chosen if name not in data.categories]
    if numbers:
        raise DataError(
            f"the feature {quoted(numbers[0])} is no category",
            place=data.source,
            value=numbers[0],
            rule=f"The categories are {listed(list(data.categories)) or 'none'}",
            remedy=f"Read the data with `categories={[numbers[0]]!r}`",
        )
    return chosen


def before_one_hot(data: Dataset, names: Sequence[str]) -> Dataset:
    """Data without rows that have the features which one-hot columns were made of, in the place of the first column of each."""
    from rankinite.data.dataset import Dataset

    single = tuple(dict.fromkeys(category_of(feature, names) or feature for feature in data.feature_names))
    return Dataset(
        features=np.zeros((0, len(single)), FEATURE),
        grades=np.zeros(0, np.float32),
        offsets=np.zeros(1, np.int64),
        qids=np.zeros(0, np.str_),
        feature_names=single,
        source=data.source,
        categories=dict(getattr(data, "categories", {})) | {name: Vocabulary(()) for name in single if name in names},
    )


def _own_words(data: Dataset, name: str, most: int) -> tuple[str, ...]:
    vocabulary = data.categories[name]
    if len(vocabulary) > most:
        raise ArgumentError(
            f"would make {len(vocabulary):,} columns of the category {quoted(name)}",
            owner="one_hot",
            place=data.source,
            setting="one_hot",
            value=[name],
            rule=f"There may be {most:,}, because every column has weights of its own to be learnt",
            remedy="Train trees, which split such categories by sets, or make more columns with Dataset.one_hot(most=…)",
            shell_remedy="Train trees, which split such categories by sets",
        )
    return vocabulary.names


def _indicators(codes: Features, vocabulary: Vocabulary, words: Sequence[str]) -> Features:
    """A column of 0 and 1 for each word."""
    place_of = np.append(vocabulary.codes_in(Vocabulary(tuple(words))), FEATURE(np.nan))
    places = place_of[np.where(np.isnan(codes), len(vocabulary), codes).astype(np.int64)]
    rows = np.flatnonzero(~np.isnan(places))
    found = np.zeros((len(codes), len(words)), FEATURE)
    found[rows, places[rows].astype(np.int64)] = 1.0
    return found


def _refuse_unclear(data: Dataset, names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse columns whose names do not tell what they are: another feature has the same, or begins with the same."""
    counts = Counter(columns)
    unclear = [name for name in columns if counts[name] > 1 or (name in data.feature_names and category_of(name, names))]
    made = [(name, f"{name}{IS}{word}") for name in names for word in data.categories[name].names]
    unclear += [column for name, column in made if category_of(column, names) != name]
    if unclear:
        raise DataError(
            f"two features could be meant by {quoted(unclear[0])}",
            place=data.source,
            value=unclear[0],
            rule="A column is called by its feature and its category",
            remedy="Rename one of the features",
        )
