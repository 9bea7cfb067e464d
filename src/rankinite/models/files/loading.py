"""Loading: rankers from model files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankinite.data.io.streams import RIGHT_FILE, read_whole
from rankinite.data.io.text_files import AnyPath
from rankinite.engine.memory import within_memory
from rankinite.errors import DataError, RankiniteError, listed, quoted
from rankinite.models.files.container import DAMAGED, MOST_HEADER, Stored, as_path
from rankinite.models.files.container_reader import parse_model
from rankinite.models.files.parsed import is_json_object, parse_json
from rankinite.models.files.unreadable import refuse_live_model, unreadable_bytes, unreadable_object

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
    """Models from elsewhere that are read."""

    maker: str
    beginnings: tuple[bytes, ...]
    """How their files begin."""
    module: str
    reader: str
    """The function that reads them, given the bytes and whether all trees are to be kept; imported when needed."""
    entries: tuple[str, ...] = ()
    """Where their files are JSON objects, which all begin alike: what the object has. The reader is given the object."""

    def read(self, written: Any, all_trees: bool) -> Ranker:
        """The ranker of a file."""
        return getattr(import_module(self.module), self.reader)(written, all_trees)


ONNX = tuple(bytes((0x08, version, field)) for version in range(1, 32) for field in b"\x12\x1a\x22\x28\x32\x3a\x42\x72")
"""How ONNX files begin: the version of the format, then any field of a model."""
_FILES = "rankinite.models.files"

FOREIGN = (
    Foreign("LightGBM", (b"tree\n", b"tree\r\n"), f"{_FILES}.lightgbm", "read_lightgbm"),
    Foreign("RankLib", (b"## ",), f"{_FILES}.ranklib", "read_ranklib"),
    Foreign("ONNX", ONNX, f"{_FILES}.onnx", "read_onnx"),
    Foreign("XGBoost", (b"{",), f"{_FILES}.xgboost", "xgboost_forest", ("learner",)),
    Foreign("CatBoost", (b"{",), f"{_FILES}.catboost", "catboost_forest", ("features_info", "scale_and_bias")),
    Foreign("Solr", (b"{",), f"{_FILES}.solr", "solr_model", ("class", "features")),
    Foreign("XGBoost", (b"{",), f"{_FILES}.xgboost", "read_xgboost"),
)
"""Whose model files are read besides our own: an importer is one file, and one line here. The first that fits is meant."""
BEGINNING = 256
"""Bytes by which files are recognised."""


def maker_of(beginning: bytes) -> str | None:
    """Whose model file has this beginning, or what form of models it is; None: that is not known."""
    if _is_ours(beginning):
        return "rankinite"
    unreadable, foreign = unreadable_bytes(beginning), _by_beginning(beginning)
    if unreadable is not None or is_json_object(beginning):
        return "a JSON object" if unreadable is None else unreadable.what
    return None if foreign is None else foreign.maker


def _is_ours(beginning: bytes) -> bool:
    return beginning[8:9] == b"{" and int.from_bytes(beginning[:8], "little") <= MOST_HEADER


def _by_beginning(beginning: bytes) -> Foreign | None:
    """The reader of files with this beginning that are no JSON objects."""
    return next((one for one in FOREIGN if not one.entries and beginning.startswith(one.beginnings)), None)


def load(path: AnyPath, *, all_trees: bool = False) -> Ranker:
    """The ranker that ``save`` wrote to a file, or a model from elsewhere.

    Read as forests are models of LightGBM (text), XGBoost (JSON, UBJSON) and CatBoost (JSON), trees of RankLib and of Solr, and
    ensembles of trees in ONNX, for which the package onnx must be installed; linear models of RankLib and Solr are read as
    linear rankers, nets of Solr as nets. Splits by categories are read from LightGBM and XGBoost, with the words of their
    files. Other forms of models are recognised, and refused with what to do.

    XGBoost's files hold all trees even if early stopping found the best round before the last; the forest ends at that round,
    as ``XGBRanker.predict`` does, and its settings say how many trees were left out. ``all_trees`` keeps them, as
    ``Booster.predict`` does.

    Safe on files from anywhere: no code of theirs is run.

    >>> ranker = load("web.rankinite")                                        # doctest: +SKIP
    """
    refuse_live_model(path)
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
    beginning = content[:BEGINNING]
    if _is_ours(beginning):
        return build(parse_model(content))
    unreadable = unreadable_bytes(beginning)
    if unreadable is not None:
        raise unreadable.error()
    if is_json_object(beginning):
        return _read_object(parse_json(content), all_trees)
    foreign = _by_beginning(beginning)
    if foreign is not None:
        return foreign.read(content, all_trees)
    makers = ", ".join(dict.fromkeys(one.maker for one in FOREIGN))
    raise DataError(
        "this is not a model file of rankinite: it does not begin like safetensors, or is cut off",
        value=content[:9],
        rule=f"Models of {makers} are read too, but it does not begin like one of theirs",
        remedy="Give a file that a ranker's save() has written",
        shell_remedy="Give one that rankinite train has written",
    )


def _read_object(model: dict[str, Any], all_trees: bool) -> Ranker:
    """The ranker of a file that is a JSON object, told by its entries."""
    known = [one for one in FOREIGN if one.entries]
    foreign = next((one for one in known if set(one.entries) <= set(model)), None)
    if foreign is not None:
        return foreign.read(model, all_trees)
    unreadable = unreadable_object(model)
    if unreadable is not None:
        raise unreadable.error()
    forms = "; ".join(f"{one.maker}: {' and '.join(map(repr, one.entries))}" for one in known)
    raise DataError(
        f"this JSON object is no model that is known: it has {listed(model, 5) or 'nothing'}",
        value=list(model)[:5],
        rule=f"Models are known by what they have ({forms})",
        remedy="Save the model again, as the guide on importing models says",
    )


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
