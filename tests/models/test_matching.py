"""Models that do not know the names of their features: matched to data, they score as their own library does."""

from __future__ import annotations

import warnings

import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from rankinite.models.files.matching import match_features
from refusals import refused

RANDOM = np.random.default_rng(5)
QUERIES, DOCUMENTS, FEATURES = 30, 12, 5
X = np.round(RANDOM.normal(size=(QUERIES * DOCUMENTS, FEATURES)), 3).astype(np.float32)
GRADES = np.clip(np.round(X[:, 0] + X[:, 4] + RANDOM.normal(size=len(X))), 0, 3)
GROUP = [DOCUMENTS] * QUERIES
NAMES = tuple("12345")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """LETOR files, with query ids and without, and the sizes of the queries beside them, as LightGBM wants them."""
    folder = tmp_path_factory.mktemp("letor")
    values = [" ".join(f"{k}:{value}" for k, value in enumerate(row.tolist(), 1)) for row in X]
    queries = np.repeat(np.arange(QUERIES), DOCUMENTS)
    lines = list(zip(GRADES.astype(int), queries, values, strict=True))
    (folder / "named.txt").write_text("".join(f"{grade} qid:{query} {row}\n" for grade, query, row in lines))
    (folder / "plain.txt").write_text("".join(f"{grade} {row}\n" for grade, _, row in lines))
    (folder / "plain.txt.query").write_text("".join(f"{size}\n" for size in GROUP))
    return folder


@pytest.fixture(scope="module")
def data(folder):
    return rk.read(folder / "named.txt")


def quiet_matrix(path) -> xgboost.DMatrix:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reading text is deprecated there, but models made so are about
        return xgboost.DMatrix(f"{path}?format=libsvm")


def lightgbm_model(data):
    return lightgbm.train({"objective": "lambdarank", "verbosity": -1, "min_data_in_leaf": 5, "num_threads": 1}, data, 15)


def xgboost_model(data):
    return xgboost.train({"objective": "rank:ndcg", "max_depth": 3, "nthread": 1}, data, 15)


def made(kind: str, folder) -> tuple[rk.Forest, np.ndarray]:
    """A forest, and what the library says of the rows."""
    library, source = kind.split()
    if library == "lightgbm":
        if source == "file":
            model = lightgbm_model(lightgbm.Dataset(str(folder / "plain.txt"), params={"verbosity": -1}))
            scores = model.predict(str(folder / "plain.txt"), raw_score=True)
        else:
            model = lightgbm_model(lightgbm.Dataset(X, GRADES, group=GROUP))
            scores = model.predict(X, raw_score=True)
        model.save_model(folder / "model")
    else:
        matrix = quiet_matrix(folder / "named.txt") if source == "file" else xgboost.DMatrix(X, GRADES)
        if source == "array":
            matrix.set_group(GROUP)
        model = xgboost_model(matrix)
        scores = model.predict(matrix, output_margin=True)
        model.save_model(folder / "model.json")
        (folder / "model.json").replace(folder / "model")
    return rk.load(folder / "model"), scores


KINDS = ["lightgbm array", "lightgbm file", "xgboost array", "xgboost file"]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_librarys_own(kind, folder, data):
    forest, expected = made(kind, folder)
    matched, note = match_features(forest, data.feature_names, data.source)
    assert matched.feature_names == NAMES
    scores = matched.score(data)
    assert (forest.score(data) == scores).all()
    if kind.startswith("lightgbm"):
        assert (scores == expected).all()
    else:
        assert scores == pytest.approx(expected, rel=2e-6, abs=2e-6)
    assert ("by position" in note) == kind.endswith("array")
    assert ("LETOR" in note) == kind.endswith("file")
    assert data.source in note
    again, nothing = match_features(matched, data.feature_names, data.source)
    assert again is matched
    assert nothing is None


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_what_lines_leave_out_is_0_to_lightgbm_and_missing_to_xgboost(library, folder, tmp_path):
    dropped = RANDOM.random(X.shape) < 0.3
    dropped[0] = False  # so that the last feature is there
    for name in ("named.txt", "plain.txt"):
        rows = [line.split(" ") for line in (folder / name).read_text().splitlines()]
        for row, drop in zip(rows, dropped, strict=True):
            row[-FEATURES:] = [word for word, left_out in zip(row[-FEATURES:], drop, strict=True) if not left_out]
        (tmp_path / name).write_text("".join(" ".join(row) + "\n" for row in rows))
    (tmp_path / "plain.txt.query").write_text((folder / "plain.txt.query").read_text())
    forest, expected = made(f"{library} file", tmp_path)
    data = rk.read(tmp_path / "named.txt", missing="zero" if library == "lightgbm" else "nan")
    assert match_features(forest, NAMES, "data")[0].score(data) == pytest.approx(expected, rel=2e-6, abs=2e-6)


@pytest.fixture(scope="module")
def forest(folder):
    return made("lightgbm array", folder)[0]


