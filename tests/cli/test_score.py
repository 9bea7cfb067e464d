"""``score`` without grades: every format in and out, with and without queries; and the verbs that need grades say so."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import rankinite as rk

NAMES = ("bm25", "target", "weight", "y")
"""Features that are called as grades and weights are elsewhere."""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Candidates that nobody judged, rows of queries in any order, in every format; a model of them, and what it scores."""
    folder = tmp_path_factory.mktemp("scores")
    rng = np.random.default_rng(3)
    matrix, qids = rng.normal(size=(40, 4)).astype(np.float32), [f"q{number}" for number in rng.permutation(40) % 7]
    documents = [f"d{number}" for number in range(40)]
    data = rk.read(matrix, grades=rng.integers(0, 3, 40), qid=qids, doc_id=documents).rename_features(NAMES)
    forest = rk.LambdaMART.plain(trees=5, leaves=4, min_rows=1).fit(data)
    forest.save(folder / "forest")
    rk.Normalised(forest, "rank").save(folder / "by-query")
    table = {"qid": qids, "doc_id": documents, **dict(zip(NAMES, matrix.T, strict=True))}
    for name, columns in (("all", table), ("flat", {name: table[name] for name in NAMES})):
        frame = pa.table(columns)
        pa.parquet.write_table(frame, folder / f"{name}.parquet")
        pa.feather.write_feather(frame, folder / f"{name}.arrow")
        for suffix, separator in ((".csv", ","), (".tsv", "\t"), (".csv.gz", ",")):
            with pa.output_stream(folder / f"{name}{suffix}") as out:
                pa.csv.write_csv(frame, out, pa.csv.WriteOptions(delimiter=separator))
    forest.renamed([str(number) for number in range(1, 5)]).save(folder / "numbered")
    numbers = [" ".join(f"{place}:{value!s}" for place, value in enumerate(row, 1)) for row in matrix]
    (folder / "flat.txt").write_text("\n".join(numbers))
    lines = zip(qids, numbers, documents, strict=True)
    (folder / "all.txt").write_text("".join(f"qid:{q} {row} # {d}\n" for q, row, d in lines))
    return folder, matrix, qids, documents, forest.score(matrix)


def numbers(text):
    return [float(line) for line in text.splitlines()]


SUFFIXES = ("parquet", "arrow", "csv", "tsv", "csv.gz", "txt")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_scored_without_grades_in_the_order_of_the_input(run, home, tmp_path, suffix):
    folder, *_, scores = home
    done = run("score", folder / ("numbered" if suffix == "txt" else "forest"), folder / f"all.{suffix}")
    assert numbers(done.out) == scores.tolist()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lines_and_arrays_need_no_queries(run, home, tmp_path, suffix):
    folder, *_, scores = home
    model, data = folder / ("numbered" if suffix == "txt" else "forest"), folder / f"flat.{suffix}"
    assert numbers(run("score", model, data).out) == scores.tolist()
    assert run("score", model, data, "--out", tmp_path / "s.npy").code == 0
    assert np.load(tmp_path / "s.npy").tolist() == scores.tolist()


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "arrow", "trec", "json"])
def test_ranks_need_queries(run, home, tmp_path, form):
    folder = home[0]
    done = run("score", folder / "forest", folder / "flat.parquet", "--format", form, "--out", tmp_path / "out")
    assert (done.code, done.error.value) == (2, ["qid"])
    assert "--qid" in done.err
    assert "--group" in done.err
    done = run("score", folder / "numbered", folder / "flat.txt", "--format", form, "--out", tmp_path / "out")
    assert done.code == 2
    assert "--group" in done.err
    assert not list(tmp_path.iterdir())


def test_a_ranker_that_compares_documents_needs_queries(run, home):
    folder = home[0]
    done = run("score", folder / "by-query", folder / "flat.csv")
    assert (done.code, done.out, done.error.value) == (2, "", ["qid"])
    scored = numbers(run("score", folder / "by-query", folder / "all.csv").out)
    data = rk.read(folder / "all.parquet", unjudged="keep", features=NAMES)
    assert scored == data.to_input_order(rk.load(folder / "by-query").score(data)).tolist()


