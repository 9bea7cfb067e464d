"""Nets and linear rankers from the shell: ``train``, ``score``, ``inspect``, ``evaluate`` and ``compare``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankinite as rk
from rankinite.learners.descent_run import DescentRun

QUICK = {"epochs": 6, "rate": 0.02, "hidden": (4,)}
CLASSES = {"lambdarank": rk.LambdaRank, "ranknet": rk.RankNet}


@pytest.fixture(scope="module")
def holes(files):
    """The training data as a table in which values are missing."""
    train = rk.read(files.train)
    features = train.features.copy()
    features[::5, 1] = np.nan
    path = files.folder / "holes.parquet"
    rk.write(rk.read(features, grades=train.grades, qid=np.asarray(train.qids)[train.query_of_row()]), path)
    return path


# ---- train --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [(), (4,), (4, 3)])
@pytest.mark.parametrize("learner", CLASSES)
def test_the_model_has_the_bytes_that_python_writes(run, files, net_settings, tmp_path, learner, hidden):
    out, written = tmp_path / "shell", ",".join(map(str, hidden)) or "none"
    done = run("train", files.train, "-v", files.valid, "-o", out, "-l", learner, *net_settings, "--hidden", written)
    assert (done.code, done.out) == (0, "")
    CLASSES[learner](**{**QUICK, "hidden": hidden}).fit(rk.read(files.train), rk.read(files.valid)).save(tmp_path / "python")
    assert out.read_bytes() == (tmp_path / "python").read_bytes()
    assert type(rk.load(out)) is (rk.Net if hidden else rk.Linear)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_no_byte_of_the_model(run, files, nets, net_settings, tmp_path, threads):
    arguments = (files.train, "-v", files.valid, "-o", tmp_path / "m", "-l", "lambdarank", *net_settings, "--quiet")
    done = run("--threads", threads, "train", *arguments)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "m").read_bytes() == nets["net"].read_bytes()


def test_nets_go_on_from_trees_and_trees_from_nets(run, files, nets, net_settings, settings, tmp_path):
    done = run(
        "train", files.train, "-v", files.valid, "-b", files.model, "-o", tmp_path / "m", "-l", "lambdarank", *net_settings
    )
    assert done.code == 0
    assert (tmp_path / "m").read_bytes() == nets["blend"].read_bytes()
    assert run("train", files.train, "-b", nets["net"], "-o", tmp_path / "trees", *settings).code == 0
    assert [type(part) for _, part in rk.load(tmp_path / "trees").parts] == [rk.Net, rk.Forest]


def test_preferences_are_learned_from(run, files, net_settings, tmp_path):
    train = rk.read(files.train)
    pairs = tmp_path / "pairs.tsv"
    first = [(train.qids[q], *train.doc_ids[train.offsets[q] : train.offsets[q] + 2]) for q in range(train.queries)]
    pairs.write_text("".join(f"{qid}\t{better}\t{worse}\t0.8\n" for qid, better, worse in first))
    arguments = (files.train, "--preferences", pairs, "--out", tmp_path / "shell", *net_settings)
    assert run("train", *arguments, "--learner", "ranknet").code == 0
    rk.RankNet(**QUICK).fit(train.with_preferences(rk.read_preferences(pairs, train))).save(tmp_path / "python")
    assert (tmp_path / "shell").read_bytes() == (tmp_path / "python").read_bytes()
    refused = run("train", *arguments, "--learner", "lambdarank")
    assert refused.code == 2
    assert "ranknet-trees or ranknet" in refused.err


def test_missing_values_need_a_rule(run, files, holes, net_settings, tmp_path):
    arguments = ("train", holes, "-o", tmp_path / "m", "-l", "lambdarank", *net_settings)
    refused = run(*arguments)
    assert (refused.code, list(tmp_path.iterdir())) == (2, [])
    assert "row 0" in refused.err
    assert "--nan mean" in refused.err
    assert run(*arguments, "--nan", "mean").code == 0
    assert run("score", tmp_path / "m", holes).code == 0


# ---- what training tells ------------------------------------------------------------------------------------------


def test_the_summary_tells_what_the_model_does(run, files, net_settings, tmp_path):
    out = tmp_path / "model"
    arguments = (files.train, "-v", files.valid, "-t", files.test, "-o", out, "-l", "lambdarank", *net_settings)
    done = run("train", *arguments, "--epochs", 40, "--patience", 2, "--json")
    printed, model = json.loads(done.out), rk.load(out)
    history = model.history
    assert history.stopped == printed["stopped"] == "early"
    assert (printed["learner"], printed["epochs"], printed["kept"]) == ("LambdaRank", len(history.valid) - 1, history.best)
    assert printed["epochs"] == printed["kept"] + 2 < 40
    assert "trees" not in printed
    assert printed["valid"] == history.valid[history.best]
    assert printed["test"]["ndcg@10"] == rk.evaluate(model, rk.read(files.test), "ndcg@10")["ndcg@10"].mean
    assert f"{out}: epoch {printed['kept']} of {printed['epochs']} kept (stopped early" in done.err


def test_progress_counts_epochs(run, files, net_settings, tmp_path, monkeypatch):
    arguments = ("train", files.train, "-v", files.valid, "-o", tmp_path / "m", "-l", "ranknet", *net_settings)
    done = run(*arguments, "--epochs", 30, "--patience", "none", "--restarts", 2)
    lines = [line for line in done.err.splitlines() if line.startswith("epoch ")]
    assert [line.split()[1] for line in lines] == [str(number) for number in range(3, 31, 3)]
    history = rk.load(tmp_path / "m").history
    assert f"(best {history.valid[history.best]:.4f} at {history.best})" in lines[-1]
    assert "of 30 kept (all epochs done)" in done.err
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes Rich think that standard error is a terminal
    monkeypatch.setenv("COLUMNS", "200")
    assert "6/6" in run(*arguments).err


def test_a_net_that_is_no_better_than_its_base_is_noted(run, files, tmp_path):
    arguments = ("train", files.train, "-v", files.valid, "-b", files.model, "-o", tmp_path / "m", "-l", "ranknet")
    done = run(*arguments, "--optimiser", "sgd", "--rate", 1e-30, "--epochs", 2)
    assert done.code == 0
    assert "epoch 0 of 2 kept, which is the base as it was (all epochs done)" in done.err
    data = rk.read(files.test)
    assert np.array_equal(rk.load(tmp_path / "m").score(data), rk.load(files.model).score(data))


@pytest.mark.parametrize("epochs", [0, 3])
def test_ctrl_c_keeps_what_is_trained(run, files, net_settings, tmp_path, monkeypatch, epochs):
    climb, begun = DescentRun._climb, []

    def interrupted(self, start):
        begun.append(start)
        if len(begun) > epochs:
            raise KeyboardInterrupt
        return climb(self, start)

    monkeypatch.setattr(DescentRun, "_climb", interrupted)
    out = tmp_path / "m"
    done = run("train", files.train, "-v", files.valid, "-o", out, "-l", "lambdarank", *net_settings)
    assert done.code == 130
    if not epochs:
        assert not out.exists()
        assert "interrupted before the first epoch" in done.err
        return
    monkeypatch.undo()
    model = rk.load(out)
    expected = rk.LambdaRank(**{**QUICK, "epochs": epochs}).fit(rk.read(files.train), rk.read(files.valid))
    assert f"epoch {model.history.best} of {epochs} kept (interrupted)" in done.err
    assert model.text() == expected.text()


# ---- score, evaluate, compare -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["net", "linear", "blend"])
def test_scores_are_those_of_the_model(run, files, nets, tmp_path, kind):
    expected = rk.load(nets[kind]).score(rk.read(files.test))
    done = run("score", nets[kind], files.test)
    assert [float(line) for line in done.out.splitlines()] == expected.tolist()
    assert run("score", nets[kind], files.test, "--out", tmp_path / "scores.npy").code == 0
    by_scores = run("evaluate", tmp_path / "scores.npy", files.test, "--json").out
    assert by_scores == run("evaluate", nets[kind], files.test, "--json").out


def test_compare_takes_nets_beside_other_rankers(run, files, nets):
    done = run("compare", f"net={nets['net']}", f"linear={nets['linear']}", f"trees={files.model}", "-d", files.test, "--json")
    rankers = {"net": rk.load(nets["net"]), "linear": rk.load(nets["linear"]), "trees": rk.load(files.model)}
    assert json.loads(done.out) == json.loads(rk.compare(rankers, rk.read(files.test), ["ndcg@10"]).to_json())


def test_models_need_their_features_and_their_values(run, files, nets, holes, tmp_path):
    rk.write(rk.read(files.test).rename_features(list("abcdef")), tmp_path / "named.parquet")
    for kind in ("net", "linear"):
        done = run("score", nets[kind], tmp_path / "named.parquet")
        assert done.code == 2
        assert "'a', 'b'" in done.err
        done = run("evaluate", nets[kind], holes)
        assert done.code == 2
        assert "--nan mean" in done.err


# ---- inspect ------------------------------------------------------------------------------------------------------


def test_inspect_shows_a_net(run, nets):
    model = rk.load(nets["net"])
    printed = run("inspect", nets["net"]).out
    for row in (["kind", "net"], ["features", "6", "(6", "used)"], ["hidden", "units", "4"], ["weights", "33"], ["seed", "0"]):
        assert any(line.split() == row for line in printed.splitlines()), row
    assert f"finished after 6 epochs, epoch {model.history.best} kept" in printed
    assert f"{model.history.valid[model.history.best]:.4f} kept" in printed
    assert "trained by LambdaRank" in printed
    assert "decay" not in printed  # the default
    assert run("inspect", nets["net"], "--weights").out == f"{printed}\n{model.text()}"


def test_inspect_lists_the_weights_of_a_linear_ranker(run, nets):
    model = rk.load(nets["linear"])
    printed = run("inspect", nets["linear"], "--importance", 2).out
    assert any(line.split() == ["kind", "linear", "ranker"] for line in printed.splitlines())
    heaviest = sorted(model.by_feature().items(), key=lambda one: -abs(one[1]))
    listed = printed.partition("weight\n")[2].splitlines()[1:3]
    assert [line.split() for line in listed] == [[name, f"{weight:+.6g}"] for name, weight in heaviest[:2]]
    assert "… and 4 more (--importance 0 lists all)" in printed
    assert run("inspect", nets["linear"], "--weights").out.endswith(model.text())


def test_inspect_as_json_has_what_it_takes_to_score(run, files, nets):
    features = rk.read(files.test).features.astype(float)
    printed = json.loads(run("inspect", nets["net"], "--json").out)
    values = (features - printed["centre"]) * printed["scale"]
    for number, layer in enumerate(printed["layers"]):
        values = np.tanh(values) if number else values
        values = values @ np.asarray(layer["weights"]).T + layer["bias"]
    assert values[:, 0] == pytest.approx(rk.load(nets["net"]).score(features), rel=1e-12)
    assert (printed["kind"], printed["hidden"], printed["nan"]) == ("net", [4], "refuse")
    assert printed["history"] == rk.load(nets["net"]).history.to_dict()

    printed = json.loads(run("inspect", nets["linear"], "--json").out)
    weights, centre = ([printed[what][name] for name in printed["features"]] for what in ("weights", "centre"))
    assert printed["bias"] + (features - centre) @ weights == pytest.approx(rk.load(nets["linear"]).score(features), rel=1e-12)
    assert printed["settings"] == dict(rk.load(nets["linear"]).settings)


def test_inspect_looks_into_blends(run, nets):
    assert "Net by LambdaRank: 6 features, 4 hidden units" in run("inspect", nets["blend"]).out
    assert "trained by LambdaRank" in run("inspect", nets["blend"], "--part", 1).out
    parts = json.loads(run("inspect", nets["blend"], "--json").out)["parts"]
    assert [part["kind"] for part in parts] == ["forest", "net"]
    assert len(parts[1]["layers"]) == 2
    done = run("inspect", nets["blend"], "--weights")
    assert (done.code, done.out) == (2, "")
    assert "--part" in done.err


def test_inspect_shows_what_was_made_by_hand(run, tmp_path):
    rk.Linear(("bm25", "pagerank"), np.asarray([0.0, -2.0])).save(tmp_path / "m")
    printed = run("inspect", tmp_path / "m").out
    assert "trained" not in printed
    assert any(line.split() == ["pagerank", "-2"] for line in printed.splitlines())
    assert "2 (1 used)" in printed
    done = run("inspect", tmp_path / "m", "--plot-history", tmp_path / "h.png")
    assert done.code == 2
    assert done.error is not None


def test_inspect_refuses_what_a_ranker_has_not(run, files, nets, tmp_path):
    picture = tmp_path / "x.png"
    for kind, name in (("net", "a net"), ("linear", "a linear ranker")):
        for option in (["--trees", 1], ["--plot-tree", picture], ["--plot-importance", picture], ["--part", 0]):
            done = run("inspect", nets[kind], *option)
            assert (done.code, done.out, list(tmp_path.iterdir())) == (2, "", [])
            assert f"is {name}" in done.err
            assert option[0] in done.err
    done = run("inspect", files.model, "--weights")
    assert (done.code, done.out) == (2, "")
    assert "--weights" in done.err
    assert "is a forest" in done.err


@pytest.mark.parametrize("kind", ["net", "linear"])
def test_inspect_draws_the_history(run, nets, tmp_path, kind):
    assert run("inspect", nets[kind], "--plot-history", tmp_path / "h.png").code == 0
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")
