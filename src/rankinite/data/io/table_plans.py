"""Table plans: what the columns of a table mean, decided before it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy.typing as npt

from rankinite.data.io.columns import ColumnSettings, Roles, assign_roles
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.text_files import group_files
from rankinite.engine.kernel import Indices
from rankinite.errors import DataError, quoted

if TYPE_CHECKING:
    from rankinite.data.io.tables import LazyTable  # brings Arrow along: it is loaded only where there is a table


class TablePlan(NamedTuple):
    """Where the values of each role come from: columns, passed values or group sizes."""

    roles: Roles
    passed: Mapping[str, npt.NDArray[Any]]
    """Role → one value per row."""
    sizes: Indices | None
    """The number of rows of each query, if rows do not name their query."""

    @property
    def has_queries(self) -> bool:
        """Whether anything tells the queries; otherwise all rows are one."""
        return self.sizes is not None or "qid" in self.roles.named or "qid" in self.passed


def _noted(note: Callable[[str], None], source: str, text: str) -> None:
    note(f"{source}: {text}")


def plan_table(
    table: LazyTable, settings: ReadSettings, paths: Sequence[Path], words: Callable[[str], Sequence[str]]
) -> TablePlan:
    """Decide what the columns of a table mean, before it is loaded; ``words`` gives those that a column of text holds."""
    passed = settings.columns_by_value()
    asked = ColumnSettings(
        wanted=settings.wanted(table.roles, list(table.types)),
        passed=passed,
        grouped=settings.group is not None or bool(group_files(paths)) or not settings.needs_queries,
        graded=settings.needs_grades,
        features=settings.feature_columns(),
        ignore=settings.ignore,
        known_features=settings.known_features,
        guess=table.guess,
        categories=[str(name) for name in settings.category_names()],
        stated_categories=table.categories,
        texts_are_categories=settings.like is None,
        written=table.written,
        grade_map=settings.grade_map,
        words=words,
        in_memory=not paths,
        note=None if settings.note is None else partial(_noted, settings.note, table.source),
    )
    roles = assign_roles(table.types, table.source, asked)
    settings.check_chosen(list(table.types), table.source)
    if settings.group is not None and "qid" in roles.named:
        column = roles.named["qid"]
        raise DataError(
            f"column {quoted(column)} names the query of each row, but `group` is given too",
            place=table.source,
            value=column,
            remedy=f"Leave `group` out, or pass `ignore={[column]!r}` to use it instead of the column",
        )
    has_qid = "qid" in roles.named or "qid" in passed
    return TablePlan(roles, passed, settings.sizes(() if has_qid else paths))
