"""Blocks of parsed rows, and the rooms they are parsed into.

A chunk is parsed into a :class:`Room`, an output buffer that is used again for later chunks, so that few pages
of memory are touched beside the final array. A block is what one kernel call got done; it ends early where the
room ends or a line has more features than any before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import numpy as np

from rankinite.data.grouping import TEXT
from rankinite.data.io.exact_numbers import is_another_number, nearest_float32
from rankinite.data.io.letor import _kernels as kernels
from rankinite.data.io.letor._messages import LARGEST_INDEX
from rankinite.engine.kernel import Bytes, Features, Indices, Strings

LONG_DOC_ID = 256
"""Longer ids than this are decoded one by one rather than padded to the longest, as those beyond ASCII are."""


@dataclass(frozen=True)
class LetorSettings:
    """How the caller wants the files to be read."""

    absent: float = 0.0
    """The value of features that a line leaves out."""
    base: int = 1
    """The index of the first feature."""
    features: int | None = None
    """How many there are, where that is known."""
    needs_grades: bool = True
    """Whether lines without a grade are refused."""


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


def parse_block(chunk: Bytes, start: int, rooms: Rooms, settings: LetorSettings) -> Block:
    """Parse the lines of a chunk from byte ``start`` on: at least one, and as many as there is room for."""
    stride = rooms.stride
    room = rooms.take(stride)
    limit = LARGEST_INDEX if settings.features is None else settings.features
    while True:
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        state[kernels.POSITION], state[kernels.NEEDS_GRADES] = start, settings.needs_grades
        rows = min(len(room.grades), room.cells // stride)
        outputs = (room.features, room.grades[:rows], room.runs, room.docs, room.doubts, state)
        with np.errstate(over="ignore"):  # uncompiled, words of eight bytes wrap around with a warning
            code = kernels.parse_lines(chunk, settings.base, limit, stride, np.float32(settings.absent), *outputs)
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
    """Round the numbers that need exact arithmetic; returns the code, which is a fault where a grade turns out to be bad."""
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
