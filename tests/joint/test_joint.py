"""One model trained by several processes has the bytes of one trained here, for a set that covers every kind of tree."""

from __future__ import annotations

import distributed
import pytest

import rankinite as rk
from joint.cases import CASES, from_folders, in_memory, write_folders
from joint.places import needs_mpi, on_dask, over_mpi

pytestmark = [pytest.mark.slow, pytest.mark.tools("mpiexec")]

KINDS = sorted({case.data for case in CASES.values()})


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("joint")
    for kind in KINDS:
        write_folders(folder, kind, 3)
    return folder


@pytest.fixture(scope="module")
def here():
    """The digest of every case, from data in memory on one thread."""
    with rk.threads(1):
        return {name: in_memory(case) for name, case in CASES.items()}


@pytest.fixture(scope="module")
def dask():
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL"
    ) as local, distributed.Client(local, set_as_default=False) as client:  # fmt: skip
        yield client


def test_folders_give_the_bytes_of_data_in_memory(here, root):
    with rk.threads(2):
        assert {name: from_folders(case, root, 3) for name, case in CASES.items()} == here


def test_three_workers_of_dask_give_the_same_bytes(here, root, dask):
    assert on_dask(list(CASES), root, 3, dask) == here


@needs_mpi
def test_two_processes_of_mpi_give_the_same_bytes(here, root):
    assert over_mpi(list(CASES), root, 2, 1, shards=3) == here
