"""Two small domains, a background ranker of the first, and every method of adaptation with small learners."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from importlib import import_module

import numpy as np

import rankinite as rk
from rankinite.adapt import shared_fits
from rankinite.adapt.methods import catalogue as methods
from rankinite.adapt.methods.lambdaboost import lambdaboost
from rankinite.adapt.methods.smart import smart
from rankinite.combine.inexact_weights import powell

WORLD = rk.World(features=5, documents=10, terms=4, noise=0.3, seed=3)
TREES = rk.LambdaMART.plain(trees=8, leaves=4, rate=0.3, min_rows=3, train_history=False)
"""A learner that is quick and still learns something."""
LINEAR = rk.LambdaBoost(rounds=8, train_history=False)


@cache
def target(queries: int = 12) -> rk.Dataset:
    return rk.synthesise(queries, domain=1, world=WORLD)


@cache
def unseen() -> rk.Dataset:
    return rk.synthesise(15, part="test", domain=1, world=WORLD)


@cache
def background_data() -> rk.Dataset:
    return rk.synthesise(40, world=WORLD)


@cache
def background() -> rk.Forest:
    forest = rk.LambdaMART.plain(trees=20, leaves=6, rate=0.2, min_rows=5).fit(background_data())
    assert isinstance(forest, rk.Forest)
    return forest


def judged_by_a_feature(queries: int = 12, part: str = "train") -> rk.Dataset:
    """Feature 1 is the grade: nothing ranks better than it."""
    data = rk.synthesise(queries, part=part, domain=1, world=WORLD)
    features = data.features.copy()
    features[:, 0] = data.grades
    return replace(data, features=features)


def with_one_grade(data: rk.Dataset, queries) -> rk.Dataset:
    """The same data, with all documents of these queries graded 1."""
    grades = data.grades.copy()
    grades[np.isin(data.query_of_row(), queries)] = 1.0
    return replace(data, grades=grades)


def regraded(data: rk.Dataset, query: int) -> rk.Dataset:
    """The same data with the grades of one query reversed; its grades still differ."""
    rows, grades = slice(data.offsets[query], data.offsets[query + 1]), data.grades.copy()
    grades[rows] = grades[rows].max() + grades[rows].min() - grades[rows]
    assert len(set(grades[rows].tolist())) > 1
    assert grades.tolist() != data.grades.tolist()
    return replace(data, grades=grades)


def shuffled(data: rk.Dataset, seed: int = 0) -> tuple[rk.Dataset, np.ndarray]:
    """The same rows with queries and rows in another order, and where each row comes from."""
    random = np.random.default_rng(seed)
    spans = [np.arange(data.offsets[query], data.offsets[query + 1]) for query in random.permutation(data.queries)]
    order = np.concatenate([random.permutation(span) for span in spans])
    qids = data.qids[data.query_of_row()[order]]
    turned = rk.read(data.features[order], grades=data.grades[order], qid=qids.tolist())
    return replace(turned, feature_names=data.feature_names), order


def make_small(monkeypatch) -> None:
    """Give every method few trees and rounds."""

    def small(measure, seed=0, rows=0):
        return replace(TREES, measure=measure, seed=seed)

    monkeypatch.setattr(shared_fits, "target_learner", small)
    monkeypatch.setattr(import_module("rankinite.adapt.methods.neighbours"), "target_learner", small)
    monkeypatch.setattr(import_module("rankinite.adapt.methods.interpolate"), "powell", partial(powell, most=50))
    monkeypatch.setattr(methods, "smart", partial(smart, learner=replace(TREES, row_share=0.7)))
    monkeypatch.setattr(methods, "lambdaboost", partial(lambdaboost, learner=LINEAR))
    for name in ("rows_drawn", "nodes_drawn"):
        monkeypatch.setattr(methods, name, _drawn)


def _drawn(measure, seed=0, *, preset="plain"):
    return rk.LambdaMART.preset(preset, measure=measure, trees=8, leaves=4, rate=0.3, min_rows=3, row_share=0.7, seed=seed)
