"""Trada: by the book, the laws at the ends of β, and what cannot be adapted."""

from __future__ import annotations

from dataclasses import replace

import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from oracles.trada import nested, score, tune
from rankinite.adapt.methods.trada import Trada, trada
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.ranknet import RankNetPairs
from rankinite.trees.structure import DTYPES, Trees, join

WORLD = rk.World(features=6, documents=12, terms=4, noise=0.3, seed=3, shift=0.6)
SOURCE = rk.synthesise(150, world=WORLD)
TARGET = rk.synthesise(20, domain=1, world=WORLD)
SHAPE = {"trees": 12, "leaves": 8, "min_rows": 10, "rate": 0.2}
MART = rk.MART(**SHAPE).fit(SOURCE)
LAMBDA = rk.LambdaMART(**SHAPE).fit(SOURCE)
FORESTS = {
    "squared": MART,
    "lambda": LAMBDA,
    "plain lambda": rk.LambdaMART(**SHAPE, normalise=False, sigma=2.0, truncation=3).fit(SOURCE),
    "pairs": rk.RankNetTrees(**SHAPE).fit(SOURCE),
}
FORESTS["wide pairs"] = replace(
    FORESTS["pairs"], trees=replace(FORESTS["pairs"].trees, value=100.0 * FORESTS["pairs"].trees.value)
)
OBJECTIVES = {
    "lambda": lambda data: Lambdas(data, rk.NDCG(10), normalise=True),
    "plain lambda": lambda data: Lambdas(data, rk.NDCG(10), 2.0, 3),
    "pairs": RankNetPairs,
}
WAYS = [
    {"responses": responses, "splits": splits, "trim": trim}
    for responses in ("layers", "leaves")
    for splits in (False, True)
    for trim in (False, True)
]


def with_gaps(data, seed=0):
    """The same rows, a tenth of the values missing."""
    features = data.features.copy()
    features[np.random.default_rng(seed).random(features.shape) < 0.1] = np.nan
    return replace(data, features=features)


def binary(data):
    """The same rows on another scale of grades."""
    return data.map_grades(lambda grades: grades >= 2)


GAPS, BINARY = with_gaps(TARGET), binary(TARGET)
HOLED = rk.MART(**SHAPE).fit(with_gaps(SOURCE, 1))


def gradients(loss: str, data, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if loss == "squared":
        return data.grades - scores, np.ones(len(scores))
    push, curvature = np.empty((1, len(scores))), np.empty((1, len(scores)))
    OBJECTIVES[loss](data).gradients(scores[None].copy(), push, curvature)
    return push[0], curvature[0]


def single(forest, number):
    """One tree as a forest."""
    return rk.Forest(trees=forest.trees.take(number, number + 1), feature_names=forest.feature_names)


def same(one, other) -> bool:
    """Whether two forests have the same trees, to the bit."""
    return all(getattr(one.trees, name).tobytes() == getattr(other.trees, name).tobytes() for name in DTYPES)


def by_the_book(forest, loss, target, how) -> None:
    """Every tree is what the slow way makes of it; also for source rows, which come where no target row does."""
    adapted = Trada(**how).adapt(forest, target)
    scores = np.full(target.rows, forest.start[0])
    for number in range(len(forest)):
        tree = nested(forest.trees.take(number, number + 1))
        tune(tree, target.features, *gradients(loss, target, scores), how, 0.2)
        own = single(adapted, number)
        for data in (target, SOURCE):
            some = data.features[:60]
            assert own.score(some) == pytest.approx([score(tree, row) for row in some], abs=1e-9)
        scores = scores + own.score(target)


@pytest.mark.parametrize("loss", ["squared", "lambda"])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_tree_is_tuned_by_the_book(loss, way):
    by_the_book(FORESTS[loss], loss, TARGET, {"beta": 7.0, **way})


@pytest.mark.parametrize("loss", ["plain lambda", "pairs"])
def test_the_loss_is_the_one_of_the_background(loss):
    by_the_book(FORESTS[loss], loss, TARGET, {"beta": 7.0, **WAYS[0]})


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3]], ids=str)
def test_missing_values_go_where_the_background_sends_them(way):
    assert HOLED.trees.missing_left.any()
    by_the_book(HOLED, "squared", GAPS, {"beta": 7.0, **way})


