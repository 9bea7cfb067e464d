"""--quiet, --verbose, --threads and --json, before the verb or after it."""

from __future__ import annotations

import json

import pytest

import rankinite as rk
from rankinite.engine.parallel import thread_count


def test_quiet_leaves_results_and_errors(run, letor, tmp_path):
    loud = run("convert", letor, "--out", tmp_path / "a.parquet")
    assert "3 queries" in loud.err
    for words in (("--quiet", "convert", letor), ("convert", letor, "-q")):
        assert run(*words, "--out", tmp_path / "b.parquet").err == ""
    assert run("evaluate", "feature:1", letor, "--quiet").out == run("evaluate", "feature:1", letor).out
    refused = run("evaluate", "feature:9", letor, "--quiet")
    assert refused.code == 2
    assert "9" in refused.err


@pytest.mark.parametrize("words", [("--verbose", "evaluate", "feature:1"), ("evaluate", "--verbose", "feature:1")])
def test_verbose_tells_versions_sizes_and_times(run, letor, words):
    done = run(*words, letor)
    assert done.out == run("evaluate", "feature:1", letor).out
    assert f"rankinite {rk.__version__}, numpy " in done.err
    assert f"{letor}: 3 queries, 7 rows, 3 features" in done.err
    assert "done in " in done.err


def test_quiet_and_verbose_exclude_each_other(run, letor):
    for words in (("--quiet", "describe", letor, "--verbose"), ("describe", letor, "--quiet", "--verbose")):
        done = run(*words)
        assert (done.code, done.out) == (2, "")
        assert "--quiet and --verbose " in done.err


@pytest.mark.parametrize(
    "words", [("--threads", 1, "describe"), ("describe", "--threads", 1), ("--threads", 7, "describe", "--threads", 1)]
)
def test_threads_are_given_before_the_verb_or_after_it(run, letor, monkeypatch, words):
    seen, real = [], rk.describe

    def describe(data):
        seen.append(thread_count())
        return real(data)

    monkeypatch.setattr("rankinite.data.describe.describe", describe)
    before = thread_count()
    assert run(*words, letor).code == 0
    assert seen == [1]
    assert thread_count() == before


def test_a_fault_of_the_program_says_so_and_where_if_asked(run, letor, monkeypatch):
    def broken(data):
        raise KeyError("oops")

    monkeypatch.setattr("rankinite.data.describe.describe", broken)
    done = run("describe", letor)
    assert done.code == 1
    assert "a fault of the program (KeyError: 'oops')" in done.err
    assert "Traceback" not in done.err
    printed = run("describe", letor, "--verbose")
    assert printed.code == 1
    assert "Traceback" in printed.err
    assert "in broken" in printed.err


def test_bad_input_has_no_traceback_even_if_asked(run, tmp_path):
    done = run("describe", tmp_path / "none.txt", "--verbose")
    assert done.code == 2
    assert "Traceback" not in done.err


def test_what_is_written_is_shown_as_json(run, letor, tmp_path):
    out = tmp_path / "x.parquet"
    printed = json.loads(run("convert", letor, "--out", out, "--json").out)
    assert printed == {"path": str(out), "queries": 3, "rows": 7, "features": 3, "lost": []}
    sizes = ("--queries", 4, "--documents", 3, "--features", 5)
    (one,) = json.loads(run("synth", *sizes, "--out", tmp_path / "y.txt", "--json").out)["files"]
    assert one == {"path": str(tmp_path / "y.txt"), "queries": 4, "rows": 12, "features": 5, "part": "train", "domain": 0}
    every = json.loads(run("synth", *sizes, "--domains", 2, "--out", tmp_path / "z", "--json").out)["files"]
    assert [(file["domain"], file["part"]) for file in every] == [(d, p) for d in (0, 1) for p in ("train", "valid", "test")]


def test_scores_as_json_are_those_of_python(run, letor, files, tmp_path):
    data = rk.read(letor)
    printed = json.loads(run("score", "ascending:1", letor, "--json").out)
    assert printed == json.loads(run("score", "ascending:1", letor, "--format", "json").out)
    assert [query["qid"] for query in printed["queries"]] == ["a", "b", "c"]
    assert [document for query in printed["queries"] for document in query["doc_ids"]] == data.doc_ids.tolist()
    assert [score for query in printed["queries"] for score in query["scores"]] == rk.Feature("1", ascending=True).score(
        data
    ).tolist()
    (tmp_path / "odd.txt").write_text("1 qid:1 1:nan\n0 qid:1 1:2\n")
    nan = json.loads(run("score", "feature:1", tmp_path / "odd.txt", "--json").out)
    assert nan["queries"][0]["scores"][1] == 2.0
    assert "doc_ids" not in nan["queries"][0]


@pytest.mark.parametrize(
    ("words", "setting", "value"),
    [
        (("--json", "--format", "trec"), "json", True),
        (("--json", "--out", "x.npy"), "out", "x.npy"),
        (("--json", "--tag", "x"), "tag", "x"),
    ],
)
def test_json_scores_refuse_what_does_not_go_with_them(run, letor, words, setting, value):
    done = run("score", "feature:1", letor, *words)
    assert done.code == 2
    assert (done.error.setting, done.error.value) == (setting, value)


def test_the_seed_of_a_combination_deals_the_folds(run, files, nets, tmp_path):
    def weight(*words):
        names = ("combine", files.model, nets["net"], "-d", files.valid, "-o", tmp_path / "x", "--folds", 2, "--json")
        return json.loads(run(*names, *words).out)["alpha"]

    first, second, data = rk.load(files.model), rk.load(nets["net"]), rk.read(files.valid)
    expected = [rk.combine.exact(first, second, data, folds=2, seed=seed).alpha for seed in range(4)]
    assert len(set(expected)) > 1
    assert [weight("--seed", seed) for seed in range(4)] == expected
    assert weight() == expected[0]


def test_the_seed_of_a_stack_is_that_of_its_net(run, files, nets, tmp_path):
    made = []
    for seed in (0, 1):
        out = tmp_path / f"{seed}.rankinite"
        words = ("--method", "stacked", "--hidden", 2, "--seed", seed, "-o", out)
        assert run("combine", files.model, nets["net"], "-d", files.valid, *words).code == 0
        made.append(out.read_bytes())
    assert made[0] != made[1]


@pytest.mark.filterwarnings("always")
def test_a_measure_spelt_as_ir_measures_does_is_answered_once_with_both_spellings(run, letor, tmp_path):
    model = ("train", letor, "--trees=2", "--min-rows=1", "--out", tmp_path / "a.rankinite", "--measure")
    for words in (("evaluate", "feature:1", letor, "-m"), ("compare", "feature:1", "feature:2", "-d", letor, "-m"), model):
        done, quiet, plain = run(*words, "nDCG@10"), run(*words, "nDCG@10", "--quiet"), run(*words, "ndcg@10")
        assert (done.code, quiet.code, plain.code) == (0, 0, 0)
        note = "Write ndcg@10 for exponential gains, ndcg@10:gains=linear for linear ones"
        assert [one.err.count(note) for one in (done, quiet, plain)] == [1, 0, 0]
