"""Categories: the vocabulary of a feature, codes of one vocabulary in those of another, and columns of 0 and 1 for each word.

In the matrix of features a category is its code, its place in the vocabulary. A vocabulary is sorted, so that the order of the
rows decides no code. Data sets read apart have vocabularies of their own; whoever brings two together matches categories by
name (:func:`recode`), never by code.

Rankers that add up numbers need a column for each word (:func:`one_hot`): ``brand=acme`` is 1 where the brand is acme. Where
the brand is missing, or a word that has no column, all columns of the brand are 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from rankinite.checks import check_count
from rankinite.engine.kernel import FEATURE, Features, frozen
from rankinite.errors import ArgumentError, DataError, listed, quoted
from rankinite.pickles import StablePickle
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset

MOST = 1 << 24
"""Categories of a feature: beyond, 32-bit floats do not tell all whole numbers apart."""
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""How a whole number of 64 bits is written, if it has no needless digits."""
MOST_COLUMNS = 100
"""Categories of a feature that become columns unless more are asked for: nets and linear rankers have a weight for each."""
IS = "="
"""What is between the name of a feature and that of a category in the name of a column."""


@dataclass(frozen=True)
class Vocabulary(StablePickle):
    """The categories of a feature, all different and in order; the code of a category is its place."""

    names: tuple[str, ...]
    """The categories: whole numbers by size, others by the code points of their letters."""
    numeric: bool = False
    """Whether they are whole numbers: then a plain number names the category of that value, otherwise of that code."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        if len(self.names) > MOST:
            raise DataError(
                f"a feature has {counted(len(self.names), 'category')}",
                value=len(self.names),
                rule=f"There may be {MOST:,} at most",
                remedy="Leave the column out, or group its values",
            )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The code of each category."""
        return {name: code for code, name in enumerate(self.names)}

    def codes_in(self, other: Vocabulary) -> Features:
        """For each of these categories its code in another vocabulary; NaN where that does not have it. Shape (len(self),)."""
        if self.names == other.names:
            return np.arange(len(self), dtype=FEATURE)
        places = other.places
        return np.asarray([places.get(name, np.nan) for name in self.names], FEATURE)

    def codes_of(self, numbers: npt.NDArray[Any]) -> Features:
        """The codes of categories given as plain numbers: by value where they are whole numbers, else codes as they are.

        Of a number that is not whole its whole part counts. What is no category becomes NaN.
        """
        values = np.trunc(np.asarray(numbers, np.float64))
        if not self.numeric:
            known = (values >= 0) & (values < len(self))
            return np.where(known, values, np.nan).astype(FEATURE)
        if not self.names:
            return np.full(values.shape, np.nan, FEATURE)
        places = np.minimum(np.searchsorted(self._numbers, values), len(self) - 1)
        return np.where(self._numbers[places] == values, places, np.nan).astype(FEATURE)

    def plain_numbers(self, codes: Features) -> npt.NDArray[np.float64]:
        """The inverse of :meth:`codes_of`: the values of whole numbers, otherwise the codes themselves."""
        if not self.numeric:
            return codes.astype(np.float64)
        return np.append(self._numbers, np.nan)[np.where(np.isnan(codes), len(self), codes).astype(np.int64)]

    @cached_property
    def _numbers(self) -> npt.NDArray[np.float64]:
        return frozen(np.asarray([int(name) for name in self.names], np.float64))


def word_of(value: object) -> str:
    """A value of a categorical column as a category: booleans and whole floats are whole numbers."""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    return str(value)


def vocabulary_of(names: Iterable[str], *, numeric: bool = False) -> Vocabulary:
    """The vocabulary of categories in any order and number; ``numeric``: they are whole numbers."""
    different = set(names)
    return Vocabulary(tuple(sorted(different, key=int) if numeric else sorted(different)), numeric)


def union(vocabularies: Iterable[Vocabulary]) -> Vocabulary:
    """All categories of several vocabularies; whole numbers only where all of them are, of those that are not empty."""
    parts = list(vocabularies)
    parts = [part for part in parts if len(part)] or parts[:1]
    if all(part == parts[0] for part in parts):
        return parts[0]
    return vocabulary_of((name for part in parts for name in part.names), numeric=all(part.numeric for part in parts))


def recode(data: Dataset, categories: Mapping[str, Vocabulary]) -> Dataset:
    """The data with the codes of these vocabularies; a category that these do not have is missing.

    A feature that is not categorical in the data holds plain numbers (:meth:`Vocabulary.codes_of`). Other features stay as they
    are; a categorical one that the vocabularies do not name is refused, as its codes would count as sizes.
    """
    surplus = [name for name in data.categories if name not in categories]
    if surplus:
        raise DataError(
            f"feature {quoted(surplus[0])} is a category here, but a number where it is used",
            place=data.source,
            value=surplus[0],
            remedy="Read both data sets with the same `categories`",
        )
    if all(data.categories.get(name) == vocabulary for name, vocabulary in categories.items()):
        return data
    features = data.features.copy()
    for name, vocabulary in categories.items():
        column = data.feature_index(name)
        features[:, column] = recode_column(features[:, column], data.categories.get(name), vocabulary)
    return replace(data, features=features, categories=dict(categories))


