"""Short digests of arrays, data, results and files; the machine, the folder and the time leave no trace in them."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rankinite as rk

FIELDS = (
    *("features", "feature_names", "grades", "offsets", "qids", "doc_ids", "weights", "batches", "positions"),
    *("input_row", "input_rows", "judged"),
)
"""What data consist of, preferences and categories aside."""
TIMED = re.compile(r"seconds|times_background|versions|command|sha256")
"""Keys of values that differ from run to run or from machine to machine."""
TIME = re.compile(r"[0-9][0-9.,]* ?(µs|ms|s|times|seconds?|minutes?|microseconds?|milliseconds?)\b")


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def of(value: Any) -> str:
    """The digest of a value that consists of numbers, texts, arrays, mappings, sequences and dataclasses."""
    return digest(json.dumps(plain(value), sort_keys=True, ensure_ascii=False).encode())


def plain(value: Any) -> Any:
    """The value as JSON has it, each number to the last bit."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.ndarray):
        return [value.dtype.kind, list(value.shape), [plain(one) for one in value.ravel().tolist()]]
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(map(str, value))
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, Sequence | Iterator):
        return [plain(one) for one in value]
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if not one.name.startswith("_")}
    return str(value)


def untimed(value: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(value, Mapping):
        return {str(key): untimed(one) for key, one in value.items() if not TIMED.search(str(key))}
    if isinstance(value, list | tuple):
        return [untimed(one) for one in value]
    if is_dataclass(value):
        return untimed({one.name: getattr(value, one.name) for one in fields(value)})
    return TIME.sub("some time", value) if isinstance(value, str) else value


def of_data(data: rk.Dataset) -> str:
    """A digest of each part that data have, so that a difference says where it is."""
    parts = {name: value for name in FIELDS if (value := getattr(data, name)) is not None}
    if data.categories:
        parts["categories"] = {name: [vocabulary.numeric, *vocabulary.names] for name, vocabulary in data.categories.items()}
    if data.preferences is not None:
        parts["preferences"] = [data.preferences.better, data.preferences.worse, data.preferences.probability]
    return " ".join(f"{name}:{of(value)[:8]}" for name, value in parts.items())


def of_model(ranker: Any, data: rk.Dataset | None = None) -> str:
    """Of a ranker's file and, where data are given, of its scores."""
    with folder() as here:
        ranker.save(here / "model.rankinite")
        saved = digest((here / "model.rankinite").read_bytes())
    return saved if data is None else f"{saved} scores:{digest(np.ascontiguousarray(ranker.score(data)).tobytes())[:8]}"


def outcome(make: Callable[[], str]) -> str:
    """What is made, or that it is refused: the kind of error, its place and what it is about, whatever its words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make()
        except rk.RankiniteError as problem:
            place = str(problem.place).rsplit("/", 1)[-1] if problem.place and "<" not in str(problem.place) else ""
            about = [type(problem).__name__, place, problem.setting, stable(problem.value)]
            return " | ".join(["refused", *(one for one in about if one)])


def stable(value: Any) -> str:
    """A number or a short text as it is; of all else only the type."""
    if isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) < 30 and "/" not in value):
        return repr(value)
    return type(value).__name__


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)
