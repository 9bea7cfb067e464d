"""``rankinite adapt``: rankers, data and settings that it takes."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost

import rankinite as rk
from oracles.adapt_command import call, quick


def test_features_are_found_by_name_and_further_ones_are_noted(home, tmp_path):
    train = rk.read(home / "train.txt")
    table = rk.read(home / "train.txt").select_features(["4", "2", "5", "1", "3"])
    values = np.column_stack([table.features, np.arange(table.rows)])
    rows = zip(table.query_of_row(), table.grades, values, strict=True)
    lines = [",".join(["qid", "grade", *table.feature_names, "new"])]
    lines += [",".join([str(train.qids[query]), f"{grade:g}", *map(repr, row.tolist())]) for query, grade, row in rows]
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


def test_a_learning_rate_that_a_model_does_not_record_can_be_declared(home, tmp_path):
    web = rk.read(home / "web.txt")
    rows = xgboost.DMatrix(web.features, web.grades)
    rows.set_group(np.diff(web.offsets))
    made = xgboost.train({"objective": "rank:ndcg", "max_depth": 3, "nthread": 1, "eta": 0.2}, rows, 8)
    made.save_model(tmp_path / "x.json")
    command = quick(home, background=tmp_path / "x.json")
    without = call(*command, "--json", "--out", tmp_path / "without")
    assert "--background-rate" in json.loads(without.out)["not_tried"]["trada"]
    evidence = json.loads(call(*command, "--background-rate", "0.2", "--json", "--out", tmp_path / "with").out)
    assert evidence["not_tried"] == {}
    assert evidence["methods"]["trada"]["size"] == "8 trees"
    assert evidence["settings"]["background_rate"] == 0.2


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
    rk.LambdaMART.plain(trees=1, leaves=2, min_rows=1).fit(train.map_grades(lambda grades: 4 - grades)).save(weak)
    arguments = (
        f"weak={weak}",
        f"net={tmp_path / 'net.rankinite'}",
        "--train",
        home / "train.txt",
        "--no-curve",
        "--methods",
        "trada",
    )
    rk.LambdaRank(epochs=20).fit(train).save(tmp_path / "net.rankinite")
    done = call("adapt", *arguments, "--out", tmp_path / "out")
    assert "'background' is net, the best of them on the target." in done.out
    assert "Trada and additive start from weak, the best forest of them." in done.out
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert (evidence["background"], evidence["background_forest"]) == ("net", "weak")


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
    unmapped = call(*command, *data, "--out", tmp_path / "no")
    assert (unmapped.code, (tmp_path / "no").exists()) == (2, False)
    assert all(text in unmapped.err for text in ("--map-grades 0=0,1=0,2=1", "--same-scale", str(home / "web.txt")))
    assert "Dataset" not in unmapped.err
    mapped = call(*command, *data, "--map-grades", "0=0,1=0,2=1,3=1,4=1", "--out", tmp_path / "mapped")
    assert mapped.code == 0
    assert "pool" in json.loads(mapped.out)["methods"]
    assert json.loads(mapped.out)["settings"]["map_grades"] == "0=0,1=0,2=1,3=1,4=1"
    assert call(*command, *data, "--same-scale", "--out", tmp_path / "same").code == 0


def test_grades_of_the_target_are_mapped_apart_from_those_of_the_background(home, tmp_path):
    """The target's grades are words; --map-grades stays with the background's data."""
    train = rk.read(home / "train.txt").map_grades({0: 0, 1: 0, 2: 1, 3: 1, 4: 1})
    plain, words = tmp_path / "plain.csv", tmp_path / "words.csv"
    rk.write(train, plain)
    frame = pd.read_csv(plain, dtype=str)
    frame.assign(grade=frame.grade.astype(float).map({0: "Bad", 1: "Good"})).to_csv(words, index=False)
    command = ("adapt", home / "web.rankinite", "--methods", "pool", "--no-curve", "--json", "-B", home / "web.txt")
    command += ("--map-grades", "0=0,1=0,2=1,3=1,4=1", "--folds", 2)
    expected = call(*command, "--train", plain, "--out", tmp_path / "plain")
    mapped = call(*command, "--train", words, "--map-target-grades", "Good=1,Bad=0", "--out", tmp_path / "words")
    assert (expected.code, mapped.code) == (0, 0), mapped.err
    found = [json.loads(one.out) for one in (expected, mapped)]
    values = [{name: system["measures"] for name, system in one["unseen"]["systems"].items()} for one in found]
    assert values[0] == values[1]
    assert found[1]["settings"]["map_target_grades"] == "Good=1,Bad=0"
    for given in ((), ("--map-target-grades", "Good=1")):
        refused = call(*command, "--train", words, *given, "--out", tmp_path / "no")
        assert (refused.code, (tmp_path / "no").exists()) == (2, False)
        assert "--map-target-grades" in refused.err
        assert "--map-grades" not in refused.err


def test_features_that_a_file_does_not_have_are_noted(home, tmp_path):
    (tmp_path / "short.txt").write_text("2 qid:a 1:1 2:2\n0 qid:a 1:3 2:4\n1 qid:b 1:5 2:1\n4 qid:b 1:2 2:7\n")
    done = call(*quick(home), "--background-data", tmp_path / "short.txt", "--same-scale", "--out", tmp_path / "out")
    assert f"{tmp_path / 'short.txt'}: every row has 0 for '3', " in done.err


def test_what_was_tuned_can_be_looked_at_with_the_command_printed(home, tmp_path, monkeypatch):
    method_choice, trada = import_module("rankinite.adapt.method_choice"), {"name": "trada", "decision": "deploy"}
    honest = method_choice.decide
    monkeypatch.setattr(method_choice, "decide", lambda values, **asked: replace(honest(values, **asked), **trada))
    arguments = (
        f"web={home / 'web.rankinite'}",
        "poor=feature:1",
        "--train",
        home / "train.txt",
        "--no-curve",
        "--methods",
        "trada",
    )
    done = call("adapt", *arguments, "--out", tmp_path / "out")
    model = tmp_path / "out" / "model.rankinite"
    assert f"rankinite inspect {model} --moved {home / 'web.rankinite'} " in done.out
    assert call("inspect", model, "--moved", home / "web.rankinite").code == 0


def test_what_a_background_does_not_record_can_be_declared(home, tmp_path):
    """A forest that predicts grades 0–4 is not tuned to 0–1; one without a loss is, once it is declared."""
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
        evidence = json.loads(call(*command, *options).out)
        return list(evidence["methods"]), evidence["not_tried"]

    two, five = ("--train", tmp_path / "two.txt"), ("--train", home / "train.txt")
    methods, refused = tried("mart.rankinite", *two)
    assert ("trada" in methods, "--same-scale" in refused["trada"]) == (False, True)
    assert "trada" in tried("mart.rankinite", *two, "--same-scale")[0]
    assert "trada" in tried("mart.rankinite", *two)[1]  # though its trial is kept
    methods, refused = tried("bare.rankinite", *five)
    assert ("trada" in methods, "--background-loss" in refused["trada"]) == (False, True)
    assert "trada" in tried("bare.rankinite", *five, "--background-loss", "squared")[0]
    rk.MART(trees=3, leaves=4, min_rows=5, loss="binary", relevant=2).fit(train, base=predicts).save(
        tmp_path / "both.rankinite"
    )
    refused = tried("both.rankinite", *five)[1]["trada"]
    assert "'binary', 'squared'" in refused
    assert "trada" in tried("both.rankinite", *five, "--background-loss", "squared")[0]
