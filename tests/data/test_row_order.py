"""No array is taken or given in another order than the one the caller holds, however the rows of queries are scattered."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rankinite as rk
from rankinite.data.grouping import RowValues
from rankinite.sklearn import MARTRanker
from refusals import refused

WORLD = rk.World(documents=8, features=4, noise=0.2)
SOURCE = rk.synthesise(12, world=WORLD)
ROWS = SOURCE.rows
NOTE = "rows were regrouped"


class Scattered:
    """The rows of some queries in a random order, as a caller holds them, and the same sorted by query by the caller."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        drawn = self.random.permutation(ROWS)
        self.matrix, self.grades = SOURCE.features[drawn], SOURCE.grades[drawn]
        self.qids, self.ids = SOURCE.qids[SOURCE.query_of_row()][drawn], np.asarray([f"d{row}" for row in drawn])
        first = {qid: place for place, qid in reversed(list(enumerate(self.qids.tolist())))}
        self.order = sorted(range(ROWS), key=lambda row: (first[str(self.qids[row])], row))
        with pytest.warns(UserWarning, match=NOTE):
            self.data = rk.read(self.matrix, grades=self.grades, qid=self.qids, doc_id=self.ids)
        rows = self.order
        self.sorted = rk.read(self.matrix[rows], grades=self.grades[rows], qid=self.qids[rows], doc_id=self.ids[rows])


@pytest.fixture(params=range(4))
def scattered(request: pytest.FixtureRequest) -> Scattered:
    return Scattered(request.param)


def values(result: rk.Evaluation) -> list[float]:
    return result["ndcg@3"].per_query.tolist()


def weighed(found: rk.combine.Combination) -> tuple[float, list[float], float]:
    return found.value, found.scores.tolist(), rk.evaluate(found.scores, found.data, "ndcg@3")["ndcg@3"].mean


def written(write: Callable[..., None], name: str) -> Callable[..., bytes]:
    def content(scores: Any, data: rk.Dataset, folder: Path) -> bytes:
        write(folder / name, data, scores)
        return (folder / name).read_bytes()

    return content


def compared(scores: Any, data: rk.Dataset, _: Path) -> object:
    systems = {"given": scores, "feature": rk.Feature(0)}
    found = rk.compare(systems, data, "ndcg@3", resamples=100)
    report = rk.report.of_comparison(found, data, systems)
    return values(found["given"]), report.queries, report.grades


CONSUMERS: dict[str, Callable[[Any, rk.Dataset, Path], object]] = {
    "evaluate": lambda scores, data, _: values(rk.evaluate(scores, data, "ndcg@3")),
    "compare and report": compared,
    "exact": lambda scores, data, _: weighed(rk.combine.exact(scores, rk.Feature(0), data, "ndcg@3")),
    "average": lambda scores, data, _: weighed(rk.combine.average([scores, rk.Feature(0)], data, "ndcg@3")),
    "powell": lambda scores, data, _: weighed(rk.combine.powell([scores, rk.Feature(0)], data, "ndcg@3")),
    "write_run": written(rk.write_run, "a.run"),
    "write_scores by query": written(rk.write_scores, "a.json"),
    "clicks": lambda scores, data, _: rk.simulate_clicks(data, scores, 50).data.grades.tolist(),
    "select_rows": lambda scores, data, _: data.select_rows(np.greater(scores, 0)).doc_ids.tolist(),
    "with_positions": lambda scores, data, _: data.with_positions(np.floor(np.abs(scores)) + 1).positions.tolist(),
}


@pytest.mark.parametrize("name", CONSUMERS)
def test_values_in_the_order_of_the_caller_count_as_if_the_caller_had_sorted_the_rows(
    tmp_path: Path, scattered: Scattered, name: str
) -> None:
    data, consumer = scattered.data, CONSUMERS[name]
    scores = np.round(3 * scattered.random.normal(size=ROWS), 1)
    expected = consumer(scores[scattered.order], scattered.sorted, tmp_path)
    assert consumer(data.from_input_order(scores), data, tmp_path) == expected
    assert consumer(data.from_input_order(pd.Series(scores, scattered.order)), data, tmp_path) == expected
    assert consumer(data.in_row_order(scores[scattered.order]), data, tmp_path) == expected
    with refused(rk.DataError):
        consumer(scores, data, tmp_path)


