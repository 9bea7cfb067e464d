"""Columns of features in SQL: how they are read from the table, and the conditions that nodes of trees put on them.

A category is text. Words that the vocabulary does not have become NULL when the table is read; so a node may list the words of
either side, and the shorter list is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rankinite.choices import ServedMissing
from rankinite.data.categories import Vocabulary
from rankinite.serving.targets.sql_text import literal, quoted_name
from rankinite.trees.structure import Trees


@dataclass(frozen=True)
class Column:
    """A feature in a statement."""

    feature: str
    missing: ServedMissing
    """What a missing number counts as; a missing category stays missing."""
    vocabulary: Vocabulary | None = None
    """The words, where it is a category."""

    def read(self) -> str:
        """The column as the first step reads it; with the table's name, since SQLite takes other quoted names for texts."""
        own = f"f.{quoted_name(self.feature)}"
        if self.vocabulary is not None:  # a table may have columns that do not tell small letters from capitals
            word = f'(CAST({own} AS VARCHAR) COLLATE "BINARY")'
            return f"CASE WHEN {word} IN ({_list(self.vocabulary.names)}) THEN {word} END"
        number = f"CAST({own} AS DOUBLE PRECISION)"
        return f"COALESCE({number}, 0e0)" if self.missing == "zero" else number

    def condition(self, trees: Trees, node: int, *, left: bool) -> str:
        """What sends a row to the left of a node, or to its right."""
        x, missing_too = quoted_name(self.feature), bool(trees.missing_left[node]) == left
        if self.vocabulary is not None:
            return self._words(trees.set_of(node), left=left, missing_too=missing_too)
        asked = f"{x} {'<=' if left else '>'} {literal(float(trees.threshold[node]))}"
        return f"{asked} OR {x} IS NULL" if missing_too and self.missing == "nan" else asked

    def _words(self, codes: list[int], *, left: bool, missing_too: bool) -> str:
        """What the words of these codes fulfil and all others do not, or, on the right, the other way round."""
        x, names = quoted_name(self.feature), self.vocabulary.names if self.vocabulary else ()
        others = sorted(set(range(len(names))).difference(codes))
        here, there = (codes, others) if left else (others, codes)
        if not here:
            return f"{x} IS NULL" if missing_too else "FALSE"
        if not there:
            return "TRUE" if missing_too else f"{x} IS NOT NULL"
        shorter, word = (here, "IN") if len(here) <= len(there) else (there, "NOT IN")
        asked = f"{x} {word} ({_list(names[code] for code in shorter)})"
        return f"{asked} OR {x} IS NULL" if missing_too else asked


def _list(words: Iterable[str]) -> str:
    return ", ".join("'" + word.replace("'", "''") + "'" for word in words)
