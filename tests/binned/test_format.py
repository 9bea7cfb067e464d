"""A folder of bins read as docs/formats/bins.md says, without rankinite: in plain Python, from the files alone."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from itertools import pairwise

import numpy as np

import rankinite as rk

WHOLE = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
DATA = rk.Dataset(
    features=np.asarray([[0.5, np.nan, 3.0], [-0.0, 2.0, 1e30], [7.0, -1.5, 0.0], [0.25, 2.0, np.nan]], np.float32),
    grades=np.asarray([2, 0, 1, 0.5]),
    offsets=np.asarray([0, 3, 4]),
    qids=np.asarray(["first", "zweite ü"]),
    feature_names=("a", "b", "c"),
    weights=np.asarray([1.0, 0.5]),
)


def mixed(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WHOLE
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WHOLE
    return x ^ (x >> 31)


def bits(value: float) -> int:
    if math.isnan(value):
        return 0x7FC00000
    return 0 if value == 0 else struct.unpack("<I", struct.pack("<f", value))[0]


def key_of_row(values: list[float], grade: float = 0.0, qid: str | None = None) -> int:
    total = 0 if qid is None else int.from_bytes(hashlib.blake2b(qid.encode(), digest_size=8).digest(), "little")
    total += bits(grade) * STEP
    for feature, value in enumerate(values):
        term = bits(value) * STEP & WHOLE
        total += (term ^ (term >> 32)) * (mixed((feature + 2) * STEP & WHOLE) | 1)
    return mixed(total & WHOLE)


def test_the_page_says_all_that_a_reader_needs(tmp_path):
    rk.bin(DATA, tmp_path / "made.bins", base=rk.Feature("a"))
    folder = tmp_path / "made.bins"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["version"], manifest["rows"], manifest["queries"]) == ("rankinite bins", 1, 4, 2)
    assert manifest["missing"] == [1, 2]
    for name, (size, hashed) in manifest["files"].items():
        content = (folder / name).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (size, hashed)
    array = {name.removesuffix(".npy"): np.load(folder / name) for name in manifest["files"]}
    assert manifest["bins"] == hashlib.sha256(array["edges"].tobytes() + array["starts"].tobytes()).hexdigest()
    rows = DATA.features.tolist()
    for row, values in enumerate(rows):
        for feature, value in enumerate(values):
            edges = array["edges"][array["starts"][feature] : array["starts"][feature + 1]].tolist()
            expected = 255 if math.isnan(value) else sum(edge < value for edge in edges)
            assert array["codes"][feature // 64, row, feature % 64] == expected
    ends = array["qid_ends"].tolist()
    qids = [array["qid_bytes"].tobytes()[start:end].decode() for start, end in pairwise(ends)]
    assert qids == DATA.qids.tolist()
    query_of_row = [0, 0, 0, 1]
    keys = [key_of_row(values, DATA.grades[row], qids[query_of_row[row]]) for row, values in enumerate(rows)]
    assert array["row_keys"].tolist() == keys
    of_queries = [sum(map(key_of_row, rows[:3])) + 3 * STEP, key_of_row(rows[3]) + STEP]
    assert array["query_keys"].tolist() == [key & WHOLE for key in of_queries]
    assert array["telling"].tolist() == [True, False]
    assert array["weights"].tolist() == [1.0, 0.5]
    assert array["base"].tolist() == DATA.features[:, 0].tolist()
    assert array["offsets"].tolist() == [0, 3, 4]
