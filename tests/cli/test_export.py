"""``rankinite export`` and ``rankinite check``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.cli import completion
from rankinite.serving.target import TARGETS, target_named


@pytest.fixture
def model(tmp_path):
    random_forest(1).save(tmp_path / "web.rankinite")
    return tmp_path / "web.rankinite"


def test_export_then_check(run, model, tmp_path):
    done = run("export", model, "--to", "lightgbm", "-o", tmp_path / "shop")
    assert done.code == 0
    assert str(tmp_path / "shop" / "model.txt") in done.out
    assert "no bit differs" in done.err
    np.savetxt(tmp_path / "served.txt", np.loadtxt(tmp_path / "shop" / "sample-scores.txt"), fmt="%.17g")
    assert run("check", tmp_path / "shop", "--scores", tmp_path / "served.txt").code == 0
    (tmp_path / "served.txt").write_text("1.0\n" * 20)
    wrong = run("check", tmp_path / "shop", "--scores", tmp_path / "served.txt", "--json")
    assert wrong.code == 1
    assert json.loads(wrong.out)["as_expected"] is False


def test_a_check_of_rows_without_any_feature_fails(run, model, tmp_path):
    """Each score is what the model gives to a document without features; no feature is computed all the same."""
    assert run("export", model, "--to", "lightgbm", "-o", tmp_path / "shop").code == 0
    names = (tmp_path / "shop" / "sample.csv").read_text().split("\n")[0]
    (tmp_path / "logged.csv").write_text(f"qid,{names}\n" + f"1{',' * (names.count(',') + 1)}\n" * 20)
    rows = np.full((20, names.count(",") + 1), np.nan)
    np.savetxt(tmp_path / "served.txt", rk.load(model).score(rows), fmt="%.17g")
    done = run("check", tmp_path / "shop", "--scores", tmp_path / "served.txt", "--data", tmp_path / "logged.csv", "--json")
    assert done.code == 1
    facts = json.loads(done.out)
    assert (facts["equal"], facts["first_difference"], facts["as_expected"], len(facts["findings"])) == (20, None, False, 2)


def test_export_with_a_sample_in_which_rows_were_scattered(run, model, tmp_path):
    data = rk.synthesise(5, world=rk.World(features=25))
    rk.LambdaMART.plain(trees=3, leaves=4, min_rows=2).fit(data).save(tmp_path / "own.rankinite")
    rk.write(data, tmp_path / "test.txt")
    done = run("export", tmp_path / "own.rankinite", "--to", "lightgbm", "--sample", tmp_path / "test.txt", "-o",
               tmp_path / "shop", "--json")  # fmt: skip
    assert done.code == 0
    facts = json.loads(done.out)
    assert facts["check"] == {"adversarial_rows": 1000, "sample_rows": data.rows, "largest_difference": 0.0}
    rk.write(data, tmp_path / "test.parquet")
    assert run("score", tmp_path / "own.rankinite", tmp_path / "test.parquet", "-o", tmp_path / "served.npy").code == 0
    checked = run("check", tmp_path / "shop", "--scores", tmp_path / "served.npy", "--data", tmp_path / "test.parquet")
    assert checked.code == 0
    assert f"{data.rows} equal" in checked.out


def test_the_list_of_targets(run, model):
    done = run("export", model, "--list")
    assert done.code == 0
    assert all(name in done.out for name in TARGETS)
    offers = json.loads(run("export", model, "--list", "--json").out)
    assert [offer["target"] for offer in offers] == list(TARGETS)


def test_the_list_of_targets_needs_no_model(run):
    done = run("export", "--list")
    assert done.code == 0
    titles = {name: target_named(name).title for name in TARGETS}
    lines = done.out.splitlines()
    assert all(any(name in line and title in line for line in lines) for name, title in titles.items())
    listed = json.loads(run("export", "--list", "--json").out)
    assert {entry["target"]: entry["title"] for entry in listed} == titles
    without = run("export", "--to", "onnx", "-o", "shop")
    assert without.code == 2
    assert without.error is not None
    assert "no model" in without.error.problem


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        (["--to", "lucene", "-o", "shop"], "to"),
        (["--to", "lightgbm", "-o", "shop", "--shift", "much"], "shift"),
        (["--to", "lightgbm", "-o", "shop", "--engine-version", "3"], "engine_version"),
        (["-o", "shop"], ""),
        (["--to", "lightgbm"], ""),
    ],
)
def test_bad_input_ends_with_2_and_writes_nothing(run, model, tmp_path, monkeypatch, arguments, setting):
    monkeypatch.chdir(tmp_path)
    done = run("export", model, *arguments)
    assert done.code == 2
    assert done.error is not None
    assert done.error.setting == setting
    assert not (tmp_path / "shop").exists()


def test_a_folder_that_is_not_free_is_refused_by_the_name_of_its_option(run, model, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("1\n")
    assert (
        f"--out {tmp_path / 'notes'} holds files that are no export"
        in run("export", model, "--to=c", "-o", tmp_path / "notes").err
    )
    assert run("export", model, "--to=c", "-o", tmp_path / "shop").code == 0
    assert f"--out {tmp_path / 'shop'} holds an export already" in run("export", model, "--to=c", "-o", tmp_path / "shop").err
    absent = run("check", tmp_path / "notes", "--scores", tmp_path / "notes" / "mine.txt")
    assert (absent.code, absent.error.remedy) == (2, "Give the folder of an export")


def test_the_shell_completes_all_targets():
    assert completion.targets("") == list(TARGETS)
    assert completion.targets("es") == ["es-ltr"]