def test_queries_may_be_given_by_sizes(run, home, tmp_path):
    folder, *_, scores = home
    (tmp_path / "sizes").write_text("25\n15\n")
    out = tmp_path / "s.parquet"
    assert run("score", folder / "forest", folder / "flat.csv", "--group", tmp_path / "sizes", "--out", out).code == 0
    table = pa.parquet.read_table(out)
    assert table.column_names == ["qid", "score", "rank"]
    assert table["score"].to_pylist() == scores.tolist()
    for part, rows in (("1", slice(0, 25)), ("2", slice(25, 40))):
        ranks = np.asarray(table["rank"].to_pylist()[rows])
        assert (np.argsort(ranks) == np.argsort(-scores[rows], kind="stable")).all()
        assert set(table["qid"].to_pylist()[rows]) == {part}


READERS = {
    "csv": lambda raw: list(csv.DictReader(io.StringIO(raw.decode()))),
    "tsv": lambda raw: list(csv.DictReader(io.StringIO(raw.decode()), delimiter="\t")),
    "parquet": lambda raw: pa.parquet.read_table(io.BytesIO(raw)).to_pylist(),
    "arrow": lambda raw: pa.ipc.open_file(io.BytesIO(raw)).read_all().to_pylist(),
}


@pytest.mark.parametrize("form", READERS)
def test_tables_say_which_document_has_which_rank(run, home, tmp_path, form):
    folder, _, qids, documents, scores = home
    assert run("score", folder / "forest", folder / "all.csv", "--out", tmp_path / f"by-suffix.{form}").code == 0
    assert run("score", folder / "forest", folder / "all.csv", "--format", form, "--out", tmp_path / "named").code == 0
    raw = (tmp_path / "named").read_bytes()
    assert raw == (tmp_path / f"by-suffix.{form}").read_bytes()
    rows = READERS[form](raw)
    assert list(rows[0]) == ["qid", "doc_id", "score", "rank"]
    assert [(row["qid"], row["doc_id"], float(row["score"])) for row in rows] == list(
        zip(qids, documents, scores.tolist(), strict=True)
    )
    for qid in set(qids):
        rows_of_query = [row for row in rows if row["qid"] == qid]
        best_first = sorted(rows_of_query, key=lambda row: -float(row["score"]))
        assert [int(row["rank"]) for row in best_first] == list(range(1, len(best_first) + 1))
    if form in {"csv", "tsv"}:
        assert run("score", folder / "forest", folder / "all.csv", "--format", form).out.encode() == raw


def test_a_run_goes_by_its_suffix(run, home, tmp_path):
    folder = home[0]
    assert run("score", folder / "forest", folder / "all.csv", "--tag", "mine", "--out", tmp_path / "a.run").code == 0
    data = rk.read(folder / "all.parquet", unjudged="keep", features=NAMES)
    rk.write_run(tmp_path / "b.run", data, rk.load(folder / "forest"), tag="mine")
    assert (tmp_path / "a.run").read_bytes() == (tmp_path / "b.run").read_bytes()


def test_tables_hold_probabilities_beside_scores(run, files, tmp_path):
    for learner, columns in (
        (rk.MART(trees=2, leaves=3, loss="binary"), ["probability"]),
        (rk.McRank(trees=2, leaves=3), [f"probability_{grade}" for grade in range(5)]),
    ):
        forest = learner.fit(rk.read(files.train))
        forest.save(tmp_path / "model")
        assert run("score", tmp_path / "model", files.test, "--probabilities", "--out", tmp_path / "p.parquet").code == 0
        table = pa.parquet.read_table(tmp_path / "p.parquet")
        assert table.column_names == ["qid", "doc_id", "score", "rank", *columns]
        data = rk.read(files.test)
        assert table["score"].to_pylist() == forest.score(data).tolist()
        expected = forest.probabilities(data).reshape(data.rows, -1).T
        assert [table[name].to_pylist() for name in columns] == expected.tolist()


