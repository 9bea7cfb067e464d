"""Inputs of a choice: what is refused before anything is trained."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import TREES, background, background_data, make_small, shuffled, target, unseen, with_one_grade
from rankinite.adapt import choose
from refusals import refused

BINARY = replace(target(), grades=np.minimum(target().grades, 1))
FEW = target().select_features(["1", "2"])
REFUSED = {
    "one query": ({"target": target(1)}, rk.DataError, {"place": target(1).source, "value": 1}),
    "two queries": ({"target": target(2)}, rk.DataError, {"place": target(2).source, "value": 2}),
    "one grade": ({"target": with_one_grade(target(4), range(4))}, rk.DataError, {"value": 0}),
    "no ranker": ({"backgrounds": len}, rk.ArgumentError, {"place": "ranker 'background'", "value": len}),
    "a path": ({"backgrounds": "web.txt"}, rk.ArgumentError, {"place": "ranker 'background'", "value": "web.txt"}),
    "not fitted": ({"backgrounds": [background(), TREES]}, rk.ArgumentError, {"place": "ranker '2'", "value": TREES}),
    "none": ({"backgrounds": []}, rk.ArgumentError, {"value": 0}),
    "features": ({"target": FEW}, rk.DataError, {"place": FEW.source, "value": "3"}),
    "valid features": ({"valid": FEW}, rk.DataError, {"place": FEW.source, "value": 2}),
    "test features": ({"test": FEW}, rk.DataError, {"place": FEW.source, "value": 2}),
    "web features": ({"background_data": FEW}, rk.DataError, {"place": FEW.source, "value": 2}),
    "test grades": ({"test": with_one_grade(target(3), range(3))}, rk.DataError, {"place": target(3).source, "value": "test"}),
    "shifted": ({"shifted": np.ones((3, 5))}, rk.DataError, {"place": "shifted", "value": "ndarray"}),
    "target": ({"target": "target.txt"}, rk.DataError, {"place": "target", "value": "str"}),
    "web": ({"background_data": [1]}, rk.DataError, {"place": "background_data", "value": "list"}),
    "scales": (
        {"target": BINARY, "background_data": background_data()},
        rk.DataError,
        {"place": background_data().source, "value": 40},
    ),
    "method": ({"methods": ["boost"]}, rk.ArgumentError, {"value": "boost"}),
    "tuning": ({"tuning": {"rate": 0.1}}, rk.ArgumentError, {"setting": "tuning", "value": {"rate": 0.1}}),
    "folds": ({"folds": 1}, rk.ArgumentError, {"owner": "choose", "setting": "folds", "value": 1}),
    "seed": ({"seed": -1}, rk.ArgumentError, {"owner": "choose", "setting": "seed", "value": -1}),
    "risk": ({"risk": 10}, rk.ArgumentError, {"owner": "choose", "setting": "risk", "value": 10}),
    "no risk": ({"risk": 0.0}, rk.ArgumentError, {"owner": "choose", "setting": "risk", "value": 0.0}),
    "tolerate": ({"tolerate": -0.01}, rk.ArgumentError, {"owner": "choose", "setting": "tolerate", "value": -0.01}),
    "all tolerated": ({"tolerate": np.inf}, rk.ArgumentError, {"owner": "choose", "setting": "tolerate", "value": np.inf}),
    "measure": ({"measure": "p@5"}, rk.MeasureError, {"value": "p@5"}),
    "errors": ({"measure": "pairwise-errors"}, rk.MeasureError, {"value": "pairwise-errors"}),
    "measures": ({"measure": ["ndcg@10", "err"]}, rk.ArgumentError, {"setting": "measure", "value": ["ndcg@10", "err"]}),
    "also": ({"also": ["nothing"]}, rk.MeasureError, {"value": "nothing"}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_before_anything_is_trained(case, monkeypatch):
    changed, error, fields = REFUSED[case]
    home = import_module("rankinite.adapt.method_choice")
    monkeypatch.setattr(home, "try_method", lambda *_: pytest.fail("something was trained"))
    with refused(error, **fields):
        choose(**{"backgrounds": background(), "target": target(), **changed})


def test_grades_on_other_scales_are_fine_where_the_user_confirms_it(monkeypatch):
    make_small(monkeypatch)
    asked = {"background_data": background_data(), "methods": ["pool", "neighbours"], "folds": 2, "curve": False}
    with refused(rk.DataError, place=background_data().source) as caught:
        choose(background(), BINARY, **asked)
    assert "same_scale=True" in caught.value.remedy
    assert set(choose(background(), BINARY, same_scale=True, **asked).models) == {"background", "target", "pool", "neighbours"}


# ---- overlap -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["valid", "test", "shifted"])
def test_queries_of_the_target_do_not_judge(name):
    with refused(rk.DataError, place=f"({name})", value=target(2).qids.tolist()):
        choose(background(), target(), methods=["trada"], **{name: rk.concat([unseen(), target(2)])})


def test_queries_that_tune_do_not_judge():
    with refused(rk.DataError, place="(test)") as caught:
        choose(background(), target(), unseen(), test=shuffled(unseen())[0], methods=["trada"])
    assert sorted(caught.value.value) == sorted(unseen().qids.tolist())


def test_queries_are_the_same_if_they_and_their_documents_have_the_same_names():
    named = [replace(data, doc_ids=[f"d{row}" for row in range(data.rows)]) for data in (background_data(), target(4))]
    rounded = replace(named[1], features=named[1].features + np.float32(0.5), grades=named[1].grades)
    with refused(rk.DataError, place="(target)", value=target(4).qids.tolist()):
        choose(background(), named[1], methods=["pool"], background_data=rk.concat([named[0], rounded]))


@pytest.mark.parametrize("other", ["target", "test"])
def test_queries_to_judge_by_may_not_be_in_the_background_data(other):
    data = {"target": target(), "test": unseen()}[other]
    leaking = rk.concat([background_data(), shuffled(data.select_queries([3]))[0]], prefixes=("a", "b"))
    with refused(rk.DataError, place=f"({other})", value=[str(data.qids[3])]):
        choose(background(), target(), test=unseen(), background_data=leaking, curve=False)
