"""Plan: what training a forest would take on 1, 2, 4, … machines, and from how many on more of them do not pay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from rankinite.checks import check_flag, check_number
from rankinite.engine.memory import spelled_size
from rankinite.errors import ArgumentError
from rankinite.grid import Grid
from rankinite.planning.amounts import bandwidth_of, count_of
from rankinite.planning.exchange import Exchange, Link, round_exchange, tree_exchange
from rankinite.planning.job import Job
from rankinite.planning.memory import Memory, memory_of
from rankinite.planning.speed import Speed, measure_speed, work_of
from rankinite.plurals import counted
from rankinite.trees._state import LOW
from rankinite.trees.growth import PRECISE
from rankinite.trees.settings import Shape, TreeSettings

PAYS = 0.2
"""A doubling of the machines that saves a smaller share of the time does not pay."""
LARGEST_RING = 16
"""More machines in a ring wait for each other most of the time."""
MOST_MACHINES = 1 << 16
SHOWN = 32
"""The table goes at least so far."""


@dataclass(frozen=True)
class Outlook:
    """What training would take on so many machines."""

    machines: int
    rows: int
    """Rows of the machine that has most."""
    memory: Memory
    """Bytes on that machine."""
    messages: int
    """Messages per tree, the watched measure's included; all of them are sums over all machines."""
    bytes: int
    """Their bytes."""
    compute: float
    """Seconds per tree on a machine."""
    network: float
    """Seconds per tree of waiting for sums."""

    @property
    def seconds(self) -> float:
        """Seconds per tree."""
        return self.compute + self.network


@dataclass(frozen=True)
class Plan:
    """What training would take: made by :func:`rankinite.plan`; ``print(plan)`` shows it as a table."""

    rows: int
    features: int
    leaves: int
    """Leaves of a tree; of a symmetric one the power of two that fits."""
    trees: int
    shape: str
    machines: int
    bandwidth: float
    """Bytes that a machine can send in a second."""
    latency: float
    """Seconds from one machine to the next."""
    rows_per_query: int
    speed: Speed
    """What a machine does in a second; give it to the next plan, and nothing is measured again."""
    outlooks: tuple[Outlook, ...]
    """1, 2, 4, … machines, and the number asked for."""
    pays_up_to: int
    """From so many machines on, twice as many save less than 20 % of the time."""
    slower_from: int | None
    """From so many machines on, twice as many take longer; None: that was not seen."""
    warnings: tuple[str, ...]

    @property
    def outlook(self) -> Outlook:
        """With the number of machines asked for."""
        return next(one for one in self.outlooks if one.machines == self.machines)

    def hours(self, outlook: Outlook) -> float:
        """The time of all trees."""
        return outlook.seconds * self.trees / 3600.0

    def grid(self) -> Grid:
        """The table that is printed."""
        lines = tuple(
            (
                f"{one.machines:,}",
                spelled_size(one.memory.codes),
                spelled_size(one.memory.needed),
                _short(one.compute),
                _short(one.network),
                _short(one.seconds),
                _short(self.hours(one)),
            )
            for one in self.outlooks
        )
        chosen = [place for place, one in enumerate(self.outlooks) if one.machines == self.machines]
        return Grid(
            header=("machines", "codes", "memory", "compute", "network", "s per tree", "hours"),
            rows=lines,
            align="rrrrrrr",
            title=f"{counted(self.rows, 'row')} × {counted(self.features, 'feature')}, "
            f"{counted(self.trees, f'{self.shape} tree')} of {counted(self.leaves, 'leaf')}",
            notes=tuple(self.notes()),
            strong=frozenset((place, 0) for place in chosen),
        )

    def notes(self) -> list[str]:
        """What the table means, and what to beware of."""
        one, scale = self.outlook, "" if self.speed.threads == 1 else "s"
        notes = [
            "Codes are mapped from disk and should fit into memory beside the rest; all is per machine, seconds per tree.",
            f"{counted(one.machines, 'machine')} (*): {counted(one.rows, 'row')} each"
            + (f", {one.messages:,} messages of {spelled_size(one.bytes)} in all per tree." if one.machines > 1 else "."),
            f"From {counted(self.pays_up_to, 'machine')} on, twice as many save less than 20 %"
            + ("." if self.slower_from is None else f"; from {self.slower_from:,} on they take longer."),
            f"Machines are assumed to be like this one with {self.speed.threads} thread{scale}, and idle.",
        ]
        return [*notes, *(f"Warning: {warning}" for warning in self.warnings)]

    def to_dict(self) -> dict[str, Any]:
        """All numbers as JSON has them."""
        found = asdict(self)
        for plain, one in zip(found["outlooks"], self.outlooks, strict=True):
            plain["memory"] |= {"needed": one.memory.needed, "total": one.memory.total}
            plain |= {"seconds": one.seconds, "hours": self.hours(one)}
        return found

    def __str__(self) -> str:
        return self.grid().text()


