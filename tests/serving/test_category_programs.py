"""Sets of categories as LightGBM, XGBoost, a C compiler and MLflow themselves read them from exported files."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import replace

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost

import rankinite as rk
from oracles.trees import random_forest
from rankinite.data.categories import Vocabulary
from rankinite.models.forest import Forest
from rankinite.models.normalised import Normalised
from rankinite.models.stack import Stack
from rankinite.serving.proof import WrongExportError, own_scores, prove
from rankinite.serving.targets.c_sets import categories_alike
from rankinite.trees.structure import sets_of
from serving.consumers.c import library, many, single
from serving.consumers.xgboost import agreed, booster_of
from serving.every_kind import linear_of, net_of, stumps
from serving.parity import case_of, differing
from serving.random_rankers import category_forest_of, with_sets

pytestmark = pytest.mark.tools("a C compiler called cc")

WORDS = Vocabulary(("Zoë", "blue", "it's", "red", "zebra", "émile", "ñandú", "特徴"))
NUMBERS = Vocabulary(("-3", "7", "400", "60000"), numeric=True)
PLAIN = Vocabulary(("B", "a b", "a", "it's", "unknown", "~"))
NOT_CODES = (-1.0, -7.0, 8.0, 31.0, 32.0, 64.0, 1e6, 3e9, np.nan)


def asking(sets, missing_left, vocabulary=WORDS) -> Forest:
    """Trees with one node each, which asks for one of these sets of the only feature; all sums of leaves differ."""
    count = len(sets)
    values = [(2.0**number, 0.0) for number in range(count)]
    forest = stumps(np.zeros(count), missing_left, values, names=("c",))
    trees = replace(forest.trees, **sets_of([codes for one in sets for codes in (one, (), ())]))
    return replace(forest, trees=trees, categories={"c": vocabulary})


EVERYTHING = tuple(range(len(WORDS)))
SETS = [(0,), (2, 5), (7,), (1, 2, 3, 4, 5, 6, 7), EVERYTHING]
RIGHT, BOTH = (False,) * len(SETS), (False,) * len(SETS) + (True,) * len(SETS)
FOREST, TELLING = asking(SETS, RIGHT), asking(SETS * 2, BOTH)
"""Of the second, half of the trees send missing categories left, which not all programs can tell from unknown ones."""
HOLDING = [("lightgbm", RIGHT), ("xgboost", BOTH), ("c", BOTH)]


def expected(codes, missing_left):
    """The score of each code, from the sets themselves."""
    found = []
    for code in codes:
        goes = [to_left if np.isnan(code) else int(code) in one for to_left, one in zip(missing_left, SETS * 2, strict=False)]
        found.append(float(sum(2.0**number for number, left in enumerate(goes) if left)))
    return np.asarray(found)


CODES = np.asarray([*range(len(WORDS)), *NOT_CODES])


def test_the_ranker_itself_does_what_the_sets_say():
    np.testing.assert_array_equal(FOREST.score(CODES[:, None]), expected(CODES, RIGHT))
    np.testing.assert_array_equal(TELLING.score(CODES[:, None]), expected(CODES, BOTH))


@pytest.mark.parametrize(("to", "missing_left"), HOLDING)
def test_codes_in_and_out_of_sets_and_numbers_that_are_none(to, missing_left):
    case = case_of(to, TELLING if any(missing_left) else FOREST)
    rows = CODES[:, None].astype(case.target.inputs)
    np.testing.assert_array_equal(case.target.twin(case.files, case.plan)(rows), expected(CODES, missing_left))
    case.matrix = rows
    assert differing([case], to) == []


@pytest.mark.parametrize(("to", "missing_left"), HOLDING)
def test_of_numbers_that_are_not_whole_the_twin_knows_what_the_program_does(to, missing_left):
    case = case_of(to, TELLING if any(missing_left) else FOREST)
    case.matrix = np.asarray([[0.5], [2.999], [7.5], [8.25], [-0.5], [-1.5]], case.target.inputs)
    assert differing([case], to) == []
    np.testing.assert_array_equal(case.twin()[:4], expected([0, 2, 7, 8], missing_left))


@pytest.mark.parametrize("to", ["lightgbm", "xgboost"])
def test_a_set_that_misses_a_category_is_found_out(to):
    case = case_of(to, FOREST)
    if to == "lightgbm":
        text = case.files["model.txt"].decode()
        assert "cat_threshold=36\n" in text  # the set of 2 and 5
        files = {"model.txt": text.replace("cat_threshold=36\n", "cat_threshold=32\n", 1).encode()}
    else:
        model = json.loads(case.files["model.json"])
        model["learner"]["gradient_booster"]["model"]["trees"][1]["categories"] = [3, 5]
        files = {**case.files, "model.json": json.dumps(model).encode()}
    with pytest.raises(WrongExportError):
        prove(case.target, files, case.plan)


def frame_of(vocabulary, names):
    """A data frame whose column has categories of its own, in an order of its own."""
    values = [None if name is None else int(name) if vocabulary.numeric else name for name in names]
    return pd.DataFrame({"c": pd.Categorical(values, categories=sorted({*values} - {None}, reverse=True))})


@pytest.mark.parametrize("vocabulary", [WORDS, PLAIN, NUMBERS], ids=["words", "plain words", "numbers"])
def test_data_frames_are_matched_by_name(vocabulary):
    last = len(vocabulary) - 1
    forest = asking([(0, last), (1,), (2,)], [False] * 3, vocabulary)
    names = [*vocabulary.names[::-1], None, vocabulary.names[1]]
    frame = frame_of(vocabulary, names)
    own = forest.score(pd.DataFrame({"c": names}))
    lightgbm_text = case_of("lightgbm", forest).files["model.txt"].decode()
    np.testing.assert_array_equal(lightgbm.Booster(model_str=lightgbm_text).predict(frame), own)
    forest = asking([(0, last), (1,), (2,)], [False, True, False], vocabulary)
    own = forest.score(pd.DataFrame({"c": names}))
    case = case_of("xgboost", forest)
    files = case.files
    if vocabulary is WORDS:  # XGBoost cuts such names wrongly
        assert "cats" not in json.loads(files["model.json"])["learner"]["gradient_booster"]["model"]
        assert "beyond ASCII" in case.target.notes(case.plan, files)[0]
        return
    for file in ("model.json", "model.ubj"):
        booster = booster_of(files[file])
        found = booster.predict(xgboost.DMatrix(frame, enable_categorical=True))
        np.testing.assert_array_equal(found, own.astype(np.float32))
        saved, ours = (json.loads(content)["learner"] for content in (booster.save_raw("json"), files["model.json"]))
        assert saved["gradient_booster"]["model"]["cats"] == ours["gradient_booster"]["model"]["cats"]


def test_lightgbm_takes_a_category_that_it_does_not_know_for_a_missing_one():
    forest = asking([(0, 3), (1,)], [False, False])
    text = case_of("lightgbm", forest).files["model.txt"].decode()
    frame = frame_of(WORDS, ["no such word", "blue", None])
    found = lightgbm.Booster(model_str=text).predict(frame)
    assert found[0] == found[2] != found[1]


def test_xgboost_writes_sets_again_as_they_are():
    case = case_of("xgboost", category_forest_of(5))
    saved = json.loads(booster_of(case.files["model.ubj"]).save_raw("json"))["learner"]
    ours = json.loads(case.files["model.json"])["learner"]
    assert saved["feature_types"] == ours["feature_types"]
    assert "c" in ours["feature_types"]
    models = [learner["gradient_booster"]["model"] for learner in (saved, ours)]
    for again, written in zip(*(model["trees"] for model in models), strict=True):
        names = [name for name in written if name.startswith("categories") or name == "split_type"]
        assert {name: again[name] for name in names} == {name: written[name] for name in names}


def test_lightgbm_writes_sets_again_as_they_are():
    text = case_of("lightgbm", category_forest_of(5)).files["model.txt"].decode()
    saved = lightgbm.Booster(model_str=text).model_to_string()

    def kept(of):
        found = (line for line in of.split("\n") if line.startswith(("num_cat", "cat_", "decision_type=", "feature_infos")))
        return [line for line in found if not line.endswith("=")]

    assert kept(saved) == kept(text)
    assert any(line.startswith("cat_threshold") for line in kept(text))


@pytest.mark.parametrize("to", ["lightgbm", "xgboost", "mlflow"])
def test_the_check_compares(to, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    rk.export(category_forest_of(9), tmp_path / "model", to=to)
    monkeypatch.chdir(tmp_path / "model")
    runpy.run_path("check.py")
    assert rk.check_served(tmp_path / "model", np.loadtxt("served.txt", ndmin=1)).as_expected


def test_xgboost_of_single_rows_and_many_agree_on_a_blend():
    blend = 0.5 * category_forest_of(5) + 0.25 * replace(category_forest_of(5), start=np.asarray([3.0]))
    case = case_of("xgboost", blend)
    np.testing.assert_allclose(agreed(case.files, case.matrix), own_scores(case.plan, case.matrix), rtol=1e-5, atol=1e-5)


# ---- C --------------------------------------------------------------------------------------------------------------------


def test_rows_of_float_and_of_double_and_one_by_one():
    case = case_of("c", category_forest_of(7))
    rows = np.round(case.matrix, 3)
    compiled = library([case], "-O2")
    own = own_scores(case.plan, rows.astype(np.float32))
    np.testing.assert_array_equal(many(compiled["model0_score_many_float"], rows.astype(np.float32)), own)
    np.testing.assert_array_equal(single(compiled["model0_score_float"], rows.astype(np.float32)), own)
    np.testing.assert_array_equal(many(compiled["model0_score_many"], rows), own_scores(case.plan, rows))


def test_every_kind_of_ranker_with_categories_inside():
    """Sums of sums, each with sets: blends, grades, probabilities, and stacks."""
    forest, other = category_forest_of(7), random_forest(3, features=len(category_forest_of(7).feature_names))
    shared = {forest.feature_names.index(name): one for name, one in forest.categories.items()}
    other = with_sets(other, shared, np.random.default_rng(1))
    grades = with_sets(
        random_forest(4, features=len(forest.feature_names), grades=(0.0, 1.0, 3.0)), shared, np.random.default_rng(2)
    )
    chance = Normalised(other, "probability", -0.2, 0.7)
    numbers = tuple(name for name in forest.feature_names if name not in forest.categories)
    kinds = [
        0.3 * forest + 0.7 * other,
        grades,
        chance,
        0.5 * forest + 2.0 * grades + chance + 0.1 * linear_of(1, numbers),
        Stack((forest, grades, chance), net_of(1, ("a", "b", "c"))),
    ]
    for to in ("c", "mlflow"):
        by_query = [0.4 * Normalised(forest, "query") + Normalised(other, "rank")] if to == "mlflow" else []
        cases = [case_of(to, ranker, served_missing=missing) for ranker in [*kinds, *by_query] for missing in ("nan", "zero")]
        assert differing(cases, to) == []


def grown_on(categories):
    """A forest that was trained on one feature of many categories and one number."""
    random = np.random.default_rng(categories)
    code = random.integers(categories, size=6000)
    worth = random.normal(size=categories)[code] + random.normal(0, 0.3, 6000)
    data = rk.Dataset(
        features=np.column_stack((random.normal(size=6000), code)).astype(np.float32),
        grades=np.clip(np.round(worth) + 2, 0, 4).astype(np.float32),
        offsets=np.arange(0, 6001, 20),
        qids=np.asarray([str(query) for query in range(300)]),
        feature_names=("x", "c"),
        categories={"c": Vocabulary(tuple(f"v{number:03d}" for number in range(categories)))},
    )
    return rk.LambdaMART.plain(trees=10, leaves=8, min_rows=5, category_rows=3).fit(data), data


@pytest.mark.parametrize("to", ["lightgbm", "xgboost", "c"])
def test_a_grown_forest_of_many_categories_is_exact(to, tmp_path):
    forest, data = grown_on(400)
    made = rk.export(forest, tmp_path / "out", to=to, sample=data, served_missing="nan")
    assert made.check.sample_rows == data.rows
    assert made.exactness == ("float32" if to == "xgboost" else "exact")
    case = case_of(to, forest, served_missing="nan")
    case.matrix = data.features.astype(case.target.inputs)
    assert differing([case], to) == []


@pytest.mark.parametrize("seed", range(5))
def test_categories_that_no_set_tells_apart_are_one_group(seed):
    random = np.random.default_rng(seed)
    groups = random.integers(6, size=80)
    sets = [np.flatnonzero(np.isin(groups, np.flatnonzero(random.random(6) < 0.5))).tolist() for _ in range(5)]
    group, count = categories_alike(sets, 80)
    patterns = [tuple(code in one for one in sets) for code in range(80)]
    assert count == len(set(patterns))
    assert len({(pattern, number) for pattern, number in zip(patterns, group.tolist(), strict=True)}) == count
    first = [group.tolist().index(number) for number in range(count)]
    assert first == sorted(first)


def test_a_bit_that_is_missing_from_a_set_in_c_is_found_out():
    case = case_of("c", TELLING)
    source = case.files["model.c"].decode()
    head, _, rest = source.partition("model_sets_1[")
    table, end, others = rest.partition("};")
    words = re.findall(r"\d+", table.partition("{")[2])
    for place, word in enumerate(words):
        changed = [str(int(text) ^ 1) if number == place else text for number, text in enumerate(words)]
        size = table.partition("{")[0]
        files = {**case.files, "model.c": f"{head}model_sets_1[{size}{{\n{','.join(changed)}\n{end}{others}".encode()}
        with pytest.raises(WrongExportError):
            prove(case.target, files, case.plan)
        assert word != changed[place]
