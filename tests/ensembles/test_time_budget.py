"""Ensembles in less time: what a plan leaves out follows from the times alone, and a plan that was kept is the same again."""

from __future__ import annotations

import pytest

import rankinite as rk
from rankinite.ensembles import challenge, time_budget
from rankinite.ensembles.time_budget import TimePlan, kept_plan, plan_for, thinned
from rankinite.ensembles.trainers import OnePartOut
from refusals import refused

DATA = rk.synthesise(20, world=rk.World(features=3, documents=5))
SECONDS = {"LambdaMART": 10.0, "LambdaRank": 2.0, "MART": 4.0}
"""Of one fit on all data."""


@pytest.fixture(autouse=True)
def timed(monkeypatch):
    monkeypatch.setattr(time_budget, "_seconds", lambda learner, _data: SECONDS[type(learner).__name__])


COSTS = {
    **dict.fromkeys(("M1", "M5"), 90.0),  # ten fits on nine tenths
    **dict.fromkeys(("M2", "M6"), 540.0),  # with five times the rows more
    **dict.fromkeys(("M3", "M7"), 405.0),
    **dict.fromkeys(("M4", "M8"), 110.0),  # five fits of the source
    **dict.fromkeys(("M9", "M10"), 1.8),
    **dict.fromkeys(("M11", "M12"), 3.6),
}


def test_times_are_those_of_all_fits():
    plan = plan_for(challenge().trainers, DATA, 1000.0)
    assert plan.seconds == pytest.approx(sum(COSTS.values()))
    assert (plan.most_fits, plan.left_out) == (None, ())
    assert plan_for(challenge().trainers, DATA, 1000.0, rounds=1.8).seconds == pytest.approx(1.8 * plan.seconds)
    assert plan.applied(challenge().trainers) == challenge().trainers


@pytest.mark.parametrize(
    ("minutes", "fits", "left_out"),
    [(38.5, None, ()), (20.0, 5, ()), (13.0, 3, ()), (5.0, 1, ()), (3.0, 1, ("M2",)), (1.0, 1, ("M2", "M6", "M3", "M7"))],
)
def test_bags_become_smaller_first_and_then_the_costliest_members_go(minutes, fits, left_out):
    trainers = challenge().trainers
    plan = plan_for(trainers, DATA, minutes)
    assert (plan.most_fits, plan.left_out[: len(left_out)]) == (fits, left_out)
    kept = plan.applied(trainers)
    assert list(kept) == [name for name in trainers if name not in plan.left_out]
    assert plan.seconds <= minutes * 60
    assert bool(fits) == ("fit" in plan.sentences()[0])
    for name in plan.left_out:
        assert name in plan.sentences()[0]


def test_two_members_are_always_left():
    plan = plan_for(challenge().trainers, DATA, 0.001)
    assert list(plan.applied(challenge().trainers)) == ["M9", "M10"]
    assert "two members are always trained" in plan.sentences()[0]
    with refused(rk.ArgumentError, owner="plan_for", setting="minutes", value=0):
        plan_for(challenge().trainers, DATA, 0)


def test_fewer_fits_wherever_bags_and_seeds_are():
    tree = rk.LambdaMART.plain(row_share=0.5)
    nested = rk.Seeds(rk.Bag(rk.Augmented(tree), 10), 4)
    assert thinned(nested, 3) == rk.Seeds(rk.Bag(rk.Augmented(tree), 10, members=3), 3)
    assert thinned(nested, None) is nested
    assert thinned(rk.Bag(tree, 10, members=2), 3) == rk.Bag(tree, 10, members=2)
    single = {f"part {number}": OnePartOut(tree, 10, number) for number in range(10)}
    assert plan_for(single, DATA, 1.0).most_fits is None  # there is nothing to thin
    assert len(plan_for(single, DATA, 1.0).applied(single)) == 6


def test_a_plan_is_kept_for_the_same_members_and_minutes(tmp_path, monkeypatch):
    trainers, path = challenge().trainers, tmp_path / "plan.toml"
    plan = plan_for(trainers, DATA, 3.0)
    plan.write(path)
    monkeypatch.setitem(SECONDS, "LambdaMART", 0.1)  # a faster machine: the plan stays
    assert kept_plan(path, trainers, 3.0) == plan
    assert kept_plan(path, trainers, 4.0) is None
    assert kept_plan(path, challenge(max_grade=2).trainers, 3.0) is None
    whole = TimePlan(plan.recipe, 3.0, None, (), 1.5)
    whole.write(path)
    assert kept_plan(path, trainers, 3.0) == whole
    path.write_text("minutes = 'x'")
    assert kept_plan(path, trainers, 3.0) is None
    assert kept_plan(tmp_path / "none", trainers, 3.0) is None
