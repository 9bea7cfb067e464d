"""Bad input to ``train``, ``score`` and ``inspect``: exit code 2, a remedy in the shell's words, and no model."""

from __future__ import annotations

import json

import pytest

import rankinite as rk

pytestmark = pytest.mark.tools("/proc of Linux")

BAD_OPTIONS = {
    "a setting of another learner": (["--learner", "mart", "--measure", "err"], ["--measure", "mart", "lambdamart"]),
    "an unknown learner": (["--learner", "catboost"], ["lambdamart", "ranknet-trees"]),
    "a value out of range": (["--leaves", 1], ["--leaves 1", "2"]),
    "a rate out of range": (["--rate", 1.5], ["--rate 1.5"]),
    "rows without end": (["--min-rows", 10**23], [f"--min-rows {10**23}", "2147483647"]),
    "leaves without end": (["--leaves", 2**62], [f"--leaves {2**62}", "2147483647"]),
    "leaves that all have room": (
        ["--leaves", 2**31 - 1, "--shape", "symmetric"],
        ["--leaves 2147483647", "20"],
    ),
    "threads without end": (["--threads", 40_000], ["--threads 40000", "1024"]),
    "no name of a column": (["--grades", ""], ["--grades ''"]),
    "not a number": (["--leaves", "many"], ["--leaves", "integer"]),
    "not a number where none is one": (["--patience", "long"], ["--patience long", "none"]),
    "an unknown choice": (["--criterion", "gini"], ["newton", "mse"]),
    "settings that exclude each other": (
        ["--shape", "symmetric", "--node-row-share", 0.5],
        ["--node-row-share 0.5", "--shape symmetric", "--row-share", "--shape best-first"],
    ),
    "an unknown measure": (["--measure", "ndgc"], ["ndgc", "ndcg"]),
    "a measure that cannot be trained": (["--measure", "p@5"], ["p@5", "ndcg"]),
    "an unknown feature": (["--monotone", "+bm25"], ["--monotone +bm25", "'6'"]),
    "checkpoints without a file": (["--every", 5], ["--every 5", "--checkpoint"]),
    "leaves too large to split": (["--min-rows", 500], ["--min-rows 500"]),
    "a setting of trees for a net": (["--learner", "lambdarank", "--leaves", 9], ["--leaves", "lambdarank", "ranknet-trees"]),
    "a setting of nets for trees": (["--hidden", 9], ["--hidden", "lambdamart", "lambdarank and ranknet"]),
    "hidden units that are no numbers": (["--learner", "ranknet", "--hidden", "20,x"], ["--hidden 20,x", "20,10", "none"]),
    "hidden units that are none": (["--learner", "ranknet", "--hidden", "20,0"], ["--hidden 0"]),
    "hidden units left out": (["--learner", "ranknet", "--hidden", ""], ["--hidden", "20,10", "none"]),
    "an unknown optimiser": (["--learner", "ranknet", "--optimiser", "lbfgs"], ["adam", "sgd"]),
    "a decay out of range": (["--learner", "ranknet", "--decay", 2], ["--decay 2.0"]),
    "a net that diverges": (
        ["--learner", "ranknet", "--optimiser", "sgd", "--rate", 1e9],
        ["--rate", "--optimiser adam"],
    ),
    "checkpoints of a net": (["--learner", "lambdarank", "--checkpoint", "c"], ["--checkpoint c", "lambdarank", "Ctrl-C"]),
    "a net on a measure that cannot be trained": (["--learner", "lambdarank", "--measure", "p@5"], ["p@5", "ndcg"]),
    "grades above the highest": (["--learner", "mart", "--loss", "graded", "--max-grade", 1], ["--max-grade"]),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options(run, files, tmp_path, monkeypatch, case):
    monkeypatch.setenv("COLUMNS", "200")
    arguments, words = BAD_OPTIONS[case]
    done = run("train", files.train, "--out", tmp_path / "model", *arguments)
    assert (done.code, done.out, list(tmp_path.iterdir())) == (2, "", [])
    for word in words:
        assert word in done.err


def test_an_out_that_cannot_be_written_is_refused_before_anything_is_read(run, tmp_path):
    (tmp_path / "folder").mkdir()
    for out in (tmp_path / "nowhere" / "model", tmp_path / "folder", "/proc/model", "x" * 300):
        for option in ("--out", "--checkpoint"):
            others = ["--out", tmp_path / "model"] if option == "--checkpoint" else []
            done = run("train", tmp_path / "no-data.txt", *others, option, out)
            assert done.code == 2
            assert done.error.place == str(out)
            assert str(out)[:70] in done.err  # very long names are cut in the middle
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_files_that_are_not_there(run, files, tmp_path):
    for arguments in (
        ("train", tmp_path / "gone", "--out", tmp_path / "m"),
        ("train", files.train, "--valid", tmp_path / "gone", "--out", tmp_path / "m"),
        ("train", files.train, "--base", tmp_path / "gone", "--out", tmp_path / "m"),
        ("score", tmp_path / "gone", files.test),
        ("inspect", tmp_path / "gone"),
        ("evaluate", tmp_path / "gone", files.test),
    ):
        done = run(*arguments)
        assert done.code == 2
        assert "gone" in done.err
    assert not list(tmp_path.iterdir())


def test_files_that_are_no_models(run, files, tmp_path):
    header = json.dumps({"__metadata__": {"format": "pt"}}).encode()
    (tmp_path / "foreign").write_bytes(len(header).to_bytes(8, "little") + header)
    (tmp_path / "cut").write_bytes(files.model.read_bytes()[:-100])
    for verb in ("inspect", "score", "evaluate"):
        data = [] if verb == "inspect" else [files.test]
        foreign, cut = (run(verb, tmp_path / name, *data) for name in ("foreign", "cut"))
        assert (foreign.code, cut.code) == (2, 2)
        assert str(tmp_path / "foreign") in foreign.err
        assert "rankinite train" in foreign.err
        assert str(tmp_path / "cut") in cut.err
    done = run("score", files.test, files.test)
    assert (done.code, str(files.test) in done.err) == (2, True)


def test_models_need_their_features(run, files, tmp_path):
    rk.write(rk.read(files.test).rename_features(list("abcdef")), tmp_path / "named.parquet")
    for verb in ("score", "evaluate"):
        done = run(verb, files.model, tmp_path / "named.parquet")
        assert done.code == 2
        assert "'1', '2'" in done.err
        assert "'a', 'b'" in done.err
        assert "like=" not in done.err
    done = run("train", files.train, "--valid", tmp_path / "named.parquet", "--out", tmp_path / "m")
    assert done.code == 2
    (tmp_path / "few.txt").write_text("1 qid:1 1:1\n0 qid:1 1:0\n")
    (tmp_path / "web.qrels").write_text("1 0 d1 1\n1 0 d2 0\n")
    done = run("evaluate", files.model, tmp_path / "web.qrels")
    assert (done.code, done.error.place) == (2, str(files.model))


def test_runs_need_names_of_documents(run, files, tmp_path):
    (tmp_path / "anonymous.txt").write_text("1 qid:1 1:1 6:1\n0 qid:1 1:0\n")
    done = run("score", files.model, tmp_path / "anonymous.txt", "--format", "trec")
    assert (done.code, done.out) == (2, "")
    assert "--doc-id" in done.err
    assert run("score", files.model, files.test, "--format", "trec", "--tag", "two words").code == 2
    assert run("score", files.model, files.test, "--tag", "x").code == 2
    assert run("score", files.model, files.test, "--format", "trec", "--out", tmp_path / "x.npy").code == 2


def test_a_checkpoint_of_another_run_is_refused(run, files, settings, tmp_path):
    rk.LambdaMART(trees=4, leaves=6, min_rows=5).fit(
        rk.read(files.train), callbacks=[rk.Checkpoint(tmp_path / "checkpoint", every=2)]
    )
    before = (tmp_path / "checkpoint").read_bytes()
    done = run("train", files.train, "--out", tmp_path / "m", "--checkpoint", tmp_path / "checkpoint", *settings)
    assert done.code == 2
    assert "--rate 0.05" in done.err
    assert "0.3" in done.err
    assert (tmp_path / "checkpoint").read_bytes() == before
    assert run("train", files.train, "--out", tmp_path / "m", "--checkpoint", files.model, *settings).code == 2


def test_a_checkpoint_may_not_be_the_model_itself(run, files, tmp_path):
    out = tmp_path / "model"
    done = run("train", files.train, "--out", out, "--checkpoint", out)
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert "--checkpoint" in done.err


def test_settings_nested_without_end(run, files, tmp_path):
    (tmp_path / "deep.toml").write_text("[train]\ntrees = " + "[" * 100_000)
    done = run("train", files.train, "--out", tmp_path / "model", "--config", tmp_path / "deep.toml")
    assert (done.code, done.out) == (2, "")
    assert done.error.place == str(tmp_path / "deep.toml")


@pytest.mark.parametrize("option", ["--qid", "--grades", "--doc-id", "--input-format"])
def test_an_empty_name_is_no_column(run, files, tmp_path, option):
    rk.write(rk.read(files.test), tmp_path / "table.csv")
    done = run("describe", tmp_path / "table.csv", option, "")
    assert (done.code, done.out) == (2, "")
    assert f"{option} '' " in done.err
    assert f"leave {option} out" in done.err


LONG = "x" * 5_000


@pytest.mark.parametrize(
    "command",
    [
        (LONG,),
        ("train", f"--{LONG}"),
        ("train", "data.txt", "--learner", LONG, "--out", "m"),
        ("train", "data.txt", "--out", LONG),
        ("train", LONG, "--out", "m"),
        ("evaluate", f"feature:{LONG}", "train"),
    ],
)
def test_long_names_are_cut(run, files, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    done = run(*(files.train if word == "train" and word != command[0] else word for word in command))
    assert (done.code, done.out) == (2, "")
    assert "x…" in "".join(done.err.split()).replace("│", "")
    assert len(done.err) < 2_000
