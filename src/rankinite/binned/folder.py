"""A folder of bins: coded rows of whole queries, in NumPy files, and a manifest that is written last.

A folder without a manifest is unfinished, whatever else is in it. The format is specified in docs/formats/bins.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary
from rankinite.data.io.npy_files import read_npy
from rankinite.data.io.streams import read_whole
from rankinite.engine.kernel import Bytes, Flags
from rankinite.errors import DataError, quoted
from rankinite.trees._state import WIDTH
from rankinite.trees.bins import Bins

MANIFEST, UNFINISHED = "manifest.json", "unfinished"
"""What makes a folder finished, and what its writer has locked until then."""
FORMAT, VERSIONS = "rankinite bins", (1, 2)
"""Version 2 is written where features are categories, and only there."""
CODES = "codes.npy"
CHUNK = 1 << 24
AGAIN = "Make it again with `rankinite bin`"

KINDS: dict[str, tuple[str, str]] = {
    "edges": ("<f8", "edges"),
    "starts": ("<i8", "features + 1"),
    "grades": ("<f4", "rows"),
    "offsets": ("<i8", "queries + 1"),
    "row_keys": ("<u8", "rows"),
    "query_keys": ("<u8", "queries"),
    "telling": ("|b1", "queries"),
    "qid_ends": ("<i8", "queries + 1"),
    "qid_bytes": ("|u1", "bytes"),
    "weights": ("<f8", "queries"),
    "base": ("<f8", "rows"),
    "category_codes": ("|u1", "categories"),
    "category_ends": ("<i8", "categories + 1"),
    "category_bytes": ("|u1", "bytes"),
}
"""The arrays beside the codes: their type, and how many numbers they have. Weights, base and categories are there where data
have them."""


@dataclass(frozen=True)
class Manifest:
    """What a finished folder holds."""

    folder: Path
    rows: int
    queries: int
    feature_names: tuple[str, ...]
    missing: tuple[int, ...]
    """The positions of the features of which some value is missing."""
    bins: str
    """A hash of the edges: folders with the same can be one data set."""
    most: int
    """The bins a feature may have, at most, as asked for when the edges were made."""
    sample: int
    """The rows that edges were made from, at most."""
    judged: bool
    source: str
    """Where the rows came from, for messages."""
    fingerprint: str
    """That of the same rows as a :class:`rankinite.Dataset`."""
    base: str | None
    """A hash of the ranker whose scores are in ``base``; None where there is none."""
    files: dict[str, tuple[int, str]]
    """The bytes and the hash of every file."""
    categories: tuple[tuple[int, int, bool], ...] = ()
    """For each feature that is a category: its position, how many categories it has, and whether they are whole numbers."""
    category_rows: int | None = None
    """The rows a category needed for a code of its own; None where there are no categories."""

    def has(self, name: str) -> bool:
        """Whether there is such an array."""
        return f"{name}.npy" in self.files

    @property
    def has_missing(self) -> Flags:
        """One per feature: whether a value of it is missing."""
        found = np.zeros(len(self.feature_names), np.bool_)
        found[list(self.missing)] = True
        return found

    def resolved(self) -> Manifest:
        """The same with a path that does not depend on where a process was started."""
        return replace(self, folder=self.folder.resolve())

    @property
    def key(self) -> str:
        """A hash of the manifest, by which machines tell that they see the same folder."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def text(self) -> str:
        """The content of the file."""
        left_out = ("folder",) if self.categories else ("folder", "categories", "category_rows")
        facts = {name: value for name, value in asdict(self).items() if name not in left_out}
        return json.dumps({"format": FORMAT, "version": VERSIONS[bool(self.categories)], **facts}, indent=1)

    def array(self, name: str) -> npt.NDArray[Any]:
        """An array beside the codes: mapped where it has a number for each row, else read and compared with its hash."""
        path = self.folder / f"{name}.npy"
        kind, length = KINDS[name]
        if length == "rows":
            return self._mapped(path, kind, (self.rows,))
        self._check_size(path)
        if hash_of(path) != self.files[path.name][1]:
            raise damaged(path, "it is not what was written")
        found = read_npy(path)
        lengths = {"queries": self.queries, "queries + 1": self.queries + 1, "features + 1": len(self.feature_names) + 1}
        categories = sum(count for _, count, _ in self.categories)
        lengths |= {"categories": categories, "categories + 1": categories + 1}
        if found.dtype.str != kind or found.ndim != 1 or len(found) != lengths.get(length, len(found)):
            raise damaged(path, f"it holds {found.dtype.str} of shape {found.shape}, not {kind} for {length}")
        return found

    def vocabularies(self) -> dict[str, Vocabulary]:
        """The vocabulary of each feature that is a category."""
        if not self.categories:
            return {}
        content, ends = self.array("category_bytes").tobytes(), self.array("category_ends").tolist()
        try:
            names = [content[start:end].decode() for start, end in pairwise(ends)]
        except UnicodeDecodeError as problem:
            raise damaged(self.folder / "category_bytes.npy", f"it is not text ({problem})") from problem
        parts = _in_parts(names, self.categories)
        return {self.feature_names[part[0]]: Vocabulary(tuple(own), part[2]) for part, own in parts}

    def category_codes(self) -> dict[int, Bytes]:
        """For each feature that is a category, by position, the code of each of its categories."""
        codes = self.array("category_codes") if self.categories else np.empty(0, np.uint8)
        return {part[0]: own for part, own in _in_parts(codes, self.categories)}

    def codes(self) -> Bytes:
        """The codes, mapped: (blocks, rows, WIDTH)."""
        return self._mapped(self.folder / CODES, "|u1", (block_count(len(self.feature_names)), self.rows, WIDTH))

    def _mapped(self, path: Path, kind: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """A file as an array whose pages are read when they are needed."""
        self._check_size(path)
        try:
            found: Any = np.asarray(np.load(path, mmap_mode="r"))
        except (OSError, ValueError) as problem:
            raise damaged(path, f"it cannot be mapped ({problem})") from problem
        if found.dtype.str != kind or found.shape != shape:
            raise damaged(path, f"it holds {found.dtype.str} of shape {found.shape}, not {kind} of shape {shape}")
        return found

    def verify(self) -> None:
        """Compare every file with its hash; reads all of them once."""
        for name, (_, hashed) in self.files.items():
            self._check_size(self.folder / name)
            if hash_of(self.folder / name) != hashed:
                raise damaged(self.folder / name, "it is not what was written")

    def _check_size(self, path: Path) -> None:
        size = self.files.get(path.name, (0, ""))[0]
        try:
            found = path.stat().st_size
        except OSError as problem:
            raise damaged(path, f"it cannot be read ({problem})") from problem
        if found != size:
            raise damaged(path, f"it has {found} bytes, but the manifest says {size}")


def is_bins(path: Path | str | PathLike[str]) -> bool:
    """Whether this is a folder of bins, finished or not."""
    folder = Path(path)
    try:
        return folder.is_dir() and any((folder / name).exists() for name in (MANIFEST, UNFINISHED))
    except OSError:
        return False


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished folder."""
    path = folder / MANIFEST
    if not folder.is_dir() or not path.exists():
        unfinished = (folder / UNFINISHED).exists()
        raise DataError(
            "this folder of bins is not finished" if unfinished else "this is not a folder of bins",
            place=folder,
            rule=f"A finished folder has a file {MANIFEST}",
            remedy="Run the same `rankinite bin` again" if unfinished else "Make one with `rankinite bin`",
        )
    try:
        facts = cast("dict[str, Any]", json.loads(read_whole(path)))
        kind, version = facts.pop("format"), facts.pop("version")
        files = {str(name): (int(size), str(hashed)) for name, (size, hashed) in facts.pop("files").items()}
        lists = {name: tuple(facts.pop(name)) for name in ("feature_names", "missing")}
        categories = tuple((place, count, numeric) for place, count, numeric in facts.pop("categories", ()))
        found = Manifest(folder=folder, files=files, categories=categories, **lists, **facts)  # pyright: ignore[reportArgumentType]
        numbers = [found.rows, found.queries, found.most, *(count for _, count, _ in categories)]
        places = [place for place, _, _ in categories]
        fits = kind == FORMAT and all(type(number) is int and number >= 0 for number in numbers)
        fits = fits and all(type(place) is int and 0 <= place < len(found.feature_names) for place in (*found.missing, *places))
        fits = fits and len(set(places)) == len(places)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise damaged(path, f"it cannot be understood ({problem})") from problem
    if version not in VERSIONS:
        raise DataError(
            f"it has version {quoted(version)} of the format, but this rankinite knows {' and '.join(map(str, VERSIONS))}",
            place=path,
            value=version,
            remedy=AGAIN,
        )
    if not fits:
        raise damaged(path, "its numbers do not fit together")
    return found


def _in_parts(values: Any, categories: Sequence[tuple[int, int, bool]]) -> list[tuple[tuple[int, int, bool], Any]]:
    """What all categories have, one behind the other, by feature."""
    ends = np.cumsum([0, *(count for _, count, _ in categories)]).tolist()
    return [(one, values[start:end]) for one, (start, end) in zip(categories, pairwise(ends), strict=True)]


def damaged(path: Path, problem: str) -> DataError:
    """The error for a file that is not what was written."""
    return DataError(problem, place=path, rule="The folder was changed, or not copied completely", remedy=AGAIN)


def block_count(features: int) -> int:
    """Blocks of codes."""
    return -(-features // WIDTH)


def hash_of(path: Path) -> str:
    """A hash of a file."""
    hashed = hashlib.sha256()
    with path.open("rb") as handle:
        while content := handle.read(CHUNK):
            hashed.update(content)
    return hashed.hexdigest()


def bins_key(bins: Bins) -> str:
    """A hash of the edges of all features, and of the codes of categories."""
    hashed = hashlib.sha256(bins.edges.tobytes() + bins.starts.tobytes())
    for feature in sorted(bins.categories):
        hashed.update(f"\0{feature}\0".encode() + bins.categories[feature].tobytes())
    return hashed.hexdigest()
