"""Scores, score files and runs are combined like the rankers that gave them, and what they make is honest about itself."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, DataError
from refusals import refused

WORLD = rk.World(features=3, documents=8, noise=1.0)
RANKERS = {"a": rk.Feature(0), "b": rk.Feature(1), "c": rk.Feature(2)}
METHODS = {
    "exact": lambda given, data: rk.combine.exact(given["a"], given["b"], data, names=["a", "b"]),
    "greedy": rk.combine.greedy,
    "cyclic": rk.combine.cyclic,
    "average": rk.combine.average,
    "rank": lambda given, data: rk.combine.average(given, data, scale="rank"),
    "powell": lambda given, data: rk.combine.powell(given, data, most=60),
    "stacked": rk.combine.stacked,
    "stacked net": lambda given, data: rk.combine.stacked(given, data, hidden=(2,)),
}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return rk.synthesise(24, world=WORLD, doc_ids=True)


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    """The rankers' scores as an array, a run that returns everything, and lines."""
    folder = tmp_path_factory.mktemp("given")
    rk.write_run(folder / "b.run", data, RANKERS["b"])
    rk.write_scores(folder / "c.txt", data, RANKERS["c"])
    return {"a": RANKERS["a"].score(data), "b": folder / "b.run", "c": str(folder / "c.txt")}


@pytest.mark.parametrize("method", METHODS)
def test_scores_are_combined_like_their_rankers(data, files, method):
    found, expected = METHODS[method](files, data), METHODS[method](RANKERS, data)
    assert (found.weights, found.value, found.alone, found.names) == (
        expected.weights,
        expected.value,
        expected.alone,
        expected.names,
    )
    np.testing.assert_array_equal(found.scores, expected.ranker.score(data))
    np.testing.assert_array_equal(expected.scores, expected.ranker.score(data))
    assert expected.is_model
    assert not found.is_model


def test_a_ranker_and_scores_are_combined(data, files):
    found = rk.combine.exact(files["a"], RANKERS["b"], data)
    assert found.weights == rk.combine.exact(RANKERS["a"], RANKERS["b"], data).weights
    frame = found.to_pandas()
    assert frame["ranker"].tolist() == ["1", "2", "combined (exact)"]
    assert frame["value"].tolist() == [*found.alone, found.value]
    assert frame["weight"].tolist()[:2] == list(found.weights)


def test_systems_may_be_files_and_arrays_when_they_are_compared(data, files):
    found, expected = rk.compare(files, data, ["ndcg@10", "ap"]), rk.compare(RANKERS, data, ["ndcg@10", "ap"])
    assert found.to_csv() == expected.to_csv()
    for name, given in files.items():
        assert rk.evaluate(given, data, "err")["err"].mean == rk.evaluate(RANKERS[name], data, "err")["err"].mean


# ---- runs that leave documents out ----------------------------------------------------------------------------------


