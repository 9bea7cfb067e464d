"""A run that is stopped anywhere and resumed gives the bytes of an uninterrupted one; what does not belong to it is refused."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.models.files import container as storage
from rankinite.trees.structure import join

WORLD = rk.World(features=6, documents=20, noise=0.3)
TRAIN, VALID = rk.synthesise(40, world=WORLD), rk.synthesise(20, part="valid", world=WORLD)
LEARNER = rk.LambdaMART(trees=12, leaves=6, min_rows=5, row_share=0.8, node_feature_share=0.7)


class CrashError(Exception):
    pass


def crash_at(round):
    def callback(progress):
        if progress.round == round:
            raise CrashError

    return callback


def file_bytes(ranker, path):
    ranker.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "learner", [LEARNER, rk.McRank(trees=6, leaves=4, row_share=0.7), replace(LEARNER, patience=2, rate=0.9)]
)
@pytest.mark.parametrize("stop", [1, 2, 3, 5])
def test_a_resumed_run_gives_the_bytes_of_an_uninterrupted_one(learner, stop, tmp_path):
    expected = file_bytes(learner.fit(TRAIN, VALID), tmp_path / "whole")
    keep = rk.Checkpoint(tmp_path / "checkpoint", every=2)
    with pytest.raises(CrashError):
        learner.fit(TRAIN, VALID, callbacks=[keep, crash_at(stop)])
    heard = []
    resumed = learner.fit(
        TRAIN, VALID, callbacks=[rk.Checkpoint(tmp_path / "checkpoint", every=2), lambda progress: heard.append(progress.round)]
    )
    assert file_bytes(resumed, tmp_path / "resumed") == expected
    assert heard[0] == stop // 2 * 2 + 1  # it went on from the last checkpoint, not from the start
    again = learner.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(tmp_path / "checkpoint", every=2)])
    assert file_bytes(again, tmp_path / "again") == expected


def test_a_killed_process_can_go_on(tmp_path):
    program = """
import os, signal, sys, rankinite as rk
world = rk.World(features=6, documents=20, noise=0.3)
train, valid = rk.synthesise(40, world=world), rk.synthesise(20, part="valid", world=world)
learner = rk.LambdaMART(trees=12, leaves=6, min_rows=5, row_share=0.8, node_feature_share=0.7)
def kill(progress):
    if progress.round == 7:
        os.kill(os.getpid(), signal.SIGKILL)
