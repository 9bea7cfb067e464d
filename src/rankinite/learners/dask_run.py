"""One model on the workers of a Dask cluster: the driver's side, and what each member does.

Folders of bins are dealt out to the workers that can read them; each joins a group (``workers/collectives``) and boosts its
part. When a member is lost, all others give up at once; the driver deals the folders out anew to those that are left, and they
go on from the rounds that were kept, to the same bytes.
"""

from __future__ import annotations

import pickle
import socket
import time
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlparse

from rankinite.binned.data import Binned
from rankinite.binned.folder import Manifest
from rankinite.engine.held_interrupts import HeldInterrupts
from rankinite.engine.parallel import threads
from rankinite.errors import RankiniteError
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.base import Callback
from rankinite.learners.boosting import Boosting
from rankinite.learners.boosting_run import boost
from rankinite.learners.joint_training import assign_shards, check_alike, facts_of_member, threads_of
from rankinite.learners.member_link import DriverLink, KeptForest, LinkAddress, MemberLink
from rankinite.models.blend import Blend
from rankinite.models.forest import Forest
from rankinite.workers.cluster import Cluster
from rankinite.workers.collectives import LostMemberError, Traffic, joined_ring, ring_library
from rankinite.workers.messages import pickled

KEEP_EVERY = 10
"""Rounds between two forests that the driver keeps."""
LISTEN = 0.05
"""Seconds to wait for a word of the first member before looking at the tasks."""
ASK_EVERY = 0.2
"""Seconds between two questions to the scheduler, who is still there."""
SETTLE = 10.0
"""Seconds that the members which are left have to give up, once one is lost."""
MOST_LOSSES = 5
"""A run that loses members more often than this ends."""


@dataclass(frozen=True)
class MemberOrder:
    """What a member is to do."""

    number: int
    ring: dict[str, Any]
    """How to join the group."""
    link: LinkAddress
    threads: int
    content: bytes
    """Learner, base, and the folders of training and validation data with who has which."""


class DaskRun:
    """One training run: the driver."""

    def __init__(
        self, cluster: Cluster, learner: Boosting, train: Binned, valid: Binned | None, base: Scorer | None,
        callbacks: Sequence[Callback],
    ) -> None:  # fmt: skip
        self.cluster, self.client = cluster, cluster.client
        self.learner, self.train, self.valid, self.base = learner, train, valid, base
        self.kept = KeptForest(KEEP_EVERY)
        self.callbacks = [self.kept, *callbacks]
        self.is_interrupted, self._interrupts = False, HeldInterrupts()
        self._asked, self._alive = 0.0, set[str]()

    def fit(self) -> Forest | Blend:
        """Train until a group comes to the end of it."""
        losses = 0
        while True:
            try:
                model, self.cluster.traffic = self._with_group()
            except LostMemberError as problem:
                losses += 1
                if losses > MOST_LOSSES:
                    raise
                warnings.warn(f"{problem.problem}; going on without it from round {self.kept.rounds}", stacklevel=2)
                time.sleep(LISTEN)
            else:
                return model

    def _with_group(self) -> tuple[Forest | Blend, Traffic]:
        """One attempt, with the workers there are."""
        addresses, known = self._workers()
        owners = assign_shards(self.train.manifests, known)
        valid_owners = None if self.valid is None else assign_shards(self.valid.manifests, known, 1)
        host = _own_address(self.client.scheduler.address)
        with _tracker(len(addresses), host) as ring, DriverLink(host, self.callbacks) as link:
            content = pickled((
                self.learner, self.base, _plain(self.train.manifests), owners,
                None if self.valid is None else _plain(self.valid.manifests), valid_owners,
            ))  # fmt: skip
            futures = [
                self.client.submit(
                    carry_part, MemberOrder(number, ring, link.address, threads_of(known, self.cluster.asked)[number], content),
                    workers=[worker], allow_other_workers=False, pure=False, retries=0,
                )
                for number, worker in enumerate(addresses)
            ]  # fmt: skip
            names = dict(zip(addresses, known, strict=True))
            try:
                return self._waited(futures, link, names)
            finally:
                link.close()  # where the first member still waits for an answer, it gives up now, and so do the others
                self._let_end(futures, names)
                self.client.cancel(futures, force=True)

    def _workers(self) -> tuple[list[str], list[dict[str, Any]]]:
        """The workers that can read a folder of the training data, at most one for each folder, and what they say."""
        data = [_plain(one.manifests) for one in (self.train, self.valid) if one is not None]
        found = self.client.run(facts_of_member, *data, on_error="ignore")
        said: dict[str, Any] = {worker: facts for worker, facts in sorted(found.items()) if isinstance(facts, dict)}
        if not said:
            raise RankiniteError("the scheduler has no workers left", value=0, remedy="Start some, and run this again")
        check_alike(list(said.values()))
        able = {worker: facts for worker, facts in said.items() if facts["readable"][0]} or said
        owners = assign_shards(self.train.manifests, list(able.values()))
        used = [worker for number, worker in enumerate(able) if number in owners]
        return used, [able[worker] for worker in used]

    def _waited(self, futures: list[Any], link: DriverLink, names: dict[str, Any]) -> tuple[Forest | Blend, Traffic]:
        """Answer the first member until all are done; raises what ended them otherwise.

        Ctrl-C waits for the end of an answer, which it would cut in two, and is then told to the member.
        """
        with self._interrupts.watched():
            pass
        try:
            while not all(future.done() for future in futures):
                try:
                    with self._interrupts.held():
                        link.is_interrupted = self.is_interrupted
                        link.answer(LISTEN)
                        self._look(futures, names)
                except KeyboardInterrupt:
                    if self.is_interrupted:
                        raise
                    self.is_interrupted = True
        finally:
            self._interrupts.forget()
        if not all(future.status == "finished" and _answer(future)[0] for future in futures):
            self._fail(futures, names)
        return _answer(futures[0])[1]

    def _look(self, futures: list[Any], names: dict[str, Any]) -> None:
        """Raise what has ended a member, if one has ended before its time."""
        failed = any(future.status == "error" or (future.done() and not _answer(future)[0]) for future in futures)
        if failed or self._gone(names):  # with a worker its task is gone
            self._fail(futures, names)

    def _gone(self, names: dict[str, Any]) -> list[str]:
        """The names of members whose workers the scheduler no longer has; it is asked a few times in a second at most."""
        if time.monotonic() > self._asked + ASK_EVERY:
            self._asked, self._alive = time.monotonic(), set(self.client.nthreads())
        return [facts["name"] for worker, facts in names.items() if worker not in self._alive]

    def _let_end(self, futures: list[Any], names: dict[str, Any]) -> None:
        """Wait until all members that are left have ended: they take leave of the tracker, which must still be there."""
        end = time.monotonic() + SETTLE
        while time.monotonic() < end and sum(future.done() for future in futures) + len(self._gone(names)) < len(futures):
            time.sleep(LISTEN)

    def _fail(self, futures: list[Any], names: dict[str, Any]) -> None:
        """Wait until all that are left have given up; raise the cause."""
        self._let_end(futures, names)
        problems = [_problem(future) for future in futures if future.done()]
        known = [problem for problem in problems if problem is not None]
        for problem in known:
            if not isinstance(problem, LostMemberError):
                raise problem
        gone = self._gone(names)
        raise LostMemberError(
            f"the member {', '.join(gone)} is gone" if gone else "members have lost each other",
            value=gone,
            remedy="Start workers again; with a checkpoint, training goes on from it",
        )


