"""``rankinite ensemble``: many fits, one ranker."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.checks import check_positive
from rankinite.cli import files, options
from rankinite.cli import report_option as reporting
from rankinite.cli.cluster_options import ClusterOptions
from rankinite.cli.messages import say, say_all
from rankinite.cli.verbs.ensemble_members import CHALLENGE, PLAN, Recipe, planned, say_damaged, size_line
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.ensembles import Average, MemberChoice

MODEL, MEMBERS = "model.rankinite", "members"


@options.with_options(report_files=reporting.ReportFiles(), placing=ClusterOptions(), reading=options.Reading())
def ensemble(
    data: Annotated[list[Path], typer.Argument(help="Judged data; several files are joined.", show_default=False)],
    out: Annotated[
        Path,
        files.Output(is_folder=lambda _path: True, also=lambda path: [path / MODEL, path / PLAN]),
        typer.Option("--out", "-o", help="A folder for the model and its members.", show_default=False),
    ],
    recipe: Annotated[
        str,
        typer.Option(
            help="challenge: the twelve models that won the Yahoo! challenge (Burges and others 2011); seeds: --trees with "
            "other random numbers; bag: --trees, each time with another part of the queries to stop by; or a TOML file with a "
            "table \\[members] of names and learners with "
            "settings, as in trees = 'lambdamart leaves=63 bags=10'."
        ),
    ] = CHALLENGE,
    trees: Annotated[
        str, typer.Option(help="challenge: LambdaMART with its settings; seeds, bag: the learner.")
    ] = "lambdamart trees=1000",
    net: Annotated[str, typer.Option(help="challenge: LambdaRank with its settings.")] = "lambdarank hidden=25 restarts=1",
    points: Annotated[str, typer.Option(help="challenge: MART with its settings.")] = "mart trees=500",
    max_grade: Annotated[int, typer.Option(min=1, help="The highest grade of the scale, for ERR and MART.")] = 4,
    members: Annotated[int | None, typer.Option(min=2, help="seeds, bag: how many; 10 if left out.")] = None,
    choose: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.9,
            help="Hold out this share of the queries, such as 0.2; find on them which members to combine, and how; then train "
            "these on all queries. It takes about twice the time.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Scale the recipe down to about this time: fewer fits in bags, then without the costliest members."),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option("--test", "-t", help="Data to evaluate the ensemble and its members on; may be repeated."),
    ] = None,
    diversity: Annotated[
        bool,
        typer.Option("--diversity", help="Also print how much the members differ, what each adds, and how many are enough."),
    ] = False,
    measure: options.MeasureOption = None,
    layout: options.FormatOption = "text",
    json: options.JsonOption = False,
    quiet: bool = False,
    *,
    report_files: reporting.ReportFiles,
    placing: ClusterOptions,
    reading: options.Reading,
) -> None:
    """Train an ensemble: many fits, each scaled to unit variance, averaged into one model.

    Finished members are kept in the folder --out: the same command goes on after an interruption, to the same bytes. Bags deal
    the queries themselves, so that no validation data are needed. Distil the model to serve it faster.

    With --choose, all members are first trained without some queries. Tables compare the members, every way to combine them,
    and subsets on those queries. The plain average is kept unless another way is better by more than two standard errors of
    the first measure, judged on queries that did not choose its weights. Measures are ndcg@10 and, where the grades fit, err.

    Examples:

      rankinite ensemble train.txt.gz --test test.txt.gz --out twelve

      rankinite ensemble train.txt.gz --trees 'lambdamart trees=300 leaves=16 row_share=0.7' --out twelve

      rankinite ensemble train.txt.gz --choose 0.2 --test test.txt.gz --report twelve.html --minutes 60 --out twelve

      rankinite ensemble train.txt.gz --recipe seeds --trees 'lambdamart row_share=0.7' --members 20 --out seeds

      rankinite ensemble train.txt.gz --workers 8 --out twelve

      rankinite ensemble train.txt.gz --recipe mine.toml --test test.txt.gz --out mine
    """
    from rankinite.cli.verbs.ensemble_results import Results

    _check_options(choose, minutes, test, report_files, diversity=diversity)
    made = Recipe(recipe, trees, net, points, max_grade, members)
    average = made.average(out / MEMBERS)
    judged = reading.read(data)
    tested = None if test is None else reading.read(test, like=judged)
    measures = measure or _usual_measures(judged, max_grade)
    files.make_folder(out)
    average = planned(average, judged, minutes, out, 1.0 if choose is None else 2.0 - choose)
    with placing.in_force(), _going_on_later(out / MEMBERS, placing.patience):
        choice = None if choose is None else _chosen(average, judged, choose, measures, made, quiet=quiet)
        rankers = _members(average, judged, choice, quiet=quiet)
    model = _combined(rankers, choice)
    with options.busy(f"writing {out / MODEL}"):
        model.save(out / MODEL)
    say(size_line(out / MODEL, len(model.parts), model.sizes()))
    kept = {name: rankers[name] for name in rankers if choice is None or choice.weighing.weights.get(name)}
    results = Results.of(model, kept, measures, choice, tested, diverse=diversity or bool(report_files))
    results.echo("json" if json else layout, diversity=diversity)
    if report_files:
        settings = {name: trainer.settings() for name, trainer in average.trainers.items()}
        results.write_report(report_files, {"train": judged}, tested, {"Members": settings})


@contextmanager
def _going_on_later(kept: Path, patience: float) -> Generator[None]:
    """Let Ctrl-C end the run at once: what is finished is kept."""
    from rankinite.cli.interrupts import INTERRUPTED, leaving_promptly

    try:
        hint = f"interrupted: finished members are kept in {kept}, and the same command goes on from them"
        with leaving_promptly(lambda: hint, patience):
            yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def _check_options(
    choose: float | None,
    minutes: float | None,
    test: list[Path] | None,
    report_files: reporting.ReportFiles,
    *,
    diversity: bool,
) -> None:
    """Refuse what could not be done in the end."""
    report_files.check()
    if minutes is not None:
        check_positive("", "minutes", minutes)
    if choose == 0.0:
        raise ArgumentError("holds out nothing", setting="choose", value=choose, remedy="Give for example 0.2, or leave it out")
    asked = {"diversity": diversity or None, "report": report_files.report, "summary": report_files.summary}
    for setting, value in asked.items():
        if value is not None and choose is None and not test:
            raise ArgumentError(
                "needs queries that trained no member",
                setting=setting,
                value=value if value is True else str(value),
                remedy="Give `test`, or hold some out with `choose`",
            )


def _usual_measures(data: Dataset, max_grade: int) -> list[str]:
    """NDCG@10, and ERR as in the paper where the grades are on its scale."""
    fits = data.rows > 0 and data.grades.min() >= 0 and data.grades.max() <= max_grade <= 20
    return [*options.DEFAULT_MEASURES, *([f"err:max_grade={max_grade}"] if fits else [])]


def _chosen(average: Average, data: Dataset, share: float, measures: list[str], recipe: Recipe, *, quiet: bool) -> MemberChoice:
    """How to combine the members, from queries held out."""
    from rankinite.cli.progress import watching
    from rankinite.ensembles import choose_members
    from rankinite.ensembles.member_choice import held_out

    without, rest, _ = held_out(average, data, share)
    say_damaged(without, rest)
    with watching(len(average.trainers), "member without the queries held out", quiet=quiet) as callbacks:
        found = choose_members(
            average, data, share=share, measures=measures, subsets=recipe.subsets(average), callbacks=callbacks
        )
    say_all((found.verdict, *found.notes))
    return found


def _members(average: Average, data: Dataset, choice: MemberChoice | None, *, quiet: bool) -> dict[str, Any]:
    """The members, trained on all data and scaled there."""
    from rankinite.cli.progress import watching
    from rankinite.ensembles.member_choice import members_of

    say_damaged(average, data)
    with watching(len(average.trainers), "member", quiet=quiet) as callbacks:
        if choice is not None:
            return choice.fit_members(data, callbacks=callbacks)
        return members_of(average, data, callbacks)


def _combined(members: dict[str, Any], choice: MemberChoice | None) -> Any:
    from rankinite.ensembles.weight_finders import even

    return even(members).blend(members) if choice is None else choice.blend(members)
