"""Loading: rankers from model files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from rankinite.data.io.streams import RIGHT_FILE, read_whole
from rankinite.data.io.text_files import AnyPath
from rankinite.engine.memory import within_memory
from rankinite.errors import DataError, RankiniteError, listed, quoted
from rankinite.models.files.container import DAMAGED, MOST_HEADER, Stored, as_path
from rankinite.models.files.container_reader import parse_model

if TYPE_CHECKING:
    from rankinite.models.base import Ranker

HOMES = {
    "blend": ("rankinite.models.blend", "Blend"),
    "feature": ("rankinite.models.feature", "Feature"),
    "forest": ("rankinite.models.forest", "Forest"),
    "linear": ("rankinite.models.linear", "Linear"),
    "net": ("rankinite.models.net", "Net"),
    "normalised": ("rankinite.models.normalised", "Normalised"),
    "query-summaries": ("rankinite.models.query_summaries", "QuerySummaries"),
    "stack": ("rankinite.models.stack", "Stack"),
}
"""The kind of a ranker in a model file → its module and class, which has ``from_stored(stored)``; imported when needed."""


@dataclass(frozen=True)
class Foreign:
    """Models from elsewhere that are read as forests."""

    maker: str
    beginnings: tuple[bytes, ...]
    """How their files begin."""
    module: str
    reader: str
    """The function that reads them, given the bytes and whether all trees are to be kept; imported when needed."""


FOREIGN = (
    Foreign("LightGBM", (b"tree\n", b"tree\r\n"), "rankinite.models.files.lightgbm", "read_lightgbm"),
    Foreign("XGBoost", (b"{",), "rankinite.models.files.xgboost", "read_xgboost"),
)
"""Whose model files are read besides our own: an importer is one file, and one line here."""


def maker_of(beginning: bytes) -> str | None:
    """Whose model file has this beginning; None: that is not known."""
    if beginning[8:9] == b"{" and int.from_bytes(beginning[:8], "little") <= MOST_HEADER:
        return "rankinite"
    return next((foreign.maker for foreign in FOREIGN if beginning.startswith(foreign.beginnings)), None)


def load(path: AnyPath, *, all_trees: bool = False) -> Ranker:
    """The ranker that ``save`` wrote to a file, or a model of LightGBM (text) or XGBoost (JSON, UBJSON) as a forest.

    XGBoost's files hold all trees even if early stopping found the best round before the last; the forest ends at that round,
    as ``XGBRanker.predict`` does, and its settings say how many trees were left out. ``all_trees`` keeps them, as
    ``Booster.predict`` does.

    Safe on files from anywhere: no code of theirs is run.

    >>> ranker = load("web.rankinite")                                        # doctest: +SKIP
    """
    return loaded(read_whole(as_path(path)), path, all_trees=all_trees)


def loaded(content: bytes, path: AnyPath, *, all_trees: bool = False) -> Ranker:
    """The same from the bytes of a file, which messages call ``path``."""
    with within_memory(str(path), RIGHT_FILE):
        try:
            return _read(content, all_trees)
        except RecursionError as problem:
            raise DataError("rankers are nested too deeply", place=path, remedy=DAMAGED) from problem
        except RankiniteError as problem:
            raise _in_file(problem).at(path) from problem


def _in_file(problem: RankiniteError) -> DataError:
    """An error about the content of a file, whose settings are not those of a call: the user can only make it again."""
    if isinstance(problem, DataError) and not problem.setting:
        return problem
    subject = f"{problem.setting}={quoted(problem.value)} " if problem.setting else ""
    return DataError(subject + problem.problem, place=problem.place, value=problem.value, rule=problem.rule, remedy=DAMAGED)


def _read(content: bytes, all_trees: bool) -> Ranker:
    maker = maker_of(content[:16])
    foreign = next((one for one in FOREIGN if one.maker == maker), None)
    if foreign is None:
        return build(parse_model(content))
    return getattr(import_module(foreign.module), foreign.reader)(content, all_trees)


def build(stored: Stored) -> Ranker:
    """The ranker that is stored."""
    if stored.kind not in HOMES:
        raise DataError(
            f"{quoted(stored.kind)} is not a kind of ranker",
            place=f"{stored.prefix}kind",
            value=stored.kind,
            rule=f"The kinds are {listed(sorted(HOMES))}",
            remedy="Update rankinite, or make the file again if it is damaged",
        )
    module, name = HOMES[stored.kind]
    return getattr(import_module(module), name).from_stored(stored)
