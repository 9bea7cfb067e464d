"""``--summary``, and the reports of cross-validate and explain."""

from __future__ import annotations

import json

import pytest

import rankinite as rk
from rankinite.report import of_comparison, of_cross_validation, of_explanation, summary

TREES = "trees=3 leaves=4 min_rows=3"


def test_compare_writes_the_summary_that_python_makes(run, files, tmp_path):
    path = tmp_path / "summary.md"
    done = run("compare", "a=feature:1", f"model={files.model}", "--data", files.test, "--resamples", 200, "--summary", path)
    assert done.code == 0, done.err
    assert str(path) in done.err
    data = rk.read(files.test)
    systems = {"a": rk.Feature("1"), "model": rk.load(files.model)}
    expected = of_comparison(rk.compare(systems, data, "ndcg@10", resamples=200), data, systems)
    assert path.read_text(encoding="utf-8") == summary(expected).to_markdown()
    assert [one.name for one in tmp_path.iterdir()] == ["summary.md"]  # no report was asked for


def test_train_writes_report_and_summary(run, files, settings, tmp_path):
    written = ("--report", tmp_path / "r.html", "--summary", tmp_path / "s.html")
    done = run("train", files.train, "--test", files.test, *settings, "--out", tmp_path / "m.rankinite", *written)
    assert done.code == 0, done.err
    verdict = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["verdict"]
    assert f"<h1>{verdict[0]}</h1>" in (tmp_path / "s.html").read_text(encoding="utf-8")


def test_cross_validate_writes_a_report_of_its_folds(run, files, tmp_path):
    done = run("cross-validate", files.train, "-S", f"a=lambdamart {TREES}", "-S", f"b=mart {TREES}", "--folds", 3,
               "--seed", 4, "--report", tmp_path / "f.html", "--summary", tmp_path / "f.md")  # fmt: skip
    assert done.code == 0, done.err
    content, data = json.loads((tmp_path / "f.json").read_text(encoding="utf-8")), rk.read(files.train)
    small = {"trees": 3, "leaves": 4, "min_rows": 3}
    comparison = rk.cross_validate({"a": rk.LambdaMART(**small), "b": rk.MART(**small)}, data, 3, seed=4)
    expected = of_cross_validation(comparison, data, 3, seed=4)
    assert content["folds"] == json.loads(expected.to_json())["folds"]
    assert (tmp_path / "f.md").read_text(encoding="utf-8") == summary(expected).to_markdown()
    assert [one["title"] for one in content["facts"][:2]] == ["Run", "Systems"]


def test_explain_writes_a_report_of_what_it_found(run, files, tmp_path):
    model, data = rk.load(files.model), rk.read(files.test)
    qid, (above, below) = str(data.qids[0]), data.doc_ids[:2].tolist()
    pair = ("--query", qid, "--above", above, "--below", below)
    questions = {"pair": ({"qid": qid, "above": above, "below": below}, pair), "all": ({"qid": None}, ("--all-queries",))}
    for name, (asked, options) in questions.items():
        done = run("explain", files.model, files.test, *options, "--report", tmp_path / f"{name}.html")
        assert done.code == 0, done.err
        content = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        expected = of_explanation(model.explain(data, asked.pop("qid"), **asked), data, ranker=model)
        assert content["explained"] == json.loads(expected.to_json())["explained"]
        assert content["verdict"] == list(expected.verdict)


@pytest.mark.usefixtures("small")
def test_adapt_writes_a_summary_that_is_no_part_of_the_run(run, files, tmp_path):
    out = tmp_path / "out"
    command = ("adapt", files.model, "--train", files.valid, "--methods", "trada", "--no-curve", "--quiet", "--out", out)
    assert run(*command, "--summary", out / "summary.md").code == 0
    verdict = json.loads((out / "report.json").read_text(encoding="utf-8"))["verdict"]
    assert (out / "summary.md").read_text(encoding="utf-8").startswith(f"# {verdict[0].split(':')[0]}")
    assert run(*command, "--summary", tmp_path / "elsewhere.html").code == 0  # the same run: its folder is taken
    assert (tmp_path / "elsewhere.html").is_file()


@pytest.mark.parametrize("verb", ["compare", "train", "cross-validate", "adapt", "tune", "ensemble"])
def test_a_summary_that_cannot_be_written_is_refused_before_anything_is_done(run, files, tmp_path, verb):
    arguments = {
        "compare": (files.model, "feature:1", "--data", files.test),
        "train": (files.train, "--out", tmp_path / "m.rankinite"),
        "cross-validate": (files.train, "-S", "lambdamart"),
        "adapt": (files.model, "--train", files.valid, "--out", tmp_path / "out"),
        "tune": (files.train, "--out", tmp_path / "out"),
        "ensemble": (files.train, "--out", tmp_path / "out"),
    }[verb]
    done = run(verb, *arguments, "--summary", tmp_path / "s.txt")
    assert (done.code, done.error.value, done.error.remedy) == (2, ".txt", "Give a name that ends in .md or .html")
    done = run(verb, *arguments, "--summary", tmp_path / "absent" / "s.md")
    assert (done.code, done.error.place) == (2, str(tmp_path / "absent" / "s.md"))
    assert list(tmp_path.iterdir()) == []


def test_no_summary_replaces_what_is_read_or_written_beside_it(run, files, tmp_path):
    data = tmp_path / "data.md"
    data.write_bytes(files.test.read_bytes())
    command = ("compare", "feature:1", "feature:2", "--data", data, "--input-format", "letor")
    done = run(*command, "--summary", data)
    assert (done.code, done.error.setting) == (2, "summary")
    assert data.read_bytes() == files.test.read_bytes()
    done = run(*command, "--report", tmp_path / "r.html", "--summary", tmp_path / "r.html")
    assert done.code == 2
    done = run("ensemble", files.train, "--out", tmp_path / "out", "--summary", tmp_path / "s.md")
    assert (done.code, done.error.setting, done.error.value) == (2, "summary", str(tmp_path / "s.md"))
