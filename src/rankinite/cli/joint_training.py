"""``rankinite train`` by several processes: where they are, which of them speaks, and what they have sent each other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rankinite.cli.cluster_options import ClusterOptions
from rankinite.cli.messages import detail
from rankinite.cli.mpi_runs import is_first
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.cli.verbs.train_inputs import TrainingData
    from rankinite.models.base import Ranker
    from rankinite.workers.collectives import Traffic


@contextmanager
def joint_training(
    placing: ClusterOptions, material: TrainingData, *, several: bool
) -> Generator[Callable[[], Traffic | None]]:
    """The ``with`` block in which a model is trained by the processes asked for; gives a function for what they have sent.

    ``several``: there are several fits, which workers can also make one each.
    """
    asked = placing.workers or placing.cluster
    if asked is not None and not material.is_coded and not several:
        raise ArgumentError(
            "is for data in folders of bins, which workers can read some each of",
            setting="workers" if placing.workers else "cluster",
            value=asked,
            remedy="Make them first with `rankinite bin … --shards`, or leave it out",
        )
    from rankinite.workers.mpi_group import mpi_in_force

    group = mpi_in_force()
    if group is not None and asked is not None:
        problem = "does not go with mpiexec, which has started the processes"
        raise ArgumentError(problem, setting="workers" if placing.workers else "cluster", value=asked, remedy="Leave it out")
    with placing.in_force(shares=several) as cluster:
        yield lambda: _traffic(cluster, group)


def _traffic(cluster: Any, group: Any) -> Traffic | None:
    if group is not None:
        return group.members.traffic if group.members.count > 1 else None
    return None if cluster is None else cluster.traffic


def say_traffic(traffic: Traffic | None, model: Ranker) -> None:
    """With --verbose: what a member has sent."""
    whole: Any = model
    history = getattr(whole.last_trained(), "history", None)
    if traffic is None or history is None:
        return
    rounds = max(1, history.rounds)
    detail(
        f"each member sent {traffic.messages:,} messages, {traffic.bytes_sent / 1e6:,.1f} MB: "
        f"{traffic.messages / rounds:.1f} messages and {traffic.bytes_sent / 1e6 / rounds:.2f} MB a round"
    )


def speaks() -> bool:
    """Whether this process writes the model."""
    from rankinite.workers.mpi_group import mpi_in_force

    return is_first(mpi_in_force())
