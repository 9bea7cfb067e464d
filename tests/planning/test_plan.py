"""A plan: its numbers follow from each other, its table and its warnings say what they should, and bad values are refused."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import rankinite as rk
from rankinite.errors import ArgumentError
from rankinite.planning import speed as speeds
from rankinite.planning.amounts import bandwidth_of, count_of
from rankinite.planning.job import Job
from rankinite.planning.plan import _turning_points
from rankinite.planning.speed import Speed, TreeWork, generated, measure_speed, work_of
from rankinite.trees.settings import TreeSettings
from refusals import refused

SPEED = Speed(fill=5e-10, move=2e-8, scan=1e-6, threads=4)


def made(**settings) -> rk.Plan:
    return rk.plan(**{"rows": "1e9", "features": 500, "leaves": 255, "machines": 16, "speed": SPEED, **settings})


def test_more_machines_have_fewer_rows_less_memory_and_less_to_compute():
    found = made().outlooks
    assert [one.machines for one in found] == [1, 2, 4, 8, 16, 32]
    for one, other in pairwise(found[1:]):
        assert other.rows == one.rows / 2
        assert other.memory.codes == one.memory.codes / 2
        assert other.memory.histograms == one.memory.histograms
        assert other.compute < one.compute
        assert other.network > one.network
        assert other.seconds == other.compute + other.network
    assert (found[0].messages, found[0].bytes, found[0].network) == (0, 0, 0.0)


def test_the_number_asked_for_is_in_the_table_and_marked():
    found = made(machines=12)
    assert [one.machines for one in found.outlooks] == [1, 2, 4, 8, 12, 16, 32]
    assert found.outlook.machines == 12
    shown = str(found)
    assert "12 *" in shown
    assert "1,000,000,000 rows × 500 features, 500 best-first trees of 255 leaves" in shown
    assert "like this one with 4 threads" in shown
    assert f"{found.outlook.messages:,} messages" in shown


def test_where_more_machines_stop_paying():
    times = {1: 100.0, 2: 60.0, 4: 45.0, 8: 40.0, 16: 39.0, 32: 41.0, 64: 60.0}
    assert _turning_points(times.__getitem__, 64) == (4, 16)  # 8 save a ninth of what 4 take; 32 take longer than 16
    assert _turning_points(times.__getitem__, 9) == (4, None)
    assert _turning_points(lambda count: 1.0 / count, 8) == (8, None)
    assert _turning_points(times.__getitem__, 1) == (1, None)
    slow, quick = made(network="100Mb", rows="1e6"), made(network="400Gb", rows="1e6")
    assert slow.pays_up_to < quick.pays_up_to


def test_a_plan_is_plain_numbers():
    found = made(shape="symmetric")
    assert found.leaves == 128
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["outlooks"][4]["hours"] == pytest.approx(found.outlook.seconds * 500 / 3600)
    memory = plain["outlooks"][4]["memory"]
    assert memory["total"] == memory["codes"] + memory["needed"]
    assert plain["speed"] == {"fill": 5e-10, "move": 2e-8, "scan": 1e-6, "threads": 4}
    assert made() == made(rows=10**9, machines="16", leaves=255.0)


def test_what_a_plan_warns_of():
    assert made(rows="100M", machines=16).warnings == ()
    assert ["lose precision" in one for one in made(rows="101M").warnings] == [True]
    assert made(rows="400M", row_share=0.25).warnings == ()
    assert ["is refused" in one for one in made(rows=1 << 30).warnings] == [True]
    assert ["ring" in one for one in made(rows="1M", machines=17).warnings] == [True]
    assert "Warning: sums go round a ring" in str(made(rows="1M", machines=17))


def test_draws_and_history_change_what_is_needed():
    plain = made().outlook
    assert made(row_share=0.5).outlook.compute < plain.compute
    assert made(row_share=0.5).outlook.memory.rows > plain.memory.rows  # keys
    assert made(node_row_share=0.5).outlook.bytes > 1.9 * tree_bytes(plain)
    assert made(train_history=False).outlook.messages == plain.messages - 2
    assert plain.bytes - made(train_history=False).outlook.bytes == 8 * (16 + 10**7)


def tree_bytes(outlook) -> int:
    return outlook.bytes - 8 * (16 + 10**7)


# ---- amounts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [("1e9", 10**9), ("100M", 10**8), ("1.5k", 1500), ("2G", 2 * 10**9), ("1,000", 1000), (" 7 ", 7), (1e6, 10**6), (3, 3)],
)
def test_counts_as_people_write_them(text, number):
    assert count_of("rows", text) == number
    assert isinstance(count_of("rows", text), int)


@pytest.mark.parametrize(
    "bad", ["", "many", "-5", "1.5", "0", "1e", "5X", "nan", float("nan"), float("inf"), True, None, "1e400"]
)
def test_counts_that_are_none_are_refused(bad):
    with refused(ArgumentError, owner="plan", setting="rows"):
        count_of("rows", bad)


def test_counts_beyond_reason_are_refused():
    with refused(ArgumentError, setting="rows", value="1e16"):
        count_of("rows", "1e16")


@pytest.mark.parametrize(
    ("text", "rate"),
    [("10Gb", 1.25e9), ("25Gb", 3.125e9), ("1Gb", 1.25e8), ("1.2GB", 1.2e9), ("10 Gbit/s", 1.25e9), ("10Gbps", 1.25e9)],
)
def test_networks_as_people_write_them(text, rate):
    assert bandwidth_of(text) == pytest.approx(rate)


@pytest.mark.parametrize("bad", ["", "10", "fast", "0Gb", "-1Gb", "10gb", 10, None])
def test_networks_that_are_none_are_refused(bad):
    with refused(ArgumentError, owner="plan", setting="network", value=bad):
        bandwidth_of(bad)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *[("features", 0), ("leaves", 1), ("trees", "none"), ("machines", 0), ("latency", -1.0), ("shape", "round")],
        *[("row_share", 0.0), ("train_history", 1), ("rows_per_query", "0.5"), ("machines", 10**9)],
    ],
)
def test_settings_outside_their_range_are_refused(setting, value):
    with refused(ArgumentError, setting=setting, value=value):
        made(**{setting: value})


def test_machines_without_a_query_are_refused():
    with refused(ArgumentError, setting="machines", value=20):
        made(rows=1000, machines=20)
    assert [one.machines for one in made(rows=1000, machines=10).outlooks] == [1, 2, 4, 8, 10]


# ---- speed ------------------------------------------------------------------------------------------------------------


def test_work_grows_with_rows_features_and_leaves():
    def of(**settings) -> TreeWork:
        rows = settings.pop("rows", 1000)
        return work_of(Job(rows=rows, features=settings.pop("features", 10), settings=TreeSettings(**settings)), rows)

    plain = of(leaves=16)
    assert plain == TreeWork(filled=1000 * 10 * 3.0, moved=1000 * 5.0, scanned=160.0)
    assert of(leaves=16, rows=2000).filled == 2 * plain.filled
    assert of(leaves=16, features=20).scanned == 2 * plain.scanned
    assert of(leaves=16, row_share=0.5).filled == plain.filled / 2
    assert of(leaves=16, node_row_share=0.5).filled == 1000 * 10 * 0.5 * 5.0
    assert of(leaves=16, shape="symmetric") == plain


def test_the_constants_are_those_that_the_times_were_made_of(monkeypatch):
    def timed(job, learner) -> float:
        return SPEED.seconds(work_of(job, job.rows))

    monkeypatch.setattr(speeds, "_quickest", timed)
    with rk.threads(2):
        found = measure_speed()
    assert (found.fill, found.move, found.scan) == pytest.approx((SPEED.fill, SPEED.move, SPEED.scan))
    assert found.threads == 2


def test_this_machine_can_be_measured():
    with rk.threads(1):
        found = measure_speed(10, sets=((600, 20, 7), (300, 5, 7), (200, 70, 15)))
    assert min(found.fill, found.move, found.scan) >= 0.0
    assert found.seconds(TreeWork(1e9, 1e6, 1e4)) > 0.0
    assert found.threads == 1


def test_generated_rows_have_something_to_learn():
    codes, bins, data = generated(Job(rows=205, features=3, settings=TreeSettings(), rows_per_query=10))
    assert (codes.rows, codes.features, bins.features, data.queries) == (205, 3, 3, 21)
    assert len(np.unique(data.grades)) == 5
    assert data.offsets[-1] == 205
