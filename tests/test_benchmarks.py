"""Every benchmark runs to its end, on tiny data, and leaves what is kept of real runs as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk

pytestmark = [pytest.mark.slow, pytest.mark.posix("locks")]

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py"))
ARGUMENTS = {
    "adaptation": [[], ["--kind", "rivals"], ["--report"]],
    "calibration": [["judge"]],
    "commits": [["HEAD"]],
}
"""Of one run after the other, where a program needs some or does several things."""
NO_SECTION = {"adaptation": "a page of its own", "defaults": "a section once all fits are there", "gain_prior": "prints"}
MISSING = {
    "commits": None if (ROOT / ".git").exists() else "a clone of the repository",
    "report": None if shutil.which("chromedriver") or os.environ.get("CI") else "chromedriver",
}
"""What a program needs and does not find here."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder like that of the real data: two LETOR sets in five parts, and the classic collections."""
    folder = tmp_path_factory.mktemp("data")
    for number, name in enumerate(("mq2007", "mq2008")):
        (folder / name).mkdir()
        drawn = rk.synthesise(60, domain=number, world=rk.World(features=10, documents=10))
        judged = drawn.map_grades(lambda grades: np.minimum(grades, 2))
        for part in range(5):
            rk.write(judged.select_queries(np.arange(12 * part, 12 * part + 12)), folder / name / f"S{part + 1}.txt.gz")
    (folder / "classic").mkdir()
    for number, name in enumerate(("cacm", "cisi", "cran", "lisa", "med", "npl", "time")):
        world = rk.World(features=10, documents=10, shift=0.3)
        rk.write(rk.synthesise(40, domain=number, world=world), folder / "classic" / f"{name}.txt.gz")
    return folder


def kept_results() -> dict[Path, bytes]:
    pages = (ROOT / "benchmarks" / "RESULTS.md", ROOT / "docs" / "adaptation-results.md")
    return {path: path.read_bytes() for path in (*pages, *(ROOT / "benchmarks" / "cells").iterdir())}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_benchmark_runs_to_its_end(program, data, tmp_path):
    if MISSING.get(program):
        pytest.skip(f"needs {MISSING[program]}")
    before = kept_results()
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"RANKINITE_SMOKE": str(tmp_path), "RANKINITE_DATA": str(data), "PYTHONPATH": path}
    for arguments in ARGUMENTS.get(program, [[]]):
        command = [sys.executable, str(ROOT / "benchmarks" / f"{program}.py"), *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
        assert done.stdout or (tmp_path / "RESULTS.md").exists()
    assert (tmp_path / "RESULTS.md").exists() == (program not in NO_SECTION)
    assert kept_results() == before
