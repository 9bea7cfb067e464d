"""Promises of the project as a whole."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import rankinite as rk
from rankinite.cli.app import VERBS
from rankinite.version import REMOVED

pytestmark = pytest.mark.posix("paths as POSIX has them")

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "rankinite"


def test_every_public_name_is_there():
    for name in rk.__all__:
        assert getattr(rk, name) is not None
    assert set(rk.__all__) <= set(dir(rk))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = rk.nonsense


def test_names_that_the_release_before_had_are_answered():
    assert not {*REMOVED} & {*rk.__all__, *VERBS}
    for name, sentence in REMOVED.items():
        assert not hasattr(rk, name)
        with pytest.raises(AttributeError, match=re.escape(sentence)):
            getattr(rk, name)
        for page in re.findall(r"docs/[\w./-]+", sentence):
            assert (ROOT / page).exists()
        done = subprocess.run([sys.executable, "-m", "rankinite", name], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr


def resolve(dotted: str):
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(dotted)


def test_every_entry_of_the_papers_map_leads_to_code():
    entries = re.findall(r"`((?:rankinite|papers)\.[\w.]+)`", (ROOT / "docs" / "papers.md").read_text())
    assert len(entries) > 20
    for entry in entries:
        assert resolve(entry) is not None


def test_every_name_and_file_of_the_recipes_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    names = re.findall(r"`((?:rankinite|papers)\.[\w.]+)`", text)
    files = re.findall(r"`((?:src|tests|docs|papers)/[\w./]+)`", text)
    assert len(names) > 10
    assert len(files) > 15
    for name in names:
        assert name == "rankinite.measures" or resolve(name) is not None
    for file in files:
        assert re.search("NAME|NNN", file) or (ROOT / file).exists(), file


def test_kernels_import_nothing_of_ours_but_the_decorator_and_other_kernels():
    kernels = [path for path in SOURCE.rglob("_*.py") if re.search("^@(lean_)?kernel$", path.read_text(), re.MULTILINE)]
    assert len(kernels) >= 4
    for path in kernels:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("rankinite"):
                ground = node.module in {f"rankinite.engine.{name}" for name in ("kernel", "barriers", "reducer")}
                assert ground or "_kernels" in node.module or node.module.endswith("_state"), f"{path}: {node.module}"


def test_pins_name_no_address():
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"(#.*|[A-Za-z0-9._-]+==[\w.+]+)?", line), line


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, rankinite; print(*(m for m in ('numba', 'numpy', 'scipy', 'pyarrow') if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


@pytest.mark.slow
def test_kernels_mean_the_same_without_the_compiler():
    """The measures' own tests on small data, as plain Python."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "tests/measures/test_swaps.py",
            "tests/measures/test_conventions.py",
        ],
        cwd=ROOT,
        env={"NUMBA_DISABLE_JIT": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    """The cache must find every kernel again: those that take functions were once compiled anew in each process."""
    code = (
        "import numpy as np, rankinite as rk\n"
        "data = rk.read(np.zeros((3, 1)), grades=[0, 2, 1], group=[3])\n"
        "print(rk.evaluate([1.0, 2, 2], data, ['ndcg', 'err'])['err'].mean, rk.swap_changes(rk.RR(), np.array([0.0, 1])))\n"
    )
    cached = []
    for _ in range(2):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        cached.append(sorted((path.name, path.stat().st_mtime_ns) for path in tmp_path.rglob("*.kernel")))
    assert len(cached[0]) > 5
    assert cached[1] == cached[0]
