"""``rankinite plan`` prints what ``rankinite.plan`` gives."""

from __future__ import annotations

import json

import pytest

import rankinite as rk
from rankinite.errors import ArgumentError
from rankinite.planning.speed import Speed

SPEED = Speed(fill=5e-10, move=2e-8, scan=1e-6, threads=2)
WORDS = ("plan", "--rows", "1e9", "--features", 500, "--leaves", 255, "--machines", 16, "--network", "10Gb")


@pytest.fixture(autouse=True)
def known_speed(monkeypatch):
    """Nothing is measured; the threads in force are noted."""

    def measured(rows_per_query, *, train_history) -> Speed:
        from rankinite.engine.parallel import thread_count

        return Speed(SPEED.fill, SPEED.move, SPEED.scan, thread_count())

    monkeypatch.setattr("rankinite.planning.plan.measure_speed", measured)


def test_a_plan_is_printed(run):
    done = run("--threads", 2, *WORDS)
    assert done.code == 0
    assert done.out.rstrip() == str(rk.plan(rows=1e9, features=500, leaves=255, machines=16, speed=SPEED))
    assert "measured just now with 2 thread" in done.err
    assert all(len(line) <= 80 for line in done.out.splitlines()[:9])
    assert run("-q", *WORDS).err == ""


def test_every_option_reaches_the_plan(run):
    more = ("--trees", "1k", "--shape", "symmetric", "--latency", 5, "--rows-per-query", 20, "--row-share", 0.5)
    done = run(*WORDS, *more, "--no-train-history", "--threads", 3, "--json")
    found = json.loads(done.out)
    wanted = rk.plan(
        rows="1e9", features=500, leaves=255, machines=16, network="10Gb", trees=1000, shape="symmetric", latency=5.0,
        rows_per_query=20, row_share=0.5, train_history=False, speed=Speed(SPEED.fill, SPEED.move, SPEED.scan, 3),
    )  # fmt: skip
    assert found == json.loads(json.dumps(wanted.to_dict()))
    drawn = json.loads(run(*WORDS, "--node-row-share", 0.5, "--json").out)
    assert drawn["outlooks"][-1]["bytes"] > 1.5 * json.loads(run(*WORDS, "--json").out)["outlooks"][-1]["bytes"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("rows", "many"), ("features", "0"), ("leaves", "1"), ("network", "10"), ("latency", -1.0), ("rows-per-query", "0")],
)
def test_bad_values_are_refused(run, option, value):
    done = run(*WORDS, f"--{option}", value)
    assert done.code == 2
    assert isinstance(done.error, ArgumentError)
    assert done.error.setting == option.replace("-", "_")
    assert f"--{option} {value}" in done.err
    assert "measured" not in done.err
