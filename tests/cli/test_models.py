"""Models in the other verbs: ``score`` and ``inspect``, and ``evaluate`` and ``compare`` with model files."""

from __future__ import annotations

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest

import rankinite as rk


@pytest.fixture(scope="module")
def shuffled(files):
    """The test data with its lines in another order."""
    lines = files.test.read_text().splitlines()
    np.random.default_rng(0).shuffle(lines)
    (files.folder / "shuffled.txt").write_text("\n".join(lines))
    return files.folder / "shuffled.txt"


@pytest.fixture(scope="module")
def blend(files):
    """A model with another ranker as its base."""
    learner = rk.LambdaMART.plain(trees=12, leaves=6, min_rows=5, rate=0.3)
    learner.fit(rk.read(files.train), base=rk.Feature("2")).save(files.folder / "blend.rankinite")
    return files.folder / "blend.rankinite"


# ---- score --------------------------------------------------------------------------------------------------------


def test_scores_stand_in_the_order_of_the_input(run, files, shuffled):
    done = run("score", files.model, shuffled)
    scores = np.asarray([float(line) for line in done.out.splitlines()])
    matrix = [[float(field.partition(":")[2]) for field in line.split()[2:8]] for line in shuffled.read_text().splitlines()]
    assert scores.tolist() == rk.load(files.model).score(np.asarray(matrix, np.float32)).tolist()


def test_scores_in_files_are_those_of_the_model(run, files, shuffled, tmp_path):
    by_model = run("evaluate", files.model, shuffled, "--json").out
    for name in ("scores.txt", "scores.txt.gz", "scores.npy"):
        assert run("score", files.model, shuffled, "--out", tmp_path / name).code == 0
        assert run("evaluate", tmp_path / name, shuffled, "--json").out == by_model


def test_a_run_ranks_every_document(run, files, shuffled, tmp_path):
    done = run("score", files.model, shuffled, "--format", "trec", "--tag", "mine", "--out", tmp_path / "mine.run")
    assert (done.code, done.out) == (0, "")
    lines = [line.split() for line in (tmp_path / "mine.run").read_text().splitlines()]
    assert {line[5] for line in lines} == {"mine"}
    for qid in {line[0] for line in lines}:
        of_query = [line for line in lines if line[0] == qid]
        assert [int(line[3]) for line in of_query] == list(range(1, len(of_query) + 1))
        assert [float(line[4]) for line in of_query] == sorted((float(line[4]) for line in of_query), reverse=True)
    by_run = json.loads(run("evaluate", tmp_path / "mine.run", files.test, "--json").out)
    assert by_run == json.loads(run("evaluate", files.model, files.test, "--json").out)


def test_rows_that_are_dropped_keep_their_lines(run, files, tmp_path):
    lines = files.test.read_text().splitlines()
    lines[3] = f"-1{lines[3][1:]}"
    (tmp_path / "partly.txt").write_text("\n".join(lines))
    whole = run("score", files.model, tmp_path / "partly.txt").out.splitlines()
    dropped = run("score", files.model, tmp_path / "partly.txt", "--unjudged", "drop").out.splitlines()
    assert whole == run("score", files.model, files.test).out.splitlines()
    assert dropped == [*whole[:3], "-inf", *whole[4:]]


def test_score_writes_probabilities(run, files, tmp_path):
    settings = ("--trees=3", "--leaves=4", "--min-rows=5")
    for learner, options in (("mart", ("--loss", "binary")), ("mcrank", ())):
        out = tmp_path / f"{learner}.rankinite"
        assert run("train", files.train, "--learner", learner, *options, *settings, "--out", out).code == 0
        expected = rk.load(out).probabilities(rk.read(files.test))
        done = run("score", out, files.test, "--probabilities")
        assert done.code == 0
        found = np.asarray([[float(word) for word in line.split()] for line in done.out.splitlines()])
        assert found.tobytes() == expected.reshape(len(expected), -1).tobytes()
        assert run("score", out, files.test, "--probabilities", "--out", tmp_path / "p.npy").code == 0
        assert np.load(tmp_path / "p.npy").tobytes() == expected.tobytes()
        printed = json.loads(run("score", out, files.test, "--probabilities", "--json").out)["queries"]
        assert [one for query in printed for one in query["probabilities"]] == expected.tolist()
    done = run("score", out, files.test, "--probabilities", "--format", "trec")
    assert (done.code, done.out) == (2, "")
    assert "--format trec" in done.err


