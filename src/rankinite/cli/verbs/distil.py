"""``rankinite distil``: one small forest or net in place of a large ensemble."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankinite.choices import Distilling
from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.messages import say, say_all
from rankinite.cli.settings_file import RANKER

if TYPE_CHECKING:
    from rankinite.distillation.students import Distilled


@options.with_options(reading=options.Reading())
def distil(
    model: Annotated[
        str,
        RANKER,
        typer.Argument(help="The teacher: a model file.", show_default=False, autocompletion=completing.rankers),
    ],
    data: Annotated[
        list[Path],
        typer.Option("--data", "-d", help="Judged queries to learn from; may be repeated.", show_default=False),
    ],
    out: Annotated[Path, files.FILE, typer.Option("--out", "-o", help="Where to write the student.", show_default=False)],
    more: Annotated[
        list[Path] | None,
        typer.Option(help="Further rows to learn from, with or without grades, which are not looked at; may be repeated."),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(
            "--test", "-t", help="The queries of the table, new to teacher and student; folds of the data if left out."
        ),
    ] = None,
    trees: Annotated[int, typer.Option(min=1, help="Trees of the student, at most, and of the baseline.")] = 100,
    leaves: Annotated[int, typer.Option(min=2, help="Leaves of trees that are grown, and of the baseline.")] = 31,
    hidden: Annotated[str, typer.Option(help="net: hidden units, as in 32 or 20,10; none for a linear one.")] = "32",
    how: Annotated[
        Distilling,
        typer.Option(
            help="select: trees of the teacher, weighed anew; grow: new trees that follow its scores; best: both are tried, "
            "and the one nearer the teacher on queries held out is kept; net: a net that follows its scores."
        ),
    ] = "best",
    made: Annotated[int, typer.Option(min=0, help="Copies of all rows with mixed features to learn from too.")] = 0,
    folds: Annotated[int, typer.Option(min=2, help="Folds that choose the student, and judge it without --test.")] = 3,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="The measure of the table.", autocompletion=completing.measures)
    ] = "ndcg@10",
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Seed of all that is drawn.")] = 0,
    allow_overlap: options.OverlapOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    *,
    reading: options.Reading,
) -> None:
    """Distil a large ranker into one small forest or net that ranks alike and scores faster.

    The table shows size, time and quality of the teacher, the students and a ranker of their size that had no teacher. R² is
    the share of the teacher's variance within queries that a ranker explains.

    Examples:

      rankinite distil ensemble.rankinite --data train.txt.gz --test test.txt.gz --trees 100 --out small.rankinite

      rankinite distil ensemble.rankinite --data train.txt.gz --more log.parquet --how grow --out small.rankinite

      rankinite distil ensemble.rankinite --data train.txt.gz --how net --hidden 20,10 --made 2 --out net.rankinite
    """
    from rankinite.cli.learner_options import LearnerName, value_of
    from rankinite.distillation.students import distil as distilled

    files.check_writeable(out)
    judged, named = rankers.read_for(rankers.by_name([model]), data, reading)
    (teacher,) = named.values()
    unjudged = replace(reading, unjudged="keep")
    further = [unjudged.read([path], like=judged) for path in more or ()]
    tested = None if test is None else reading.read(test, like=judged)
    with options.busy("distilling"):
        found = distilled(
            teacher,  # pyright: ignore[reportArgumentType] - checked where it is used
            judged,
            unjudged=further,
            trees=trees,
            leaves=leaves,
            hidden=value_of(LearnerName("lambdarank"), "hidden", hidden),
            how=how,
            made=made,
            folds=folds,
            measure=measure,
            test=tested,
            seed=seed,
            allow_overlap=allow_overlap,
        )
    with options.busy(f"writing {out}"):
        found.ranker.save(out)
    say(f"{out}: {found[found.method].size} in place of {found['teacher'].size}")
    say_all(found.warnings)
    _print(found, out, as_json=json)


def _print(found: Distilled, out: Path, *, as_json: bool) -> None:
    from rankinite.cli.output import echo

    if not as_json:
        echo(found.grid().text())
        return
    import json as writer
    from dataclasses import asdict

    about = {"model": str(out), "method": found.method, "measure": str(found.measure), "judged_on": found.judged_on}
    echo(writer.dumps({**about, "rankers": [asdict(row) for row in found.rows], "warnings": found.warnings}, indent=1))