def test_rows_that_push_nothing_move_nothing():
    """Queries of one grade leave λ-trained leaves as they are, where no other rows come."""
    flat = replace(TARGET, grades=np.where(TARGET.query_of_row() == 0, TARGET.grades, 1.0))
    by_the_book(LAMBDA, "lambda", flat, {"beta": 7.0, **WAYS[0]})
    alone = TARGET.select_queries([0])
    for forest in (LAMBDA, Trada(beta=7.0).adapt(LAMBDA, flat), Trada(beta=7.0).adapt(LAMBDA, alone)):
        assert (forest.trees.feature == LAMBDA.trees.feature).all()
    quiet = Trada(beta=7.0).adapt(LAMBDA, flat).trees.take(0, 1).value == LAMBDA.trees.take(0, 1).value
    unreached = Trada(beta=7.0).adapt(LAMBDA, alone).trees.take(0, 1).value == LAMBDA.trees.take(0, 1).value
    assert (quiet == unreached).all()


@pytest.mark.parametrize("loss", FORESTS)
@pytest.mark.parametrize("way", [w for w in WAYS if not w["trim"]], ids=str)
def test_beta_0_is_the_background_to_the_bit(loss, way):
    assert same(Trada(beta=0.0, **way).adapt(FORESTS[loss], TARGET), FORESTS[loss])
    assert same(Trada(beta=0.0, **way).adapt(HOLED, GAPS), HOLED)


@pytest.mark.parametrize("beta", [1e15, 1e300])
def test_a_huge_beta_gives_leaves_the_targets_own_response(beta):
    adapted = Trada(beta=beta, responses="leaves").adapt(MART, TARGET)
    scores = np.full(TARGET.rows, MART.start[0])
    for number in range(len(MART)):
        own = single(adapted, number).score(TARGET)
        for value in np.unique(own):
            inside = own == value
            assert value == pytest.approx(0.2 * (TARGET.grades - scores)[inside].mean(), abs=1e-9)
        scores = scores + own


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
@pytest.mark.parametrize("way", [WAYS[0], WAYS[3], WAYS[6]], ids=str)
def test_neither_threads_nor_the_order_of_rows_and_queries_change_a_bit(loss, way):
    many = rk.synthesise(1500, domain=1, world=WORLD)  # enough rows to be shared out
    with rk.threads(1):
        one = Trada(**way).adapt(FORESTS[loss], many)
    with rk.threads(2):
        assert same(one, Trada(**way).adapt(FORESTS[loss], many))
    order = np.random.default_rng(0).permutation(many.rows)
    turned = rk.read(many.features[order], grades=many.grades[order], qid=np.asarray(many.qids)[many.query_of_row()[order]])
    assert turned.qids.tolist() != many.qids.tolist()
    assert same(one, Trada(**way).adapt(FORESTS[loss], turned))


@pytest.mark.parametrize("loss", ["squared", "pairs", "wide pairs"])  # λ's of tied documents depend on the query's name
def test_a_query_of_weight_2_counts_twice_and_one_of_weight_0_not_at_all(loss):
    """In the loss, among the rows of a node, and among those that keep a branch from being trimmed."""
    weights = np.arange(TARGET.queries) % 3
    names = [TARGET.qids.tolist(), [f"{qid} again" for qid in TARGET.qids]]
    twice = rk.concat([replace(TARGET, qids=own).select_queries(np.flatnonzero(weights > k)) for k, own in enumerate(names)])
    for way in (WAYS[0], WAYS[3]):
        weighted = Trada(**way).adapt(FORESTS[loss], TARGET.with_weights(weights))
        repeated = Trada(**way).adapt(FORESTS[loss], twice)
        assert (weighted.trees.feature == repeated.trees.feature).all()
        for name in ("value", "threshold"):
            assert getattr(weighted.trees, name) == pytest.approx(getattr(repeated.trees, name), rel=1e-9, abs=1e-9)
        assert not np.allclose(weighted.score(TARGET), Trada(**way).adapt(FORESTS[loss], TARGET).score(TARGET))


