"""Model files give back the same ranker, are the same bytes for the same ranker, and are safe to load whatever is in them."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

import rankinite as rk
from oracles.model_files import without_checksum
from oracles.trees import random_forest, random_matrix
from rankinite.models.blend import Blend
from rankinite.models.files.container import FORMAT, Stored, parse_model, write_model
from rankinite.models.files.loading import build, load
from rankinite.models.forest import Forest
from rankinite.models.history import History
from rankinite.trees.structure import DTYPES, no_trees

ROOT = Path(__file__).parents[2]
MATRIX = random_matrix(0, 50, 3)


def forests():
    return [
        random_forest(1),
        random_forest(2, grades=(0.0, 1.0, 4.0)),
        Forest(no_trees(), ("naïve name", 'with "quotes"\n', "\ud800"), start=np.asarray([0.1])),
        Forest(no_trees(), ()),
    ]


def blends():
    first, second, graded = random_forest(1), random_forest(2), random_forest(3, grades=(0.0, 2.0))
    return [
        0.3 * first + 0.7 * graded,
        2.0 * (0.1 * first + 1e-300 * (second + rk.Feature("f0")) + rk.Feature("f1", ascending=True)),
    ]


def saved(ranker, folder, name="model.rankinite"):
    ranker.save(folder / name)
    return folder / name


@pytest.mark.parametrize("forest", forests(), ids=repr)
def test_a_forest_comes_back_to_the_bit(forest, tmp_path):
    path = saved(forest, tmp_path)
    again = load(str(path))
    for name in DTYPES:
        assert getattr(again.trees, name).tobytes() == getattr(forest.trees, name).tobytes()
        assert getattr(again.trees, name).dtype == getattr(forest.trees, name).dtype
    assert again.feature_names == forest.feature_names
    assert again.start.tobytes() == forest.start.tobytes()
    assert (again.grades is None) == (forest.grades is None)
    assert again.settings == forest.settings
    assert (again.history is None) == (forest.history is None)
    assert saved(again, tmp_path, "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("blend", blends(), ids=repr)
def test_a_blend_comes_back_to_the_bit(blend, tmp_path):
    path = saved(blend, tmp_path)
    again = load(path)
    frame = rk.read(MATRIX, grades=np.zeros(50), group=[50], missing="nan", infinite="keep").rename_features(["f0", "f1", "f2"])
    assert again.score(frame).tobytes() == blend.score(frame).tobytes()
    assert repr(again) == repr(blend)
    assert saved(again, tmp_path, "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("feature", [rk.Feature(3), rk.Feature("bm25", ascending=True)])
def test_a_feature_comes_back(feature, tmp_path):
    assert load(saved(feature, tmp_path)) == feature


@pytest.mark.parametrize("ending", [".gz", ".zst", ".xz"])
def test_compressed_files_are_read_too(ending, tmp_path):
    forest = random_forest(4)
    plain, packed = saved(forest, tmp_path), saved(forest, tmp_path, f"model{ending}")
    assert packed.read_bytes() != plain.read_bytes()
    assert saved(load(packed), tmp_path, "again").read_bytes() == plain.read_bytes()
    if ending == ".gz":
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


@given(st.lists(st.floats(allow_infinity=False, width=64)), st.lists(st.floats(allow_infinity=False)), st.integers(0, 10**9))
@settings(max_examples=50, deadline=None)
def test_a_history_goes_through_json_to_the_bit(train, valid, best):
    history = History("err", np.asarray(train), np.asarray(valid), best, "early")
    again = History.from_dict(json.loads(json.dumps(history.to_dict(), allow_nan=False)))
    for name in ("train", "valid"):
        np.testing.assert_array_equal(np.signbit(getattr(again, name)) & ~np.isnan(getattr(again, name)),
                                      np.signbit(getattr(history, name)) & ~np.isnan(getattr(history, name)))  # fmt: skip
        np.testing.assert_array_equal(getattr(again, name), getattr(history, name))
    assert (again.measure, again.best, again.stopped) == ("err", best, "early")


def test_the_bytes_do_not_depend_on_the_process(tmp_path):
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from oracles.trees import random_forest\nimport rankinite as rk\n"
        f"(0.5 * random_forest(1) + rk.Feature(2)).save(r'{tmp_path}/' + sys.argv[1])\n"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, seed], cwd=ROOT, env=environment, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert saved(0.5 * random_forest(1) + rk.Feature(2), tmp_path).read_bytes() == (tmp_path / "1").read_bytes()


def test_the_safetensors_library_reads_what_is_written(tmp_path):
    forest = random_forest(5, grades=(0.0, 1.0))
    with safe_open(saved(forest, tmp_path), framework="np") as file:
        assert set(file.metadata()) == {"rankinite", "rankinite.sha256"}
        assert set(file.keys()) == {*DTYPES, "start", "grades"}
        for name in DTYPES:
            np.testing.assert_array_equal(file.get_tensor(name), getattr(forest.trees, name))


def test_what_the_safetensors_library_writes_is_read(tmp_path):
    forest = random_forest(6)
    stored = forest.stored()
    about = json.dumps({"format": FORMAT, **stored.described()})
    save_file(
        {name: np.array(array) for name, array in stored.arrays.items()}, tmp_path / "m", {"rankinite": about, "other": "x"}
    )
    assert load(tmp_path / "m").score(MATRIX).tobytes() == forest.score(MATRIX).tobytes()


@pytest.mark.parametrize("grades", [None, (0.0, 1.0, 3.0)])
def test_the_reader_of_the_specification_scores_the_same(grades, tmp_path):
    page = (ROOT / "docs" / "formats" / "model.md").read_text()
    (block,) = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    names: dict = {}
    exec(compile(block, "model.md", "exec"), names)
    forest = random_forest(7, grades=grades)
    about, arrays = names["read"](saved(forest, tmp_path))
    assert tuple(about["feature_names"]) == forest.feature_names
    assert [names["score"](about, arrays, row) for row in MATRIX] == pytest.approx(forest.score(MATRIX).tolist(), rel=1e-14)


FEATURE = {"kind": "feature", "feature": 1, "ascending": False}

# ---- files that are not models --------------------------------------------------------------------------------------


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
    ("content", "said"),
    [
        (b"", "not a model file"),
        (b"tree\nversion=v4\n", "LightGBM model names no features"),
        (b"\x02" + b"\0" * 7 + b"{}", "no entry 'rankinite'"),
        (b"\x02" + b"\0" * 7 + b"[]", "not a model file"),
        (b"\x03" + b"\0" * 7 + b"{]]", "not JSON"),
        (b"\x04" + b"\0" * 7 + b"{\xff\xff}", "not JSON"),
        (b"\xff" * 8 + b"{}", "not a model file"),
        ((600_000).to_bytes(8, "little") + b'{"a":' + b"[" * 599_995, "not JSON"),
        (b"\x1f\x8bnonsense", "complete .gz"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bytes_that_are_no_model_are_refused(content, said, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(rk.DataError, match=said) as raised:
        load(path)
    assert str(path) in str(raised.value)


def test_paths_that_are_no_file_are_refused(tmp_path):
    for path, said in ((tmp_path, "folder"), (tmp_path / "none", "no such file"), ("a\0b", "cannot be used|no such file")):
        with pytest.raises(rk.DataError, match=said):
            load(path)
    with pytest.raises(rk.ArgumentError, match="not a path"):
        load(7)
    with pytest.raises(rk.DataError, match="must exist"):
        random_forest(0).save(tmp_path / "none" / "model")


def test_a_file_of_someone_else_is_named_so(tmp_path):
    save_file({"weight": np.zeros(3, np.float16)}, tmp_path / "m", {"format": "pt"})
    with pytest.raises(rk.DataError, match="not a model of rankinite"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "newer rankinite; update"),
        ({"format": "1"}, "not a version"),
        ({"format": True}, "not a version"),
        ({"kind": "net2"}, "unknown; the kinds are 'blend', 'feature', 'forest'"),
        ({"kind": None}, "'kind' must be a text"),
        ({"kind": "blend"}, "'parts' must be of type list"),
        ({"kind": "blend", "parts": []}, "at least one part"),
        ({"kind": "blend", "parts": [3]}, "weight of part 0"),
        ({"kind": "blend", "parts": [{"weight": 1, "ranker": 3}]}, "JSON object"),
        ({"kind": "blend", "parts": [{"weight": 10**400, "ranker": FEATURE}]}, "no weight"),
        ({"kind": "blend", "parts": [{"weight": 1, "ranker": {"kind": "forest"}}]}, "'0/feature' is missing"),
        ({"kind": "feature"}, "name or a position"),
        ({"kind": "feature", "feature": 1}, "'ascending' must be"),
        ({"feature_names": ["a"]}, "unknown feature"),
        ({"feature_names": ["a", 1, "b"]}, "must list texts"),
        ({"feature_names": ["a", "a", "b"]}, "two features"),
        ({"feature_names": None}, "must be of type list"),
        ({"graded": True}, "'grades' is missing"),
        ({"graded": 1}, "'graded' must be of type bool"),
        ({"settings": []}, "must be of type dict"),
        ({"history": []}, "must be of type dict"),
        ({"history": {}}, "needs a measure"),
        ({"history": {"measure": "x", "best": 1, "stopped": "", "train": ["a"], "valid": []}}, "list numbers"),
        ({"history": {"measure": "x", "best": 1, "stopped": "", "train": [10**400], "valid": []}}, "too large"),
        ({"history": {"measure": "x", "best": -1, "stopped": "", "train": [], "valid": []}}, "negative"),
    ],
    ids=lambda value: str(value)[:50],
)  # fmt: skip
def test_a_description_that_means_nothing_is_refused(change, said, tmp_path):
    path = saved(random_forest(1), tmp_path)
    about, header, arrays = parts(path)
    put(path, {**about, **change}, header, arrays)
    with pytest.raises(rk.DataError, match=said) as raised:
        load(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("about", ["[", "3", '{"format": 1, "kind": NaN}', "[" * 100_000], ids=lambda value: value[:10])
def test_a_description_that_is_no_object_is_refused(about, tmp_path):
    path = saved(random_forest(1), tmp_path)
    _, header, arrays = parts(path)
    put(path, about, header, arrays)
    with pytest.raises(rk.DataError, match=r"not JSON|not a version"):
        load(path)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("left", None, "'left' is missing"),
        ("left", {"dtype": "F32"}, "'left' is float32"),
        ("left", {"dtype": "BF16"}, "is not understood"),
        ("left", {"shape": [1]}, "does not fit"),
        ("left", {"shape": [-1]}, "is not understood"),
        ("left", {"shape": [True]}, "is not understood"),
        ("left", {"shape": [0, 2**62, 2**62], "data_offsets": [0, 0]}, "gap|overlap"),
        ("left", {"data_offsets": [0, 10**30]}, "is not understood"),
        ("left", {"data_offsets": [0, 2**62]}, "does not fit"),
        ("left", {"data_offsets": [0]}, "is not understood"),
        ("left", {"data_offsets": "ab"}, "is not understood"),
        ("feature", {"data_offsets": [0, 0], "shape": [0]}, "gap|overlap"),
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_are_refused(name, change, said, tmp_path):
    path = saved(random_forest(1), tmp_path)
    about, header, arrays = parts(path)
    if change is None:
        header["other"] = header.pop(name)
    else:
        header[name] |= change
    put(path, about, header, arrays)
    with pytest.raises(rk.DataError, match=said):
        load(path)


def test_a_file_cut_off_or_too_long_is_refused(tmp_path):
    path = saved(random_forest(1), tmp_path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(rk.DataError, match="cut off"):
            load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(rk.DataError, match="1 bytes before"):
        load(path)


def test_every_flipped_bit_is_noticed_or_changes_nothing(tmp_path):
    whole = saved(0.5 * random_forest(3, trees=1, features=1, most=2) + rk.Feature("a"), tmp_path).read_bytes()

    def content(raw):
        stored = build(parse_model(raw, "model")).stored()
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
    for changed in (content.replace(b'\\"graded\\":false', b'\\"graded\\":true ', 1), content[:-1] + bytes([content[-1] ^ 1])):
        assert changed != content
        path.write_bytes(changed)
        with pytest.raises(rk.DataError, match=r"checksum differs.*make it again|neither 0 nor 1"):
            load(path)


def test_truth_values_are_0_or_1(tmp_path):
    path = saved(random_forest(1), tmp_path)
    about, header, arrays = parts(path)
    at = header["missing_left"]["data_offsets"][0]
    put(path, about, header, arrays[:at] + b"\2" + arrays[at + 1 :])
    with pytest.raises(rk.DataError, match="neither 0 nor 1"):
        load(path)


def test_rankers_inside_each_other_without_end_are_refused(tmp_path):
    inner = '{"kind":"feature","feature":1,"ascending":false}'
    depth = 3000
    about = (
        '{"format":1,"kind":"blend","parts":[{"weight":1,"ranker":' + '{"kind":"blend","parts":[{"weight":1,"ranker":' * depth
    )
    put(tmp_path / "m", about + inner + "}]}" * (depth + 1), {}, b"")
    with pytest.raises(rk.DataError, match=r"too deeply|not JSON"):
        load(tmp_path / "m")


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
    """Whatever numbers stand in the arrays, loading does not end in a crash, nor does scoring what it lets through."""
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


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = saved(random_forest(1), tmp_path)
    before = path.read_bytes()
    with pytest.raises(rk.ArgumentError, match="part 1 of the blend is a Mine"):
        (random_forest(2) + Mine()).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


class Mine:
    def score(self, data):
        return np.zeros(len(data))
