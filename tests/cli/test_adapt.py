"""``rankinite adapt``: the folder it writes, what it prints, how it goes on, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
import textwrap
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from importlib import import_module
from io import StringIO
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from rankinite import cli
from rankinite.grid import markdown_text

WORLD = rk.World(documents=12, features=5, noise=0.3)
QUICK = ("--methods", "additive,trada", "--no-curve")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def call(*arguments) -> Outcome:
    """Run the command as the shell does; for fixtures that outlive a test."""
    out, err, code = StringIO(), StringIO(), 0
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
        patched.setattr("sys.argv", ["rankinite", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
    return Outcome(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module", autouse=True)
def few_trees():
    """What is trained on the target alone, or boosted from the background, has few rounds here."""
    with pytest.MonkeyPatch.context() as patched:

        def small(measure, seed=0, *_):
            return rk.LambdaMART(measure=measure, trees=8, leaves=4, rate=0.3, min_rows=5, seed=seed)

        for module, name in (("task", "own_learner"), ("methods.neighbours", "own_learner"), ("methods.smart", "rows_drawn")):
            patched.setattr(import_module(f"rankinite.adapt.{module}"), name, small)
        linear = import_module("rankinite.adapt.methods.lambdaboost")
        patched.setattr(linear, "LambdaBoost", lambda **given: rk.LambdaBoost(**{**given, "rounds": 8}))
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a background, its data, and target data."""
    folder = tmp_path_factory.mktemp("adapting")
    web = rk.synthesise(40, world=WORLD)
    rk.LambdaMART(trees=10, leaves=5, min_rows=5, rate=0.3).fit(web).save(folder / "web.rankinite")
    rk.write(web, folder / "web.txt")
    for name, queries, domain, part in (
        ("train", 12, 1, "train"),
        ("valid", 12, 1, "valid"),
        ("test", 20, 1, "test"),
        ("open", 20, 2, "test"),
    ):
        rk.write(rk.synthesise(queries, world=WORLD, domain=domain, part=part), folder / f"{name}.txt")
    return folder


@pytest.fixture(scope="module")
def everything(home):
    """The command with all there is."""
    data = ("--background-data", home / "web.txt", "--test", home / "test.txt", "--open", home / "open.txt")
    return ("adapt", home / "web.rankinite", "--train", home / "train.txt", *data, "--also", "ndcg@1")


@pytest.fixture(scope="module")
def whole(everything, home):
    """What it says and writes."""
    return home / "whole", call(*everything, "--all-models", "--out", home / "whole")


@pytest.fixture(scope="module")
def expected(home):
    """The same in Python."""
    train, web, test, shifted = (rk.read(home / f"{name}.txt") for name in ("train", "web", "test", "open"))
    background = rk.load(home / "web.rankinite")
    return rk.adapt.choose(background, train, background_data=web, test=test, shifted=shifted, also=["ndcg@1"])


def quick(home, *arguments, background=None, train=None):
    """A command that tries little, writing to a folder ``out`` that is not there yet."""
    given = (background or home / "web.rankinite", "--train", train or home / "train.txt")
    return ("adapt", *given, *QUICK, *arguments)


# ---- what is written ------------------------------------------------------------------------------------------------


def test_the_models_are_those_of_python(whole, expected, home):
    folder, done = whole
    assert done.code == 0
    test = rk.read(home / "test.txt")
    assert (rk.load(folder / "model.rankinite").score(test) == expected.ranker.score(test)).all()
    assert {path.stem for path in (folder / "models").iterdir()} == set(expected.models)
    for name, ranker in expected.models.items():
        assert (rk.load(folder / "models" / f"{name}.rankinite").score(test) == ranker.score(test)).all()
    assert (folder / "model.rankinite").read_bytes() == (
        folder / "models" / f"{expected.verdict.recommended}.rankinite"
    ).read_bytes()


