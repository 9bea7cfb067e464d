"""Model files of earlier versions load to the same bits; see tests/model_files/README.md."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from oracles import model_files, model_texts

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "model_files"
SCORES = {
    name: [float.fromhex(score) for score in scores]
    for name, scores in json.loads((FOLDER / "scores.json").read_text()).items()
}


CATEGORIES = ("shop", "size")


def rows(name=""):
    """The names of the features, one list of values per row, and its query; categories are texts, empty where missing."""
    path = FOLDER / ("rows-categories.csv" if name.startswith("categories") else "rows.csv")
    with path.open(newline="", encoding="utf-8") as handle:
        (_, *names), *lines = csv.reader(handle)
    are_texts = [name in CATEGORIES for name in names]
    values = [
        [value if is_text else float(np.float32(value or "nan")) for is_text, value in zip(are_texts, line[1:], strict=True)]
        for line in lines
    ]
    return names, values, [line[0] for line in lines]


def data(name=""):
    names, values, qids = rows(name)
    if not name.startswith("categories"):
        read = rk.read(np.asarray(values, np.float32), grades=np.zeros(len(values)), qid=qids, missing="nan")
        return read.rename_features(names)
    bm25, shop, size = zip(*values, strict=True)
    frame = pd.DataFrame(
        {
            "bm25": np.asarray(bm25, np.float32),
            "shop": pd.Categorical([one or None for one in shop]),
            "size": pd.Categorical([int(one) if one else None for one in size]),
        }
    )
    return rk.read(frame, grades=np.zeros(len(values)), qid=qids)


@pytest.mark.parametrize("name", SCORES)
def test_an_old_model_scores_the_same_bits(name):
    ranker = rk.load(FOLDER / f"{name}.rankinite")
    assert ranker.score(data(name)).tobytes() == np.asarray(SCORES[name]).tobytes()


@pytest.mark.parametrize("name", SCORES)
def test_an_old_model_saved_again_scores_the_same_bits(name, tmp_path):
    rk.load(FOLDER / f"{name}.rankinite").save(tmp_path / "again")
    assert rk.load(tmp_path / "again").score(data(name)).tobytes() == np.asarray(SCORES[name]).tobytes()


def agree(kind, found, wanted):
    """Trees and orders to the bit; sums, exp and tanh of another program to the last bits."""
    if kind == "exact":
        return found == wanted
    return all(math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("name", SCORES)
def test_the_scores_are_those_of_the_files_by_their_specification(name):
    about, arrays = model_files.read(FOLDER / f"{name}.rankinite")
    exact = about["kind"] == "feature" or (about["kind"] == "forest" and not about["graded"]) or about.get("scale") == "rank"
    found = model_files.scores(about, arrays, *rows(name))
    assert agree("exact" if exact else "close", found, SCORES[name])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_the_scores_are_those_of_the_text(path):
    text, (names, values, _) = path.read_text(encoding="utf-8"), rows(path.stem)
    exact = text.startswith("forest:") and "\ngrades: " not in text
    found = [model_texts.score(text, row, names) for row in values]
    assert agree("exact" if exact else "close", found, SCORES[path.stem])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_the_text_of_a_loaded_model_says_the_same(path):
    names, values, _ = rows(path.stem)
    text = rk.load(FOLDER / f"{path.stem}.rankinite").text()
    assert [model_texts.score(text, row, names) for row in values] == [
        model_texts.score(path.read_text(encoding="utf-8"), row, names) for row in values
    ]


def test_there_is_a_file_of_every_kind_and_all_have_scores_and_stay_small():
    files = sorted(FOLDER.glob("*.rankinite"))
    specification = (ROOT / "docs" / "formats" / "model.md").read_text(encoding="utf-8")
    kinds = re.findall("^## Kind `(.*?)`", specification, re.MULTILINE)
    assert {model_files.read(path)[0]["kind"] for path in files} == set(kinds)
    assert {path.stem for path in files} == set(SCORES)
    assert max(path.stat().st_size for path in files) < 10_000


def test_the_rows_try_what_can_go_wrong():
    """Missing values, values that equal a threshold, and ties."""
    _, values, qids = rows()
    forest = rk.load(FOLDER / "lambdamart.rankinite")
    column = np.asarray(values)
    split = forest.trees.feature >= 0
    pairs = zip(forest.trees.feature[split].tolist(), forest.trees.threshold[split].tolist(), strict=True)
    assert sum(threshold in column[:, feature] for feature, threshold in pairs) > 3
    assert np.isnan(column).any()
    assert len({(qid, str(row)) for qid, row in zip(qids, values, strict=True)}) < len(values)


def test_old_models_know_their_probabilities():
    """Loss and σ are read from the settings of the file."""
    found = rk.load(FOLDER / "mart-binary.rankinite").probabilities(data())
    assert found.tolist() == pytest.approx([1.0 / (1.0 + math.exp(-2.0 * 0.5 * score)) for score in SCORES["mart-binary"]])
    shares, grades = rk.load(FOLDER / "mcrank.rankinite").probabilities(data()), np.arange(5.0)
    assert shares @ grades == pytest.approx(SCORES["mcrank"])


def test_old_models_know_how_their_training_went():
    found = {path.stem: rk.load(path) for path in FOLDER.glob("*.rankinite")}
    histories = {name: ranker.history for name, ranker in found.items() if getattr(ranker, "history", None) is not None}
    assert histories["clicks-pairwise"].examination.positions[0] == 1
    assert histories["clicks-additive"].examination.bias.size > 0
    assert len(histories["lambdamart-held-out"].held_out) > histories["lambdamart-held-out"].best
    assert len(histories["lambdamart-exact-steps"].steps) == 3
    assert found["lambdamart"].sketch is None
    assert not found["unknown-queries"].sketch.complete
    assert [(sketch.queries, sketch.complete) for sketch in found["average-of-members"].trained_on] == 2 * [(20, True)]
    assert found["categories"].categories["size"].numeric
    assert found["categories"].categories["shop"].names == ("0", "acme", "big co", "d'or", "née & fils")
