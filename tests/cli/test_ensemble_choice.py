"""``ensemble`` from the shell: recipes of one learner, the choice on queries held out, budgets, reports; ``train --seeds``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankinite as rk
from rankinite.ensembles import Average, Rescaled, Summarised, bag_members, choose_members, seed_members

QUICK = "trees=5 leaves=4 min_rows=3"
DRAWN = f"lambdamart {QUICK} row_share=0.7"
LEARNER = rk.LambdaMART(trees=5, leaves=4, min_rows=3, row_share=0.7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, world = tmp_path_factory.mktemp("choice"), rk.World(features=5, documents=12, noise=0.3)
    for part, queries in (("train", 40), ("valid", 12), ("test", 15)):
        rk.write(rk.synthesise(queries, part=part, world=world), folder / f"{part}.txt")
    return folder


def saved(ranker, path):
    ranker.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(("recipe", "members"), [("seeds", seed_members), ("bag", bag_members)])
def test_members_of_one_learner_are_kept_one_by_one(run, folder, tmp_path, recipe, members):
    out = tmp_path / "out"
    command = ("ensemble", folder / "train.txt", "--recipe", recipe, "--trees", DRAWN, "--members", "3", "--out", out)
    assert run(*command).code == 0
    expected = Average(members(LEARNER, 3)).fit(rk.read(folder / "train.txt"))
    assert (out / "model.rankinite").read_bytes() == saved(expected, tmp_path / "expected")
    kept = sorted((out / "members").rglob("*.rankinite"))
    assert {path.stem for path in kept} == set(members(LEARNER, 3))
    kept[0].write_bytes(kept[0].read_bytes() + b"!")
    again = run(*command)
    assert "cannot be used" in again.err
    assert kept[0].stem in again.err
    assert (out / "model.rankinite").read_bytes() == saved(expected, tmp_path / "expected")


def test_the_choice_is_that_of_python(run, folder, tmp_path):
    out, report = tmp_path / "out", tmp_path / "report.html"
    recipe = tmp_path / "mine.toml"
    recipe.write_text(f"[members]\nt = '{DRAWN}'\nn = 'lambdarank epochs=2'\np = 'mart {QUICK}'\n")
    command = ("ensemble", folder / "train.txt", "--recipe", recipe, "--choose", "0.4", "--test", folder / "test.txt",
               "--out", out, "--report", report)  # fmt: skip
    done = run(*command, "--diversity", "--json")
    assert done.code == 0
    train, test = (rk.read(folder / f"{name}.txt") for name in ("train", "test"))
    members = {"t": LEARNER, "n": rk.LambdaRank(epochs=2), "p": rk.MART(trees=5, leaves=4, min_rows=3)}
    choice = choose_members(Average(members), train, share=0.4, measures=["ndcg@10", "err:max_grade=4"])
    assert (out / "model.rankinite").read_bytes() == saved(choice.fit(train), tmp_path / "expected")
    found = json.loads(done.out)
    assert found["choice"]["verdict"] == choice.verdict
    assert choice.verdict in done.err
    assert found["choice"]["combinations"] == json.loads(choice.combinations.to_json())
    assert found["choice"]["weights"] == choice.weighing.weights
    ensemble = rk.evaluate(choice.fit(train), test, "ndcg@10").results[0].mean
    assert found["systems"]["ensemble"]["measures"]["ndcg@10"]["mean"] == pytest.approx(ensemble)
    assert [one["name"] for one in found["diversity"]["members"]] == ["t", "n", "p"]
    written = json.loads(report.with_suffix(".json").read_text())
    titles = [table["title"] for table in written["tables"]]
    assert titles[0] == "Test"
    assert {title.split(" on ")[0] for title in titles[1:]} == {"Members", "Combinations, judged by folds", "Subsets"}
    assert written["diversity"]["together"] == choice.diversity.together
    assert choice.verdict in written["verdict"]
    shown = run(*command)
    for text in ("Combinations, judged by folds", "Subsets", "Forward selection", "without n"):
        assert text in shown.out
    assert "errors correlate" not in shown.out
    assert run(*command, "-f", "csv").out.startswith("system,")


def test_recipes_have_summaries_scales_and_single_fits(run, folder, tmp_path):
    recipe = tmp_path / "mine.toml"
    recipe.write_text(
        f"[sources]\npoints = 'mart {QUICK} loss=graded scale=probability'\n"
        f"[members]\nm4 = 'lambdamart {QUICK} bags=3 summaries=points'\n"
        f"m12 = 'mart {QUICK} loss=graded stop=10 scale=probability,peak'\n"
    )
    done = run("ensemble", folder / "train.txt", "--recipe", recipe, "--out", tmp_path / "out")
    assert done.code == 0
    graded = rk.MART(trees=5, leaves=4, min_rows=3, loss="graded")
    members = {
        "m4": Summarised(rk.Bag(rk.LambdaMART(trees=5, leaves=4, min_rows=3), 3), (Rescaled(graded, "probability"),)),
        "m12": Rescaled(Rescaled(rk.Bag(graded, 10, members=1), "probability"), "peak"),
    }
    expected = Average(members).fit(rk.read(folder / "train.txt"))
    assert (tmp_path / "out" / "model.rankinite").read_bytes() == saved(expected, tmp_path / "expected")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("a = 'mart leaves=-1'", "--leaves -1"),
        ("a = 'mart summaries=x'", "--summaries x"),
        ("a = 'mart scale=log'", "--scale log"),
        ("a = 'mart stop=x'", "--stop x"),
        ("a = 'mart seeds=3'", "row-share"),
        ("a = 3", "3 is no learner"),
        ("a = 'lambdamark'", "lambdamart, mart"),
        ("a = 'mart leafs=3'", "leafs=3"),
    ],
)
def test_errors_in_a_recipe_name_the_file_and_the_member(run, folder, tmp_path, line, named):
    recipe = tmp_path / "bad.toml"
    recipe.write_text(f"[members]\n{line}\nb = 'mart'\n")
    done = run("ensemble", folder / "train.txt", "--recipe", recipe, "--out", tmp_path / "out")
    assert done.code == 2
    assert f"{recipe}: member 'a': " in done.err.replace("\n", "")
    assert named in done.err
    assert not (tmp_path / "out").exists()


def test_a_plan_for_the_time_is_kept_and_said(run, folder, tmp_path):
    out = tmp_path / "out"
    command = ("ensemble", folder / "train.txt", "--recipe", "seeds", "--trees", DRAWN, "--members", "3", "--out", out,
               "--minutes", "0.000001")  # fmt: skip
    done = run(*command)
    assert done.code == 0
    assert "left out: seed" in done.err
    plan = (out / "plan.toml").read_bytes()
    model = (out / "model.rankinite").read_bytes()
    assert len(rk.load(out / "model.rankinite").parts) == 2
    assert run(*command).code == 0
    assert ((out / "plan.toml").read_bytes(), (out / "model.rankinite").read_bytes()) == (plan, model)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--members", "3"], "--members 3"),
        (["--diversity"], "--test"),
        (["--report", "report.html"], "--choose"),
        (["--choose", "0"], "--choose 0"),
        (["--choose", "0.05"], "--choose 0.05"),
        (["--minutes", "0"], "--minutes 0"),
        (["--recipe", "seeds", "--trees", "mart"], "--row-share"),
        (["--recipe", "bag", "--trees", "lambdamark"], "--trees"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_training(run, folder, tmp_path, arguments, named):
    done = run("ensemble", folder / "train.txt", "--out", tmp_path / "out", *arguments)
    assert done.code == 2
    assert named in done.err
    assert not (tmp_path / "out" / "members").exists()


# ---- train --seeds ----------------------------------------------------------------------------------------------------


def test_train_gives_the_mean_of_seeds(run, folder, tmp_path):
    out, report = tmp_path / "mean.rankinite", tmp_path / "report.html"
    command = ("train", folder / "train.txt", "-v", folder / "valid.txt", "-t", folder / "test.txt", "--trees", "5",
               "--leaves", "4", "--min-rows", "3", "--row-share", "0.7", "--seeds", "3", "--out", out)  # fmt: skip
    done = run(*command, "--report", report, "--json")
    assert done.code == 0
    train, valid, test = (rk.read(folder / f"{name}.txt") for name in ("train", "valid", "test"))
    expected = rk.Seeds(LEARNER, 3).fit(train, valid)
    assert out.read_bytes() == saved(expected, tmp_path / "expected")
    found = json.loads(done.out)
    assert (found["seeds"], found["settings"]["seed"]) == (3, 2)
    assert found["test"]["ndcg@10"] == pytest.approx(rk.evaluate(expected, test, "ndcg@10").results[0].mean)
    assert "the mean of 3 seeds" in done.err
    assert report.exists()
    again = run("train", "--config", tmp_path / "mean.toml", "--out", tmp_path / "again.rankinite")
    assert again.code == 0
    assert (tmp_path / "again.rankinite").read_bytes() == out.read_bytes()
    based = run(*command[:-1], tmp_path / "based.rankinite", "--base", out)
    assert based.code == 0
    ranker = rk.Seeds(LEARNER, 3).fit(train, valid, base=expected)
    assert np.array_equal(rk.load(tmp_path / "based.rankinite").score(test), ranker.score(test))


def test_seeds_without_chance_and_with_checkpoints_are_refused(run, folder, tmp_path):
    out = tmp_path / "model.rankinite"
    done = run("train", folder / "train.txt", "--learner", "mart", "--seeds", "3", "--out", out)
    assert done.code == 2
    assert "--row-share" in done.err
    done = run("train", folder / "train.txt", "--row-share", "0.5", "--seeds", "3", "--checkpoint", tmp_path / "c", "-o", out)
    assert done.code == 2
    assert "--checkpoint" in done.err
    assert not out.exists()
