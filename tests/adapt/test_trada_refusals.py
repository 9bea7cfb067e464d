"""Trada: settings, forests and data that are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.trada_forests import BINARY, LAMBDA, MART, SHAPE, SOURCE, TARGET, binary
from rankinite.adapt.methods.trada import Trada, trada
from refusals import refused

SETTINGS_REFUSED = [
    ("beta", -1.0),
    ("responses", "roots"),
    ("splits", 1),
    ("trim", "no"),
    ("same_scale", 1),
    ("loss", "logistic"),
    ("rate", 0.0),
    ("measure", ["ndcg@10", "err"]),
]


@pytest.mark.parametrize(("setting", "value"), SETTINGS_REFUSED)
def test_settings_outside_their_range_are_refused(setting, value):
    with refused(rk.ArgumentError, owner="Trada", setting=setting, value=value):
        Trada(**{setting: value})


def test_beta_must_be_a_number():
    with refused(rk.ArgumentError, owner="Trada", setting="beta"):
        Trada(beta=float("nan"))


@pytest.mark.parametrize("measure", ["p@5", "nonsense"])
def test_measures_that_cannot_be_trained_for_are_refused(measure):
    with refused(rk.MeasureError, value=measure):
        Trada(measure=measure)


def uncounted():
    bare = replace(MART.trees, rows=np.zeros_like(MART.trees.rows), curvature=np.zeros_like(MART.trees.curvature))
    return replace(MART, trees=bare)


def recording(forest, **settings):
    """The forest with only these settings in its file."""
    return replace(forest, settings=settings)


def twice(rate):
    """A forest that was trained on squared loss at rate 0.2, and then on λ-gradients at this one."""
    return recording(LAMBDA, learner="LambdaMART", rate=rate, base=dict(MART.settings))


LOSSES = ["lambda", "squared"]
"""Those of a forest that was trained in two parts, the last first."""
REFUSED = {
    "a feature": (lambda: trada(rk.Feature(0), TARGET), {"value": "Feature"}),
    "a feature, β chosen": (lambda: trada(rk.Feature(0), TARGET, None), {"value": "Feature"}),
    "a net": (lambda: trada(rk.LambdaRank(epochs=1).fit(SOURCE), TARGET), {"value": "Net"}),
    "several scores": (lambda: trada(rk.McRank(trees=2, leaves=4).fit(SOURCE), TARGET), {"value": "Forest"}),
    "no data": (lambda: trada(MART, None), {"value": "NoneType"}),
    "no counts": (lambda: trada(uncounted(), TARGET), {"place": repr(uncounted()), "value": 0}),
    "no rate": (lambda: trada(recording(MART), TARGET), {"place": repr(recording(MART)), "value": []}),
    "no loss": (lambda: trada(recording(MART), TARGET, rate=0.2), {"place": repr(recording(MART)), "value": []}),
    "a logistic loss": (lambda: trada(rk.MART(trees=2, loss="graded").fit(SOURCE), TARGET), {"value": ["graded"]}),
    "two rates": (lambda: trada(twice(rate=0.1), TARGET), {"place": repr(LAMBDA), "value": [0.1, 0.2]}),
    "two losses": (lambda: trada(twice(rate=0.2), TARGET), {"place": repr(LAMBDA), "value": LOSSES}),
    "higher grades": (lambda: trada(MART, BINARY), {"place": repr(MART), "value": 4.0}),
    "lower grades": (lambda: trada(rk.MART(**SHAPE).fit(binary(SOURCE)), TARGET), {"value": 1.0}),
}
NAMED = {
    "no rate": "`rate`",
    "no loss": "`loss`",
    "two rates": "`rate`",
    "two losses": "`loss`",
    "higher grades": "`same_scale=True`",
}
"""What the remedy names."""


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_adapted_is_refused(case):
    call, fields = REFUSED[case]
    with refused(rk.RankiniteError, **fields) as caught:
        call()
    assert NAMED.get(case, "") in caught.value.remedy


def test_target_data_that_teach_nothing_are_refused():
    for forest, data in ((MART, TARGET.with_weights(np.zeros(TARGET.queries))), (LAMBDA, TARGET.map_grades(np.zeros_like))):
        with refused(rk.DataError, place=data.source):
            trada(forest, data)
