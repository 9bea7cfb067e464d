"""Queries that are learnt from and judged by: refused within a run, and counted where a model meets them again."""

from __future__ import annotations

import json
import re

import lightgbm
import numpy as np
import pytest

import rankinite as rk

QUICK = ("--trees", "3", "--leaves", "4", "--min-rows", "5")


@pytest.fixture(scope="module")
def renamed(files):
    """The training data under other ids and with other grades: another file to the eye, the same queries."""
    data, path = rk.read(files.train), files.folder / "renamed.txt"
    other = rk.read(data.features, grades=4.0 - data.grades, qid=[f"q{number}" for number in data.query_of_row()])
    rk.write(other.rename_features(data.feature_names), path)
    return path


@pytest.fixture(scope="module")
def mixed(files):
    """The test queries and 7 of the training queries."""
    path = files.folder / "mixed.txt"
    rk.write(rk.concat([rk.read(files.test), rk.read(files.train).select_queries(np.arange(7))]), path)
    return path


@pytest.fixture(scope="module")
def foreign(files):
    """A model of LightGBM's, which does not say what it was trained on."""
    train, path = rk.read(files.train), files.folder / "lightgbm.txt"
    data = lightgbm.Dataset(train.features, train.grades, group=np.diff(train.offsets), feature_name=list(train.feature_names))
    lightgbm.train({"objective": "lambdarank", "verbose": -1, "min_data_in_leaf": 5}, data, 3).save_model(path)
    return path


@pytest.fixture(scope="module")
def counted(files):
    """Other queries of the same ids as the training data: both count from 1."""
    train, test, path = rk.read(files.train), rk.read(files.test), files.folder / "counted.txt"
    qids = train.qids.tolist()
    rows = np.repeat(np.asarray(qids, object), np.diff(test.offsets))
    rk.write(rk.read(test.features, grades=test.grades, qid=rows.tolist()).rename_features(test.feature_names), path)
    return path


# ---- within a run ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--valid", "train", "--test", "train"], r"train\.txt \(--valid\).* 60 of .* 60 .*train\.txt \(the training data\)"),
        (["--valid", "renamed"], r"renamed\.txt \(--valid\).* 60 of .* 60 .*'q0'"),
        (["--test", "mixed"], r"mixed\.txt \(--test\).* 7 of .* 67 .*\(the training data\).*'1'"),
        (["--valid", "test", "--test", "test"], r"test\.txt \(--test\).* 60 of .* 60 .*test\.txt \(--valid\)"),
    ],
)
def test_training_is_not_judged_by_what_it_learns_from(run, files, renamed, mixed, tmp_path, options, words):
    arguments = [word if word.startswith("-") else files.folder / f"{word}.txt" for word in options]
    out = tmp_path / "m.rankinite"
    done = run("train", files.train, *arguments, *QUICK, "--out", out)
    assert (done.code, done.out, out.exists()) == (2, "", False)
    assert re.search(words, done.err), done.err
    assert "--allow-overlap" in done.err
    assert run("train", files.train, *arguments, *QUICK, "--allow-overlap", "--quiet", "--out", out).code == 0
    assert "allow-overlap = true" in out.with_suffix(".toml").read_text()


@pytest.mark.usefixtures("small")
def test_the_same_ids_alone_are_no_overlap(run, files, counted, tmp_path):
    done = run("train", files.train, "--valid", counted, *QUICK, "--out", tmp_path / "m.rankinite")
    assert done.code == 0, done.err
    found = run("adapt", files.model, "--train", counted, "--test", files.train, "--methods", "additive", "--no-curve",
                "--out", tmp_path / "adapted")  # fmt: skip
    assert found.code == 0, found.err


def test_a_test_that_was_learnt_from_is_noted(run, files, mixed, tmp_path):
    arguments = ("train", files.train, "--test", mixed, *QUICK, "--allow-overlap", "--out", tmp_path / "m.rankinite")
    warning = f"The ranker was trained on 7 of the 67 queries of {mixed}, which flatters it."
    done = run(*arguments)
    assert warning in done.err
    assert warning in done.out
    assert json.loads(run(*arguments, "--json").out)["warnings"] == [warning]


def test_a_base_that_knows_the_validation_data_is_noted(run, files, tmp_path):
    model = rk.LambdaMART.plain(trees=2, leaves=4, min_rows=5).fit(rk.read(files.valid))
    model.save(tmp_path / "base.rankinite")
    arguments = ("train", files.train, "-v", files.valid, *QUICK, "-o", tmp_path / "m.rankinite")
    done = run(*arguments, "--base", tmp_path / "base.rankinite")
    assert f"the base was trained on 60 of the 60 queries of {files.valid}, which flatters it." in done.err
    assert "trained on 60" not in run(*arguments, "--base", files.model).err


def test_weights_are_not_judged_by_what_chose_them(run, files, nets, tmp_path):
    arguments = ("combine", files.model, nets["net"], "--data", files.valid, "--out", tmp_path / "both.rankinite")
    done = run(*arguments, "--test", files.valid)
    assert (done.code, done.out) == (2, "")
    assert re.search(r"\(--test\).* 60 of .* 60 .*\(--data\).*--allow-overlap", done.err), done.err
    stacked = run(*arguments, "--method", "stacked", "--valid", files.valid)
    assert stacked.code == 2
    assert re.search(r"\(--valid\).* 60 of .* 60 .*\(--data\)", stacked.err), stacked.err
    allowed = run(*arguments, "--test", files.valid, "--allow-overlap")
    assert allowed.code == 0
    assert f"combined was trained on 60 of the 60 queries of {files.valid}, which flatters it." in allowed.err


