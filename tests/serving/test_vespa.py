"""Rank profiles of Vespa, and the traps of ranking expressions."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles import vespa
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.forest import Forest
from rankinite.models.net import Net
from rankinite.serving.proof import own_scores
from rankinite.serving.served_scores import check_served
from rankinite.trees.structure import LEAF
from refusals import refused
from serving.every_kind import linear_of, net_of, one_by_one, stumps
from serving.parity import case_of, differing, random_case
from serving.recording_server import recording_server, run_script

FOREST = random_forest(2, trees=6)


def profile_of(case):
    return case.files["model.profile"].decode()


def functions_of(case):
    return {name: vespa.expression_of(block) for name, block in vespa.blocks(profile_of(case), "function").items()}


def served(case, rows):
    return vespa.scores_of(profile_of(case), case.files["features.json"], case.plan.names, rows)


def inputs_of(case, row):
    """The values of the functions of a row's features."""
    function_of = {entry["name"]: entry["function"] for entry in json.loads(case.files["features.json"])}
    return {function_of[name]: float(value) for name, value in zip(case.plan.names, row, strict=True)}


@pytest.mark.parametrize("threshold", [0.5, 0.1, 1 / 3, -0.3, 0.0, -0.0, 1e-40, 16777217.0, 1e300, -1e300])
@pytest.mark.parametrize("left", [True, False])
def test_a_value_on_a_threshold_goes_left_in_float64_and_in_float32(threshold, left):
    case = case_of("vespa", stumps((threshold,), (left,)))
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    values = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf)), 0.0, np.nan]
    rows = np.asarray([[value] for value in values if np.isnan(value) or np.isfinite(value)], np.float32)
    own = case.plan.ranker.score(rows)
    np.testing.assert_array_equal(served(case, rows), own)
    [text] = [text for name, text in functions_of(case).items() if name == "model_forest"]
    compiled = [vespa.compiled_forest(text.strip(), inputs_of(case, row)) for row in rows]
    np.testing.assert_array_equal(compiled, own)


def test_the_threshold_itself_would_send_its_own_value_right():
    case = case_of("vespa", stumps((0.5,), (False,)))
    naive = re.sub(r"< 0\.5\d*", "< 0.5", profile_of(case))
    assert naive != profile_of(case)
    found = vespa.scores_of(naive, case.files["features.json"], ("a",), [[0.5]])
    assert found != case.plan.ranker.score([[0.5]])


def test_small_and_large_forests_have_the_same_scores():
    """Vespa keeps the numbers of large forests as float32, and adds them in another order."""
    for seed in range(8):
        case = random_case("vespa", seed)
        if not case.plan.names:
            continue
        text = functions_of(case)["model_forest"].strip()
        compiled = [vespa.compiled_forest(text, inputs_of(case, row)) for row in case.matrix]
        np.testing.assert_allclose(compiled, served(case, case.matrix), rtol=1e-12, atol=1e-12)


def test_every_forest_is_a_bare_sum_of_trees():
    constant = Forest(FOREST.trees.take(0, 0), FOREST.feature_names, start=np.asarray([0.7]))
    for ranker in (FOREST, replace(FOREST, start=np.asarray([2.5])), 0.5 * FOREST + 2.0 * linear_of(1) + constant):
        case = case_of("vespa", ranker, served_missing="nan")
        text = functions_of(case)["model_forest"].strip()
        assert vespa.compiled_forest(text, dict.fromkeys(re.findall(r"feature_\w+", text), 0.0)) is not None
        assert not re.search(r"(^|\+\n)-?[0-9]", text)  # no constants among the trees


def test_leaves_are_float32():
    case = case_of("vespa", FOREST)
    numbers = re.findall(r"(?<=[, ])-?[0-9][0-9.e+-]*", functions_of(case)["model_forest"])
    assert numbers
    assert all(float(np.float32(number)) == float(number) for number in numbers)
    leaves = FOREST.trees.value[FOREST.trees.feature == LEAF]
    assert not all(float(np.float32(value)) == value for value in leaves)


