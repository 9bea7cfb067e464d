"""The number of trees that held-out queries choose, against the same choice made by hand, part by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.folds import holdouts
from rankinite.learners import tree_count
from rankinite.learners.base import FoldProgress
from rankinite.learners.tree_count import PARTS, UNJUDGED, with_tree_count

WORLD = rk.World(features=5, documents=10, noise=1.0)
TRAIN = rk.synthesise(30, world=WORLD)
OPEN = rk.LambdaMART(leaves=4, min_rows=3, rate=0.3, patience=8)


def chosen(learner: rk.LambdaMART, train: rk.Dataset, base: rk.Ranker | None = None) -> int:
    found = with_tree_count(learner, train, None, base, ()).trees
    assert found is not None
    return found


def by_hand(learner: rk.LambdaMART, parts: list[tuple[rk.Dataset, rk.Dataset]]) -> int:
    """Every part is trained for long, and its held-out queries are measured after every tree; then the means are looked at."""
    curves = []
    for rest, held in parts:
        forest = replace(learner, trees=80, patience=None).fit(rest)
        curves.append([rk.evaluate(scores, held, "ndcg@10")["ndcg@10"].mean for scores in forest.staged_scores(held)])
    best = 0
    for place, value in enumerate(means := np.mean(curves, axis=0)):
        if value > means[best]:
            best = place
        if place - best >= (learner.patience or len(means)):
            break
    return best + 1


def parts_of(train: rk.Dataset) -> list[tuple[rk.Dataset, rk.Dataset]]:
    return [(part.rest, part.held) for part in holdouts(train, PARTS)]


@pytest.mark.parametrize("shape", ["symmetric", "best-first"])
def test_the_number_is_the_one_with_the_best_mean_over_the_parts(shape):
    learner = replace(OPEN, shape=shape)
    assert chosen(learner, TRAIN) == by_hand(learner, parts_of(TRAIN))


def test_many_rows_hold_out_one_part(monkeypatch):
    monkeypatch.setattr(tree_count, "MANY_ROWS", TRAIN.rows - 1)
    assert chosen(OPEN, TRAIN) == by_hand(OPEN, parts_of(TRAIN)[:1])


def test_the_forest_is_that_of_the_chosen_number_on_all_queries():
    count = chosen(OPEN, TRAIN)
    forest = OPEN.fit(TRAIN)
    assert forest.settings["trees"] == len(forest) == count
    assert forest.text() == replace(OPEN, trees=count).fit(TRAIN).text()


def test_neither_threads_nor_the_order_of_queries_change_the_number():
    with rk.threads(1):
        alone = chosen(OPEN, TRAIN)
    with rk.threads(2):
        assert chosen(OPEN, TRAIN) == alone
    turned = TRAIN.select_queries(np.arange(TRAIN.queries)[::-1])
    assert turned.qids.tolist() == TRAIN.qids.tolist()[::-1]
    assert chosen(OPEN, turned) == alone


def test_a_number_that_is_given_is_kept_and_validation_data_stop_by_themselves():
    assert chosen(replace(OPEN, trees=7), TRAIN) == 7
    valid = rk.synthesise(10, part="valid", world=WORLD)
    assert with_tree_count(OPEN, TRAIN, valid, None, ()).trees == 1000
    assert OPEN.fit(TRAIN, valid).history.stopped == "early"


def test_a_base_is_where_the_parts_start_too():
    base = rk.Feature(0)
    assert chosen(OPEN, TRAIN, base) == len(OPEN.fit(TRAIN, base=base).parts[1][1])


def few(queries: int) -> rk.Dataset:
    return TRAIN.select_queries(np.arange(queries))


def test_nothing_is_held_out_where_that_would_say_nothing(tmp_path):
    assert chosen(OPEN, few(PARTS - 1)) == UNJUDGED
    rk.bin(TRAIN, tmp_path / "train.bins")
    assert chosen(OPEN, rk.Binned(tmp_path / "train.bins")) == UNJUDGED
    assert chosen(OPEN, replace(TRAIN, grades=np.zeros_like(TRAIN.grades))) == UNJUDGED


def test_parts_whose_queries_have_one_grade_are_left_out():
    grades = TRAIN.grades.copy()
    first = holdouts(TRAIN, PARTS)[0]
    grades[first.rows] = 0.0
    data = replace(TRAIN, grades=grades)
    assert chosen(OPEN, data) == by_hand(OPEN, parts_of(data)[1:])


class Heard:
    """A callback that hears of the choice too."""

    def __init__(self) -> None:
        self.choice: list[FoldProgress] = []
        self.training: list[int] = []

    def __call__(self, progress: rk.Progress) -> None:
        self.training.append(progress.round)

    def folds(self, progress: FoldProgress) -> None:
        self.choice.append(progress)


def test_callbacks_hear_of_the_training_alone_unless_they_ask():
    heard, deaf = Heard(), list[int]()
    forest = OPEN.fit(TRAIN, callbacks=[heard, lambda progress: deaf.append(progress.round)])
    assert heard.training == deaf == list(range(1, len(forest) + 1))
    last = heard.choice[-1]
    assert (last.best, last.parts, last.measure) == (len(forest), PARTS, "ndcg@10")
    assert last.round == len(heard.choice) == last.best + OPEN.patience
    assert max(one.value for one in heard.choice) == heard.choice[last.best - 1].value
