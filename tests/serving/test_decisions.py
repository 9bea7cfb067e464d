"""Missing values and negative scores are decided, not inherited."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.history import MISSING_VALUES
from rankinite.serving.decisions import missing_decided, shift_decided, version_of
from rankinite.serving.flattening import flatten
from rankinite.serving.plan import lowest_score, zero_directions
from rankinite.serving.target import BOTH, ZERO, Files, Target, Twin
from refusals import refused


class Engine(Target):
    """An engine with a rule of its own."""

    name = "engine"
    title = "an engine"
    is_engine = True
    shifts = True
    versions = "as in 3.4"
    rules = BOTH

    def missing_rules(self, version):
        return self.rules

    def write(self, plan) -> Files:
        return {}

    def twin(self, files, plan) -> Twin:
        return lambda matrix: matrix[:, 0]


def engine(rules=BOTH, *, is_engine: bool = True) -> Engine:
    made = Engine()
    made.rules, made.is_engine = rules, is_engine
    return made


def trained(missing: bool | None):
    forest = random_forest(1)
    settings = dict(forest.settings) if missing is None else {**forest.settings, MISSING_VALUES: missing}
    return flatten(replace(forest, settings=settings))


def test_what_was_asked_for_is_done():
    for asked in ("nan", "zero"):
        assert missing_decided(engine(), (), trained(None), asked) == asked


def test_what_the_engine_cannot_do_is_refused():
    with refused(ArgumentError, setting="served_missing", value="nan"):
        missing_decided(engine(ZERO), (), trained(None), "nan")
    with refused(ArgumentError, setting="served_missing", value="zero"):
        missing_decided(engine(frozenset({"nan"})), (), trained(None), "zero")
    with refused(ArgumentError, setting="served_missing", value="none"):
        missing_decided(engine(), (), trained(None), "none")


def test_engines_fill_in_0_for_models_that_never_saw_a_missing_value():
    assert missing_decided(engine(), (), trained(False), None) == "zero"
    assert missing_decided(engine(), (), trained(True), None) == "nan"
    assert missing_decided(engine(is_engine=False), (), trained(False), None) == "nan"


def test_nothing_is_assumed_where_the_rule_differs_from_the_training_data():
    for missing in (True, None):
        with refused(ArgumentError, setting="served_missing", value=None):
            missing_decided(engine(ZERO), (), trained(missing), None)
    assert missing_decided(engine(ZERO), (), trained(False), None) == "zero"
    alike = flatten(zero_directions(random_forest(1)))
    assert missing_decided(engine(ZERO), (), alike, None) == "zero"


def test_training_that_went_on_from_data_with_missing_values_counts():
    forest = random_forest(1)
    settings = {"learner": "LambdaMART", MISSING_VALUES: False, "base": {MISSING_VALUES: True}}
    with refused(ArgumentError, setting="served_missing"):
        missing_decided(engine(ZERO), (), flatten(replace(forest, settings=settings)), None)


@pytest.mark.parametrize("missing", [True, False])
def test_trained_forests_say_whether_values_were_missing(missing):
    data = rk.synthesise(20)
    features = data.features.copy()
    if missing:
        features[3, 0] = np.nan
    forest = rk.LambdaMART.plain(trees=2, leaves=3).fit(replace(data, features=features))
    assert forest.settings[MISSING_VALUES] is missing


@pytest.mark.parametrize("seed", range(20))
def test_no_shifted_score_is_below_0(seed):
    forest = random_forest(seed, trees=8)
    shift = shift_decided(engine(), flatten(forest), None)
    assert shift == int(shift)
    assert lowest_score(forest) + shift >= 0.0
    rows = np.random.default_rng(seed).normal(size=(200, 3))
    assert (forest.score(rows) >= lowest_score(forest) - 1e-12).all()


def test_shifts_that_were_asked_for():
    flat = flatten(random_forest(1))
    assert shift_decided(engine(), flat, "none") == 0.0
    assert shift_decided(engine(), flat, "2.5") == 2.5
    assert shift_decided(engine(), flat, -3) == -3.0
    for wrong in ("some", "nan", "inf"):
        with refused(ArgumentError, setting="shift", value=wrong):
            shift_decided(engine(), flat, wrong)


def test_what_has_no_lowest_score_is_shifted_by_numbers_alone():
    linear = flatten(rk.Linear(("f0",), np.ones(1)))
    assert shift_decided(engine(), linear, None) == 0.0
    assert shift_decided(engine(), linear, 2) == 2.0
    with refused(ArgumentError, setting="shift", value="auto"):
        shift_decided(engine(), linear, "auto")


def test_versions():
    assert version_of(engine(), "3.4") == (3, 4)
    assert version_of(engine(), None) == ()
    for wrong in ("three", "3.", "", "3.4-beta"):
        with refused(ArgumentError, setting="engine_version", value=wrong):
            version_of(engine(), wrong)
    plain = engine()
    plain.versions = ""
    with refused(ArgumentError, setting="engine_version", value="3"):
        version_of(plain, "3")
