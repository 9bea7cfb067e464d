"""Members that die, differ or cannot read: the others end, and the run goes on to the same bytes or says why it cannot."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from multiprocessing import AuthenticationError
from pathlib import Path

import distributed
import pytest
import xgboost

import rankinite as rk
from joint.places import mpiexec, needs_mpi
from rankinite.learners import joint_training
from rankinite.learners.member_link import DriverLink, MemberLink
from rankinite.models.files.container import model_bytes
from refusals import refused

pytestmark = [pytest.mark.slow, pytest.mark.tools("mpiexec")]

LEARNER = rk.LambdaMART(trees=25, leaves=8, min_rows=3, row_share=0.8)
DATA = rk.synthesise(60, world=rk.World(features=20, documents=20, noise=0.3))
VALID = rk.synthesise(20, part="valid", world=rk.World(features=20, documents=20, noise=0.3))


def saved(ranker) -> bytes:
    return model_bytes(ranker.stored())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("faults")
    train = rk.bin(DATA, root / "shards", shards=4)
    rk.bin(VALID, root / "valid.bins", like=train)
    return root


@pytest.fixture(scope="module")
def here():
    return saved(LEARNER.fit(DATA, VALID))


@contextmanager
def two_workers():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs=100
    ) as local, distributed.Client(local, set_as_default=False) as found:  # fmt: skip
        yield found


@pytest.fixture(scope="module")
def client():
    """For tests that leave its workers as they were."""
    with two_workers() as found:
        yield found


@pytest.fixture
def mortal_client():
    """For tests that kill a worker, or change it."""
    with two_workers() as found:
        yield found


def opened(folders):
    return rk.Binned(sorted((folders / "shards").iterdir())), rk.Binned(folders / "valid.bins")


class Killing:
    """A callback that kills a process in the middle of the round after this one, once."""

    def __init__(self, process: int, after: int):
        self.process, self.after, self.rounds = process, after, []

    def __call__(self, progress):
        self.rounds.append(progress.round)
        if progress.round == self.after and self.process:
            process, self.process = self.process, 0
            threading.Timer(0.005, os.kill, (process, signal.SIGKILL)).start()


def test_a_member_that_is_killed_costs_a_few_rounds_and_no_byte(mortal_client, folders, here):
    processes = list(mortal_client.run(os.getpid).values())
    killing = Killing(processes[1], after=14)
    with (
        rk.cluster(mortal_client.get_executor(pure=False)),
        pytest.warns(UserWarning, match=r"is gone; going on without it from round 10"),
    ):
        assert saved(LEARNER.fit(*opened(folders), callbacks=[killing])) == here
    assert killing.rounds.count(11) == 2  # rounds behind the last kept forest are made again
    assert killing.rounds.count(10) == 1


def test_a_folder_that_only_the_dead_could_read_is_named(mortal_client, folders, tmp_path):
    shutil.copytree(folders / "shards", tmp_path / "shards")
    train = rk.Binned(sorted((tmp_path / "shards").iterdir()))
    process = next(iter(mortal_client.run(os.getpid).values()))

    def lose_a_folder(progress):
        if progress.round == 3 and train.manifests[2].folder.exists():
            shutil.move(train.manifests[2].folder, tmp_path / "gone")
            os.kill(process, signal.SIGKILL)

    named = refused(rk.DataError, value=str(train.manifests[2].folder))
    with rk.cluster(mortal_client.get_executor(pure=False)), pytest.warns(UserWarning, match="is gone"), named as caught:
        LEARNER.fit(train, callbacks=[lose_a_folder])
    assert "no member can read this folder" in caught.value.problem


def test_a_machine_of_another_kind_is_named(mortal_client, folders):
    worker = sorted(mortal_client.run(os.getpid))[1]

    def pretend():
        joint_training._processor = lambda: "x86_64 oldbridge"

    mortal_client.run(pretend, workers=[worker])
    with rk.cluster(mortal_client.get_executor(pure=False)), refused(rk.RankiniteError, value="x86_64 oldbridge") as caught:
        LEARNER.fit(*opened(folders))
    assert f":{mortal_client.run(os.getpid)[worker]} has processor x86_64 oldbridge, but" in caught.value.problem


def test_what_a_callback_raises_is_raised_and_what_it_ends_is_ended(client, folders):
    class OwnError(Exception):
        pass

    def fail(progress):
        if progress.round == 2:
            raise OwnError

    with rk.cluster(client.get_executor(pure=False)):
        with pytest.raises(OwnError):
            LEARNER.fit(*opened(folders), callbacks=[fail])
        ended = LEARNER.fit(*opened(folders), callbacks=[lambda progress: progress.round == 4])
    assert ended.history.stopped == "callback"
    assert ended.history.rounds == 4
    assert saved(ended) == saved(LEARNER.fit(DATA, VALID, callbacks=[lambda progress: progress.round == 4]))


def test_a_checkpoint_of_one_machine_is_gone_on_from_by_several(client, folders, here, tmp_path):
    train = rk.Binned(sorted((folders / "shards").iterdir()))
    valid = rk.Binned(folders / "valid.bins")
    kept = rk.Checkpoint(tmp_path / "kept", every=5)
    LEARNER.fit(train, valid, callbacks=[kept, lambda progress: progress.round == 12])
    rounds = []
    with rk.cluster(client.get_executor(pure=False)):
        again = [rk.Checkpoint(tmp_path / "kept", every=5), lambda progress: rounds.append(progress.round)]
        assert saved(LEARNER.fit(train, valid, callbacks=again)) == here
    assert rounds[0] == 11


@pytest.mark.parametrize("kind", [ConnectionRefusedError, BrokenPipeError, EOFError])
def test_a_callback_that_cannot_connect_is_not_taken_for_a_lost_member(kind, client, folders):
    def fail(progress):
        raise kind("not the link")

    with rk.cluster(client.get_executor(pure=False)), pytest.raises(kind, match="not the link"):
        LEARNER.fit(*opened(folders), callbacks=[fail])


def test_strangers_at_the_drivers_port_are_sent_away():
    told = []
    with DriverLink("127.0.0.1", [lambda progress: told.append(progress.round)]) as link:
        silent = socket.create_connection(link.address[:2])
        rude = socket.create_connection(link.address[:2])
        rude.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises((AuthenticationError, OSError, EOFError)):
            MemberLink(link.address._replace(secret=b"x" * 32), "")
        member = MemberLink(link.address, "")
        facts = {"round": 7, "rounds": 9, "measure": "ndcg", "train": None, "valid": None, "best": 7}
        answers = []
        asking = threading.Thread(target=lambda: answers.append(member(rk.Progress(**facts, ranker=lambda: None))))
        asking.start()
        while not answers:
            link.answer(0.05)
        asking.join()
        for one in (silent, rude, member):
            one.close()
    assert told == [7]
    assert answers == [False]


def test_cores_are_shared_by_the_members_of_a_machine():
    known = [{"machine": name, "cores": cores} for name, cores in (("a", 16), ("a", 16), ("b", 4), ("c", 1), ("c", 1))]
    assert joint_training.threads_of(known, None) == [8, 8, 4, 1, 1]
    assert joint_training.threads_of(known, 3) == [3] * 5


def test_a_member_without_a_folder_is_named():
    with refused(rk.DataError, value="b:2"):
        joint_training.check_all_have_some([0, 0], [{"name": "a:1"}, {"name": "b:2"}], "shards")


def test_without_the_library_that_sums_the_remedy_is_said(client, folders, monkeypatch):
    monkeypatch.delattr(xgboost, "tracker", raising=False)
    monkeypatch.setitem(sys.modules, "xgboost.tracker", None)
    with rk.cluster(client.get_executor(pure=False)), refused(rk.RankiniteError, value="xgboost"):
        LEARNER.fit(*opened(folders))


def test_what_members_cannot_do_is_refused(client, folders):
    train, _ = opened(folders)
    with rk.cluster(client.get_executor(pure=False)):
        with refused(rk.ArgumentError, setting="step", value="exact"):
            rk.MART(step="exact").fit(train)
        with refused(rk.ArgumentError, place="McRank"):
            rk.McRank(trees=2).fit(train)
        with refused(rk.DataError, value="Dataset"):
            LEARNER.fit(train, VALID)


# ---- MPI, from the command line ----------------------------------------------------------------------------------------

TRAIN = ["train", "--trees", "25", "--leaves", "8", "--min-rows", "3", "--row-share", "0.8"]


def started(count: int, folder: Path, *words: str, **options) -> subprocess.Popen:
    rankinite = str(Path(sys.executable).with_name("rankinite"))
    shards = sorted(map(str, (folder / "shards").iterdir()))
    command = [str(mpiexec()), "-n", str(count), rankinite, *TRAIN, *shards, "--valid", str(folder / "valid.bins"), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def children_of(process: int) -> list[int]:
    """The processes that mpiexec started, by way of its own helper."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [one for child in map(int, found) for one in (children_of(child) or [child])]


