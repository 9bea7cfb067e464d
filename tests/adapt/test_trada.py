"""Trada: against an oracle, the laws at the ends of β, and grades on another scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.trada import nested, score, tune
from oracles.trada_forests import (
    BINARY,
    FORESTS,
    GAPS,
    HOLED,
    LAMBDA,
    MART,
    SETTINGS,
    SHAPE,
    SOURCE,
    TARGET,
    WORLD,
    binary,
    gradients,
    same,
    single,
)
from rankinite.adapt.methods.trada import Trada, trada
from rankinite.trees.structure import Trees, join
from refusals import refused


def by_the_book(forest, loss, target, settings) -> None:
    """Every tree is what the oracle makes of it; also for source rows, which reach nodes that no target row does."""
    adapted = Trada(**settings).adapt(forest, target)
    scores = np.full(target.rows, forest.start[0])
    for number in range(len(forest)):
        tree = nested(forest.trees.take(number, number + 1))
        tune(tree, target.features, *gradients(loss, target, scores), settings, 0.2)
        tuned = single(adapted, number)
        for data in (target, SOURCE):
            some = data.features[:60]
            assert tuned.score(some) == pytest.approx([score(tree, row) for row in some], abs=1e-9)
        scores = scores + tuned.score(target)


@pytest.mark.parametrize("loss", ["squared", "lambda"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_tree_is_tuned_by_the_book(loss, settings):
    by_the_book(FORESTS[loss], loss, TARGET, {"beta": 7.0, **settings})


@pytest.mark.parametrize("loss", ["plain lambda", "pairs"])
def test_the_loss_is_the_one_of_the_background(loss):
    by_the_book(FORESTS[loss], loss, TARGET, {"beta": 7.0, **SETTINGS[0]})


@pytest.mark.parametrize("settings", [SETTINGS[0], SETTINGS[3]], ids=str)
def test_missing_values_go_where_the_background_sends_them(settings):
    assert HOLED.trees.missing_left.any()
    by_the_book(HOLED, "squared", GAPS, {"beta": 7.0, **settings})


def test_rows_that_push_nothing_move_nothing():
    """Queries of one grade leave λ-trained leaves as they are, where no other rows come."""
    flat = replace(TARGET, grades=np.where(TARGET.query_of_row() == 0, TARGET.grades, 1.0))
    by_the_book(LAMBDA, "lambda", flat, {"beta": 7.0, **SETTINGS[0]})
    alone = TARGET.select_queries([0])
    for forest in (LAMBDA, Trada(beta=7.0).adapt(LAMBDA, flat), Trada(beta=7.0).adapt(LAMBDA, alone)):
        assert (forest.trees.feature == LAMBDA.trees.feature).all()
    quiet = Trada(beta=7.0).adapt(LAMBDA, flat).trees.take(0, 1).value == LAMBDA.trees.take(0, 1).value
    unreached = Trada(beta=7.0).adapt(LAMBDA, alone).trees.take(0, 1).value == LAMBDA.trees.take(0, 1).value
    assert (quiet == unreached).all()


@pytest.mark.parametrize("loss", FORESTS)
@pytest.mark.parametrize("settings", [one for one in SETTINGS if not one["trim"]], ids=str)
def test_beta_0_is_the_background_to_the_bit(loss, settings):
    assert same(Trada(beta=0.0, **settings).adapt(FORESTS[loss], TARGET), FORESTS[loss])
    assert same(Trada(beta=0.0, **settings).adapt(HOLED, GAPS), HOLED)


@pytest.mark.parametrize("beta", [1e15, 1e300])
def test_a_huge_beta_gives_leaves_the_targets_own_response(beta):
    adapted = Trada(beta=beta, responses="leaves").adapt(MART, TARGET)
    scores = np.full(TARGET.rows, MART.start[0])
    for number in range(len(MART)):
        tuned = single(adapted, number).score(TARGET)
        for value in np.unique(tuned):
            inside = tuned == value
            assert value == pytest.approx(0.2 * (TARGET.grades - scores)[inside].mean(), abs=1e-9)
        scores = scores + tuned


def test_a_huge_beta_puts_thresholds_at_the_targets_own_best():
    """The first tree's root then has the threshold of a target tree that may ask for the same feature alone."""
    adapted = Trada(beta=1e15, splits=True).adapt(MART, TARGET)
    name = MART.feature_names[MART.trees.feature[0]]
    stump = rk.MART(trees=1, leaves=2, min_rows=1, rate=0.2).fit(TARGET.select_features([name]))
    column = np.unique(TARGET.features[:, TARGET.feature_index(name)])
    cuts = (column > adapted.trees.threshold[0]).argmax(), (column > stump.trees.threshold[0]).argmax()
    assert cuts[0] == cuts[1] > 0


