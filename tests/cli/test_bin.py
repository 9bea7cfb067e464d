"""``rankinite bin``, and ``rankinite train`` on what it makes."""

from __future__ import annotations

import json

import pytest

import rankinite as rk

TRAIN = ("--trees", "4", "--leaves", "4", "--min-rows", "3")


def test_a_folder_trains_the_model_of_its_data(run, files, tmp_path):
    done = run("bin", files.train, "--out", tmp_path / "train.bins", "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert (said["rows"], said["queries"], said["features"]) == (600, 60, 6)
    assert "coding takes at most about" in done.err
    assert "on disk; training takes about" in done.err
    assert run("bin", files.valid, "--out", tmp_path / "valid.bins", "--like", tmp_path / "train.bins", "-q").err == ""
    folders = (tmp_path / "train.bins", "--valid", tmp_path / "valid.bins")
    assert run("train", *folders, *TRAIN, "--out", tmp_path / "coded").code == 0
    assert run("train", files.train, "--valid", files.valid, *TRAIN, "--out", tmp_path / "plain").code == 0
    assert (tmp_path / "coded").read_bytes() == (tmp_path / "plain").read_bytes()


@pytest.mark.slow
def test_shards_are_one_data_set_also_for_workers(run, files, tmp_path):
    assert run("bin", files.train, "--out", tmp_path / "shards", "--shards", "2").code == 0
    assert run("train", files.train, *TRAIN, "--out", tmp_path / "plain").code == 0
    shards = sorted((tmp_path / "shards").iterdir())
    joint = run("train", *shards, *TRAIN, "--workers", "2", "--verbose", "--out", tmp_path / "joint")
    assert joint.code == 0, joint.err
    assert "messages and" in joint.err
    assert (tmp_path / "joint").read_bytes() == (tmp_path / "plain").read_bytes()


def test_a_base_is_given_to_both(run, files, tmp_path):
    base = ("--base", "column:2")
    assert run("bin", files.train, "--out", tmp_path / "train.bins", *base).code == 0
    assert run("train", tmp_path / "train.bins", *base, *TRAIN, "--out", tmp_path / "coded").code == 0
    assert run("train", files.train, *base, *TRAIN, "--out", tmp_path / "plain").code == 0
    assert (tmp_path / "coded").read_bytes() == (tmp_path / "plain").read_bytes()
    done = run("train", tmp_path / "train.bins", "--base", "column:3", *TRAIN, "--out", tmp_path / "none")
    assert done.code == 2
    assert "--base" in done.err
    assert not (tmp_path / "none").exists()


def test_a_report_is_judged_by_data_with_features_alone(run, files, tmp_path):
    train = rk.bin(rk.read(files.train), tmp_path / "train.bins")
    rk.bin(rk.read(files.valid), tmp_path / "valid.bins", like=train)
    folders = (tmp_path / "train.bins", "--valid", tmp_path / "valid.bins")
    for judged in ((), ("--test", files.test)):
        words = (*TRAIN, "--report", tmp_path / "report.html", "--out", tmp_path / "model")
        done = run("train", *folders, *judged, *words)
        assert done.code == 0, done.err
        assert ("judged on" in (tmp_path / "report.json").read_text()) is bool(judged)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "DATA", "--workers", "2", "--out", "m"), "--workers"),
        (("train", "BINS", "--learner", "lambdarank", "--out", "m"), "no features"),
        (("train", "BINS", "--bins", "31", "--out", "m"), "--bins"),
        (("train", "HALF", "--out", "m"), "not finished"),
        (("bin", "DATA", "--out", "BINS"), "there already"),
        (("train", "DATA", "--test", "BINS", "--out", "m"), "the data they were made from"),
        (("evaluate", "column:0", "BINS"), "the data they were made from"),
        (("bin", "DATA", "--out", "new", "--like", "DATA"), "not a folder of bins"),
        (("bin", "DATA", "--out", "new", "--shards", "1000"), "--shards"),
    ],
)
def test_what_cannot_be_is_refused_with_2(words, said, run, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rk.bin(rk.read(files.train), tmp_path / "train.bins")
    (tmp_path / "half.bins").mkdir()
    (tmp_path / "half.bins" / "unfinished").touch()
    places = {"DATA": files.train, "BINS": tmp_path / "train.bins", "HALF": tmp_path / "half.bins"}
    done = run(*(places.get(word, word) for word in words))
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "m").exists()
    assert not list(tmp_path.glob("new/**/manifest.json"))


def test_categories_are_kept_by_name(run, tmp_path):
    """The same model as from the table, judged on data with other words; what is in the folder is described."""
    shown = {}
    for part, new in (("train", 160), ("valid", 9)):
        words = [f"{'' if k % new else 'neu '}w{k * k % 11}" for k in range(160)]
        lines = [f"{part}{k // 8},{k % 3},{k % 5 + 1 / new},{word},{k % 4}" for k, word in enumerate(words)]
        (tmp_path / f"{part}.csv").write_text("qid,grade,x,brand,shop\n" + "\n".join(lines) + "\n")
        like = () if part == "train" else ("--like", tmp_path / "train.bins")
        done = run("bin", tmp_path / f"{part}.csv", "--category", "shop", "--out", tmp_path / f"{part}.bins", "--json", *like)
        assert done.code == 0, done.err
        shown[part] = json.loads(done.out)["categories"]
    assert shown["train"] == shown["valid"]
    assert shown["train"]["shop"] == 4
    words = ("--trees", "3", "--leaves", "4", "--min-rows", "3", "--out")
    coded = (tmp_path / "train.bins", "--valid", tmp_path / "valid.bins")
    assert run("train", *coded, *words, tmp_path / "coded").code == 0
    plain = (tmp_path / "train.csv", "--valid", tmp_path / "valid.csv", "--category", "shop")
    assert run("train", *plain, *words, tmp_path / "plain").code == 0
    assert (tmp_path / "coded").read_bytes() == (tmp_path / "plain").read_bytes()
    judged = run("evaluate", tmp_path / "coded", tmp_path / "valid.csv", "--category", "shop", "--json")
    assert judged.code == 0, judged.err
    described = run("describe", tmp_path / "train.bins")
    assert described.code == 0, described.err
    assert "too rare" in described.out
    assert json.loads(run("describe", tmp_path / "train.bins", "--json").out)[0]["category_rows"] == 5
    assert run("describe", tmp_path / "train.bins", "--format", "csv").out.startswith("feature,bins,missing")
    other = run("train", *coded, "--category-rows", "9", *words, tmp_path / "other")
    assert other.code == 2
    assert "--category-rows" in other.err
