"""Runs that are killed go on from their checkpoint to the same bytes; Ctrl-C and SIGTERM keep what is trained."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

import rankinite as rk

pytestmark = [pytest.mark.slow, pytest.mark.posix("signals")]

PATIENCE = 60
"""Seconds to wait for what takes one."""


MAIN = "from rankinite.cli import main; main()"
DEAF = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {MAIN}"
"""As shells start what runs in the background: Ctrl-C is not for it."""


@contextmanager
def started(*arguments, program=MAIN):
    """The command in a process of its own, which does not outlive the test."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
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
        printed = process.stderr.read()
    model = rk.load(tmp_path / "model")
    assert model.history.stopped == "interrupted"
    assert len(model) >= rk.load(tmp_path / "checkpoint").rounds >= 20
    first = rk.LambdaMART(trees=20, leaves=6, min_rows=5, rate=0.3, train_history=False).fit(rk.read(files.train))
    assert model.truncate(20).text() == first.text()
    assert printed == "" if quiet else "interrupted" in printed
    assert quiet or "checkpoint" in printed


@pytest.mark.parametrize("program", [MAIN, DEAF])
def test_sigterm_keeps_what_is_trained(files, settings, tmp_path, program):
    training = ("train", files.train, *settings, "--trees=1000000", "--no-train-history", "--threads=2")
    checkpoint = ("--checkpoint", tmp_path / "checkpoint", "--every", 20)
    with started(*training, *checkpoint, "--out", tmp_path / "model", program=program) as process:
        wait_for(tmp_path / "checkpoint", process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 143
        assert "interrupted" in process.stderr.read()
    assert rk.load(tmp_path / "model").history.stopped == "interrupted"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_verb_that_keeps_nothing_ends_with_the_code_of_the_signal(run, files, monkeypatch, number, code):
    monkeypatch.setattr("rankinite.evaluation.evaluate.evaluate", lambda *_, **__: signal.raise_signal(number))
    done = run("evaluate", "feature:1", files.test)
    assert (done.code, done.out) == (code, "")
    assert "Traceback" not in done.err
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL  # as it was


@pytest.mark.parametrize(
    "command", ["--help", "train --help", "describe {test}", "score feature:1 {test}", "score --verbose feature:1 {test}"]
)
def test_a_reader_that_goes_ends_the_program_quietly(files, command):
    """``true`` reads nothing: what is written meets a closed pipe, at once or when the program ends."""
    words = command.format(test=files.test)
    script = f'"{sys.executable}" -c "{MAIN}" {words} | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 141
    assert "Error" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_behind_the_output_is_noted(files):
    script = f'"{sys.executable}" -c "{MAIN}" describe {files.test} > /dev/full'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
