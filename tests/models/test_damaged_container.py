"""Model files are safe to load whatever is in them: what is damaged is refused, with its place in the file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

import rankinite as rk
from oracles.model_files import without_checksum
from oracles.trees import random_forest, random_matrix
from rankinite.models.blend import Blend
from rankinite.models.files.container import Stored, write_model
from rankinite.models.files.container_reader import parse_model
from rankinite.models.files.loading import build, load
from rankinite.trees.structure import DTYPES
from refusals import refused

MATRIX = random_matrix(0, 50, 3)

FEATURE = {"kind": "feature", "feature": 1, "ascending": False}


def saved(ranker, folder):
    path = folder / "model"
    ranker.save(path)
    return path


def parts(path):
    """Description, header and arrays of a model file, to be changed and put together again."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    return json.loads(header.pop("__metadata__")["rankinite"]), header, content[start:]


def put(path, about, header, arrays):
    text = json.dumps(
        {"__metadata__": {"rankinite": about if isinstance(about, str) else json.dumps(about)}, **header}
    ).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + arrays)


@pytest.mark.parametrize(
    ("content", "inside", "value"),
    [
        (b"", "", b""),
        (b"tree\nversion=v4\n", ": feature_names", None),
        (b"\x02" + b"\0" * 7 + b"{}", "", None),
        (b"\x02" + b"\0" * 7 + b"[]", "", b"\x02" + b"\0" * 7 + b"["),
        (b"\x03" + b"\0" * 7 + b"{]]", ": header", None),
        (b"\x04" + b"\0" * 7 + b"{\xff\xff}", ": header", None),
        (b"\xff" * 8 + b"{}", "", b"\xff" * 8 + b"{"),
        ((600_000).to_bytes(8, "little") + b'{"a":' + b"[" * 599_995, ": header", None),
        (b"\x1f\x8bnonsense", "", ...),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bytes_that_are_not_a_model_are_refused(content, inside, value, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(content)
    with refused(rk.DataError, place=f"{path}{inside}", **({} if value is ... else {"value": value})):
        load(path)


def test_paths_that_are_not_a_file_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none", "a\0b"):
        with refused(rk.DataError, place=path):
            load(path)
    with refused(rk.ArgumentError, value="int"):
        load(7)
    with refused(rk.DataError):
        random_forest(0).save(tmp_path / "none" / "model")


def test_a_safetensors_file_of_another_program_is_refused(tmp_path):
    save_file({"weight": np.zeros(3, np.float16)}, tmp_path / "m", {"format": "pt"})
    with refused(rk.DataError, place=tmp_path / "m", value=None) as caught:
        load(tmp_path / "m")
    assert "save()" in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "place", "value"),
    [
        ({"format": 3}, "format", 3),
        ({"format": "1"}, "format", "1"),
        ({"format": True}, "format", True),
        ({"kind": "net2"}, "kind", "net2"),
        ({"kind": None}, "kind", None),
        ({"kind": "blend"}, "parts", None),
        ({"kind": "blend", "parts": []}, "model", ()),
        ({"kind": "blend", "parts": [3]}, "part 0", None),
        ({"kind": "blend", "parts": [{"weight": 1, "ranker": 3}]}, "0/", 3),
        ({"kind": "blend", "parts": [{"weight": 10**400, "ranker": FEATURE}]}, "model", 10**400),
        ({"kind": "blend", "parts": [{"weight": 1, "ranker": {"kind": "forest"}}]}, "array '0/feature'", None),
        ({"kind": "feature"}, "feature", None),
        ({"kind": "feature", "feature": 1}, "ascending", None),
        ({"feature_names": ["a"]}, "forest", ...),
        ({"feature_names": ["a", 1, "b"]}, "feature_names", 1),
        ({"feature_names": ["a", "a", "b"]}, "forest", "a"),
        ({"feature_names": None}, "feature_names", None),
        ({"graded": True}, "array 'grades'", None),
        ({"graded": 1}, "graded", 1),
        ({"settings": []}, "settings", []),
        ({"history": []}, "history", []),
        ({"history": {}}, "history", (None, None, None)),
        ({"history": {"measure": "x", "best": 1, "stopped": "", "train": ["a"], "valid": []}}, "history: train", "a"),
        ({"history": {"measure": "x", "best": 1, "stopped": "", "train": [10**400], "valid": []}}, "history: train", 10**400),
        ({"history": {"measure": "x", "best": -1, "stopped": "", "train": [], "valid": []}}, "model", -1),
    ],
    ids=lambda value: str(value)[:50],
)  # fmt: skip
def test_a_description_that_is_not_understood_is_refused(change, place, value, tmp_path):
    path = saved(random_forest(1), tmp_path)
    about, header, arrays = parts(path)
    put(path, {**about, **change}, header, arrays)
    with refused(rk.DataError, place=place, **({} if value is ... else {"value": value})) as caught:
        load(path)
    assert caught.value.place.startswith(str(path))


@pytest.mark.parametrize("about", ["[", "3", '{"format": 1, "kind": NaN}', "[" * 100_000], ids=lambda value: value[:10])
def test_a_description_that_is_not_an_object_is_refused(about, tmp_path):
    path = saved(random_forest(1), tmp_path)
    _, header, arrays = parts(path)
    put(path, about, header, arrays)
    with refused(rk.DataError, place="format" if about == "3" else "description"):
        load(path)


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        ("left", None, "array 'left'"),
        ("left", {"dtype": "F32"}, "array 'left'"),
        ("left", {"dtype": "BF16"}, "array 'left'"),
        ("left", {"shape": [1]}, "array 'left'"),
        ("left", {"shape": [-1]}, "array 'left'"),
        ("left", {"shape": [True]}, "array 'left'"),
        ("left", {"shape": [0, 2**62, 2**62], "data_offsets": [0, 0]}, "arrays"),
        ("left", {"data_offsets": [0, 10**30]}, "array 'left'"),
        ("left", {"data_offsets": [0, 2**62]}, "array 'left'"),
        ("left", {"data_offsets": [0]}, "array 'left'"),
        ("left", {"data_offsets": "ab"}, "array 'left'"),
        ("feature", {"data_offsets": [0, 0], "shape": [0]}, "arrays"),
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_are_refused(name, change, place, tmp_path):
    path = saved(random_forest(1), tmp_path)
    about, header, arrays = parts(path)
    if change is None:
        header["other"] = header.pop(name)
    else:
        header[name] |= change
    put(path, about, header, arrays)
    with refused(rk.DataError, place=f"{path}: {place}"):
        load(path)


def test_a_file_cut_off_or_too_long_is_refused(tmp_path):
    path = saved(random_forest(1), tmp_path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with refused(rk.DataError):
            load(path)
    path.write_bytes(whole + b"\0")
    with refused(rk.DataError, place="arrays", value=1):
        load(path)


def test_every_flipped_bit_is_noticed_or_changes_nothing(tmp_path):
    whole = saved(0.5 * random_forest(3, trees=1, features=1, most=2) + rk.Feature("a"), tmp_path).read_bytes()

    def content(raw):
        stored = build(parse_model(raw)).stored()
        return stored.described(), {name: array.tobytes() for name, array in stored.arrays.items()}

    wanted, unnoticed = content(whole), 0
    for place in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        try:
            found = content(bytes(flipped))
        except rk.DataError:
            continue
        unnoticed += 1
        assert found == wanted
    assert unnoticed < len(whole)  # the name of the checksum above all


def test_a_model_without_a_checksum_loads_as_before(tmp_path):
    model = random_forest(3)
    path = saved(model, tmp_path)
    path.write_bytes(without_checksum(path.read_bytes()))
    assert load(path).score(MATRIX).tobytes() == model.score(MATRIX).tobytes()


def test_a_model_whose_numbers_have_changed_is_refused(tmp_path):
    path = saved(random_forest(3), tmp_path)
    content = path.read_bytes()
    described = content.replace(b'\\"graded\\":false', b'\\"graded\\":true ', 1)
    truth = content[:-1] + bytes([content[-1] ^ 1])
    for changed in (described, truth):
        assert changed != content
        path.write_bytes(changed)
        with refused(rk.DataError, place="rankinite.sha256"):
            load(path)


def test_truth_values_are_0_or_1(tmp_path):
    path = saved(random_forest(1), tmp_path)
    about, header, arrays = parts(path)
    at = header["missing_left"]["data_offsets"][0]
    put(path, about, header, arrays[:at] + b"\2" + arrays[at + 1 :])
    with refused(rk.DataError, place="array 'missing_left'", value=2):
        load(path)


def test_rankers_that_are_nested_too_deeply_are_refused(tmp_path):
    inner = '{"kind":"feature","feature":1,"ascending":false}'
    depth = 3000
    about = (
        '{"format":1,"kind":"blend","parts":[{"weight":1,"ranker":' + '{"kind":"blend","parts":[{"weight":1,"ranker":' * depth
    )
    put(tmp_path / "m", about + inner + "}]}" * (depth + 1), {}, b"")
    with refused(rk.DataError) as caught:
        load(tmp_path / "m")
    assert caught.value.place.startswith(str(tmp_path / "m"))


FUZZED = [random_forest(8, trees=2, features=2, most=4), 0.5 * random_forest(9, trees=1, features=2, most=3) + rk.Feature(1)]


@given(st.sampled_from([0, 1]), st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), max_size=4), st.floats(0.5, 1.5))
@settings(max_examples=400, deadline=None)
def test_damaged_files_load_or_are_refused(tmp_path_factory, which, flips, length):
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    FUZZED[which].save(path)
    content = bytearray(without_checksum(path.read_bytes()))
    for place, mask in flips:
        content[min(int(place * len(content)), len(content) - 1)] ^= mask
    path.write_bytes(content[: int(length * len(content))])
    try:
        ranker = load(path)
    except rk.DataError:
        return
    forest = ranker.parts[0][1] if isinstance(ranker, Blend) else ranker
    original = FUZZED[which] if which == 0 else FUZZED[which].parts[0][1]
    assert len(forest.trees) == len(original.trees)
    assert forest.score(np.zeros((3, len(forest.feature_names)))).shape == (3,)


@given(st.dictionaries(st.sampled_from([*DTYPES, "start"]), st.integers(0, 10**9)), st.data())
@settings(max_examples=150, deadline=None)
def test_hostile_arrays_load_or_are_refused(tmp_path_factory, seeds, data):
    """Whatever numbers the arrays contain, neither loading nor scoring a ranker that loads ends in a crash."""
    path = tmp_path_factory.getbasetemp() / "hostile"
    stored = random_forest(10, trees=3, features=2).stored()
    arrays = {name: array.copy() for name, array in stored.arrays.items()}
    for name, seed in seeds.items():
        random = np.random.default_rng(seed)
        array = arrays[name]
        extreme = [0, 1, -1, 2, 7] if array.dtype != np.int64 else [0, 1, -1, 2**62, -(2**63), 2**63 - 1]
        array[random.integers(len(array))] = random.choice(np.asarray(extreme)).astype(array.dtype)
    write_model(path, Stored("forest", stored.facts, arrays))
    try:
        forest = load(path)
    except rk.DataError:
        return
    assert forest.score(random_matrix(1, 20, 2)).shape == (20,)
    assert forest.text()
