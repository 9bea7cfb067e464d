"""Data without grades: read, written and scored like others, and never learnt from or evaluated on."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import replace
from inspect import isfunction, ismodule, signature
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.describe import describe
from rankinite.data.identity import fingerprint
from rankinite.data.io.format_detection import format_of
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.reading import read_with
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


def test_letor_lines_without_a_grade_are_read_but_not_written(tmp_path):
    with refused(rk.DataError, place="rows.txt", value=False):
        rk.write(BARE, tmp_path / "rows.txt")
    assert not (tmp_path / "rows.txt").exists()
    rk.write(JUDGED, tmp_path / "rows.txt")
    lines = (tmp_path / "rows.txt").read_text().splitlines()
    (tmp_path / "rows.txt").write_text("".join(line.partition(" ")[2] + "\n" for line in lines))
    read = rk.read(tmp_path / "rows.txt", unjudged="keep")
    assert not read.judged
    assert read.features.tobytes() == BARE.features.tobytes()
    assert (read.qids.tolist(), read.doc_ids.tolist()) == (BARE.qids.tolist(), BARE.doc_ids.tolist())
    for unjudged in ("error", "drop"):
        with refused(rk.DataError, place="rows.txt:1", value=f"qid:{BARE.qids[0]}"):
            rk.read(tmp_path / "rows.txt", unjudged=unjudged)


@pytest.mark.parametrize("line", ["qid:a", "qid:a # x, y", "qid:a 2:1 3:4,5", "1:0.5 2:1", "1:0.5"])
def test_the_first_line_of_rows_without_grades_tells_the_format(tmp_path, line):
    (tmp_path / "rows").write_text(line)
    assert format_of([tmp_path / "rows"], None) == "letor"


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["polars", "pandas", "pyarrow"])
def test_frames_of_all_kinds_need_no_grades(make):
    frame = make({"qid": ["b", "a", "b"], "x": [1.0, 2.0, 3.0], "z": [0.5, 0.25, 0.125]})
    read = rk.read(frame, unjudged="keep")
    assert not read.judged
    assert read.to_input_order(read.features).tolist() == [[1.0, 0.5], [2.0, 0.25], [3.0, 0.125]]
    forest = rk.LambdaMART.plain(trees=2, leaves=2, min_rows=1).fit(rk.read(frame, grades=[0, 2, 1]))
    assert forest.score(frame).tolist() == read.to_input_order(forest.score(read)).tolist()  # nor queries


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


def settings_without_queries(**more):
    columns = dict.fromkeys(("grades", "qid", "doc_id", "weight", "batch"))
    return ReadSettings(columns, None, None, (), "zero", "keep", zero_based=False, like=None, needs_queries=False, **more)


def test_rows_of_unknown_queries_count_as_one_where_queries_are_not_needed():
    frame = pa.table({"x": [1.0, 2.0, 3.0], "doc_id": ["c", "b", "a"], "weight": [1.0, 2.0, 3.0], "fold": [1, 1, 2]})
    one = read_with(frame, settings_without_queries())
    assert (one.offsets.tolist(), one.feature_names, one.doc_ids.tolist()) == ([0, 3], ("x",), ["c", "b", "a"])
    assert one.weights is one.batches is None
    known = read_with(frame, settings_without_queries(known_features={"weight", "fold", "gone"}))
    assert known.feature_names == ("x", "weight", "fold")
    named = read_with(frame.append_column("qid", [["b", "a", "b"]]).drop(["weight", "fold"]), settings_without_queries())
    assert named.qids.tolist() == ["b", "a"]
    with refused(rk.DataError, place="table", value=["qid"]):
        rk.read(frame, unjudged="keep")


def test_rows_that_come_in_any_order_are_regrouped():
    read = rk.read(pa.table({"qid": [1, 2, 1], "x": [1.0, 2.0, 3.0]}), unjudged="keep")
    assert read.features[:, 0].tolist() == [1.0, 3.0, 2.0]
    assert read.to_input_order(read.features[:, 0]).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.select_queries([3, 1]),
        lambda data: data.select_rows(data.in_row_order(data.features[:, 0] > np.median(data.features[:, 0]))),
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
    forest = rk.LambdaMART.plain(trees=3, leaves=3, min_rows=1).fit(JUDGED)
    assert forest.score(BARE).tobytes() == forest.score(JUDGED).tobytes()


WORLD = rk.World(features=4, documents=10, noise=0.3)
TRAIN, OTHER, MORE = (rk.synthesise(12, part=part, world=WORLD) for part in ("train", "test", "valid"))
LOG = replace(OTHER.without_grades(), source="log")
LEARNER = rk.LambdaMART.plain(trees=2, leaves=3, min_rows=1)
FOREST = LEARNER.fit(TRAIN)
NET = rk.RankNet(epochs=1, hidden=(2,)).fit(TRAIN)
TWO = {"a": FOREST, "b": rk.Feature(0)}
COMPARED = rk.compare(TWO, OTHER, "ndcg", resamples=100)
BOTH = rk.ensembles.Average({"a": LEARNER, "b": rk.MART(trees=2)})
LEARNERS = [
    *(
        rk.LambdaMART.plain(trees=2),
        rk.MART(trees=2),
        rk.MART(trees=2, loss="graded"),
        rk.McRank(trees=2),
        rk.RankNetTrees(trees=2),
    ),
    *(rk.RankNet(epochs=1), rk.LambdaRank(epochs=1), rk.LambdaBoost(rounds=1)),
    *(rk.Bag(rk.LambdaMART.plain(trees=2), parts=2), rk.Augmented(rk.LambdaMART.plain(trees=2)), BOTH),
    *(rk.Seeds(rk.LambdaMART.plain(trees=2, row_share=0.7), 2), rk.ensembles.Rescaled(LEARNER, "all")),
    rk.ensembles.Summarised(LEARNER, [LEARNER]),
]
REFUSED = {
    "rankinite.simulate_clicks": lambda: rk.simulate_clicks(LOG, LOG.features[:, 0]),
    "rankinite.evaluate": lambda: rk.evaluate(FOREST, LOG, "ndcg"),
    "rankinite.compare": lambda: rk.compare(TWO, LOG, "ndcg"),
    "rankinite.cross_validate": lambda: rk.cross_validate(LEARNER, LOG, 3),
    "rankinite.cross_validate, parts": lambda: rk.cross_validate(LEARNER, [TRAIN, LOG, MORE]),
    "rankinite.cross_validate, folds": lambda: rk.cross_validate(
        LEARNER, [rk.Fold(TRAIN, MORE, LOG), rk.Fold(TRAIN, MORE, OTHER)]
    ),
    "rankinite.augment": lambda: rk.augment(LOG, 0.5, 2),
    "rankinite.distil": lambda: rk.distil(FOREST, LOG),
    "rankinite.distil, test": lambda: rk.distil(FOREST, TRAIN, test=LOG),
    "rankinite.local_optimum": lambda: rk.local_optimum(NET, LOG, directions=2),
    "rankinite.tune": lambda: rk.tune(LEARNER, LOG, trials=1),
    "rankinite.tune, valid": lambda: rk.tune(LEARNER, TRAIN, LOG, trials=1),
    "rankinite.tune, test": lambda: rk.tune(LEARNER, TRAIN, trials=1, folds=3, test=LOG),
    "rankinite.write_qrels": lambda: rk.write_qrels("log.qrels", LOG),
    "Dataset.map_grades": lambda: LOG.map_grades({0: 1}),
    "Forest.permutation_importance": lambda: FOREST.permutation_importance(LOG, "ndcg"),
    "rankinite.permutation_importance": lambda: rk.permutation_importance(FOREST, LOG, "ndcg"),
    "LambdaMART.lambdas": lambda: LEARNER.lambdas(LOG, 1.0),
    "LambdaMART.objective": lambda: LEARNER.objective(LOG),
    "rankinite.combine.exact": lambda: rk.combine.exact(*TWO.values(), LOG),
    "rankinite.combine.average": lambda: rk.combine.average(TWO, LOG),
    "rankinite.combine.greedy": lambda: rk.combine.greedy(TWO, LOG),
    "rankinite.combine.cyclic": lambda: rk.combine.cyclic(TWO, LOG),
    "rankinite.combine.powell": lambda: rk.combine.powell(TWO, LOG),
    "rankinite.combine.stacked": lambda: rk.combine.stacked(TWO, LOG),
    "rankinite.combine.stacked, valid": lambda: rk.combine.stacked(TWO, TRAIN, valid=LOG),
    "rankinite.ensembles.choose_members": lambda: rk.ensembles.choose_members(BOTH, LOG, share=0.5),
    "rankinite.ensembles.diversity": lambda: rk.ensembles.diversity(TWO, LOG),
    "rankinite.adapt.choose": lambda: rk.adapt.choose(FOREST, LOG),
    "rankinite.adapt.choose, valid": lambda: rk.adapt.choose(FOREST, TRAIN, LOG),
    "rankinite.adapt.choose, background": lambda: rk.adapt.choose(FOREST, TRAIN, background_data=LOG),
    "rankinite.adapt.choose, test": lambda: rk.adapt.choose(FOREST, TRAIN, test=LOG),
    "rankinite.adapt.choose, shifted": lambda: rk.adapt.choose(FOREST, TRAIN, shifted=LOG),
    "rankinite.adapt.pool": lambda: rk.adapt.pool(LOG, TRAIN),
    "rankinite.adapt.pool, target": lambda: rk.adapt.pool(TRAIN, LOG),
    "rankinite.adapt.pool, valid": lambda: rk.adapt.pool(MORE, TRAIN, LOG, learner=LEARNER),
    "rankinite.adapt.neighbours": lambda: rk.adapt.neighbours(FOREST, LOG, MORE, learner=LEARNER),
    "rankinite.adapt.neighbours, background": lambda: rk.adapt.neighbours(FOREST, TRAIN, LOG, learner=LEARNER),
    "rankinite.adapt.neighbours, valid": lambda: rk.adapt.neighbours(FOREST, TRAIN, MORE, LOG, learner=LEARNER),
    "Neighbours.choose": lambda: rk.adapt.Neighbours().choose(LOG, TRAIN),
    "Neighbours.choose, target": lambda: rk.adapt.Neighbours().choose(TRAIN, LOG),
    "Neighbours.distances": lambda: rk.adapt.Neighbours().distances(TRAIN, LOG),
    "Neighbours.seeds": lambda: rk.adapt.Neighbours().seeds(LOG),
    "rankinite.adapt.interpolate": lambda: rk.adapt.interpolate(FOREST, LOG, learner=LEARNER),
    "rankinite.adapt.interpolate, valid": lambda: rk.adapt.interpolate(FOREST, TRAIN, LOG, learner=LEARNER),
    "rankinite.adapt.lambdaboost": lambda: rk.adapt.lambdaboost(FOREST, LOG),
    "rankinite.adapt.lambdaboost, valid": lambda: rk.adapt.lambdaboost(FOREST, TRAIN, LOG),
    "rankinite.adapt.smart": lambda: rk.adapt.smart(FOREST, LOG, learner=LEARNER),
    "rankinite.adapt.smart, valid": lambda: rk.adapt.smart(FOREST, TRAIN, LOG, learner=LEARNER),
    "rankinite.adapt.trada": lambda: rk.adapt.trada(FOREST, LOG),
    "rankinite.adapt.trada, valid": lambda: rk.adapt.trada(FOREST, TRAIN, beta=None, valid=LOG),
    "Trada.adapt_tuned": lambda: rk.adapt.Trada().adapt_tuned(FOREST, LOG),
    "rankinite.report.of_comparison": lambda: rk.report.of_comparison(COMPARED, LOG, TWO),
    "rankinite.report.of_training": lambda: rk.report.of_training(FOREST, LOG),
    "rankinite.report.of_ensemble": lambda: rk.report.of_ensemble(FOREST, TWO, test=LOG),
    "rankinite.report.of_choice": lambda: rk.report.of_choice(SimpleNamespace(unseen=COMPARED), LOG),
    "rankinite.report.of_tuning": lambda: rk.report.of_tuning(SimpleNamespace(test=COMPARED["a"]), TRAIN, test=LOG),
}
"""Every call that needs grades, by the public function or the method, and which of its data have none."""
NEEDS_NONE = {
    *(f"rankinite.{name}" for name in ("batch_folds", "concat", "describe", "k_folds", "rotating_folds", "sample_documents")),
    *(f"rankinite.{name}" for name in ("bin", "split", "read", "read_preferences", "read_run", "read_scores", "write")),
    *(f"rankinite.{name}" for name in ("write_run", "write_scores", "export", "check_served")),
    # What they report was measured before; data of which nothing was measured have no such result.
    *(f"rankinite.report.{name}" for name in ("of_cross_validation", "of_explanation")),
}
"""The other public functions that take data."""


def test_every_public_function_that_takes_data_is_known_to_need_grades_or_not():
    homes = [rk, *(thing for name in rk.__all__ if ismodule(thing := getattr(rk, name)))]
    takes_data = {
        f"{home.__name__}.{name}"
        for home in homes
        for name in home.__all__
        if isfunction(getattr(home, name))
        and any("Dataset" in str(one.annotation) for one in signature(getattr(home, name)).parameters.values())
    }
    tried = {name.partition(",")[0] for name in REFUSED if name.startswith("rankinite.")}
    assert takes_data - tried - NEEDS_NONE == set(), "add them to REFUSED, with a call that is refused, or to NEEDS_NONE"
    assert tried <= takes_data


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
    for other in (rk.MART(trees=2), rk.LambdaMART.plain(trees=2), rk.McRank(trees=2)):
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