def test_a_plain_array_list_or_series_is_refused_with_what_says_its_order(scattered: Scattered) -> None:
    data, grades = scattered.data, scattered.grades
    assert rk.evaluate(data.from_input_order(grades), data, "ndcg@10")["ndcg@10"].mean == 1.0
    for plain in (grades, grades.tolist(), pd.Series(grades), data.grades):
        with refused(rk.DataError, place=data.source, value=type(plain).__name__) as caught:
            rk.evaluate(plain, data, "ndcg@10")
        assert "data.from_input_order" in caught.value.remedy
        assert "data.in_row_order" in caught.value.remedy
    with refused(rk.DataError, place=f"grades: {data.source}"):
        rk.compare({"grades": grades, "feature": rk.Feature(0)}, data, "ndcg@10")


def test_predictions_of_another_library_are_measured_by_the_rows_they_are_for(scattered: Scattered) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    sorted_data, data = scattered.sorted, scattered.data
    peer = lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1)
    peer.fit(sorted_data.features, sorted_data.grades.astype(int), group=np.diff(sorted_data.offsets))
    expected = values(rk.evaluate(peer.predict(sorted_data.features), sorted_data, "ndcg@3"))
    assert values(rk.evaluate(data.from_input_order(peer.predict(scattered.matrix)), data, "ndcg@3")) == expected
    assert values(rk.evaluate(data.in_row_order(peer.predict(data.features)), data, "ndcg@3")) == expected


def rankers(data: rk.Dataset) -> list[Any]:
    forest = rk.MART(trees=3, leaves=4, min_rows=2).fit(data)
    linear = rk.Linear(data.feature_names, [1.0, -2.0, 0.5, 0.0])
    return [
        forest,
        linear,
        rk.LambdaRank(hidden=(3,), epochs=2).fit(data),
        rk.Feature(1),
        0.3 * forest + linear,
        rk.Normalised(forest, "rank"),
        rk.combine.stacked([forest, linear], data, "ndcg@3").ranker,
        rk.combine.average([forest, linear], data, "ndcg@3"),
    ]


def test_scores_are_given_back_in_the_order_of_the_caller() -> None:
    case = Scattered(0)
    data, frame = case.data, pd.DataFrame({"qid": case.qids, "grade": case.grades})
    for ranker in rankers(data):
        scores = ranker.score(data)
        frame["score"] = data.to_input_order(scores)
        assert frame["score"].tolist() == data.to_input_order(np.array(scores)).tolist()
        assert dict(zip(case.ids.tolist(), frame["score"], strict=True)) == dict(
            zip(case.sorted.doc_ids.tolist(), ranker.score(case.sorted).tolist(), strict=True)
        )
        assert values(rk.evaluate(scores, data, "ndcg@3")) == values(rk.evaluate(ranker, data, "ndcg@3"))
        assert "to_input_order" in repr(scores)
        assert type(ranker.score(case.sorted)) is np.ndarray
    forest = rankers(data)[0]
    *_, last = forest.staged_scores(data)
    assert values(rk.evaluate(last, data, "ndcg@3")) == values(rk.evaluate(forest, data, "ndcg@3"))
    by_grade = rk.McRank(trees=2, leaves=4, min_rows=2).fit(data)
    shares = by_grade.probabilities(data)
    assert "to_input_order" in repr(shares)
    assert data.to_input_order(shares).tolist() == by_grade.probabilities(case.matrix).tolist()
    split = forest.contributions(data)
    assert data.to_input_order(split.values).tolist() == forest.contributions(case.matrix).values.tolist()


