"""Data: LETOR (against a slow reader), compressed, groups, CSV, Parquet, Arrow, TREC and preference files."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

import rankinite as rk
from fuzz.mutation import damaged_bytes, damaged_lines, damaged_tree, json_text, number, text
from fuzz.target import DiffersError, Target
from oracles import letor as oracle
from rankinite.data.io.table_files import ROLES_KEY


def letor_text(rng: Random, *, qids: bool = True, grades: bool = True) -> str:
    """A few lines of LETOR text, mostly valid."""
    lines = []
    for row in range(rng.randrange(1, 12)):
        indices = sorted(rng.sample(range(1, rng.choice([6, 6, 6, 60, 3000])), k=rng.randrange(5)))
        tokens = [str(rng.randrange(5)), *([f"qid:{row // 3}"] if qids else []), *(f"{i}:{number(rng)}" for i in indices)]
        tokens = tokens if grades else tokens[1:]
        lines.append(" ".join(tokens) + rng.choice(["", "", " # docid = " + text(rng), "#" + text(rng)]))
    ending = rng.choice(["\n", "\n", "\r\n"])
    return ending.join(lines) + rng.choice(["", ending])


def make_letor(rng: Random, folder: Path, *, grades: bool = True) -> Path:
    content = letor_text(rng, grades=grades)
    if rng.random() < 0.6:
        content = damaged_lines(rng, content)
    raw = content.encode(errors="surrogatepass")
    return put(folder / "data.txt", damaged_bytes(rng, raw) if rng.random() < 0.3 else raw)


def read_letor(path: Path) -> None:
    data = rk.read(path, format="letor", infinite="keep", unjudged="keep")
    check_data(data)
    slow = read_slowly(path)
    order = np.arange(data.rows) if data.input_row is None else data.input_row
    for name, fast in (("grades", data.grades), ("features", data.features)):
        expected = np.asarray(slow[name], np.float32).reshape(data.rows, -1)[order]
        same = np.array_equal(fast.reshape(data.rows, -1), expected[:, : fast.size // data.rows], equal_nan=True)
        if not same or len(slow["grades"]) != data.rows:
            raise DiffersError(f"{name}: {fast.tolist()} but the slow reader has {expected.tolist()}")
    qids = np.asarray(slow["qids"], object)[order].tolist()
    if qids != np.repeat(data.qids, np.diff(data.offsets)).tolist():
        raise DiffersError(f"qids: the slow reader has {qids}")


def read_slowly(path: Path) -> dict[str, list]:
    """What the slow reader makes of it; numbers of any length are its business."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return oracle.parse(path.read_bytes().decode(errors="backslashreplace"))
    finally:
        sys.set_int_max_str_digits(limit)


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


def make_compressed(rng: Random, folder: Path) -> Path:
    suffix = rng.choice(list(COMPRESSED))
    packed = COMPRESSED[suffix](letor_text(rng).encode() * rng.choice([1, 1, 50]))
    packed += packed * rng.randrange(2)
    return put(folder / f"data.txt{suffix}", damaged_bytes(rng, packed) if rng.random() < 0.8 else packed)


def make_groups(rng: Random, folder: Path) -> Path:
    lines = [f"{rng.randrange(3)} 1:{rng.random():.3f}" for _ in range(rng.randrange(1, 12))]
    sizes = [1] * len(lines)
    while len(sizes) > 1 and rng.random() < 0.7:
        sizes[-2:] = [sizes[-2] + sizes[-1]]
    tokens = [str(size) for size in sizes]
    if rng.random() < 0.6:
        tokens[rng.randrange(len(tokens))] = number(rng)
    if rng.random() < 0.3:  # sums that wrap round at 2⁶⁴
        tokens += ["9223372036854775807", "9223372036854775807", "2"]
    put(folder / "data.txt.group", "\n".join(tokens).encode())
    return put(folder / "data.txt", "\n".join(lines).encode())


