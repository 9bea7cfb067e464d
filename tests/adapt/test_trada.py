"""Trada: by the book, and the laws at the ends of β."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.trada import nested, score, tune
from rankinite.adapt.trada import Trada
from rankinite.gradients.lambdas import Lambdas

WORLD = rk.World(features=6, documents=12, terms=4, noise=0.3, seed=3, shift=0.6)
SOURCE = rk.synthesise(150, world=WORLD)
TARGET = rk.synthesise(20, domain=1, world=WORLD)
MART = rk.MART(trees=12, leaves=8, min_rows=10, rate=0.2).fit(SOURCE)
LAMBDA = rk.LambdaMART(trees=12, leaves=8, min_rows=10, rate=0.2).fit(SOURCE)
FORESTS = {"squared": MART, "lambda": LAMBDA}
WAYS = [
    {"responses": responses, "splits": splits, "trim": trim}
    for responses in ("layers", "leaves")
    for splits in (False, True)
    for trim in (False, True)
]


def gradients(loss: str, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if loss == "squared":
        return TARGET.grades - scores, np.ones(len(scores))
    push, curvature = np.empty((1, len(scores))), np.empty((1, len(scores)))
    Lambdas(TARGET, rk.NDCG(10)).gradients(scores[None].copy(), push, curvature)
    return push[0], curvature[0]


@pytest.mark.parametrize("loss", FORESTS)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_tree_is_tuned_by_the_book(loss, way):
    forest, how = FORESTS[loss], {"beta": 7.0, **way}
    adapted = Trada(**how).adapt(forest, TARGET)
    scores = np.full(TARGET.rows, forest.start[0])
    for number in range(len(forest)):
        tree = nested(forest.trees.take(number, number + 1))
        push, curvature = gradients(loss, scores)
        tune(tree, TARGET.features, push, curvature, how, 0.2)
        own = rk.Forest(trees=adapted.trees.take(number, number + 1), feature_names=forest.feature_names)
        for data in (TARGET, SOURCE):
            some = data.features[:60]
            assert own.score(some) == pytest.approx([score(tree, row) for row in some], abs=1e-9)
        scores = scores + own.score(TARGET)


@pytest.mark.parametrize("loss", FORESTS)
@pytest.mark.parametrize("way", [w for w in WAYS if not w["trim"]], ids=str)
def test_beta_0_is_the_background_to_the_bit(loss, way):
    adapted = Trada(beta=0.0, **way).adapt(FORESTS[loss], TARGET)
    for data in (SOURCE, TARGET):
        assert (adapted.score(data) == FORESTS[loss].score(data)).all()


def test_a_huge_beta_gives_leaves_the_targets_own_response():
    adapted = Trada(beta=1e15, responses="leaves").adapt(MART, TARGET)
    scores = np.full(TARGET.rows, MART.start[0])
    for number in range(len(MART)):
        own = rk.Forest(trees=adapted.trees.take(number, number + 1), feature_names=MART.feature_names).score(TARGET)
        for value in np.unique(own):
            inside = own == value
            assert value == pytest.approx(0.2 * (TARGET.grades - scores)[inside].mean(), abs=1e-7)
        scores = scores + own


def test_layers_and_leaves_agree_where_all_nodes_have_the_same_share():
    """Target rows are the source rows: every node has n₀ = n₁."""
    for responses in ("layers", "leaves"):
        tuned = Trada(beta=3.0, responses=responses).adapt(MART, SOURCE)
        if responses == "layers":
            first = tuned.score(TARGET)
        else:
            assert tuned.score(TARGET) == pytest.approx(first, abs=1e-9)


def test_the_shape_stays_unless_trimmed():
    tuned = Trada(splits=True).adapt(MART, TARGET)
    for name in ("feature", "left", "right", "offsets", "rows"):
        assert (getattr(tuned.trees, name) == getattr(MART.trees, name)).all()
    trimmed = Trada(trim=True).adapt(MART, rk.split(TARGET, (0.1, 0.9))[0])
    assert len(trimmed.trees.feature) < len(MART.trees.feature)
    assert len(trimmed) == len(MART)


def test_threads_and_rows_in_another_order_agree():
    with rk.threads(1):
        one = Trada(splits=True).adapt(LAMBDA, TARGET)
    two = Trada(splits=True).adapt(LAMBDA, TARGET)
    assert (one.trees.value == two.trees.value).all()
    order = np.random.default_rng(0).permutation(TARGET.rows)
    turned = rk.read(
        TARGET.features[order], grades=TARGET.grades[order], qid=np.asarray(TARGET.qids)[TARGET.query_of_row()[order]]
    )
    assert Trada().adapt(LAMBDA, turned).score(SOURCE) == pytest.approx(Trada().adapt(LAMBDA, TARGET).score(SOURCE), abs=1e-9)


def test_features_are_found_by_name():
    turned = TARGET.select_features(list(reversed(TARGET.feature_names)))
    assert (Trada().adapt(MART, turned).trees.value == Trada().adapt(MART, TARGET).trees.value).all()
    with pytest.raises(rk.DataError, match="no feature"):
        Trada().adapt(MART, TARGET.rename_features({"1": "other"}))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Trada(beta=-1.0), "beta"),
        (lambda: Trada(responses="roots"), "layers"),
        (lambda: Trada(loss="logistic"), "squared"),
        (lambda: Trada().adapt(rk.Feature(0), TARGET), "tree by tree"),
        (lambda: Trada().adapt(MART, None), "no Dataset"),
        (lambda: Trada().adapt(rk.Forest(trees=MART.trees, feature_names=MART.feature_names), TARGET), "rate="),
        (lambda: Trada(rate=0.2).adapt(rk.Forest(trees=MART.trees, feature_names=MART.feature_names), TARGET), "loss="),
    ],
)
def test_what_cannot_be_adapted_is_refused(call, words):
    with pytest.raises(rk.RankiniteError, match=words):
        call()