def cut_run(path, data, ranker, most, *, stranger=None):
    """A run of the first ``most`` documents of every query, and perhaps of one that nobody judged."""
    lines = []
    for query in range(data.queries):
        part = data.select_queries([query])
        order = np.argsort(-ranker.score(part), kind="stable")[:most]
        ranked = [(part.doc_ids[row], float(ranker.score(part)[row])) for row in order]
        ranked += [(stranger, ranked[-1][1] - 1.0)] if stranger else []
        lines += [f"{part.qids[0]} Q0 {name} {rank} {score!r} t\n" for rank, (name, score) in enumerate(ranked, 1)]
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def trec(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trec")
    rk.write(data.select_queries(range(12)), folder / "dev.qrels")
    rk.write(data.select_queries(range(12, 24)), folder / "test.qrels")
    cut_run(folder / "a.run", data, RANKERS["a"], 4)
    cut_run(folder / "b.run", data, RANKERS["b"], 3, stranger="unjudged")
    return folder


def test_judgements_and_runs_are_evaluated_as_by_read_trec(trec):
    runs = {"a": trec / "a.run", "b": trec / "b.run"}
    pooled, scores = rk.read_trec(trec / "dev.qrels", list(runs.values()))
    expected = rk.compare(dict(zip(runs, scores, strict=True)), pooled, ["ap", "p@5"], convention="trec")
    found = rk.compare(runs, rk.read(trec / "dev.qrels"), ["ap", "p@5"], convention="trec")
    assert found.to_json() == expected.to_json()
    assert found["b"].coverage.unjudged_documents == 12
    assert len(found["a"].coverage.unjudged_queries) == 12  # those of the test data


def test_arrays_beside_runs_return_no_document_that_they_do_not_know(trec):
    judged = rk.read(trec / "dev.qrels")
    values = np.arange(judged.rows, dtype=float)
    alone = rk.evaluate(values, judged, "p@5")["p@5"]
    beside = rk.compare({"values": values, "b": trec / "b.run"}, judged, "p@5")["values"]["p@5"]
    np.testing.assert_array_equal(beside.per_query, alone.per_query)


@pytest.mark.parametrize("method", METHODS)
def test_the_value_is_that_of_the_run_that_is_written(trec, tmp_path, method):
    runs = {"a": trec / "a.run", "b": trec / "b.run"}
    judged = rk.read(trec / "dev.qrels")
    found = METHODS[method](runs, judged)
    found.write_scores(tmp_path / "both.run")
    assert rk.evaluate(tmp_path / "both.run", judged, found.measure)[found.measure].mean == pytest.approx(
        found.value, abs=1e-12
    )
    for name, alone in zip(runs, found.alone, strict=True):
        assert rk.evaluate(runs[name], judged, found.measure)[found.measure].mean == alone
    written = {(line.split()[0], line.split()[2]) for line in (tmp_path / "both.run").read_text().splitlines()}
    dev = set(judged.qids.tolist())
    returned = {(words[0], words[2]) for run in runs.values() for words in map(str.split, run.read_text().splitlines())}
    assert written == {pair for pair in returned if pair[0] in dev}


def test_what_a_run_does_not_return_comes_behind_what_it_does(trec, data):
    found = rk.combine.average({"a": trec / "a.run", "b": trec / "b.run"}, rk.read(trec / "dev.qrels"))
    run = rk.read_run(trec / "a.run", found.data)
    filled = found.rankers[0].score(found.data)
    assert np.isfinite(filled).all()
    for first, last in zip(found.data.offsets[:-1], found.data.offsets[1:], strict=True):
        known = np.isfinite(run[first:last])
        np.testing.assert_array_equal(filled[first:last][known], run[first:last][known])
        assert filled[first:last][~known].max() < run[first:last][known].min()
    assert sum("does not return" in warning for warning in found.warnings) == 2


def test_a_combination_of_runs_scores_other_queries_of_theirs(trec):
    runs = {"a": trec / "a.run", "b": trec / "b.run"}
    test = rk.read(trec / "test.qrels")
    found = rk.combine.exact(*runs.values(), rk.read(trec / "dev.qrels"), names=list(runs))
    seen = rk.compare({**runs, "both": found}, test, "ndcg@10")
    pooled, scores = rk.read_trec(trec / "test.qrels", list(runs.values()))
    returned = np.isfinite(scores).any(axis=0)
    assert np.array_equal(np.isfinite(found.score(pooled)), returned)
    # Where both runs return a document, its score is the weighted sum.
    both = np.isfinite(scores).all(axis=0)
    expected = found.weights[0] * scores[0] + found.weights[1] * scores[1]
    np.testing.assert_allclose(found.score(pooled)[both], np.asarray(expected)[both])
    assert seen["both"]["ndcg@10"].mean == rk.evaluate(found.score(pooled), pooled, "ndcg@10")["ndcg@10"].mean


# ---- what cannot be done --------------------------------------------------------------------------------------------


def test_scores_make_no_model(data, files, tmp_path):
    found = rk.combine.exact(files["a"], RANKERS["b"], data)
    with refused(ArgumentError, value="1"):
        found.ranker.save(tmp_path / "both.rankinite")
    assert not list(tmp_path.iterdir())


def test_an_array_scores_no_other_rows(data, files):
    found = rk.combine.exact(files["a"], files["b"], data)
    other = rk.synthesise(24, part="test", world=WORLD, doc_ids=True)
    for rows in (other, data.select_queries(range(3)), data.features):
        with refused(DataError, value="1"):
            found.ranker.score(rows)
    again = rk.Dataset(data.features, data.grades, data.offsets, data.qids, data.feature_names, data.doc_ids)
    np.testing.assert_array_equal(found.score(again), found.scores)


@pytest.mark.parametrize(
    ("given", "kind", "fields"),
    [
        ("none.run", DataError, {"place": "none.run", "value": "none.run"}),
        (np.zeros(3), DataError, {"value": (3,)}),
        (7, ArgumentError, {"place": "ranker 2", "value": 7}),
    ],
)
def test_what_is_no_ranker_is_refused(data, given, kind, fields):
    with refused(kind, **fields):
        rk.combine.exact(RANKERS["a"], given, data)


def test_a_model_file_is_to_be_loaded(data, tmp_path):
    rk.Feature("1").save(tmp_path / "a.rankinite")
    with refused(DataError, place="a.rankinite") as caught:
        rk.evaluate(tmp_path / "a.rankinite", data, "ap")
    assert "load" in caught.value.remedy


def test_a_run_of_other_queries_is_refused(data, files, tmp_path):
    (tmp_path / "x.run").write_text("elsewhere Q0 d 1 0.5 t\n")
    with refused(DataError, place="x.run", value=["elsewhere"]):
        rk.evaluate(tmp_path / "x.run", data, "ap")


def test_a_gap_that_rounding_swallows_still_separates(data):
    values = 1e20 + np.round(RANKERS["a"].score(data) * 4) * 2.0**20
    values[::4] = -np.inf
    found = rk.combine.average([values, RANKERS["b"]], data).rankers[0]
    order = np.random.default_rng(1).permutation(data.rows)
    filled = found.score(data)
    for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        missing = np.isneginf(values[first:last])
        assert filled[first:last][missing].max() < filled[first:last][~missing].min()
    assert rk.combine.average([values, RANKERS["b"]], data).value == pytest.approx(_shuffled(values, order, data), abs=1e-12)


def _shuffled(values, order, data):
    """The value for the same rows in another order."""
    rows = data.query_of_row()[order]
    again = Dataset.from_rows(
        data.features[order],
        data.grades[order],
        np.asarray(data.qids.tolist())[rows],
        data.feature_names,
        doc_ids=data.doc_ids[order],
    )
    return rk.combine.average([again.from_input_order(values[order]), RANKERS["b"]], again).value
