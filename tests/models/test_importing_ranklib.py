"""RankLib's models: the scores of a slow evaluator of its files, and refusals of other learners and of damage."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankinite as rk
from oracles.foreign_models import beside_thresholds, ranklib_scores, ranklib_text, whole_leaves
from oracles.trees import random_forest, random_matrix
from refusals import refused

SEEDS = range(6)
TREE = '<tree id="1" weight="0.1"><split><feature> 1 </feature><threshold> 0.5 </threshold>'
TREE += "<split><output> 1 </output></split><split><output> 2 </output></split></split></tree>"


def load(folder, text: str, name: str = "model.txt"):
    (folder / name).write_text(text)
    return rk.load(folder / name)


def rows_for(forest: rk.Forest, seed: int) -> np.ndarray:
    rows = random_matrix(seed, 60, 3)
    return np.concatenate((rows, beside_thresholds(forest, rows)))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_end_in_the_leaves_that_ranklib_finds(seed, tmp_path):
    forest = whole_leaves(random_forest(seed, trees=8, features=3), seed)
    text = ranklib_text(forest, weight=0.5, learner=["LambdaMART", "MART"][seed % 2])
    loaded = load(tmp_path, text)
    rows = rows_for(forest, seed)[:, : len(loaded.feature_names)]
    assert loaded.score(rows).tolist() == ranklib_scores(text, np.pad(rows, ((0, 0), (0, 3))))
    assert len(loaded) == 8


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_agree_within_float32(seed, tmp_path):
    text = ranklib_text(random_forest(seed, trees=30, features=3), weight=0.1)
    rows = random_matrix(seed, 50, 3)
    assert load(tmp_path, text).score(rows) == pytest.approx(ranklib_scores(text, rows), rel=3e-6, abs=3e-6)


def test_random_forests_are_means_of_ensembles(tmp_path):
    text = ranklib_text(random_forest(1, trees=12, features=3), 0.1, "Random Forests", ensembles=4)
    rows = random_matrix(2, 50, 3)
    assert load(tmp_path, text).score(rows) == pytest.approx(ranklib_scores(text, rows), rel=3e-6, abs=3e-6)
    with refused(rk.DataError, value=4) as caught:
        load(tmp_path, text.replace("## Random Forests", "## MART"))
    assert ": line " in caught.value.place


@pytest.mark.parametrize(
    ("learner", "line"),
    [
        ("Linear Regression", "0:0.25 1:0.5 3:-1.25E-3 2:7"),
        ("Coordinate Ascent", "1:0.5 3:-1.25E-3"),
        ("coordinate ascent", "2:1.0  3:0.1 # of what"),
    ],
)
def test_linear_models(learner, line, tmp_path):
    text = f"## {learner}\n## Lambda = 1.0E-10\n{line}\n"
    ranker = load(tmp_path, text)
    rows = np.nan_to_num(random_matrix(1, 40, 3), posinf=3.0, neginf=-3.0)
    rows[::5, 1] = np.nan
    plain = text.partition(" #")[0]
    assert isinstance(ranker, rk.Linear)
    assert ranker.feature_names == ("1", "2", "3")
    assert ranker.score(rows) == pytest.approx(ranklib_scores(plain, rows), rel=1e-12)
    ranker.save(tmp_path / "own.rankinite")
    assert (rk.load(tmp_path / "own.rankinite").score(rows) == ranker.score(rows)).all()


def test_features_are_the_numbers_of_letor_files(tmp_path):
    forest = random_forest(3, trees=5, features=3)
    ranker = load(tmp_path, ranklib_text(forest))
    rows = np.nan_to_num(random_matrix(3, 20, 4), posinf=2.0, neginf=-2.0)
    data = rk.read(rows, grades=np.arange(20) % 3, qid=np.arange(20) // 5)
    assert ranker.feature_names == ("1", "2", "3")
    assert (ranker.score(data) == ranker.score(rows[:, :3])).all()
    assert ranker.settings == {
        "learner": "RankLib",
        "objective": "LambdaMART",
        "loss": "lambda",
        "rate": 0.1,
        "missing_values": False,
    }


def test_windows_lines_and_numbers_of_java(tmp_path):
    text = ranklib_text(whole_leaves(random_forest(4, trees=3, features=3), 4))
    expected, rows = load(tmp_path, text), random_matrix(4, 30, 3)
    for other in (text.replace("\n", "\r\n"), text.replace(" </threshold>", "f </threshold>"), text.replace("\n\t", "")):
        assert (load(tmp_path, other).score(rows) == expected.score(rows)).all()


def test_decimals_are_rounded_once(tmp_path):
    """Just above the middle of two floats: rounded to float64 first, the number is the middle itself, and goes to the even."""
    low, high = np.float32(1.0), np.nextafter(np.float32(1.0), np.float32(2.0))
    above = "1.0000000596046447753906250000000001"
    assert np.float32(above) == low
    text = f"## MART\n<ensemble>{TREE.replace('0.5', above)}</ensemble>"
    assert load(tmp_path, text).trees.threshold[0] == high
    assert load(tmp_path, text.replace(above, above.replace("0001", "0000"))).trees.threshold[0] == low
    assert load(tmp_path, text.replace(above, above.replace("06250000000001", "06249999999999"))).trees.threshold[0] == low


@pytest.mark.parametrize("learner", ["RankNet", "RankBoost", "AdaRank", "LambdaRank", "ListNet", "Something Else"])
def test_other_learners_are_refused_by_name(learner, tmp_path):
    with refused(rk.DataError, place="model.txt: line 1", value=f"## {learner}") as caught:
        load(tmp_path, f"## {learner}\n1:0.5\n")
    assert learner in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("</ensemble>", "", "ensemble"),
        ("</tree></ensemble>", "", "tree"),
        ('weight="0.1"', "", ""),
        ('weight="0.1"', 'weight="NaN"', "NaN"),
        ("<feature> 1 ", "<feature> 0 ", "0"),
        ("<feature> 1 ", "<feature> -3 ", "-3"),
        ("<feature> 1 ", "<feature> 1000001 ", "1000001"),
        ("<feature> 1 ", "<feature> " + "9" * 5000, "9" * 5000),
        ("<threshold> 0.5 ", "<threshold> x ", "x"),
        ("<threshold> 0.5 ", "<threshold> 1e60 ", "1e60"),
        ("<output> 1 </output>", "", []),
        ("<feature> 1 </feature>", "", ["threshold", "split", "split"]),
        ("<ensemble>", "<!DOCTYPE a [<!ENTITY b 'c'>]><ensemble>", "<!DOCTYPE a [<!ENTITY b 'c'>]><ensemble>"),
        ("<ensemble>", "hello <ensemble>", 'hello <ensemble><tree id="1" weight="0.1'),
        ("<threshold>", "<other>", "<other> 0.5 </threshold><split><output> "),
        ("</feature>", "</threshold>", "<feature> 1 </threshold><threshold> 0.5 "),
        ("</split></split></tree>", "</split></tree>", "tree"),
        ("<ensemble>", "<ensemble><output> 1 </output>", "output"),
        (TREE, TREE.replace("<split>", "<split><split>", 1).replace("</tree>", "</split></tree>"), ["split"]),
        (TREE, '<tree id="1" weight="0.1"></tree>', 0),
        (f"<ensemble>{TREE}</ensemble>", "", 0),
    ],
)
def test_damage_has_place_and_value(old, new, value, tmp_path):
    text = f"## LambdaMART\n\n<ensemble>{TREE}</ensemble>\n"
    assert load(tmp_path, text).score([[0.5], [0.6]]).tolist() == pytest.approx([0.1, 0.2])
    assert old in text
    with refused(rk.DataError, value=value) as caught:
        load(tmp_path, text.replace(old, new, 1))
    assert caught.value.place.startswith(str(tmp_path / "model.txt"))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("line", "value"),
    [("1:x", "x"), ("1:1e999", "1e999"), ("1", "1"), ("-1:3", "-1:3"), ("1:2 1:3", "1:3"), ("#", 0), ("9999999:1", 9999999)],
)
def test_damaged_weights(line, value, tmp_path):
    with refused(rk.DataError, place="line 2" if line == "#" else "line 3", value=value):
        load(tmp_path, f"## Coordinate Ascent\n## Restart = 5\n{line}")


def test_deep_trees_are_read_without_recursion(tmp_path):
    depth = 5_000
    begin = "<split><feature>1</feature><threshold>{}</threshold><split><output>1</output></split>"
    text = '## MART\n<ensemble><tree weight="1"><split>' + "".join(begin.format(k)[7 * (k == 0) :] for k in range(depth))
    text += "<split><output>2</output></split>" + "</split>" * depth + "</tree></ensemble>"
    forest = load(tmp_path, text)
    assert forest.score([[-1.0], [depth + 1.0]]).tolist() == [1.0, 2.0]


def test_no_counts_no_trada(tmp_path):
    ranker = load(tmp_path, ranklib_text(random_forest(3, trees=5, features=3)))
    data = rk.read(np.nan_to_num(random_matrix(1, 40, 3)), grades=np.arange(40) % 3, qid=np.arange(40) // 8, infinite="clip")
    with refused(rk.DataError, value=0) as caught:
        rk.adapt.trada(ranker, data)
    assert "RankLib" in caught.value.rule
    grown = rk.LambdaMART.plain(trees=2, leaves=3).fit(data, base=ranker)
    assert len(grown) == 7
    assert math.isfinite(rk.evaluate(0.5 * ranker + rk.Feature("1"), data, "ndcg")["ndcg"].mean)
