"""Adapting for a place to serve: only rankers that it can hold compete."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lightgbm import LGBMRanker

import rankinite as rk
from oracles.adapting import make_small
from rankinite.adapt import decision, method_choice
from rankinite.errors import ArgumentError
from rankinite.serving.exporting import plan_for
from rankinite.serving.proof import own_scores
from rankinite.serving.target import target_named
from refusals import refused

WORLD = rk.World(features=25, documents=8, noise=0.3, shift=0.4)
METHODS = ["interpolate", "lambdaboost", "trada", "smart", "average"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    make_small(monkeypatch)


@pytest.fixture(scope="module")
def market():
    return rk.synthesise(16, domain=1, world=WORLD)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """A model of LightGBM's, as a team has it in production."""
    web = rk.synthesise(40, world=WORLD)
    model = LGBMRanker(n_estimators=10, num_leaves=6, verbose=-1, n_jobs=1)
    model.fit(web.features, web.grades.astype(int), group=np.diff(web.offsets))
    path = tmp_path_factory.mktemp("production") / "lightgbm.txt"
    model.booster_.save_model(path)
    return rk.load(path)


def test_from_lightgbm_to_elasticsearch(foreign, market, tmp_path):
    """The end-to-end path: a model in production, adapted for an engine, exported, and equal to ``score`` there."""
    choice = rk.adapt.choose(foreign, market, methods=METHODS, deployable="es-ltr", curve=False)
    assert "lambdaboost" in choice.refused  # a linear correction: the engine holds trees, or a linear model, not both
    assert "deployable" not in choice.refused["lambdaboost"]
    assert {"interpolate", "trada", "smart", "average"} <= {trial.method.name for trial in choice.trials}
    for trial in choice.trials:
        made = rk.export(trial.ranker, tmp_path / trial.method.name, to="es-ltr", sample=market, served_missing="nan")
        assert made.exactness == "float32"
        scale = np.abs(trial.ranker.score(market)).max() + abs(made.shift)
        assert made.check.largest_difference <= 1e-5 * scale
        target = target_named("es-ltr")
        plan = plan_for(trial.ranker, target, name="model", served_missing="nan")
        rows = market.features[:, columns(market, plan.names)]
        served = target.twin(target.write(plan), plan)(rows)
        assert np.abs(served - plan.shift - own_scores(plan, rows)).max() <= 1e-5 * scale


def columns(data, names):
    return [data.feature_names.index(name) for name in names]


def test_every_method_says_where_it_can_be_served(foreign, market):
    choice = rk.adapt.choose(foreign, market, methods=["lambdaboost", "trada"], curve=False)
    costs = choice.costs
    assert set(costs) == {trial.method.name for trial in choice.trials}
    assert "es-ltr" not in costs["lambdaboost"].served_by
    assert costs["lambdaboost"].served_by["mlflow"] == "exact"
    assert costs["trada"].served_by["lightgbm"] == "exact"
    assert costs["background"].times_background == 1.0
    assert all(cost.microseconds > 0.0 for cost in costs.values())
    assert choice.to_dict()["methods"]["trada"]["served_by"] == dict(costs["trada"].served_by)


def test_the_verdict_says_which_engines_cannot_serve_its_ranker(foreign, market, tmp_path):
    choice = rk.adapt.choose(foreign, market, methods=["lambdaboost", "trada"], curve=False)
    for name, is_linear in (("lambdaboost", True), ("trada", False)):
        for taken in ("deploy", "try online"):
            verdict = replace(choice.verdict, name=name, best=name, decision=taken)
            said = [text for text in replace(choice, verdict=verdict).recommendation() if "es-ltr" in text]
            assert len(said) == is_linear
        assert all("solr-ltr" in text and "deployable" in text and "vespa" not in text for text in said)
    with refused(ArgumentError, value=("a linear ranker",)) as caught:
        rk.export(choice.models["lambdaboost"], tmp_path / "shop", to="es-ltr")
    assert "deployable" in caught.value.remedy
    kept = replace(choice.verdict, name="lambdaboost", best="lambdaboost", decision="keep")
    assert "es-ltr" not in " ".join(replace(choice, verdict=kept).recommendation())


def test_among_equals_the_ranker_is_chosen_that_the_backgrounds_engines_can_serve(foreign, market, monkeypatch):
    monkeypatch.setattr(decision, "standard_error", lambda _gains: np.inf)  # all are equal
    monkeypatch.setattr(method_choice, "lost_engines", lambda _costs, name: [] if name == "trada" else ["es-ltr"])
    choice = rk.adapt.choose(foreign, market, methods=["lambdaboost", "trada"], curve=False)
    assert choice.name == "trada"


def test_a_background_that_cannot_be_served_is_compared_with_all_the_same(market):
    net = rk.LambdaRank(hidden=(3,), epochs=2, restarts=0).fit(rk.synthesise(20, world=WORLD))
    choice = rk.adapt.choose(net, market, methods=["smart", "interpolate"], deployable="lightgbm", curve=False)
    assert {"smart", "interpolate"} <= set(choice.refused)
    assert [trial.method.name for trial in choice.trials] == ["background", "target"]
    assert any("background" in note and "lightgbm" in note for note in choice.warnings)


def test_unknown_places_are_refused(foreign, market):
    with refused(ArgumentError, setting="deployable", value="lucene"):
        rk.adapt.choose(foreign, market, deployable="lucene")