@pytest.mark.parametrize("missing", ["nan", "zero"])
def test_missing_values_go_where_they_should(missing):
    trees = replace(FOREST.trees, missing_left=np.arange(len(FOREST.trees.feature)) % 2 == 0)
    ranker = replace(FOREST, trees=trees)
    case = case_of("vespa", ranker, served_missing=missing)
    rows = np.asarray([[np.nan, np.nan, np.nan], [0.3, np.nan, -1.0], [np.nan, 0.1, np.nan]], np.float32)
    np.testing.assert_allclose(served(case, rows), ranker.score(rows if missing == "nan" else np.nan_to_num(rows)), rtol=1e-6)


@pytest.mark.parametrize("missing", ["nan", "zero"])
@pytest.mark.parametrize("name", one_by_one(1))
def test_all_kinds_have_their_own_scores_up_to_float32_in_leaves(name, missing):
    ranker = one_by_one(1)[name]
    if missing == "nan" and "refuses" in name:
        with refused(ArgumentError, setting="served_missing", value="nan"):
            case_of("vespa", ranker, served_missing=missing)
        return
    case = case_of("vespa", ranker, served_missing=missing, rows=30)
    assert differing([case], "vespa") == []
    found, own = served(case, case.matrix), own_scores(case.plan, case.matrix)
    if case.plan.flat.left_out:  # other scores in the same order
        found, own = (np.unique(scores, return_inverse=True)[1] for scores in (found, own))
    np.testing.assert_allclose(found, own, rtol=1e-5, atol=1e-5)


def test_missing_values_in_sums_inside_others_count_as_0():
    """Trees inside a probability, or under a net, were once left with their directions."""
    ranker = one_by_one(1)["blend of normalised"]
    case = case_of("vespa", ranker, served_missing="zero")
    rows = np.full((1, len(case.plan.names)), np.nan, np.float32)
    np.testing.assert_allclose(served(case, rows), served(case, np.zeros_like(rows)), rtol=1e-12)


# ---- features ---------------------------------------------------------------------------------------------------------


def test_features_are_functions_over_rank_features():
    names = ("bm25(title)", "price", "a b", "a_b", "nativeRank", "fieldMatch(title).completeness")
    ranker = random_forest(4, trees=20, features=6).renamed(names)
    case = case_of("vespa", ranker, feature_queries={"price": "log(attribute(price) + 1)"})
    entries = {entry["name"]: entry for entry in json.loads(case.files["features.json"])}
    assert {name: entry["expression"] for name, entry in entries.items()} == {
        "bm25(title)": "bm25(title)",
        "price": "log(attribute(price) + 1)",
        "a b": "attribute(a_b)",
        "a_b": "attribute(a_b)",
        "nativeRank": "nativeRank",
        "fieldMatch(title).completeness": "fieldMatch(title).completeness",
    }
    functions = functions_of(case)
    for entry in entries.values():
        assert functions[entry["function"]].strip() == entry["expression"]
    assert len({entry["function"] for entry in entries.values()}) == 6
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in functions)
    assert any("2 of 6 features" in note for note in case.target.notes(case.plan, case.files))
    assert differing([case], "vespa") == []


def test_the_form_of_a_profile():
    text = profile_of(case_of("vespa", stumps((0.25,), (True,), [(1.0, -2.0)])))
    assert text.splitlines()[1:] == [
        "rank-profile model {",
        "    function feature_a() {  # a",
        "        expression {",
        "attribute(a)",
        "        }",
        "    }",
        "    function model_forest() {",
        "        expression {",
        "if(!(feature_a >= 0.2500000298023224), 1.0, -2.0)",
        "        }",
        "    }",
        "    first-phase {",
        "        expression: nativeRank",
        "    }",
        "    second-phase {",
        "        rerank-count: 100",
        "        expression {",
        "model_forest",
        "        }",
        "    }",
        "    match-features {",
        "        feature_a",
        "    }",
        "}",
    ]


