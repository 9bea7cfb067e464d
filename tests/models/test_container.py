"""Model files give back the same ranker, and are the same bytes for the same ranker."""

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
from oracles.trees import random_forest, random_matrix
from rankinite.models.files.container import FORMAT
from rankinite.models.files.loading import load
from rankinite.models.forest import Forest
from rankinite.models.history import History
from rankinite.trees.structure import DTYPES, no_trees
from refusals import refused

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


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = saved(random_forest(1), tmp_path)
    before = path.read_bytes()
    with refused(rk.ArgumentError, place="part 1 of the blend", value="Mine"):
        (random_forest(2) + Mine()).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


class Mine:
    def score(self, data):
        return np.zeros(len(data))
