"""``rankinite combine``: the model it writes, what it prints, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest

import rankinite as rk

MEASURE = "ndcg@10"


@pytest.fixture(scope="module")
def three(files, nets):
    """Three rankers as the shell is given them."""
    return [f"trees={files.model}", f"net={nets['net']}", "column=feature:2"]


@pytest.fixture(scope="module")
def loaded(files, nets):
    """The same in Python."""
    return {"trees": rk.load(files.model), "net": rk.load(nets["net"]), "column": rk.Feature("2")}


@pytest.fixture(scope="module")
def data(files):
    return rk.read(files.valid)


VARIANTS = {
    "greedy": ([], rk.combine.greedy),
    "tree": (
        ["--tree", "((3,1),2)", "--form", "convex", "--smooth", "0.2"],
        lambda rankers, data: rk.combine.exact(
            (rankers["column"], rankers["trees"]), rankers["net"], data, form="convex", smooth=0.2
        ),
    ),
    "cyclic": (
        ["--method", "cyclic", "--low", "-1", "--high", "2", "--normalise"],
        lambda rankers, data: rk.combine.cyclic(rankers, data, range=(-1, 2), normalise=True),
    ),
    "cyclic, every ratio": (["--method", "cyclic"], rk.combine.cyclic),
    "average": (["--method", "average"], rk.combine.average),
    "by query": (
        ["--method", "average", "--scale", "query"],
        lambda rankers, data: rk.combine.average(rankers, data, scale="query"),
    ),
    "by rank": (
        ["--method", "average", "--scale", "rank"],
        lambda rankers, data: rk.combine.average(rankers, data, scale="rank"),
    ),
    "powell": (["--method", "powell"], rk.combine.powell),
    "stacked": (["--method", "stacked"], rk.combine.stacked),
    "stacked net": (
        ["--method", "stacked", "--hidden", "2"],
        lambda rankers, data: rk.combine.stacked(rankers, data, hidden=(2,)),
    ),
}
"""Options, and what Python does with the same rankers."""


# ---- combining ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_model_has_the_bytes_that_python_writes(run, files, three, loaded, data, tmp_path, variant):
    options, combined = VARIANTS[variant]
    done = run("combine", *three, "-d", files.valid, "-o", tmp_path / "shell", *options)
    assert done.code == 0
    assert f"{tmp_path / 'shell'}: 3 rankers combined on the 60 queries of {files.valid}\n" == done.err
    expected = combined(loaded, data)
    expected.ranker.save(tmp_path / "python")
    assert (tmp_path / "shell").read_bytes() == (tmp_path / "python").read_bytes()
    order = ["column", "trees", "net"] if variant == "tree" else ["trees", "net", "column"]
    rows = [line.split() for line in done.out.splitlines()[2:6]]
    weights = [f"{weight:.6g}" for weight in expected.weights] or ["–"] * 3
    values = [f"{rk.evaluate(loaded[name], data, MEASURE)[MEASURE].mean:.4f}" for name in order]
    assert rows[:3] == [list(row) for row in zip(order, weights, values, strict=True)]
    assert rows[3][0] == "combined"
    assert rows[3][-1] == f"{rk.evaluate(expected.ranker, data, MEASURE)[MEASURE].mean:.4f}"


@pytest.mark.parametrize(
    ("options", "settings", "formula"),
    [
        ([], {}, "trees + α · net: α = {alpha:.6g}, of 0 to ∞"),
        (["--form", "convex"], {"form": "convex"}, "(1 − α) · trees + α · net: α = {alpha:.6g}, of 0 to 1"),
        (["--low", "-3", "--high", "-0.5"], {"range": (-3, -0.5)}, "trees + α · net: α = {alpha:.6g}, of -3 to -0.5"),
        (["--high", "2", "--normalise"], {"range": (0, 2), "normalise": True}, "trees + α · net: α = {alpha:.6g}, of 0 to 2"),
        (["--low", "1"], {"range": (1, 5)}, "trees + α · net: α = {alpha:.6g}, of 1 to 5"),
        (["--smooth", "0.1"], {"smooth": 0.1}, "α = {alpha:.6g}"),
        (["--folds", "3"], {"folds": 3}, "α = {alpha:.6g}"),
        (["--no-normalise"], {"normalise": False}, "α = {alpha:.6g}"),
        (["-m", "err"], {"measure": "err"}, "α = {alpha:.6g}"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_two_rankers_are_combined_exactly(run, files, three, loaded, data, tmp_path, options, settings, formula):
    """What is left out is the same here as there."""
    done = run("combine", *three[:2], "-d", files.valid, "-o", tmp_path / "shell", *options)
    expected = rk.combine.exact(loaded["trees"], loaded["net"], data, **settings)
    expected.ranker.save(tmp_path / "python")
    assert (tmp_path / "shell").read_bytes() == (tmp_path / "python").read_bytes()
    assert formula.format(alpha=expected.alpha) in done.out
    divided = settings.get("normalise", "range" not in settings)
    assert ("α is for scores divided by their standard deviation" in done.out) == divided


def test_a_ranker_that_needs_no_other_has_an_infinite_weight(run, tmp_path):
    """The grades themselves as a feature: nothing is better, whichever stands first."""
    grades = [0, 1, 2, 2, 1, 0]
    data = rk.read(
        np.asarray([[0.1, 5], [1.1, 3], [2.1, 4], [2.3, 1], [1.3, 2], [0.3, 0]]), grades=grades, qid=[1] * 3 + [2] * 3
    )
    rk.write(data, tmp_path / "data.txt")
    pair, words = ("grades=feature:1", "other=feature:2"), ("-d", tmp_path / "data.txt", "-o", tmp_path / "m")
    for names, alpha, text in ((pair, 0.0, "0"), (pair[::-1], "Infinity", "∞")):
        known = json.loads(run("combine", *names, *words, "--json").out)
        assert known["alpha"] == alpha
        assert f"α = {text}, of 0 to ∞" in run("combine", *names, *words).out
        assert rk.load(tmp_path / "m").score(data).tobytes() == rk.Feature("1").score(data).tobytes()


def test_json_is_what_python_gives(run, files, three, loaded, data, tmp_path):
    out = tmp_path / "m"
    done = run("combine", *three, "-d", files.valid, "-o", out, "-t", files.test, "--json")
    printed = json.loads(done.out)
    expected = rk.combine.greedy(loaded, data)
    assert printed | expected.to_dict() == printed
    assert (printed["model"], printed["data"], printed["queries"]) == (str(out), str(files.valid), 60)
    every = {**loaded, "combined": expected.ranker}
    results = {name: rk.evaluate(ranker, rk.read(files.test), MEASURE)[MEASURE] for name, ranker in every.items()}
    assert printed["test"] == {name: {"mean": r.mean, "interval": list(r.interval)} for name, r in results.items()}
    without = json.loads(run("combine", *three, "-d", files.valid, "-o", out, "--json").out)
    assert without == {**printed, "test": None}


def test_rankers_are_compared_on_test_data(run, files, three, loaded, data, tmp_path):
    done = run("combine", *three, "-d", files.valid, "-o", tmp_path / "m", "--test", files.test, "-m", "err")
    every = {**loaded, "combined": rk.load(tmp_path / "m")}
    assert str(rk.compare(every, rk.read(files.test), ["err"])) in done.out


def test_steps_have_the_names_of_the_rankers(run, files, three, tmp_path):
    done = run("combine", *three, "-d", files.valid, "-o", tmp_path / "m", "--tree", "(2,(3,1))")
    assert re.search(r"^\(column\) with \(trees\): α = \S+, ndcg@10 0\.\d{4}$", done.out, re.MULTILINE)
    assert re.search(r"^\(net\) with \((column \+ )?trees\): α = ", done.out, re.MULTILINE)


def test_valid_data_choose_the_epoch_of_a_stack(run, files, three, loaded, data, tmp_path):
    done = run("combine", *three, "-d", files.valid, "-v", files.test, "-o", tmp_path / "m", "--method=stacked", "--hidden=2")
    assert done.code == 0
    assert "no ranker has one weight" in done.out
    rk.combine.stacked(loaded, data, hidden=(2,), valid=rk.read(files.test)).ranker.save(tmp_path / "python")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "python").read_bytes()


def test_a_stack_does_not_tell_where_its_rankers_were(run, files, nets, tmp_path, monkeypatch):
    (tmp_path / "old").mkdir()
    for copy in ("web.rankinite", "old/web.rankinite"):
        shutil.copy(files.model, tmp_path / copy)
    monkeypatch.chdir(tmp_path)
    models = (tmp_path / "web.rankinite", tmp_path / "old/web.rankinite", f"v1.5={nets['net']}", "feature:2")
    done = run("combine", *models, "-d", files.valid, "-o", "m", "--method=stacked", "--hidden=2")
    assert done.code == 0
    assert rk.load("m").top.feature_names == ("web", "web-2", "v1.5", "feature:2")
    assert str(tmp_path).encode() not in (tmp_path / "m").read_bytes()
    assert str(models[1]) in done.out  # the table has what was typed


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_curve_is_drawn(run, files, three, tmp_path, ending, start):
    picture = tmp_path / f"curve.{ending}"
    names = ["a$b_{=" + three[0].partition("=")[2], three[1]]  # what would be a broken formula in a picture
    done = run("combine", *names, "-d", files.valid, "-o", tmp_path / "m", "--plot", picture, "--smooth", 0.1)
    assert done.code == 0
    assert picture.read_bytes().startswith(start)
    assert (tmp_path / "m").exists()


# ---- refusals -----------------------------------------------------------------------------------------------------

TWO, THREE = ("trees", "net"), ("trees", "net", "column")
REFUSED = {
    "one ranker": (["trees"], [], ["trees=", "at least two"]),
    "equal names": (["trees", "trees"], [], ["'trees'", "old="]),
    "the name of the result": (["trees", "combined=feature:2"], [], ["combined=feature:2", "old="]),
    "no such file": (["trees", "gone.rankinite"], [], ["gone.rankinite"]),
    "no such feature": (["trees", "feature:zz"], [], ["ranker feature:zz", "'zz'", "'1', '2'"]),
    "scale for exact": (TWO, ["--scale", "all"], ["--scale all", "--method average"]),
    "low for average": (TWO, ["--method=average", "--low=0"], ["--low 0", "--method exact or cyclic"]),
    "hidden for powell": (TWO, ["--method=powell", "--hidden=3"], ["--hidden 3", "--method stacked"]),
    "smooth for cyclic": (TWO, ["--method=cyclic", "--smooth=3"], ["--smooth 3", "--method exact"]),
    "valid for exact": (TWO, ["--valid", "v.txt"], ["--valid v.txt", "--method stacked"]),
    "no normalise for average": (TWO, ["--method=average", "--no-normalise"], ["--no-normalise", "--method exact"]),
    "tree of nothing": (THREE, ["--tree", "()"], ["--tree '()'", "'((1,3),2)'"]),
    "tree that is a number": (THREE, ["--tree", "1"], ["--tree 1"]),
    "tree that is no tree": (THREE, ["--tree", "((1,2),"], ["--tree '((1,2),'"]),
    "tree of names": (THREE, ["--tree", "(a,(b,c))"], ["--tree", "'((1,3),2)'"]),
    "tree of lists": (THREE, ["--tree", "[[1,2],3]"], ["--tree", "'((1,3),2)'"]),
    "tree of texts": (THREE, ["--tree", "(('1','2'),3)"], ["--tree", "'((1,3),2)'"]),
    "tree of truth": (THREE, ["--tree", "((True,2),3)"], ["--tree", "'((1,3),2)'"]),
    "tree of three": (THREE, ["--tree", "(1,2,3)"], ["--tree", "'((1,3),2)'"]),
    "tree too deep": (THREE, ["--tree", "(" * 5000 + "1" + ")" * 5000], ["--tree", "'((1,3),2)'"]),
    "tree too far": (THREE, ["--tree", "((1,2),4)"], ["--tree '((1,2),4)'", "1 to 3"]),
    "tree from 0": (THREE, ["--tree", "((0,1),2)"], ["--tree '((0,1),2)'", "1 to 3"]),
    "tree with one twice": (THREE, ["--tree", "((1,2),1)"], ["--tree '((1,2),1)'", "ranker 1"]),
    "tree without one": (THREE, ["--tree", "(1,2)"], ["--tree '(1,2)'", "ranker 3, column"]),
    "empty range": (TWO, ["--low", "2", "--high", "2"], ["--low 2.0 and --high 2.0"]),
    "range that ends before it begins": (TWO, ["--low", "6"], ["--low 6.0 and --high 5.0", "0 or 5"]),
    "convex range": (TWO, ["--low", "2", "--form=convex"], ["--low 2.0 and --high 1.0", "0 or 1"]),
    "range of no numbers": (TWO, ["--low", "nan"], ["--low nan"]),
    "range without end": (TWO, ["--high", "inf"], ["--high inf"]),
    "smooth": (TWO, ["--smooth", "0"], ["--smooth 0.0"]),
    "smooth and folds": (TWO, ["--smooth=0.1", "--folds=3"], ["--smooth 0.1", "--folds 3"]),
    "one fold": (TWO, ["--folds", "1"], ["--folds"]),
    "too many folds": (TWO, ["--folds", "61"], ["--folds 61", "60"]),
    "unknown measure": (TWO, ["-m", "accuracy"], ["'accuracy'", "ndcg"]),
    "a measure that cannot be swept": (TWO, ["-m", "pairwise-errors"], ["pairwise-errors", "ndcg"]),
    "a measure that cannot be trained": (TWO, ["--method=stacked", "-mp@5"], ["p@5", "ndcg"]),
    "a measure on another scale": (TWO, ["-m", "err:max_grade=1"], ["err:max_grade=4"]),
    "unknown method": (TWO, ["--method", "median"], ["average"]),
    "hidden": (TWO, ["--method=stacked", "--hidden=x"], ["--hidden x", "20,10"]),
    "no hidden": (TWO, ["--method=stacked", "--hidden=0"], ["--hidden 0"]),
    "a curve of three": (THREE, ["--plot", "c.png"], ["--plot c.png", "3"]),
    "a curve of an average": (TWO, ["--method=average", "--plot=c.png"], ["--plot c.png", "--method exact"]),
    "a picture of no kind": (TWO, ["--plot", "c.txt"], ["c.txt", ".png, .svg, .pdf"]),
    "a picture nowhere": (TWO, ["--plot", "gone/c.png"], ["gone/c.png"]),
    "test data that are not there": (TWO, ["--test", "gone.txt"], ["gone.txt"]),
}  # fmt: skip
"""The rankers, the options, and the words of the refusal."""


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_ends_with_exit_code_2_and_leaves_no_file(run, files, three, tmp_path, monkeypatch, case):
    names, options, words = REFUSED[case]
    known = dict(zip(THREE, three, strict=True))
    monkeypatch.chdir(tmp_path)
    done = run("combine", *(known.get(name, name) for name in names), "-d", files.valid, "-o", "m", *options)
    assert done.code == 2
    assert done.out == ""
    for word in words:
        assert word in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["gone/m", "taken"])
def test_a_model_that_cannot_be_written(run, files, three, tmp_path, out):
    (tmp_path / "taken").mkdir()
    done = run("combine", *three[:2], "-d", files.valid, "-o", tmp_path / out, "--plot", tmp_path / "c.png")
    assert done.code == 2
    assert done.error.place == str(tmp_path / out)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_picture_does_not_overwrite_the_model(run, files, three, tmp_path):
    done = run("combine", *three[:2], "-d", files.valid, "-o", tmp_path / "m.png", "--plot", tmp_path / "m.png")
    assert done.code == 2
    assert f"--plot {tmp_path / 'm.png'}" in done.err
    assert "--out" in done.err
    assert list(tmp_path.iterdir()) == []


def test_rankers_over_other_features(run, files, three, tmp_path):
    rk.write(rk.read(files.valid).rename_features(list("abcdef")), tmp_path / "named.parquet")
    done = run("combine", *three, "-d", tmp_path / "named.parquet", "-o", tmp_path / "m")
    assert done.code == 2
    assert done.error.place.startswith("ranker trees")
    assert "'a', 'b'" in done.err
    assert "rename_features" not in done.err
    done = run("combine", *three, "-d", files.valid, "-t", tmp_path / "named.parquet", "-o", tmp_path / "m")
    assert done.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["named.parquet"]


def test_constant_scores(run, letor, tmp_path):
    out = tmp_path / "m"
    done = run("combine", "feature:3", "ascending:3", "-d", letor, "-o", out)
    assert done.code == 2
    done = run("combine", "feature:1", "flat=feature:3", "-d", letor, "-o", out, "--method", "average")
    assert done.code == 2
    assert "ranker flat" in done.err
    assert not out.exists()
    done = run("combine", "feature:1", "flat=feature:3", "-d", letor, "-o", out, "--json")
    assert json.loads(done.out)["alpha"] == 0.0
