"""``rankinite adapt``: the folder it writes, what it prints, and how it goes on."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import textwrap
from importlib import import_module

import pytest

import rankinite as rk
from oracles.adapt_command import call, quick
from rankinite.grid import markdown_text

pytestmark = pytest.mark.posix("signals")

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
    """If any risk is too much, that is the background; the method chosen is then only a candidate."""
    test, out = rk.read(home / "test.txt"), tmp_path / "out"
    kept = call(*quick(home), "--risk", "1e-9", "--tolerate", "0", "--out", out)
    assert "Keep the background" in kept.out
    assert "the ranker to keep: background" in kept.out
    assert (rk.load(out / "model.rankinite").score(test) == rk.load(home / "web.rankinite").score(test)).all()
    evidence = json.loads((out / "evidence.json").read_text())
    assert evidence["candidate"] == str(out / "candidate.rankinite")
    assert (rk.load(out / "candidate.rankinite").score(test) != rk.load(home / "web.rankinite").score(test)).any()
    assert evidence["loss_chance"] > evidence["risk"] == 1e-9
    assert evidence["tolerate"] == 0.0
    call(*quick(home), "--risk", "1", "--overwrite", "--out", out)
    evidence = json.loads((out / "evidence.json").read_text())
    assert (evidence["recommended"] == evidence["chosen"]) == (not (out / "candidate.rankinite").exists())
    assert (evidence["verdict"] == "keep") == (evidence["recommended"] == "background")


@pytest.mark.parametrize(("decision", "what"), [("deploy", "to deploy"), ("try online", "to try online"), ("keep", "to keep")])
def test_the_list_of_files_says_what_the_model_is(home, tmp_path, monkeypatch, decision, what):
    monkeypatch.setattr(import_module("rankinite.adapt.decision"), "decision_of", lambda *_, **__: decision)
    monkeypatch.setattr(import_module("rankinite.adapt.decision"), "NOISE_AFTER", 1.0)
    done = call(*quick(home), "--out", tmp_path / "out")
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert evidence["verdict"] == decision
    assert f"the ranker {what}: {evidence['recommended']}" in done.out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["schema"] == evidence["schema"] == 2
    assert report["verdict"][: len(evidence["recommendation"])] == evidence["recommendation"]


def without_times(evidence):
    """Evidence without what differs from run to run."""
    timed = dict.fromkeys(("seconds", "microseconds", "times_background"), 0)
    methods = {name: {**facts, **timed} for name, facts in evidence["methods"].items()}
    return {**evidence, "methods": methods, "recommendation": 0}


def test_the_evidence_is_that_of_python(whole, expected, home):
    folder, _ = whole
    evidence = json.loads((folder / "evidence.json").read_text())
    names = {part: str(home / f"{part}.txt") for part in ("train", "test", "shifted")}
    for key, value in without_times(expected.to_dict()).items():
        have = without_times(evidence)[key]
        if key in names or key == "unseen":  # both name the place where their data were read from
            assert have["pairs"] == value["pairs"]
        else:
            assert have == value
    assert evidence["schema"] == 2
    assert evidence["settings"]["seed"] == 0
    assert evidence["inputs"]["train"] == {"files": [names["train"]], "queries": 12, "rows": 144, "features": 5}
    assert set(evidence["sha256"]) == {
        str(home / name) for name in ("web.rankinite", "web.txt", "train.txt", "test.txt", "shifted.txt")
    }
    assert evidence["versions"]["rankinite"] == rk.__version__
    assert evidence["command"].startswith("rankinite adapt ")


def test_gains_are_listed_query_by_query(whole, expected):
    folder, _ = whole
    rows = list(csv.DictReader((folder / "gains.csv").read_text().splitlines()))
    for name, seen in (("target", expected.unseen), ("test", expected.test), ("shifted", expected.shifted)):
        lines = [row for row in rows if row["data"] == name]
        assert [(row["qid"], float(row["background"]), float(row["chosen"])) for row in lines] == expected.gains(seen)
        changes = [float(row["change"]) for row in lines]
        assert changes == sorted(changes, reverse=True)
        assert changes == [float(row["chosen"]) - float(row["background"]) for row in lines]


def test_the_report_has_every_measure_and_the_screen_fits(whole, expected):
    folder, done = whole
    report = (folder / "evidence.md").read_text()
    assert all(f"| {column} |" in report for column in ("ndcg@10", "ndcg@1"))
    lead, *others = map(markdown_text, expected.recommendation())
    assert f"\n\n{lead}\n\n{' '.join(others)}\n\n" in report
    explained = report.partition("## What the other numbers mean")[2]
    assert all(f"\n- {markdown_text(sentence)}" in explained for sentence in expected.explanation())
    assert not [line for line in done.out.splitlines() if len(line) > 100 and str(folder.parent) not in line]
    assert "ndcg@1 " not in done.out
    assert " ".join(done.out.split()).startswith(expected.recommendation()[0])
    for name in expected.models:
        value = f"{expected.unseen[name]['ndcg@10'].mean:.4f} ±"
        assert any(line.startswith(name) and value in line for line in done.out.splitlines())
    assert "test: test.txt" in done.out
    gained = sum(after > before for _, before, after in expected.gains(expected.test))
    assert f"Of {len(expected.gains(expected.test))} test queries {gained} gain by {expected.name}" in done.out
    assert all(f"  {name}" in done.out for name in ("model.rankinite", "evidence.md", "gains.csv", "models/", "trials/"))


def test_each_method_has_a_line_of_progress(whole, expected):
    _, done = whole
    heads = [line.partition(":")[0] for line in done.err.splitlines()]
    fitted = [name for name in expected.models if name != "average"]
    assert [name for name in heads if name in fitted] == fitted
    assert heads[-1] == "learning curve"


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
    other_data = call(*quick(home, train=home / "valid.txt"), *out)
    assert (other_data.code, other_data.out) == (2, "")
    assert f"{tmp_path / 'out'}: " in other_data.err
    assert "--overwrite" in other_data.err
    assert (tmp_path / "out" / "model.rankinite").read_bytes() == first
    other = call(*quick(home, train=home / "valid.txt"), *out, "--overwrite")
    assert "kept" not in other.err
    assert (tmp_path / "out" / "model.rankinite").read_bytes() != first
    assert "additive: kept" in call(*quick(home), *out, "--overwrite").err
    assert (tmp_path / "out" / "model.rankinite").read_bytes() == first


def test_ctrl_c_keeps_what_is_finished(home, tmp_path, monkeypatch):
    method_choice = import_module("rankinite.adapt.method_choice")
    honest = method_choice.try_method

    def interrupted(method, *rest):
        if method.name == "additive":
            signal.raise_signal(signal.SIGINT)
        return honest(method, *rest)

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(method_choice, "try_method", interrupted)
        ended = call(*quick(home), "--out", out)
    assert (ended.code, ended.out) == (130, "")
    assert str(out / "trials") in ended.err
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
