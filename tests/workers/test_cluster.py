"""Fits on workers: the same bytes as here, whoever carries them out, and whatever happens to one of them."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import distributed
import numpy as np
import pytest

import rankinite as rk
from rankinite.models.files.container import model_bytes
from rankinite.workers import shared_data
from rankinite.workers.orders import Order, answer_of, carry_out, installed
from refusals import refused

pytestmark = pytest.mark.posix("signals")

WORLD = rk.World(features=6, documents=15, noise=0.3)
TRAIN = rk.synthesise(30, world=WORLD)
LEARNER = rk.LambdaMART.plain(trees=8, leaves=4, min_rows=3, row_share=0.7)
TWO_KINDS = rk.ensembles.Average(
    {
        "bag": rk.Bag(LEARNER, parts=3),
        "sums": rk.ensembles.Summarised(rk.Bag(LEARNER, parts=2), (rk.MART(trees=3, min_rows=3),), folds=2),
        "more": rk.Augmented(LEARNER, *rk.AUG70),
    }
)


def saved(ranker) -> bytes:
    return model_bytes(ranker.stored())


@pytest.fixture(scope="module")
def dask():
    """A scheduler with two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL"
    ) as local, distributed.Client(local, set_as_default=False) as client:  # fmt: skip
        yield client


class Recording(Executor):
    """Hands orders on, and keeps what was sent."""

    def __init__(self, inner):
        self.inner, self.orders = inner, []

    def submit(self, fn, /, *args, **kwargs):
        self.orders += args
        return self.inner.submit(fn, *args, **kwargs)


@pytest.mark.slow
def test_an_ensemble_is_the_same_bytes_on_a_cluster_and_each_worker_opens_the_data_once(dask, tmp_path):
    here = saved(TWO_KINDS.fit(TRAIN))
    executor = Recording(dask.get_executor(pure=False))
    with rk.cluster(executor, share=tmp_path) as cluster:
        assert saved(TWO_KINDS.fit(TRAIN)) == here
    fits = len(list((cluster.folder / "fits").glob("*.result")))
    assert fits == 3 + 1 + (2 + 1) + 2  # the bag, the augmented one, the summaries' sources, the bag above them
    assert len(executor.orders) == fits
    opened = dask.run(lambda: dict(shared_data.openings))
    whole = shared_data._keys[TRAIN]
    assert {worker[whole] for worker in opened.values() if whole in worker} == {1}
    assert all(times == 1 for worker in opened.values() for times in worker.values())
    again = Recording(dask.get_executor(pure=False))
    with rk.cluster(again, share=tmp_path):
        assert saved(TWO_KINDS.fit(TRAIN)) == here
    assert again.orders == []  # all of it was kept


@pytest.mark.slow
def test_no_features_travel_in_messages(dask, tmp_path):
    executor = Recording(dask.get_executor(pure=False))
    with rk.cluster(executor, share=tmp_path):
        found = rk.cross_validate({"one": LEARNER, "bag": rk.Bag(LEARNER, parts=2)}, TRAIN, 3)
    assert str(found) == str(rk.cross_validate({"one": LEARNER, "bag": rk.Bag(LEARNER, parts=2)}, TRAIN, 3))
    assert len(executor.orders) == 3 * (1 + 2)
    row = np.ascontiguousarray(TRAIN.features[0]).tobytes()
    for order in executor.orders:
        sent = pickle.dumps(order)
        assert all(feature.tobytes() not in sent for feature in TRAIN.features[:50])
        assert row[:8] not in sent
    assert [path.name for path in (tmp_path / "data").iterdir()] == [shared_data._keys[TRAIN]]  # folds are selections of it


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_only_its_task(dask, tmp_path):
    slow = rk.Bag(replace(LEARNER, trees=400, leaves=8), parts=6)
    here = saved(slow.fit(TRAIN))
    pids = dask.run(os.getpid)
    killed = threading.Event()

    def kill(_progress):
        if not killed.is_set():
            killed.set()
            os.kill(next(iter(pids.values())), signal.SIGKILL)

    with rk.cluster(dask.get_executor(pure=False), share=tmp_path):
        assert saved(slow.fit(TRAIN, callbacks=[kill])) == here
    assert killed.is_set()
    dask.wait_for_workers(2, timeout=60)
    assert set(dask.run(os.getpid).values()) != set(pids.values())