def test_features_are_found_by_name():
    turned = TARGET.select_features(list(reversed(TARGET.feature_names)))
    assert same(Trada(splits=True).adapt(MART, turned), Trada(splits=True).adapt(MART, TARGET))
    few = rk.MART(**SHAPE).fit(SOURCE.select_features(["5", "2"]))
    assert same(trada(few, TARGET), trada(few, TARGET.select_features(["5", "2"])))
    with pytest.raises(rk.DataError, match="no feature"):
        Trada().adapt(MART, TARGET.rename_features({"1": "other"}))


def leaf_alone(value=0.5, rows=10):
    entries = {"feature": -1, "threshold": 0.0, "missing_left": False, "left": 0, "right": 0, "gain": 0.0, "curvature": rows}
    return Trees(**{name: [entry] for name, entry in entries.items()}, value=[value], rows=[rows], offsets=[0, 1])


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_tree_of_one_leaf_is_tuned_like_a_leaf(way):
    settings = {"learner": "MART", "loss": "squared", "rate": 0.1}
    forest = rk.Forest(trees=leaf_alone(), feature_names=TARGET.feature_names, settings=settings)
    share = 10.0 * TARGET.rows / (10 + 10.0 * TARGET.rows)
    expected = 0.5 + share * (0.1 * TARGET.grades.astype(float).mean() - 0.5)
    assert trada(forest, TARGET, **way).trees.value == pytest.approx(expected, rel=1e-12)
    nothing = rk.Forest(trees=leaf_alone().take(0, 0), feature_names=TARGET.feature_names, settings=settings)
    assert len(trada(nothing, TARGET, **way)) == 0


def test_the_function_is_the_method_and_the_result_tells_how_it_was_made(tmp_path):
    way = {"responses": "leaves", "splits": True, "trim": True, "loss": "lambda", "rate": 0.4, "measure": "err"}
    made = trada(MART, TARGET, 3.0, **way)
    assert same(made, Trada(beta=3.0, **way).adapt(MART, TARGET))
    assert not same(made, trada(MART, TARGET, 3.0))
    assert made.settings["base"] == MART.settings
    assert {name: made.settings[name] for name in way} == {**way, "measure": "err"}
    made.save(tmp_path / "made.rankinite")
    assert (rk.load(tmp_path / "made.rankinite").score(TARGET) == made.score(TARGET)).all()


def test_adapting_twice_and_trees_on_top_keep_loss_and_rate():
    for forest in FORESTS.values():
        assert trada(trada(forest, TARGET), TARGET).settings["base"]["base"] == forest.settings
    more = rk.MART(**{**SHAPE, "trees": 3}).fit(TARGET, base=trada(MART, TARGET))
    assert len(trada(more, TARGET)) == 15


# ---- LightGBM's and XGBoost's -------------------------------------------------------------------------------------------

COMMON = {"num_leaves": 8, "learning_rate": 0.2, "verbosity": -1, "num_threads": 1, "deterministic": True}


def from_lightgbm(folder, objective):
    data = lightgbm.Dataset(SOURCE.features, SOURCE.grades, group=np.diff(SOURCE.offsets), feature_name=[*SOURCE.feature_names])
    model = lightgbm.train({"objective": objective, **COMMON}, data, 12)
    model.save_model(folder / "light.txt")
    return rk.load(folder / "light.txt")


def from_xgboost(folder, objective):
    ranks = objective.startswith("rank")
    data = xgboost.DMatrix(SOURCE.features, SOURCE.grades, feature_names=list(SOURCE.feature_names))
    if ranks:
        data.set_group(np.diff(SOURCE.offsets))
    settings = {"objective": objective, "max_depth": 3, "eta": 0.2, "lambda": 0.0, "nthread": 1}
    xgboost.train(settings, data, 12).save_model(folder / "x.json")
    return rk.load(folder / "x.json")


@pytest.mark.parametrize("objective", ["regression", "lambdarank"])
def test_models_of_lightgbm_are_adapted(tmp_path, objective):
    forest = from_lightgbm(tmp_path, objective)
    for way in WAYS:
        if not way["trim"]:
            assert same(trada(forest, TARGET, 0.0, **way), forest)
        measure = "ndcg@10"
        better = rk.evaluate(trada(forest, TARGET, **way), TARGET, measure)[measure].mean
        assert better > rk.evaluate(forest, TARGET, measure)[measure].mean