def test_arithmetic_keeps_the_order_and_everything_else_loses_it(scattered: Scattered) -> None:
    data = scattered.data
    scores, other = rk.Feature(0).score(data), data.from_input_order(scattered.matrix[:, 1])
    plain, rows = np.array(scores), np.array(other)
    kept = {"sum": (scores + 2 * other, plain + 2 * rows), "minus": (-scores, -plain), "maximum": (np.maximum(scores, 0), None)}
    for found, expected in kept.values():
        rk.evaluate(found, data, "ndcg@3")
        assert expected is None or found.tolist() == expected.tolist()
    scores += other
    assert scores.tolist() == (plain + rows).tolist()
    scores[scores < 0] = -np.inf
    rk.evaluate(scores, data, "ndcg@3")
    lost = [
        scores + plain,
        plain + scores,
        np.sort(scores),
        scores[::-1],
        scores[:],
        scores.copy(),
        np.concatenate((scores[1:], scores[:1])),
        scores.reshape(-1),
        np.where(scores > 0, scores, plain),
        operator.iadd(data.in_row_order(plain.copy()), plain),
        operator.iadd(plain.copy(), scores),
        np.add(plain, plain, out=data.in_row_order(plain.copy())),
    ]
    for change in (lambda own: own.sort(), lambda own: operator.setitem(own, slice(2, 5), plain[2:5])):
        lost.append(data.in_row_order(plain.copy()))
        change(lost[-1])
    for found in lost:
        with refused(rk.DataError, place=data.source):
            rk.evaluate(found, data, "ndcg@3")


def test_scores_of_rows_in_another_order_are_refused() -> None:
    one, other = Scattered(1), Scattered(2)
    scores = rk.Feature(0).score(one.data)
    for data in (other.data, one.sorted, SOURCE):
        for consumer in (lambda data: rk.evaluate(scores, data, "ndcg@3"), lambda data: data.to_input_order(scores)):
            with refused(rk.DataError, place=data.source, value="RowValues"):
                consumer(data)
    again = Scattered(1).data.rename_features(list("abcd"))
    assert values(rk.evaluate(scores, again, "ndcg@3")) == values(rk.evaluate(rk.Feature(0), again, "ndcg@3"))
    with refused(rk.DataError, place=one.data.source, value="RowValues") as caught:
        one.data.from_input_order(scores)
    assert "already" in caught.value.problem
    part = one.data.select_queries([2, 0])
    with refused(rk.DataError, value="RowValues") as caught:
        part.from_input_order(scores)
    call = caught.value.remedy.partition("pass ")[2].partition(", where")[0]
    found = eval(call, {"data": part, "other": one.data, "values": scores})
    assert values(rk.evaluate(found, part, "ndcg@3")) == values(rk.evaluate(rk.Feature(0), part, "ndcg@3"))
    for method in (one.data.in_row_order, one.data.to_input_order, one.data.from_input_order):
        with refused(rk.DataError, place=one.data.source, value=3):
            method(np.zeros(3))


def test_rows_that_are_adjacent_or_only_left_out_have_one_order() -> None:
    part = SOURCE.select_rows(SOURCE.grades > 0)
    for data in (SOURCE, part, *rk.split(SOURCE)):
        assert not data.regrouped
        assert "regrouped" not in repr(data)
        scores = rk.Feature(0).score(data)
        assert not isinstance(scores, RowValues)
        assert values(rk.evaluate(scores.tolist(), data, "ndcg@3")) == values(rk.evaluate(rk.Feature(0), data, "ndcg@3"))
    assert SOURCE.select_queries([3, 1]).regrouped


def test_selections_and_joins_know_the_order_of_their_rows(scattered: Scattered) -> None:
    data = scattered.data
    parts = rk.split(data, (0.5, 0.3))
    joined = rk.concat(parts)
    expected = [name for part in parts for name in scattered.ids.tolist() if name in part.doc_ids.tolist()]
    assert joined.to_input_order(joined.doc_ids).tolist() == expected
    assert joined.regrouped
    with refused(rk.DataError):
        rk.evaluate(np.zeros(joined.rows), joined, "ndcg@3")


