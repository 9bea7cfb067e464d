"""C source: compiled by a strict compiler, every kind of ranker has the bits of its own scores."""

from __future__ import annotations

import ctypes
import platform
import re
import subprocess

import numpy as np
import pytest

import rankinite as rk
from rankinite.errors import ArgumentError
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.normalised import Normalised
from rankinite.serving.plan import one_leaf
from rankinite.serving.proof import WrongExportError, own_scores, prove
from rankinite.serving.target import exactness_of
from rankinite.serving.targets.c import columns_of, identifier
from rankinite.trees.structure import no_trees
from refusals import refused
from serving.consumers.c import STRICT, library, many, single
from serving.every_kind import ODD_NAMES, beside, linear_of, net_of, one_by_one, stumps
from serving.parity import case_of
from serving.random_rankers import forest_of
from serving.tall_trees import chain

pytestmark = pytest.mark.tools("a C compiler called cc")

SAME_BITS = {"forest", "another forest", "forest of grades", "feature", "ascending feature", "probability"} | {
    kind for kind in one_by_one() if kind.startswith(("net", "linear")) and "stack" not in kind
}
"""Kinds that are added up here as they are there."""


@pytest.fixture(scope="module")
def kinds():
    """Every kind, with missing values kept and taken for 0."""
    return {
        (kind, missing): case_of("c", ranker, served_missing=missing, rows=200)
        for kind, ranker in one_by_one().items()
        for missing in ("nan", "zero")
    }


def check_bits(cases, *flags):
    """The compiled functions give what was predicted, row by row and all at once."""
    compiled = library(list(cases.values()), *flags)
    for number, (name, case) in enumerate(cases.items()):
        found = many(compiled[f"model{number}_score_many"], case.matrix)
        np.testing.assert_array_equal(found, case.target.predicted(case.plan, case.matrix), str(name))
        np.testing.assert_array_equal(single(compiled[f"model{number}_score"], case.matrix), found)


def test_every_kind_has_the_bits_that_were_predicted(kinds):
    assert all(np.isnan(case.matrix).any() for (_, missing), case in kinds.items() if missing == "zero")
    check_bits(kinds)


@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-std=gnu99", "-march=native", "-ffp-contract=fast")], ids=["O2", "fused"])
def test_optimisation_changes_no_bit(kinds, flags):
    """Products and sums that are fused into one instruction would: hence the pragmas."""
    check_bits({key: case for key, case in kinds.items() if key in {("blend of all", "nan"), ("stack", "nan")}}, *flags)


@pytest.mark.parametrize("kind", one_by_one())
def test_exactness_is_what_is_found(kinds, kind):
    case = kinds[kind, "nan"]
    same = (case.twin() == own_scores(case.plan, case.matrix)).all()
    assert same or exactness_of(case.target, case.plan.flat) == "last bits"
    assert same or kind not in SAME_BITS


def served(ranker, matrix, **choices):
    """What the compiled functions say of rows × the ranker's features: one by one, all at once."""
    compiled = library([case_of("c", ranker, **choices)])
    rows = np.asarray(matrix, np.float64)
    found = many(compiled["model0_score_many"], rows)
    np.testing.assert_array_equal(single(compiled["model0_score"], rows), found)
    return found.tolist()


@pytest.mark.parametrize("threshold", [0.1, -3.0, 0.0, 5e-324, 1e308])
def test_thresholds_are_compared_in_double(threshold):
    found = served(stumps([threshold, threshold], [True, False]), beside(threshold))
    assert found == [1.0 + 2.0, 1.0 + 2.0, -1.0 - 2.0, 1.0 - 2.0]


def test_infinite_thresholds_and_values():
    rows = [[np.inf], [1e308], [-1e308], [-np.inf], [np.nan]]
    assert served(stumps([np.inf, -np.inf], [True, True]), rows) == [-1.0, -1.0, -1.0, 3.0, 3.0]


def test_trees_are_added_in_order_from_the_start_on():
    values = [(1e16, 0.0), *[(1.0, 0.0)] * 9, (-1e16, 0.0), (0.3, 0.0)]  # more than walk together
    expected = 0.7
    for left, _ in values:
        expected += left
    assert expected != 0.7 + sum(left for left, _ in reversed(values))
    assert served(stumps([0.0] * 12, [False] * 12, values, start=0.7), [[-1.0]]) == [expected]