@pytest.mark.parametrize("loss", FORESTS)
def test_layers_and_leaves_agree_where_all_nodes_have_the_same_share(loss):
    """Target rows are the source rows: every node has n₀ = n₁. Every row has curvature, so all nodes take part."""
    layers, leaves = (Trada(beta=3.0, responses=kind).adapt(FORESTS[loss], SOURCE) for kind in ("layers", "leaves"))
    assert layers.score(TARGET) == pytest.approx(leaves.score(TARGET), abs=1e-9)
    assert not np.allclose(Trada(responses="leaves").adapt(FORESTS[loss], TARGET).score(TARGET), FORESTS[loss].score(TARGET))


@pytest.mark.parametrize("loss", FORESTS)
def test_the_shape_stays_unless_trimmed(loss):
    forest, few = FORESTS[loss], rk.split(TARGET, (0.1, 0.9))[0]
    tuned = Trada(splits=True).adapt(forest, few)
    for name in ("feature", "left", "right", "missing_left", "offsets", "rows", "curvature", "gain"):
        assert (getattr(tuned.trees, name) == getattr(forest.trees, name)).all()
    trimmed = Trada(splits=True, trim=True).adapt(forest, few)
    assert len(trimmed.trees.feature) < len(forest.trees.feature)
    assert len(trimmed) == len(forest)
    assert (trimmed.score(few) == tuned.score(few)).all()
    assert not (trimmed.score(SOURCE) == tuned.score(SOURCE)).all()


@pytest.mark.parametrize("loss", FORESTS)
@pytest.mark.parametrize("settings", [SETTINGS[0], SETTINGS[3], SETTINGS[6]], ids=str)
def test_neither_threads_nor_the_order_of_rows_and_queries_change_a_bit(loss, settings):
    many = rk.synthesise(1500, domain=1, world=WORLD)  # enough rows to be shared out
    with rk.threads(1):
        one = Trada(**settings).adapt(FORESTS[loss], many)
    with rk.threads(2):
        assert same(one, Trada(**settings).adapt(FORESTS[loss], many))
    order = np.random.default_rng(0).permutation(many.rows)
    turned = rk.read(many.features[order], grades=many.grades[order], qid=np.asarray(many.qids)[many.query_of_row()[order]])
    assert turned.qids.tolist() != many.qids.tolist()
    assert same(one, Trada(**settings).adapt(FORESTS[loss], turned))


@pytest.mark.parametrize("loss", ["squared", "pairs", "wide pairs"])  # λ's of tied documents depend on the query's name
def test_a_query_of_weight_2_counts_twice_and_one_of_weight_0_not_at_all(loss):
    """In the loss, among the rows of a node, and among those that keep a branch from being trimmed."""
    weights = np.arange(TARGET.queries) % 3
    names = [TARGET.qids.tolist(), [f"{qid} again" for qid in TARGET.qids]]
    twice = rk.concat([replace(TARGET, qids=own).select_queries(np.flatnonzero(weights > k)) for k, own in enumerate(names)])
    for settings in (SETTINGS[0], SETTINGS[3]):
        weighted = Trada(**settings).adapt(FORESTS[loss], TARGET.with_weights(weights))
        repeated = Trada(**settings).adapt(FORESTS[loss], twice)
        assert (weighted.trees.feature == repeated.trees.feature).all()
        for name in ("value", "threshold"):
            assert getattr(weighted.trees, name) == pytest.approx(getattr(repeated.trees, name), rel=1e-9, abs=1e-9)
        assert not np.allclose(weighted.score(TARGET), Trada(**settings).adapt(FORESTS[loss], TARGET).score(TARGET))


def test_features_are_found_by_name():
    turned = TARGET.select_features(list(reversed(TARGET.feature_names)))
    assert same(Trada(splits=True).adapt(MART, turned), Trada(splits=True).adapt(MART, TARGET))
    few = rk.MART(**SHAPE).fit(SOURCE.select_features(["5", "2"]))
    assert same(trada(few, TARGET), trada(few, TARGET.select_features(["5", "2"])))
    with refused(rk.DataError, place=TARGET.source, value="1"):
        Trada().adapt(MART, TARGET.rename_features({"1": "other"}))


def leaf_alone(value=0.5, rows=10):
    entries = {"feature": -1, "threshold": 0.0, "missing_left": False, "left": 0, "right": 0, "gain": 0.0, "curvature": rows}
    return Trees(**{name: [entry] for name, entry in entries.items()}, value=[value], rows=[rows], offsets=[0, 1])


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_tree_of_one_leaf_is_tuned_like_a_leaf(settings):
    recorded = {"learner": "MART", "loss": "squared", "rate": 0.1}
    forest = rk.Forest(trees=leaf_alone(), feature_names=TARGET.feature_names, settings=recorded)
    share = 10.0 * TARGET.rows / (10 + 10.0 * TARGET.rows)
    expected = 0.5 + share * (0.1 * TARGET.grades.astype(float).mean() - 0.5)
    assert trada(forest, TARGET, **settings).trees.value == pytest.approx(expected, rel=1e-12)
    nothing = rk.Forest(trees=leaf_alone().take(0, 0), feature_names=TARGET.feature_names, settings=recorded)
    assert len(trada(nothing, TARGET, **settings)) == 0


