"""File formats of data and scores, compressions, and the suffixes that mean them. No other module lists suffixes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankinite.errors import DataError


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of judged data or of scores."""

    name: str
    """What ``format=`` and ``--format`` call it."""
    suffixes: tuple[str, ...] = ()
    """Suffixes, in lower case, of which each means this format."""
    magic: bytes = b""
    """The first bytes of every such file, where they tell it from others."""
    is_text: bool = True
    """Whether it may be compressed as a whole; other formats compress their own content."""


@dataclass(frozen=True, slots=True)
class Compression:
    """A compression of whole files, told by the suffix or by the first bytes."""

    suffix: str
    magic: bytes


LETOR = FileFormat("letor")
PARQUET = FileFormat("parquet", (".parquet", ".pq"), b"PAR1", is_text=False)
ARROW = FileFormat("arrow", (".arrow", ".feather", ".ipc"), b"ARROW1", is_text=False)
CSV = FileFormat("csv", (".csv",))
TSV = FileFormat("tsv", (".tsv",))
QRELS = FileFormat("qrels", (".qrels",))
FORMATS = {one.name: one for one in (LETOR, PARQUET, ARROW, CSV, TSV, QRELS)}
"""The formats by what ``format=`` calls them."""
TEXT_SUFFIXES = (".txt", ".letor", ".dat", ".svm", ".libsvm")
"""Usual suffixes of text whose format its content tells; written files of such a name, or of an unknown one, are LETOR."""

LINES = FileFormat("text")
RUN = FileFormat("trec", (".run",))
JSON = FileFormat("json", (".json",))
NPY = FileFormat("npy", (".npy",), b"\x93NUMPY", is_text=False)
TABLES = (CSV, TSV, PARQUET, ARROW)
"""The formats with columns."""
SCORE_FORMATS = {one.name: one for one in (LINES, RUN, JSON, *TABLES, NPY)}
"""The formats of scores by what ``--format`` calls them; in ``LINES`` where no suffix tells another."""

GZIP = Compression(".gz", b"\x1f\x8b")
ZSTD = Compression(".zst", b"\x28\xb5\x2f\xfd")
XZ = Compression(".xz", b"\xfd7zXZ")
COMPRESSIONS = {one.suffix: one for one in (GZIP, ZSTD, XZ)}
"""The compressions by their suffixes."""

_BY_SUFFIX = {suffix: one for one in FORMATS.values() for suffix in one.suffixes}
_OF_SCORES = {suffix: one for one in SCORE_FORMATS.values() for suffix in one.suffixes}


def format_of_suffix(path: Path) -> FileFormat | None:
    """The format that the name of a file tells, once the suffix of a compression is taken away; None if it tells none."""
    return _BY_SUFFIX.get(_inner_suffix(path))


def score_format_of_suffix(path: Path) -> FileFormat | None:
    """The same for a file of scores."""
    return _OF_SCORES.get(_inner_suffix(path))


def compression_of_suffix(path: Path) -> Compression | None:
    """The compression that the name of a file tells; None if it tells none."""
    return COMPRESSIONS.get(path.suffix.lower())


def written_format(path: Path) -> FileFormat:
    """The format in which a file of this name is written."""
    return format_of_suffix(path) or LETOR


def check_packing(path: Path, file_format: FileFormat) -> None:
    """Refuse a name that asks for a compressed file of a format that is not text."""
    if compression_of_suffix(path) and not file_format.is_text:
        raise DataError(
            f"{file_format.name} files are not compressed as a whole",
            place=path,
            value=path.suffix,
            remedy=f"Name it {path.stem}",
        )


def _inner_suffix(path: Path) -> str:
    return Path(path.stem if compression_of_suffix(path) else path.name).suffix.lower()


def has_known_suffix(path: Path) -> bool:
    """Whether the name ends like that of a file of judged data, rather than like that of a folder."""
    return path.name.lower().endswith((*TEXT_SUFFIXES, *_BY_SUFFIX, *COMPRESSIONS))
