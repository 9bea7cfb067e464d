"""Runs that are killed go on from their checkpoint to the same bytes; Ctrl-C keeps what is trained."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

import rankinite as rk

PATIENCE = 60
"""Seconds to wait for what takes one."""


@contextmanager
def started(*arguments):
    """The command in a process of its own, which does not outlive the test."""
    command = [sys.executable, "-c", "from rankinite.cli import main; main()", *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(path, process):
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_killed_run_goes_on_to_the_same_bytes(run, files, settings, tmp_path):
    training = ("train", files.train, "--valid", files.valid, *settings, "--trees=400", "--patience=none", "--row-share=0.7")
    checkpoint = ("--checkpoint", tmp_path / "checkpoint", "--every", 20)
    with started(*training, *checkpoint, "--out", tmp_path / "killed") as process:
        wait_for(tmp_path / "checkpoint", process)
        process.kill()
        assert process.wait(PATIENCE) == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()
    kept = rk.load(tmp_path / "checkpoint").rounds
    assert 0 < kept < 400

    again = run(*training, *checkpoint, "--out", tmp_path / "killed")
    assert again.code == 0
    assert f"going on from round {kept}" in again.err
    assert not (tmp_path / "checkpoint").exists()
    assert run(*training, "--out", tmp_path / "whole", "--quiet").code == 0
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("quiet", [True, False])
def test_ctrl_c_keeps_what_is_trained(files, settings, tmp_path, quiet):
    training = ("train", files.train, *settings, "--trees=1000000", "--no-train-history", *["--quiet"] * quiet)
    checkpoint = ("--checkpoint", tmp_path / "checkpoint", "--every", 20)
    with started(*training, *checkpoint, "--out", tmp_path / "model") as process:
        wait_for(tmp_path / "checkpoint", process)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        told = process.stderr.read()
    model = rk.load(tmp_path / "model")
    assert model.history.stopped == "interrupted"
    assert len(model) >= rk.load(tmp_path / "checkpoint").rounds >= 20
    first = rk.LambdaMART(trees=20, leaves=6, min_rows=5, rate=0.3, train_history=False).fit(rk.read(files.train))
    assert model.truncate(20).text() == first.text()
    assert told == "" if quiet else "interrupted" in told
    assert quiet or "checkpoint" in told