@pytest.mark.slow
def test_adapting_gives_the_same_bytes_on_workers(dask, tmp_path):
    background = LEARNER.fit(rk.synthesise(40, part="valid", world=WORLD))
    settings = {"methods": ["trada", "smart", "interpolate"], "folds": 2, "curve": False}
    here = rk.adapt.choose(background, TRAIN, **settings)
    with rk.cluster(dask.scheduler.address, share=tmp_path):
        there = rk.adapt.choose(background, TRAIN, **settings)
    assert [trial.method.name for trial in there.trials] == [trial.method.name for trial in here.trials]
    for one, other in zip(here.trials, there.trials, strict=True):
        assert saved(one.ranker) == saved(other.ranker)
        np.testing.assert_array_equal(one.unseen, other.unseen)


@pytest.mark.slow
def test_a_search_is_the_same_on_workers(dask, tmp_path):
    space = {"rate": {"low": 0.05, "high": 0.5, "log": True}, "leaves": [2, 4]}
    settings = {"space": space, "folds": 3, "trials": 4, "generation": 3}
    here = rk.tune(LEARNER, TRAIN, **settings)
    executor = Recording(dask.get_executor(pure=False))
    with rk.cluster(executor, share=tmp_path):
        there = rk.tune(LEARNER, TRAIN, **settings)
    assert [one.values().tolist() for one in there.trials] == [one.values().tolist() for one in here.trials]
    assert saved(there.ranker) == saved(here.ranker)
    assert len(executor.orders) == sum(len(one.folds) for one in here.trials)


@pytest.mark.slow
def test_any_executor_will_do_and_errors_come_back_as_they_are(tmp_path):
    impossible = rk.LambdaMART.plain(min_rows=10**6)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, rk.cluster(pool, share=tmp_path):
        assert saved(rk.Seeds(LEARNER, count=2).fit(TRAIN)) == saved(
            rk.Blend(tuple((0.5, LEARNER.reseeded(number).fit(TRAIN)) for number in range(2)))
        )
        with refused(rk.DataError, place=TRAIN.source):
            rk.Bag(impossible, parts=2).fit(TRAIN)


class Deadly(rk.LambdaMART):
    """A learner that ends its process."""

    def fit(self, *_data, **_more):
        os._exit(1)


@pytest.mark.slow
def test_workers_that_end_again_and_again_are_said_to(tmp_path):
    spawning, died = get_context("spawn"), refused(rk.RankiniteError, value="BrokenProcessPool")
    with ProcessPoolExecutor(1, mp_context=spawning) as pool, rk.cluster(pool, share=tmp_path), died:
        rk.Bag(Deadly(), parts=2).fit(TRAIN)


def test_other_versions_on_a_worker_are_refused(tmp_path):
    order = Order(str(tmp_path), 1, "", {**installed(), "numpy": "1.0"}, b"never opened")
    with refused(rk.ArgumentError, value=installed()["numpy"]) as caught:
        answer_of(carry_out(order))
    assert "numpy" in str(caught.value)
    assert "1.0" in str(caught.value)


def test_a_folder_that_a_worker_does_not_see_is_named(tmp_path):
    with refused(rk.DataError, place=tmp_path / "data" / "0-0"):
        shared_data.SharedData(tmp_path).get("0-0")


def test_shared_data_that_were_changed_are_refused(tmp_path):
    data = rk.synthesise(5, world=WORLD)
    shared = shared_data.SharedData(tmp_path)
    key = shared.put(data)
    features = tmp_path / "data" / key / shared_data.FEATURES
    features.write_bytes(features.read_bytes()[:-4] + b"\0\0\0\0")
    with refused(rk.DataError, value=key):
        shared.get(key)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr("rankinite.workers.dask_client.WAIT", 1)
    with refused(rk.ArgumentError, setting="cluster", value="tcp://127.0.0.1:9"), rk.cluster("tcp://127.0.0.1:9"):
        pass