def test_zero_trees_and_trees_that_are_a_leaf():
    assert served(Forest(no_trees(), ("a", "b"), start=np.asarray([0.25])), [[1.0, np.nan]]) == [0.25]
    leaf = Forest(one_leaf(0.5), ("a",), start=np.asarray([0.25]))
    assert served(leaf + stumps([1.0], [True]), [[1.0], [2.0], [np.nan]]) == [1.75, -0.25, 1.75]
    assert served(Forest(no_trees(), ("a",), start=np.zeros(2), grades=np.asarray([0.0, 3.0])), [[1.0]]) == [1.5]


@pytest.mark.parametrize("to_left", [True, False])
def test_very_deep_trees(to_left):
    rows = np.asarray([[-1.0], [0.5], [1.0], [499.5], [998.0], [5000.0]])
    assert served(chain(1000, to_left=to_left), rows) == [0.0, 1.0, 1.0, 500.0, 998.0, 1000.0]


def test_rows_may_be_float_and_farther_apart_than_they_are_long():
    cases = [case_of("c", ranker, rows=150) for ranker in (forest_of(3), one_by_one()["blend of all"])]
    compiled = library(cases)
    for number, case in enumerate(cases):
        with np.errstate(over="ignore"):
            function, rows = compiled[f"model{number}_score_many_float"], case.matrix.astype(np.float32)
        expected = case.target.twin(case.files, case.plan)(rows.astype(np.float64))
        np.testing.assert_array_equal(many(function, rows), expected)
        np.testing.assert_array_equal(single(compiled[f"model{number}_score_float"], rows), expected)
        wide = np.full((len(rows), rows.shape[1] + 3), 7.0, np.float32)
        wide[:, : rows.shape[1]] = rows
        np.testing.assert_array_equal(many(function, wide), expected)


def test_missing_values_count_as_the_centre_or_as_0_or_are_lowest():
    linear, lowest = Linear(("a",), [2.0], 1.0, [3.0], "mean"), np.finfo(np.float64).min
    assert served(linear, [[np.nan], [5.0]]) == [1.0, 5.0]
    assert served(linear, [[np.nan]], served_missing="zero") == [-5.0]
    assert served(Feature("a", ascending=True), [[np.nan], [5.0], [np.inf]]) == [lowest, -5.0, lowest]
    assert served(3.0 * Feature("a") + linear, [[np.nan]]) == [lowest]  # not −inf


def test_rankers_that_refuse_missing_values_score_nan_and_say_so(tmp_path):
    ranker = 2.0 * linear_of(0, ("a", "b"), "refuse") + net_of(0, ("b", "a"), "refuse")
    assert np.isnan(served(ranker, [[1.0, np.nan], [1.0, 2.0]])).tolist() == [True, False]
    assert any("NaN" in note for note in rk.export(ranker, tmp_path / "made", to="c").notes)
    assert not any("NaN" in note for note in rk.export(net_of(0), tmp_path / "net", to="c").notes)


def test_small_probabilities_stay_apart():
    chance = Normalised(stumps([0.0], [False], [(-300.0, -349.0)]), "probability")
    first, second = served(chance, [[0.0], [1.0]])
    assert 0.0 < second < first < 1e-200


def test_names_of_features_are_texts_and_columns():
    names = (*ODD_NAMES, "a  b", "a_b", "A_B", "REAL", "_AS", "NAME_x", "TEXTS", "COLUMNS", "*/", "??/", "\\", "%s", "int", "")
    case = case_of("c", linear_of(1, names))
    compiled = library([case])
    texts = (ctypes.c_char_p * len(names)).in_dll(compiled, "model0_features")
    assert tuple(text.decode() for text in texts) == names
    header = case.files["model.h"].decode()
    columns = re.findall(r"^    model_column_(\w+) = (\d+)", header, flags=re.MULTILINE)
    assert [int(column) for _, column in columns] == list(range(len(names)))
    assert len({name for name, _ in columns}) == len(names)
    assert dict(columns)["int"] == str(names.index("int"))