def test_names_that_are_there_are_left_alone(forest, data):
    named = forest.renamed(["5", "3", "1", "2", "4"])
    assert match_features(named, (*NAMES, "6"), "data") == (named, None)
    assert (named.score(data) == forest.score(X[:, [4, 2, 0, 1, 3]])).all()


def test_plain_numbers_may_count_from_another_end(forest, data):
    from_zero = forest.renamed([str(k) for k in range(FEATURES)])
    matched, note = match_features(from_zero, NAMES, "data")
    assert (matched.score(data) == forest.score(X)).all()
    assert "'0' … '4' are taken for '1' … '5' of data" in note
    back, _ = match_features(matched, tuple("01234"), "data")
    assert (back.score(X) == forest.score(X)).all()
    assert back.feature_names == tuple("01234")


def test_numbers_from_0_mean_positions_whatever_the_data_call_them(forest, data):
    from_zero = forest.renamed([str(k) for k in range(FEATURES)])  # as CatBoost's
    named = data.rename_features(list("abcde"))
    matched, note = match_features(from_zero, named.feature_names, "data")
    assert (matched.score(named) == forest.score(X)).all()
    assert "by position" in note
    assert (from_zero.score(named) == forest.score(X)).all()


def test_rankers_inside_others_are_matched(forest, data):
    inside = rk.combine.average([forest, forest.truncate(3)], data.rename_features(forest.feature_names), scale="query").ranker
    blend = inside + 2.0 * rk.Feature("1")
    matched, note = match_features(blend, NAMES, data.source)
    named = data.rename_features([*NAMES])
    plain = forest.renamed(NAMES)
    expected = rk.combine.average([plain, plain.truncate(3)], named, scale="query").ranker + 2.0 * rk.Feature("1")
    assert (matched.score(data) == expected.score(data)).all()
    assert note.count("by position") == 1


def test_a_stack_is_matched(forest, data):
    renamed = data.rename_features(forest.feature_names)
    stack = rk.combine.stacked([forest, rk.Feature("Column_4")], renamed, hidden=(2,)).ranker
    with refused(rk.DataError, place="data", value="Column_0"):
        match_features(stack, (*NAMES[:3],), "data")
    stack = type(stack)((forest, rk.Feature("5")), stack.top)
    matched, note = match_features(stack, NAMES, "data")
    assert (matched.score(data) == type(stack)((forest.renamed(NAMES), rk.Feature("5")), stack.top).score(data)).all()
    assert note is not None


@pytest.mark.parametrize(
    ("wanted", "names", "missing"),
    [
        ([f"Column_{k}" for k in range(5)], tuple("123456"), "Column_0"),  # more in the data
        ([f"Column_{k}" for k in range(5)], tuple("1234"), "Column_0"),  # one fewer, but the first is used
        ([f"Column_{k}" for k in range(5)], tuple("abc"), "Column_0"),
        ([f"f{k}" for k in (0, 1, 2, 4, 3)], NAMES, "f0"),  # not in order: names that someone chose
        ([f"f{k}" for k in range(5)], ("f0", "f1", "2", "3", "4"), "f2"),  # some are known
        (["a", "b", "c", "d", "e"], NAMES, "a"),
        (list(NAMES), tuple("abcde"), "1"),
    ],
)
def test_anything_else_is_refused(forest, wanted, names, missing):
    with refused(rk.DataError, place="my data", value=missing) as caught:
        match_features(forest.renamed(wanted), names, "my data")
    assert "renamed(" in caught.value.remedy or "`rename=…`" in caught.value.remedy


def test_a_feature_more_is_passed_over_only_where_indices_count_from_1(folder):
    forest, _ = made("lightgbm file", folder)
    assert match_features(forest, NAMES, "data")[0].feature_names == NAMES
    for names in (tuple("abcde"), tuple("01234")):
        with refused(rk.DataError, place="data", value="Column_0"):
            match_features(forest, names, "data")


# ---- renamed ------------------------------------------------------------------------------------------------------------


def test_renamed_forests_score_the_same(forest):
    renamed = forest.renamed(list("abcde"))
    assert renamed.feature_names == tuple("abcde")
    assert (renamed.score(X) == forest.score(X)).all()


def test_features_that_no_split_uses_can_be_left_out(folder):
    forest, _ = made("xgboost file", folder)
    smaller = forest.renamed([None, *NAMES])
    assert (smaller.score(X) == forest.score(np.column_stack([np.zeros(len(X)), X]))).all()
    with refused(rk.ArgumentError, owner="renamed", value="f1"):
        forest.renamed(["0", None, *NAMES[1:]])


@pytest.mark.parametrize("names", [["a"], list("abcdef"), ["a", "b", "c", "d", 5]])
def test_every_feature_needs_a_name(forest, names):
    with refused(rk.ArgumentError, setting="names", value=names):
        forest.renamed(names)


def test_names_must_differ(forest):
    with refused(rk.DataError, place="forest", value="a"):
        forest.renamed(list("abcda"))