def carry_part(order: MemberOrder) -> bytes:
    """On a worker: boost one's part together with the others. What it gives, or the error, comes back as bytes."""
    learner, base, manifests, owners, valid_manifests, valid_owners = pickle.loads(order.content)  # noqa: S301 - sent by the driver
    try:
        with threads(order.threads), joined_ring(order.ring, order.number) as members:
            train = part_of(manifests, owners, members)
            valid = None if valid_manifests is None else part_of(valid_manifests, valid_owners, members)
            link = MemberLink(order.link, "checkpoint") if order.number == 0 else None
            try:
                model = boost(learner, train, valid, base, () if link is None else [link])
            finally:
                if link is not None:
                    link.close()
            result: Any = (True, (model, members.traffic) if order.number == 0 else None)
    except (RankiniteError, KeyboardInterrupt) as problem:
        result = (False, problem)
    return pickle.dumps(result)


def part_of(manifests: tuple[Manifest, ...], owners: Sequence[int], members: Any) -> Binned:
    """The folders of this member."""
    return Binned.known(manifests).part(members, members.number, owners)


def _plain(manifests: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """Manifests with paths that do not depend on where a process was started."""
    return tuple(manifest.resolved() for manifest in manifests)


def _answer(future: Any) -> Any:
    return pickle.loads(future.result())  # noqa: S301 - a worker is trusted with our code, and we with its results


def _problem(future: Any) -> BaseException | None:
    """What a task ended with; a task whose worker died counts as a lost member."""
    if future.status == "finished":
        done, result = _answer(future)
        return None if done else result
    if future.status != "error":
        return None
    problem = future.exception()
    return None if type(problem).__name__ in ("KilledWorker", "CancelledError") else problem


def _own_address(scheduler: str) -> str:
    """The address under which machines that the scheduler can reach can reach this one."""
    where = urlparse(scheduler)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((where.hostname or "127.0.0.1", where.port or 1))  # sends nothing
        return probe.getsockname()[0]


@contextmanager
def _tracker(count: int, host: str) -> Generator[dict[str, Any]]:
    """Where members find each other."""
    tracker = ring_library()[1].RabitTracker(n_workers=count, host_ip=host, sortby="task", timeout=0)
    tracker.start()
    try:
        yield tracker.worker_args()
    finally:
        with suppress(Exception):  # it complains of members that are gone
            tracker.free()