@pytest.mark.parametrize("way", WAYS[:6], ids=str)
def test_the_mean_in_lightgbms_first_tree_is_a_start(tmp_path, way):
    forest = from_lightgbm(tmp_path, "regression")
    mean = forest.trees.value[0]
    assert mean == pytest.approx(SOURCE.grades.mean(), abs=1e-3)
    value = forest.trees.value.copy()
    value[: forest.trees.offsets[1]] -= mean
    settings = {**forest.settings, "learner": "MART"}
    moved = replace(forest, trees=replace(forest.trees, value=value), start=np.asarray([mean]), settings=settings)
    assert trada(forest, TARGET, **way).score(SOURCE) == pytest.approx(trada(moved, TARGET, **way).score(SOURCE), abs=1e-9)


@pytest.mark.parametrize("objective", ["reg:squarederror", "rank:ndcg"])
def test_models_of_xgboost_are_adapted_by_their_curvature(tmp_path, objective):
    forest = from_xgboost(tmp_path, objective)
    with pytest.raises(rk.ArgumentError, match="rate="):
        trada(forest, TARGET)
    for way in WAYS:
        if not way["trim"]:
            assert same(trada(forest, TARGET, 0.0, rate=0.2, **way), forest)
        assert not same(trada(forest, TARGET, rate=0.2, **way), forest)
    if objective == "reg:squarederror":  # a row's curvature is 1: the same as by rows
        counted = replace(forest, trees=replace(forest.trees, rows=np.rint(forest.trees.curvature).astype(np.int64)))
        for way in WAYS:
            one, other = (trada(kind, TARGET, rate=0.2, **way).trees for kind in (forest, counted))
            assert (one.threshold == other.threshold).all()
            assert (one.value == other.value).all()


def test_xgboosts_inner_nodes_have_their_shrinkage(tmp_path):
    """What the tree would add if it ended there: of squared loss without L2, the rate times the mean residual."""
    forest = from_xgboost(tmp_path, "reg:squarederror")
    tree = forest.trees.take(0, 1)
    assert tree.feature[1] != -1
    column = SOURCE.features[:, tree.feature[0]]
    for child, rows in ((tree.left[0], column <= tree.threshold[0]), (tree.right[0], column > tree.threshold[0])):
        assert tree.value[child] == pytest.approx(0.2 * (SOURCE.grades - forest.start[0])[rows].mean(), abs=1e-5)


def test_grades_on_another_scale_matter_to_squared_loss_alone():
    assert MART.settings["highest_grades"] == {
        f"{grade:g}": int((np.maximum.reduceat(SOURCE.grades, SOURCE.offsets[:-1]) == grade).sum()) for grade in (1, 2, 3, 4)
    }
    assert len(trada(MART, BINARY, same_scale=True)) == len(trada(LAMBDA, BINARY)) == len(MART)
    assert len(trada(rk.MART(**SHAPE).fit(binary(SOURCE)), BINARY)) == len(MART)
    few = TARGET.select_queries(np.flatnonzero(np.maximum.reduceat(TARGET.grades, TARGET.offsets[:-1]) < 4)[:2])
    assert len(trada(MART, few)) == len(MART)  # two queries may lack the highest grade by chance


@pytest.mark.parametrize("loss", ["plain lambda", "pairs"])
@pytest.mark.parametrize("way", [WAYS[0], WAYS[-1]], ids=str)
def test_wide_scores_are_tuned_as_if_they_were_near(loss, way):
    """A background whose scores are 16 times as far apart, far as they are, gives a result 16 times as far apart."""

    def scores(times: float) -> np.ndarray:
        trees = FORESTS[loss].trees
        wide = replace(FORESTS[loss], trees=replace(trees, value=times * trees.value))
        return Trada(beta=7.0, **way).adapt(wide, TARGET).score(TARGET)

    assert np.array_equal(scores(2.0**14), 16.0 * scores(2.0**10))


def test_what_a_query_has_in_common_does_not_make_scores_wide():
    """A tree that asks for something of the query alone moves its scores together: no pair is any farther apart."""

    def with_parity(data):
        parity = (data.query_of_row() % 2).astype(np.float32)
        columns = np.column_stack((data.features, parity))
        return replace(data, features=columns, feature_names=(*data.feature_names, "parity"))

    source, target = with_parity(SOURCE), with_parity(TARGET)
    stump = rk.MART(trees=1, leaves=2, rate=1.0).fit(replace(source, grades=source.features[:, -1].copy())).trees
    near = rk.LambdaMART(**SHAPE).fit(source)
    far = replace(near, trees=join([near.trees, replace(stump, value=1e3 * stump.value)]))
    assert far.score(target).std() > 100.0
    assert [Trada().adapt(forest, target).settings["sigma"] for forest in (near, far)] == [1.0, 1.0]


