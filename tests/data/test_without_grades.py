"""Data without grades: read, written and scored like others, and never learnt from or evaluated on."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.description import describe
from rankinite.data.fingerprint import fingerprint
from rankinite.models.importance import permutation_importance
from refusals import refused

JUDGED = random_dataset(3, queries=12)
BARE = JUDGED.without_grades()
FORMATS = ("parquet", "arrow", "csv", "tsv", "csv.gz")
ARRAYS = ("features", "offsets", "qids", "doc_ids", "weights", "batches")


def same(first, second):
    """Whether two data sets have the same content, whatever their grades."""
    pairs = [(getattr(first, name), getattr(second, name)) for name in ARRAYS]
    return first.feature_names == second.feature_names and all(
        a is b is None or np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs
    )


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_is_written_is_read_back_and_has_no_grade_column(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    rk.write(BARE, path)
    read = rk.read(path, unjudged="keep")
    assert not read.judged
    assert same(read, BARE)
    assert not read.grades.any()
    table = {
        "parquet": pyarrow.parquet.read_table,
        "arrow": lambda name: pa.ipc.open_file(name).read_all(),
        "tsv": lambda name: pyarrow.csv.read_csv(name, parse_options=pyarrow.csv.ParseOptions(delimiter="\t")),
    }.get(suffix, pyarrow.csv.read_csv)(str(path))
    sides = {"qid", "doc_id"} | ({"weight"} if BARE.weights is not None else set())
    sides |= {"batch"} if BARE.batches is not None else set()
    assert set(table.column_names) == {*sides, *BARE.feature_names}
    rk.write(JUDGED, path)
    assert rk.read(path, unjudged="keep").judged  # grades that are there are read


@pytest.mark.parametrize("unjudged", ["error", "drop"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_table_without_grades_is_refused_unless_rows_without_are_kept(tmp_path, suffix, unjudged):
    path = tmp_path / f"rows.{suffix}"
    rk.write(BARE, path)
    with refused(rk.DataError, place=path.name, value=["grades"]) as caught:
        rk.read(path, unjudged=unjudged)
    assert "unjudged='keep'" in str(caught.value)


def test_letor_lines_have_a_grade_so_that_none_is_invented(tmp_path):
    with refused(rk.DataError, place="rows.txt", value=False):
        rk.write(BARE, tmp_path / "rows.txt")
    assert not (tmp_path / "rows.txt").exists()


def test_frames_and_arrays_need_no_grades():
    frame = pa.table({"query": [7, 7, 8], "x": [1.0, 2.0, 3.0]})
    for read in (
        rk.read(frame, qid="query", unjudged="keep"),
        rk.read(np.asarray([[1.0], [2.0], [3.0]]), qid=[7, 7, 8], unjudged="keep"),
        rk.read(frame.append_column("label", [[1, 2, 0]]), qid="query", ignore=["label"], unjudged="keep"),
    ):
        assert not read.judged
        assert read.qids.tolist() == ["7", "8"]
        assert read.features[:, 0].tolist() == [1.0, 2.0, 3.0]
    with refused(rk.DataError, place="array", setting="grades"):
        rk.read(np.zeros((2, 1)), qid=[1, 1])


def test_rows_that_come_in_any_order_are_regrouped():
    read = rk.read(pa.table({"qid": [1, 2, 1], "x": [1.0, 2.0, 3.0]}), unjudged="keep")
    assert read.features[:, 0].tolist() == [1.0, 3.0, 2.0]
    assert read.to_input_order(read.features[:, 0]).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.select_queries([3, 1]),
        lambda data: data.select_rows(data.features[:, 0] > np.median(data.features[:, 0])),
        lambda data: data.select_features(data.feature_names[:1]),
        lambda data: data.rename_features([f"f{name}" for name in data.feature_names]),
        lambda data: data.with_weights(np.full(data.queries, 2.0)),
        lambda data: pickle.loads(pickle.dumps(data)),
        deepcopy,
        lambda data: replace(data, source="elsewhere"),
        lambda data: rk.concat([data, data], prefixes=("a:", "b:")),
        lambda data: rk.sample_documents(data, 0.5),
        lambda data: rk.k_folds(data, 3)[0].test,
    ],
)
def test_what_is_made_of_data_without_grades_has_none_and_is_else_the_same(change):
    made, expected = change(BARE), change(JUDGED)
    assert expected.judged
    assert not made.judged
    assert not made.grades.any()
    assert same(made, expected)


def test_judged_and_other_rows_are_not_joined():
    other = replace(BARE, source="log")
    for parts in ([JUDGED, other], [other, JUDGED]):
        with refused(rk.DataError, place="log", value=False):
            rk.concat(parts, prefixes=("a:", "b:"))


def test_grades_and_their_absence_exclude_each_other():
    with refused(rk.DataError, place=f"row {np.flatnonzero(JUDGED.grades)[0]}"):
        replace(JUDGED, judged=False)
    assert replace(BARE, grades=JUDGED.grades, judged=True).judged


def test_fingerprints_tell_no_grades_from_grades_of_zero():
    zeros = replace(BARE, judged=True)
    assert len({fingerprint(data) for data in (JUDGED, zeros, BARE)}) == 3
    assert fingerprint(BARE) == fingerprint(JUDGED.map_grades(lambda grades: grades + 1).without_grades())


def test_scores_do_not_depend_on_grades():
    forest = rk.LambdaMART(trees=3, leaves=3, min_rows=1).fit(JUDGED)
    assert forest.score(BARE).tobytes() == forest.score(JUDGED).tobytes()


WORLD = rk.World(features=4, documents=10, noise=0.3)
TRAIN, OTHER = rk.synthesise(12, world=WORLD), rk.synthesise(12, part="test", world=WORLD)
LOG = replace(OTHER.without_grades(), source="log")
FOREST = rk.LambdaMART(trees=2, leaves=3, min_rows=1).fit(TRAIN)
LEARNERS = [
    *(rk.LambdaMART(trees=2), rk.MART(trees=2), rk.MART(trees=2, loss="graded"), rk.McRank(trees=2), rk.RankNetTrees(trees=2)),
    *(rk.RankNet(epochs=1), rk.LambdaRank(epochs=1), rk.LambdaBoost(rounds=1)),
    *(rk.Bag(rk.LambdaMART(trees=2), parts=2), rk.Augmented(rk.LambdaMART(trees=2))),
]
REFUSED = {
    "evaluate": lambda: rk.evaluate(FOREST, LOG, "ndcg"),
    "compare": lambda: rk.compare({"a": FOREST, "b": rk.Feature(0)}, LOG, "ndcg"),
    "exact": lambda: rk.combine.exact(FOREST, rk.Feature(0), LOG),
    "average": lambda: rk.combine.average([FOREST, rk.Feature(0)], LOG),
    "stacked": lambda: rk.combine.stacked([FOREST, rk.Feature(0)], LOG),
    "cross-validate": lambda: rk.cross_validate(rk.LambdaMART(trees=2), LOG, 3),
    "adapt to": lambda: rk.adapt.choose(FOREST, LOG),
    "adapt from": lambda: rk.adapt.choose(FOREST, TRAIN, background_data=LOG),
    "adapt by": lambda: rk.adapt.choose(FOREST, TRAIN, LOG),
    "pool": lambda: rk.adapt.pool(LOG, TRAIN),
    "neighbours": lambda: rk.adapt.Neighbours().choose(LOG, TRAIN),
    "augment": lambda: rk.augment(LOG, 0.5, 2),
    "map_grades": lambda: LOG.map_grades({0: 1}),
    "importance": lambda: permutation_importance(FOREST, LOG, "ndcg"),
    "distil from": lambda: rk.distil(FOREST, LOG),
    "distil tested": lambda: rk.distil(FOREST, TRAIN, test=LOG),
}


@pytest.mark.parametrize("what", REFUSED)
def test_nothing_is_measured_or_learnt_without_grades(what):
    with refused(rk.DataError, place="log", value=False) as caught:
        REFUSED[what]()
    assert caught.value.rule
    assert caught.value.remedy


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_no_learner_learns_or_stops_by_rows_without_grades(learner):
    with refused(rk.DataError, place="log", value=False):
        learner.fit(LOG)
    with refused(rk.DataError, place="log", value=False):
        learner.fit(TRAIN, LOG)


def test_judged_pairs_do_instead_of_grades(tmp_path):
    pairs = rk.Preferences(np.asarray([0, 3, 12]), np.asarray([1, 2, 15]), np.asarray([0.9, 0.6, 1.0]))
    learner = rk.RankNet(epochs=3, hidden=(3,))
    for number, data in enumerate((LOG, replace(LOG, judged=True))):
        learner.fit(data.with_preferences(pairs)).save(tmp_path / str(number))
    nets = [rk.load(tmp_path / str(number)) for number in range(2)]
    assert nets[0].weights.tobytes() == nets[1].weights.tobytes()
    for other in (rk.MART(trees=2), rk.LambdaMART(trees=2), rk.McRank(trees=2)):
        with refused(rk.DataError, place="log", value=False):
            other.fit(LOG.with_preferences(pairs))


def test_descriptions_say_that_there_are_no_grades():
    found, usual = describe(BARE), describe(JUDGED)
    assert found.grades == {}
    assert found.lowest_grade is None
    assert found.one_grade_queries == found.contradicting_rows == 0
    assert (found.queries, found.documents, found.features) == (usual.queries, usual.documents, usual.features)
    assert "no grades" in str(found)
    assert "no grades" not in str(usual)
    assert found.to_dict()["lowest_grade"] is None
    assert "no grades" in repr(BARE)
    assert "no grades" in BARE._repr_html_()
