"""ReadSettings: those settings of :func:`rankinite.read` that depend on the kind of source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from rankinite.choices import Unjudged
from rankinite.data.dataset import Dataset
from rankinite.data.grades import GradeMap
from rankinite.data.io.arrays import group_sizes
from rankinite.data.io.delimiters import checked_delimiter
from rankinite.data.io.name_patterns import meant_by, resolved
from rankinite.data.io.position_files import read_positions
from rankinite.data.io.renaming import widened
from rankinite.data.io.text_files import AnyPath, group_files, read_sizes
from rankinite.engine.kernel import Indices
from rankinite.errors import ArgumentError, listed

if TYPE_CHECKING:
    from rankinite.data.io.reading import Missing

Name = TypeVar("Name", bound="int | str")

Column: TypeAlias = str | npt.ArrayLike | None
"""A column by name, or its values, one per row."""


def several(names: Sequence[Name] | str) -> Sequence[Name | str]:
    """Names as a list, where one may be given alone: one name is not a list of letters."""
    return [names] if isinstance(names, str) else names


@dataclass(frozen=True)
class ReadSettings:
    """What the caller of ``read`` asks for, checked as far as possible before the source is known."""

    columns: Mapping[str, Column | PathLike[str]]
    group: npt.ArrayLike | AnyPath | None
    features: Sequence[int | str] | None
    ignore: Sequence[str]
    missing: Missing
    unjudged: Unjudged
    zero_based: bool
    like: Dataset | None
    known_features: Collection[str] = ()
    """Names of features that are not taken for anything else, such as a grade, if a table has such columns."""
    needs_queries: bool = True
    """Whether a source that does not tell its queries is refused; its rows count as one query otherwise."""
    categories: Sequence[int | str] = ()
    """Features that are categories, as features are chosen; those of ``like`` are such too, and text is without being named."""

    one_hot: Sequence[str] = ()
    """Features that are categories and become columns of 0 and 1, by name."""
    delimiter: str | None = None
    """What stands between the cells of CSV and TSV files; if None, their first line tells."""
    grade_map: GradeMap | None = None
    """What the words or numbers of the grades stand for."""
    renaming: Mapping[str, str] = field(default_factory=dict[str, str])
    """Old name → new name of columns and features; all other settings go by the new ones."""
    note: Callable[[str], None] | None = None
    """Told what was decided for the caller, with settings between backticks."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "delimiter", checked_delimiter(self.delimiter))
        if self.group is not None and self.columns["qid"] is not None:
            raise ArgumentError(
                "cannot be given together with `qid`, as both say which rows belong to a query",
                owner="read",
                setting="group",
                value=self.group,
                remedy="Give one of them",
            )
        if isinstance(self.features, int | np.integer):
            raise ArgumentError(
                "is not a list of names or positions",
                owner="read",
                setting="features",
                value=int(self.features),
                remedy="Choose features as in `features=[0, 1]`",
            )
        if isinstance(self.categories, int | np.integer):
            raise ArgumentError(
                "is not a list of names or positions",
                owner="read",
                setting="categories",
                value=int(self.categories),
                remedy="Name them as in `categories=['brand', 'shop']`",
            )

    @property
    def needs_grades(self) -> bool:
        """Whether a source without grades is refused; where rows that nobody judged are kept, all of them may be such."""
        return self.unjudged != "keep"

    def columns_by_name(self) -> dict[str, str]:
        """The roles for which a column is named."""
        return {role: column for role, column in self.columns.items() if isinstance(column, str)}

    def columns_by_value(self) -> dict[str, npt.NDArray[Any]]:
        """The roles for which values are passed."""
        passed = {role: v for role, v in self.columns.items() if v is not None and not isinstance(v, str)}
        found = {role: read_positions(v) if isinstance(v, PathLike) else np.asarray(v) for role, v in passed.items()}
        if self.grade_map is not None and "grades" in found:
            found["grades"] = self.grade_map.of_values(found["grades"], "grades, row {}".format)
        return found

    def sizes(self, beside: Sequence[Path] = ()) -> Indices | None:
        """Group sizes: those passed, else those in files beside the data."""
        if self.group is not None:
            return group_sizes(self.group)
        files = group_files(beside)
        return np.concatenate([read_sizes(file) for file in files]) if files else None

    def wanted(self, stated: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
        """Role → column, as named here, else as the table itself, which has these columns, states it."""
        ignored = resolved(self.ignore, columns)[0]
        kept = {role: column for role, column in stated.items() if column not in ignored and self.columns[role] is None}
        return {**kept, **self.columns_by_name()}

    def check_chosen(self, columns: Sequence[str], source: str) -> None:
        """Refuse ``features`` that leave out some of ``like``, which decides for tables."""
        if self.like is None or self.features is None:
            return
        chosen = frozenset(meant_by(map(str, self.features), columns, source))
        lacking = [name for name in self.like.feature_names if name not in chosen]
        if lacking:
            raise ArgumentError(
                f"leaves out {listed(lacking)}, which {self.like.source} has",
                owner="read",
                place=source,
                setting="features",
                value=list(self.features),
                remedy="Choose the same features for all data, or leave it out",
            )

    def widened(self, data: Dataset) -> Dataset:
        """Rows of LETOR files with all features that are renamed, or that renamed data have which these must be like."""
        like = () if self.like is None else self.like.feature_names
        absent = 0.0 if self.missing == "zero" else np.nan
        return widened(data, self.renaming, like, absent=absent, base=0 if self.zero_based else 1)

    def feature_columns(self) -> list[str] | None:
        """The feature columns that a table must have, where they are chosen; those of ``like`` before others."""
        names = self.features if self.like is None else self.like.feature_names
        return None if names is None else [str(name) for name in names]

    def category_names(self) -> list[int | str]:
        """The features that someone calls categories, here or in ``like``."""
        return [*self.categories, *(() if self.like is None else self.like.categories)]

    def refuse_columns(self, place: Path, *, but: Collection[str] = ()) -> None:
        """For formats without named columns: none may be named, and no values passed, ``but`` those of some roles."""
        for role, value in self.columns.items():
            if value is not None and role not in but:
                raise ArgumentError(
                    "is for tables and arrays, but this file has no named columns",
                    owner="read",
                    place=place,
                    setting=role,
                    value=value,
                    remedy="Leave it out",
                )
