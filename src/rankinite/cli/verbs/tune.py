"""``rankinite tune``: the settings of a learner, searched by cross-validation."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.choices import Sampler
from rankinite.cli import files, options
from rankinite.cli import learner_options as learners
from rankinite.cli import report_option as reporting
from rankinite.cli.cluster_options import ClusterOptions
from rankinite.cli.interrupts import INTERRUPTED, leaving_promptly
from rankinite.cli.messages import say, say_all
from rankinite.cli.settings_file import placed_at, write_settings
from rankinite.errors import ArgumentError
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.learners.base import Learner
    from rankinite.tuning.result import Tuned
    from rankinite.tuning.space import Space

MODEL, SETTINGS, TRIALS = "model.rankinite", "best.toml", "trials.csv"
_PANEL = "Search"


@options.with_options(
    report_files=reporting.ReportFiles(), settings=learners.Settings(), placing=ClusterOptions(), reading=options.Reading()
)
def tune(
    data: options.DataArgument,
    out: Annotated[
        Path,
        files.Output(is_folder=lambda _path: True, also=lambda path: [path / MODEL, path / SETTINGS, path / TRIALS]),
        typer.Option("--out", "-o", help="A folder for the settings, the model and all trials.", show_default=False),
    ],
    valid: Annotated[
        list[Path] | None,
        typer.Option("--valid", "-v", help="Judge settings on these data instead of folds, and stop training by them."),
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", "-t", help="Data to evaluate the model on in the end; may be repeated.")
    ] = None,
    learner: Annotated[
        learners.LearnerName, typer.Option("--learner", "-l", help="What to tune. Its settings given here stay as they are.")
    ] = learners.DEFAULT,
    space: Annotated[
        str,
        typer.Option(
            help="default: what practitioners sweep, by the size of the data; paper: what the winners of "
            "the Yahoo! challenge swept (Burges and others 2011); or a TOML file with lines such as leaves = \\[15, 31, 63] "
            "and rate = {low = 0.01, high = 0.3, log = true}.",
            rich_help_panel=_PANEL,
        ),
    ] = "default",
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Settings to try, at most; 50 if --minutes is left out too.", rich_help_panel=_PANEL),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="Begin nothing new after so many minutes.", rich_help_panel=_PANEL)
    ] = None,
    folds: Annotated[int, typer.Option(min=3, help="Folds of the queries that judge settings.", rich_help_panel=_PANEL)] = 5,
    outer: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Repeat the whole search without each of so many folds, and judge it there: the honest value of searching so.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    sampler: Annotated[
        Sampler,
        typer.Option(
            help="Who proposes settings: tpe learns from what was tried, random draws, grid goes through all, shuffled.",
            rich_help_panel=_PANEL,
        ),
    ] = "tpe",
    generation: Annotated[
        int,
        typer.Option(
            min=1,
            help="Settings that are proposed together. The result depends on this, not on the number of workers.",
            rich_help_panel=_PANEL,
        ),
    ] = 8,
    eager: Annotated[
        bool,
        typer.Option(
            "--eager", help="Let no worker wait for a generation; no two runs are the same then.", rich_help_panel=_PANEL
        ),
    ] = False,
    race: Annotated[
        bool,
        typer.Option("--race/--no-race", help="Drop settings that surely lose over the folds done.", rich_help_panel=_PANEL),
    ] = True,
    layout: options.FormatOption = "text",
    json: options.JsonOption = False,
    quiet: bool = False,
    *,
    settings: Any,
    report_files: reporting.ReportFiles,
    placing: ClusterOptions,
    reading: options.Reading,
) -> None:
    """Search the settings of a learner by cross-validation, and train it with those found.

    Of all settings tried, the smallest model within one standard error of the best is taken. The value by which it was chosen
    is too good, and marked so; beside it stands what the choice is worth on queries that had no part in it. The folder --out
    receives best.toml, which train --config takes, model.rankinite, trials.csv, and journal.log, which optuna-dashboard shows.
    Finished fits are kept there: Ctrl-C ends the search, the same command goes on, and several may work on it at once.

    Examples:

      rankinite tune train.txt.gz --trials 50 --test test.txt.gz --report tuned.html --out tuned

      rankinite tune train.txt.gz --minutes 30 --workers 8 --out tuned

      rankinite tune train.txt.gz --learner lambdarank --space paper --out nets

      rankinite tune train.txt.gz --trees 1000 --patience 30 --space mine.toml --sampler random --out tuned
    """
    from rankinite.cli.progress import trying
    from rankinite.tuning.tune import tune as tuned

    if any(path is not None and path.parent == out for path in (report_files.report, report_files.summary)):
        files.make_folder(out)
    report_files.check()
    maker = learners.make(learner, settings)
    judged = reading.read(data)
    validated = None if valid is None else reading.read(valid, like=judged)
    tested = None if test is None else reading.read(test, like=judged)
    files.make_folder(out)
    hint = f"{out}: finished fits are kept; run the same again to go on"
    try:
        with placing.in_force(), trying(quiet=quiet) as watch, leaving_promptly(lambda: hint, placing.patience):
            found = tuned(
                maker,
                judged,
                validated,
                space=_space(space, maker, settings, judged.rows),
                folds=folds,
                trials=trials,
                minutes=minutes,
                sampler=sampler,
                generation=generation,
                eager=eager,
                race=race,
                test=tested,
                outer=outer,
                seed=settings.seed or 0,
                keep=out,
                watch=watch,
            )
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    _write(found, out, learner, {"data": data, "valid": valid}, reading)
    say_all(() if found.test is None else found.test.warnings)
    _print(found, out, "json" if json else layout)
    if report_files:
        from rankinite.report.tunings import of_tuning

        with options.busy("making the report"):
            shown = of_tuning(found, judged, test=tested, valid=validated, facts=reporting.run_facts())
        report_files.write(shown)


def _space(name: str, maker: Learner, given: Any, rows: int) -> Space:
    """What is searched: of a space that is known by name, all but the settings that are given."""
    from rankinite.tuning.space import NAMES, space_of

    space = space_of(name if name in NAMES else Path(name), maker, rows)
    fixed = [setting for setting in space if getattr(given, setting) not in (None, [])]
    if name in NAMES:
        return {setting: searched for setting, searched in space.items() if setting not in fixed}
    if fixed:
        raise ArgumentError(
            f"is searched in {name}, so that it cannot be given",
            setting=fixed[0],
            value=getattr(given, fixed[0]),
            remedy="Leave it out here, or there",
        )
    return space


def _write(
    found: Tuned, out: Path, learner: learners.LearnerName, read: dict[str, list[Path] | None], reading: options.Reading
) -> None:
    """The model, the settings that make it again, and every trial."""
    from rankinite.data.io.output_files import write_atomically

    assert found.ranker is not None
    found.ranker.save(out / MODEL)
    named = {name: placed_at(paths, out) for name, paths in read.items() if paths}
    usual = options.Reading()
    chosen = {f.name: getattr(reading, f.name) for f in fields(reading) if getattr(reading, f.name) != getattr(usual, f.name)}
    reads = {name: placed_at(value, out) if isinstance(value, Path) else value for name, value in chosen.items()}
    made = {name: value for name, value in learners.spelled(learner, found.learner).items() if value not in (None, [])}
    settings = {**named, "out": MODEL, "learner": learner.value, **made, **reads}
    write_settings(out / SETTINGS, "train", {name.replace("_", "-"): value for name, value in settings.items()})
    with write_atomically(out / TRIALS) as handle:
        handle.write(found.to_csv().encode())
    say(
        f"{out / SETTINGS}: the settings found; {out / MODEL}: the model; {out / TRIALS}: {counted(len(found.trials), 'trial')}"
    )


def _print(found: Tuned, out: Path, layout: options.ResultFormat) -> None:
    from rankinite.cli.output import echo

    if layout != "json":
        grid = found.grid()
        echo({"text": grid.text, "markdown": grid.markdown, "latex": grid.latex, "csv": grid.csv}[layout]())
        return
    import json as writer
    from dataclasses import asdict

    about = {
        "model": str(out / MODEL),
        "learner": found.learner.settings(),
        "measure": str(found.measure),
        "chosen": found.chosen.number + 1,
        "value_chosen_by": found.value,
        "estimate": None if found.estimate is None else asdict(found.estimate),
        "nested": None if found.nested is None else found.nested[found.measure].mean,
        "test": None if found.test is None else found.test[found.measure].mean,
        "importances": dict(found.importances),
        "trials": found.table(),
    }
    echo(writer.dumps(about, indent=1, allow_nan=False))
