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


def bits_of_category(name: str) -> int:
    if name.lstrip("-").isdigit() and str(int(name)) == name and abs(int(name)) < 1 << 24:
        return bits(float(name))
    return 1 + int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") % 0x7F7FFFFF


def key_of_named(values: list[float | str], grade: float = 0.0, qid: str | None = None) -> int:
    """The key of a row whose categories are given by name."""
    floats = [
        value if isinstance(value, float) else struct.unpack("<f", struct.pack("<I", bits_of_category(value)))[0]
        for value in values
    ]
    return key_of_row(floats, grade, qid)


def test_the_page_says_how_categories_are_kept(tmp_path):
    rows = [[0.5, "ü", "7"], [1.5, "a", "-3"], [2.5, "ü", "7"], [0.0, "b", math.nan]]
    words, numbers = ("a", "b", "ü"), ("-3", "7")
    data = rk.Dataset(
        features=np.asarray([[0.5, 2, 1], [1.5, 0, 0], [2.5, 2, 1], [0.0, 1, np.nan]], np.float32),
        grades=np.asarray([1, 0, 2, 0]),
        offsets=np.asarray([0, 2, 4]),
        qids=np.asarray(["p", "q"]),
        feature_names=("x", "word", "number"),
        categories={"word": rk.Vocabulary(words), "number": rk.Vocabulary(numbers, numeric=True)},
    )
    rk.bin(data, tmp_path / "made.bins", category_rows=2)
    manifest = json.loads((tmp_path / "made.bins" / "manifest.json").read_text())
    assert (manifest["version"], manifest["category_rows"], manifest["missing"]) == (2, 2, [1, 2])
    assert manifest["categories"] == [[1, 3, False], [2, 2, True]]
    array = {name.removesuffix(".npy"): np.load(tmp_path / "made.bins" / name) for name in manifest["files"]}
    content, ends = array["category_bytes"].tobytes(), array["category_ends"].tolist()
    assert [content[start:end].decode() for start, end in pairwise(ends)] == [*words, *numbers]
    codes = array["category_codes"].tolist()
    assert codes == [255, 255, 0, 255, 0]  # only two of them have two rows
    hashed = hashlib.sha256(array["edges"].tobytes() + array["starts"].tobytes())
    hashed.update(b"\0001\0" + bytes(codes[:3]) + b"\0002\0" + bytes(codes[3:]))
    assert manifest["bins"] == hashed.hexdigest()
    assert array["codes"][0, :, 1].tolist() == [0, 255, 0, 255]
    assert array["codes"][0, :, 2].tolist() == [0, 255, 0, 255]
    keys = [key_of_named(row, data.grades[k], "ppqq"[k]) for k, row in enumerate(rows)]
    assert array["row_keys"].tolist() == keys
    of_queries = [sum(map(key_of_named, rows[:2])) + 2 * STEP, sum(map(key_of_named, rows[2:])) + 2 * STEP]
    assert array["query_keys"].tolist() == [key & WHOLE for key in of_queries]