def plan(
    *,
    rows: float | str,
    features: float | str,
    leaves: float | str = 31,
    trees: float | str = 500,
    shape: Shape = "best-first",
    machines: float | str = 1,
    network: str = "10Gb",
    latency: float = 50.0,
    rows_per_query: float | str = 100,
    row_share: float = 1.0,
    node_row_share: float = 1.0,
    train_history: bool = True,
    speed: Speed | None = None,
) -> Plan:
    """What training a forest with LambdaMART would take on machines that are not here: memory, messages, seconds.

    Numbers may be texts such as ``"1e9"`` or ``"100M"``. ``network``: what a machine can send in a second, as ``"10Gb"``
    (gigabits) or ``"1.2GB"``; ``latency``: microseconds from one machine to the next. ``row_share``, ``node_row_share`` and
    ``train_history`` are the learner's. The speed of a machine is measured on this one, with the threads in force, which takes
    some seconds; where ``speed`` is given, that of another plan, nothing is measured.

    >>> print(plan(rows="1e9", features=500, leaves=255, machines=16, network="10Gb"))          # doctest: +SKIP
    """
    check_flag("plan", "train_history", train_history)
    check_number("plan", "latency", latency, 0.0)
    job = Job(
        rows=count_of("rows", rows),
        features=count_of("features", features, 10**6),
        settings=TreeSettings(
            leaves=count_of("leaves", leaves, 10**6), shape=shape, row_share=row_share, node_row_share=node_row_share
        ),
        trees=count_of("trees", trees, 10**9),
        rows_per_query=count_of("rows_per_query", rows_per_query),
        train_history=train_history,
    )
    count, link = _shared_by(machines, job), Link(bandwidth_of(network), latency * 1e-6)
    if speed is None:
        speed = measure_speed(min(job.rows_per_query, job.rows, 1000), train_history=train_history)
    return _planned(job, count, link, speed)


def _shared_by(machines: object, job: Job) -> int:
    """The number of machines; refuses more than there are queries to share."""
    count = count_of("machines", machines, MOST_MACHINES)
    if count > job.queries:
        raise ArgumentError(
            f"is more than there are queries, {job.queries}",
            owner="plan",
            setting="machines",
            value=count,
            rule="Every machine has whole queries",
            remedy="Give fewer, or fewer `rows_per_query`",
        )
    return count


def _planned(job: Job, machines: int, link: Link, speed: Speed) -> Plan:
    def at(count: int) -> Outlook:
        return outlook_of(job, count, link, speed)

    pays, slower = _turning_points(lambda count: at(count).seconds, min(job.queries, MOST_MACHINES))
    powers = [1 << k for k in range(max(SHOWN, machines).bit_length()) if 1 << k <= job.queries]
    return Plan(
        rows=job.rows,
        features=job.features,
        leaves=job.leaves,
        trees=job.trees,
        shape=job.settings.shape,
        machines=machines,
        bandwidth=link.bandwidth,
        latency=link.latency,
        rows_per_query=job.rows_per_query,
        speed=speed,
        outlooks=tuple(at(count) for count in sorted({*powers, machines})),
        pays_up_to=pays,
        slower_from=slower,
        warnings=tuple(_warnings(job, machines)),
    )


def outlook_of(job: Job, machines: int, link: Link, speed: Speed) -> Outlook:
    """What a job takes on so many machines."""
    sent = tree_exchange(job) + round_exchange(job, machines) if machines > 1 else Exchange()
    rows = job.rows_of(machines)
    return Outlook(
        machines=machines,
        rows=rows,
        memory=memory_of(job, machines, speed.threads),
        messages=sent.messages,
        bytes=sent.bytes,
        compute=speed.seconds(work_of(job, rows)),
        network=link.seconds(sent, machines),
    )


def _turning_points(seconds: Callable[[int], float], most: int) -> tuple[int, int | None]:
    """From how many machines on a doubling saves less than a fifth of the time, and from how many on it takes longer."""
    count, pays = 1, 0
    while 2 * count <= most:
        saved = 1.0 - seconds(2 * count) / seconds(count)
        if saved < PAYS and not pays:
            pays = count
        if saved < 0.0:
            return pays, count
        count *= 2
    return pays or count, None


def _warnings(job: Job, machines: int) -> list[str]:
    found = list[str]()
    if job.rows >= 1 << LOW:
        found.append(f"a forest from {1 << LOW:,} rows or more is refused: sums of quantised gradients would not fit.")
    elif job.rows * job.tree_share > PRECISE:
        found.append(
            f"beyond {PRECISE:,} rows in a tree, quantised gradients lose precision, and rankers some quality; let each tree "
            f"draw a share of the rows, such as {PRECISE / job.rows:.2g}."
        )
    if machines > LARGEST_RING:
        found.append(f"sums go round a ring of machines, which is good to about {LARGEST_RING}; {machines:,} are untried.")
    return found


def _short(value: float) -> str:
    """Three digits, without an exponent."""
    if value >= 100.0 or value == 0.0:
        return f"{value:,.0f}"
    decimals = 2 if value >= 1.0 else 3
    return f"{value:.{decimals}f}"