def test_the_model_is_the_one_to_deploy(home, tmp_path):
    """Where no confidence is enough, that is the background; the method chosen is then only a candidate."""
    test, out = rk.read(home / "test.txt"), tmp_path / "out"
    kept = call(*quick(home), "--confidence", "1", "--out", out)
    assert "Keep the background" in kept.out
    assert "the ranker to deploy: background" in kept.out
    assert (rk.load(out / "model.rankinite").score(test) == rk.load(home / "web.rankinite").score(test)).all()
    told = json.loads((out / "evidence.json").read_text())
    assert told["candidate"] == str(out / "candidate.rankinite")
    assert (rk.load(out / "candidate.rankinite").score(test) != rk.load(home / "web.rankinite").score(test)).any()
    assert told["confidence_reached"] < told["confidence"] == 1.0
    call(*quick(home), "--confidence", "1e-6", "--out", out)
    told = json.loads((out / "evidence.json").read_text())
    assert (told["recommended"] == told["chosen"]) == (not (out / "candidate.rankinite").exists())


def without_times(told):
    """Evidence without what differs from run to run."""
    methods = {name: {**facts, "seconds": 0} for name, facts in told["methods"].items()}
    return {**told, "methods": methods, "recommendation": 0}


def test_the_evidence_is_that_of_python(whole, expected, home):
    folder, _ = whole
    told = json.loads((folder / "evidence.json").read_text())
    python = without_times(expected.to_dict())
    python["open"] = python.pop("shifted")
    names = {str(part): str(home / f"{part}.txt") for part in ("train", "test", "open")}
    for key, value in python.items():
        have = without_times(told)[key]
        if key in names or key == "unseen":  # where the data were read from stands in both
            assert have["pairs"] == value["pairs"]
        else:
            assert have == value
    assert told["settings"]["seed"] == 0
    assert told["inputs"]["train"] == {"files": [names["train"]], "queries": 12, "rows": 144, "features": 5}
    assert set(told["sha256"]) == {
        str(home / name) for name in ("web.rankinite", "web.txt", "train.txt", "test.txt", "open.txt")
    }
    assert told["versions"]["rankinite"] == rk.__version__
    assert told["command"].startswith("rankinite adapt ")


def test_gains_are_listed_query_by_query(whole, expected):
    folder, _ = whole
    rows = list(csv.DictReader((folder / "gains.csv").read_text().splitlines()))
    for name, seen in (("target", expected.unseen), ("test", expected.test), ("open", expected.shifted)):
        own = [row for row in rows if row["data"] == name]
        assert [(row["qid"], float(row["background"]), float(row["chosen"])) for row in own] == expected.gains(seen)
        changes = [float(row["change"]) for row in own]
        assert changes == sorted(changes, reverse=True)
        assert changes == [float(row["chosen"]) - float(row["background"]) for row in own]


def test_the_report_has_every_measure_and_the_screen_fits(whole, expected):
    folder, done = whole
    report = (folder / "evidence.md").read_text()
    assert all(f"| {column} |" in report for column in ("ndcg@10", "ndcg@1"))
    recommended = (sentence.replace("the shifted data", "the open data") for sentence in expected.recommendation())
    lead, *others = map(markdown_text, recommended)
    assert f"\n\n{lead}\n\n{' '.join(others)}\n\n" in report
    explained = report.partition("## What the other numbers mean")[2]
    assert all(f"\n- {markdown_text(sentence)}" in explained for sentence in expected.explanation())
    assert not [line for line in done.out.splitlines() if len(line) > 100 and str(folder.parent) not in line]
    assert "ndcg@1 " not in done.out
    assert " ".join(done.out.split()).startswith(expected.recommendation()[0])
    for name in expected.models:
        value = f"{expected.unseen[name]['ndcg@10'].mean:.4f} ±"
        assert any(line.startswith(name) and value in line for line in done.out.splitlines())
    assert f"test: {folder.parent / 'test.txt'}" in done.out
    gained = sum(after > before for _, before, after in expected.gains(expected.test))
    assert f"Of {len(expected.gains(expected.test))} test queries {gained} gain by {expected.name}" in done.out
    assert all(f"  {name}" in done.out for name in ("model.rankinite", "evidence.md", "gains.csv", "models/", "trials/"))


def test_each_method_has_a_line_of_progress(whole, expected):
    _, done = whole
    said = [line.partition(":")[0] for line in done.err.splitlines()]
    fitted = [name for name in expected.models if name != "average"]
    assert [name for name in said if name in fitted] == fitted
    assert said[-1] == "learning curve"


# ---- going on -------------------------------------------------------------------------------------------------------