learner.fit(train, valid, callbacks=[rk.Checkpoint(sys.argv[1], every=3), kill])
"""
    path = tmp_path / "checkpoint"
    killed = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert rk.load(path).rounds == 6
    resumed = LEARNER.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=3)])
    assert file_bytes(resumed, tmp_path / "a") == file_bytes(LEARNER.fit(TRAIN, VALID), tmp_path / "b")


def test_a_run_from_a_base_is_resumed_too(tmp_path):
    base = rk.Feature("1")
    keep = rk.Checkpoint(tmp_path / "checkpoint", every=1)
    with pytest.raises(CrashError):
        LEARNER.fit(TRAIN, VALID, base=base, callbacks=[keep, crash_at(4)])
    resumed = LEARNER.fit(TRAIN, VALID, base=base, callbacks=[keep])
    assert file_bytes(resumed, tmp_path / "a") == file_bytes(LEARNER.fit(TRAIN, VALID, base=base), tmp_path / "b")
    with pytest.raises(rk.DataError, match="another base"):
        LEARNER.fit(TRAIN, VALID, base=rk.Feature("2"), callbacks=[keep])


def test_more_trees_may_be_asked_for(tmp_path):
    keep = rk.Checkpoint(tmp_path / "checkpoint", every=4)
    replace(LEARNER, patience=None).fit(TRAIN, VALID, callbacks=[keep])
    longer = replace(LEARNER, trees=20, patience=30)
    resumed = longer.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(tmp_path / "checkpoint", every=4)])
    assert file_bytes(resumed, tmp_path / "a") == file_bytes(longer.fit(TRAIN, VALID), tmp_path / "b")
    fewer = replace(LEARNER, trees=5)
    resumed = fewer.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(tmp_path / "checkpoint", every=4)])
    assert file_bytes(resumed, tmp_path / "c") == file_bytes(fewer.fit(TRAIN, VALID), tmp_path / "d")


@pytest.mark.parametrize(
    ("learner", "train", "valid", "named"),
    [
        (replace(LEARNER, leaves=7), TRAIN, VALID, r"leaves=6 \(now 7\)"),
        (replace(LEARNER, measure="err"), TRAIN, VALID, r"measure='ndcg@10' \(now 'err'\)"),
        (replace(LEARNER, seed=1), TRAIN, VALID, r"seed=0 \(now 1\)"),
        (rk.RankNetTrees(trees=12), TRAIN, VALID, "learner='LambdaMART'"),
        (LEARNER, TRAIN.select_queries(range(39)), VALID, "other train data"),
        (LEARNER, TRAIN.with_weights(np.linspace(1, 2, 40)), VALID, "other train data"),
        (LEARNER, TRAIN.map_grades(lambda grades: grades + 1), VALID, "other train data"),
        (LEARNER, TRAIN, VALID.select_queries(range(10)), "other valid data"),
        (LEARNER, TRAIN, None, "other valid data"),
        (LEARNER, TRAIN.with_preferences(rk.Preferences([0], [1], [1.0])), VALID, "other train data"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(learner, train, valid, named, tmp_path):
    path = tmp_path / "checkpoint"
    replace(LEARNER, trees=2).fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=1)])
    before = path.read_bytes()
    with pytest.raises(rk.DataError, match=named) as caught:
        learner.fit(train, valid, callbacks=[rk.Checkpoint(path, every=1)])
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_files_that_are_no_checkpoints_are_refused(tmp_path):
    (tmp_path / "text").write_text("hello")
    LEARNER.fit(TRAIN).save(tmp_path / "model")
    (rk.Feature("1") + rk.Feature("2")).save(tmp_path / "blend")
    for name in ("text", "model", "blend"):
        with pytest.raises(rk.DataError, match=name):
            LEARNER.fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / name)])
    (tmp_path / "folder").mkdir()
    with pytest.raises(rk.RankiniteError, match="folder"):
        LEARNER.fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / "folder")])


FORGERIES = {
    "reversed names": (lambda f: {"feature_names": f.feature_names[::-1]}, "feature '6' at position 0, where .* has '1'"),
    "more features": (lambda f: {"feature_names": (*f.feature_names, "7"), "trees": asking(f, 6)}, "7 features, but .* has 6"),
    "fewer features": (lambda f: {"feature_names": f.feature_names[:5], "trees": asking(f, 0)}, "5 features, but .* has 6"),
    "no history": (lambda _: {"history": None}, "history .* 4 rounds"),
    "an empty history": (lambda f: {"history": replace(f.history, train=[], valid=[])}, "history .* 4 rounds"),
    "a short history": (lambda f: {"history": replace(f.history, valid=f.history.valid[:-1])}, "history .* 4 rounds"),
    "a history of NaN": (lambda f: {"history": replace(f.history, valid=f.history.valid * np.nan)}, "one finite number"),
    "more trees than told": (lambda f: {"trees": join([f.trees, f.trees])}, "history .* 8 rounds"),
    "other outputs": (lambda _: {"start": np.zeros(2), "grades": np.arange(2.0)}, "2 scores per row, not 1"),
    "settings that are a list": (lambda f: _told(f, settings=[]), "damaged"),
    "settings of another type": (lambda f: _told(f, settings={**_run_of(f)["settings"], "leaves": "six"}), "leaves='six'"),
    "further settings": (lambda f: _told(f, settings={**_run_of(f)["settings"], "magic": 1}), "magic=1"),
    "data of another type": (lambda f: _told(f, train=7), "other train data"),
}
"""What a file may say that is a sound model, but not the checkpoint of this run."""


def asking(forest, feature):
    """The same trees, whose splits all ask for one feature."""
    return replace(forest.trees, feature=np.where(forest.trees.feature < 0, -1, feature).astype(np.int32))


def _run_of(forest):
    return forest.settings["checkpoint"]


def _told(forest, **facts):
    return {"settings": {**forest.settings, "checkpoint": {**_run_of(forest), **facts}}}


@pytest.mark.parametrize("forged", FORGERIES)
def test_a_forged_checkpoint_is_refused_before_its_trees_walk_the_rows(forged, tmp_path):
    path = tmp_path / "checkpoint"
    replace(LEARNER, trees=4).fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=4)])
    forest = rk.load(path)
    change, words = FORGERIES[forged]
    replace(forest, sketch=None, **change(forest)).save(path)
    with pytest.raises(rk.DataError, match=words) as caught:
        LEARNER.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=4)])
    assert str(path) in str(caught.value)
    assert "start afresh" in str(caught.value)


def test_a_full_disk_leaves_the_older_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    whole = storage.write_model
    written = []

    def write(*arguments):
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(arguments)
        whole(*arguments)

    monkeypatch.setattr("rankinite.models.base.write_model", write)
    with pytest.raises(rk.DataError, match=r"round 9.*No space left"):
        LEARNER.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=3)])
    monkeypatch.undo()
    assert rk.load(path).rounds == 6
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint"]
    resumed = LEARNER.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=3)])
    assert file_bytes(resumed, tmp_path / "a") == file_bytes(LEARNER.fit(TRAIN, VALID), tmp_path / "b")


def test_a_disk_full_in_the_middle_of_writing_leaves_the_older_checkpoint(tmp_path):
    """A real one: the file may not grow beyond what the first checkpoint needs."""
    program = """
import resource, signal, sys, rankinite as rk
world = rk.World(features=6, documents=20, noise=0.3)
train, valid = rk.synthesise(40, world=world), rk.synthesise(20, part="valid", world=world)
learner = rk.LambdaMART(trees=12, leaves=6, min_rows=5, row_share=0.8, node_feature_share=0.7)
def narrow(progress):
    if progress.round == 3:
        import os
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(sys.argv[1]) + 100, resource.RLIM_INFINITY))
try:
    learner.fit(train, valid, callbacks=[rk.Checkpoint(sys.argv[1], every=3), narrow])
except rk.DataError as problem:
    print(problem)
"""
    path = tmp_path / "checkpoint"
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
    assert "round 6 cannot be written" in done.stdout
    assert rk.load(path).rounds == 3
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint"]


@pytest.mark.parametrize("every", [0, -1, 1.5, "often", None])
def test_a_wrong_interval_is_refused(every):
    with pytest.raises(rk.ArgumentError, match="every"):
        rk.Checkpoint("somewhere", every=every)