def test_a_note_says_that_an_array_or_a_frame_was_regrouped(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    columns = {"qid": ["a", "b", "a", "b"], "grade": [1, 0, 0, 1], "f": [0.5, 0.25, 0.75, 1.0]}
    frame = pd.DataFrame(columns)
    for source in (frame, pa.table(columns)):
        with pytest.warns(UserWarning, match=NOTE) as caught:
            data = rk.read(source)
        assert caught[0].filename == __file__  # not a line of ours, after which Python would show no other
        assert all(name in str(caught[0].message) for name in ("from_input_order", "to_input_order"))
        assert "rows regrouped" in repr(data)
        assert "regrouped" in data._repr_html_()
    rk.read(frame.sort_values("qid"))
    frame.to_csv(tmp_path / "a.csv", index=False)
    from_file = rk.read(tmp_path / "a.csv")  # score files are read in the order of the file
    assert "rows regrouped" in repr(from_file)
    MARTRanker(trees=2, min_rows=1).fit(frame[["f"]], frame["grade"], qid=frame["qid"])  # it gives no data
    assert not [one for one in recwarn if NOTE in str(one.message)]


def test_score_files_and_arrays_of_the_same_numbers_give_the_same(tmp_path: Path, scattered: Scattered) -> None:
    data, scores = scattered.data, scattered.random.normal(size=ROWS)
    np.save(tmp_path / "s.npy", scores)
    by_file = values(rk.evaluate(tmp_path / "s.npy", data, "ndcg@3"))
    assert by_file == values(rk.evaluate(data.from_input_order(scores), data, "ndcg@3"))
    rk.write_scores(tmp_path / "t.npy", data, data.from_input_order(scores))
    assert np.load(tmp_path / "t.npy").tolist() == scores.tolist()
    read = rk.read_scores(tmp_path / "s.npy", data)
    assert values(rk.evaluate(read, data, "ndcg@3")) == by_file


def test_runs_know_the_rows_they_are_for(tmp_path: Path, scattered: Scattered) -> None:
    data = scattered.data
    rk.write_run(tmp_path / "a.run", data, rk.Feature(0))
    run = rk.read_run(tmp_path / "a.run", data)
    assert values(rk.evaluate(run, data, "ndcg@3")) == values(rk.evaluate(rk.Feature(0), data, "ndcg@3"))
    lines = [
        f"{qid} 0 {name} {grade:.0f}" for qid, name, grade in zip(scattered.qids, scattered.ids, scattered.grades, strict=True)
    ]
    (tmp_path / "a.qrels").write_text("\n".join(lines))
    judged, (scores,) = rk.read_trec(tmp_path / "a.qrels", [tmp_path / "a.run"])
    assert values(rk.evaluate(scores, judged, "ndcg@3")) == values(rk.evaluate(rk.Feature(0), data, "ndcg@3"))


def test_what_trains_and_judges_inside_is_the_same_for_scattered_rows() -> None:
    case = Scattered(3)
    learner = rk.MART(trees=4, leaves=4, min_rows=2)
    boosted = rk.LambdaBoost(rounds=2)

    def results(data: rk.Dataset) -> list[object]:
        folds = rk.cross_validate({"a": learner, "b": boosted}, data, 3, measures="ndcg@3", resamples=50)
        forest = learner.fit(data, rk.synthesise(6, part="valid", world=WORLD))
        report = rk.report.of_training(forest, data, "ndcg@3")
        students = rk.distil(forest, data, trees=3, leaves=4, folds=3, measure="ndcg@3", allow_overlap=True)
        importance = forest.permutation_importance(data, "ndcg@3", repeats=1)
        return [
            [folds[name]["ndcg@3"].mean for name in folds.systems],
            report.figures[0].value,
            [row.value for row in students.rows],
            importance["1"].mean,
        ]

    assert results(case.data) == results(case.sorted)
