"""Arrays and frames are shown, not copied, where their type and layout allow; and nothing that is learnt depends on it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rankinite as rk
from rankinite.data.io import tables
from rankinite.data.io.frame_blocks import largest_block
from rankinite.engine.parallel import threads

ROWS, FEATURES, DOCUMENTS = 600, 5, 12
NAMES = [f"f{number}" for number in range(FEATURES)]


@pytest.fixture
def matrix() -> np.ndarray:
    values = np.random.default_rng(0).normal(size=(ROWS, FEATURES)).astype(np.float32)
    values[::7, 1] = np.nan
    return values


GRADES = np.random.default_rng(1).integers(0, 4, ROWS).astype(np.float32)
QIDS = np.repeat(np.arange(ROWS // DOCUMENTS), DOCUMENTS)
SIZES = np.full(ROWS // DOCUMENTS, DOCUMENTS)


def content(data: rk.Dataset) -> list[bytes]:
    arrays = (data.features, data.grades, data.offsets)
    return [*(array.tobytes() for array in arrays), repr(data.qids.tolist()).encode()]


def forest_bytes(data: rk.Dataset) -> list[bytes]:
    trees = rk.LambdaMART.plain(trees=4, leaves=5, min_rows=5, row_share=0.7).fit(data).trees
    return [trees.feature.tobytes(), trees.threshold.tobytes(), trees.value.tobytes(), trees.missing_left.tobytes()]


@pytest.mark.parametrize("queries", [{"qid": QIDS}, {"group": SIZES}], ids=["qid", "group"])
def test_contiguous_float32_is_shown_read_only(matrix, queries):
    data = rk.read(matrix, grades=GRADES, **queries)
    assert np.shares_memory(data.features, matrix)
    assert np.shares_memory(data.grades, GRADES)
    for array in (data.features, data.grades):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert matrix.flags.writeable
    assert GRADES.flags.writeable
    assert data.input_row is None


def test_the_constructor_shows_arrays_too(matrix):
    offsets = np.arange(0, ROWS + 1, DOCUMENTS)
    data = rk.Dataset(matrix, GRADES, offsets, np.arange(len(SIZES)).astype(str), tuple(NAMES))
    for mine, shown in ((matrix, data.features), (GRADES, data.grades), (offsets, data.offsets)):
        assert np.shares_memory(mine, shown)
        assert (mine.flags.writeable, shown.flags.writeable) == (True, False)


def unaligned(values: np.ndarray) -> np.ndarray:
    room = np.empty(values.nbytes + 1, np.uint8)
    moved = room[1:].view(np.float32).reshape(values.shape)
    moved[:] = values
    return moved


LAYOUTS = {
    "float64": lambda values: values.astype(np.float64),
    "Fortran": np.asfortranarray,
    "every other row": lambda values: np.repeat(values, 2, axis=0)[::2],
    "backwards": lambda values: values[::-1].copy()[::-1],
    "other end first": lambda values: values.astype(">f4"),
    "unaligned": unaligned,
    "lists": lambda values: values.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_layouts_are_copied_to_the_same_content(layout, matrix):
    shown = rk.read(matrix, grades=GRADES, group=SIZES)
    other = LAYOUTS[layout](matrix)
    copied = rk.read(other, grades=GRADES, group=SIZES)
    assert content(copied) == content(shown)
    assert not np.shares_memory(copied.features, np.asarray(other))


def test_scattered_queries_are_copied_together(matrix):
    order = np.random.default_rng(2).permutation(ROWS)
    shuffled = matrix[order]
    data = rk.read(shuffled, grades=GRADES[order], qid=QIDS[order])
    assert not np.shares_memory(data.features, shuffled)
    np.testing.assert_array_equal(data.to_input_order(data.features), shuffled)


def test_the_same_forest_from_a_view_a_copy_and_shuffled_rows(matrix):
    order = np.random.default_rng(3).permutation(ROWS)
    view = forest_bytes(rk.read(matrix, grades=GRADES, qid=QIDS))
    assert forest_bytes(rk.read(matrix.astype(np.float64), grades=GRADES.astype(int), qid=QIDS)) == view
    assert forest_bytes(rk.read(matrix[order], grades=GRADES[order], qid=QIDS[order])) == view


@pytest.mark.parametrize("infinite", ["missing", "clip"])
def test_cleaning_leaves_the_array_alone(infinite, matrix):
    matrix[3, 2] = np.inf
    before = matrix.copy()
    data = rk.read(matrix, grades=GRADES, group=SIZES, infinite=infinite)
    assert np.isfinite(data.features[3, 2]) or np.isnan(data.features[3, 2])
    np.testing.assert_array_equal(matrix, before)


def test_a_mapped_array_is_shown(tmp_path: Path, matrix):
    path = tmp_path / "features.npy"
    np.save(path, matrix)
    mapped = np.load(path, mmap_mode="r")
    data = rk.read(mapped, grades=GRADES, group=SIZES)
    assert np.shares_memory(data.features, mapped)
    assert type(data.features) is np.ndarray
    assert forest_bytes(data) == forest_bytes(rk.read(matrix, grades=GRADES, group=SIZES))


def frame_of(values: np.ndarray) -> pd.DataFrame:
    frame = pd.DataFrame(values, columns=NAMES, copy=False)
    return frame.assign(qid=QIDS, grade=GRADES.astype(int))


def test_a_frame_of_rows_is_shown(matrix):
    frame = frame_of(matrix)
    data = rk.read(frame)
    assert np.shares_memory(data.features, matrix)
    assert not data.features.flags.writeable
    assert data.feature_names == tuple(NAMES)
    assert content(data) == content(rk.read(matrix, grades=GRADES, qid=QIDS))
    numbered = rk.read(pd.DataFrame(matrix, copy=False), grades=GRADES, qid=QIDS)
    assert np.shares_memory(numbered.features, matrix)
    assert numbered.feature_names == ("0", "1", "2", "3", "4")


FRAMES = {
    "float64 rows": lambda values: frame_of(values.astype(np.float64)),
    "columns": lambda values: frame_of(np.asfortranarray(values)),
    "column by column": lambda values: pd.DataFrame({name: frame_of(values)[name] for name in frame_of(values)}),
    "features behind": lambda values: frame_of(values)[["qid", "grade", *NAMES]],
    "a feature of another type": lambda values: frame_of(values).assign(f5=np.arange(ROWS) % 7),
    "an index of names": lambda values: frame_of(values).set_index("qid"),
    "an index of numbers": lambda values: frame_of(values).set_index(np.arange(ROWS) + 5),
    "polars": lambda values: pl.from_pandas(frame_of(values)),
    "arrow": lambda values: pa.table(frame_of(values)),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("chosen", [{}, {"ignore": ["f2"]}, {"features": ["f1", "f2"]}, {"features": ["f3", "f0"]}], ids=str)
def test_frames_of_every_layout_have_the_same_content(kind, chosen, matrix):
    frame = FRAMES[kind](matrix)
    data = rk.read(frame, **chosen)
    columns = pa.table(frame) if not isinstance(frame, pa.Table) else frame
    plain = rk.read(columns, **chosen)  # Arrow's table, which has no block
    assert data.feature_names == plain.feature_names
    assert content(data) == content(plain)


def test_a_frame_whose_columns_lie_apart_has_no_block(matrix):
    assert largest_block(frame_of(matrix)) is not None
    assert largest_block(frame_of(np.asfortranarray(matrix))) is None
    assert largest_block(pd.DataFrame({name: matrix[:, at].copy() for at, name in enumerate(NAMES)})) is None
    assert largest_block(matrix) is None


def test_reading_an_array_takes_little_memory():
    rows, features = 24_000, 100
    matrix, grades = np.ones((rows, features), np.float32), np.zeros(rows, np.float32)
    rk.read(matrix[:12], grades=grades[:12], group=[12])  # whatever is loaded once
    tracemalloc.start()
    rk.read(matrix, grades=grades, group=np.full(rows // 12, 12))
    _, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert highest < matrix.nbytes / 4


def write_parquet(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, data_page_size=1 << 14, use_dictionary=False)  # one row group of many pages


def write_arrow(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=4096)


@pytest.mark.parametrize("write", [write_parquet, write_arrow])
def test_reading_a_file_holds_little_besides_the_matrix(write, tmp_path: Path, monkeypatch):
    rows, features = 200_000, 20
    values = np.random.default_rng(0).normal(size=(rows, features)).astype(np.float32)
    columns = {"qid": np.arange(rows) // 10, "grade": np.zeros(rows), **{f"f{at}": values[:, at] for at in range(features)}}
    write(pa.table(columns), tmp_path / "data")
    pool, held, load_batch = pa.default_memory_pool(), list[int](), tables.load_batch
    before = pool.bytes_allocated()

    def watched(*inputs):
        held.append(pool.bytes_allocated() - before)
        return load_batch(*inputs)

    monkeypatch.setattr(tables, "load_batch", watched)
    with threads(1):
        found = rk.read(tmp_path / "data")
    np.testing.assert_array_equal(found.features, values)
    assert len(held) >= rows // tables.BATCH
    assert max(held) < values.nbytes / 4
