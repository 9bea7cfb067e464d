"""``rankinite train`` makes from the shell the bytes that Python makes, and tells how it goes."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import fields
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

import rankinite as rk
from rankinite.cli import learner_options as learners
from rankinite.engine.compile_notices import when_compiling
from rankinite.engine.kernel import kernel

TREES = {"lambdamart": rk.LambdaMART, "mart": rk.MART, "mcrank": rk.McRank, "ranknet-trees": rk.RankNetTrees}
CLASSES = {**TREES, "lambdarank": rk.LambdaRank, "ranknet": rk.RankNet, "lambdaboost": rk.LambdaBoost}
QUICK = {"trees": 12, "leaves": 6, "min_rows": 5, "rate": 0.3}


# ---- options ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", CLASSES)
def test_every_setting_is_an_option_of_the_same_type_and_default(learner):
    hints = get_type_hints(CLASSES[learner], localns={"Measure": rk.Measure})
    settings = learners.SETTINGS[learners.LearnerName(learner)]
    assert list(settings) == [field.name for field in fields(CLASSES[learner])]
    for field in fields(CLASSES[learner]):
        setting, hint = settings[field.name], hints[field.name]
        kinds = set(get_args(hint)) - {NoneType} if get_origin(hint) not in (Literal, tuple) else {hint}
        kinds = kinds or {hint}
        assert setting.optional == (NoneType in get_args(hint))
        assert setting.repeated == (hint == tuple[str, ...])
        assert (setting.kind is tuple) == (hint == tuple[int, ...])
        literal = next((kind for kind in (hint, *kinds) if get_origin(kind) is Literal), None)
        if literal is not None:
            assert [choice.value for choice in setting.kind] == list(get_args(literal))
        elif get_origin(hint) is not tuple:
            assert setting.kind in kinds
        plain = field.default if isinstance(field.default, int | float | str | tuple | NoneType) else str(field.default)
        assert setting.default == plain
        assert setting.doc.endswith(".")


def test_the_help_lists_every_setting_with_its_doc(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    printed = run("train", "--help").out
    for settings in learners.SETTINGS.values():
        for setting in settings.values():
            assert f"{setting.option} " in printed
            assert setting.doc in printed
            shown = re.escape(setting.shown_default)
            assert re.search(rf"\[default: ([^]]* )?{shown}[] ]", printed) or shown == ""
    assert "[default: 0.05 (lambdamart), 0.1 (mart, mcrank, ranknet-trees), 0.001 (nets), 0.5 (lambdaboost)]" in printed
    assert "trees: Shrinkage of each tree, in (0, 1]. nets: Size of the steps" in printed
    assert "Share of the rows drawn for each tree. (trees only)" in printed


def test_every_option_reaches_the_learner():
    settings_given = {
        "measure": "err", "truncation": 5, "normalise": True, "trees": 7, "patience": "none", "watch": "map", "depth": 3,
        "train_history": False, "criterion": "mse", "monotone": ["+bm25", "-length"], "l2": 0.5, "seed": 3,
    }  # fmt: skip
    made = learners.make(learners.LearnerName.lambdamart, learners.Settings(**settings_given))
    plain = {**settings_given, "patience": None, "monotone": ("+bm25", "-length")}
    assert made == rk.LambdaMART(**plain)
    assert learners.make(learners.LearnerName.mart, learners.Settings()) == rk.MART()


@pytest.mark.parametrize(("written", "hidden"), [("none", ()), ("7", (7,)), ("20,10", (20, 10)), ("20, 10", (20, 10))])
def test_every_option_reaches_a_net(written, hidden):
    settings_given = {"measure": "err", "epochs": 7, "patience": "none", "watch": "map", "rate": 0.01, "nan": "mean", "seed": 3}
    others = {"optimiser": "sgd", "decay": 0.5, "restarts": 2, "l2": 0.1, "sigma": 2.0, "train_history": False}
    made = learners.make(learners.LearnerName.lambdarank, learners.Settings(**settings_given, **others, hidden=written))
    assert made == rk.LambdaRank(**{**settings_given, **others, "patience": None, "hidden": hidden})


def test_every_option_reaches_lambdaboost():
    settings_given = {"measure": "err", "rounds": 7, "watch": "map", "rate": 0.01, "nan": "mean", "sigma": 2.0, "step": "exact"}
    others = {"step_low": 0.5, "step_high": 9.0, "train_history": False}
    made = learners.make(learners.LearnerName.lambdaboost, learners.Settings(**settings_given, **others, patience="20"))
    assert made == rk.LambdaBoost(**settings_given, **others, patience=20)
    assert learners.make(learners.LearnerName.lambdaboost, learners.Settings(patience="none")) == rk.LambdaBoost()


def test_every_setting_has_a_panel_of_those_who_have_it():
    for name in (field.name for field in fields(learners.Settings)):
        having = learners.variants(name)
        families = {family for family, members in learners.FAMILIES.items() if members & set(having)}
        part = {"Trees": {"trees"}, "Nets": {"nets"}, "Watching": {"trees", "nets"}}
        assert families == part.get(learners._panel(name), families)


# ---- models -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", TREES)
def test_the_model_has_the_bytes_that_python_writes(run, files, settings, tmp_path, learner):
    out = tmp_path / "shell.rankinite"
    done = run("train", files.train, "--valid", files.valid, "--out", out, "--learner", learner, *settings)
    assert done.code == 0
    assert done.out == ""
    CLASSES[learner](**QUICK).fit(rk.read(files.train), rk.read(files.valid)).save(tmp_path / "python.rankinite")
    assert out.read_bytes() == (tmp_path / "python.rankinite").read_bytes()


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_no_byte_of_the_model(run, files, settings, tmp_path, threads):
    out = tmp_path / "model"
    plain = ("--preset", "plain", *settings)
    done = run("--threads", threads, "train", files.train, "--valid", files.valid, "--out", out, *plain, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert out.read_bytes() == files.model.read_bytes()


def test_training_goes_on_from_a_base(run, files, settings, tmp_path):
    train = rk.read(files.train)
    learner = rk.LambdaMART(**QUICK)
    for base, ranker in ((files.model, rk.load(files.model)), ("feature:2", rk.Feature("2"))):
        done = run("train", files.train, "--base", base, "--out", tmp_path / "shell", *settings)
        assert done.code == 0
        learner.fit(train, base=ranker).save(tmp_path / "python")
        assert (tmp_path / "shell").read_bytes() == (tmp_path / "python").read_bytes()


def test_preferences_are_learned_from(run, files, settings, tmp_path):
    train = rk.read(files.train)
    pairs = tmp_path / "pairs.tsv"
    first = [(train.qids[q], *train.doc_ids[train.offsets[q] : train.offsets[q] + 2]) for q in range(train.queries)]
    pairs.write_text("".join(f"{qid}\t{better}\t{worse}\t0.8\n" for qid, better, worse in first))
    arguments = (files.train, "--preferences", pairs, "--out", tmp_path / "shell", *settings)
    done = run("train", *arguments, "--learner", "ranknet-trees")
    assert (done.code, done.out) == (0, "")
    preferring = train.with_preferences(rk.read_preferences(pairs, train))
    rk.RankNetTrees(**QUICK).fit(preferring).save(tmp_path / "python")
    assert (tmp_path / "shell").read_bytes() == (tmp_path / "python").read_bytes()
    refused = run("train", *arguments)
    assert refused.code == 2
    assert "ranknet-trees" in refused.err


def test_validation_files_may_lack_the_last_features(run, files, settings, tmp_path):
    """LETOR leaves zeros out, so a file may not mention the last features at all."""
    lines = [line.partition(" 6:")[0] for line in files.valid.read_text().splitlines()]
    (tmp_path / "narrow.txt").write_text("\n".join(lines))
    done = run("train", files.train, "--valid", tmp_path / "narrow.txt", "--out", tmp_path / "model", *settings)
    assert done.code == 0
    printed = run("evaluate", tmp_path / "model", tmp_path / "narrow.txt", "--json")
    assert "feature '6' is not in it and counts as zero" in printed.err
    padded = rk.read(tmp_path / "narrow.txt", like=rk.read(files.train))
    expected = rk.evaluate(rk.load(tmp_path / "model"), padded, "ndcg@10")["ndcg@10"].mean
    assert json.loads(printed.out)["measures"]["ndcg@10"]["mean"] == expected


# ---- what it tells ------------------------------------------------------------------------------------------------


def test_the_summary_tells_what_the_model_does(run, files, settings, tmp_path):
    out = tmp_path / "model"
    done = run("train", files.train, "-v", files.valid, "-t", files.test, "--out", out, *settings, "--json")
    printed = json.loads(done.out)
    model, history = rk.load(out), rk.load(out).history
    assert (printed["model"], printed["learner"], printed["trees"]) == (str(out), "LambdaMART", len(model))
    assert (printed["stopped"], printed["measure"]) == ("finished", "ndcg@10")
    assert printed["valid"] == history.valid.max() == rk.evaluate(model, rk.read(files.valid), "ndcg@10")["ndcg@10"].mean
    assert printed["train"] == history.train[history.best]
    assert printed["test"]["ndcg@10"] == rk.evaluate(model, rk.read(files.test), "ndcg@10")["ndcg@10"].mean
    assert f"{out}: {len(model)} trees kept (all rounds done)" in done.err
    text = run("train", files.train, "-v", files.valid, "-t", files.test, "--out", out, *settings).out
    assert text == run("evaluate", out, files.test).out


def test_what_held_out_queries_said_is_told_by_train_and_inspect(run, files, tmp_path):
    out = tmp_path / "model"
    done = run("train", files.train, "--out", out, "--leaves", 4, "--min-rows", 3, "--patience", 5, "--json")
    printed, history = json.loads(done.out), rk.load(out).history
    assert (printed["valid"], printed["held_out"]) == (None, history.held_out[history.best])
    value = f"{printed['held_out']:.4f}"
    assert f"held out {value}" in done.err
    shown = " ".join(run("inspect", out).out.split())
    assert f"{value} after as many rounds" in shown
    assert "the mean of 5 smaller trainings on held-out queries, not of this model" in shown
    facts = json.loads(run("inspect", out, "--json").out)
    assert facts["history"]["held_out"][history.best] == printed["held_out"]
    assert facts["history"]["held_out_parts"] == 5


def test_progress_is_printed_every_tenth(run, files, settings, tmp_path):
    done = run("train", files.train, "--valid", files.valid, "--out", tmp_path / "m", *settings, "--trees", 30)
    lines = [line for line in done.err.splitlines() if line.startswith("round ")]
    assert [line.split()[1] for line in lines] == [str(number) for number in range(3, 31, 3)]
    history = rk.load(tmp_path / "m").history
    best = 1 + int(history.valid[1:].argmax())
    assert (
        f"train {history.train[30]:.4f} valid {history.valid[30]:.4f} (best {history.valid[best]:.4f} at {best})" in lines[-1]
    )


def test_a_terminal_shows_a_bar(run, files, settings, tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes Rich think that standard error is a terminal
    monkeypatch.setenv("COLUMNS", "200")
    done = run("train", files.train, "--valid", files.valid, "--out", tmp_path / "m", *settings)
    history = rk.load(tmp_path / "m").history
    assert done.code == 0
    assert "12/12" in done.err
    assert f"valid {history.valid[12]:.4f}" in done.err
    assert "round 12" not in done.err


def test_early_stopping_is_noted(run, files, settings, tmp_path):
    done = run("train", files.train, "-v", files.valid, "-o", tmp_path / "m", *settings, "--trees", 500, "--patience", 2)
    model = rk.load(tmp_path / "m")
    assert model.history.stopped == "early"
    assert f"{len(model)} trees kept (stopped early" in done.err
    assert len(model.history.valid) == len(model) + 2 + 1


def test_compiling_is_shown_once_and_only_if_something_compiles():
    notices = []
    with when_compiling(lambda: notices.append("compiling")):
        pass
    assert notices == []
    new = secrets.randbits(60)  # no earlier run has left these kernels in the cache
    first = kernel(lambda x: x + new)
    second = kernel(lambda x: x - new)
    with when_compiling(lambda: notices.append("compiling")):
        assert (first(1), second(1)) == (1 + new, 1 - new)
    assert notices == ["compiling"]
