"""Prepared scorers: the bits of ``score``, from any thread, in forked processes, and with the columns in any order."""

from __future__ import annotations

import csv
import json
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from oracles.trees import random_forest, random_matrix, scores
from rankinite.models.scorer import ForestScorer
from refusals import refused

pytestmark = pytest.mark.posix("forks")

FOLDER = Path(__file__).parents[1] / "model_files"
RECORDED = {
    name: np.asarray([float.fromhex(score) for score in found])
    for name, found in json.loads((FOLDER / "scores.json").read_text()).items()
    if not name.startswith("categories")  # their rows have words
}
FOREST = random_forest(1, trees=60, features=3)
MATRIX = random_matrix(1, 100, 3)


def queries() -> tuple[list[str], list[np.ndarray]]:
    """The names of the features, and one matrix per query."""
    with (FOLDER / "rows.csv").open(newline="") as handle:
        (_, *names), *lines = csv.reader(handle)
    by_query: dict[str, list[list[float]]] = {}
    for qid, *values in lines:
        by_query.setdefault(qid, []).append([float(value or "nan") for value in values])
    return names, [np.asarray(rows, np.float32) for rows in by_query.values()]


@pytest.mark.parametrize("name", RECORDED)
def test_every_kind_of_ranker_scores_query_by_query_as_it_always_did(name):
    names, matrices = queries()
    scorer = rk.load(FOLDER / f"{name}.rankinite").scorer(names)
    assert np.concatenate([scorer(matrix) for matrix in matrices]).tobytes() == RECORDED[name].tobytes()


@pytest.mark.parametrize("name", RECORDED)
def test_columns_may_come_in_any_order_and_with_others(name):
    names, matrices = queries()
    ranker = rk.load(FOLDER / f"{name}.rankinite")
    mixed = [*reversed(names), "other"]
    scorer = ranker.scorer(mixed)
    for matrix in matrices:
        exact = matrix.astype(np.float64) + 1e-9  # between two float32
        other = np.ascontiguousarray(np.column_stack((exact[:, ::-1], np.ones(len(exact)))))
        queries_of_rows = {"qid": np.zeros(len(exact))} if ranker.needs_queries else {}
        assert scorer(other).tobytes() == ranker.score(pd.DataFrame(other, columns=mixed), **queries_of_rows).tobytes()


def test_without_names_the_columns_are_the_features_in_order():
    for precision in (np.float32, np.float64):
        matrix = MATRIX.astype(precision)
        assert FOREST.scorer()(matrix).tolist() == scores(FOREST, matrix)
        assert FOREST.scorer()(matrix[:0]).tolist() == []
        assert [FOREST.scorer()(matrix[i : i + 1]).item() for i in range(5)] == scores(FOREST, matrix[:5])
    assert rk.Feature(2).scorer()(MATRIX).tobytes() == rk.Feature(2).score(MATRIX).tobytes()


@pytest.mark.parametrize("grades", [None, (0.0, 1.0, 3.0)])
def test_forests_without_trees_or_features_have_scorers_too(grades):
    for trees, features in ((0, 3), (3, 0), (0, 0)):
        forest = random_forest(2, trees=trees, features=features, grades=grades)
        matrix = random_matrix(2, 5, features)
        assert forest.scorer()(matrix).tobytes() == forest.score(matrix).tobytes()


def test_names_that_are_mere_numbers_are_matched_as_score_matches_them():
    forest = random_forest(3, trees=40).renamed(["Column_0", "Column_1", "Column_2"])
    data = rk.read(np.nan_to_num(MATRIX, posinf=1, neginf=1), grades=np.zeros(100), group=[100]).rename_features(
        ["a", "b", "c"]
    )
    assert forest.scorer(["a", "b", "c"])(data.features).tobytes() == forest.score(data).tobytes()


