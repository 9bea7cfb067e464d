"""Parsed rows on their way from chunks of text to one array: blocks, the room they are parsed into, and the gatherer.

A chunk is parsed into a :class:`Room`, an output buffer that is used again for later chunks, so that few pages
of memory are touched beside the final array. A block is what one kernel call got done; it ends early where the
room ends or a line has more features than any before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

import numpy as np

from rankinite.data.grouping import TEXT
from rankinite.data.io.exact_numbers import is_another_number, nearest_float32
from rankinite.data.io.letor import _kernels as kernels
from rankinite.data.io.letor._messages import LARGEST_INDEX, fault
from rankinite.engine.kernel import Bytes, Features, Grades, Indices, Strings
from rankinite.engine.memory import Allowance, memory_left, spelled_size, too_large
from rankinite.errors import DataError

LONG_DOC_ID = 256
"""Longer ids than this are decoded one by one rather than padded to the longest, as those beyond ASCII are."""


ALWAYS_DENSE, MOST_DENSE = 1 << 30, 4096
"""The matrix may always take the first so many bytes, and beyond them so many times the bytes of the files: a hundred values
among a million features come to that, and a few kilobytes that unpack to millions of empty rows to far more."""


@dataclass(frozen=True)
class Layout:
    """What the caller said about the file."""

    absent: float = 0.0
    base: int = 1
    features: int | None = None


class Room:
    """Arrays one kernel call writes to."""

    def __init__(self, cells: int, stride: int) -> None:
        self.cells, self.stride = max(cells, 16 * stride), stride
        rows = min(self.cells // stride, cells // 2 + 16)  # no row is shorter than a grade and a newline
        self.features = np.empty(self.cells, np.float32)
        self.grades = np.empty(rows, np.float32)
        self.runs = np.empty((rows, 3), np.int64)
        self.docs = np.empty((rows, 2), np.int64)
        self.doubts = np.empty((max(1024, stride + 1), 2), np.int64)

    def fits(self, stride: int) -> bool:
        """Whether rows of ``stride`` cells can be parsed here."""
        return stride == self.stride or (self.cells >= 16 * stride and len(self.doubts) > stride)


@dataclass
class Block:
    """Consecutive rows of a chunk, as one kernel call left them in the room."""

    chunk: Bytes
    room: Room
    stride: int
    code: int
    state: Indices
    run_qids: list[str]
    doc_ids: Strings | None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.state[kernels.ROWS])

    @property
    def width(self) -> int:
        """The number of features up to the last one that a row has."""
        return int(self.state[kernels.WIDTH])

    @property
    def run_lengths(self) -> Indices:
        """Rows of each run of equal query ids."""
        starts = self.room.runs[: len(self.run_qids), 0]
        return np.diff(np.append(starts, self.rows))

    def wide(self) -> Features:
        """The features, rows × width."""
        return self.room.features[: self.rows * self.stride].reshape(self.rows, self.stride)[:, : self.width]


class Rooms:
    """Rooms waiting to be used again, and the width that rows have had so far."""

    def __init__(self, cells: int, features: int | None) -> None:
        self._cells = cells
        self._waiting: SimpleQueue[Room] = SimpleQueue()
        self.stride = max(1, features if features is not None else 64)

    def take(self, stride: int) -> Room:
        """A room for rows of ``stride`` features."""
        try:
            room = self._waiting.get_nowait()
        except Empty:
            return Room(self._cells, stride)
        return room if room.fits(stride) else Room(self._cells, stride)

    def give_back(self, room: Room) -> None:
        """Let the room be used for another chunk."""
        self._waiting.put(room)


def parse_block(chunk: Bytes, start: int, rooms: Rooms, layout: Layout) -> Block:
    """Parse the lines of a chunk from byte ``start`` on, as far as the room goes and at least one."""
    stride = rooms.stride
    room = rooms.take(stride)
    limit = LARGEST_INDEX if layout.features is None else layout.features
    while True:
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        state[kernels.POSITION] = start
        rows = min(len(room.grades), room.cells // stride)
        outputs = (room.features, room.grades[:rows], room.runs, room.docs, room.doubts, state)
        with np.errstate(over="ignore"):  # uncompiled, words of eight bytes wrap around with a warning
            code = kernels.parse_lines(chunk, layout.base, limit, stride, np.float32(layout.absent), *outputs)
        if code != kernels.NARROW or state[kernels.ROWS]:
            break
        stride = min(limit, max(2 * stride, int(state[kernels.NEEDED])))
        rooms.give_back(room)
        room = rooms.take(stride)
    code = _settle_doubts(chunk, start, room, code, state)
    run_qids = [decoded(chunk, at, length) for _, at, length in room.runs[: state[kernels.RUNS]].tolist()]
    return Block(chunk, room, stride, code, state, run_qids, _doc_ids(chunk, room, state))


def decoded(chunk: Bytes, start: int, length: int) -> str:
    """Bytes of the text as a string; bytes that are not UTF-8 stay recognisable."""
    return chunk[start : start + length].tobytes().decode("utf-8", "backslashreplace")


def _settle_doubts(chunk: Bytes, start: int, room: Room, code: int, state: Indices) -> int:
    """Round the numbers that need exact arithmetic; returns the code, which is a fault where a grade turns out to be none."""
    for cell, at in room.doubts[: state[kernels.DOUBTS]].tolist():
        token = _token(chunk, at)
        value = nearest_float32(token)
        if cell >= 0:
            room.features[cell] = value
            continue
        room.grades[-1 - cell] = value
        if not np.isfinite(value) or is_another_number(token, value):
            before = chunk[start:at].tobytes()  # this line is the first that is wrong: the kernel went on behind it
            state[kernels.LINES], state[kernels.FAULT_AT] = before.count(b"\n"), at
            state[kernels.POSITION] = start + before.rfind(b"\n") + 1
            return kernels.INEXACT_GRADE if np.isfinite(value) else kernels.ENDLESS_GRADE
    return code


def _token(chunk: Bytes, at: int) -> str:
    length = 64
    while len(parts := re.split(rb"[\s#]", chunk[at : at + length].tobytes(), maxsplit=1)) == 1:
        length *= 2  # ends: the chunk's last byte is a newline
    return parts[0].decode("ascii")


def _doc_ids(chunk: Bytes, room: Room, state: Indices) -> Strings | None:
    longest = int(state[kernels.LONGEST_DOC_ID])
    docs = room.docs[: state[kernels.ROWS]]
    if longest == 0 or not len(docs):
        return None
    if longest <= LONG_DOC_ID:
        padded = np.empty((len(docs), longest), np.uint8)
        kernels.copy_doc_ids(chunk, docs, padded)
        if padded.max() < 128:  # plain ASCII; NumPy would not notice bytes that are not UTF-8
            return padded.view(f"S{longest}")[:, 0].astype(TEXT)
    return np.asarray([decoded(chunk, at, length) for at, length in docs.tolist()], TEXT)


@dataclass
class Gatherer:
    """Puts the rows of blocks together, in order, and raises the first fault it meets."""

    layout: Layout
    bytes_expected: int
    """The size of the files, compressed or not."""
    memory: Allowance = field(default_factory=memory_left)
    """What there was when reading began."""
    path: Path = Path()
    line: int = 0
    """Lines of the current file in blocks already taken in."""
    rows: int = 0
    width: int = 0
    named: int | None = None
    """Whether rows name their query; unknown before the first row."""
    run_qids: list[str] = field(default_factory=list[str])
    run_lengths: list[int] = field(default_factory=list[int])
    doc_ids: list[Strings | int] = field(default_factory=list["Strings | int"])
    """Document ids of blocks, or how many rows without them."""
    grades: list[Grades] = field(default_factory=list[Grades])
    _stride: int = 0
    _flat: Features = field(default_factory=lambda: np.empty(0, np.float32))

    def add(self, block: Block) -> None:
        """Take in a block; its room may then be used again."""
        state = block.state
        if block.rows:
            self._check_naming(int(state[kernels.NAMED]), self.line + int(state[kernels.FIRST_LINE]) + 1)
        if block.code > kernels.NARROW:
            raise self._fault(block)
        self.line += int(state[kernels.LINES])
        if not block.rows:
            return
        self._make_room(block)
        target = self._flat[: (self.rows + block.rows) * self._stride].reshape(-1, self._stride)[self.rows :]
        target[:, : block.width] = block.wide()
        target[:, block.width :] = self.layout.absent
        self.rows += block.rows
        self.grades.append(block.room.grades[: block.rows].copy())
        self.doc_ids.append(block.rows if block.doc_ids is None else block.doc_ids)
        self._add_runs(block.run_qids, block.run_lengths.tolist())

    def features(self) -> Features:
        """The features, rows × width, in an array cut to size."""
        width = self.width if self.layout.features is None else self.layout.features
        if width != self._stride:
            self._reserve(self.rows, width, self.rows)
            kernels.restride(self.rows, self._stride, width, np.float32(self.layout.absent), self._flat)
        self._resize(self.rows * width)
        return self._flat.reshape(self.rows, width)

    def all_doc_ids(self) -> Strings | None:
        """One document id a row, empty where a row has none; None when no row has one."""
        if all(isinstance(part, int) for part in self.doc_ids):
            return None
        return np.concatenate([np.full(part, "", TEXT) if isinstance(part, int) else part for part in self.doc_ids])

    def _check_naming(self, named: int, line: int) -> None:
        if self.named not in (None, named):
            code = kernels.QID_SURPRISING if named else kernels.QID_MISSING
            raise fault(f"{self.path}:{line}", code, b"", 0, base=self.layout.base, features=self.layout.features)
        self.named = named

    def _fault(self, block: Block) -> DataError:
        start, at = int(block.state[kernels.POSITION]), int(block.state[kernels.FAULT_AT])
        line = block.chunk[start : at + 4096].tobytes().split(b"\n", 1)[0]
        place = f"{self.path}:{self.line + int(block.state[kernels.LINES]) + 1}"
        return fault(place, block.code, line, at - start, base=self.layout.base, features=self.layout.features)

    def _add_runs(self, qids: list[str], lengths: list[int]) -> None:
        if qids and self.run_qids and qids[0] == self.run_qids[-1]:  # a query cut by the end of a block
            self.run_lengths[-1] += lengths[0]
            qids, lengths = qids[1:], lengths[1:]
        self.run_qids += qids
        self.run_lengths += lengths

    def _make_room(self, block: Block) -> None:
        self.width = max(self.width, block.width)
        rows = self.rows + block.rows
        stride = self._stride
        if self.rows == 0:
            stride = max(1, self.layout.features or self.width)
        elif self.width > stride:
            # Wider by a quarter at least, so that features turning up one by one do not move all rows each time.
            stride = max(self.width, stride + stride // 4)
        self._reserve(rows, stride, self._rows_expected(block))
        if self.rows and stride > self._stride:
            kernels.restride(self.rows, self._stride, stride, np.float32(self.layout.absent), self._flat)
        self._stride = stride

    def _rows_expected(self, block: Block) -> int:
        """How many rows to reserve memory for: by the first block's bytes a row, later a quarter more than there are."""
        if self.rows == 0:
            return int(1.02 * self.bytes_expected / int(block.state[kernels.POSITION]) * block.rows)
        return self.rows + self.rows // 4

    def _reserve(self, rows: int, stride: int, rows_expected: int) -> None:
        needed, most = rows * stride, self._most_cells()
        if needed > most:
            raise self._too_large(rows, stride)
        if needed <= len(self._flat):
            return
        try:
            self._resize(max(needed, min(rows_expected * stride, most)))
        except MemoryError:
            try:
                self._resize(needed)
            except MemoryError as problem:
                raise self._too_large(rows, stride) from problem

    def _resize(self, cells: int) -> None:
        if len(self._flat):
            self._flat.resize(cells, refcheck=False)  # in place: for large arrays the system moves pages, not bytes
        else:
            self._flat = np.empty(cells, np.float32)

    def _most_cells(self) -> int:
        """As many as there is memory for, and as the files can justify."""
        return min(self.memory.left, self._justified()) // self._flat.itemsize

    def _justified(self) -> int:
        return max(ALWAYS_DENSE, MOST_DENSE * self.bytes_expected)

    def _too_large(self, rows: int, stride: int) -> DataError:
        place, what, needed = f"{self.path}:{self.line}", f"the first {rows} rows of {stride} features", 4 * rows * stride
        if needed <= self._justified():
            remedy = "Features are kept as a dense matrix; choose fewer, or number them without gaps."
            return too_large(place, what, needed, self.memory, remedy)
        return DataError(
            f"{place}: {what} would take {spelled_size(needed)} as a dense matrix, but {spelled_size(self.bytes_expected)} of "
            f"input justify {spelled_size(self._justified())} at most (the larger of {MOST_DENSE} times their size and "
            f"{spelled_size(ALWAYS_DENSE)}). "
            "Number the features without gaps; if the data are so sparse indeed, decompress the file first, or write Parquet."
        )