@pytest.mark.parametrize(
    ("words", "setting", "value"),
    [
        (("--format", "csv", "--json"), "json", True),
        (("--format", "csv", "--out", "x.parquet"), "out", "x.parquet"),
        (("--format", "text", "--out", "x.arrow"), "out", "x.arrow"),
        (("--format", "parquet", "--out", "x.csv"), "out", "x.csv"),
        (("--format", "arrow"), "", "arrow"),
        (("--tag", "x", "--out", "x.csv"), "tag", "x"),
    ],
)
def test_formats_that_contradict_each_other_are_refused(run, home, monkeypatch, tmp_path, words, setting, value):
    monkeypatch.chdir(tmp_path)
    done = run("score", home[0] / "forest", home[0] / "all.csv", *words)
    assert (done.code, done.out, done.error.setting, done.error.value) == (2, "", setting, value)
    assert not list(tmp_path.iterdir())


def test_a_named_format_counts_more_than_a_suffix_of_text(run, home, tmp_path):
    folder, *_, scores = home
    assert run("score", folder / "forest", folder / "all.csv", "--format", "text", "--out", tmp_path / "s.csv").code == 0
    assert numbers((tmp_path / "s.csv").read_text()) == scores.tolist()


def test_scores_do_not_replace_the_data(run, home, tmp_path):
    data = tmp_path / "all.csv"
    data.write_bytes((home[0] / "all.csv").read_bytes())
    before = data.read_bytes()
    done = run("score", home[0] / "forest", data, "--out", data)
    assert (done.code, done.error.setting, data.read_bytes()) == (2, "out", before)


# ---- where grades are needed --------------------------------------------------------------------------------------


VERBS = {
    "train": ("train", "LOG", "--trees", "2", "--out", "OUT"),
    "train, valid": ("train", "JUDGED", "--valid", "LOG", "--trees", "2", "--out", "OUT"),
    "evaluate": ("evaluate", "feature:1", "LOG"),
    "compare": ("compare", "feature:1", "feature:2", "--data", "LOG"),
    "combine": ("combine", "feature:1", "feature:2", "--data", "LOG", "--out", "OUT"),
    "adapt": ("adapt", "MODEL", "--train", "LOG", "--out", "OUT"),
    "adapt, test": ("adapt", "MODEL", "--train", "OTHER", "--test", "LOG", "--out", "OUT"),
    "cross-validate": ("cross-validate", "LOG", "--system", "lambdamart trees=2"),
    "tune": ("tune", "LOG", "--trials", "1", "--out", "OUT"),
    "optimum": ("optimum", "NET", "LOG"),
    "distil": ("distil", "MODEL", "--data", "LOG", "--out", "OUT"),
    "ensemble": ("ensemble", "LOG", "--out", "OUT"),
}


@pytest.fixture(scope="module")
def places(files, nets):
    log = files.folder / "log.csv"
    rk.write(rk.read(files.test).without_grades(), log)
    return {"LOG": log, "JUDGED": files.train, "OTHER": files.valid, "MODEL": files.model, "NET": nets["linear"]}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_that_need_grades_refuse_tables_without(run, places, tmp_path, verb):
    words = [places.get(word, tmp_path / "out" if word == "OUT" else word) for word in VERBS[verb]]
    done = run(*words)
    assert (done.code, done.out, done.error.value) == (2, "", ["grades"])
    assert "--grades" in done.err
    done = run(*words, "--unjudged", "keep")
    assert (done.code, done.out, done.error.value) == (2, "", False)
    assert "no grades" in done.err
    assert not list(tmp_path.iterdir())


# ---- judgements ---------------------------------------------------------------------------------------------------


def test_judgements_are_written_beside_runs(run, files, tmp_path):
    qrels, scored = tmp_path / "web.qrels", tmp_path / "web.run"
    done = run("convert", files.test, "--out", qrels, "--json")
    assert json.loads(done.out)["lost"] == ["features"]
    assert "Qrels have no place for features" in done.err
    assert run("score", files.model, files.test, "--out", scored).code == 0
    by_files = json.loads(run("evaluate", scored, qrels, "--json").out)
    by_model = json.loads(run("evaluate", files.model, files.test, "--json").out)
    values = [[one["mean"] for one in result["measures"].values()] for result in (by_files, by_model)]
    assert values[0] == values[1]
