"""Teachers that split by categories: their trees are chosen with their sets, in the words of all their forests."""

from __future__ import annotations

import lightgbm
import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from rankinite.distillation.selection import select
from rankinite.distillation.teacher import centred_scores, fidelity, trees_of

WORLD = rk.World(features=4, documents=12, noise=0.2, categories=(25,))
TRAIN, TEST = (rk.synthesise(60, part=part, world=WORLD) for part in ("train", "test"))
NAME = next(iter(TRAIN.categories))


def forest_of(data: rk.Dataset, seed: int) -> rk.Forest:
    return rk.LambdaMART.plain(trees=8, leaves=6, min_rows=3, category_rows=2, row_share=0.7, seed=seed).fit(data)


def without(data: rk.Dataset, words: slice) -> rk.Dataset:
    """The rows whose category is none of some words, in a vocabulary of the rest."""
    codes = data.features[:, data.feature_index(NAME)]
    left_out = np.isin(codes, np.arange(len(data.categories[NAME]))[words])
    frame = data.select_rows(~left_out)
    names = np.asarray([*data.categories[NAME].names, ""])
    column = names[np.nan_to_num(frame.features[:, frame.feature_index(NAME)], nan=-1).astype(int)]
    table = {name: frame.features[:, k] for k, name in enumerate(frame.feature_names) if name != NAME}
    table |= {NAME: [word or None for word in column.tolist()], "grade": frame.grades, "qid": frame.qids[frame.query_of_row()]}
    read = rk.read(pd.DataFrame(table), qid="qid", grades="grade")
    return read.select_features(data.feature_names)


def near(student: rk.Forest, teacher: rk.Ranker, data: rk.Dataset) -> float:
    return fidelity(student.score(data), centred_scores(teacher, data), data)


def test_trees_of_forests_with_other_words_add_up_to_the_teacher():
    first, second = forest_of(without(TRAIN, slice(0, 8)), 0), forest_of(without(TRAIN, slice(12, None)), 1)
    assert first.trees.has_sets
    assert second.trees.has_sets
    assert first.categories != second.categories
    teacher = 0.3 * first + 0.7 * second
    found = trees_of(teacher, TEST.feature_names)
    assert found.is_all
    assert len(found.trees) == len(first) + len(second)
    assert found.forest.score(TEST) == pytest.approx(teacher.score(TEST), abs=1e-12)
    assert near(select(teacher, TRAIN, 1000), teacher, TEST) == pytest.approx(1.0, abs=1e-6)


def test_a_student_keeps_the_sets_of_the_trees_it_takes(tmp_path):
    teacher = forest_of(TRAIN, 2)
    done = rk.distil(teacher, TRAIN, test=TEST, trees=4, leaves=6, how="select")
    student = done.ranker
    known = {one.set_codes.tobytes() for one in each(teacher.trees)}
    assert {one.set_codes.tobytes() for one in each(student.trees)} <= known
    assert student.trees.has_sets
    assert student.categories == teacher.categories
    assert done["select"].fidelity > 0.5
    student.save(tmp_path / "small.rankinite")
    assert (rk.load(tmp_path / "small.rankinite").score(TEST) == student.score(TEST)).all()


def test_both_ways_are_tried_and_an_imported_teacher_too(tmp_path):
    assert {"select", "grow"} <= {row.name for row in rk.distil(forest_of(TRAIN, 3), TRAIN, trees=3, folds=2).rows}
    rows = lightgbm.Dataset(TRAIN.features, TRAIN.grades, group=np.diff(TRAIN.offsets), categorical_feature=[4])
    model = lightgbm.train({"objective": "lambdarank", "verbosity": -1, "min_data_per_group": 2, "num_threads": 1}, rows, 10)
    model.save_model(tmp_path / "model.txt")
    teacher = rk.load(tmp_path / "model.txt").renamed(TRAIN.feature_names)
    assert teacher.trees.has_sets
    coded = rk.read(TRAIN.features, grades=TRAIN.grades, qid=TRAIN.query_of_row(), categories=[4])
    named = coded.rename_features(TRAIN.feature_names)
    assert near(select(teacher, named, 1000), teacher, named) == pytest.approx(1.0, abs=1e-6)


def test_a_forest_that_takes_the_category_for_a_number_is_not_chosen_from():
    numbers = rk.read(TRAIN.features, grades=TRAIN.grades, qid=TRAIN.query_of_row()).rename_features(TRAIN.feature_names)
    mixed = 1.0 * forest_of(TRAIN, 4) + 1.0 * forest_of(numbers, 5)
    found = trees_of(mixed, TRAIN.feature_names)
    assert not found.is_all
    assert len(found.trees) == 8


def each(trees):
    return [trees.take(number, number + 1) for number in range(len(trees))]
