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
from refusals import refused

pytestmark = pytest.mark.posix("signals and limits on the size of files")

WORLD = rk.World(features=6, documents=20, noise=0.3)
TRAIN, VALID = rk.synthesise(40, world=WORLD), rk.synthesise(20, part="valid", world=WORLD)
LEARNER = rk.LambdaMART.plain(trees=12, leaves=6, min_rows=5, row_share=0.8, node_feature_share=0.7)


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
learner = rk.LambdaMART.plain(trees=12, leaves=6, min_rows=5, row_share=0.8, node_feature_share=0.7)
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
    with refused(rk.DataError, place=keep.path, value="train and valid"):
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
    ("learner", "train", "valid", "changed"),
    [
        (replace(LEARNER, leaves=7), TRAIN, VALID, ["leaves"]),
        (replace(LEARNER, measure="err"), TRAIN, VALID, ["measure"]),
        (replace(LEARNER, seed=1), TRAIN, VALID, ["seed"]),
        (replace(LEARNER, node_feature_share=1.0), TRAIN, VALID, ["node_feature_share"]),
        (LEARNER, TRAIN.select_queries(range(39)), VALID, "train"),
        (LEARNER, TRAIN.with_weights(np.linspace(1, 2, 40)), VALID, "train"),
        (LEARNER, TRAIN.map_grades(lambda grades: grades + 1), VALID, "train"),
        (LEARNER, TRAIN, VALID.select_queries(range(10)), "valid"),
        (LEARNER, TRAIN, None, "valid"),
        (LEARNER, TRAIN.with_preferences(rk.Preferences([0], [1], [1.0])), VALID, "train"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(learner, train, valid, changed, tmp_path):
    path = tmp_path / "checkpoint"
    replace(LEARNER, trees=2).fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=1)])
    before = path.read_bytes()
    with refused(rk.DataError, place=path, value=changed):
        learner.fit(train, valid, callbacks=[rk.Checkpoint(path, every=1)])
    assert path.read_bytes() == before


def test_a_checkpoint_of_another_learner_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    replace(LEARNER, trees=2).fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=1)])
    with refused(rk.DataError, place=path) as caught:
        rk.RankNetTrees(trees=12).fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=1)])
    assert "learner" in caught.value.value


def test_files_that_are_no_checkpoints_are_refused(tmp_path):
    (tmp_path / "text").write_text("hello")
    LEARNER.fit(TRAIN).save(tmp_path / "model")
    (rk.Feature("1") + rk.Feature("2")).save(tmp_path / "blend")
    for name in ("text", "model", "blend"):
        with refused(rk.DataError, place=tmp_path / name):
            LEARNER.fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / name)])
    (tmp_path / "folder").mkdir()
    with refused(rk.DataError, place=tmp_path / "folder"):
        LEARNER.fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / "folder")])


NAMES = TRAIN.feature_names
FORGERIES = {
    "reversed names": (lambda f: {"feature_names": f.feature_names[::-1]}, NAMES[::-1]),
    "more features": (lambda f: {"feature_names": (*f.feature_names, "7"), "trees": asking(f, 6)}, (*NAMES, "7")),
    "fewer features": (lambda f: {"feature_names": f.feature_names[:5], "trees": asking(f, 0)}, NAMES[:5]),
    "no history": (lambda _: {"history": None}, ()),
    "an empty history": (lambda f: {"history": replace(f.history, train=[], valid=[])}, (0, 0, 0)),
    "a short history": (lambda f: {"history": replace(f.history, valid=f.history.valid[:-1])}, (5, 4, 0)),
    "a history of NaN": (lambda f: {"history": replace(f.history, valid=f.history.valid * np.nan)}, (5, 5, 0)),
    "more trees than recorded": (lambda f: {"trees": join([f.trees, f.trees])}, (5, 5, 0)),
    "other outputs": (lambda _: {"start": np.zeros(2), "grades": np.arange(2.0)}, 2),
    "settings that are a list": (lambda f: with_run(f, settings=[]), []),
    "settings of another type": (lambda f: with_run(f, settings={**_run_of(f)["settings"], "leaves": "six"}), ["leaves"]),
    "further settings": (lambda f: with_run(f, settings={**_run_of(f)["settings"], "magic": 1}), ["magic"]),
    "data of another type": (lambda f: with_run(f, train=7), "train"),
}
"""What a file may say that is a sound model, but not the checkpoint of this run."""


def asking(forest, feature):
    """The same trees, whose splits all ask for one feature."""
    return replace(forest.trees, feature=np.where(forest.trees.feature < 0, -1, feature).astype(np.int32))


def _run_of(forest):
    return forest.settings["checkpoint"]


def with_run(forest, **facts):
    """The settings of a checkpoint with other facts of its run."""
    return {"settings": {**forest.settings, "checkpoint": {**_run_of(forest), **facts}}}


@pytest.mark.parametrize("forged", FORGERIES)
def test_a_forged_checkpoint_is_refused_before_its_trees_walk_the_rows(forged, tmp_path):
    path = tmp_path / "checkpoint"
    replace(LEARNER, trees=4).fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=4)])
    forest = rk.load(path)
    change, found = FORGERIES[forged]
    replace(forest, sketch=None, **change(forest)).save(path)
    with refused(rk.DataError, place=path, value=found):
        LEARNER.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(path, every=4)])


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
    with refused(rk.DataError, place=path, value=9):
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
learner = rk.LambdaMART.plain(trees=12, leaves=6, min_rows=5, row_share=0.8, node_feature_share=0.7)
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
    with refused(rk.ArgumentError, setting="every", value=every):
        rk.Checkpoint("somewhere", every=every)
