"""``rankinite warm-up``: compile everything ahead."""

from __future__ import annotations

from time import monotonic
from typing import Annotated

import typer

from rankinite.cli import options
from rankinite.cli.messages import say
from rankinite.warming.jobs import JOBS


def warm_up(
    job: Annotated[
        list[str] | None,
        typer.Option("--job", help=f"Compile only what this needs; may be repeated. One of: {', '.join(JOBS)}."),
    ] = None,
    json: options.JsonSummary = False,
) -> None:
    """Compile everything that training and scoring need, for this machine, and keep it on disk.

    The first run of a verb on a machine compiles what it needs, which takes seconds. This does it ahead of all, with as many
    processes as --threads says: when an image is built, or before continuous integration runs. Compiled code is kept in the
    folder that NUMBA_CACHE_DIR names, else in that of the package, else in the user's folder for caches; it serves machines
    with the same kind of processor and the same versions of rankinite, Numba and Python.

    Examples:

      rankinite warm-up

      rankinite warm-up --job reading --job scoring --job measures

      NUMBA_CACHE_DIR=/opt/kernels rankinite warm-up --threads 4
    """
    from json import dumps

    from rankinite.cli.output import echo
    from rankinite.engine.kernel_folder import cache_folder
    from rankinite.warming.helpers import warm_up as compile_all

    start, done = monotonic(), dict[str, float]()

    def tell(name: str) -> None:
        done[name] = monotonic() - start
        say(f"{name}: {done[name]:.1f} s")

    compile_all(job or None, told=tell)
    folder = cache_folder()
    if json:
        echo(dumps({"seconds": done, "folder": None if folder is None else str(folder)}))
    else:
        say(f"compiled code is in {folder}")
