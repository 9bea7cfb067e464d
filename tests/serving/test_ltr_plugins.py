"""Models for the learning-to-rank plugins of Elasticsearch and OpenSearch, and the traps of their formats."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
import xgboost

import rankinite as rk
from oracles.ltr_plugins import check_node, plugin_scores, rescored
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.blend import Blend
from rankinite.models.forest import Forest
from rankinite.serving.exporting import plan_for
from rankinite.serving.float32 import above32, floor32
from rankinite.serving.served_scores import check_served
from rankinite.serving.target import target_named
from rankinite.serving.targets import ltr_plugin
from rankinite.trees.structure import join, no_trees
from refusals import refused
from serving.engine_stand_in import engine_that_answers, fill_in, run_check, run_upload
from serving.every_kind import linear_of, net_of, stumps
from serving.parity import case_of, differing
from serving.random_rankers import forest_of

PLUGINS = ("es-ltr", "opensearch-ltr")
plugins = pytest.mark.parametrize("to", PLUGINS)
THRESHOLDS = (0.1, 1 / 3, 0.0, -0.0, -2.7, 1e-40, 5e-324, -1e-300, 16777217.0, 3.5, 1e38, float(np.float32(0.3)))


def definition(case):
    return json.loads(case.files["model.json"])["model"]["model"]["definition"]


def nodes(tree):
    yield tree
    for child in tree.get("children", ()):
        yield from nodes(child)


# ---- the strict format ------------------------------------------------------------------------------------------------


def test_nodes_have_the_keys_of_xgboosts_own_dump_and_no_others():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    peer = xgboost.train({"max_depth": 3}, xgboost.DMatrix(rows, rows[:, 0] > 0.3, feature_names=["f0", "f1", "f2"]), 3)
    dump = [json.loads(tree) for tree in peer.get_dump(dump_format="json")]
    ours = [node for tree in definition(case_of("es-ltr", random_forest(3), served_missing="nan")) for node in nodes(tree)]
    theirs = [node for tree in dump for node in nodes(tree)]
    assert {tuple(node) for node in ours} == {tuple(node) for node in theirs}
    with_gain = json.loads(peer.get_dump(dump_format="json", with_stats=True)[0])
    with pytest.raises(AssertionError, match="gain"):
        check_node(with_gain, {"f0", "f1", "f2"})


@plugins
def test_every_split_says_where_a_missing_value_goes(to):
    forest = forest_of(5)
    case = case_of(to, forest, served_missing="nan")
    splits = [node for tree in definition(case) for node in nodes(tree) if "leaf" not in node]
    assert len(splits) == int((forest.trees.feature >= 0).sum())
    assert all(node["missing"] in {node["yes"], node["no"]} for node in splits)
    assert len({node["missing"] == node["yes"] for node in splits}) == 2


@plugins
def test_children_are_in_the_order_of_yes_and_no_even_where_the_right_child_comes_first(to):
    forest = forest_of(5)
    inner = forest.trees.feature >= 0
    assert (forest.trees.left > forest.trees.right)[inner].any()
    for tree in definition(case_of(to, forest, served_missing="nan")):
        for node in nodes(tree):
            assert [child["nodeid"] for child in node.get("children", ())] == [node[k] for k in ("yes", "no") if k in node]


@plugins
def test_the_start_is_in_the_first_tree_since_nothing_reads_a_base_score(to):
    forest = stumps([0.5], [True], [(1.25, 2.5)], start=0.1)
    case = case_of(to, forest, served_missing="nan")
    assert b"base_score" not in case.files["model.json"]
    assert [node["leaf"] for node in nodes(definition(case)[0]) if "leaf" in node] == pytest.approx([1.35, 2.6])
    case.matrix = np.asarray([[0.5], [0.6]], np.float32)
    assert case.twin().tolist() == [np.float32(0.1 + 1.25), np.float32(0.1 + 2.5)]
    assert differing([case], to) == []


@plugins
def test_the_text_has_this_form(to):
    forest = stumps([0.5], [True], [(1.25, 2.5)], names=("bm25",))
    assert case_of(to, forest, served_missing="nan").files["model.json"].decode() == (
        '{"model": {"name": "model", "model": {"type": "model/xgboost+json", "definition": [\n'
        '{"nodeid": 0, "depth": 0, "split": "bm25", "split_condition": 0.50000006, "yes": 1, "no": 2, "missing": 1, '
        '"children": [{"nodeid": 1, "leaf": 1.25}, {"nodeid": 2, "leaf": 2.5}]}\n]}}}\n'
    )


# ---- thresholds -------------------------------------------------------------------------------------------------------


@plugins
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_values_on_a_threshold_and_one_float32_beside_it_go_where_the_forest_sends_them(to, threshold):
    case = case_of(to, stumps([threshold], [True], [(1.0, 2.0)]), served_missing="nan", shift="none")
    low, high = floor32(threshold), above32(threshold)
    values = [low, high, np.nextafter(low, np.float32(-np.inf)), np.nextafter(high, np.float32(np.inf))]
    case.matrix = np.asarray(values, np.float32)[:, None]
    expected = [1.0 if float(value) <= threshold else 2.0 for value in values]
    assert expected == [1.0, 2.0, 1.0, 2.0]
    assert case.twin().tolist() == expected
    assert differing([case], to) == []


@plugins
@pytest.mark.parametrize("missing_left", [True, False])
@pytest.mark.parametrize("threshold", [np.inf, 3.5e38, 1e300, -3.5e38, -np.inf])
def test_thresholds_beyond_float32_separate_nothing_but_missing_values(to, threshold, missing_left):
    case = case_of(to, stumps([threshold], [missing_left], [(1.0, 2.0)]), served_missing="nan")
    largest = np.finfo(np.float32).max
    case.matrix = np.asarray([-largest, -1.0, 0.0, largest, np.nan], np.float32)[:, None]
    numbers = 1.0 if threshold > 0 else 2.0
    assert case.twin().tolist() == [numbers] * 4 + [1.0 if missing_left else 2.0]
    assert differing([case], to) == []


@plugins
def test_a_forest_trained_on_missing_values_is_served_alike(to):
    data = rk.synthesise(30, world=rk.World(features=4, documents=10))
    random = np.random.default_rng(1)
    features = np.where(random.random(data.features.shape) < 0.3, np.float32(np.nan), data.features)
    grades = np.where(np.isnan(features[:, 0]), 2.0, (features[:, 1] > 0.0).astype(float))
    data = replace(data, features=features, grades=grades)
    forest = rk.LambdaMART.plain(trees=8, leaves=6, min_rows=3).fit(data)
    assert np.isinf(forest.trees.threshold).any()  # missing or not is a split of its own
    case = case_of(to, forest)
    assert case.plan.missing == "nan"
    case.matrix = features[:, [int(name) - 1 for name in case.plan.names]]
    np.testing.assert_allclose(case.twin() - case.plan.shift, forest.score(data), atol=1e-5)
    assert differing([case], to) == []


def test_decimals_are_read_back_as_the_same_float32_by_way_of_float64_too():
    random = np.random.default_rng(3)
    bits = random.integers(0, 0x7F000000, 1500).astype(np.uint32).view(np.float32).astype(np.float64)
    case = case_of(
        "es-ltr", stumps(bits, np.ones(len(bits), bool), np.column_stack((bits, -bits))), served_missing="nan", shift="none"
    )
    for tree, number in zip(definition(case), bits, strict=True):
        assert np.float32(tree["split_condition"]) == np.nextafter(np.float32(number), np.float32(np.inf))
        assert [np.float32(child["leaf"]) for child in tree["children"]] == [np.float32(number), -np.float32(number)]


# ---- degenerate forests, negative scores ------------------------------------------------------------------------------


@plugins
@pytest.mark.parametrize("trees", [0, 1, 3])
def test_forests_without_splits_give_every_document_the_same_score(to, trees):
    leaves = join([random_forest(seed, trees=1, features=0).trees for seed in range(trees)]) if trees else no_trees()
    forest = Forest(leaves, ("a", "b"), start=np.asarray([0.75]))
    case = case_of(to, forest, shift="none")
    assert case.plan.names == ()
    assert len(definition(case)) == max(trees, 1)
    expected = np.float32(0)
    for number in range(max(trees, 1)):
        value = leaves.value[number] if trees else 0.0
        expected += np.float32(value + 0.75 if number == 0 else value)
    assert (case.twin() == expected).all()
    assert differing([case], to) == []
    assert any("no feature" in note for note in case.target.notes(case.plan, case.files))


DRIFT, LEAVES = 1649.8 * 2.0**-14, 6000
"""A leaf that float32 rounds down in sums from 256 to 1024, again and again."""


@pytest.mark.parametrize("to", ["es-ltr", "elastic"])
def test_no_score_is_below_0_even_where_every_addition_rounds_down(to):
    one = random_forest(0, trees=1, features=0).trees
    trees = replace(join([one] * LEAVES), value=np.full(LEAVES, -DRIFT))
    start = LEAVES * DRIFT - (700.0 - 1e-6) / 1.00001  # so that the lowest score is just above −700
    case = case_of(to, Forest(trees, ("a",), start=np.asarray([start])), rows=2)
    assert 700.0 <= case.plan.shift <= 702.0
    assert (case.twin() >= 0.0).all()
    assert differing([case], to) == []


@pytest.mark.parametrize("to", [*PLUGINS, "elastic"])
@pytest.mark.parametrize("seed", range(15))
def test_no_score_is_below_0_after_a_shift(to, seed):
    case = case_of(to, forest_of(seed), seed, rows=100)
    assert (case.twin() >= 0.0).all()


@plugins
def test_scores_below_0_that_were_asked_for_are_noted(to):
    for shift, noted in (("none", True), (None, False)):
        case = case_of(to, stumps([0.5], [True], [(-1.0, 2.0)]), served_missing="nan", shift=shift)
        notes = case.target.notes(case.plan, case.files)
        assert any("as low as -1" in note for note in notes) is noted


# ---- linear rankers ---------------------------------------------------------------------------------------------------


@plugins
@pytest.mark.parametrize(
    "ranker",
    [
        linear_of(3),
        linear_of(4, ("f2", "f0"), "refuse"),
        rk.Feature("f1"),
        rk.Feature("f1", ascending=True),
        0.5 * linear_of(5) + 2.0 * rk.Feature("f1") + -1.0 * linear_of(6, ("f1", "f3")),
    ],
    ids=["mean", "refuse", "feature", "ascending", "blend"],
)
def test_linear_rankers_are_served_with_their_constant(to, ranker):
    case = case_of(to, ranker, served_missing="zero", shift="2.5")
    body = json.loads(case.files["model.json"])["model"]["model"]
    assert body["type"] == "model/ranklib"
    assert body["definition"].startswith("## Linear Regression\n")
    assert differing([case], to) == []
    rows = np.random.default_rng(2).normal(size=(50, len(case.plan.names))).astype(np.float32)
    own = ranker.score(pa.table(dict(zip(case.plan.names, rows.T, strict=True))))
    served = case.target.twin(case.files, case.plan)(rows)
    assert served.dtype == np.float32
    np.testing.assert_allclose(served, own + 2.5, rtol=1e-6, atol=1e-6)
    assert any("no lowest score" in note for note in case.target.notes(case.plan, case.files))


@plugins
def test_a_linear_ranker_that_takes_means_is_asked_about_missing_values(to):
    for ranker in (linear_of(3), rk.Feature("f1")):
        with refused(ArgumentError, setting="served_missing", value="nan"):
            case_of(to, ranker, served_missing="nan")
    with refused(ArgumentError, setting="served_missing", value="nan"):
        case_of(to, linear_of(3))
    assert case_of(to, linear_of(3, nan="refuse")).plan.missing == "zero"
    around_zero = rk.Linear(("f0", "f1"), np.asarray([1.0, 2.0]), 0.5, np.asarray([0.0, 0.0]), "mean")
    case = case_of(to, around_zero)
    assert case.plan.missing == "nan"
    assert differing([case], to) == []


# ---- refusals ---------------------------------------------------------------------------------------------------------


@plugins
@pytest.mark.parametrize("name", ["bm25(title)", 'é<"&>\\', "特徴", "a b", "1"])
def test_other_names_are_kept(to, name):
    case = case_of(to, stumps([0.5], [True], names=(name,)), served_missing="nan")
    assert definition(case)[0]["split"] == name
    assert differing([case], to) == []


@plugins
@pytest.mark.parametrize("name", ["", "_x", "a b", "a/b", "é", "n" * 201, "../up"])
def test_names_of_models_that_are_no_part_of_an_address_are_refused(to, name, tmp_path):
    with refused(ArgumentError, setting="name", value=name):
        rk.export(stumps([0.5], [True]), tmp_path / "out", to=to, name=name, served_missing="nan")


@plugins
def test_more_features_than_a_set_can_have_are_refused(to):
    count = 10_001
    names = tuple(f"f{number}" for number in range(count))
    many = rk.Linear(names, np.ones(count))
    with refused(ArgumentError, value=count):
        case_of(to, many)
    plan = plan_for(rk.Linear(names[1:], np.ones(count - 1)), target_named(to), name="model")
    assert len(plan.names) == 10_000


@plugins
@pytest.mark.parametrize(
    "ranker",
    [net_of(1), random_forest(1) + net_of(1), random_forest(1) + linear_of(2), random_forest(1, grades=(0.0, 1.0))],
    ids=["net", "forest and net", "forest and linear", "grades"],
)
def test_what_is_neither_trees_nor_linear_is_refused(to, ranker):
    with refused(ArgumentError) as caught:
        case_of(to, ranker)
    assert "distil" in caught.value.remedy


@plugins
def test_leaves_beyond_float32_are_refused(to):
    with refused(ArgumentError, value=1e39):
        case_of(to, stumps([0.5], [True], [(1e39, 0.0)]))


@plugins
def test_trees_that_are_nested_too_deeply_are_refused(to):
    for levels in (400, 401):
        chain = stumps([0.5], [True]).trees
        count = 2 * levels + 1
        inner = np.arange(count) % 2 == 0
        inner[-1] = False
        trees = replace(
            chain,
            **{name: np.zeros(count) for name in ("threshold", "curvature", "gain", "rows")},
            feature=np.where(inner, 0, -1),
            missing_left=np.zeros(count, bool),
            left=np.where(inner, np.arange(count) + 1, 0),
            right=np.where(inner, np.arange(count) + 2, 0),
            value=np.arange(count) / 7,
            offsets=np.asarray([0, count]),
        )
        forest = Forest(trees, ("a",))
        if levels == 400:
            assert differing([case_of(to, forest, rows=3)], to) == []
        else:
            with refused(ArgumentError, value=401):
                case_of(to, forest)


@plugins
@pytest.mark.parametrize("query", ["title", 3, None, ["match"], {}, {"template": {}, "weight": 2}])
def test_a_feature_query_that_is_no_object_is_refused(to, query):
    with refused(ArgumentError, setting="feature_queries", value=query):
        case_of(to, stumps([0.5], [True]), feature_queries={"a": query}, served_missing="nan")


# ---- what is beside the model -----------------------------------------------------------------------------------------

QUERIES = {
    "bm25": {"match": {"title": "{{keywords}}"}},
    "age": {"function_score": {"query": {"match_all": {}}, "field_value_factor": {"field": "age", "missing": 0}}},
    "near": {"template": '{"term": {"city": "{{user.city}}"}}', "params": ["user"], "template_language": "mustache"},
}


def shop(tmp_path, to, **choices):
    forest = random_forest(3, features=4).renamed(["bm25", "age", "near", "clicks"])
    made = rk.export(forest, tmp_path / "shop", to=to, served_missing="nan", **choices)
    return tmp_path / "shop", made


@plugins
def test_the_feature_set_has_the_queries_given_and_placeholders_for_the_rest(to, tmp_path):
    folder, made = shop(tmp_path, to, feature_queries=QUERIES)
    written = json.loads((folder / "feature-set.json").read_text())["featureset"]
    features = {feature["name"]: feature for feature in written["features"]}
    assert list(features) == ["bm25", "age", "near", "clicks"]
    assert features["bm25"] == {
        "params": ["keywords"],
        "template_language": "mustache",
        "template": QUERIES["bm25"],
        "name": "bm25",
    }
    assert features["age"]["params"] == []
    assert features["near"]["template"] == QUERIES["near"]["template"]
    assert features["near"]["params"] == ["user"]
    assert "FIELD_OF_clicks" in json.dumps(features["clicks"])
    assert [note for note in made.notes if "placeholders for the queries of 1 of 4 features" in note]
    rescore = json.loads((folder / "rescore.json").read_text())["rescore"]["query"]
    assert rescore["rescore_query"]["sltr"]["model"] == "shop"
    assert set(rescore["rescore_query"]["sltr"]["params"]) == {"keywords", "user"}
    assert written_validation(folder) == {
        "params": {"keywords": "VALUE_OF_keywords", "user": "VALUE_OF_user"},
        "index": "VALUE_OF_index",
    }


def written_validation(folder):
    return json.loads((folder / "feature-set.json").read_text())["validation"]


@plugins
def test_the_model_alone_ranks_the_window_and_the_first_query_what_lies_beyond(to, tmp_path):
    folder, _ = shop(tmp_path, to)
    query = json.loads((folder / "rescore.json").read_text())["rescore"]
    random = np.random.default_rng(3)
    first = np.concatenate((random.gamma(2.0, 10.0, 250), [1e-4, 3e7])).astype(np.float32)
    model = random.choice([0.0, 1e-6, 0.5, 12.25, 1e6], len(first)).astype(np.float32)
    scores = rescored(first, model, query)
    best = np.argsort(-first, kind="stable")
    inside, beyond = best[: query["window_size"]], best[query["window_size"] :]
    np.testing.assert_array_equal(scores[inside][model[inside] > 0.0], model[inside][model[inside] > 0.0])
    assert (np.diff(scores[beyond]) < 0.0).all()  # they were different before
    assert scores[inside].min() > scores[beyond].max()


@plugins
def test_a_query_for_what_is_no_feature_is_refused(to, tmp_path):
    queries = {**QUERIES, "tittle": {"match_all": {}}}
    with refused(ArgumentError, setting="feature_queries", value="tittle") as caught:
        shop(tmp_path, to, feature_queries=queries)
    assert "'clicks'" in caught.value.rule
    forest = replace(stumps([0.5], [True]), feature_names=("a", "unused"))
    rk.export(forest, tmp_path / "few", to=to, feature_queries={name: {"match_all": {}} for name in ("a", "unused")})


@plugins
def test_features_that_nothing_uses_are_left_out(to, tmp_path):
    forest = replace(stumps([0.5], [True]), feature_names=("a", "b", "c"))
    rk.export(forest, tmp_path / "shop", to=to, served_missing="nan")
    written = json.loads((tmp_path / "shop" / "feature-set.json").read_text())["featureset"]
    assert [feature["name"] for feature in written["features"]] == ["a"]


@plugins
def test_the_upload_script_refuses_placeholders_and_names_them(to, tmp_path):
    folder, _ = shop(tmp_path, to, feature_queries=QUERIES)
    file = folder / "feature-set.json"
    for placeholder in ("FIELD_OF_clicks", "VALUE_OF_keywords", "VALUE_OF_user", "VALUE_OF_index"):
        text = file.read_text()
        done, asked = run_upload(folder)
        assert (done.returncode, asked) == (1, [])
        assert placeholder in done.stderr
        file.write_text(json.dumps(json.loads(text.replace(placeholder, "x"))))  # an editor may put all into one line
    assert run_upload(folder)[0].returncode == 0


@plugins
def test_a_placeholder_with_quotes_in_its_name_is_seen(to, tmp_path):
    rk.export(stumps([0.5], [True], names=('12" \\ LP',)), tmp_path / "shop", to=to, served_missing="nan")
    file = tmp_path / "shop" / "feature-set.json"
    file.write_text(file.read_text().replace("VALUE_OF_keywords", "x").replace("VALUE_OF_index", "y"))
    done, asked = run_upload(tmp_path / "shop")
    assert (done.returncode, asked) == (1, [])
    assert "FIELD_OF_12" in done.stderr


@plugins
def test_what_only_looks_like_a_placeholder_is_uploaded(to, tmp_path):
    forest = stumps([0.5], [True], names=("FIELD_OF_gold",))
    query = {"match": {"title": "VALUE_OF_money"}}
    rk.export(forest, tmp_path / "shop", to=to, served_missing="nan", feature_queries={"FIELD_OF_gold": query})
    file = tmp_path / "shop" / "feature-set.json"
    file.write_text(file.read_text().replace("VALUE_OF_keywords", "x").replace("VALUE_OF_index", "y"))
    assert run_upload(tmp_path / "shop")[0].returncode == 0


@plugins
def test_the_upload_script_makes_store_feature_set_and_model(to, tmp_path):
    folder, _ = shop(tmp_path, to)
    fill_in(folder / "feature-set.json")
    done, asked = run_upload(folder)
    assert done.returncode == 0, done.stderr
    requests = [line.split("application/json ")[-1] for line in asked if "--head " not in line]
    assert requests == [
        "http://engine:1/_ltr",
        "--request PUT http://engine:1/_ltr",
        "--request PUT --data-binary @feature-set.json http://engine:1/_ltr/_featureset/shop",
        "--request POST --data-binary @model.json http://engine:1/_ltr/_featureset/shop/_createmodel",
    ]
    assert all("--fail-with-body" in line for line in asked if "--head " not in line)
    _, again = run_upload(folder, present="_featureset/shop")
    assert any("--request POST --data-binary @feature-set.json" in line for line in again)


@plugins
@pytest.mark.parametrize("failing", ["/_ltr", "@feature-set.json", "_createmodel"])
def test_the_upload_script_ends_with_an_error_where_the_engine_does(to, failing, tmp_path):
    folder, _ = shop(tmp_path, to)
    fill_in(folder / "feature-set.json")
    done, asked = run_upload(folder, failing=failing)
    assert done.returncode != 0
    assert failing in asked[-1]


@plugins
def test_the_upload_script_does_not_touch_a_model_that_is_there(to, tmp_path):
    folder, _ = shop(tmp_path, to)
    fill_in(folder / "feature-set.json")
    done, asked = run_upload(folder, present="_model/shop")
    assert done.returncode == 1
    assert "--name" in done.stderr
    assert not [line for line in asked if "@" in line]


def test_logged_features_and_scores_are_compared_with_the_model(tmp_path):
    folder, _ = shop(tmp_path, "es-ltr")
    names = ("bm25", "age", "near", "clicks")
    rows = np.random.default_rng(5).normal(size=(12, 4)).astype(np.float32).round(1)
    rows[::3, 1] = np.nan
    files = {name: (folder / name).read_bytes() for name in ("model.json", "feature-set.json")}
    scores = plugin_scores(files["model.json"], files["feature-set.json"], names, rows, "direction")

    def answer(path, body):
        assert path == "/products/_search"
        assert body["ext"]["ltr_log"]["log_specs"]["rescore_index"] == 0
        return [
            {
                "_score": float(str(score)),
                "fields": {"_ltrlog": [{"features": [_logged(*entry) for entry in zip(names, row, strict=True)]}]},
            }
            for row, score in zip(rows, scores, strict=True)
        ]

    with engine_that_answers(answer) as address:
        run_check(folder, address)
    served = np.loadtxt(folder / "served.txt")
    found = check_served(folder, served, rk.read(folder / "logged.csv", unjudged="keep"))
    assert found.as_expected
    assert found.equal == 12
    wrong = check_served(folder, served[::-1], rk.read(folder / "logged.csv", unjudged="keep"))
    assert not wrong.as_expected


def _logged(name, value):
    return {"name": name} if np.isnan(value) else {"name": name, "value": float(str(value))}


# ---- sizes ------------------------------------------------------------------------------------------------------------


@plugins
def test_the_size_is_noted_against_the_cache_of_models(to, monkeypatch):
    case = case_of(to, forest_of(5), served_missing="nan")
    notes = partial(case.target.notes, case.plan, case.files)
    size = 40 * len(case.plan.trees_with_start.feature)
    assert [note for note in notes() if f"takes {size / 2**10:.1f} kB of the plugin's cache" in note]
    monkeypatch.setattr(ltr_plugin, "CACHE_BYTES", size - 1)
    assert [note for note in notes() if "ltr.caches.max_mem to 2mb" in note]
    monkeypatch.setattr(ltr_plugin, "REQUEST_BYTES", len(case.files["model.json"]) - 1)
    assert [note for note in notes() if "http.max_content_length" in note]


@plugins
def test_a_blend_of_forests_is_one_model(to):
    blend = Blend(((0.5, forest_of(4)), (2.0, forest_of(5)), (0.25, forest_of(4))))
    case = case_of(to, blend, served_missing="nan")
    assert len(definition(case)) == len(forest_of(4)) + len(forest_of(5))
    assert differing([case], to) == []