@needs_mpi
def test_a_killed_process_ends_all_and_the_same_command_goes_on(folders, here, tmp_path):
    out, kept = tmp_path / "model", tmp_path / "kept"
    words = ("--out", str(out), "--checkpoint", str(kept), "--every", "5")
    run = started(2, folders, *words, "--trees", "100000", "--patience", "100000")
    while not kept.exists():
        assert run.poll() is None, run.communicate()
        time.sleep(0.005)
    os.kill(children_of(run.pid)[1], signal.SIGKILL)
    run.communicate(timeout=30)
    assert run.returncode != 0
    assert not out.exists()
    again = started(3, folders, *words)
    printed = again.communicate(timeout=120)
    assert again.returncode == 0, printed
    assert "going on from round" in printed[1]
    learnt = rk.load(out)
    assert model_bytes(learnt.stored()) == here


@needs_mpi
def test_an_error_of_all_is_said_once_and_ends_with_2(folders, tmp_path):
    run = started(5, folders, "--out", str(tmp_path / "model"))
    _, said = run.communicate(timeout=120)
    assert run.returncode == 2
    assert said.count("5 members cannot share 4 folders of bins") == 1


@needs_mpi
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_trained(sent, folders, tmp_path):
    out, kept = tmp_path / "model", tmp_path / "kept"
    words = ("--out", str(out), "--checkpoint", str(kept), "--every", "5", "--trees", "100000", "--patience", "100000")
    unignored = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731 - ignored in background shells
    run = started(2, folders, *words, preexec_fn=unignored)
    while not kept.exists():
        assert run.poll() is None, run.communicate()
        time.sleep(0.005)
    for process in children_of(run.pid) if sent == signal.SIGTERM else [run.pid]:  # as Slurm does; mpiexec hands on the other
        os.kill(process, sent)
    run.communicate(timeout=60)
    assert run.returncode == 130
    assert rk.load(out).history.stopped == "interrupted"
