"""Types of columns: which can be numbers, text or categories, and names that appear twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any


def is_numeric(kind: Any) -> bool:
    """Whether a column of this Arrow type can be a feature; an all-empty column is one whose values are all missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return is_numeric(kind.value_type)
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(check(kind) for check in checks)


def is_text(kind: Any) -> bool:
    """Whether this Arrow type is text."""
    import pyarrow as pa

    return any(check(kind) for check in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def holds_text(kind: Any) -> bool:
    """Whether this Arrow type is text, or a dictionary of it."""
    import pyarrow as pa

    return is_text(kind) or (pa.types.is_dictionary(kind) and is_text(kind.value_type))


def is_category(kind: Any) -> bool:
    """Whether a feature of this Arrow type is a category by itself: text, and dictionaries of text or numbers."""
    import pyarrow as pa

    return holds_text(kind) or (pa.types.is_dictionary(kind) and is_numeric(kind))


def kind_of(kind: Any) -> str:
    """What a column of an Arrow type holds, in plain words beside the name of the type."""
    import pyarrow as pa

    plain = "text" if holds_text(kind) else ""
    times = (pa.types.is_temporal, "dates or times"), (pa.types.is_nested, "lists or records")
    found = plain or next((words for check, words in times if check(kind)), "")
    return f"{found} ({kind})" if found else str(kind)


def repeated_names(names: Iterable[str]) -> list[str]:
    """The names that appear more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)
