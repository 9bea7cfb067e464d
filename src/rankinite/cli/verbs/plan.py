"""``rankinite plan``: what training would take on machines that are not here."""

from __future__ import annotations

from typing import Annotated

import typer

from rankinite.cli.messages import busy, say
from rankinite.trees.settings import Shape


def plan(
    rows: Annotated[str, typer.Option(help="Rows in all: 1000000, 1e9 or 100M.", show_default=False)],
    features: Annotated[str, typer.Option(help="Features of a row.", show_default=False)],
    leaves: Annotated[str, typer.Option(help="Leaves of a tree, at most.")] = "31",
    trees: Annotated[str, typer.Option(help="Trees of the forest.")] = "500",
    shape: Annotated[Shape, typer.Option(help="How trees are grown.")] = "best-first",
    machines: Annotated[str, typer.Option(help="Machines that share the rows.")] = "1",
    network: Annotated[
        str, typer.Option(help="What a machine can send in a second: 10Gb (gigabits) or 1.2GB (gigabytes).")
    ] = "10Gb",
    latency: Annotated[float, typer.Option(help="Microseconds from one machine to the next.")] = 50.0,
    rows_per_query: Annotated[str, typer.Option(help="Rows of a query.")] = "100",
    row_share: Annotated[float, typer.Option(help="Share of the rows drawn for each tree.")] = 1.0,
    node_row_share: Annotated[float, typer.Option(help="Share of a node's rows drawn to find its split.")] = 1.0,
    train_history: Annotated[
        bool,
        typer.Option(
            "--train-history/--no-train-history", help="Whether the measure is taken on the training data after every tree."
        ),
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Estimate memory, messages and time of training one forest on machines that are not here.

    The speed is measured on this machine in a few seconds, with --threads; the others are assumed to be like it.

    Examples:

      rankinite plan --rows 1e9 --features 500 --leaves 255 --machines 16 --network 10Gb

      rankinite plan --rows 100M --features 136 --machines 4 --shape symmetric --json
    """
    from rankinite.cli.output import echo, echo_json
    from rankinite.planning.plan import plan as make_plan

    with busy("measuring the speed of this machine, a few seconds"):
        found = make_plan(
            rows=rows,
            features=features,
            leaves=leaves,
            trees=trees,
            shape=shape,
            machines=machines,
            network=network,
            latency=latency,
            rows_per_query=rows_per_query,
            row_share=row_share,
            node_row_share=node_row_share,
            train_history=train_history,
        )
    say(f"The speed is that of this machine, measured just now with {found.speed.threads} thread(s).")
    if json:
        echo_json(found.to_dict())
    else:
        echo(str(found))
