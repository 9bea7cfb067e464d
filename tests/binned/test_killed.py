"""``rankinite bin`` killed in either pass leaves nothing that looks finished, and the same command makes it whole."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import rankinite as rk
from rankinite.binned.folder import CODES, MANIFEST, UNFINISHED
from refusals import refused

pytestmark = pytest.mark.slow

PASSES = {"the first": UNFINISHED, "the second": CODES}
"""The file whose appearance says that a pass has begun."""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("killed") / "data.txt"
    rk.write(rk.synthesise(1500, world=rk.World(features=30, documents=40)), path)
    return path


@pytest.mark.parametrize("begun", PASSES.values(), ids=PASSES)
@pytest.mark.parametrize("shards", [(), ("--shards", "3")], ids=["one folder", "shards"])
def test_killed_in_a_pass(begun, shards, source, tmp_path):
    out = tmp_path / "made"
    first = out / "00.bins" if shards else out
    command = [str(Path(sys.executable).with_name("rankinite")), "bin", str(source), "--out", str(out), *shards]
    run = subprocess.Popen(command, stderr=subprocess.PIPE)
    while not (first / begun).exists():
        assert run.poll() is None, run.communicate()
        time.sleep(0.0005)
    run.kill()
    run.communicate()
    folders = sorted(out.iterdir()) if shards else [out]
    assert not any((folder / MANIFEST).exists() for folder in folders)
    with refused(rk.DataError):
        rk.Binned(folders)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    again = rk.Binned(sorted(out.iterdir()) if shards else out, verify=True)
    whole = rk.bin(source, tmp_path / "whole", shards=3 if shards else None)
    assert [one.files for one in again.manifests] == [one.files for one in whole.manifests]
