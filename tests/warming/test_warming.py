"""Jobs compile what verbs need; a verb's first run has helpers and says so, its second has nothing left to compile."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import rankinite as rk
from rankinite.cli.compiling import compiling_beside
from rankinite.cli.messages import Manner, speaking
from rankinite.engine import kernel_folder
from rankinite.engine.compile_notices import tell_listeners
from rankinite.errors import ArgumentError
from rankinite.warming.jobs import JOBS, VERBS

WHOLE = """
import gc, json, sys
from rankinite.engine.kernel_dispatcher import KernelDispatcher
{code}
kernels = [one for one in gc.get_objects() if isinstance(one, KernelDispatcher)]
whole = [[f"{{one.py_func.__module__}}.{{one.py_func.__name__}}", str(types)]
         for one in kernels for types in one.overloads if types not in one._parts]
print(json.dumps(whole))
"""
"""Prints the kernels that Python has called, each with the types of its arguments."""
RUN = """
import sys
from rankinite.cli import main
sys.argv = {words!r}
try:
    main()
except SystemExit as end:
    assert not end.code
"""
BESIDES_DEFAULTS = ("rankinite.data._kernels", "rankinite.engine._math_kernels")
"""Small kernels that compile in a tenth of a second."""


def kernels_of(code, **environment):
    command = [sys.executable, "-c", WHOLE.format(code=code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment}, timeout=300)
    return {tuple(one) for one in json.loads(done.stdout.splitlines()[-1])}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warming")
    for part in ("train", "valid"):
        rk.write(rk.synthesise(30, part=part, world=rk.World(features=5, documents=12)), folder / f"{part}.txt")
    rk.LambdaMART(trees=40).fit(rk.read(folder / "train.txt")).save(folder / "model.rankinite")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "jobs"),
    [
        (["train", "train.txt", "--valid", "valid.txt", "--out", "new.rankinite", "--trees", "3"],
         ["reading", "bins", *VERBS["train"]]),
        (["evaluate", "model.rankinite", "valid.txt"], ["reading", *VERBS["evaluate"]]),
        (["score", "model.rankinite", "valid.txt", "--out", "scores.txt"], ["reading", *VERBS["score"]]),
    ],
)  # fmt: skip
def test_jobs_call_every_kernel_that_a_verb_calls(words, jobs, files):
    paths = [str(files / word) if "." in word else word for word in words]
    called = kernels_of(RUN.format(words=["rankinite", *paths, "--quiet"]))
    assert called
    job_code = f"from rankinite.warming.jobs import JOBS\nfor name in {jobs!r}: JOBS[name]()"
    left = {one for one in called - kernels_of(job_code) if not one[0].startswith(BESIDES_DEFAULTS)}
    assert left == set()


@pytest.mark.slow
def test_the_first_run_of_a_verb_says_that_it_compiles_and_the_second_does_not(files, tmp_path):
    command = [sys.executable, "-c", "from rankinite.cli import main; main()"]
    words = [*command, "evaluate", "feature:1", str(files / "valid.txt")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(words, capture_output=True, text=True, check=True, env=environment, timeout=300) for _ in range(2)
    )
    assert "compiling what evaluate needs on this machine, once for each verb, about 5 s …" in first.stderr
    assert "compiling" not in second.stderr
    assert first.stdout == second.stdout
    assert list(tmp_path.glob("kernels-*/evaluate.*.ready"))


def test_a_verb_says_once_that_it_compiles_whatever_it_is_run_with(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_folder, "cache_folder", lambda: tmp_path / "kernels-here")
    (tmp_path / "kernels-here").mkdir()

    def noted(verb, *, compiles=True, verbose=False):
        with speaking(Manner(verbose=verbose)), compiling_beside(verb, threads=1):
            for _ in range(3 * compiles):  # several kernels
                tell_listeners()
        return capsys.readouterr().err

    assert noted("describe", compiles=False) == ""
    first = noted("describe")  # a verb that has no helpers
    assert first == "compiling what describe needs on this machine, once for each verb …\n"
    assert noted("describe") == ""
    assert noted("describe", verbose=True) == "compiling what these options of describe need …\n"
    assert noted("train") == "compiling what train needs on this machine, once for each verb, about 13 s …\n"
    assert noted("evaluate") == "compiling what evaluate needs on this machine, once for each verb …\n"  # much is there by now
    assert noted("cross_validate").startswith("compiling what cross-validate needs ")
    assert [noted(verb) for verb in ("train", "evaluate", "cross_validate", "describe")] == [""] * 4


def test_a_verb_that_fails_is_not_ready(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    @compiling_beside("describe", threads=1)
    def fail():
        tell_listeners()
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not kernel_folder.is_ready("describe")
    assert capsys.readouterr().err


def test_ready_is_said_of_this_code_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = tmp_path / "kernels-of-some-numba"
    folder.mkdir()
    assert not kernel_folder.is_ready("train")
    (folder / "train.othercode.ready").touch()
    assert not kernel_folder.is_ready("train")
    (folder / f"train.{kernel_folder.sources_key()}.ready").touch()
    assert kernel_folder.is_ready("train")
    assert not kernel_folder.is_ready("evaluate")


@pytest.mark.slow
def test_warming_up_compiles_a_job_once_among_processes(tmp_path):
    told = "import json, rankinite as rk; told = []; rk.warm_up(['reading', 'bins'], processes=2, told=told.append)"
    command = [sys.executable, "-c", f"{told}; print(json.dumps(told))"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=300)
    assert sorted(json.loads(done.stdout)) == ["bins", "reading"]
    assert list(tmp_path.glob("kernels-*/*.place_edges-*.kernel"))
    assert list(tmp_path.glob("kernels-*/*.parse_lines-*.kernel"))


def test_unknown_jobs_are_refused():
    with pytest.raises(ArgumentError) as caught:
        rk.warm_up(["tree"])
    assert (caught.value.setting, caught.value.value) == ("jobs", "tree")
    assert all(name in str(caught.value) for name in JOBS)