def test_folds_need_not_have_all_grades():
    """One query of the target has the highest grade: the parts without it are not taken for another scale."""
    tops = np.maximum.reduceat(TARGET.grades, TARGET.offsets[:-1])
    target = TARGET.select_queries(np.append(np.flatnonzero(tops < 4), np.flatnonzero(tops == 4)[0]))
    low = target.select_queries(np.arange(target.queries - 1))
    with pytest.raises(rk.DataError, match="predicts grades up to 4"):
        trada(MART, low)
    assert len(trada(MART, target, None)) == len(MART)
    assert "trada" in rk.adapt.choose(MART, target, methods=["trada"], curve=False).models
    told = rk.adapt.choose(MART, low, methods=["trada", "additive-lambda"], curve=False)
    assert "predicts grades up to 4" in told.refused["trada"]


def test_grades_that_are_no_whole_numbers_are_kept_exactly():
    thirds = SOURCE.map_grades(lambda grades: grades / 3)
    forest = rk.MART(**SHAPE).fit(thirds)
    assert len(trada(forest, thirds)) == len(forest)


# ---- refusals -----------------------------------------------------------------------------------------------------------


def uncounted():
    bare = replace(MART.trees, rows=np.zeros_like(MART.trees.rows), curvature=np.zeros_like(MART.trees.curvature))
    return replace(MART, trees=bare)


def unsaid(forest, **settings):
    return replace(forest, settings=settings)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Trada(beta=-1.0), "beta"),
        (lambda: Trada(beta=float("nan")), "beta"),
        (lambda: Trada(responses="roots"), "layers"),
        (lambda: Trada(splits=1), "splits"),
        (lambda: Trada(trim="no"), "trim"),
        (lambda: Trada(same_scale=1), "same_scale"),
        (lambda: Trada(loss="logistic"), "squared"),
        (lambda: Trada(rate=0.0), "rate"),
        (lambda: Trada(measure="p@5"), "cannot be trained for"),
        (lambda: Trada(measure="nonsense"), "nonsense"),
        (lambda: trada(rk.Feature(0), TARGET), "tree by tree"),
        (lambda: trada(rk.Feature(0), TARGET, None), "tree by tree"),
        (lambda: trada(rk.LambdaRank(epochs=1).fit(SOURCE), TARGET), "tree by tree"),
        (lambda: trada(rk.McRank(trees=2, leaves=4).fit(SOURCE), TARGET), "tree by tree"),
        (lambda: trada(MART, None), "no Dataset"),
        (lambda: trada(uncounted(), TARGET), "node counts"),
        (lambda: trada(unsaid(MART), TARGET), "shrinkage.*rate="),
        (lambda: trada(unsaid(MART), TARGET, rate=0.2), "what loss.*Give loss=.*'squared'"),
        (lambda: trada(rk.MART(trees=2, loss="graded").fit(SOURCE), TARGET), "trained for 'graded'.*loss="),
        (lambda: trada(unsaid(LAMBDA, learner="LambdaMART", rate=0.1, base=dict(MART.settings)), TARGET), "rates"),
        (lambda: trada(unsaid(LAMBDA, learner="LambdaMART", rate=0.2, base=dict(MART.settings)), TARGET), "loss="),
        (lambda: trada(MART, TARGET.with_weights(np.zeros(TARGET.queries))), "weights"),
        (lambda: trada(LAMBDA, TARGET.map_grades(np.zeros_like)), "grade"),
        (lambda: trada(MART, BINARY), "predicts grades up to 4.*same_scale=True"),
        (lambda: trada(rk.MART(**SHAPE).fit(binary(SOURCE)), TARGET), "predicts grades up to 1.*map_grades"),
    ],
)
def test_what_cannot_be_adapted_is_refused(call, words):
    with pytest.raises(rk.RankiniteError, match=words):
        call()
