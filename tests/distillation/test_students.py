"""Distillation: what is chosen from a teacher adds up to it, and students are judged on queries they did not see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite import Bag
from rankinite.distillation.mimicry import grow, mix_features, train_net
from rankinite.distillation.selection import select
from rankinite.distillation.teacher import centred, centred_scores, fidelity, on_scale_of, trees_of
from rankinite.models.files.container import model_bytes
from rankinite.trees.walk import add_trees, walks_of
from refusals import refused

WORLD = rk.World(features=6, documents=20, noise=0.3)
TRAIN = rk.synthesise(40, world=WORLD)
TEST = rk.synthesise(30, part="test", world=WORLD)
SMALL = {"trees": 8, "leaves": 5, "min_rows": 3}
NDCG = Bag(rk.LambdaMART.plain(**SMALL), parts=3).fit(TRAIN)
ERR = Bag(rk.LambdaMART.plain(measure="err", **SMALL), parts=3).fit(TRAIN)
TEACHER = rk.combine.average([NDCG, ERR], TRAIN).ranker
NET = rk.RankNet(epochs=3, hidden=(3,)).fit(TRAIN)


def near(student, data):
    return fidelity(student.score(data), centred_scores(TEACHER, data), data)


def test_the_trees_of_a_teacher_add_up_to_it():
    found = trees_of(TEACHER, TEST.feature_names)
    assert found.is_all
    assert len(found.trees) == TEACHER.sizes()["trees"]
    total = np.zeros((1, TEST.rows))
    add_trees(walks_of(found.trees), TEST.features, 0, len(found.trees), total)
    np.testing.assert_allclose(centred(total[0], TEST), centred_scores(TEACHER, TEST), atol=1e-10)


def test_features_are_found_by_name():
    turned = TEST.select_features(list(reversed(TEST.feature_names)))
    found = trees_of(TEACHER, turned.feature_names)
    total = np.zeros((1, TEST.rows))
    add_trees(walks_of(found.trees), turned.features, 0, len(found.trees), total)
    np.testing.assert_allclose(centred(total[0], TEST), centred_scores(TEACHER, TEST), atol=1e-10)


def test_all_trees_chosen_are_the_teacher_and_more_trees_come_nearer():
    everything = select(TEACHER, TRAIN, 1000)
    assert near(everything, TEST) == pytest.approx(1.0, abs=1e-6)
    students = [select(TEACHER, TRAIN, count) for count in (3, 8, 20)]
    assert [len(student) for student in students] == [3, 8, 20]
    values = [near(student, TRAIN) for student in students]
    assert values == sorted(values)


def test_chosen_trees_are_the_teachers_own():
    known = {(tree.feature.tobytes(), tree.threshold.tobytes()) for tree in each(trees_of(TEACHER, TRAIN.feature_names).trees)}
    chosen = {(tree.feature.tobytes(), tree.threshold.tobytes()) for tree in each(select(TEACHER, TRAIN, 6).trees)}
    assert len(chosen) == 6
    assert chosen <= known


def each(trees):
    return [trees.take(number, number + 1) for number in range(len(trees))]


def test_grown_trees_follow_the_scores_and_not_the_grades():
    flat = TRAIN.map_grades(lambda grades: 0 * grades)
    student = grow(TEACHER, [flat], 30, leaves=8)
    assert len(student) == 30
    assert near(student, TEST) > 0.7
    assert near(grow(TEACHER, [flat], 5, leaves=8), TRAIN) < near(student, TRAIN)


def test_made_documents_mix_those_of_their_query():
    made = mix_features(TRAIN, TEACHER, seed=4)
    assert made.rows == TRAIN.rows
    assert not set(made.qids.tolist()) & set(TRAIN.qids.tolist())
    for first, last in zip(TRAIN.offsets[:-1], TRAIN.offsets[1:], strict=True):
        for column in range(TRAIN.features.shape[1]):
            assert set(made.features[first:last, column].tolist()) <= set(TRAIN.features[first:last, column].tolist())
    own = (made.features == TRAIN.features).mean()
    assert 0.45 < own < 0.75
    assert len(grow(TEACHER, [TRAIN], 5, made=2)) == 5


def test_the_better_student_is_kept_and_the_baseline_is_shown():
    found = rk.distil(TEACHER, TRAIN, trees=12, leaves=5, test=TEST)
    rows = {row.name: row for row in found.rows}
    assert list(rows) == ["teacher", "select", "grow", "direct"]
    assert rows["teacher"].fidelity == pytest.approx(1.0)
    assert rows["teacher"].trees == TEACHER.sizes()["trees"]
    assert found.method == "select"
    assert found.ranker.sizes() == {"trees": 12}
    assert rows["select"].value == pytest.approx(rk.evaluate(found.ranker, TEST, "ndcg@10")["ndcg@10"].mean)
    assert rows["select"].fidelity == pytest.approx(near(found.ranker, TEST))
    assert rows["direct"].trees == 12
    assert "direct" in str(found)


def test_without_test_data_students_are_judged_by_folds():
    found = rk.distil(TEACHER, TRAIN, trees=4, how="grow", folds=4)
    assert [row.name for row in found.rows] == ["teacher", "grow", "direct"]
    assert all(len(values) == TRAIN.queries for values in found.values.values())
    assert any("teacher" in warning for warning in found.warnings)  # it was trained on these queries


def test_a_teacher_without_trees_is_mimicked():
    found = rk.distil(NET, TRAIN, trees=20, leaves=8, test=TEST)
    assert found.method == "grow"
    with refused(rk.ArgumentError, place=repr(NET), value=0):
        select(NET, TRAIN, 5)
    both = rk.distil(0.5 * NET + 0.5 * NDCG, TRAIN, trees=10, test=TEST)
    assert {row.name for row in both.rows} >= {"select", "grow"}
    assert any("mimicked" in warning for warning in both.warnings)


def test_a_teacher_that_looks_at_whole_queries_can_be_mimicked():
    ranked = rk.combine.average([NDCG, NET], TRAIN, scale="rank").ranker
    assert rk.distil(ranked, TRAIN, trees=5, test=TEST).method == "grow"


@pytest.mark.parametrize("how", ["select", "grow", "net"])
def test_threads_change_no_bit(how, tmp_path):
    for count in (1, 2, 3):
        with rk.threads(count):
            rk.distil(TEACHER, TRAIN, trees=5, how=how, test=TEST).ranker.save(tmp_path / str(count))
    assert len({(tmp_path / str(count)).read_bytes() for count in (1, 2, 3)}) == 1


LOG = rk.synthesise(40, part="valid", world=WORLD).without_grades()


def test_a_net_follows_the_teacher_better_than_grades_lead_to_it():
    found = rk.distil(TEACHER, TRAIN, how="net", hidden=(8,), test=TEST)
    rows = {row.name: row for row in found.rows}
    assert list(rows) == ["teacher", "net", "direct"]
    assert isinstance(found.ranker, rk.Net)
    assert found.ranker.hidden == (8,)
    assert rows["net"].size == rows["direct"].size == f"{(6 + 1) * 8 + 9} weights"
    assert rows["net"].trees == 0
    assert rows["net"].fidelity == pytest.approx(near(found.ranker, TEST))
    assert rows["net"].fidelity > rows["direct"].fidelity
    assert rows["net"].value == pytest.approx(rk.evaluate(found.ranker, TEST, "ndcg@10")["ndcg@10"].mean)


def test_a_linear_student_finds_a_linear_teacher():
    teacher = rk.LambdaRank(hidden=(), epochs=3).fit(TRAIN)
    student = rk.distil(teacher, TRAIN, how="net", hidden=(), test=TEST).ranker
    assert isinstance(student, rk.Linear)
    assert fidelity(student.score(TEST), centred_scores(teacher, TEST), TEST) > 0.999
    ratio = student.weights / teacher.weights
    np.testing.assert_allclose(ratio, ratio[0], rtol=0.05)


@pytest.mark.parametrize("make", [lambda rows: grow(TEACHER, rows, 20, leaves=8), lambda rows: train_net(TEACHER, rows, (6,))])
def test_students_learn_from_rows_that_nobody_judged(make, tmp_path):
    for number, rows in enumerate(([TRAIN, LOG], [TRAIN.without_grades(), LOG], [TRAIN.map_grades(lambda g: 4 - g), LOG])):
        make(rows).save(tmp_path / str(number))
    assert len({(tmp_path / str(number)).read_bytes() for number in range(3)}) == 1
    assert near(make([TRAIN, LOG]), TEST) > near(make([TRAIN]), TEST)
    assert near(make([LOG]), TEST) > 0.5


def plain_r2(student, teacher, data):
    """The share of the teacher's variance that the student's scores explain as they are: within queries, and over all rows."""
    found, wanted = student.score(data), teacher.score(data)
    queries = [slice(first, last) for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    left = [(wanted[q] - wanted[q].mean()) - (found[q] - found[q].mean()) for q in queries]
    there = [wanted[q] - wanted[q].mean() for q in queries]
    within = 1.0 - np.sum(np.concatenate(left) ** 2) / np.sum(np.concatenate(there) ** 2)
    return within, 1.0 - np.sum((wanted - found) ** 2) / np.sum((wanted - wanted.mean()) ** 2)


UNUSUAL = 40.0 * TEACHER + rk.Linear(TRAIN.feature_names, np.zeros(6), -70.0)
STUDENTS = [("select", {}), ("grow", {}), ("net", {"hidden": (8,)}), ("net", {"hidden": (5, 4)}), ("net", {"hidden": ()})]


@pytest.mark.parametrize(("how", "more"), STUDENTS)
@pytest.mark.parametrize("teacher", [TEACHER, UNUSUAL], ids=["teacher", "another scale"])
def test_students_are_on_the_scale_of_their_teacher_and_rank_as_before(teacher, how, more, monkeypatch):
    settings = {"how": how, "trees": 15, "leaves": 6, "test": TEST, "unjudged": [LOG]} | more
    found = rk.distil(teacher, TRAIN, **settings)
    for plain in plain_r2(found.ranker, teacher, TEST):
        assert plain == pytest.approx(found[how].fidelity, abs=0.02)
    for module in ("mimicry", "selection"):
        monkeypatch.setattr(f"rankinite.distillation.{module}.on_scale_of", lambda teacher, student, data: student)
    raw = make_raw(how, teacher, settings)
    factor, shift = np.polyfit(raw.score(TRAIN), found.ranker.score(TRAIN), 1)
    assert factor > 0
    np.testing.assert_allclose(factor * raw.score(TEST) + shift, found.ranker.score(TEST), rtol=1e-9, atol=1e-9)
    for measure in ("ndcg@10", "map", "err"):
        before, after = (rk.evaluate(ranker, TEST, measure)[measure].per_query for ranker in (raw, found.ranker))
        np.testing.assert_array_equal(before, after)


def make_raw(how, teacher, settings):
    if how == "select":
        return select(teacher, TRAIN, settings["trees"])
    if how == "grow":
        return grow(teacher, [TRAIN, LOG], settings["trees"], leaves=settings["leaves"])
    return train_net(teacher, [TRAIN, LOG], settings["hidden"])


def test_a_student_that_ranks_against_its_teacher_is_left_as_it_is(monkeypatch):
    student = train_net(TEACHER, [TRAIN], (4,))
    assert student.settings["on_teachers_scale"] is True
    turned = replace(student, weights=np.append(student.weights[:-5], -student.weights[-5:]))
    constant = replace(student, weights=np.zeros_like(student.weights))
    for odd in (turned, constant):
        kept = on_scale_of(TEACHER, odd, [TRAIN])
        np.testing.assert_array_equal(kept.weights, odd.weights)
        assert kept.settings["on_teachers_scale"] is False
        monkeypatch.setattr("rankinite.distillation.students.train_net", lambda *_, kept=kept, **__: kept)
        found = rk.distil(TEACHER, TRAIN, how="net", hidden=(4,), test=TEST)
        assert any("not on its scale" in warning for warning in found.warnings)


def test_missing_values_are_the_mean_to_a_net():
    holes = replace(
        TRAIN, features=np.where(np.random.default_rng(0).random(TRAIN.features.shape) < 0.1, np.nan, TRAIN.features)
    )
    assert near(train_net(TEACHER, [holes], (6,)), TEST) > 0.5


def test_rows_that_are_learnt_from_judge_nobody():
    same = TEST.without_grades()
    with refused(rk.DataError, place="(test)"):
        rk.distil(TEACHER, TRAIN, unjudged=[same], test=TEST, trees=3)
    with refused(rk.DataError, place="(data)"):
        rk.distil(TEACHER, TRAIN, unjudged=[LOG, TRAIN.without_grades()], trees=3)
    assert rk.distil(TEACHER, TRAIN, unjudged=[same], test=TEST, trees=3, how="grow", allow_overlap=True).method == "grow"


def test_teachers_of_whole_queries_need_queries():
    lost = rk.read(TRAIN.features, grades=TRAIN.grades, qid=np.arange(TRAIN.rows)).rename_features(TRAIN.feature_names)
    by_query = rk.combine.average([NDCG, NET], TRAIN, scale="query").ranker
    summaries = rk.ensembles.Summarised(rk.MART(**SMALL), (rk.MART(**SMALL),), folds=2).fit(TRAIN)
    for teacher in (by_query, summaries, TEACHER):
        with refused(rk.DataError, place="array", value=TRAIN.rows):
            rk.distil(teacher, lost, test=TEST)
        for rows in (TRAIN.features, rk.Feature(0)):
            with refused(rk.DataError, place="data", value=type(rows).__name__):
                rk.distil(teacher, rows)


def test_bad_input_is_refused():
    for setting, value in {"trees": 0, "leaves": 1, "how": "guess", "folds": 1, "made": -1, "hidden": "x"}.items():
        with refused(rk.ArgumentError, owner="distil", setting=setting, value=value):
            rk.distil(TEACHER, TRAIN, **{setting: value})
    with refused(rk.ArgumentError, setting="teacher", value=5):
        rk.distil(5, TRAIN)
    with refused(rk.DataError, place="data"):
        rk.distil(TEACHER, TRAIN.features)
    with pytest.raises(rk.DataError):
        rk.distil(TEACHER, TRAIN, test=TRAIN)
    with pytest.raises(rk.RankiniteError):
        rk.distil(TEACHER, TRAIN.select_queries([0]))


@pytest.mark.parametrize("how", ["select", "grow", "net"])
def test_students_follow_nothing_on_queries_of_weight_0(how):
    data = TRAIN.with_weights(np.arange(40) % 3 > 0)
    every, weighed = (
        rk.distil(TEACHER, one, trees=3, leaves=4, hidden=(2,), how=how)
        for one in (data, data.select_queries(data.weights > 0))
    )
    assert model_bytes(every.ranker.stored()) == model_bytes(weighed.ranker.stored())
    assert len(every.values["teacher"]) == len(weighed.values["teacher"])
