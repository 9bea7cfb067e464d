"""Where cases are trained: here, on Dask's workers, or by processes that ``mpiexec`` starts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rankinite as rk
from joint.cases import CASES, from_folders

TESTS = Path(__file__).resolve().parents[1]


def mpiexec() -> str | None:
    """The starter of MPI programs beside this Python, else that of the system."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


needs_mpi = pytest.mark.skipif(mpiexec() is None and not os.environ.get("CI"), reason="there is no mpiexec: pip install mpich")
"""In CI nothing is skipped for want of it."""


def over_mpi(names: list[str], root: Path, members: int, threads: int, *, shards: int | None = None) -> dict[str, str]:
    starter = mpiexec()
    assert starter is not None, "no mpiexec: pip install mpich"
    program = [sys.executable, "-m", "joint.mpi_program", str(root), str(shards or members), str(threads), *names]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))}
    done = subprocess.run([starter, "-n", str(members), *program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def on_dask(names: list[str], root: Path, members: int, client, threads: int = 1) -> dict[str, str]:
    """On as many workers as there are folders: each has one."""
    with rk.cluster(client.get_executor(pure=False), threads=threads) as cluster:
        found = {name: from_folders(CASES[name], root, members) for name in names}
        assert cluster.traffic is not None  # they did train together
    return found
