"""A search is the same with any number of threads, goes on where it was, and says honestly what it found."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import optuna
import pytest

import rankinite as rk
from rankinite.data.folds import holdouts, k_folds
from rankinite.learners import training_bins
from rankinite.models.files.container import model_bytes
from rankinite.tuning.space import Choices, Range, default_space, paper_space
from refusals import refused

WORLD = rk.World(features=6, documents=12, noise=0.3)
TRAIN = rk.synthesise(60, world=WORLD)
VALID = rk.synthesise(30, part="valid", world=WORLD)
LEARNER = rk.LambdaMART.plain(trees=12, leaves=4, min_rows=3, patience=4, train_history=False)
SPACE = {"rate": {"low": 0.02, "high": 0.5, "log": True}, "leaves": [2, 3, 4, 6], "row_share": {"low": 0.4, "high": 1.0}}
SEARCH = {"space": SPACE, "folds": 3, "trials": 12, "generation": 4}


@pytest.fixture(scope="module")
def found():
    return rk.tune(LEARNER, TRAIN, **SEARCH)


def told(tuning):
    return [(one.number, dict(one.settings), one.state, one.values().tolist(), one.rounds) for one in tuning.trials]


def test_a_trial_is_worth_the_mean_over_test_queries_of_fits_that_stop_by_the_next_part(found):
    trial = next(one for one in found.trials if one.state == "complete")
    learner = replace(LEARNER, **trial.settings)
    values = []
    for fold in k_folds(TRAIN, 3):
        per_query = rk.evaluate(learner.fit(fold.train, fold.valid), fold.test, ["ndcg@10"])["ndcg@10"].per_query
        values += per_query[~np.isnan(per_query)].tolist()
    assert trial.mean == pytest.approx(np.mean(values), rel=1e-12)
    assert trial.values().tolist() == values


def test_trials_are_a_frame_with_a_row_each(found):
    frame = found.to_pandas()
    assert frame["trial"].tolist() == [one.number + 1 for one in found.trials]
    assert frame.loc[frame["chosen"], found.settings.keys()].iloc[0].to_dict() == found.settings
    means = dict(zip(frame["trial"], frame[str(found.measure)], strict=True))
    for one in found.best():
        assert means[one.number + 1] == one.mean
    assert found.to_polars().to_dicts() == found.to_arrow().to_pylist()
    assert r"\label{tab:trials}" in found.to_latex(label="tab:trials")


def test_the_first_trial_is_the_learner_as_given_and_the_model_has_the_rounds_of_the_folds(found):
    assert dict(found.trials[0].settings) == {"rate": 0.1, "leaves": 4, "row_share": 1.0}
    expected = replace(LEARNER, **found.chosen.settings, trees=found.chosen.rounds, patience=None)
    assert found.learner == expected
    assert model_bytes(found.ranker.stored()) == model_bytes(expected.fit(TRAIN).stored())


@pytest.mark.parametrize("threads", [1, 3])
def test_any_number_of_threads_gives_the_same_search(found, threads):
    with rk.threads(threads):
        again = rk.tune(LEARNER, TRAIN, **SEARCH)
    assert told(again) == told(found)
    assert again.estimate == found.estimate
    assert model_bytes(again.ranker.stored()) == model_bytes(found.ranker.stored())


def test_a_search_that_was_ended_goes_on_to_the_same_result(found, tmp_path):
    def stop(step):
        if step.what.startswith("trial 6"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rk.tune(LEARNER, TRAIN, **SEARCH, keep=tmp_path, watch=stop)
    made = set((tmp_path / "values").iterdir())
    assert made
    again = rk.tune(LEARNER, TRAIN, **SEARCH, keep=tmp_path)
    assert told(again) == told(found)
    assert made < set((tmp_path / "values").iterdir())
    (study,) = optuna.get_all_study_summaries(storage=storage_of(tmp_path))
    stored = optuna.load_study(study_name=study.study_name, storage=storage_of(tmp_path)).trials
    assert [one.params["leaves"] for one in stored] == [one.settings["leaves"] for one in found.trials]
    states = {"COMPLETE": "complete", "PRUNED": "dropped", "FAIL": "refused"}
    assert [states[one.state.name] for one in stored] == [one.state for one in found.trials]
    damaged = next(iter(made))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert told(rk.tune(LEARNER, TRAIN, **SEARCH, keep=tmp_path)) == told(found)


def storage_of(folder):
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(folder / "journal.log")))


JOIN = """
import sys
import rankinite as rk
from rankinite.tuning import evaluator
made = []
real = evaluator.fold_value
evaluator.fold_value = lambda task: made.append(1) or real(task)
train = rk.synthesise(60, world=rk.World(features=6, documents=12, noise=0.3))
learner = rk.LambdaMART.plain(trees=12, leaves=4, min_rows=3, patience=4, train_history=False)
found = rk.tune(learner, train, space={"rate": {"low": 0.02, "high": 0.5, "log": True}, "leaves": [2, 3, 4, 6],
    "row_share": {"low": 0.4, "high": 1.0}}, folds=3, trials=12, generation=4, keep=sys.argv[1], eager=len(sys.argv) > 2)
