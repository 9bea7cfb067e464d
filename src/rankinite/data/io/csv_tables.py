"""CSV and TSV files as tables: their delimiter, their header, and the columns that are read as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankinite.data.io.columns import name_roles
from rankinite.data.io.delimiters import cells_of, delimiter_of
from rankinite.data.io.format_detection import first_line, is_header
from rankinite.data.io.name_patterns import parted, resolved
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.renaming import new_names, old_names

if TYPE_CHECKING:
    from rankinite.data.io.tables import LazyTable  # brings Arrow along: it is loaded only where there is a table


def csv_table(
    paths: Sequence[Path],
    kind: str,
    settings: ReadSettings,
    opener: Callable[[Sequence[Path], str, bool, Mapping[str, str]], LazyTable],
) -> LazyTable:
    """CSV or TSV files as one table.

    ``opener`` is given the paths, the separator, whether there is a header, and the columns that hold names, by their roles.
    """
    from rankinite.data.io.tables import LazyTable

    line = first_line(paths[0])
    separator = delimiter_of(line, kind, settings.delimiter)
    header = is_header(line, separator)
    cells = cells_of(line, separator)
    if not header:  # the columns are then "0", "1", …, so that features are counted from 1
        cells = [str(number) for number in range(len(cells))]
    stated = {} if header else {"grades": "0"}
    columns = new_names(cells, settings.renaming, str(paths[0]))
    texts = _text_columns(columns, stated, settings)
    names = dict(zip(texts, old_names(list(texts.values()), settings.renaming), strict=True))
    table = opener(paths, separator, header, names)
    return LazyTable(table.types, table.pieces, table.source, stated, written=True)


def _text_columns(columns: Sequence[str], stated: Mapping[str, str], settings: ReadSettings) -> dict[str, str]:
    """Role → column, for those columns of a CSV file that are read as text, whatever they look like."""
    ignored = resolved(settings.ignore, columns)[0]  # names that are not there are refused when the roles are found
    roles = name_roles(
        columns,
        wanted=settings.wanted(stated, columns),
        passed=settings.columns_by_value(),
        taken=[*parted(settings.feature_columns() or (), columns), *ignored, *settings.known_features],
    )
    words = settings.grade_map is not None and settings.grade_map.has_words
    kept = ("qid", "doc_id", "batch", *(("grades",) if words else ()))
    names = {role: column for role, column in roles.items() if role in kept}
    return names | {f"category {name}": str(name) for name in settings.category_names() if str(name) in columns}
