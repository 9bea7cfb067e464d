"""Columns of features in SQL: how they are read from the table, and the conditions that nodes of trees put on them.

A category is a word in the table. When that is read, it becomes its code between commas, such as ``,3,``, and NULL where the
vocabulary does not have it: missing and unknown categories go right. A node looks the code up in a text of codes, those of the
side that has fewer: ``instr(',0,3,', x) > 0``. (A list of words with IN would be plainer; DuckDB was slower with it.)
"""

from __future__ import annotations

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
            whens = (f"WHEN {_text(name)} THEN {_codes([code])}" for code, name in enumerate(self.vocabulary.names))
            return f"CASE {word} {' '.join(whens)} END"
        number = f"CAST({own} AS DOUBLE PRECISION)"
        return f"COALESCE({number}, 0e0)" if self.missing == "zero" else number

    def condition(self, trees: Trees, node: int, *, left: bool) -> str:
        """What sends a row to the left of a node, or to its right."""
        if self.vocabulary is not None:
            return self._category(trees.set_of(node), len(self.vocabulary), left=left)
        x, missing_too = quoted_name(self.feature), bool(trees.missing_left[node]) == left
        asked = f"{x} {'<=' if left else '>'} {literal(float(trees.threshold[node]))}"
        return f"{asked} OR {x} IS NULL" if missing_too and self.missing == "nan" else asked

    def _category(self, members: list[int], size: int, *, left: bool) -> str:
        """What these codes fulfil, and neither others nor NULL; on the right, the other way round."""
        x, others = quoted_name(self.feature), sorted(set(range(size)).difference(members))
        if not others:
            return f"{x} IS NOT NULL" if left else f"{x} IS NULL"
        here, there = (members, others) if left else (others, members)
        asked = f"instr({_codes(here)}, {x}) > 0" if len(here) <= len(there) else f"instr({_codes(there)}, {x}) < 1"
        return asked if left else f"{asked} OR {x} IS NULL"


def _text(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def _codes(codes: list[int]) -> str:
    return f"',{','.join(map(str, codes))},'"