def recode_column(values: npt.NDArray[Any], present: Vocabulary | None, wanted: Vocabulary) -> Features:
    """A column in the codes of another vocabulary; ``present`` is the one of its codes, None for plain numbers."""
    if present is None:
        return wanted.codes_of(values)
    if present.names == wanted.names:
        return values.astype(FEATURE, copy=False)
    code_of = np.append(present.codes_in(wanted), FEATURE(np.nan))
    return code_of[np.where(np.isnan(values), len(present), values).astype(np.int64)]


def unite_codes(names: Sequence[str], parts: Sequence[tuple[Features, Mapping[str, Vocabulary]]]) -> dict[str, Vocabulary]:
    """Recode parts of one matrix, each with vocabularies of its own, by the vocabularies of all; returns these.

    ``names``: one per column of the matrix; ``parts``: consecutive rows, which are written to.
    """
    categories: dict[str, Vocabulary] = {}
    for name in parts[0][1] if parts else ():
        column, whole = names.index(name), union(vocabularies[name] for _, vocabularies in parts)
        for rows, vocabularies in parts:
            rows[:, column] = recode_column(rows[:, column], vocabularies[name], whole)
        categories[name] = whole
    return categories


def category_columns(data: Dataset) -> Iterator[tuple[str, Features]]:
    """The name and the codes of every categorical feature."""
    for name in data.categories:
        yield name, data.features[:, data.feature_index(name)]


def drop_unused_categories(data: Dataset) -> Dataset:
    """The data with vocabularies of those categories alone that some row has."""
    present = {name: np.unique(column[~np.isnan(column)]).astype(np.int64) for name, column in category_columns(data)}
    shorter = {name: codes for name, codes in present.items() if len(codes) < len(data.categories[name])}
    if not shorter:
        return data
    features, categories = data.features.copy(), dict(data.categories)
    for name, codes in shorter.items():
        column, vocabulary = data.feature_index(name), categories[name]
        known = ~np.isnan(features[:, column])
        features[known, column] = np.searchsorted(codes, features[known, column])
        names = tuple(vocabulary.names[code] for code in codes.tolist())
        categories[name] = Vocabulary(names, numeric=vocabulary.numeric and bool(names))
    return replace(data, features=features, categories=categories)


# ---- columns of whole numbers as categories -----------------------------------------------------------------------------


def with_categories(data: Dataset, names: Iterable[int | str], place: Callable[[int], str]) -> Dataset:
    """The data with further features, which hold whole numbers, as categories; ``place`` names the place of a source row."""
    columns = [column for name in names if data.feature_names[column := data.feature_index(name)] not in data.categories]
    if not columns:
        return data
    features, categories = data.features.copy(), dict(data.categories)
    for column in columns:
        name, values = data.feature_names[column], data.features[:, column]
        missing = np.isnan(values)
        wrong = np.flatnonzero(~missing & ~((np.floor(values) == values) & (np.abs(values) < MOST)))
        if len(wrong):
            row = int(wrong[0])
            source_row = row if data.input_row is None else int(data.input_row[row])
            raise not_whole(name, float(values[row]), "32-bit float", place(source_row))
        numbers = np.unique(values[~missing])
        features[:, column] = np.where(missing, np.nan, np.searchsorted(numbers, values))
        categories[name] = Vocabulary(tuple(str(int(number)) for number in numbers.tolist()), numeric=len(numbers) > 0)
    return replace(data, features=features, categories=categories)


def not_whole(name: str, value: float, kind: str, place: str) -> DataError:
    """The error for a number, of a type (``kind``), that cannot be a category."""
    return DataError(
        f"the category {quoted(name)} is {value:g}",
        place=place,
        value=value,
        rule=f"Categories are text or whole numbers, none too large to be exact as a {kind}",
        remedy=f"Leave {name!r} out of `categories`, or write its values as text",
    )


# ---- columns of 0 and 1 -------------------------------------------------------------------------------------------------


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
    columns: list[str] = []
    for column, name in enumerate(data.feature_names):
        values = data.features[:, column]
        if name not in names:
            blocks.append(values[:, None])
            columns.append(name)
            continue
        vocabulary = data.categories[name]
        # The words that have a column of this category among the known features; all of its own if there are none.
        words = tuple(dict.fromkeys(one.removeprefix(name + IS) for one in known if category_of(one, names) == name))
        if not words and len(vocabulary) > most:
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
        words = words or vocabulary.names
        blocks.append(_indicators(values, vocabulary, words))
        columns += [f"{name}{IS}{word}" for word in words]
    _refuse_unclear(data, names, columns)
    features = np.hstack(blocks) if blocks else data.features
    categories = {name: vocabulary for name, vocabulary in data.categories.items() if name not in names}
    return replace(data, features=np.ascontiguousarray(features, FEATURE), feature_names=tuple(columns), categories=categories)


def _indicators(codes: Features, vocabulary: Vocabulary, words: Sequence[str]) -> Features:
    place_of = np.append(vocabulary.codes_in(Vocabulary(tuple(words))), FEATURE(np.nan))
    places = place_of[np.where(np.isnan(codes), len(vocabulary), codes).astype(np.int64)]
    rows = np.flatnonzero(~np.isnan(places))
    indicators = np.zeros((len(codes), len(words)), FEATURE)
    indicators[rows, places[rows].astype(np.int64)] = 1.0
    return indicators


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
