"""Gatherer: the rows of parsed blocks put together as one array, within bounds of memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rankinite.data.grouping import TEXT
from rankinite.data.io.letor import _kernels as kernels
from rankinite.data.io.letor._blocks import Block, LetorSettings
from rankinite.data.io.letor._messages import fault
from rankinite.engine.kernel import Features, Grades, Strings
from rankinite.engine.memory import Allowance, memory_left, spelled_size, too_large
from rankinite.errors import DataError

ALWAYS_DENSE, MOST_DENSE = 1 << 30, 4096
"""The matrix may always take the first number of bytes, and beyond them the second number times the bytes of the files: a
hundred values among a million features need that much; a few kilobytes that unpack to millions of empty rows, far more."""


@dataclass
class Gatherer:
    """Puts the rows of blocks together, in order, and raises the first fault it meets."""

    settings: LetorSettings
    bytes_expected: int
    """The size of what is gathered, compressed or not: the files, or a chunk of them."""
    memory: Allowance = field(default_factory=memory_left)
    """What there was when reading began."""
    path: Path = Path()
    line: int = 0
    """Lines of the current file in blocks already taken in."""
    rows: int = 0
    width: int = 0
    named: bool | None = None
    """Whether rows name their query; unknown before the first row."""
    graded: bool | None = None
    """Whether rows have a grade; unknown before the first row."""
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
            self._check_form(bool(state[kernels.NAMED]), bool(state[kernels.GRADED]), int(state[kernels.FIRST_LINE]))
        if block.code > kernels.NARROW:
            raise self._fault(block)
        self.line += int(state[kernels.LINES])
        if not block.rows:
            return
        self._make_room(block)
        target = self._flat[: (self.rows + block.rows) * self._stride].reshape(-1, self._stride)[self.rows :]
        target[:, : block.width] = block.wide()
        target[:, block.width :] = self.settings.absent
        self.rows += block.rows
        self.grades.append(block.room.grades[: block.rows].copy())
        self.doc_ids.append(block.rows if block.doc_ids is None else block.doc_ids)
        self._add_runs(block.run_qids, block.run_lengths.tolist())

    def clear(self) -> None:
        """Forget the rows, but neither the place they had in the file nor their width and form."""
        self.rows = self._stride = 0
        self.run_qids, self.run_lengths, self.doc_ids, self.grades = [], [], [], []
        self._flat = np.empty(0, np.float32)  # a new array: the rows given away stay as they are

    def features(self) -> Features:
        """The features, rows × width, in an array cut to size."""
        width = self.width if self.settings.features is None else self.settings.features
        if width != self._stride:
            self._reserve(self.rows, width, self.rows)
            kernels.restride(self.rows, self._stride, width, np.float32(self.settings.absent), self._flat)
        self._resize(self.rows * width)
        return self._flat.reshape(self.rows, width)

    def all_doc_ids(self) -> Strings | None:
        """One document id per row, empty where a row has none; None when no row has one."""
        if all(isinstance(part, int) for part in self.doc_ids):
            return None
        return np.concatenate([np.full(part, "", TEXT) if isinstance(part, int) else part for part in self.doc_ids])

    def _check_form(self, named: bool, graded: bool, first_line: int) -> None:
        """Refuse rows that name their query, or have a grade, behind rows that do not, and the other way round."""
        place = f"{self.path}:{self.line + first_line + 1}"
        if self.named not in (None, named):
            code = kernels.QID_SURPRISING if named else kernels.QID_MISSING
            raise fault(place, code, b"", 0, base=self.settings.base, features=self.settings.features)
        if self.graded not in (None, graded):
            code = kernels.GRADE_SURPRISING if graded else kernels.GRADE_MISSING
            raise fault(place, code, b"", 0, base=self.settings.base, features=self.settings.features)
        self.named, self.graded = named, graded

    def _fault(self, block: Block) -> DataError:
        start, at = int(block.state[kernels.POSITION]), int(block.state[kernels.FAULT_AT])
        line = block.chunk[start : at + 4096].tobytes().split(b"\n", 1)[0]
        place = f"{self.path}:{self.line + int(block.state[kernels.LINES]) + 1}"
        return fault(place, block.code, line, at - start, base=self.settings.base, features=self.settings.features)

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
            stride = max(1, self.settings.features or self.width)
        elif self.width > stride:
            # Wider by a quarter at least, so that features turning up one by one do not move all rows each time.
            stride = max(self.width, stride + stride // 4)
        self._reserve(rows, stride, self._rows_expected(block))
        if self.rows and stride > self._stride:
            kernels.restride(self.rows, self._stride, stride, np.float32(self.settings.absent), self._flat)
        self._stride = stride

    def _rows_expected(self, block: Block) -> int:
        """How many rows to reserve memory for: by the bytes per row of the first block, later a quarter more than there are."""
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
            remedy = "Features are kept as a dense matrix; choose fewer, or number them without gaps"
            return too_large(place, what, needed, self.memory, remedy)
        return DataError(
            f"{what} would take {spelled_size(needed)} as a dense matrix, but {spelled_size(self.bytes_expected)} of input "
            f"justify {spelled_size(self._justified())} at most",
            place=place,
            value=needed,
            rule=f"The limit is the larger of {MOST_DENSE} times the size of the files and {spelled_size(ALWAYS_DENSE)}",
            remedy="Number the features without gaps; if the data really are so sparse, decompress the file first, or write "
            "Parquet",
        )
