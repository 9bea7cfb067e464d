"""Reading: the options of every verb that reads data, and how data are read with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankinite.choices import Infinite, Missing, Unjudged
from rankinite.cli.messages import busy, detail, say
from rankinite.errors import ArgumentError
from rankinite.plurals import data_size

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.data.grades import GradeMap
    from rankinite.data.io.read_settings import ReadSettings

_READING = "Reading the data"


@dataclass(frozen=True)
class Reading:
    """How data are read: the options every verb shares that reads some. The names are those of ``rankinite.read``."""

    missing: Annotated[
        Missing, typer.Option(help="The value of a feature that a LETOR line leaves out.", rich_help_panel=_READING)
    ] = "zero"
    infinite: Annotated[
        Infinite, typer.Option(help="What to do with ±inf and numbers such as 1.79e308.", rich_help_panel=_READING)
    ] = "error"
    unjudged: Annotated[
        Unjudged,
        typer.Option(
            help="What to do with rows that nobody judged: those with an empty or negative grade (−1), or, with keep, all rows "
            "of a file without grades.",
            rich_help_panel=_READING,
        ),
    ] = "error"
    zero_based: Annotated[bool, typer.Option("--zero-based", help="LETOR indices start at 0.", rich_help_panel=_READING)] = (
        False
    )
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="What stands between the cells of a CSV file: ;, tab, pipe, …. If left out, the first line tells.",
            rich_help_panel=_READING,
        ),
    ] = None
    qid: Annotated[str | None, typer.Option(help="The query column of a table.", rich_help_panel=_READING)] = None
    grades: Annotated[str | None, typer.Option(help="The grade column of a table.", rich_help_panel=_READING)] = None
    map_grades: Annotated[
        str | None,
        typer.Option(
            help="The grades that words or numbers stand for: Good=2,Fair=1,Bad=0, or 0=0,1=0,2=1. Empty cells have none.",
            rich_help_panel=_READING,
        ),
    ] = None
    group: Annotated[Path | None, typer.Option(help="A file with the size of each query.", rich_help_panel=_READING)] = None
    doc_id: Annotated[str | None, typer.Option(help="The document id column of a table.", rich_help_panel=_READING)] = None
    weight: Annotated[
        str | None,
        typer.Option(
            help="The column of a table that says how much each query counts in training; all its rows have the same weight.",
            rich_help_panel=_READING,
        ),
    ] = None
    position: Annotated[
        str | None,
        typer.Option(
            help="Where documents were shown, if the grades are clicks: a column of a table; for LETOR files, a file with one "
            "position per line (DATA.position is found by itself).",
            rich_help_panel=_READING,
        ),
    ] = None
    input_format: Annotated[
        str | None,
        typer.Option(help="letor, parquet, arrow, csv, tsv or qrels, if the name does not tell.", rich_help_panel=_READING),
    ] = None
    rename: Annotated[
        list[str] | None,
        typer.Option(
            help="Another name for a column or feature, as in 'BM25 score=bm25', or 1=bm25,2=length for LETOR files. All other "
            "options go by the new names. May be repeated.",
            rich_help_panel=_READING,
        ),
    ] = None
    names: Annotated[
        Path | None,
        typer.Option(
            help="Other names from a file: lines of the old name, a tab and the new one, or old=new; or one name per line, for "
            "the features of LETOR files in order.",
            rich_help_panel=_READING,
        ),
    ] = None
    features: Annotated[
        list[str] | None,
        typer.Option(
            help="The features to use, all if left out: names, or patterns in quotes, as in 'price,bm25_*'; may be repeated.",
            rich_help_panel=_READING,
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="Columns or features to leave out: names or patterns; may be repeated.", rich_help_panel=_READING),
    ] = None
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="A feature of whole numbers that are categories; may be repeated. Columns of text are categories anyway.",
            rich_help_panel=_READING,
        ),
    ] = None
    one_hot: Annotated[
        list[str] | None,
        typer.Option(
            help="A category that becomes columns of 0 and 1, for nets and linear rankers: those of the ranker, if it has such "
            "columns; may be repeated.",
            rich_help_panel=_READING,
        ),
    ] = None

    def read(
        self,
        paths: Sequence[Path],
        like: Dataset | None = None,
        *,
        known_features: Collection[str] = (),
        needs_queries: bool = True,
    ) -> Dataset:
        """Read the files as one data set with the features of ``like``, with a spinner on a terminal.

        ``known_features`` are not taken for grades and the like, whatever they are called. Without ``needs_queries``, rows of
        which nothing tells the queries count as one query.
        """
        with busy(f"reading {', '.join(map(str, paths))}"):
            from rankinite.data.io.reading import read_with

            settings = replace(self.settings(like), known_features=known_features, needs_queries=needs_queries)
            data = read_with(list(paths), settings, format=self.input_format, infinite=self.infinite)
        size = data_size(data.queries, data.rows, len(data.feature_names))
        detail(f"{data.source}: {size}{'' if data.judged else ', no grades'}{_size(paths)}")
        return data

    def mapped(self, judged: Dataset) -> Dataset:
        """Judgements that were read without these settings, with their grades mapped."""
        from rankinite.data.io.sources import mapped

        return mapped(judged, self.settings(), lambda row: f"{judged.source}, judgement {row + 1}")

    def settings(self, like: Dataset | None = None) -> ReadSettings:
        """The same for the library."""
        from rankinite.data.io.read_settings import ReadSettings
        from rankinite.data.io.renaming import joined_renaming

        for name in ("qid", "grades", "doc_id", "weight", "position", "input_format", "delimiter"):
            if getattr(self, name) == "":
                raise ArgumentError("is empty", setting=name, value="", remedy=f"Give a name, or leave `{name}` out")
        columns = {"grades": self.grades, "qid": self.qid, "doc_id": self.doc_id, "weight": self.weight, "batch": None}
        columns["positions"] = self.position
        return ReadSettings(
            columns,
            group=self.group,
            features=None if self.features is None else tuple(self.features),
            ignore=tuple(self.ignore or ()),
            missing=self.missing,
            unjudged=self.unjudged,
            zero_based=self.zero_based,
            like=like,
            categories=tuple(self.category or ()),
            one_hot=tuple(self.one_hot or ()),
            delimiter=self.delimiter,
            grade_map=None if self.map_grades is None else grade_map(self.map_grades),
            renaming=joined_renaming(renamings(self.rename), self.names, zero_based=self.zero_based),
            note=_say_note,
        )


def _say_note(text: str) -> None:
    from rankinite.cli.error_text import in_shell

    say(in_shell(text))


def grade_map(text: str) -> GradeMap:
    """The map that ``Good=2,Fair=1`` stands for."""
    from rankinite.data.grades import GradeMap, number_in

    found: dict[str, float] = {}
    for entry in text.split(","):
        old, equals, new = entry.rpartition("=")
        grade = number_in(new)
        if not equals or not old.strip() or grade is None or old.strip() in found:
            raise ArgumentError(
                f"cannot be used: {entry!r} does not give a grade its new one",
                setting="map_grades",
                value=text,
                rule="Every grade of the data is named once, with a number, as in Good=2,Fair=1,Bad=0 or 0=0,1=0,2=1",
            )
        found[old.strip()] = grade
    return GradeMap(found)


def renamings(entries: Sequence[str] | None) -> list[tuple[str, str]]:
    """Old and new names from ``old=new``, of which an entry may have several with commas between them."""
    found: list[tuple[str, str]] = []
    for entry in entries or ():
        several = entry.split(",") if entry.count("=") > 1 else [entry]
        for text in several:
            old, equals, new = text.strip().partition("=")
            if not equals:
                raise ArgumentError(
                    f"does not say what {text.strip()!r} is called now",
                    setting="rename",
                    value=entry,
                    rule="An old name is followed by = and the new one, as in 1=bm25,2=length",
                    remedy="For a file of names give `names`" if Path(text).is_file() else "",
                )
            found.append((old.strip(), new.strip()))
    return found


def _size(paths: Sequence[Path]) -> str:
    """How large files are together; nothing for pipes."""
    size = sum(path.stat().st_size for path in paths if path.is_file())
    return f", {size / 1e6:,.1f} MB" if size else ""
