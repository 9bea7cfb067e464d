"""RankLib's text: ensembles of trees and linear models that its -load reads."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.ranklib_models import ranklib_scores
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.serving.float32 import above32, floor32
from refusals import refused
from serving.every_kind import linear_of, net_of, stumps
from serving.parity import case_of, differing
from serving.random_rankers import forest_of

pytestmark = pytest.mark.posix("a shell")

TEXT = """## LambdaMART
## No. of trees = 1

<ensemble>
\t<tree id="1" weight="1.0">
\t\t<split>
\t\t\t<feature> 1 </feature>
\t\t\t<threshold> 0.1 </threshold>
\t\t\t<split pos="left">
\t\t\t<output> 1.25 </output>
\t\t\t</split>
\t\t\t<split pos="right">
\t\t\t<output> 2.5 </output>
\t\t\t</split>
\t\t</split>
\t</tree>
</ensemble>
"""


def test_the_text_has_this_form():
    below = np.nextafter(np.float64(np.float32(0.1)), np.inf)  # above the float32, so that this is its floor
    assert case_of("ranklib", stumps([below], [True], [(1.25, 2.5)])).files["model.txt"].decode() == TEXT


@pytest.mark.parametrize("threshold", [0.1, 1 / 3, 0.0, -2.7, 5e-324, 16777217.0, 3.5e38, np.inf, -3.5e38, -np.inf])
def test_values_on_a_threshold_and_one_float32_beside_it(threshold):
    case = case_of("ranklib", stumps([threshold], [threshold >= 0], [(1.0, 2.0)]))
    largest = np.finfo(np.float32).max
    values = np.asarray([floor32(threshold), above32(threshold), largest, -largest, 0.0, np.nan], np.float32)
    case.matrix = values[np.isfinite(values) | np.isnan(values)][:, None]
    counted = np.nan_to_num(case.matrix[:, 0].astype(np.float64))
    assert case.twin().tolist() == np.where(counted <= threshold, 1.0, 2.0).tolist()
    assert differing([case], "ranklib") == []


@pytest.mark.parametrize("trees", [0, 3])
def test_forests_without_splits(trees):
    forest = replace(random_forest(2, trees=trees, features=0), feature_names=("a",))
    case = case_of("ranklib", forest)
    assert case.files["model.txt"].count(b"<tree ") == max(trees, 1)
    assert len(set(case.twin().tolist())) == 1
    np.testing.assert_allclose(case.twin(), forest.start[0] + forest.trees.value.sum(), rtol=1e-6)
    assert differing([case], "ranklib") == []


def test_a_missing_feature_is_0_and_a_forest_that_tells_them_apart_is_asked_about():
    forest = stumps([1.0], [False], [(1.0, 2.0)])
    with refused(ArgumentError, setting="served_missing", value=None):
        case_of("ranklib", forest)
    with refused(ArgumentError, setting="served_missing", value="nan"):
        case_of("ranklib", forest, served_missing="nan")
    case = case_of("ranklib", forest, served_missing="zero")
    case.matrix = np.asarray([[np.nan], [0.0], [2.0]], np.float32)
    assert case.twin().tolist() == [1.0, 1.0, 2.0]


def test_features_named_by_numbers_of_a_letor_file_keep_them():
    trees = forest_of(5)
    names = tuple(str(7 * number + 3) for number in range(len(trees.feature_names)))
    case = case_of("ranklib", trees.renamed(names), served_missing="zero")
    written = {int(number) for number in re.findall(r"<feature> (\d+) <", case.files["model.txt"].decode())}
    assert written <= set(map(int, names))
    assert case.target.notes(case.plan, case.files) == []
    assert differing([case], "ranklib") == []
    positions = case_of("ranklib", trees, served_missing="zero")
    assert {int(number) for number in re.findall(r"<feature> (\d+) <", positions.files["model.txt"].decode())} <= set(
        range(1, 8)
    )
    assert "1 is f0" in positions.target.notes(positions.plan, positions.files)[0]


@pytest.mark.parametrize("names", [("0", "1"), ("1", "01"), ("2", "x"), ("9999999999", "1"), ("²", "3")])
def test_other_names_are_counted_by_position(names):
    forest = replace(stumps([0.5], [True]), feature_names=names)
    assert b"<feature> 1 <" in case_of("ranklib", forest).files["model.txt"]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_read_again_as_the_same_forest(seed, tmp_path):
    forest = forest_of(seed + 20)
    numbered = forest.renamed([str(number + 1) for number in range(len(forest.feature_names))])
    rk.export(numbered, tmp_path / "out", to="ranklib", served_missing="zero")
    again = rk.load(tmp_path / "out" / "model.txt")
    rows = np.random.default_rng(seed).normal(size=(50, len(again.feature_names))).astype(np.float32)
    wide = np.zeros((50, len(forest.feature_names)), np.float32)
    wide[:, : rows.shape[1]] = rows
    np.testing.assert_allclose(again.score(rows), numbered.score(wide), rtol=1e-6, atol=1e-6 * forest.trees.largest_sum())


def test_linear_rankers_keep_float64():
    ranker = linear_of(3)
    case = case_of("ranklib", ranker, served_missing="zero")
    assert case.files["model.txt"].startswith(b"## Linear Regression\n")
    assert case.twin().dtype == np.float64
    assert differing([case], "ranklib") == []
    rows = np.random.default_rng(2).normal(size=(50, 3)).astype(np.float32)
    np.testing.assert_allclose(case.target.twin(case.files, case.plan)(rows), ranker.score(rows), rtol=1e-13, atol=1e-13)
    with refused(ArgumentError, setting="served_missing", value=None):
        case_of("ranklib", ranker)


def test_nets_and_leaves_beyond_float32_are_refused():
    with refused(ArgumentError):
        case_of("ranklib", net_of(1), served_missing="zero")
    with refused(ArgumentError, value=1e39):
        case_of("ranklib", stumps([0.5], [True], [(1e39, 0.0)]))


def test_the_check_gives_ranklib_the_sample(tmp_path):
    """By a stand-in for Java that scores what it was given."""
    forest = random_forest(3).renamed(["4", "9", "11"])
    rk.export(forest, tmp_path / "out", to="ranklib", served_missing="zero")
    java = tmp_path / "java"
    java.write_text('#!/bin/sh\necho "$@" > asked\nawk \'{ print $2 "\\t" NR "\\t" NF }\' "$6" > "$8"\n')
    java.chmod(0o755)
    done = subprocess.run(
        ["sh", str(tmp_path / "out" / "check.sh")], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "asked").read_text().split()[:4] == ["-jar", "RankLib.jar", "-load", "model.txt"]
    rows = [line.split(",") for line in (tmp_path / "out" / "sample.csv").read_text().splitlines()[1:]]
    letor = (tmp_path / "out" / "sample.letor").read_text().splitlines()
    vectors = [{4: np.nan, 9: np.nan, 11: np.nan} for _ in letor]
    for vector, line in zip(vectors, letor, strict=True):
        vector.update({int(word.split(":")[0]): np.float32(word.split(":")[1]) for word in line.split()[2:]})
    np.testing.assert_array_equal(
        [[vector[number] for number in (4, 9, 11)] for vector in vectors],
        [[np.float32(word or "nan") for word in row] for row in rows],
    )
    text = (tmp_path / "out" / "model.txt").read_text()
    expected = np.loadtxt(tmp_path / "out" / "sample-scores.txt", dtype=np.float32)
    np.testing.assert_array_equal(ranklib_scores(text, vectors), expected)
    assert len((tmp_path / "out" / "served.txt").read_text().split()) == len(rows)
