"""Trials: scores of queries not seen, the average of them, and what is kept of an interrupted run."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import background, background_data, regraded, target, unseen, with_one_grade
from rankinite.adapt import choose
from rankinite.adapt.held_out import parts_of
from rankinite.adapt.methods.catalogue import Method
from rankinite.adapt.task import Task
from rankinite.adapt.trial import Trial, averaged, try_method
from rankinite.adapt.trial_cache import TrialStore, task_key
from rankinite.models.linear import Linear

NDCG = rk.NDCG(10)


def mean_of_grades(task: Task) -> Linear:
    """A ranker that says what it was fitted to: the features, weighted by what they have to do with the grades."""
    data = task.target
    return Linear(data.feature_names, data.grades @ data.features / data.rows)


def by_name(name, kind="linear", fit=mean_of_grades):
    return Method(name, "for a test", kind, fit, 1.0)


class Counted:
    """A way to fit that counts how often it is used."""

    def __init__(self, fit=mean_of_grades, trouble=None):
        self.fit, self.trouble, self.lock, self.fits = fit, trouble, threading.Lock(), 0

    def __call__(self, task):
        with self.lock:
            self.fits += 1
        if self.trouble is not None:
            raise self.trouble
        return self.fit(task)


@pytest.fixture
def counted(monkeypatch):
    """Three methods besides the baselines, and how often each is fitted."""
    ways = {name: Counted() for name in ("lambdaboost", "trada", "smart")}
    methods = (
        by_name("background", "baseline", lambda task: task.background),
        by_name("target", "baseline", lambda _: rk.Feature(1)),
        *(by_name(name, fit=way) for name, way in ways.items()),
    )
    monkeypatch.setattr(import_module("rankinite.adapt.choosing"), "METHODS", methods)
    return ways


def fits(ways):
    return {name: way.fits for name, way in ways.items()}


# ---- one trial -----------------------------------------------------------------------------------------------------


def tried(data, method, folds=5):
    parts = parts_of(data, NDCG, folds, 0)
    task = Task({"web": background()}, data, NDCG, folds=folds)
    told = []
    trial = try_method(method, [*(task.on(part.rest) for part in parts), task], parts, told.append)
    return trial, parts, told


@pytest.mark.parametrize("queries", [7, 14])
def test_every_judged_row_is_scored_by_a_ranker_that_did_not_see_its_query(queries):
    data = with_one_grade(target(queries), [2])
    trial, parts, told = tried(data, by_name("own"))
    assert len(parts) == (6 if queries == 7 else 5)
    fits = len(parts) + 1
    assert sorted(told) == [done / fits for done in range(fits + 1)]  # before the first, and after each
    whole = mean_of_grades(Task({}, data, NDCG))
    expected = whole.score(data)
    for part in parts:
        expected[part.rows] = mean_of_grades(Task({}, part.rest, NDCG)).score(part.held)
    assert trial.unseen.tobytes() == expected.tobytes()
    assert trial.ranker.score(data).tobytes() == whole.score(data).tobytes()
    assert trial.seconds > 0.0


def test_scores_do_not_depend_on_the_grades_of_queries_held_out_with_them():
    data, other = target(14), regraded(target(14), 3)
    before, parts, _ = tried(data, by_name("own"))
    after, _, _ = tried(other, by_name("own"))
    for part in parts:
        same = before.unseen[part.rows].tobytes() == after.unseen[part.rows].tobytes()
        assert same == (data.qids[3] in part.held.qids)
    assert before.ranker.score(data).tobytes() != after.ranker.score(data).tobytes()


# ---- the average ---------------------------------------------------------------------------------------------------


def trial(name, scale=1.0, column=0, kind="linear"):
    """Every part is scored by the same ranker, which is a column."""
    scores = scale * target().features[:, column].astype(float)
    spreads = [np.delete(scores, part.rows).std() for part in held()]
    return Trial(by_name(name, kind), scale * rk.Feature(column), scores, np.asarray([*spreads, scores.std()]), 1.0)


def held():
    return parts_of(target(), NDCG, 5, 0)


def test_the_average_weighs_its_parts_alike():
    parts = [trial("lambdaboost", 3.0, 0), trial("trada", 0.2, 1), trial("pool", 50.0, 2)]
    others = [trial("background", 7.0, 3, "baseline"), trial("target", 1.0, 4, "baseline")]
    [average] = averaged([*parts, *others], held())
    assert average.method.name == "average"
    for (weight, ranker), part in zip(average.ranker.parts, parts, strict=True):
        assert ranker is part.ranker
        assert (weight * ranker.score(target())).std() == pytest.approx(1 / 3)


def overfitted(task: Task) -> Linear:
    """A ranker whose scores vary more on the queries it was fitted to than on others, like any that overfits."""
    data, names = task.target, task.target.feature_names
    return Linear(names, np.linalg.lstsq(data.features, data.grades - data.grades.mean(), rcond=None)[0])


@pytest.mark.parametrize("queries", [6, 12])
def test_the_average_that_is_judged_is_made_by_the_rule_of_the_one_that_is_deployed(queries):
    """Each part is judged by the very blend that would be deployed if the queries left were all there are."""
    data, ways = target(queries), {"lambdaboost": mean_of_grades, "trada": overfitted}
    found = [tried(data, by_name(name, fit=fit)) for name, fit in ways.items()]
    parts = found[0][1]
    [average] = averaged([own for own, _, _ in found], parts)

    def deployed(seen):
        rankers = [fit(Task({}, seen, NDCG)) for fit in ways.values()]
        return rk.Blend(tuple((1 / (2 * ranker.score(seen).std()), ranker) for ranker in rankers))

    assert average.ranker.score(unseen()) == pytest.approx(deployed(data).score(unseen()))
    for part in parts:
        assert average.unseen[part.rows] == pytest.approx(deployed(part.rest).score(part.held))


def test_the_average_does_not_mind_the_scale_of_a_ranker_nor_of_one_part():
    parts = [trial("lambdaboost", 1.0, 0), trial("trada", 1.0, 1)]
    [before] = averaged(parts, held())
    stretched, spreads = parts[0].unseen.copy(), parts[0].spreads.copy()
    stretched[held()[2].rows] *= 128.0
    spreads[2] *= 128.0
    spreads[-1] *= 64.0
    changed = replace(parts[0], ranker=64.0 * parts[0].ranker, unseen=stretched, spreads=spreads)
    [after] = averaged([changed, parts[1]], held())
    assert after.unseen == pytest.approx(before.unseen)
    assert after.ranker.score(target()) == pytest.approx(before.ranker.score(target()))


def test_of_each_kind_the_first_there_is_takes_part():
    names = ["smart", "trada", "trada-splits", "interpolate", "pool", "lambdaboost"]
    trials = [trial(name, column=place % 5) for place, name in enumerate(names)]
    [average] = averaged(trials, held())
    chosen = [names[place] for place in (5, 2, 4)]
    assert chosen == ["lambdaboost", "trada-splits", "pool"]
    for (_, ranker), place in zip(average.ranker.parts, (5, 2, 4), strict=True):
        assert ranker is trials[place].ranker


def test_there_is_no_average_of_one():
    for trials in (
        [trial("smart")],
        [trial("smart"), trial("trada"), trial("background", kind="baseline")],
        [trial("smart"), trial("lambdaboost", 0.0)],  # constant scores say nothing
    ):
        assert averaged(trials, held()) == []


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


def test_steps_tell_how_far_it_is(counted, tmp_path):
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
    "more": {"backgrounds": [background(), rk.Feature(0)]},
    "data": {"background_data": background_data()},
    "measure": {"measure": "err"},
    "folds": {"folds": 4},
    "seed": {"seed": 1},
}


@pytest.mark.parametrize("other", OTHERS)
def test_trials_of_another_task_are_not_confused_with_it(counted, tmp_path, other):
    told = {"backgrounds": background(), "target": target(), "curve": False, "keep": tmp_path}
    choose(**told)
    before = fits(counted)["smart"]
    changed = choose(**{**told, **OTHERS[other]})
    assert fits(counted)["smart"] > before
    alone = choose(**{**told, **OTHERS[other], "keep": None})
    assert all(a.unseen.tobytes() == b.unseen.tobytes() for a, b in zip(changed.trials, alone.trials, strict=True))
    before = fits(counted)["smart"]
    choose(**told)
    assert fits(counted)["smart"] == before  # those of the first are still there


def test_the_fingerprint_says_nothing_of_test_data_and_methods(counted, tmp_path):
    told = {"backgrounds": background(), "target": target(), "curve": False, "keep": tmp_path}
    choose(**told, methods=["smart"])
    choose(**told, test=unseen(), shifted=unseen(), also=["err"], confidence=0.9)
    assert fits(counted) == {"lambdaboost": 6, "trada": 6, "smart": 6}


@pytest.mark.parametrize("ending", ["npz", "rankinite"])
@pytest.mark.parametrize("harm", ["gone", "empty", "half", "junk"])
def test_a_damaged_trial_is_made_again(counted, tmp_path, ending, harm):
    first = choose(background(), target(), keep=tmp_path, curve=False)
    [path] = tmp_path.rglob(f"trada.{ending}")
    content = path.read_bytes()
    path.unlink()
    if harm != "gone":
        path.write_bytes({"empty": b"", "half": content[: len(content) // 2], "junk": b"junk" * 100}[harm])
    again = choose(background(), target(), keep=tmp_path, curve=False)
    assert fits(counted) == {"lambdaboost": 6, "trada": 12, "smart": 6}
    assert again.verdict == first.verdict
    assert first.warnings == ()
    [note] = again.warnings
    assert "trada" in note
    assert "made again" in note
    assert choose(background(), target(), keep=tmp_path, curve=False).warnings == ()
    assert fits(counted)["trada"] == 12


def later_zip(folder):
    """An archive that says a later version of zip is needed to unpack it."""
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
"""What may stand in a folder of trials, by the file that is replaced."""


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
def test_what_was_not_kept_is_not_believed(counted, tmp_path, forged):
    """Not even where the seal was forged with it, if it could not be a trial."""
    first = choose(background(), target(), keep=tmp_path, curve=False)
    [folder] = tmp_path.iterdir()
    for ending, content in {end: make(folder) for end, make in FORGERIES[forged].items()}.items():
        (folder / f"trada.{ending}").write_bytes(content)
    if "json" not in FORGERIES[forged] and forged != "another model":
        seal = json.loads((folder / "trada.json").read_bytes())
        seal["sha256"] = {
            end: hashlib.sha256((folder / f"trada.{end}").read_bytes()).hexdigest() for end in ("npz", "rankinite")
        }
        (folder / "trada.json").write_text(json.dumps(seal))
    again = choose(background(), target(), keep=tmp_path, curve=False)
    assert fits(counted) == {"lambdaboost": 6, "trada": 12, "smart": 6}
    assert again.unseen.to_json() == first.unseen.to_json()
    assert "made again" in again.warnings[0]


def test_trials_of_other_code_are_not_used(counted, tmp_path, monkeypatch):
    choose(background(), target(), keep=tmp_path, curve=False)
    monkeypatch.setattr("rankinite.adapt.trial_cache.code_key", lambda: "another")
    choose(background(), target(), keep=tmp_path, curve=False)
    assert fits(counted)["trada"] == 12


@pytest.mark.parametrize("harm", ["junk", "names", "sizes", "shape", "infinite"])
def test_a_learning_curve_is_not_believed_either(counted, tmp_path, harm):
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
    done = Trial(by_name("smart"), background(), np.arange(target().rows) / 7.0, np.arange(6.0), 1.5)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("rankinite.adapt.trial_cache.write_atomically", interrupted)
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


def test_a_method_that_refuses_the_data_is_left_out_and_says_why(counted, tmp_path):
    counted["trada"].trouble = rk.DataError("this forest has no node counts.")
    choice = choose(background(), target(), keep=tmp_path, curve=False)
    assert dict(choice.refused) == {"trada": "as it refuses: this forest has no node counts"}
    assert "trada: not tried, as it refuses: this forest has no node counts." in str(choice)
    assert "trada" not in choice.models
    counted["trada"].trouble = ZeroDivisionError()  # a fault of ours is no refusal
    with pytest.raises(ZeroDivisionError):
        choose(background(), target(), curve=False)


def test_a_baseline_that_refuses_ends_it(counted, monkeypatch):
    home = import_module("rankinite.adapt.choosing")
    trouble = Counted(trouble=rk.DataError("no tree could be split"))
    methods = [replace(method, fit=trouble) if method.name == "target" else method for method in home.METHODS]
    monkeypatch.setattr(home, "METHODS", tuple(methods))
    with pytest.raises(rk.DataError, match="no tree could be split"):
        choose(background(), target())
