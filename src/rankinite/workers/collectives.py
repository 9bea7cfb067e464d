"""Members of a group, and the libraries that sum numbers over them: XGBoost's collective, and MPI."""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.engine.kernel import Indices
from rankinite.engine.reducer import SUM
from rankinite.errors import RankiniteError

PATIENCE = 300
"""Seconds without a word after which a member that is still connected counts as lost; one that dies is noticed at once."""


AWAKE, NAP = 0.0005, 0.0001
"""Seconds for which a process of MPI asks again and again whether the others are done, and that it sleeps between two questions
later: libraries of MPI never sleep, so that processes which share a core would wait for each other's time to be up."""


class LostMemberError(RankiniteError):
    """A member of the group is gone, or has given up, so that the others cannot go on."""


@dataclass
class Traffic:
    """What a member has sent, as it counts itself."""

    messages: int = 0
    bytes_sent: int = 0
    """Of all of them together."""

    def count(self, size: int) -> None:
        """One more message."""
        self.messages += 1
        self.bytes_sent += size


class RingMembers:
    """A group over TCP (``xgboost.collective``). It belongs to the thread that joined it."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.number: int = library.get_rank()
        self.count: int = library.get_world_size()
        self.traffic = Traffic()

    def combine(self, operation: int, values: Indices) -> None:
        """Replace the numbers by their sums or maxima over all members, in place."""
        chosen = self._library.Op.SUM if operation == SUM else self._library.Op.MAX
        values[:] = self._reduced(values, chosen)

    def gather(self, content: bytes) -> list[bytes]:
        """What every member gave: each fills its own place of an array of zeros, and the sum has all."""
        sizes = np.zeros(self.count, np.int64)
        sizes[self.number] = len(content)
        ends = np.cumsum(self._reduced(sizes, self._library.Op.SUM))
        room = np.zeros(max(1, int(ends[-1])), np.uint8)
        room[ends[self.number] - len(content) : ends[self.number]] = np.frombuffer(content, np.uint8)
        found = self._reduced(room, self._library.Op.SUM).tobytes()
        return [found[start:end] for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]

    def _reduced(self, values: Any, operation: Any) -> Any:
        self.traffic.count(values.nbytes)
        try:
            return self._library.allreduce(values, operation)
        except Exception as problem:
            raise lost() from problem


@contextmanager
def joined_ring(arguments: dict[str, Any], number: int) -> Generator[RingMembers]:
    """Join the group of a tracker as the member of this number; ``arguments`` are the tracker's."""
    collective, _ = ring_library()
    try:
        with redirect_stdout(io.StringIO()):  # every member would say which number it got
            collective.init(**arguments, dmlc_task_id=f"{number:06d}", dmlc_timeout=PATIENCE)
    except Exception as problem:
        raise lost() from problem
    try:
        found = RingMembers(collective)
        if found.number != number:
            raise LostMemberError(f"member {number} was counted as {found.number}", value=found.number)
        yield found
    finally:
        with suppress(Exception), warnings.catch_warnings():  # where a member is gone, it says so again
            warnings.simplefilter("ignore")
            collective.finalize()


def ring_library() -> tuple[Any, Any]:
    """XGBoost's collective, and its tracker, where members find each other."""
    try:
        from xgboost import collective, tracker
    except ImportError as problem:
        raise RankiniteError(
            "training one model on Dask's workers needs XGBoost, whose collective sums over machines",
            value="xgboost",
            remedy="Install it everywhere with: pip install 'rankinite[cluster]'",
        ) from problem
    return collective, tracker


class MpiMembers:
    """All processes that ``mpiexec`` started."""

    def __init__(self, library: Any) -> None:
        self._library, self._world = library, library.COMM_WORLD
        self.number: int = self._world.Get_rank()
        self.count: int = self._world.Get_size()
        self.traffic = Traffic()

    def combine(self, operation: int, values: Indices) -> None:
        """Replace the numbers by their sums or maxima over all members, in place."""
        self.traffic.count(values.nbytes)
        chosen = self._library.SUM if operation == SUM else self._library.MAX
        request = self._world.Iallreduce(self._library.IN_PLACE, values, chosen)
        impatient = time.perf_counter() + AWAKE
        while not request.Test():
            if time.perf_counter() > impatient:
                time.sleep(NAP)

    def gather(self, content: bytes) -> list[bytes]:
        """What every member gave."""
        self.traffic.count(len(content))
        return self._world.allgather(content)

    def abort(self, code: int) -> None:
        """End all processes of the group."""
        self._world.Abort(code)


def lost() -> LostMemberError:
    """The error of a member whose group has fallen apart."""
    return LostMemberError(
        "another member of the group is gone",
        value="member",
        rule="All members train one model together, and none can go on without the others",
        remedy="Look at the other members' messages; with a checkpoint, training goes on from it",
    )
