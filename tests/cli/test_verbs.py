"""Every verb does from the shell what Python does."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import rankinite as rk


def test_synth_writes_one_part_of_a_world(run, tmp_path):
    assert (
        run("synth", "--queries", 30, "--documents", 5, "--features", 6, "--seed", 3, "--out", tmp_path / "x.txt.gz").code == 0
    )
    data = rk.read(tmp_path / "x.txt.gz")
    assert (data.queries, data.rows, len(data.feature_names)) == (30, 150, 6)


def test_synth_writes_all_parts_and_domains_to_a_folder(run, tmp_path):
    out = tmp_path / "worlds"
    done = run("synth", "--queries", 8, "--documents", 4, "--features", 5, "--domains", 2, "--suffix", "parquet", "--out", out)
    assert done.code == 0
    parts = [rk.read(out / f"domain{d}" / f"{part}.parquet") for d in (0, 1) for part in ("train", "valid", "test")]
    assert [part.queries for part in parts] == [8, 4, 8] * 2
    assert rk.concat(parts).queries == 40  # all qids differ


def test_describe_counts_and_finds_what_is_odd(run, letor):
    done = run("describe", letor)
    assert done.code == 0
    assert "1 query has documents of one grade only (0 with a single document)" in done.out
    assert "1 row repeats the features of an earlier row of the same query, 1 with another grade" in done.out
    assert "1 feature is constant and says nothing: 3." in done.out
    found = json.loads(run("describe", letor, "--json").out)[0]
    assert (found["queries"], found["rows"], found["grades"]) == (3, 7, {"0.0": 4, "1.0": 2, "2.0": 1})


def test_describe_tells_of_infinities_and_rare_grades(run, tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text("".join(f"{grade} qid:1 1:{grade} 2:{'inf' if grade == 3 else 0}\n" for grade in range(-1, 24)))
    done = run("describe", path)
    assert done.code == 0
    assert "1 feature has infinite values (2)" in done.out
    assert "5 documents of other grades" in done.out
    assert "Some grades are negative" in done.out


def test_convert_says_what_letor_cannot_hold(run, letor, tmp_path):
    rk.write(rk.read(letor).rename_features(["bm25", "pagerank", "length"]), tmp_path / "named.parquet")
    done = run("convert", tmp_path / "named.parquet", "--out", tmp_path / "plain.txt")
    assert done.code == 0
    assert "no place for feature names" in done.err


def test_describe_refuses_files_with_different_features(run, letor, tmp_path):
    other = tmp_path / "wide.txt"
    other.write_text("1 qid:1 1:1 2:2 3:3 4:4\n")
    done = run("describe", letor, other)
    assert done.code == 2
    assert str(other) in done.err
    assert "4" in done.err


@pytest.mark.parametrize("name", ["x.parquet", "x.txt.zst", "x.csv", "x.arrow"])
def test_convert_keeps_everything(run, letor, tmp_path, name):
    assert run("convert", letor, "--out", tmp_path / name).code == 0
    before, after = rk.read(letor), rk.read(tmp_path / name)
    assert np.array_equal(before.features, after.features)
    assert np.array_equal(before.grades, after.grades)
    assert before.qids.tolist() == after.qids.tolist()
    assert before.doc_ids.tolist() == after.doc_ids.tolist()


def test_evaluate_prints_what_python_says(run, letor, tmp_path):
    data = rk.read(letor)
    expected = rk.evaluate(rk.Feature("2"), data, ["ndcg@2", "err"])
    done = run("evaluate", "feature:2", letor, "-m", "ndcg@2", "-m", "err", "--per-query", tmp_path / "q.csv")
    assert (done.code, done.out) == (0, f"{expected}\n")
    assert run("evaluate", "feature:2", letor, "-m", "ndcg@2", "-m", "err", "--json").out == f"{expected.to_json()}\n"
    rows = list(csv.DictReader(io.StringIO((tmp_path / "q.csv").read_text())))
    assert [row["qid"] for row in rows] == ["a", "b", "c"]
    assert rows[1]["err"] == ""  # the one-grade query
    assert float(rows[0]["ndcg@2"]) == expected["ndcg@2"].per_query[0]


def test_evaluate_takes_scores_and_a_descending_feature(run, letor, tmp_path):
    data = rk.read(letor)
    np.savetxt(tmp_path / "scores.txt", -data.features[:, 1])
    by_file = run("evaluate", tmp_path / "scores.txt", letor, "--json")
    by_feature = run("evaluate", "ascending:2", letor, "--json")
    assert by_file.code == 0
    assert by_file.out == by_feature.out


@pytest.mark.parametrize("layout", ["text", "markdown", "latex", "csv", "json"])
def test_compare_prints_in_every_layout(run, letor, layout):
    done = run("compare", "one=feature:1", "two=feature:2", "--data", letor, "-m", "ndcg@3", "--format", layout, "--pairs")
    assert done.code == 0
    expected = rk.compare({"one": rk.Feature("1"), "two": rk.Feature("2")}, rk.read(letor), ["ndcg@3"])
    mean, pair = expected["one"]["ndcg@3"].mean, expected.pair("one", "two", "ndcg@3")
    if layout == "csv":
        assert done.out == expected.pairs_to_csv()
    elif layout == "json":
        assert json.loads(done.out) == json.loads(expected.to_json())
    else:
        assert f"{mean:.4f}" in done.out
        assert f"{pair.wins}/{pair.ties}/{pair.losses}" in done.out


def test_trec_runs_are_judged_by_qrels(run, tmp_path):
    (tmp_path / "web.qrels").write_text("1 0 d1 1\n1 0 d2 0\n1 0 d3 2\n2 0 d1 1\n")
    (tmp_path / "a.run").write_text("1 Q0 d2 1 9 a\n1 Q0 d3 2 8 a\n2 Q0 d1 1 3 a\n")
    (tmp_path / "b.run").write_text("1 Q0 d3 1 9 b\n1 Q0 d1 2 8 b\n2 Q0 dx 1 3 b\n2 Q0 d1 2 2 b\n")
    done = run("evaluate", tmp_path / "a.run", tmp_path / "web.qrels", "-m", "map", "--convention", "trec", "--json")
    assert done.code == 0
    assert json.loads(done.out)["measures"]["ap"]["per_query"] == {"1": 0.25, "2": 1.0}
    both = run(
        "compare", tmp_path / "a.run", tmp_path / "b.run", "-d", tmp_path / "web.qrels", "-m", "map", "--convention", "trec"
    )
    assert both.code == 0
    assert "0.7500" in both.out  # b: (1 + 1/2) / 2


def test_the_order_of_lines_changes_no_digit(run, tmp_path):
    world = rk.World(documents=8, features=3, noise=0.5)
    rk.write(rk.synthesise(50, world=world), tmp_path / "a.txt")
    lines = (tmp_path / "a.txt").read_text().splitlines()
    np.random.default_rng(1).shuffle(lines)
    (tmp_path / "b.txt").write_text("\n".join(lines))
    measures = [f"--measure={name}" for name in ("ndcg@3", "err", "ap", "rr", "p@3", "pairwise-errors", "balanced-error")]
    first, second = (
        json.loads(run("evaluate", "feature:1", tmp_path / name, *measures, "--json").out) for name in ("a.txt", "b.txt")
    )
    first.pop("data"), second.pop("data")
    assert first == second


def test_threads_change_nothing(run, letor):
    one = run("--threads", 1, "compare", "feature:1", "feature:2", "--data", letor)
    two = run("--threads", 2, "compare", "feature:1", "feature:2", "--data", letor)
    assert one.code == 0
    assert one.out == two.out


@pytest.mark.parametrize("verb", ["synth", "describe", "convert", "train", "score", "inspect", "evaluate", "compare"])
def test_help_teaches_by_example(run, verb):
    done = run(verb, "--help")
    assert done.code == 0
    assert f"rankinite {verb} " in done.out.partition("Examples:")[2]


def test_queries_that_a_run_lacks_or_nobody_judged_are_noted(run, tmp_path):
    (tmp_path / "web.qrels").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n2 0 d2 0\n3 0 d1 1\n3 0 d2 0\n")
    (tmp_path / "a.run").write_text("1 Q0 d1 1 9 a\n1 Q0 d9 2 8 a\n7 Q0 d1 1 3 a\n")
    (tmp_path / "b.run").write_text("1 Q0 d1 1 9 b\n2 Q0 d1 1 9 b\n3 Q0 d2 1 9 b\n")
    first = "for 2 of 3 judged queries ('2', '3'): each counts as nothing found"
    second = "ueries of the run that nobody judged are left out: 1 ('7')"
    for layout in ("text", "csv", "json"):
        done = run("evaluate", tmp_path / "a.run", tmp_path / "web.qrels", "-m", "map", "--format", layout)
        assert done.code == 0
        assert f"No document is returned {first}" in done.err
        assert second in done.err
    assert json.loads(done.out)["coverage"] == {
        "queries": 3,
        "unanswered": ["2", "3"],
        "unjudged_queries": ["7"],
        "documents": 2,
        "unjudged_documents": 1,
    }
    assert json.loads(done.out)["measures"]["ap"]["mean"] == pytest.approx(1 / 3)
    assert not run("evaluate", tmp_path / "b.run", tmp_path / "web.qrels", "--quiet").err
    both = run("compare", f"a={tmp_path}/a.run", f"b={tmp_path}/b.run", "-d", tmp_path / "web.qrels", "--json")
    assert both.err == f"a: no document is returned {first}, as with trec_eval -c.\na: q{second}.\n"
    assert json.loads(both.out)["warnings"] == both.err.splitlines()
    printed = run("evaluate", tmp_path / "a.run", tmp_path / "web.qrels", "--verbose").err
    assert "no judgement of 1 of 2 documents of judged queries" in printed
