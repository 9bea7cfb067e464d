"""Compiled kernels on disk: never those of other code, and never a reason to fail.

Each test runs a copy of the package in processes of its own. They ask for one small kernel, ``fill_odds``, which calls
``exponential`` of another file: exp(0) = 1.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rankinite
from rankinite.engine.kernel_folder import KEPT_FOLDERS, PACKAGE, SOURCES

pytestmark = [pytest.mark.slow, pytest.mark.tools("limits on the size of files")]

ASK = """
import numpy as np
from rankinite.gradients._pair_kernels import fill_odds
odds = np.zeros(1)
fill_odds(np.ones(1), 1.0, odds)
print(odds[0])
"""
FULL_DISK = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
"""No file may grow beyond ten bytes, so that every write of an entry fails as it does on a full disk."""


class Installation:
    """A copy of the package with a home and a cache folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.package, self.home, self.cache = folder / "site" / "rankinite", folder / "home", folder / "cache"
        shutil.copytree(Path(rankinite.__file__).parent, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self.home.mkdir()

    def run(self, code: str = ASK, **environment: str) -> subprocess.CompletedProcess[str]:
        mine = {"PYTHONPATH": str(self.package.parent), "HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"}
        left_out = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_DISABLE_JIT")
        inherited = {name: value for name, value in os.environ.items() if name not in left_out}
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command, env={**inherited, **mine, **environment}, capture_output=True, text=True, timeout=300, check=True
        )

    def entries(self) -> list[Path]:
        return sorted(self.cache.glob("kernels-*/*.kernel"))


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_a_change_in_another_file_takes_effect(installation: Installation) -> None:
    cache = {"NUMBA_CACHE_DIR": str(installation.cache)}
    assert installation.run(**cache).stdout.strip() == "1.0"
    assert installation.entries()
    callee = installation.package / "engine" / "_math_kernels.py"
    text = callee.read_text(encoding="utf-8")
    changed = text.replace("    shifted = x * _PER_LN2 + _WHOLE\n", "    return 3.0\n", 1)
    assert changed != text
    callee.write_text(changed, encoding="utf-8")
    assert installation.run(**cache).stdout.strip() == "3.0"
    callee.write_text(text, encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in installation.entries()}
    assert installation.run(**cache).stdout.strip() == "1.0"
    assert {path: path.stat().st_mtime_ns for path in installation.entries()} == before  # found again, not compiled again


