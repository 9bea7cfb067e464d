"""What ``score``, ``evaluate``, ``compare``, ``inspect`` and ``combine`` do with files of combined rankers."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankinite as rk

MEASURE = "ndcg@10"


@pytest.fixture(scope="module")
def loaded(files, nets):
    return {"trees": rk.load(files.model), "net": rk.load(nets["net"]), "column": rk.Feature("2")}


@pytest.fixture(scope="module")
def data(files):
    return rk.read(files.valid)


@pytest.fixture(scope="module")
def combined(files, loaded, data):
    """Files of combinations, by kind."""
    stack = rk.combine.stacked(loaded, data, hidden=(2,)).ranker
    mean = rk.combine.average({**loaded, "stack": stack}, data, scale="query").ranker
    made = {
        "exact": rk.combine.exact(loaded["trees"], loaded["net"], data).ranker,
        "all": rk.combine.average(loaded, data).ranker,
        "query": mean,
        "rank": rk.combine.average(loaded, data, scale="rank").ranker,
        "stack": stack,
        "nested": 0.5 * rk.Normalised(mean, "rank") + stack,
    }
    for kind, ranker in made.items():
        ranker.save(files.folder / f"combined-{kind}.rankinite")
    return {kind: files.folder / f"combined-{kind}.rankinite" for kind in made}


KINDS = pytest.mark.parametrize("kind", ["exact", "all", "query", "rank", "stack", "nested"])


@KINDS
def test_scores_are_those_of_the_model(run, files, combined, tmp_path, kind):
    expected = rk.load(combined[kind]).score(rk.read(files.test))
    done = run("score", combined[kind], files.test)
    assert [float(line) for line in done.out.splitlines()] == expected.tolist()
    assert run("score", combined[kind], files.test, "--out", tmp_path / "s.npy").code == 0
    assert np.load(tmp_path / "s.npy").tolist() == expected.tolist()
    by_scores = run("evaluate", tmp_path / "s.npy", files.test, "--json").out
    assert by_scores == run("evaluate", combined[kind], files.test, "--json").out
    assert run("score", combined[kind], files.test, "--format", "trec").code == 0


def test_scores_within_queries_follow_rows_that_are_not_in_order(run, files, combined, tmp_path):
    test = rk.read(files.test)
    order = np.random.default_rng(0).permutation(test.rows)
    names = ["qid", "grade", *test.feature_names]
    rows = zip(np.asarray(test.qids)[test.query_of_row()], test.grades, *test.features.T, strict=True)
    written = [",".join(map(repr, map(float, row))) for row in rows]
    (tmp_path / "mixed.csv").write_text("\n".join([",".join(names), *(written[row] for row in order)]))
    done = run("score", combined["rank"], tmp_path / "mixed.csv")
    expected = rk.load(combined["rank"]).score(test)[order]
    assert [float(line) for line in done.out.splitlines()] == pytest.approx(expected.tolist(), abs=1e-12)


def test_compare_takes_combinations_beside_others(run, files, combined, loaded):
    arguments = [f"{kind}={path}" for kind, path in combined.items()]
    done = run("compare", *arguments, "column=feature:2", "-d", files.test, "--json")
    every = {kind: rk.load(path) for kind, path in combined.items()} | {"column": loaded["column"]}
    assert json.loads(done.out) == json.loads(rk.compare(every, rk.read(files.test), [MEASURE]).to_json())


def test_combinations_are_combined_again(run, files, combined, data, tmp_path):
    arguments = [f"a={combined['query']}", f"b={combined['stack']}"]
    done = run("combine", *arguments, "-d", files.valid, "-o", tmp_path / "m", "--method", "average", "--scale", "rank")
    assert done.code == 0
    expected = rk.combine.average([rk.load(combined["query"]), rk.load(combined["stack"])], data, scale="rank").ranker
    assert rk.load(tmp_path / "m").score(data).tobytes() == expected.score(data).tobytes()


def test_inspect_shows_what_a_normalised_ranker_does(run, combined, loaded):
    printed = run("inspect", combined["all"]).out
    assert f"{loaded['trees']!r}".strip("<>") + "; scaled by all\n" in printed
    assert "feature:2; scaled by all\n" in printed
    part = rk.load(combined["all"]).parts[0][1]
    printed = run("inspect", combined["all"], "--part", 0).out
    rows = [line.split() for line in printed.splitlines()]
    assert printed.startswith(f"{combined['all']}, part 0\n")
    for row in (
        ["kind", "normalised", "ranker"],
        ["centre", f"{part.centre:g}"],
        ["spread", f"{part.spread:g}"],
        ["kind", "forest"],
    ):
        assert row in rows  # fmt: skip
    assert "trained by LambdaMART" in printed
    printed = run("inspect", combined["query"], "--part", 0).out
    assert "mean 0 and variance 1 within every query" in printed
    assert "centre" not in printed
    assert run("inspect", combined["query"], "--part", 0, "--trees", 1).out.count("tree 0\n") == 1


def test_inspect_shows_a_stack(run, combined, tmp_path):
    stack = rk.load(combined["stack"])
    printed = run("inspect", combined["stack"]).out
    assert "Forest by LambdaMART" in printed
    assert "on top of the parts' scores" in printed
    assert stack.top.history.measure in printed
    written = run("inspect", combined["stack"], "--weights").out
    assert stack.top.text() in written
    assert "column: (x - " in written
    assert run("inspect", combined["stack"], "--plot-history", tmp_path / "h.png").code == 0
    assert (tmp_path / "h.png").exists()
    assert "trained by LambdaMART" in run("inspect", combined["stack"], "--part", 0).out


def test_inspect_goes_down_by_part(run, combined):
    printed = run("inspect", combined["nested"]).out
    assert "Stack of Forest, Net, Feature below Net by LambdaRank: 3 features, 2 hidden units" in printed
    assert "; scaled by rank" in printed
    stack = run("inspect", combined["nested"], "--part", 0, "--part", 3).out  # through what is normalised, to the stack
    assert "on top of the parts' scores" in stack
    net = run("inspect", combined["nested"], "--part", 0, "--part", 3, "--part", 1, "--weights")
    assert net.out.startswith(f"{combined['nested']}, part 0, part 3, part 1\n")
    assert rk.load(combined["nested"]).parts[1][1].parts[1].text() in net.out


def test_inspect_as_json_holds_everything(run, combined):
    printed = json.loads(run("inspect", combined["nested"], "--json").out)
    scaled, stack = printed["parts"]
    assert (scaled["kind"], scaled["scale"], scaled["weight"]) == ("normalised", "rank", 0.5)
    assert "centre" not in scaled
    assert [part["ranker"]["kind"] for part in scaled["ranker"]["parts"]] == ["forest", "net", "feature", "stack"]
    assert (stack["kind"], stack["top"]["kind"], stack["top"]["hidden"]) == ("stack", "net", [2])
    assert stack["top"]["features"] == ["trees", "net", "column"]
    assert [part["kind"] for part in stack["parts"]] == ["forest", "net", "feature"]
    mean = rk.load(combined["all"])
    parts = json.loads(run("inspect", combined["all"], "--json").out)["parts"]
    assert [(part["centre"], part["spread"]) for part in parts] == [(part.centre, part.spread) for _, part in mean.parts]


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("stack", ["--part", "3"], ["--part 3", "0 to 2"]),
        ("stack", ["--part", "0", "--part", "0"], ["--part 0", "part 0 is a forest"]),
        ("stack", ["--trees", "1"], ["--trees 1", "is a stack", "with --part"]),
        ("all", ["--weights"], ["--weights", "is a blend", "with --part"]),
        ("all", ["--part", "0", "--weights"], ["--weights", "is a normalised ranker"]),
        ("all", ["--part", "2", "--part", "0"], ["--part 0", "part 2 is a normalised ranker"]),
        ("nested", ["--part", "0", "--plot-tree", "t.png"], ["--plot-tree t.png", "with --part"]),
        ("nested", ["--part", "0", "--part", "4"], ["--part 4", "0 to 3"]),
        ("nested", ["--part", "-1"], ["--part"]),
    ],
)
def test_inspect_refuses_what_is_not_there(run, combined, tmp_path, monkeypatch, kind, options, words):
    monkeypatch.chdir(tmp_path)
    done = run("inspect", combined[kind], *options)
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err
    assert list(tmp_path.iterdir()) == []