def test_scores_that_stand_for_no_probabilities_are_refused(run, files, blend):
    for model, words in ((files.model, "LambdaMART"), (blend, "blend"), ("feature:2", "feature")):
        done = run("score", model, files.test, "--probabilities")
        assert (done.code, done.out) == (2, "")
        assert "--probabilities" in done.err
        assert words in done.err


# ---- evaluate, compare --------------------------------------------------------------------------------------------


def test_compare_takes_models_beside_other_rankers(run, files, blend):
    done = run("compare", f"tree={files.model}", f"both={blend}", "feature:2", "--data", files.test, "--json")
    rankers = {"tree": rk.load(files.model), "both": rk.load(blend), "feature:2": rk.Feature("2")}
    assert json.loads(done.out) == json.loads(rk.compare(rankers, rk.read(files.test), ["ndcg@10"]).to_json())


def test_a_model_is_known_by_its_content(run, files, tmp_path):
    (tmp_path / "scores.txt").write_bytes(files.model.read_bytes())
    named = json.loads(run("evaluate", tmp_path / "scores.txt", files.test, "--json").out)
    assert named == json.loads(run("evaluate", files.model, files.test, "--json").out)


# ---- inspect ------------------------------------------------------------------------------------------------------


def test_inspect_shows_training_settings_and_features(run, files):
    model = rk.load(files.model)
    printed = run("inspect", files.model, "--importance", 2, "--trees", 1).out
    assert "trained by LambdaMART" in printed
    assert f"finished after 12 rounds, round {len(model)} kept" in printed
    assert f"{model.history.valid[model.history.best]:.4f} kept" in printed
    gains = model.importance()
    name, gain = next(iter(gains.items()))
    assert any(line.split()[:2] == [name, f"{gain:.6g}"] for line in printed.splitlines())
    assert f"{gain / sum(gains.values()):.1%}" in printed
    assert "… and 4 more (--importance 0 lists all)" in printed
    assert printed.endswith(model.text(1))
    settings = printed.partition("setting")[2].partition("feature")[0]
    assert "min rows" in settings  # not the default
    assert "criterion" not in settings  # the default


def test_inspect_shows_the_function_that_a_forest_was_trained_on(run, tmp_path):
    def steep(scores, grades, offsets):
        return grades - scores, np.ones_like(scores)

    rk.CustomTrees(loss=steep, trees=2, leaves=4).fit(rk.synthesise(20)).save(tmp_path / "m")
    printed = run("inspect", tmp_path / "m").out
    settings = printed.partition("setting")[2].partition("feature")[0]
    assert "function steep" in settings
    assert "criterion" not in settings  # the default


def test_inspect_as_json_has_everything(run, files, blend):
    model = rk.load(files.model)
    printed = json.loads(run("inspect", files.model, "--json").out)
    assert printed["settings"] == dict(model.settings)
    assert printed["history"] == model.history.to_dict()
    assert printed["importance"] == {"gain": model.importance("gain"), "count": model.importance("count")}
    parts = json.loads(run("inspect", blend, "--json").out)["parts"]
    assert [part["kind"] for part in parts] == ["feature", "forest"]


def test_inspect_lists_the_parts_of_a_blend(run, files, blend):
    printed = run("inspect", blend).out
    assert "feature:2" in printed
    assert "Forest by LambdaMART: 12 trees, 6 features" in printed
    assert "trained by LambdaMART" in run("inspect", blend, "--part", 1).out
    for arguments in ((blend, "--part", 2), (files.model, "--part", 0), (blend, "--trees", 1)):
        refused = run("inspect", *arguments)
        assert refused.code == 2
        assert "part" in refused.err


@pytest.mark.parametrize(("option", "name"), [("importance", "a.png"), ("history", "b.svg"), ("tree", "c.pdf")])
def test_inspect_draws(run, files, tmp_path, option, name):
    beginnings = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    before = plt.get_fignums()
    done = run("inspect", files.model, f"--plot-{option}", tmp_path / name)
    assert done.code == 0
    assert (tmp_path / name).read_bytes().startswith(beginnings[(tmp_path / name).suffix])
    assert plt.get_fignums() == before  # it is closed


def test_inspect_refuses_pictures_it_cannot_draw(run, files, tmp_path):
    done = run("inspect", files.model, "--plot-tree", tmp_path / "tree.jpg")
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert ".png" in done.err
    done = run("inspect", files.model, "--plot-tree", tmp_path / "tree.png", "--tree", 99)
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert "99" in done.err
