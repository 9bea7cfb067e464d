"""The source archive makes the wheel, and the wheel alone does the whole job: train, adapt, export, score."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

import pytest

import rankinite as rk
from rankinite.engine.kernel_folder import cache_folder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile", "constraints.txt", "docs/conf.py")
"""Files without which the archive could not be built, tested or read."""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the source archive, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-P", "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_source_archive_holds_what_is_tracked(built):
    """What the package is made of and its tests, but nothing that was generated."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert archive.name == f"rankinite-{rk.__version__}.tar.gz"
    assert set(NEEDED) <= names
    for folder in ("src", "tests"):
        here = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py")}
        assert here <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".venv", "site/", "dist/"))]


def test_the_wheel_holds_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if ".dist-info/" not in name]
    source = ROOT / "src"
    files = [path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sorted(names) == sorted(path.relative_to(source).as_posix() for path in files)


@dataclass(frozen=True)
class Installed:
    """A fresh environment with the wheel in it, and an empty folder to work in."""

    home: Path
    folder: Path

    def python(self, *words: object) -> str:
        """What the environment's Python prints."""
        return self._run(self.home / ("Scripts/python.exe" if os.name == "nt" else "bin/python"), *words)

    def rankinite(self, *words: object) -> str:
        """What the command prints."""
        return self._run(self.home / ("Scripts/rankinite.exe" if os.name == "nt" else "bin/rankinite"), *words)

    def _run(self, *words: object) -> str:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON", "RANKINITE_"))}
        kernels = {} if cache_folder() is None else {"NUMBA_CACHE_DIR": str(cache_folder().parent)}
        command = [str(word) for word in words]
        done = subprocess.run(command, cwd=self.folder, env=plain | kernels, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Installed:
    """The wheel in an environment of its own; what it depends on comes from the environment of the tests.

    That folder is named in a file of paths, where files of paths inside it are not read: those of an editable install of the
    sources, say.
    """
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=False, symlinks=os.name != "nt")
    found = Installed(home, tmp_path_factory.mktemp("elsewhere"))
    site = Path(found.python("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.match(r"[\w-]+", requirement)[0] for requirement in project["dependencies"]]
    paths = {str(distribution(name).locate_file("")) for name in names}
    (site / "dependencies.pth").write_text("".join(f"{path}\n" for path in sorted(paths)))
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(home), "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-index", "--no-deps", "--no-compile", str(wheel)], check=True)
    return found


def test_the_installed_package_is_not_the_sources(installed):
    code = (
        "import json, sys, rankinite; from importlib.metadata import version\n"
        "print(json.dumps([rankinite.__file__, rankinite.__version__, version('rankinite'), sys.path]))"
    )
    file, own, listed, paths = json.loads(installed.python("-c", code))
    assert Path(file).is_relative_to(installed.home)
    assert own == listed == rk.__version__
    assert not [path for path in paths if Path(path or installed.folder).is_relative_to(ROOT / "src")]
    assert installed.rankinite("--version").split() == ["rankinite", rk.__version__]


def test_the_installed_command_trains_adapts_exports_and_scores(installed):
    sizes = ("--queries", 24, "--documents", 8, "--features", 5, "--noise", 0.3, "--shift", 0.4, "--domains", 2)
    installed.rankinite("synth", *sizes, "--out", "worlds")
    web, market, new = (f"worlds/{name}.txt" for name in ("domain0/train", "domain1/train", "domain1/test"))
    installed.rankinite("train", web, "--trees", 20, "--leaves", 8, "--out", "web.rankinite")
    methods = ("--methods", "interpolate,trada-leaves", "--folds", 2, "--no-curve")
    adapted = installed.rankinite("adapt", "web.rankinite", "--train", market, *methods, "--out", "market")
    assert {"interpolate", "trada-leaves"} <= set(adapted.split())
    evidence = json.loads((installed.folder / "market" / "evidence.json").read_text())
    assert evidence["versions"]["rankinite"] == rk.__version__
    installed.rankinite("export", "market/model.rankinite", "--to", "lightgbm", "--out", "served")
    printed = installed.rankinite("score", "market/model.rankinite", new)
    data = rk.read(installed.folder / new)
    for model in ("market/model.rankinite", "served/model.txt"):
        assert [float(line) for line in printed.split()] == rk.load(installed.folder / model).score(data).tolist()
