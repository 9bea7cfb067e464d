"""TrialStore: what is kept of an interrupted run, what is used again of it, and methods that refuse."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import background, background_data, regraded, target, unseen
from oracles.trials import Counted, by_name
from rankinite.adapt import choose
from rankinite.adapt.shared_fits import Task
from rankinite.adapt.trial_store import TrialStore, task_key
from rankinite.adapt.trials import MethodTrial
from refusals import refused

NDCG = rk.NDCG(10)


def count_fits(monkeypatch):
    """Three methods besides the baselines, and how often each is fitted."""
    fits_by_name = {name: Counted() for name in ("lambdaboost", "trada", "smart")}
    methods = (
        by_name("background", "baseline", lambda work: work.background),
        by_name("target", "baseline", lambda _: rk.Feature(1)),
        *(by_name(name, fit=fit) for name, fit in fits_by_name.items()),
    )
    monkeypatch.setattr(import_module("rankinite.adapt.method_choice"), "METHODS", methods)
    return fits_by_name


@pytest.fixture
def counted(monkeypatch):
    return count_fits(monkeypatch)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that has ended, and the folder of its trials."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patched:
        count_fits(patched)
        return choose(background(), target(), keep=folder, curve=False), folder


@pytest.fixture
def kept(finished, tmp_path):
    """That run, and a copy of its folder."""
    first, folder = finished
    return first, shutil.copytree(folder, tmp_path / "kept")


def fits(counted):
    return {name: fit.fits for name, fit in counted.items()}


# ---- resuming ------------------------------------------------------------------------------------------------------


def test_what_is_kept_is_not_fitted_again_and_gives_the_same(counted, tmp_path):
    steps = []
    first = choose(background(), target(), keep=tmp_path, test=unseen(), curve=False, watch=steps.append)
    assert fits(counted) == {"lambdaboost": 6, "trada": 6, "smart": 6}
    assert [step.what for step in steps if step.finished] == ["background", "target", "lambdaboost", "trada", "smart"]
    assert not any(step.resumed for step in steps)
    again, steps[:] = choose(background(), target(), keep=tmp_path, test=unseen(), curve=False, watch=steps.append), []
    assert fits(counted) == {"lambdaboost": 6, "trada": 6, "smart": 6}
    for one, other in zip(first.trials, again.trials, strict=True):
        assert (one.method, one.seconds) == (other.method, other.seconds)
        assert one.unseen.tobytes() == other.unseen.tobytes()
        assert one.ranker.score(unseen()).tobytes() == other.ranker.score(unseen()).tobytes()
    assert (again.verdict, again.test.to_json()) == (first.verdict, first.test.to_json())


def test_steps_show_how_far_it_is(counted, tmp_path):
    steps = []
    with rk.threads(1):
        choose(background(), target(), keep=tmp_path, curve=False, watch=steps.append)
    shares = [step.done for step in steps]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert len(steps) == 5 * (1 + 6)  # before the first fit of each method, and after each; the last one ends it
    resumed = []
    choose(background(), target(), keep=tmp_path, curve=False, watch=resumed.append)
    assert all(step.resumed and step.finished for step in resumed)
    assert len(resumed) == 5


OTHERS = {
    "target": {"target": regraded(target(), 2)},
    "rows": {"target": target(13)},
    "names": {"target": rk.concat([target()], prefixes=["q"])},
    "weights": {"target": target().with_weights(np.linspace(1, 2, 12))},
    "preferences": {"target": target().with_preferences(rk.Preferences([0], [1], [1.0]))},
    "certainty": {"target": target().with_preferences(rk.Preferences([0], [1], [0.9]))},
    "valid": {"valid": unseen()},
    "background": {"backgrounds": 2.0 * background()},
    "trees": {"backgrounds": background().truncate(19)},
    "tuning": {"tuning": rk.adapt.Trada(rate=0.1)},
    "more": {"backgrounds": [background(), rk.Feature(0)]},
    "data": {"background_data": background_data()},
    "measure": {"measure": "err"},
    "folds": {"folds": 4},
    "seed": {"seed": 1},
}


@pytest.mark.parametrize("other", OTHERS)
def test_trials_of_another_task_are_not_confused_with_it(counted, kept, other):
    arguments = {"backgrounds": background(), "target": target(), "curve": False, "keep": kept[1]}
    changed = choose(**{**arguments, **OTHERS[other]})
    assert fits(counted)["smart"] > 0
    alone = choose(**{**arguments, **OTHERS[other], "keep": None})
    assert all(a.unseen.tobytes() == b.unseen.tobytes() for a, b in zip(changed.trials, alone.trials, strict=True))
    before = fits(counted)["smart"]
    choose(**arguments)
    assert fits(counted)["smart"] == before  # those of the first are still there


def test_the_fingerprint_depends_neither_on_test_data_nor_on_methods(counted, tmp_path):
    arguments = {"backgrounds": background(), "target": target(), "curve": False, "keep": tmp_path}
    choose(**arguments, methods=["smart"])
    choose(**arguments, test=unseen(), shifted=unseen(), also=["err"], risk=0.05, tolerate=0.02)
    assert fits(counted) == {"lambdaboost": 6, "trada": 6, "smart": 6}


@pytest.mark.parametrize("ending", ["npz", "rankinite"])
@pytest.mark.parametrize("harm", ["gone", "empty", "half", "junk"])
def test_a_damaged_trial_is_made_again(counted, kept, ending, harm):
    first, home = kept
    [path] = home.rglob(f"trada.{ending}")
    content = path.read_bytes()
    path.unlink()
    if harm != "gone":
        path.write_bytes({"empty": b"", "half": content[: len(content) // 2], "junk": b"junk" * 100}[harm])
    again = choose(background(), target(), keep=home, curve=False)
    assert fits(counted) == {"lambdaboost": 0, "trada": 6, "smart": 0}
    assert again.verdict == first.verdict
    assert first.warnings == ()
    [note] = again.warnings
    assert "trada" in note
    assert "made again" in note
    assert choose(background(), target(), keep=home, curve=False).warnings == ()
    assert fits(counted)["trada"] == 6


def later_zip(folder):
    """An archive that claims to need a later version of zip."""
    content = bytearray((folder / "trada.npz").read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 255
    return bytes(content)


FORGERIES = {
    "another model": {"rankinite": lambda folder: (folder / "background.rankinite").read_bytes()},
    "another trial": {
        ending: (lambda folder, ending=ending: (folder / f"smart.{ending}").read_bytes())
        for ending in ("json", "npz", "rankinite")
    },
    "a seal that is a list": {"json": lambda _: b"[1]"},
    "a seal of depth": {"json": lambda _: b"[" * 100_000},
    "few scores": {"npz": lambda folder: changed_facts(folder, unseen=np.zeros(3))},
    "more scores": {"npz": lambda folder: changed_facts(folder, unseen=np.zeros(100_000))},
    "whole scores": {"npz": lambda folder: changed_facts(folder, unseen=np.zeros(target().rows, np.int64))},
    "no number": {"npz": lambda folder: changed_facts(folder, unseen=np.full(target().rows, np.nan))},
    "infinite": {"npz": lambda folder: changed_facts(folder, unseen=np.full(target().rows, np.inf))},
    "few spreads": {"npz": lambda folder: changed_facts(folder, spreads=np.ones(2))},
    "negative spreads": {"npz": lambda folder: changed_facts(folder, spreads=-np.ones(6))},
    "a list of times": {"npz": lambda folder: changed_facts(folder, seconds=np.ones(2))},
    "endless": {"npz": lambda folder: changed_facts(folder, seconds=np.asarray(np.inf))},
    "a later kind of zip": {"npz": later_zip},
    "objects": {"npz": lambda folder: changed_facts(folder, unseen=np.full(target().rows, None))},
    "nothing to score": {"rankinite": lambda folder: model_bytes(rk.Feature("elsewhere"), folder)},
}
"""What a folder of trials may contain, by the file that is replaced."""


def changed_facts(folder, **changed):
    with np.load(folder / "trada.npz") as stored:
        facts = dict(stored)
    content = io.BytesIO()
    np.savez(content, **{**facts, **changed})
    return content.getvalue()


def model_bytes(ranker, folder):
    ranker.save(folder / "other")
    return (folder / "other").read_bytes()


@pytest.mark.parametrize("forged", FORGERIES)
def test_forged_trials_are_not_used(counted, kept, forged):
    """Not even where the seal was forged with it, if it could not be a trial."""
    first, home = kept
    [folder] = home.iterdir()
    for ending, content in {end: make(folder) for end, make in FORGERIES[forged].items()}.items():
        (folder / f"trada.{ending}").write_bytes(content)
    if "json" not in FORGERIES[forged] and forged != "another model":
        seal = json.loads((folder / "trada.json").read_bytes())
        seal["sha256"] = {
            end: hashlib.sha256((folder / f"trada.{end}").read_bytes()).hexdigest() for end in ("npz", "rankinite")
        }
        (folder / "trada.json").write_text(json.dumps(seal))
    again = choose(background(), target(), keep=home, curve=False)
    assert fits(counted) == {"lambdaboost": 0, "trada": 6, "smart": 0}
    assert again.unseen.to_json() == first.unseen.to_json()
    assert "made again" in again.warnings[0]


def test_trials_of_other_code_are_not_used(counted, kept, monkeypatch):
    monkeypatch.setattr("rankinite.adapt.trial_store.code_key", lambda: "another")
    choose(background(), target(), keep=kept[1], curve=False)
    assert fits(counted)["trada"] == 6


@pytest.mark.parametrize("harm", ["junk", "names", "sizes", "shape", "infinite"])
def test_a_forged_learning_curve_is_not_used_either(counted, tmp_path, harm):
    first = choose(background(), target(16), keep=tmp_path)
    [path] = tmp_path.rglob("curve*.npz")
    with np.load(path) as stored:
        facts = dict(stored)
    changed = {
        "junk": {},
        "names": {"names": facts["names"][::-1]},
        "sizes": {"sizes": facts["sizes"] * 0.5},
        "shape": {"values": facts["values"][:, :, :-1]},
        "infinite": {"values": facts["values"] + np.inf},
    }[harm]
    content = io.BytesIO()
    np.savez(content, **{**facts, **changed})
    path.write_bytes(b"junk" if harm == "junk" else content.getvalue())
    seal = json.loads(path.with_suffix(".json").read_bytes())
    seal["sha256"] = {"npz": hashlib.sha256(path.read_bytes()).hexdigest()}
    path.with_suffix(".json").write_text(json.dumps(seal))
    again = choose(background(), target(16), keep=tmp_path)
    assert again.curve.to_dict() == first.curve.to_dict()
    assert "made again" in again.warnings[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_all_and_finished_trials_are_kept(counted, tmp_path, threads):
    counted["trada"].trouble = KeyboardInterrupt()
    with rk.threads(threads), pytest.raises(KeyboardInterrupt):
        choose(background(), target(), keep=tmp_path, curve=False)
    assert fits(counted)["smart"] == 0
    assert sorted(path.name for path in tmp_path.rglob("*.npz")) == ["background.npz", "lambdaboost.npz", "target.npz"]
    counted["trada"].trouble, counted["trada"].fits = None, 0
    resumed = choose(background(), target(), keep=tmp_path, curve=False)
    assert fits(counted) == {"lambdaboost": 6, "trada": 6, "smart": 6}
    whole = choose(background(), target(), curve=False)
    assert (resumed.verdict, resumed.unseen.to_json()) == (whole.verdict, whole.unseen.to_json())


def test_nothing_is_left_behind_by_an_interrupt_while_a_trial_is_written(counted, tmp_path, monkeypatch):
    """The model is written first, the facts come last: only both together count."""
    task = Task({"background": background()}, target(), NDCG)
    kept = TrialStore(tmp_path, task)
    done = MethodTrial(by_name("smart"), background(), np.arange(target().rows) / 7.0, np.arange(6.0), 1.5)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("rankinite.data.io.sealed_files.write_atomically", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kept.put(done)
    assert kept.get(done.method) is None
    kept.put(done)
    found = kept.get(done.method)
    assert found is not None
    assert (found.unseen.tobytes(), found.spreads.tobytes(), found.seconds) == (
        done.unseen.tobytes(),
        done.spreads.tobytes(),
        1.5,
    )
    assert kept.get(by_name("other")) is None
    assert task_key(task) == task_key(replace(task))


# ---- methods that refuse -------------------------------------------------------------------------------------------


def test_a_method_that_refuses_the_data_is_left_out_with_its_error(counted, tmp_path):
    counted["trada"].trouble = rk.DataError("there are no counts", place="forest", remedy="Count with `infinite='clip'`")
    choice = choose(background(), target(), keep=tmp_path, curve=False)
    assert dict(choice.refusals) == {"trada": counted["trada"].trouble}
    assert dict(choice.refused) == {"trada": "forest: there are no counts. Count with infinite='clip'."}
    assert "trada: not tried. forest: there are no counts." in str(choice)
    assert "trada" not in choice.models
    counted["trada"].trouble = ZeroDivisionError()  # a fault of ours is no refusal
    with pytest.raises(ZeroDivisionError):
        choose(background(), target(), curve=False)


def test_a_baseline_that_refuses_ends_it(counted, monkeypatch):
    home = import_module("rankinite.adapt.method_choice")
    trouble = Counted(trouble=rk.DataError("no tree could be split", value=7, remedy="Give more rows"))
    methods = [replace(method, fit=trouble) if method.name == "target" else method for method in home.METHODS]
    monkeypatch.setattr(home, "METHODS", tuple(methods))
    with refused(rk.DataError, value=7):
        choose(background(), target())