def test_a_second_run_takes_finished_methods_from_the_first(whole, everything, expected):
    folder, _ = whole
    before = (folder / "model.rankinite").read_bytes()
    again = call(*everything, "--all-models", "--json", "--out", folder)
    assert again.code == 0
    for name in expected.models:
        assert name == "average" or f"{name}: kept from an earlier run" in again.err
    assert json.loads(again.out) == json.loads((folder / "evidence.json").read_text())
    assert (folder / "model.rankinite").read_bytes() == before


def test_other_input_is_not_confused_with_it(home, tmp_path):
    out = ("--out", tmp_path / "out")
    assert call(*quick(home), *out).code == 0
    first = (tmp_path / "out" / "model.rankinite").read_bytes()
    refused = call(*quick(home, train=home / "valid.txt"), *out)
    assert (refused.code, refused.out) == (2, "")
    assert "holds the results of another run (model.rankinite, " in refused.err
    assert "--overwrite" in refused.err
    assert (tmp_path / "out" / "model.rankinite").read_bytes() == first
    other = call(*quick(home, train=home / "valid.txt"), *out, "--overwrite")
    assert "kept" not in other.err
    assert (tmp_path / "out" / "model.rankinite").read_bytes() != first
    assert "additive: kept" in call(*quick(home), *out, "--overwrite").err
    assert (tmp_path / "out" / "model.rankinite").read_bytes() == first


def test_ctrl_c_keeps_what_is_finished(home, tmp_path, monkeypatch):
    choosing = import_module("rankinite.adapt.choosing")
    honest = choosing.try_method

    def interrupted(method, *rest):
        if method.name == "additive":
            signal.raise_signal(signal.SIGINT)
        return honest(method, *rest)

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(choosing, "try_method", interrupted)
        ended = call(*quick(home), "--out", out)
    assert (ended.code, ended.out) == (130, "")
    assert f"kept in {out / 'trials'}, and the same command goes on" in ended.err
    assert [path.name for path in out.iterdir()] == ["trials"]
    again = call(*quick(home), "--out", out)
    assert again.code == 0
    assert "trada: kept from an earlier run" in again.err
    assert "additive: kept" not in again.err
    assert call(*quick(home), "--quiet", "--out", tmp_path / "whole").err == ""
    assert (out / "model.rankinite").read_bytes() == (tmp_path / "whole" / "model.rankinite").read_bytes()