def test_what_cannot_be_written():
    for query in (3, "", "a { b", "a\nb", {"q": "x"}):
        with refused(ArgumentError, setting="feature_queries", value=query):
            case_of("vespa", FOREST, feature_queries={"f0": query})
    with refused(ArgumentError, value=1e39):
        case_of("vespa", stumps((0.5,), (True,), [(1.0, 1e39)]))
    with refused(ArgumentError, value=20_400 + 201):
        case_of("vespa", Net(tuple(map(str, range(101))), (200,), np.ones(20_601), np.zeros(101), np.ones(101)))
    with refused(ArgumentError, setting="engine_version", value="8.1"):
        case_of("vespa", FOREST, version="8.1")


def test_trees_too_deep_for_a_recursive_parser(tmp_path):
    chain = random_forest(1, trees=1).trees
    levels = 101
    nodes = 2 * levels + 1
    inner = np.arange(nodes) % 2 == 0
    inner[-1] = False
    trees = replace(
        chain,
        feature=np.where(inner, 0, LEAF),
        threshold=np.where(inner, np.arange(nodes) / 10.0, 0.0),
        missing_left=inner & False,
        left=np.where(inner, np.arange(nodes) + 1, 0),
        right=np.where(inner, np.arange(nodes) + 2, 0),
        **{name: np.ones(nodes) for name in ("value", "rows", "curvature", "gain")},
        offsets=np.asarray([0, nodes]),
    )
    with refused(ArgumentError, value=levels):
        case_of("vespa", Forest(trees, ("a",)))
    for name in ("my-model", "a b", "1st", ""):
        with refused(ArgumentError, setting="name", value=name):
            rk.export(FOREST, tmp_path / "model", to="vespa", name=name)


# ---- scripts ----------------------------------------------------------------------------------------------------------


def test_the_script_deploys_an_application_with_the_profile(tmp_path):
    rk.export(FOREST, tmp_path / "shop", to="vespa")
    application = tmp_path / "application"
    (application / "schemas").mkdir(parents=True)
    (application / "services.xml").write_text("<services/>")
    settings = {"APPLICATION": str(application), "SCHEMA": "product"}
    with recording_server(lambda *_: (200, {})) as (address, asked):
        code, said = run_script(tmp_path / "shop", "upload.sh", ENGINE=address, WITH_CHECK="1", **settings)
        assert code == 0, said
    [(method, path, body)] = asked
    assert (method, path) == ("POST", "/application/v2/tenant/default/prepareandactivate")
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(body))) as package:
        names = {name.removeprefix("./") for name in package.getnames()}
    assert {"services.xml", "schemas/product/shop.profile", "schemas/product/shop_check.profile"} <= names
    with recording_server(lambda *_: (400, {"message": "no such attribute"})) as (address, _):
        code, said = run_script(tmp_path / "shop", "upload.sh", ENGINE=address, **settings)
    assert code != 0
    assert "no such attribute" in said


def test_the_check_gives_features_with_the_query(tmp_path):
    folder = tmp_path / "shop"
    rk.export(1.5 * FOREST + net_of(1), folder, to="vespa", served_missing="nan")
    profile, features = (folder / "shop.profile").read_text(), (folder / "features.json").read_bytes()
    checking = (folder / "shop_check.profile").read_text()
    assert "rank-profile shop_check inherits shop {" in checking
    inputs = {name: vespa.expression_of(block).strip() for name, block in vespa.blocks(checking, "function").items()}
    names = [entry["name"] for entry in json.loads(features)]

    def answer(_method, path, body):
        asked = json.loads(body)
        assert (path, asked["ranking.profile"]) == ("/search/", "shop_check")
        given = {name.removeprefix("input."): value for name, value in asked.items() if name.startswith("input.")}
        row = []
        for entry in json.loads(features):
            absent, number = re.search(
                r"if\((query\(absent\d+\)) == 1, .*, (query\(x\d+\))\)", inputs[entry["function"]]
            ).groups()
            row.append(np.nan if given.get(absent, 0) == 1 else given[number])
        return 200, {"root": {"children": [{"relevance": vespa.scores_of(profile, features, names, [row])[0]}]}}

    with recording_server(answer) as (address, _):
        code, said = run_script(folder, "check.py", ENGINE=address)
        assert code == 0, said
    found = check_served(folder, np.loadtxt(folder / "served.txt"))
    assert found.as_expected
    assert found.rows == 20
