"""The number of trees that held-out queries choose, against the same choice made by hand, part by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt

import rankinite as rk
from rankinite.data.folds import holdouts
from rankinite.learners import tree_count
from rankinite.learners.base import FoldProgress
from rankinite.learners.tree_count import PARTS, UNJUDGED, with_tree_count
from rankinite.models.views import history_rows
from rankinite.report import of_training
from refusals import refused

WORLD = rk.World(features=5, documents=10, noise=1.0)
TRAIN = rk.synthesise(30, world=WORLD)
OPEN = rk.LambdaMART(leaves=4, min_rows=3, rate=0.3, patience=8)


def chosen(learner: rk.LambdaMART, train: rk.Dataset, base: rk.Ranker | None = None) -> int:
    found = with_tree_count(learner, train, None, base, ())[0].trees
    assert found is not None
    return found


def curve_by_hand(learner: rk.LambdaMART, parts: list[tuple[rk.Dataset, rk.Dataset]]) -> np.ndarray:
    """Every part is trained for long, and its held-out queries are measured after every tree; entry 0 is without a tree."""
    curves = []
    for rest, held in parts:
        forest = replace(learner, trees=80, patience=None).fit(rest)
        stages = [np.zeros(held.rows), *forest.staged_scores(held)]
        curves.append([rk.evaluate(scores, held, "ndcg@10")["ndcg@10"].mean for scores in stages])
    return np.mean(curves, axis=0)


def by_hand(learner: rk.LambdaMART, parts: list[tuple[rk.Dataset, rk.Dataset]]) -> int:
    """The best of the means, as far as patience lets one look."""
    means, best = curve_by_hand(learner, parts), 1
    for place in range(1, len(means)):
        if means[place] > means[best]:
            best = place
        if place - best >= (learner.patience or len(means)):
            break
    return best


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
    assert with_tree_count(OPEN, TRAIN, valid, None, ())[0].trees == 1000
    assert OPEN.fit(TRAIN, valid).history.stopped == "early"


@pytest.mark.parametrize("many_rows", [TRAIN.rows, TRAIN.rows - 1])
def test_the_history_keeps_what_held_out_queries_said(many_rows, monkeypatch, tmp_path):
    monkeypatch.setattr(tree_count, "MANY_ROWS", many_rows)
    parts = parts_of(TRAIN)[: PARTS if many_rows == TRAIN.rows else 1]
    forest = OPEN.fit(TRAIN)
    history = forest.history
    assert len(history.held_out) == 1 + len(forest) + OPEN.patience
    np.testing.assert_allclose(history.held_out, curve_by_hand(OPEN, parts)[: len(history.held_out)], rtol=0, atol=1e-12)
    assert history.held_out_parts == len(parts)
    assert history.held_out[history.best] == history.held_out[1:].max()
    assert (len(history.valid), history.rounds) == (0, len(forest))  # of the training of the forest itself, as ever
    forest.save(tmp_path / "forest.rankinite")
    again = rk.load(tmp_path / "forest.rankinite").history
    assert (again.held_out.tobytes(), again.held_out_parts) == (history.held_out.tobytes(), len(parts))
    assert again.to_dict() == history.to_dict()
    [shown] = of_training(forest, TRAIN).trainings
    assert (shown.held_out_rounds, shown.held_out_parts) == (len(history.held_out) - 1, len(parts))
    np.testing.assert_allclose(shown.held_out, history.held_out, rtol=0, atol=1e-5)
    axes = forest.plot_history()
    lines = [line.get_ydata() for line in axes.get_lines()]
    plt.close(axes.figure)
    assert any(np.array_equal(line, history.held_out) for line in lines)
    said = dict(history_rows(forest.trained()))["ndcg@10 held out"]
    assert f"{history.held_out[history.best]:.4f}" in said
    assert f"{len(parts)} smaller training" in said


def test_the_history_has_nothing_held_out_where_nothing_was(tmp_path):
    valid = rk.synthesise(10, part="valid", world=WORLD)
    for forest in (replace(OPEN, trees=3).fit(TRAIN), OPEN.fit(TRAIN, valid), replace(OPEN, trees=None).fit(few(PARTS - 1))):
        assert (len(forest.history.held_out), forest.history.held_out_parts) == (0, 0)
        assert not {"held_out", "held_out_parts"} & set(forest.history.to_dict())  # files are as they were


@pytest.mark.parametrize("odd", [{"held_out": "none"}, {"held_out": [True]}, {"held_out_parts": 2.5}])
def test_a_damaged_history_is_refused(odd):
    facts = replace(OPEN, trees=2).fit(TRAIN).history.to_dict()
    with refused(rk.DataError, place=f"history: {next(iter(odd))}"):
        rk.History.from_dict(facts | odd)
    with refused(rk.ArgumentError, setting="held_out_parts", value=-1):
        rk.History.from_dict(facts | {"held_out_parts": -1})


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