def test_columns_stay_apart_however_they_are_named():
    for names in (("a b", "a_b", "a_b_1", "a-b"), ("1", "_", "é", "ü", "1_1"), ("", " ", "0", "1")):
        assert len(set(columns_of(names))) == len(names)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop", "shop"),
        ("shop-v2", "shop_v2"),
        ("2024 web", "model_2024_web"),
        ("модель", "model"),
        ("__x__", "x"),
        ("int", "int"),
        ("COLUMNS", "COLUMNS"),
        ("TEXTS", "TEXTS"),
        ("REAL_AS", "REAL_AS"),
    ],
)
def test_the_name_of_a_model_becomes_a_prefix(name, expected, tmp_path):
    assert identifier(name) == expected
    made = rk.export(forest_of(1), tmp_path / "made", to="c", name=name)
    assert any(f"{expected}_score " in note for note in made.notes)
    command = ["cc", *STRICT, "-c", "-o", str(tmp_path / "model.o"), str(tmp_path / "made" / "model.c")]
    assert subprocess.run(command, capture_output=True, check=False).stderr == b""


WIDE = ["-mfpmath=387"] if platform.machine() in {"x86_64", "AMD64"} else []
"""Computes doubles with 80 bits."""


@pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only", *WIDE])
def test_flags_that_would_change_scores_are_errors(flag, tmp_path):
    rk.export(forest_of(1), tmp_path / "made", to="c")
    command = ["cc", flag, "-c", "-o", str(tmp_path / "model.o"), str(tmp_path / "made" / "model.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "#error" in done.stderr


@pytest.mark.parametrize("names", [("a", "b"), ('x,"y', "new\nline"), ("alone",)])
def test_the_script_scores_the_sample_as_expected(names, tmp_path):
    folder = tmp_path / "made"
    rk.export(linear_of(2, names), folder, to="c", name="shop v2")
    subprocess.run(["sh", str(folder / "check.sh")], check=True, capture_output=True)
    expected = [float(line) for line in (folder / "sample-scores.txt").read_text().split()]
    assert [float(line) for line in (folder / "served.txt").read_text().split()] == expected
    assert len(expected) > 10


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ("{0x1.0000000000000p-1,", "{0x1.0000000000001p-1,"),
        ("\n0,0x1.0000000000000p+0,", "\n0,0x1.0000000000001p+0,"),
        (" <= nodes[at]", " < nodes[at]"),
        ("_copy(model_columns_1, 0, 1,", "_copy(model_columns_1, 1, 1,"),
        ("scores[i] = 0x1.0000000000000p-2;", "scores[i] = 0x1.0000000000000p-3;"),
    ],
)
def test_a_wrong_file_is_found_out(written, changed):
    case = case_of("c", stumps([0.5], [True], start=0.25))
    source = case.files["model.c"].decode()
    assert source.count(written) >= 1
    with pytest.raises((WrongExportError, AssertionError)):
        prove(case.target, {**case.files, "model.c": source.replace(written, changed).encode()}, case.plan)


def test_the_tables_are_plain_to_read():
    files = case_of("c", stumps([0.5, np.inf], [True, False])).files
    tables = re.findall(
        r"^static const ([\w ]+) model_(\w+)_1\[\d+\] = \{\n(.*?)\n\};$",
        files["model.c"].decode(),
        flags=re.DOTALL | re.MULTILINE,
    )
    assert [(kind, name, cells.replace("\n", "")) for kind, name, cells in tables] == [
        (
            *("struct model_node", "nodes"),
            "{0x1.0000000000000p-1,1,1},{INFINITY,2,1},{INFINITY,2,2},{INFINITY,0,4},{INFINITY,2,4},{INFINITY,2,5},{INFINITY,2,6}",
        ),
        (
            "double",
            "values",
            "0,0x1.0000000000000p+0,-0x1.0000000000000p+0,0,0x1.0000000000000p+1,-0x1.0000000000000p+1,-0x0.0p+0",
        ),
        ("uint32_t", "roots", "0,3,6,6,6,6,6,6"),
        ("uint32_t", "columns", "0,0"),
    ]


def test_refusals():
    with refused(ArgumentError, value=40_003):
        case_of("c", net_of(0, ("a", "b"), hidden=(40_000,)))