print(len(made), found.value, len(found.trials))
"""


def test_two_searches_share_one_journal_and_the_work(found, tmp_path):
    running = [
        subprocess.Popen([sys.executable, "-c", JOIN, str(tmp_path)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert [float(words[1]) for words in said] == [found.value] * 2
    made = [int(words[0]) for words in said]
    assert sum(made) == sum(len(one.folds) for one in found.trials) == len(list((tmp_path / "values").iterdir()))
    assert len(storage_of(tmp_path).get_all_trials(0)) == 12


@pytest.mark.slow
def test_eager_searches_join_too_and_keep_to_the_budget(tmp_path):
    running = [
        subprocess.Popen([sys.executable, "-c", JOIN, str(tmp_path), "eager"], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert 12 <= len(storage_of(tmp_path).get_all_trials(0)) <= 12 + 4  # what both have begun at the end counts
    assert all(12 <= int(words[2]) <= 16 for words in said)


def test_settings_that_surely_lose_are_dropped_after_a_fold_and_never_without_racing():
    bad = {"rate": [0.5, 0.001], "trees": [12, 1]}
    raced = rk.tune(LEARNER, TRAIN, space=bad, sampler="grid", folds=3)
    assert len(raced.trials) == 4
    dropped = [one for one in raced.trials if one.state == "dropped"]
    assert dropped
    assert all(len(one.folds) < 3 for one in dropped)
    whole = rk.tune(LEARNER, TRAIN, space=bad, sampler="grid", folds=3, race=False)
    assert {one.state for one in whole.trials} == {"complete"}
    assert sorted(str(one.settings) for one in whole.trials) == sorted(str(one.settings) for one in raced.trials)
    assert len({str(one.settings) for one in whole.trials}) == 4


def test_settings_that_cannot_be_trained_are_refused_and_the_others_win():
    found = rk.tune(LEARNER, TRAIN, space={"min_rows": [3, 10**6]}, sampler="grid", folds=3)
    assert sorted(one.state for one in found.trials) == ["complete", "refused"]
    assert found.settings == {"min_rows": 3}
    assert "min_rows=1000000" in next(one.refusal for one in found.trials if one.refusal)
    with refused(rk.ArgumentError, owner="tune", setting="space"):
        rk.tune(LEARNER, TRAIN, space={"min_rows": [10**6]}, folds=3)


def test_validation_data_judge_in_place_of_folds():
    found = rk.tune(LEARNER, TRAIN, VALID, space={"leaves": [2, 6]}, sampler="grid")
    for trial in found.trials:
        ranker = replace(LEARNER, **trial.settings).fit(TRAIN, VALID)
        assert trial.mean == pytest.approx(rk.evaluate(ranker, VALID, ["ndcg@10"])["ndcg@10"].mean)
    assert found.learner.patience == LEARNER.patience
    assert found.folds == 0


def test_outer_folds_judge_the_whole_search():
    settings = {"space": {"leaves": [2, 6]}, "sampler": "grid", "folds": 3, "trials": 2}
    found = rk.tune(LEARNER, TRAIN, outer=2, **settings)
    scores = np.empty(TRAIN.rows)
    for part in holdouts(TRAIN, 2):
        scores[part.rows] = rk.tune(LEARNER, part.rest, **settings).ranker.score(part.held)
    assert found.nested["ndcg@10"].mean == rk.evaluate(scores, TRAIN, ["ndcg@10"])["ndcg@10"].mean
    assert "outer folds" in str(found)


def test_measures_of_errors_are_made_small():
    found = rk.tune(LEARNER, TRAIN, space={"leaves": [2, 6]}, sampler="grid", folds=3, measure="pairwise-errors", race=False)
    assert found.value > 0
    assert found.value == pytest.approx(-found.chosen.mean)
    assert found.best()[0].mean >= found.best()[-1].mean


def test_minutes_end_the_search_after_a_complete_trial():
    found = rk.tune(LEARNER, TRAIN, space=SPACE, folds=3, trials=400, generation=2, minutes=1e-6)
    assert 1 <= len(found.trials) <= 4
    assert found.chosen.state == "complete"


def test_codes_of_a_fold_are_made_once_and_change_no_bytes(monkeypatch):
    calls = []
    real = training_bins.fit_bins
    monkeypatch.setattr(training_bins, "fit_bins", lambda *args, **more: calls.append(1) or real(*args, **more))
    found = rk.tune(LEARNER, TRAIN, space={"leaves": [2, 3, 4, 6]}, sampler="grid", folds=3, race=False)
    assert len(calls) <= 3 + 3 + 1  # threads may meet at a fold once; the last is the model's
    train = TRAIN.select_queries(range(40))
    plain = model_bytes(LEARNER.fit(train, VALID).stored())
    for data in (train, VALID):
        training_bins.share_bins(data)
    assert [model_bytes(LEARNER.fit(train, VALID).stored()) for _ in range(2)] == [plain] * 2
    assert found.ranker is not None


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_a_search_ends_when_all_settings_are_tried(sampler):
    found = rk.tune(LEARNER, TRAIN, space={"leaves": [2, 3], "min_rows": {"low": 3, "high": 4}}, folds=3, sampler=sampler)
    assert sorted(str(one.settings) for one in found.trials) == sorted(
        str({"leaves": leaves, "min_rows": rows}) for leaves in (2, 3) for rows in (3, 4)
    )


def test_nets_are_tuned_too():
    net = rk.RankNet(epochs=4, hidden=(3,), patience=2)
    found = rk.tune(net, TRAIN, space={"rate": [0.001, 0.01], "hidden": [[2], [4]]}, sampler="grid", folds=3)
    assert len(found.trials) == 4
    assert found.learner.hidden in {(2,), (4,)}
    assert found.learner.epochs == found.chosen.rounds


def test_spaces_by_name():
    small, large = default_space(LEARNER, 1000), default_space(LEARNER, 10**6)
    assert small["leaves"].high < large["leaves"].high
    paper = paper_space(LEARNER)
    assert paper["leaves"].values == (50, 80, 110, 140, 170, 200, 230, 260, 290, 320, 350, 380)
    assert paper["rate"].values == (0.01, 0.05, 0.1, 0.3, 0.5)
    assert paper["trees"] == Choices((3000,))
    net = paper_space(rk.LambdaRank())
    assert net["hidden"].values[0] == (10,)
    assert net["hidden"].values[-1] == (30,)
    assert min(net["rate"].values), max(net["rate"].values) == (1e-4, 1e-2)


def test_spaces_of_files_are_read_and_errors_name_file_and_setting(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("leaves = [2, 4]\nrate = {low = 0.1, high = 0.4, log = true}\nmin_rows = 3\n")
    found = rk.tune(LEARNER, TRAIN, space=path, folds=3, trials=3)
    assert all(one.settings["min_rows"] == 3 for one in found.trials)
    for text in ("leafs = [2]", "rate = {low = 0.4, high = 0.1}", "rate = {lo = 0.4}", "leaves = [1]", ""):
        path.write_text(text)
        with refused(rk.ArgumentError, place=str(path)) if text else refused(rk.ArgumentError):
            rk.tune(LEARNER, TRAIN, space=path, folds=3)
    path.write_text("leaves = [")
    with refused(rk.DataError, place=path):
        rk.tune(LEARNER, TRAIN, space=path, folds=3)
    with refused(rk.DataError, place="nowhere.toml"):
        rk.tune(LEARNER, TRAIN, space="nowhere.toml", folds=3)


@pytest.mark.parametrize(
    ("given", "setting"),
    [({"trials": 0}, "trials"), ({"minutes": 0.0}, "minutes"), ({"folds": 61}, "k"), ({"outer": 1}, "outer"),
     ({"generation": 0}, "generation"), ({"sampler": "best"}, "sampler"), ({"sampler": "grid"}, "space")],
)  # fmt: skip
def test_bad_settings_of_a_search(given, setting):
    with refused(rk.ArgumentError, setting=setting):
        rk.tune(LEARNER, TRAIN, space={"rate": Range(0.1, 0.3)}, **given)


def test_no_setting_is_chosen_by_queries_of_weight_0():
    data = TRAIN.with_weights(np.arange(60) % 3 > 0)
    every, weighed = (
        rk.tune(LEARNER, train, space={"leaves": [2, 4]}, folds=3, trials=2, outer=2)
        for train in (data, data.select_queries(data.weights > 0))
    )
    assert model_bytes(every.ranker.stored()) == model_bytes(weighed.ranker.stored())
    assert [one.values().tolist() for one in every.trials] == [one.values().tolist() for one in weighed.trials]
    assert every.nested.to_json() == weighed.nested.to_json()