def test_ctrl_c_does_not_wait_for_other_threads():
    code = """
    import threading
    from concurrent.futures import ThreadPoolExecutor
    from rankinite.cli.interrupts import leaving_promptly
    def work():
        print("ready", flush=True)
        threading.Event().wait()
    try:
        with leaving_promptly(lambda: "hint"), ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()
    except KeyboardInterrupt:  # if it comes before the pool knows its thread; Python then waits for that at its end
        pass
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
            assert process.stderr.read() == "hint\n"
        finally:
            process.kill()


# ---- what may be given ----------------------------------------------------------------------------------------------


def test_features_are_found_by_name_and_further_ones_are_said(home, tmp_path):
    train = rk.read(home / "train.txt")
    table = rk.read(home / "train.txt").select_features(["4", "2", "5", "1", "3"])
    values = np.column_stack([table.features, np.arange(table.rows)])
    rows = zip(table.query_of_row(), table.grades, values, strict=True)
    lines = [",".join(["qid", "grade", *table.feature_names, "new"])]
    lines += [",".join([str(train.qids[query]), f"{grade:g}", *map(repr, own.tolist())]) for query, grade, own in rows]
    (tmp_path / "train.csv").write_text("\n".join(lines) + "\n")
    done = call(*quick(home, train=tmp_path / "train.csv"), "--grades", "grade", "--json", "--out", tmp_path / "named")
    assert done.code == 0
    assert "no background knows 'new'" in done.err
    plain = call(*quick(home), "--json", "--out", tmp_path / "plain")
    means = [json.loads(one.out)["unseen"]["systems"]["background"]["measures"]["ndcg@10"]["mean"] for one in (done, plain)]
    assert means[0] == pytest.approx(means[1], abs=1e-9)


def test_models_of_other_makers_are_adapted(home, tmp_path):
    web = rk.read(home / "web.txt")
    rows = lightgbm.Dataset(web.features, web.grades, group=np.diff(web.offsets))
    lightgbm.train({"objective": "lambdarank", "verbosity": -1, "num_threads": 1}, rows, 8).save_model(tmp_path / "light.txt")
    done = call(*quick(home, background=tmp_path / "light.txt"), "--json", "--out", tmp_path / "out")
    assert done.code == 0
    assert "by position" in done.err
    assert json.loads(done.out)["methods"]["trada"]["size"] == "8 trees"


def test_a_learning_rate_that_a_model_does_not_say_can_be_given(home, tmp_path):
    web = rk.read(home / "web.txt")
    rows = xgboost.DMatrix(web.features, web.grades)
    rows.set_group(np.diff(web.offsets))
    made = xgboost.train({"objective": "rank:ndcg", "max_depth": 3, "nthread": 1, "eta": 0.2}, rows, 8)
    made.save_model(tmp_path / "x.json")
    command = quick(home, background=tmp_path / "x.json")
    without = call(*command, "--json", "--out", tmp_path / "without")
    assert "Give --background-rate, such as 0.1" in json.loads(without.out)["not_tried"]["trada"]
    told = json.loads(call(*command, "--background-rate", "0.2", "--json", "--out", tmp_path / "told").out)
    assert told["not_tried"] == {}
    assert told["methods"]["trada"]["size"] == "8 trees"
    assert told["settings"]["background_rate"] == 0.2


def test_of_several_backgrounds_the_best_is_named(home, tmp_path):
    backgrounds = (f"web={home / 'web.rankinite'}", "--methods", "interpolate", "--no-curve", "--train", home / "train.txt")
    done = call("adapt", "poor=feature:1", *backgrounds, "--out", tmp_path / "out")
    train, web = rk.read(home / "train.txt"), rk.load(home / "web.rankinite")
    assert rk.evaluate(web, train, "ndcg@10")["ndcg@10"].mean > rk.evaluate(rk.Feature("1"), train, "ndcg@10")["ndcg@10"].mean
    assert "'background' is web, the best of them on the target." in done.out
    assert json.loads((tmp_path / "out" / "evidence.json").read_text())["background"] == "web"
    assert "the best forest" not in done.out


def test_the_best_forest_is_named_where_another_ranker_is_better(home, tmp_path):
    train, weak = rk.read(home / "train.txt"), tmp_path / "weak.rankinite"
    rk.LambdaMART(trees=1, leaves=2, min_rows=1).fit(train.map_grades(lambda grades: 4 - grades)).save(weak)
    given = (
        f"weak={weak}",
        f"net={tmp_path / 'net.rankinite'}",
        "--train",
        home / "train.txt",
        "--no-curve",
        "--methods",
        "trada",
    )
    rk.LambdaRank(epochs=20).fit(train).save(tmp_path / "net.rankinite")
    done = call("adapt", *given, "--out", tmp_path / "out")
    assert "'background' is net, the best of them on the target." in done.out
    assert "Trada and additive start from weak, the best forest of them." in done.out
    told = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert (told["background"], told["background_forest"]) == ("net", "weak")


def test_validation_data_and_leaving_one_out(home, tmp_path):
    rk.write(rk.read(home / "train.txt").select_queries(np.arange(5)), tmp_path / "few.txt")
    done = call(*quick(home, train=tmp_path / "few.txt"), "--valid", home / "valid.txt", "--out", tmp_path / "out")
    assert done.code == 0
    assert "With 5 judged queries" in done.out.replace("\n", " ")
    assert "give --test" in done.out


def test_grades_are_mapped(home, tmp_path):
    target = rk.read(home / "train.txt").map_grades({0: 0, 1: 0, 2: 1, 3: 1, 4: 1})
    rk.write(target, tmp_path / "two.txt")
    command = ("adapt", home / "web.rankinite", "--train", tmp_path / "two.txt", "--methods", "pool", "--no-curve")
    data = ("--background-data", home / "web.txt", "--json")
    refused = call(*command, *data, "--out", tmp_path / "no")
    assert (refused.code, (tmp_path / "no").exists()) == (2, False)
    assert "with --map-grades, as in --map-grades 0=0,1=0,2=1, or pass --same-scale if they have" in refused.err
    mapped = call(*command, *data, "--map-grades", "0=0,1=0,2=1,3=1,4=1", "--out", tmp_path / "mapped")
    assert mapped.code == 0
    assert "pool" in json.loads(mapped.out)["methods"]
    assert json.loads(mapped.out)["settings"]["map_grades"] == "0=0,1=0,2=1,3=1,4=1"
    assert call(*command, *data, "--same-scale", "--out", tmp_path / "same").code == 0


def test_features_that_a_file_lacks_are_told(home, tmp_path):
    (tmp_path / "short.txt").write_text("2 qid:a 1:1 2:2\n0 qid:a 1:3 2:4\n1 qid:b 1:5 2:1\n4 qid:b 1:2 2:7\n")
    done = call(*quick(home), "--background-data", tmp_path / "short.txt", "--same-scale", "--out", tmp_path / "out")
    assert f"{tmp_path / 'short.txt'}: '3', " in done.err
    assert "are 0 in every row, but not in" in done.err


def test_what_was_tuned_can_be_looked_at_with_the_command_printed(home, tmp_path, monkeypatch):
    choosing, told = import_module("rankinite.adapt.choosing"), {"name": "trada", "recommended": "trada"}
    verdict = choosing.decide
    monkeypatch.setattr(choosing, "decide", lambda values, confidence: replace(verdict(values, confidence=confidence), **told))
    given = (
        f"web={home / 'web.rankinite'}",
        "poor=feature:1",
        "--train",
        home / "train.txt",
        "--no-curve",
        "--methods",
        "trada",
    )
    done = call("adapt", *given, "--out", tmp_path / "out")
    model = tmp_path / "out" / "model.rankinite"
    assert f"rankinite inspect {model} --moved {home / 'web.rankinite'} " in done.out
    assert call("inspect", model, "--moved", home / "web.rankinite").code == 0


def test_what_a_background_does_not_say_is_told(home, tmp_path):
    """A forest that predicts grades 0–4 is not tuned to 0–1; one without a loss is, once that is said."""
    train = rk.read(home / "train.txt")
    rk.write(train.map_grades(lambda grades: grades >= 2), tmp_path / "two.txt")
    predicts = rk.MART(trees=5, leaves=4, min_rows=5).fit(rk.read(home / "web.txt"))
    predicts.save(tmp_path / "mart.rankinite")
    replace(predicts, settings={"rate": 0.1}).save(tmp_path / "bare.rankinite")

    def tried(model: str, *options: str) -> tuple[list[str], dict[str, str]]:
        command = (
            "adapt",
            tmp_path / model,
            "--methods",
            "trada,lambdaboost",
            "--no-curve",
            "--json",
            "--overwrite",
            "--out",
            tmp_path / "out",
        )
        told = json.loads(call(*command, *options).out)
        return list(told["methods"]), told["not_tried"]

    two, own = ("--train", tmp_path / "two.txt"), ("--train", home / "train.txt")
    methods, refused = tried("mart.rankinite", *two)
    assert ("trada" in methods, "grades up to 4" in refused["trada"], "--same-scale" in refused["trada"]) == (False, True, True)
    assert "trada" in tried("mart.rankinite", *two, "--same-scale")[0]
    assert "trada" in tried("mart.rankinite", *two)[1]  # though its trial is kept
    methods, refused = tried("bare.rankinite", *own)
    assert ("trada" in methods, "Give --background-loss, the one of 'squared'" in refused["trada"]) == (False, True)
    assert "trada" in tried("bare.rankinite", *own, "--background-loss", "squared")[0]
    rk.MART(trees=3, leaves=4, min_rows=5, loss="binary", relevant=2).fit(train, base=predicts).save(
        tmp_path / "both.rankinite"
    )
    refused = tried("both.rankinite", *own)[1]["trada"]
    assert "'binary', 'squared'" in refused
    assert "trada" in tried("both.rankinite", *own, "--background-loss", "squared")[0]


# ---- refusals -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bad(home):
    """Files that cannot be adapted with."""
    train = rk.read(home / "train.txt")
    rk.write(train.select_queries(np.arange(1)), home / "one.txt")
    rk.write(train.map_grades(lambda grades: grades * 0 + 1), home / "flat.txt")
    (home / "few.csv").write_text("qid,grade,1,3\na,1,0.5,1\na,0,0.25,1\nb,1,0.5,2\nb,0,1,2\nc,1,3,1\nc,0,1,1\n")
    rk.write(rk.concat([rk.read(home / "test.txt"), train.select_queries(np.arange(2))]), home / "shared.txt")
    rk.write(replace(train, grades=train.grades * 2), home / "eight.txt")
    (home / "scores.txt").write_text("0.5\n" * train.rows)
    (home / "taken").write_text("mine")
    return home


REFUSED = {
    "a feature is missing": (["--grades", "grade"], {"train": "few.csv"}, "ranker .*cannot score .*no feature '2', '4', '5'"),
    "one query": ([], {"train": "one.txt"}, r"one\.txt: 1 of 1 .*Adapting needs at least 3"),
    "queries of one grade": ([], {"train": "flat.txt"}, r"flat\.txt: 0 of 12 .*deploy the background"),
    "no such method": (["--methods", "smart,magic"], {}, "no method 'magic'. The methods are 'background', 'interpolate'"),
    "no such measure": (["--measure", "ndgc"], {}, "'ndgc' names no measure. Known are"),
    "no such measure to report": (["--also", "ndcg@1,ndgc"], {}, "'ndgc' names no measure"),
    "grades beyond a measure": (["--also", "err"], {"train": "eight.txt"}, "grade 6 is outside .*use err:max_grade=8"),
    "untrainable": (["--measure", "p@5"], {}, "p@5.*cannot be trained"),
    "no model": ([], {"background": "scores.txt"}, "scores.txt.*not a model"),
    "no file": ([], {"background": "nothing.rankinite"}, "nothing.rankinite.*no such file"),
    "test queries trained on": (
        ["--test", "shared.txt"],
        {},
        r"shared\.txt \(--test\): 2 of its 22 queries are in .*train\.txt \(--train\) too, such as '30000001'.*--allow-overlap",
    ),
    "validation queries trained on": (["--valid", "shared.txt"], {}, r"\(--valid\): 2 of .*\(--train\)"),
    "test queries validated on": (["--valid", "test.txt", "--test", "test.txt"], {}, r"\(--test\): 20 of .*\(--valid\)"),
    "target queries in the background's data": (["-B", "shared.txt"], {}, r"\(--train\): 2 of .*\(--background-data\)"),
    "a map without data": (["--map-grades", "0=0"], {}, "--map-grades is about the grades of --background-data"),
    "half a map": (["--map-grades", "0=0,1", "-B", "web.txt"], {}, "'1' does not give a grade its new one"),
    "a grade mapped twice": (["--map-grades", "0=0,0=1", "-B", "web.txt"], {}, "'0=1' does not give"),
    "a map with a gap": (["--map-grades", "0=0,1=1", "-B", "web.txt"], {}, "--map-grades: .*nothing of grade 2, 3, 4"),
    "a rate beyond 1": (["--background-rate", "2"], {}, "--background-rate 2 must be"),
    "confidence beyond 1": (["--confidence", "2"], {}, "--confidence 2.0 must"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_before_anything_is_written(bad, tmp_path, case):
    options, given, message = REFUSED[case]
    named = {name: bad / path for name, path in given.items()}
    done = call(*quick(bad, *(bad / word if Path(word).suffix == ".txt" else word for word in options), **named),
                "--out", tmp_path / "out")  # fmt: skip
    assert (done.code, done.out) == (2, "")
    assert re.search(message, done.err), done.err
    assert done.err.splitlines()[-1].startswith("rankinite: ")
    assert not (tmp_path / "out").exists()


def test_two_backgrounds_of_one_name_are_refused(bad, tmp_path):
    model = bad / "web.rankinite"
    done = call("adapt", f"a={model}", f"a={model}", "--train", bad / "train.txt", "--out", tmp_path / "out")
    assert done.code == 2
    assert "two rankers are called 'a'" in done.err


@pytest.mark.parametrize(
    ("out", "message"), [("taken", "this is a file"), ("none/out", "there is no folder"), ("taken/out", "taken")]
)
def test_a_folder_that_cannot_be_is_refused(bad, out, message):
    done = call(*quick(bad), "--out", bad / out)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert (bad / "taken").read_text() == "mine"
