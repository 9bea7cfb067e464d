"""The only private names that the pins use; they follow when these move."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import typer

import rankinite as rk
from rankinite import installed
from rankinite.cli.app import app
from rankinite.cli.commands import loaded
from rankinite.data.grades import grade_map_of
from rankinite.data.io.pieces import open_pieces
from rankinite.data.io.read_settings import ReadSettings, several
from rankinite.data.io.renaming import renaming_of

ROLES = ("grades", "qid", "doc_id", "weight", "batch", "positions")


@contextmanager
def same_release() -> Generator[None]:
    """The number of the release under which the pins were written: it is in reports and ONNX files, and promised to nobody."""
    with patch.object(installed, "VERSION", "0.2.0"), patch.object(rk, "__version__", "0.2.0"):
        yield


def verbs() -> dict[str, Any]:
    """Every verb of the command line as Click has it."""
    group: Any = typer.main.get_command(app)
    return {name: loaded(name) for name in sorted(group.commands)}


def pieces(source: Any, rows: int, **given: Any) -> Iterator[rk.Dataset]:
    """The source, read in pieces of at least so many rows, with the settings of ``rankinite.read``."""
    zero_based = given.pop("zero_based", False)
    named: dict[str, Any] = {name: given.pop(name) for name in ("format", "infinite") if name in given}
    features, group = given.pop("features", None), given.pop("group", None)
    settings = ReadSettings(
        {role: given.pop(role, None) for role in ROLES},
        group,
        None if features is None else several(features),
        several(given.pop("ignore", ())),
        given.pop("missing", "zero"),
        given.pop("unjudged", "error"),
        zero_based,
        given.pop("like", None),
        categories=several(given.pop("categories", ())),
        one_hot=several(given.pop("one_hot", ())),
        delimiter=given.pop("delimiter", None),
        grade_map=grade_map_of(given.pop("map_grades", None)),
        renaming=renaming_of(given.pop("rename", None), zero_based=zero_based),
    )
    assert not given, given
    with open_pieces(source, settings, rows=rows, **{"format": None, "infinite": "error"} | named) as found:
        yield from found