def test_damaged_entries_are_made_again(installation: Installation) -> None:
    cache = {"NUMBA_CACHE_DIR": str(installation.cache)}
    installation.run(**cache)
    sound = {path: path.read_bytes() for path in installation.entries()}
    middles = {path: len(content) // 2 for path, content in sound.items()}
    damages = {
        "truncated": {path: content[: middles[path]] for path, content in sound.items()},
        "empty": dict.fromkeys(sound, b""),
        "one bit flipped": {
            path: content[: (at := middles[path])] + bytes([content[at] ^ 1]) + content[at + 1 :]
            for path, content in sound.items()
        },
    }
    for damage, contents in damages.items():
        for path, content in contents.items():
            path.write_bytes(content)
        assert installation.run(**cache).stdout.strip() == "1.0", damage
        assert [path.stat().st_size for path in sound] == [len(content) for content in sound.values()], damage


def test_nowhere_to_write_means_a_warning_and_the_same_result(installation: Installation) -> None:
    (installation.package / "__pycache__").write_text("no folder", encoding="utf-8")
    installation.home.rmdir()
    installation.home.write_text("no folder", encoding="utf-8")
    ended = installation.run()
    assert ended.stdout.strip() == "1.0"
    assert ended.stderr.count("CacheWarning: Compiled code can be kept in none of ") == 1
    assert "NUMBA_CACHE_DIR" in ended.stderr


def test_a_full_disk_means_a_warning_and_the_same_result(installation: Installation) -> None:
    ended = installation.run(FULL_DISK + ASK, NUMBA_CACHE_DIR=str(installation.cache))
    assert ended.stdout.strip() == "1.0"
    assert ended.stderr.count("CacheWarning: Compiled code cannot be kept in ") == 1
    assert not list(installation.cache.glob("kernels-*/*"))  # no unfinished file either


def test_a_package_that_cannot_be_written_to_uses_the_users_folder(installation: Installation) -> None:
    (installation.package / "__pycache__").write_text("no folder", encoding="utf-8")
    ended = installation.run()
    assert (ended.stdout.strip(), ended.stderr) == ("1.0", "")
    assert list(installation.home.rglob("*.kernel"))


def test_entries_that_others_may_change_are_not_loaded(installation: Installation) -> None:
    folder = "import rankinite.engine.kernel_folder as cache; print(cache.cache_folder())"
    inside = Path(installation.run(folder).stdout.strip())
    assert inside.is_relative_to(installation.package)
    inside.chmod(0o777)
    assert Path(installation.run(folder).stdout.strip()).is_relative_to(installation.home)


def test_folders_of_older_code_are_removed_but_for_the_latest(installation: Installation) -> None:
    for number in range(KEPT_FOLDERS + 3):
        (installation.cache / f"kernels-{number}").mkdir(parents=True)
        os.utime(installation.cache / f"kernels-{number}", (number, number))
    code = "import rankinite.engine.kernel_folder as cache; print(cache.cache_folder().name)"
    current = installation.run(code, NUMBA_CACHE_DIR=str(installation.cache)).stdout.strip()
    latest = {f"kernels-{number}" for number in range(3, KEPT_FOLDERS + 3)}
    assert {path.name for path in installation.cache.iterdir()} == {current, *latest}


def test_the_key_covers_every_kernel_and_all_that_kernels_import() -> None:
    covered = {path for pattern in SOURCES for path in PACKAGE.glob(pattern)}
    modules = {"rankinite." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in covered}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        decorators = [
            ast.unparse(mark) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for mark in node.decorator_list
        ]
        if not {"kernel", "lean_kernel"} & set(decorators):
            continue
        assert path in covered, f"{path} defines a kernel, but rankinite.engine.kernel_folder.SOURCES leaves it out"
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        missing = {name for name in imported if name.startswith("rankinite")} - modules
        assert not missing, f"{path} imports {missing}, which rankinite.engine.kernel_folder.SOURCES leaves out"


def test_compiled_kernels_are_loaded_without_what_compiling_needs(installation: Installation) -> None:
    cache = {"NUMBA_CACHE_DIR": str(installation.cache)}
    code = f"{ASK}\nimport sys; print('numba.np.arraymath' in sys.modules)"
    assert [installation.run(code, **cache).stdout.split() for _ in range(2)] == [["1.0", "True"], ["1.0", "False"]]


def test_functions_that_only_kernels_call_are_not_kept_until_python_calls_them(installation: Installation) -> None:
    cache = {"NUMBA_CACHE_DIR": str(installation.cache)}
    installation.run(**cache)
    assert [path.name.split("-")[0] for path in installation.entries()] == ["rankinite.gradients._pair_kernels.fill_odds"]
    also = f"{ASK}\nfrom rankinite.engine._math_kernels import exponential; print(exponential(0.0))"
    assert installation.run(also, **cache).stdout.split() == ["1.0", "1.0"]
    kept = {path.name.split("-")[0] for path in installation.entries()}
    assert kept == {"rankinite.gradients._pair_kernels.fill_odds", "rankinite.engine._math_kernels.exponential"}


COMPILED_HERE = f"""
from rankinite.engine import kernel_cache
saved = []
save = kernel_cache._Entries.save
kernel_cache._Entries.save = lambda self, key, data: (saved.append(self.name), save(self, key, data))
{ASK}
print(len(saved))
"""


def test_of_processes_that_need_a_kernel_at_once_one_compiles_it(installation: Installation) -> None:
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(installation.run, COMPILED_HERE, NUMBA_CACHE_DIR=str(installation.cache)) for _ in range(3)]
    answers = [run.result().stdout.split() for run in runs]
    assert [answer[0] for answer in answers] == ["1.0"] * 3
    assert sorted(answer[1] for answer in answers) == ["0", "0", "1"]
    assert not list(installation.cache.glob("kernels-*/*.lock"))
