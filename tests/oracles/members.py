"""Members of a group on threads of one process: what they combine is added up in plain NumPy, behind a barrier."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankinite.engine.reducer import SUM


@dataclass
class Group:
    """A number of members, and what they have put on the table."""

    count: int
    table: dict[int, Any] = field(default_factory=dict)
    messages: list[int] = field(default_factory=list)
    """The length of each."""

    def __post_init__(self) -> None:
        self.barrier = threading.Barrier(self.count)

    def member(self, number: int) -> GroupMember:
        return GroupMember(self, number)

    def run(self, work: Callable[[GroupMember], Any]) -> list[Any]:
        """Do the work of every member on a thread of its own."""
        found: list[Any] = [None] * self.count
        problems: list[BaseException] = []

        def one(number: int) -> None:
            try:
                found[number] = work(self.member(number))
            except BaseException as problem:  # noqa: BLE001 - raised again below
                problems.append(problem)
                self.barrier.abort()

        threads = [threading.Thread(target=one, args=(number,)) for number in range(self.count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for problem in problems:
            if not isinstance(problem, threading.BrokenBarrierError):
                raise problem
        if problems:
            raise problems[0]
        return found

    def exchange(self, number: int, given: Any) -> list[Any]:
        """What every member gave."""
        self.table[number] = given
        self.barrier.wait(60)
        found = [self.table[other] for other in range(self.count)]
        self.barrier.wait(60)
        return found


@dataclass
class GroupMember:
    """One of them."""

    group: Group
    number: int

    @property
    def count(self) -> int:
        return self.group.count

    def combine(self, operation: int, values: np.ndarray) -> None:
        every = np.asarray(self.group.exchange(self.number, values.copy()))
        if self.number == 0:
            self.group.messages.append(len(values))
        values[:] = every.sum(axis=0) if operation == SUM else every.max(axis=0)

    def gather(self, content: bytes) -> list[bytes]:
        return self.group.exchange(self.number, content)


def parts_of(rows: int, shares: Sequence[float]) -> list[slice]:
    """Consecutive rows, about these shares of all; some may be empty."""
    ends = np.round(np.cumsum(shares) * rows).astype(int)
    return [slice(int(start), int(end)) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
