"""Vocabularies in model files: the categories of each feature, in the order of their codes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

from rankinite.data.categories import Vocabulary
from rankinite.errors import DataError, quoted
from rankinite.models.files.container import DAMAGED, Stored


def described(categories: Mapping[str, Vocabulary]) -> dict[str, Any]:
    """Vocabularies as JSON has them."""
    return {name: {"names": list(one.names), "numeric": one.numeric} for name, one in categories.items()}


def stored_categories(stored: Stored) -> dict[str, Vocabulary]:
    """The vocabularies of a forest in a file."""
    written = stored.fact("categories", cast("type[dict[str, Any]]", dict))
    return {name: _vocabulary(facts, f"{stored.prefix}categories, {quoted(name)}") for name, facts in written.items()}


def _vocabulary(facts: Any, place: str) -> Vocabulary:
    one = cast("dict[str, Any]", facts) if isinstance(facts, dict) else {}
    names, numeric = one.get("names"), one.get("numeric")
    if not isinstance(names, list) or not isinstance(numeric, bool) or not _is_vocabulary(cast("list[Any]", names), numeric):
        raise DataError(
            "this is no vocabulary",
            place=place,
            value=facts,
            rule="It lists different texts, which rise where they are whole numbers",
            remedy=DAMAGED,
        )
    return Vocabulary(tuple(cast("list[str]", names)), numeric)


def _is_vocabulary(names: list[Any], numeric: bool) -> bool:
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        return False
    if not numeric:
        return True
    try:
        return all(a < b for a, b in pairwise(map(int, names)))
    except ValueError:
        return False
