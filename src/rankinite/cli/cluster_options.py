"""Options that say where fits are made: here, on processes of this machine, or on a cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rankinite.cli.interrupts import CLOSING, PATIENCE
from rankinite.errors import ArgumentError

_PANEL = "Where fits are made"


@dataclass(frozen=True)
class ClusterOptions:
    """The workers of verbs that make many fits; the results are the same bytes with any of them."""

    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes on this machine, each with its share of the cores; if left out, this process alone.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            help="The address of a running Dask scheduler, as in tcp://head:8786, or the JSON file it writes.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    share: Annotated[
        Path | None,
        typer.Option(
            help="A folder for data and finished fits that all machines of --cluster see under the same path.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    @property
    def patience(self) -> float:
        """Seconds that an interrupted run has to end by itself."""
        return PATIENCE if self.workers is None and self.cluster is None else CLOSING

    def in_force(self, *, shares: bool = True) -> AbstractContextManager[Any]:
        """The ``with`` block in which fits are sent to the workers asked for; ``shares``: by a folder that all see."""
        if self.workers is not None and self.cluster is not None:
            raise ArgumentError(
                "does not go with `cluster`, which has workers of its own",
                setting="workers",
                value=self.workers,
                remedy="Leave one of them out",
            )
        where = self.workers or self.cluster
        if where is None:
            if self.share is not None:
                problem = "is for workers, but there are none"
                raise ArgumentError(problem, setting="share", value=str(self.share), remedy="Give `cluster` or `workers` too")
            return nullcontext()
        if shares and self.cluster is not None and self.share is None:
            raise ArgumentError(
                "needs a folder that its workers share with this machine",
                setting="cluster",
                value=self.cluster,
                remedy="Give `share`, such as a folder of a network file system",
            )
        from rankinite.engine.parallel import chosen_threads
        from rankinite.workers.cluster import cluster

        return cluster(where, share=self.share, threads=None if shares else chosen_threads())
