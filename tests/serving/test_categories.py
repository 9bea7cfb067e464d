"""Exports of forests that ask for categories: the mechanism that all targets share, and who refuses them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.data.categories import Vocabulary
from rankinite.errors import ArgumentError
from rankinite.serving.adversarial_rows import adversarial_rows
from rankinite.serving.categories import bit_words, members_of, names_of_codes, with_shared_codes
from rankinite.serving.exporting import plan_for, sample_rows
from rankinite.serving.flattening import flatten
from rankinite.serving.node_table import sum_in_order, table_of
from rankinite.serving.plan import tells_missing_from_zero, zero_directions
from rankinite.serving.proof import own_scores
from rankinite.serving.reference_scores import flat_scores
from rankinite.serving.target import TARGETS, target_named
from refusals import refused
from serving.every_kind import linear_of
from serving.parity import case_of
from serving.random_rankers import category_forest_of, with_missing_left, with_sets

HOLDING = [name for name in TARGETS if target_named(name).categories]
REFUSING = [name for name in TARGETS if not target_named(name).categories]
WORDS, NUMBERS = Vocabulary(("blue", "green", "it's red")), Vocabulary(("-3", "7", "400"), numeric=True)


def forest_with(vocabularies, seed=0):
    """A forest over f0, f1 and f2, of which those named are categories."""
    forest = random_forest(seed, trees=6)
    places = {forest.feature_names.index(name): one for name, one in vocabularies.items()}
    return with_sets(forest, places, np.random.default_rng(seed))


def goes_left(trees, node, value):
    """Whether a value goes left: the rules of a node, one by one."""
    members = trees.set_of(node)
    if np.isnan(value):
        return bool(trees.missing_left[node])
    return int(value) in members if members else value <= trees.threshold[node]


@pytest.mark.parametrize("seed", range(10))
def test_tables_of_nodes_ask_for_sets_as_scoring_does(seed):
    forest = with_missing_left(category_forest_of(seed), seed)
    plan = plan_for(forest, target_named("c"), name="model")
    rows = adversarial_rows(plan.flat, plan.names, np.float64, missing=True, rows=200)
    values = table_of(plan.trees).leaf_values(plan.served(rows))
    np.testing.assert_array_equal(sum_in_order(values, forest.start[0]), own_scores(plan, rows))
    np.testing.assert_array_equal(flat_scores(plan.flat, plan.served(rows), plan.names), own_scores(plan, rows))


def test_adversarial_rows_have_codes_of_both_sides_and_none_and_missing_ones():
    forest = forest_with({"f0": WORDS})
    flat, trees = flatten(forest), forest.trees
    column = adversarial_rows(flat, flat.names, np.float32, missing=False, rows=400)[:, 0]
    assert set(column[~np.isnan(column)].tolist()) == {-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 35.0}
    assert np.isnan(column).any()
    asking = [node for node in range(len(trees.feature)) if 0 < len(trees.set_of(node)) < 3]
    assert all({goes_left(trees, node, code) for code in range(3)} == {True, False} for node in asking)


def nodes_seen(trees, rows):
    """The nodes that any row comes by."""
    seen = set()
    for row in rows:
        for root in trees.offsets[:-1].tolist():
            node = root
            while trees.feature[node] >= 0:
                seen.add(node)
                left = goes_left(trees, node, row[trees.feature[node]])
                node = root + int((trees.left if left else trees.right)[node])
    return seen


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_led_to_every_node_that_any_row_reaches(seed):
    forest = with_missing_left(forest_with({"f0": WORDS, "f1": NUMBERS, "f2": WORDS}, seed), seed)
    plan = plan_for(forest, target_named("c"), name="model")
    rows = plan.served(adversarial_rows(plan.flat, plan.names, np.float64, missing=True, rows=300))
    every = product([0.0, 1.0, 2.0, 3.0, np.nan], repeat=3)
    assert nodes_seen(forest.trees, rows) == nodes_seen(forest.trees, every)


def test_forests_of_a_blend_are_brought_into_the_codes_of_one_vocabulary():
    other = Vocabulary(("black", "green", "white"))
    first = with_missing_left(forest_with({"f0": WORDS, "f1": NUMBERS}), 0)
    second = with_missing_left(forest_with({"f0": other, "f1": NUMBERS}, 1), 1)
    blend = 0.25 * first + 0.5 * second
    coded, shared = with_shared_codes(blend)
    assert shared == {"f0": Vocabulary(("black", "blue", "green", "it's red", "white")), "f1": NUMBERS}
    plan = plan_for(blend, target_named("c"), name="model")
    rows = adversarial_rows(plan.flat, plan.names, np.float64, missing=True, rows=300)
    table = {name: names_of_codes(rows[:, column], shared[name]) for column, name in enumerate(("f0", "f1"))}
    named = pd.DataFrame({**table, "f2": rows[:, 2]})
    np.testing.assert_allclose(target_named("c").predicted(plan, rows), blend.score(named), rtol=1e-14, atol=1e-14)
    assert set(named["f0"].dropna()) == {*shared["f0"].names, "unknown"}
    assert flatten(0.5 * first + 0.5 * first).forest.categories.keys() == {"f0", "f1"}
    np.testing.assert_array_equal(coded.score(plan.served(rows)), blend.score(named))


def test_a_feature_is_a_category_in_all_parts_or_in_none():
    forest = forest_with({"f0": WORDS})
    for ranker in (forest + linear_of(1), forest + random_forest(1), 0.5 * forest + rk.Feature("f0")):
        with refused(ArgumentError, value="f0"):
            flatten(ranker)


def test_zero_stands_for_missing_numbers_but_not_for_missing_categories():
    forest = forest_with({"f0": WORDS})
    trees = forest.trees
    zero = zero_directions(forest).trees
    asks = trees.set_sizes > 0
    np.testing.assert_array_equal(zero.missing_left[asks], trees.missing_left[asks])
    numbers = ~asks & (trees.feature >= 0)
    np.testing.assert_array_equal(zero.missing_left[numbers], trees.threshold[numbers] >= 0)
    assert not tells_missing_from_zero(zero_directions(forest))
    plan = plan_for(forest, target_named("lightgbm"), name="model", served_missing="zero")
    np.testing.assert_array_equal(plan.served(np.full((1, 3), np.nan)), [[np.nan, 0.0, 0.0]])


@pytest.mark.parametrize("to", REFUSING)
def test_programs_that_know_only_numbers_refuse_and_name_those_that_do_not(to, tmp_path):
    with refused(ArgumentError, value="f0") as caught:
        rk.export(forest_with({"f0": WORDS}), tmp_path / "out", to=to)
    assert to in caught.value.problem
    assert all(name in caught.value.remedy for name in HOLDING)
    assert not (tmp_path / "out").exists()


def test_a_category_that_no_tree_asks_for_hinders_nobody(tmp_path):
    forest = replace(random_forest(1).renamed(["f0", "f1", "f2"]), feature_names=("f0", "f1", "f2"))
    unused = replace(forest, feature_names=("f0", "f1", "f2", "c"), categories={"c": WORDS})
    made = rk.export(unused, tmp_path / "out", to="solr-ltr", served_missing="nan")
    assert made.check.rows
    assert json.loads((tmp_path / "out" / "export.json").read_text())["features"] == ["f0", "f1", "f2"]


@pytest.mark.parametrize("to", HOLDING)
def test_an_export_says_what_its_codes_mean(to, tmp_path):
    vocabularies = {"f0": WORDS, "f2": NUMBERS}
    made = rk.export(forest_with(vocabularies), tmp_path / "out", to=to, served_missing="nan")
    facts = json.loads((tmp_path / "out" / "categories.json").read_text())
    assert facts["categories"] == {"f0": list(WORDS.names), "f2": list(NUMBERS.names)}
    assert ("-1" in facts["unknown"]) == (target_named(to).categories == "codes")
    assert "categories.json" in made.files
    assert any("categories.json" in note for note in made.notes)
    assert "categories.json" in (tmp_path / "out" / "model-card.md").read_text()
    scores = np.loadtxt(tmp_path / "out" / "sample-scores.txt", ndmin=1)
    assert rk.check_served(tmp_path / "out", scores).as_expected


@pytest.mark.parametrize("to", HOLDING)
def test_rows_of_a_sample_are_found_by_the_names_of_their_categories(to):
    forest = forest_with({"f0": WORDS, "f2": NUMBERS})
    plan = plan_for(forest, target_named(to), name="model", served_missing="nan")
    more = Vocabulary(("7", "8", "400"), numeric=True)
    sample = rk.Dataset(
        features=np.asarray([[0, 0.5, 2], [1, -0.5, 1], [np.nan, 0.1, np.nan], [2, 0.7, 0]], np.float32),
        grades=np.zeros(4, np.float32),
        offsets=np.asarray([0, 4]),
        qids=np.asarray(["q"]),
        feature_names=("f0", "f1", "f2"),
        categories={"f0": Vocabulary(("green", "it's red", "pink")), "f2": more},
    )
    rows = sample_rows(plan, sample)
    np.testing.assert_array_equal(rows[:, 0], [1, 2, np.nan, 3])
    np.testing.assert_array_equal(rows[:, 2], [2, 3, np.nan, 1])
    np.testing.assert_array_equal(own_scores(plan, rows), forest.score(sample))
    case = case_of(to, forest, served_missing="nan")
    np.testing.assert_allclose(case.target.twin(case.files, plan)(rows), forest.score(sample), rtol=1e-5)


def test_bits_of_sets():
    for codes in ([], [0], [31], [32], [3, 64, 65]):
        assert members_of(bit_words(codes)) == codes
        assert members_of(bit_words(codes, 100)) == codes
    assert len(bit_words([])) == 1
    assert len(bit_words([32])) == 2
    assert len(bit_words([1], 65)) == 3
