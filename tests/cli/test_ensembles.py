"""``cross-validate`` and ``distil`` from the shell do what Python does."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankinite as rk

QUICK = "trees=5 leaves=4 min_rows=3"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, world = tmp_path_factory.mktemp("ensembles"), rk.World(features=5, documents=12, noise=0.3)
    rk.write(rk.synthesise(30, world=world), folder / "train.txt")
    rk.write(rk.synthesise(15, part="test", world=world), folder / "test.txt")
    for number in range(1, 4):
        rk.write(rk.synthesise(12, world=rk.World(features=5, documents=12, noise=0.3, seed=number)), folder / f"S{number}.txt")
    train = rk.read(folder / "train.txt")
    rk.Bag(rk.LambdaMART(trees=8, leaves=5, min_rows=3), 4).fit(train).save(folder / "teacher")
    return folder


def test_systems_are_trained_as_in_python(run, folder):
    done = run("cross-validate", folder / "train.txt", "-S", f"one=lambdamart {QUICK}", "-S", f"bag=lambdamart {QUICK} bags=3",
               "-S", f"more=mart {QUICK} augment=50", "--folds", "3", "-m", "err", "--json")  # fmt: skip
    assert done.code == 0
    one = rk.LambdaMART(trees=5, leaves=4, min_rows=3)
    more = rk.Augmented(rk.MART(trees=5, leaves=4, min_rows=3), *rk.AUG50)
    expected = rk.cross_validate(
        {"one": one, "bag": rk.Bag(one, 3), "more": more}, rk.read(folder / "train.txt"), 3, measures="err"
    )
    found = json.loads(done.out)
    assert found == json.loads(expected.to_json())
    assert "bag, fold 3" in done.err


def test_settings_of_all_kinds_are_read(run, folder):
    trees = "trees=4 rate=0.05 normalise=no measure=err row_share=0.5 patience=none shape=symmetric monotone=+1,-2"
    spec = f"x=lambdamart {trees} seeds=2"
    net = "lambdarank hidden=3,2 epochs=2"
    done = run("cross-validate", folder / "train.txt", "-S", spec, "-S", net, "--folds", "3", "--json")
    assert done.code == 0
    trees = rk.LambdaMART(
        trees=4,
        rate=0.05,
        normalise=False,
        measure="err",
        row_share=0.5,
        patience=None,
        shape="symmetric",
        monotone=("+1", "-2"),
    )
    named = {"x": rk.Seeds(trees, 2), net: rk.LambdaRank(hidden=(3, 2), epochs=2)}
    assert json.loads(done.out) == json.loads(rk.cross_validate(named, rk.read(folder / "train.txt"), 3).to_json())


def test_letor_parts_and_layouts(run, folder):
    parts = [folder / f"S{number}.txt" for number in range(1, 4)]
    done = run("cross-validate", *parts, "--folds", "letor", "-S", f"lambdamart {QUICK}", "-f", "markdown")
    assert done.code == 2  # the parts share query ids
    done = run("cross-validate", folder / "train.txt", "--folds", "3", "-S", f"lambdamart {QUICK}", "-f", "markdown")
    assert "| lambdamart trees=5" in done.out


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["-S", "lambdamark"], "'lambdamark'"),
        (["-S", "lambdamart leafs=3"], "leafs=3"),
        (["-S", "lambdamart leaves"], "leaves"),
        (["-S", "lambdamart leaves=few"], "--leaves few"),
        (["-S", "lambdamart rate=fast"], "--rate fast"),
        (["-S", "lambdamart bags=x"], "--bags x"),
        (["-S", "lambdamart augment=60"], "--augment 60"),
        (["-S", "mart seeds=3"], "--row-share 0.7"),
        (["-S", "lambdamart", "-S", "lambdamart"], "lambdamart"),
        (["-S", "lambdamart", "--folds", "weeks"], "--folds weeks"),
        (["-S", "lambdamart", "--folds", "letor"], "--folds letor"),
        (["-S", "lambdamart", "--folds", "31"], "31"),
        (["-S", "lambdamart 'leaves=3"], "'leaves=3"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_systems_are_refused(run, folder, arguments, option):
    done = run("cross-validate", folder / "train.txt", *arguments)
    assert done.code == 2
    assert option in done.err
    assert done.out == ""


def test_the_twelve_models_from_the_shell(run, folder, tmp_path):
    out = tmp_path / "twelve"
    small = ["--trees", "lambdamart trees=3 leaves=4 min_rows=3", "--net", "lambdarank hidden=3 epochs=2", "--points",
             "mart trees=3 leaves=4 min_rows=3"]  # fmt: skip
    done = run("ensemble", folder / "train.txt", *small, "--test", folder / "test.txt", "--out", out, "--json")
    assert done.code == 0
    learners = (
        rk.LambdaMART(trees=3, leaves=4, min_rows=3),
        rk.LambdaRank(hidden=(3,), epochs=2),
        rk.MART(trees=3, leaves=4, min_rows=3),
    )
    expected = rk.ensembles.challenge(*learners, max_grade=4).fit(rk.read(folder / "train.txt"))
    expected.save(tmp_path / "expected")
    assert (out / "model.rankinite").read_bytes() == (tmp_path / "expected").read_bytes()
    assert set(json.loads(done.out)["systems"]) == {*(f"M{number}" for number in range(1, 13)), "ensemble"}
    times = {path: path.stat().st_mtime_ns for path in (out / "members").rglob("*.rankinite")}
    assert len(times) == 12
    again = run("ensemble", folder / "train.txt", *small, "--out", out)
    assert again.code == 0
    assert {path: path.stat().st_mtime_ns for path in times} == times  # nothing was trained again
    assert (out / "model.rankinite").read_bytes() == (tmp_path / "expected").read_bytes()


def test_a_recipe_of_ones_own(run, folder, tmp_path):
    recipe = tmp_path / "mine.toml"
    recipe.write_text(f"[members]\ntrees = 'lambdamart {QUICK} bags=3'\nnet = 'lambdarank epochs=2'\n")
    done = run("ensemble", folder / "train.txt", "--recipe", recipe, "--out", tmp_path / "mine")
    assert done.code == 0
    members = {"trees": rk.Bag(rk.LambdaMART(trees=5, leaves=4, min_rows=3), 3), "net": rk.LambdaRank(epochs=2)}
    expected = rk.ensembles.Average(members).fit(rk.read(folder / "train.txt"))
    expected.save(tmp_path / "expected")
    assert (tmp_path / "mine" / "model.rankinite").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[members]\na = 'lambdamark'\nb = 'mart'\n", "lambdamart, mart"),
        ("[members]\na = 'mart'\n", "two"),
        ("[member]\na = 'mart'\n", "[members]"),
        ("[members]\na = 3\n", "[members]"),
        ("members", "[members]"),
        (None, "nowhere.toml"),
    ],
)
def test_bad_recipes_are_refused(run, folder, tmp_path, text, named):
    path = tmp_path / "nowhere.toml"
    if text is not None:
        path.write_text(text)
    done = run("ensemble", folder / "train.txt", "--recipe", path, "--out", tmp_path / "out")
    assert done.code == 2
    assert named in done.err
    assert not (tmp_path / "out").exists()


def test_a_learner_of_another_kind_is_refused(run, folder, tmp_path):
    done = run("ensemble", folder / "train.txt", "--trees", "mart", "--out", tmp_path / "out")
    assert done.code == 2
    assert "--trees mart" in done.err


def test_a_teacher_is_distilled_as_in_python(run, folder, tmp_path):
    out = tmp_path / "small.rankinite"
    done = run("distil", folder / "teacher", "--data", folder / "train.txt", "--test", folder / "test.txt", "--trees", "6",
               "--leaves", "5", "--out", out, "--json")  # fmt: skip
    assert done.code == 0
    train, test = rk.read(folder / "train.txt"), rk.read(folder / "test.txt")
    expected = rk.distil(rk.load(folder / "teacher"), train, test=test, trees=6, leaves=5)
    expected.ranker.save(tmp_path / "expected")
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()
    found = json.loads(done.out)
    assert found["method"] == expected.method
    assert [row["value"] for row in found["rankers"]] == [row.value for row in expected.rows]
    shown = run("distil", folder / "teacher", "-d", folder / "train.txt", "--trees", "4", "--how", "grow", "--more",
                folder / "test.txt", "--made", "1", "-o", out)  # fmt: skip
    assert shown.code == 0
    assert "direct" in shown.out
    assert "4 trees in place of" in shown.err


def test_rows_without_grades_are_scored_converted_described_and_distilled_from(run, folder, tmp_path):
    log = rk.synthesise(15, part="valid", world=rk.World(features=5, documents=12, noise=0.3)).without_grades()
    rk.write(log, tmp_path / "log.csv")
    out = tmp_path / "net.rankinite"
    done = run("distil", folder / "teacher", "-d", folder / "train.txt", "--more", tmp_path / "log.csv", "--test",
               folder / "test.txt", "--how", "net", "--hidden", "4,3", "-o", out)  # fmt: skip
    assert done.code == 0
    assert "weights in place of" in done.err
    train, test = rk.read(folder / "train.txt"), rk.read(folder / "test.txt")
    expected = rk.distil(rk.load(folder / "teacher"), train, unjudged=[log], test=test, how="net", hidden=(4, 3))
    expected.ranker.save(tmp_path / "expected")
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()
    scored = run("score", folder / "teacher", tmp_path / "log.csv")
    assert [float(line) for line in scored.out.splitlines()] == rk.load(folder / "teacher").score(log).tolist()
    assert "no grades" in run("describe", tmp_path / "log.csv").out
    assert run("convert", tmp_path / "log.csv", "--unjudged", "keep", "-o", tmp_path / "log.parquet").code == 0
    assert not rk.read(tmp_path / "log.parquet", unjudged="keep").judged
    for arguments in (
        ["convert", tmp_path / "log.csv", "-o", tmp_path / "other.parquet"],
        ["convert", tmp_path / "log.csv", "--unjudged", "keep", "-o", tmp_path / "log.txt"],
        ["evaluate", folder / "teacher", tmp_path / "log.csv", "--unjudged", "keep"],
        ["train", tmp_path / "log.csv", "--unjudged", "keep", "-o", tmp_path / "model"],
        ["distil", folder / "teacher", "-d", tmp_path / "log.csv", "--unjudged", "keep", "-o", tmp_path / "model"],
    ):
        refused = run(*arguments)
        assert refused.code == 2
        assert "grade" in refused.err


def test_a_teacher_that_needs_queries_is_not_distilled_without(run, folder, tmp_path):
    train, net = rk.read(folder / "train.txt"), rk.RankNet(epochs=2).fit(rk.read(folder / "train.txt"))
    rk.combine.average([rk.load(folder / "teacher"), net], train, scale="query").ranker.save(tmp_path / "teacher")
    columns = ["label", *train.feature_names]
    np.savetxt(
        tmp_path / "rows.csv",
        np.column_stack([train.grades, train.features]),
        delimiter=",",
        header=",".join(columns),
        comments="",
    )
    for option in (["-d", tmp_path / "rows.csv"], ["-d", folder / "train.txt", "--more", tmp_path / "rows.csv"]):
        done = run("distil", tmp_path / "teacher", *option, "-o", tmp_path / "small")
        assert done.code == 2
        assert "rows.csv" in done.err
        assert "--qid" in done.err


def test_what_cannot_be_distilled_is_refused(run, folder, tmp_path):
    out = tmp_path / "small.rankinite"
    data = ["--data", folder / "train.txt", "--out", out]
    for arguments in (
        ["feature:1", *data, "--how", "select"],
        [folder / "train.txt", *data],
        [folder / "teacher", *data, "--folds", "99"],
    ):
        done = run("distil", *arguments)
        assert done.code == 2
        assert not out.exists()
    done = run("distil", folder / "teacher", "--data", folder / "train.txt", "--out", folder / "teacher")
    assert done.code == 2
    overlap = run("distil", folder / "teacher", *data, "--test", folder / "train.txt")
    assert overlap.code == 2
    assert "--allow-overlap" in overlap.err
