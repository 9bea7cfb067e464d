"""``rankinite adapt``: from a background ranker and a few judged queries to the ranker to deploy."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import typer

from rankinite.cli import files, options
from rankinite.cli.cluster_options import ClusterOptions
from rankinite.cli.error_text import shell_text
from rankinite.cli.messages import say_all
from rankinite.cli.options import folds_of
from rankinite.cli.report_option import SummaryOption, check_summary
from rankinite.cli.settings_file import Record
from rankinite.cli.verbs import adapt_options
from rankinite.cli.verbs.adapt_inputs import GradeMaps, Inputs, check_background_rate, split_names

if TYPE_CHECKING:
    from rankinite.adapt.choice import Choice
    from rankinite.cli.verbs.adapt_results import Folder


@options.with_options(placing=ClusterOptions(), reading=options.Reading())
def adapt(
    background: adapt_options.BackgroundArgument,
    train: adapt_options.TrainOption,
    out: adapt_options.OutOption,
    valid: adapt_options.ValidOption = None,
    test: adapt_options.TestOption = None,
    shifted: adapt_options.ShiftedOption = None,
    background_data: adapt_options.BackgroundDataOption = None,
    map_grades: adapt_options.MapGradesOption = None,
    map_target_grades: adapt_options.MapTargetGradesOption = None,
    same_scale: adapt_options.SameScaleOption = False,
    background_rate: adapt_options.BackgroundRateOption = None,
    background_loss: adapt_options.BackgroundLossOption = None,
    measure: adapt_options.MeasureOption = "ndcg@10",
    also: adapt_options.AlsoOption = None,
    methods: adapt_options.MethodsOption = None,
    folds: adapt_options.FoldsOption = "5",
    risk: adapt_options.RiskOption = 0.1,
    tolerate: adapt_options.TolerateOption = 0.01,
    seed: adapt_options.SeedOption = 0,
    deployable: adapt_options.DeployableOption = None,
    all_models: adapt_options.AllModelsOption = False,
    curve: adapt_options.CurveOption = True,
    summary: SummaryOption = None,
    overwrite: files.OverwriteOption = False,
    allow_overlap: options.OverlapOption = False,
    quiet: bool = False,
    json: adapt_options.JsonOption = False,
    *,
    placing: ClusterOptions,
    reading: options.Reading,
    record: Record,
) -> None:
    """Adapt a ranker to a new domain with few judged queries: try every method, choose one, show the evidence.

    BACKGROUND is the ranker of a big market, --train are the judged queries of the new one. Every method that
    the material allows is fitted and judged on target queries that it did not see, by folds of queries; the test
    data decide nothing. The folder --out receives model.rankinite, the ranker to deploy: the one chosen, or the
    background if that is the better bet (then candidate.rankinite is the one chosen); report.html, to look at;
    evidence.md and evidence.json, with all methods, intervals, and corrected tests against the background and the
    target alone; gains.csv, query by query; and adapt.toml, the settings, which --config reads. Finished methods are
    kept in trials/ there: Ctrl-C ends the run, and the same command goes on. A folder with the results of another run
    is left alone unless --overwrite is given.

    Examples:

      rankinite adapt web.rankinite --train market.txt --out market

      rankinite adapt web.rankinite --train market.txt -B web.parquet --test test.txt --out market

      rankinite adapt lightgbm.txt --train market.txt --also ndcg@1,err --methods trada,smart -o market

      rankinite adapt us=us.rankinite uk=uk.rankinite bm25=feature:25 --train market.txt --shifted later.txt -o market

      rankinite adapt web.rankinite --train market.txt -B web.txt --map-grades 0=0,1=0,2=1,3=1,4=1 -o market

      rankinite adapt lightgbm.txt --train market.txt --deployable es-ltr -o market

      rankinite adapt --config market/adapt.toml --seed 1 --out again
    """
    from rankinite.cli.report_option import write_choice
    from rankinite.cli.verbs.adapt_results import Folder, Run, digest_of
    from rankinite.cli.verbs.adapt_texts import printed

    maps = GradeMaps(map_grades, map_target_grades)
    maps.check(background_data)
    check_background_rate(background_rate)
    check_summary(summary)
    folder = Folder.checked(out)
    folder.check_free(partial(record.identity, digest_of), overwrite=overwrite)
    settings: dict[str, Any] = {
        "measure": measure,
        "also": split_names(also) or [],
        "methods": split_names(methods),
        "folds": folds_of(folds),
        "risk": risk,
        "tolerate": tolerate,
        "seed": seed,
        "same_scale": same_scale,
        "curve": curve,
        "deployable": deployable,
    }
    others = {"valid": valid, "test": test, "shifted": shifted, "background_data": background_data}
    inputs = Inputs.read(background, train, others, maps, reading, allow_overlap=allow_overlap)
    inputs.check_measures([measure, *settings["also"]])
    trained_with = {"rate": background_rate, "loss": None if background_loss is None else background_loss.value}
    start = monotonic()
    with placing.in_force():
        choice = _chosen(inputs, settings, trained_with, folder, quiet, placing.patience)
    asked = {**settings, "map_grades": map_grades, "map_target_grades": map_target_grades, "allow_overlap": allow_overlap}
    asked |= {f"background_{name}": value for name, value in trained_with.items()}
    run = Run(inputs.named(), asked, monotonic() - start, record.identity(digest_of))
    folder.make()
    write_choice(choice, inputs.data, folder.report, run.settings, summary)
    with options.busy(f"writing to {out}"):
        evidence = folder.write(choice, run, all_models=all_models)
        record.write(folder.settings)
    say_all(choice.warnings)
    printed(choice, evidence, folder, as_json=json)


def _chosen(
    inputs: Inputs, settings: dict[str, Any], trained_with: dict[str, Any], folder: Folder, quiet: bool, patience: float
) -> Choice:
    """The choice, with what it refused spelled for the shell."""
    from rankinite.adapt.choice import Refusals
    from rankinite.adapt.method_choice import choose
    from rankinite.adapt.methods.trada import Trada
    from rankinite.cli.interrupts import INTERRUPTED, leaving_promptly
    from rankinite.cli.progress import trying

    others: dict[str, Any] = {name: data for name, data in inputs.data.items() if name != "train"}
    try:
        with trying(quiet=quiet) as watch, leaving_promptly(folder.hint, patience):
            choice = choose(
                inputs.backgrounds,
                inputs.data["train"],
                keep=folder.trials,
                watch=watch,
                tuning=Trada(**trained_with),
                allow_overlap=True,  # it was checked when the data were read
                **others,
                **settings,
            )
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    return replace(choice, refused=Refusals(choice.refusals, shell_text))