@pytest.mark.usefixtures("small")
def test_adapting_goes_on_where_overlap_is_allowed(run, files, mixed, tmp_path):
    arguments = (
        "adapt",
        files.model,
        "--train",
        files.test,
        "--test",
        mixed,
        "--methods",
        "additive",
        "--no-curve",
        "--folds",
        "2",
    )
    assert run(*arguments, "--out", tmp_path / "refused").code == 2
    done = run(*arguments, "--allow-overlap", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert evidence["settings"]["allow_overlap"] is True
    warnings = evidence["test"]["warnings"]
    assert f"background was trained on 7 of the 67 queries of {mixed}, which flatters it." in warnings
    assert f"additive was trained on 67 of the 67 queries of {mixed}, which flatters it." in warnings
    assert warnings[0] in done.err
    assert warnings[0] in (tmp_path / "out" / "evidence.md").read_text()
    assert warnings[0] in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.usefixtures("small")
def test_a_background_that_knows_the_target_is_noted(run, files, renamed, tmp_path):
    arguments = ("adapt", files.model, "--train", renamed, "--methods", "additive", "--no-curve", "--folds", "2")
    done = run(*arguments, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    warning = f"background was trained on 60 of the 60 queries of {renamed}, which flatters it."
    assert warning in done.err
    assert "".join(warning.split()) in "".join(done.out.split())  # lines are broken
    assert json.loads((tmp_path / "out" / "evidence.json").read_text())["unseen"]["warnings"] == [warning]


# ---- a model and data --------------------------------------------------------------------------------------------------


def test_evaluating_on_training_queries_is_noted(run, files, mixed):
    warning = f"The ranker was trained on 7 of the 67 queries of {mixed}, which flatters it."
    done = run("evaluate", files.model, mixed)
    assert warning in done.err
    assert warning in done.out
    assert json.loads(run("evaluate", files.model, mixed, "--json").out)["overlap"]["trained_on"] == 7
    quiet = run("evaluate", files.model, mixed, "--quiet", "--format", "csv")
    assert (quiet.code, quiet.err) == (0, "")
    assert "trained" not in run("evaluate", files.model, files.test).err


def test_comparing_on_training_queries_is_noted(run, files, mixed, foreign, tmp_path):
    rankers = (f"ours={files.model}", f"theirs={foreign}", "bm25=feature:1")
    done = run("compare", *rankers, "--data", mixed, "--report", tmp_path / "report.html")
    warnings = [
        f"ours was trained on 7 of the 67 queries of {mixed}, which flatters it.",
        f"It is not known whether theirs was trained on queries of {mixed}.",
    ]
    for text in warnings:
        assert text in done.err
        assert text in done.out
        assert text in (tmp_path / "report.html").read_text()
    report = json.loads((tmp_path / "report.json").read_text())
    assert warnings[0] in report["verdict"]
    assert warnings[1] not in report["verdict"]
    assert report["tables"][0]["notes"][:2] == warnings
    assert json.loads(run("compare", *rankers, "--data", mixed, "--json").out)["warnings"] == warnings


def test_scores_runs_and_features_are_not_asked(run, files, tmp_path):
    run("score", files.model, files.train, "--out", tmp_path / "scores.txt")
    for spec in ("feature:1", tmp_path / "scores.txt"):
        done = run("evaluate", spec, files.train)
        assert (done.code, done.err) == (0, "")
        assert "trained" not in done.out


def test_combining_on_training_queries_is_noted(run, files, nets, foreign, tmp_path):
    arguments = ("combine", f"trees={files.model}", f"net={nets['net']}", f"theirs={foreign}")
    done = run(*arguments, "--data", files.train, "--out", tmp_path / "m.rankinite")
    known = f"ranker trees and ranker net were trained on 60 of the 60 queries of {files.train}, which flatters them."
    unknown = f"It is not known whether ranker theirs was trained on queries of {files.train}."
    for warning in (known, unknown):
        assert warning in done.err
        assert warning in done.out
    summary = json.loads(run(*arguments, "--data", files.train, "--out", tmp_path / "m.rankinite", "--json").out)
    assert summary["warnings"] == [known, unknown]


def test_a_report_of_training_says_it(run, files, mixed, tmp_path):
    arguments = ("train", files.train, "--test", mixed, *QUICK, "--allow-overlap", "--out", tmp_path / "m.rankinite")
    assert run(*arguments, "--report", tmp_path / "report.html").code == 0
    warning = f"The ranker was trained on 7 of the 67 queries of {mixed}, which flatters it."
    report = json.loads((tmp_path / "report.json").read_text())
    assert warning in report["verdict"]
    assert warning in report["tables"][0]["notes"]


def test_what_a_model_was_trained_on_is_shown(run, files, foreign):
    done = run("inspect", files.model)
    assert re.search(r"^trained on\s+60 queries$", done.out, re.MULTILINE), done.out
    assert json.loads(run("inspect", files.model, "--json").out)["training_queries"] == 60
    assert json.loads(run("inspect", foreign, "--json").out)["training_queries"] is None