def make_csv(rng: Random, folder: Path) -> Path:
    separator = rng.choice([",", "\t"])
    names = ["grade", "qid", *(text(rng) for _ in range(rng.randrange(4)))]
    rows = [names] * (rng.random() < 0.9)
    rows += [[str(rng.randrange(3)), str(row // 2), *(number(rng) for _ in names[2:])] for row in range(rng.randrange(8))]
    content = "\n".join(separator.join(row) for row in rows)
    if rng.random() < 0.6:
        content = damaged_lines(rng, content, separator)
    return put(folder / ("data.csv" if separator == "," else "data.tsv"), content.encode(errors="replace"))


def arrow_table(rng: Random) -> pa.Table:
    rows = rng.randrange(1, 10)
    names = list(dict.fromkeys(["grade", "query", *(text(rng) for _ in range(rng.randrange(5)))]))
    kinds = [pa.float32(), pa.float64(), pa.int64(), pa.int8(), pa.bool_(), pa.string(), pa.list_(pa.int8())]
    columns = []
    for name in names:
        kind = pa.int64() if name in ("grade", "query") else rng.choice(kinds[:5] if rng.random() < 0.9 else kinds)
        values = [rng.randrange(4) if rng.random() < 0.9 else None for _ in range(rows)]
        if pa.types.is_string(kind) or pa.types.is_list(kind):
            values = [None if value is None else [value] if pa.types.is_list(kind) else str(value) for value in values]
        columns.append(pa.array(values).cast(kind) if not pa.types.is_list(kind) else pa.array(values, kind))
    table = pa.table(dict(zip(names, columns, strict=True)))
    if rng.random() < 0.5:
        roles = {"qid": "query", "grades": "grade"}
        mark = json_text(damaged_tree(rng, roles) if rng.random() < 0.7 else roles)
        table = table.replace_schema_metadata({ROLES_KEY: mark.encode()})
    return table


def make_table(rng: Random, folder: Path) -> Path:
    sink, table = io.BytesIO(), arrow_table(rng)
    if rng.random() < 0.5:
        parquet.write_table(table, sink)
        suffix = ".parquet"
    else:
        feather.write_feather(table, sink, compression=rng.choice(["uncompressed", "zstd", "lz4"]))
        suffix = ".arrow"
    content = sink.getvalue()
    return put(folder / f"data{suffix}", damaged_bytes(rng, content) if rng.random() < 0.5 else content)


def make_qrels(rng: Random, folder: Path) -> Path:
    lines = [f"{row // 3} 0 d{row} {number(rng)}" for row in range(rng.randrange(1, 9))]
    content = damaged_lines(rng, "\n".join(lines)) if rng.random() < 0.6 else "\n".join(lines)
    return put(folder / "data.qrels", content.encode(errors="replace"))


def read_qrels(path: Path) -> None:
    check_data(rk.read(path, format="qrels", unjudged="keep"))


def make_run(rng: Random, folder: Path) -> Path:
    lines = [f"{row // 3} Q0 d{row} {row % 3} {number(rng)} tag" for row in range(rng.randrange(1, 9))]
    content = damaged_lines(rng, "\n".join(lines)) if rng.random() < 0.6 else "\n".join(lines)
    return put(folder / "run.txt", content.encode(errors="replace"))


def judged_documents() -> rk.Dataset:
    """Three queries of three documents, with ids."""
    qids = np.repeat(["0", "1", "2"], 3)
    features = np.arange(18, dtype=np.float32).reshape(9, 2)
    ids = [f"d{row}" for row in range(9)]
    return rk.read(features, grades=np.tile([0, 1, 2], 3), qid=qids, doc_id=ids)


def read_run(path: Path) -> None:
    scores = rk.evaluate(rk.read_run(path, judged_documents()), judged_documents(), ["ndcg@3"])
    assert 0 <= scores["ndcg@3"].mean <= 1


def make_preferences(rng: Random, folder: Path) -> Path:
    lines = [
        f"{query}\td{3 * query}\td{3 * query + 1}\t{rng.choice(['1', '0.5', '0', f'{rng.random():.3f}', number(rng)])}"
        for query in range(3)
    ]
    content = damaged_lines(rng, "\n".join(lines), "\t") if rng.random() < 0.7 else "\n".join(lines)
    return put(folder / "pairs.tsv", content.encode(errors="replace"))


def read_preferences(path: Path) -> None:
    data = judged_documents()
    check_data(data.with_preferences(rk.read_preferences(path, data)))


def read_any(path: Path) -> None:
    check_data(rk.read(path, infinite="keep", unjudged="keep"))


def check_data(data: rk.Dataset) -> None:
    """What every data set promises, whatever it came from."""
    assert data.features.shape == (data.rows, len(data.feature_names))
    assert data.offsets[0] == 0
    assert data.offsets[-1] == data.rows
    assert (data.offsets[1:] > data.offsets[:-1]).all()
    if data.rows and len(data.feature_names):
        rk.describe(data)


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


TARGETS = (
    Target("letor", make_letor, read_letor),
    Target("letor, no grades", partial(make_letor, grades=False), read_letor),
    Target("letor, compressed", make_compressed, read_any),
    Target("group files", make_groups, read_any),
    Target("csv and tsv", make_csv, read_any),
    Target("parquet and arrow", make_table, read_any),
    Target("qrels", make_qrels, read_qrels),
    Target("runs", make_run, read_run),
    Target("preferences", make_preferences, read_preferences),
)
