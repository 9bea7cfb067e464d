"""LETOR / SVMlight text in and out: ``grade qid:Q index:value index:value … # comment``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rankinite.checks import check_choice
from rankinite.choices import Missing
from rankinite.data.dataset import Dataset
from rankinite.data.grouping import TEXT, group_runs
from rankinite.data.io import streams
from rankinite.data.io.arrays import group_sizes, runs_of_sizes
from rankinite.data.io.letor import _format_kernels
from rankinite.data.io.letor._blocks import Block, LetorSettings, Rooms, parse_block
from rankinite.data.io.letor._gatherer import Gatherer
from rankinite.data.io.letor._kernels import DONE, POSITION
from rankinite.data.io.letor._messages import LARGEST_INDEX
from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.text_files import GROUP_FILES, group_files, read_sizes
from rankinite.engine import parallel
from rankinite.engine.kernel import Bytes, Indices, Strings
from rankinite.errors import ArgumentError, DataError, quoted

ROWS_PER_PIECE = 4096
"""Rows formatted by a thread at a time."""


def read_letor(
    paths: Sequence[Path],
    *,
    missing: Missing = "zero",
    zero_based: bool = False,
    features: int | None = None,
    group: Indices | None = None,
    needs_grades: bool = True,
    needs_queries: bool = True,
    chunk: int = streams.CHUNK,
) -> Dataset:
    """Read LETOR files, plain or compressed, as one stream of rows.

    Features a line leaves out are 0, or NaN with ``missing="nan"``. ``features`` declares how many there are.
    Rows that name no query are grouped by the sizes in ``group``, or in a file beside each file, named like it
    with .query or .group added. Without ``needs_grades`` lines may all begin with ``qid:`` or a feature instead of a grade;
    without ``needs_queries`` rows of which nothing tells the queries count as one query. ``chunk`` is the number of bytes
    parsed at a time.
    """
    settings = letor_settings(missing, zero_based, features, needs_grades=needs_grades)
    files = [Path(path) for path in paths]
    gatherer = Gatherer(settings, file_bytes(files))
    for _ in gather_chunks(gatherer, files, chunk):
        pass
    source = " + ".join(str(path) for path in paths)
    if not gatherer.rows:
        raise no_rows(source)
    names, lengths = _runs(gatherer, group, files, source, needs_queries=needs_queries)
    qids, offsets, order = group_runs(names, lengths)
    matrix, grades, doc_ids = gatherer.features(), np.concatenate(gatherer.grades), gatherer.all_doc_ids()
    if order is not None:
        matrix, grades, doc_ids = matrix[order], grades[order], None if doc_ids is None else doc_ids[order]
    return Dataset(
        features=matrix,
        grades=grades,
        offsets=offsets,
        qids=qids,
        feature_names=tuple(str(column + settings.base) for column in range(matrix.shape[1])),
        doc_ids=doc_ids,
        input_row=order,
        source=source,
        judged=bool(gatherer.graded),
    )


def place_of_row(paths: Sequence[Path], row: int) -> str:
    """The ``file:line`` of a row counted from 0 in the order of the files; for messages, as it reads them again."""
    for path in paths:
        line = 0
        for chunk in streams.line_chunks(Path(path)):
            for text in chunk.tobytes().split(b"\n")[:-1]:
                line += 1
                if not re.match(rb"[ \t\r]*(#|$)", text):
                    if row == 0:
                        return f"{path}:{line}"
                    row -= 1
    return " + ".join(str(path) for path in paths)


def write_letor(data: Dataset, path: Path) -> None:
    """Write rows in query order, compressed if the suffix says so.

    Features are numbered from 1 and all written; a value has the fewest digits that read back as the same float32.
    """
    if data.rows == 0:
        raise DataError(
            f"{data.source} has no rows",
            place=path,
            value=0,
            rule="A file without rows cannot be read back",
            remedy="Select at least one row",
        )
    if not data.judged:
        raise DataError(
            f"the rows of {data.source} have no grades",
            place=path,
            value=False,
            rule="Every line begins with one: other programs take whatever comes first for it",
            remedy="Write Parquet, Arrow, CSV or TSV, which need none",
        )
    _check_writable(data.qids, "query id", path, empty=False)
    if data.doc_ids is not None:
        _check_writable(data.doc_ids, "document id", path, empty=True)
    query_of_row = data.query_of_row()
    pieces = [(first, min(first + ROWS_PER_PIECE, data.rows)) for first in range(0, data.rows, ROWS_PER_PIECE)]

    def formatted(piece: tuple[int, int]) -> Bytes:
        return _format_rows(data, query_of_row, *piece)

    with write_atomically(path) as handle:
        for text in parallel.run_ahead(formatted, pieces):
            handle.write(text.data)


# ---- parts of reading, which a reader of some rows at a time shares ----------------------------------------------


def letor_settings(missing: str, zero_based: bool, features: int | None, *, needs_grades: bool) -> LetorSettings:
    """The settings of the parser; ``features`` declares how many there are."""
    absent = {"zero": 0.0, "nan": np.nan}
    check_choice("read_letor", "missing", missing, tuple(absent))
    if features is not None and not 0 <= features <= LARGEST_INDEX:
        raise ArgumentError(
            f"must lie between 0 and {LARGEST_INDEX}",
            owner="read_letor",
            setting="features",
            value=features,
            rule="It is the number of features",
        )
    return LetorSettings(absent[missing], 0 if zero_based else 1, features, needs_grades)


def file_bytes(paths: Sequence[Path]) -> int:
    """The size of the files together."""
    for path in paths:
        streams.check_readable(path)
    return sum(path.stat().st_size for path in paths)


def gather_chunks(gatherer: Gatherer, paths: Sequence[Path], size: int = streams.CHUNK) -> Iterator[None]:
    """Give the rows of the files to the gatherer, and pause behind each chunk of about ``size`` bytes.

    The chunks do not depend on the number of threads. Whoever empties the gatherer meanwhile reads a part at a time.
    """
    settings = gatherer.settings
    rooms = Rooms(size, settings.features if settings.features is not None else gatherer.width or None)

    def chunks() -> Iterator[tuple[int, Bytes]]:
        for number, path in enumerate(paths):
            for chunk in streams.line_chunks(path, size):
                yield number, chunk

    def parsed(piece: tuple[int, Bytes]) -> tuple[int, Block]:
        return piece[0], parse_block(piece[1], 0, rooms, settings)

    current = -1
    for number, first_block in parallel.run_ahead(parsed, chunks()):
        if number != current:
            current, gatherer.path, gatherer.line = number, paths[number], 0
        block = first_block
        _take(gatherer, rooms, block)
        while block.code != DONE:  # the room was too small: the rest of the chunk follows at once
            block = parse_block(block.chunk, int(block.state[POSITION]), rooms, settings)
            _take(gatherer, rooms, block)
        yield


def _take(gatherer: Gatherer, rooms: Rooms, block: Block) -> None:
    gatherer.add(block)
    rooms.give_back(block.room)
    if gatherer.rows and gatherer.settings.features is None:
        rooms.stride = max(1, gatherer.width)


def sizes_of_queries(
    named: bool, group: Indices | None, paths: Sequence[Path], source: str, *, needs_queries: bool
) -> Indices | None:
    """The group sizes passed by the caller, or in files beside the data; None for rows that name their query.

    None as well where nothing tells the queries, if ``needs_queries`` is false: all rows are then one query.
    """
    if named:
        if group is not None:
            raise DataError(
                "rows name their query by qid:, but `group` is given too",
                place=source,
                value="qid:",
                remedy="Leave `group` out, or remove qid: from the rows",
            )
        return None
    files = group_files(paths) if group is None else []
    if group is None and not files and needs_queries:
        raise DataError(
            "rows name no query",
            place=source,
            remedy="Write qid:Q after the grade, give `group=…` (the number of rows of each query), or put such numbers, one "
            f"per line, in a file named like this one with {' or '.join(GROUP_FILES)} added",
        )
    if group is not None:
        return group_sizes(group)
    return np.concatenate([read_sizes(file) for file in files]) if files else None


def no_rows(source: str) -> DataError:
    """The error for files without a row."""
    return DataError("there are no rows", place=source, value=0, remedy="Give at least one line 'grade qid:Q index:value …'")


def _runs(
    gatherer: Gatherer, group: Indices | None, paths: Sequence[Path], source: str, *, needs_queries: bool
) -> tuple[list[str], Indices]:
    """The qids and lengths of the runs of rows of one query, as the rows name them or by group sizes."""
    named = bool(gatherer.named)
    sizes = sizes_of_queries(named, group, paths, source, needs_queries=needs_queries)
    if named:
        return gatherer.run_qids, np.asarray(gatherer.run_lengths, np.int64)
    return runs_of_sizes(np.asarray([gatherer.rows]) if sizes is None else sizes, gatherer.rows, source)


# ---- writing ------------------------------------------------------------------------------------------------------


def _check_writable(names: Strings, what: str, path: Path, *, empty: bool) -> None:
    """Refuse names that would not read back as they are."""
    forbidden = re.compile(r"[ \t\r\n\0]" if empty else r"[ \t\r\n\0#]|^$")
    for name in names.tolist():
        if forbidden.search(name):
            raise DataError(
                f"the {what} {quoted(name)} cannot be written to a LETOR file",
                place=path,
                value=name,
                rule="It must not contain a blank" if empty else "It must contain neither a blank nor '#', and not be empty",
                remedy="Write Parquet instead, which takes any text",
            )


def _format_rows(data: Dataset, query_of_row: Indices, first: int, last: int) -> Bytes:
    first_query, last_query = int(query_of_row[first]), int(query_of_row[last - 1])
    qid_bytes, qid_ends = _joined(data.qids[first_query : last_query + 1])
    doc_bytes, doc_ends = _joined(np.zeros(0, TEXT) if data.doc_ids is None else data.doc_ids[first:last])
    queries = query_of_row[first:last] - first_query
    row_room = _format_kernels.ROW_ROOM + int(np.diff(qid_ends).max()) + len(data.feature_names) * _format_kernels.VALUE_ROOM
    text = np.empty(len(doc_bytes) + (last - first) * row_room, np.uint8)
    end = _format_kernels.format_rows(
        data.features[first:last], data.grades[first:last], queries, qid_bytes, qid_ends, doc_bytes, doc_ends, text
    )
    return text[:end]


def _joined(names: Strings) -> tuple[Bytes, Indices]:
    """Names as one run of UTF-8 bytes, and where each begins and ends in it (names + 1 positions)."""
    encoded = [name.encode() for name in names.tolist()]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return np.frombuffer(b"".join(encoded) or b"\0", np.uint8), ends