def test_a_copy_of_a_scorer_scores_the_same():
    for ranker in (FOREST, 0.5 * FOREST, rk.Feature(1)):
        scorer = ranker.scorer()
        copy = pickle.loads(pickle.dumps(scorer))
        assert type(copy) is type(scorer)
        assert copy(MATRIX).tobytes() == scorer(MATRIX).tobytes()


def test_a_scorer_does_not_change():
    scorer = FOREST.scorer()
    assert isinstance(scorer, ForestScorer)
    assert repr(scorer) == "<Scorer of 3 columns: Forest by Random: 60 trees, 3 features>"
    with pytest.raises(FrozenInstanceError):
        scorer.names = ()


@pytest.mark.parametrize("ranker", [FOREST, 2.0 * FOREST], ids=["forest", "blend"])
@pytest.mark.parametrize(
    ("matrix", "value"),
    [
        (MATRIX[0], (3,)),
        (MATRIX[:, :2].copy(), (100, 2)),
        (np.asfortranarray(MATRIX), "float32"),
        (MATRIX[:, ::-1], "float32"),
        (MATRIX.astype(np.float16), "float16"),
        (MATRIX.astype(">f4"), ">f4"),
        (np.zeros((2, 3), int), "int64"),
        (np.zeros((1, 2, 3)), (1, 2, 3)),
    ],
    ids=["row", "narrow", "by columns", "reversed", "half", "swapped", "whole", "cube"],
)
def test_a_matrix_that_a_kernel_could_misread_is_refused(ranker, matrix, value):
    with refused(rk.DataError, value=value):
        ranker.scorer()(matrix)


def test_columns_that_do_not_fit_the_ranker_are_refused():
    with refused(rk.DataError, place="the columns", value="f1"):
        FOREST.scorer(["f0", "f2"])
    with refused(rk.DataError, place="the columns", value="f0"):
        FOREST.scorer(["f0", "f1", "f2", "f0"])
    for names, odd in (("f0", "f0"), (["f0", 1], 1)):
        with refused(rk.ArgumentError, owner="scorer", setting="names", value=odd):
            FOREST.scorer(names)


# ---- threads and forks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranker", [FOREST, 0.5 * FOREST, random_forest(4, trees=30, grades=(0.0, 1.0))], ids=str)
def test_eight_threads_score_at_once(ranker):
    matrix = random_matrix(5, 3000, 3)
    sizes = [1, 3, 16, 40, 100, 700, 1300, 2000]
    scorer, expected = ranker.scorer(), ranker.score(matrix)
    gate = threading.Barrier(8)

    def work(number):
        gate.wait()
        found = []
        for turn in range(12):
            start = (turn * 131 + number * 57) % 900
            rows = slice(start, start + sizes[(turn + number) % 8])
            found.append(scorer(matrix[rows]).tobytes() == expected[rows].tobytes())
        return all(found)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


FORKING = """
import multiprocessing, os, sys, threading, warnings
import numpy as np
import rankinite as rk

warnings.simplefilter("ignore")  # newer Pythons warn of any fork beside threads
forest, matrix = rk.load(sys.argv[1]), np.load(sys.argv[2])
scorer = forest.scorer()

def work(_):
    return scorer(matrix).tobytes()

with rk.threads(2):
    expected = work(0)  # on two threads
    child = os.fork()
    if not child:
        os._exit(0 if work(0) == expected == forest.score(matrix).tobytes() else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert work(0) == expected
    stop = threading.Event()
    busy = threading.Thread(target=lambda: [work(0) for _ in iter(stop.is_set, True)])
    busy.start()  # children are born while another thread scores
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(work, range(6)) == [expected] * 6
    stop.set()
    busy.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_forked_children_score_on(tmp_path):
    random_forest(6, trees=200, features=3).save(tmp_path / "model")
    np.save(tmp_path / "matrix.npy", random_matrix(6, 1000, 3))
    command = [sys.executable, "-c", FORKING, str(tmp_path / "model"), str(tmp_path / "matrix.npy")]
    done = subprocess.run(command, timeout=120, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
