"""Coding: columns of whole numbers as categories, and vocabularies without the categories that no row has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rankinite.data.categories import MOST, Vocabulary, recoded_column, union
from rankinite.data.dataset import Dataset
from rankinite.data.io.column_names import meaning_of
from rankinite.engine.kernel import FEATURE, Features
from rankinite.errors import DataError, quoted

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""How a whole number of 64 bits is written, if it has no needless digits."""
LEAST_ROWS = 100
"""Rows from which on it is hardly chance that most of them have a category of their own."""


def with_categories(data: Dataset, names: Iterable[int | str], place: Callable[[int], str]) -> Dataset:
    """The data with further features, which hold whole numbers, as categories; ``place`` names the place of a source row."""
    columns = [column for name in names if data.feature_names[column := data.feature_index(name)] not in data.categories]
    if not columns:
        return data
    features, categories = data.features.copy(), dict(data.categories)
    for column in columns:
        name = data.feature_names[column]
        features[:, column], categories[name] = _coded(data, column, place)
    return replace(data, features=features, categories=categories)


def _coded(data: Dataset, column: int, place: Callable[[int], str]) -> tuple[Features, Vocabulary]:
    values = data.features[:, column]
    missing = np.isnan(values)
    wrong = np.flatnonzero(~missing & ~((np.floor(values) == values) & (np.abs(values) < MOST)))
    if len(wrong):
        row = int(wrong[0])
        source_row = row if data.input_row is None else int(data.input_row[row])
        raise not_whole(data.feature_names[column], float(values[row]), "32-bit float", place(source_row))
    found = np.unique(values[~missing])
    codes = np.searchsorted(found, values).astype(FEATURE)
    codes[missing] = np.nan
    return codes, Vocabulary(tuple(str(int(value)) for value in found.tolist()), numeric=len(found) > 0)


def not_whole(name: str, value: float, kind: str, place: str) -> DataError:
    """The error for a number, of a type (``kind``), that cannot be a category."""
    return DataError(
        f"the category {quoted(name)} is {value:g}",
        place=place,
        value=value,
        rule=f"Categories are text or whole numbers, none too large to be exact as a {kind}",
        remedy=f"Leave {name!r} out of `categories`, or write its values as text",
    )


def unite_codes(names: Sequence[str], parts: Sequence[tuple[Features, Mapping[str, Vocabulary]]]) -> dict[str, Vocabulary]:
    """Recode parts of one matrix, each with vocabularies of its own, by the vocabularies of all; returns these.

    ``names``: one per column of the matrix; ``parts``: consecutive rows, which are written to.
    """
    categories: dict[str, Vocabulary] = {}
    for name in parts[0][1] if parts else ():
        column, whole = names.index(name), union(vocabularies[name] for _, vocabularies in parts)
        for rows, vocabularies in parts:
            rows[:, column] = recoded_column(rows[:, column], vocabularies[name], whole)
        categories[name] = whole
    return categories


def trimmed(data: Dataset) -> Dataset:
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


def category_columns(data: Dataset) -> Iterator[tuple[str, Features]]:
    """The name and the codes of every categorical feature."""
    for name in data.categories:
        yield name, data.features[:, data.feature_index(name)]


def nearly_one_per_row(codes: Features) -> int:
    """How many categories a column has, if more than half of at least 100 rows have one of their own; else 0."""
    different = len(np.unique(codes[~np.isnan(codes)]))
    return different if is_id_like(different, len(codes)) else 0


def is_id_like(categories: int, rows: int) -> bool:
    """Whether a feature has more categories than half of at least 100 rows."""
    return rows >= LEAST_ROWS and 2 * categories > rows


def like_ids(source: str, categories: Mapping[str, int], rows: int) -> str:
    """A warning of categories with nearly as many values as there are rows, with settings between backticks."""
    one, names = len(categories) == 1, list(categories)
    counts = ", ".join(f"{quoted(name)} ({count:,} values)" for name, count in categories.items())
    documents = [name for name in names if meaning_of(name) == "document"][:1] or names[:1]
    which = "it names" if one else f"{quoted(documents[0])} names"
    return (
        f"{source}: {counts} in {rows:,} rows {'looks like an id, which says' if one else 'look like ids, which say'} nothing "
        f"about other rows. Leave {'it' if one else 'them'} out with `ignore={names!r}`; if {which} the documents, pass "
        f"`doc_id={documents[0]!r}`."
    )