def test_the_function_is_the_method_and_the_result_records_its_settings(tmp_path):
    settings = {"responses": "leaves", "splits": True, "trim": True, "loss": "lambda", "rate": 0.4, "measure": "err"}
    made = trada(MART, TARGET, 3.0, **settings)
    assert same(made, Trada(beta=3.0, **settings).adapt(MART, TARGET))
    assert not same(made, trada(MART, TARGET, 3.0))
    assert made.settings["base"] == MART.settings
    assert {name: made.settings[name] for name in settings} == {**settings, "measure": "err"}
    made.save(tmp_path / "made.rankinite")
    assert (rk.load(tmp_path / "made.rankinite").score(TARGET) == made.score(TARGET)).all()


def test_adapting_twice_and_trees_on_top_keep_loss_and_rate():
    for forest in FORESTS.values():
        assert trada(trada(forest, TARGET), TARGET).settings["base"]["base"] == forest.settings
    more = rk.MART(**{**SHAPE, "trees": 3}).fit(TARGET, base=trada(MART, TARGET))
    assert len(trada(more, TARGET)) == 15


def test_grades_on_another_scale_matter_to_squared_loss_alone():
    assert MART.settings["highest_grades"] == {
        f"{grade:g}": int((np.maximum.reduceat(SOURCE.grades, SOURCE.offsets[:-1]) == grade).sum()) for grade in (1, 2, 3, 4)
    }
    assert len(trada(MART, BINARY, same_scale=True)) == len(trada(LAMBDA, BINARY)) == len(MART)
    assert len(trada(rk.MART(**SHAPE).fit(binary(SOURCE)), BINARY)) == len(MART)
    few = TARGET.select_queries(np.flatnonzero(np.maximum.reduceat(TARGET.grades, TARGET.offsets[:-1]) < 4)[:2])
    assert len(trada(MART, few)) == len(MART)  # two queries may miss the highest grade by chance


@pytest.mark.parametrize("loss", ["plain lambda", "pairs"])
@pytest.mark.parametrize("settings", [SETTINGS[0], SETTINGS[-1]], ids=str)
def test_wide_scores_are_tuned_as_if_they_were_near(loss, settings):
    """A background whose scores are 16 times as far apart, far as they are, gives a result 16 times as far apart."""

    def scores(times: float) -> np.ndarray:
        trees = FORESTS[loss].trees
        wide = replace(FORESTS[loss], trees=replace(trees, value=times * trees.value))
        return Trada(beta=7.0, **settings).adapt(wide, TARGET).score(TARGET)

    assert np.array_equal(scores(2.0**14), 16.0 * scores(2.0**10))


def test_what_a_query_has_in_common_does_not_make_scores_wide():
    """A tree that asks for a feature of the query alone moves its scores together: no pair is any farther apart."""

    def with_parity(data):
        parity = (data.query_of_row() % 2).astype(np.float32)
        columns = np.column_stack((data.features, parity))
        return replace(data, features=columns, feature_names=(*data.feature_names, "parity"))

    source, target = with_parity(SOURCE), with_parity(TARGET)
    stump = rk.MART(trees=1, leaves=2, rate=1.0).fit(replace(source, grades=source.features[:, -1].copy())).trees
    near = rk.LambdaMART.plain(**SHAPE).fit(source)
    far = replace(near, trees=join([near.trees, replace(stump, value=1e3 * stump.value)]))
    assert far.score(target).std() > 100.0
    assert [Trada().adapt(forest, target).settings["sigma"] for forest in (near, far)] == [1.0, 1.0]


def test_folds_need_not_have_all_grades():
    """One query of the target has the highest grade: the parts without it are not taken for another scale."""
    tops = np.maximum.reduceat(TARGET.grades, TARGET.offsets[:-1])
    target = TARGET.select_queries(np.append(np.flatnonzero(tops < 4), np.flatnonzero(tops == 4)[0]))
    low = target.select_queries(np.arange(target.queries - 1))
    with refused(rk.DataError, place=repr(MART), value=4.0):
        trada(MART, low)
    assert len(trada(MART, target, None)) == len(MART)
    assert "trada" in rk.adapt.choose(MART, target, methods=["trada"], curve=False).models
    choice = rk.adapt.choose(MART, low, methods=["trada", "additive-lambda"], curve=False)
    assert choice.refusals["trada"].value == 4.0


def test_grades_that_are_no_whole_numbers_are_kept_exactly():
    thirds = SOURCE.map_grades(lambda grades: grades / 3)
    forest = rk.MART(**SHAPE).fit(thirds)
    assert len(trada(forest, thirds)) == len(forest)
