"""``rankinite train``: a ranker from judged data."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import learner_options as learners
from rankinite.cli import report_option as reporting
from rankinite.cli.cluster_options import ClusterOptions
from rankinite.cli.files import check_writeable
from rankinite.cli.interrupts import INTERRUPTED
from rankinite.cli.joint_training import joint_training, say_traffic, speaks
from rankinite.cli.messages import say, say_all
from rankinite.cli.settings_file import RANKER, Record
from rankinite.cli.verbs.adapt_inputs import check_measures
from rankinite.cli.verbs.train_inputs import TrainingData
from rankinite.cli.verbs.train_results import print_results, summary_line, trained_part, training_report
from rankinite.errors import ArgumentError
from rankinite.learners.boosting import Preset

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.evaluate import Evaluation
    from rankinite.learners.base import Learner
    from rankinite.models.base import Ranker

EVERY = 50
"""Rounds between two checkpoints, if not given."""


@options.with_options(
    report_files=reporting.ReportFiles(), settings=learners.Settings(), placing=ClusterOptions(), reading=options.Reading()
)
def train(
    data: options.DataArgument,
    out: Annotated[Path, files.FILE, typer.Option("--out", "-o", help="Where to write the model.", show_default=False)],
    valid: Annotated[
        list[Path] | None,
        typer.Option("--valid", "-v", help="Validation data: training stops when it gets no better on them; may be repeated."),
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", "-t", help="Data to evaluate the model on in the end; may be repeated.")
    ] = None,
    learner: Annotated[
        learners.LearnerName,
        typer.Option(
            "--learner",
            "-l",
            help="With trees: lambdamart climbs a measure, ranknet-trees orders pairs, mart fits the grades, mcrank tells them "
            "apart. With a net, or a linear ranker: lambdarank climbs a measure, ranknet orders pairs. Linear, one feature "
            "per round: lambdaboost climbs a measure.",
        ),
    ] = learners.DEFAULT,
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="The values of settings of trees that are not given: plain, what all learners of trees share (for lambdamart: "
            "500 best-first trees of 31 leaves, rate 0.1, from all rows), or paper, as in the papers (least-squares splits; "
            "for lambdamart also λ-gradients that are not scaled by query and pair). If left out, the learner's own defaults.",
        ),
    ] = None,
    base: Annotated[
        str | None,
        RANKER,
        typer.Option(
            "--base",
            "-b",
            help="Go on from this ranker: a model file, feature:NAME or column:0.",
            autocompletion=completing.rankers,
        ),
    ] = None,
    preferences: Annotated[
        Path | None,
        typer.Option(help="Judged pairs for ranknet-trees and ranknet: qid, better, worse and probability, tab-separated."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        files.FILE,
        typer.Option(help="Keep the trees in this file while training; with the file there, go on from it."),
    ] = None,
    every: Annotated[int | None, typer.Option(min=1, help=f"Rounds between two checkpoints; {EVERY} if left out.")] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Train this many models that differ in their random numbers alone; the model is their mean."),
    ] = None,
    allow_overlap: options.OverlapOption = False,
    quiet: bool = False,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
    *,
    report_files: reporting.ReportFiles,
    settings: Any,
    placing: ClusterOptions,
    reading: options.Reading,
    record: Record,
) -> None:
    """Train boosted trees, a net or a linear ranker and write it to a model file.

    With --valid the model has the number of trees, or the weights of the epoch, with which the watched measure is best on the
    validation data. Without --valid and --trees, lambdamart holds out parts of the training queries to find the best number of
    trees, and then trains on all. With --base training goes on from another ranker, which becomes part of the model. Ctrl-C
    ends training and keeps what is trained so far (exit code 130). The settings are written beside the model, as web.toml for
    web.rankinite: --config web.toml trains the same model again, to the last byte.

    DATA may also be folders that rankinite bin has made, for lambdamart, mart, ranknet-trees and mcrank. They train on
    data beyond the memory, and with --workers, --cluster or mpiexec on many machines at once, to the same bytes.

    Examples:

      rankinite train train.txt.gz --valid valid.txt.gz --out web.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --test test.txt.gz --report report.html --out web.rankinite

      rankinite train train.parquet -v valid.parquet -m err --preset plain --trees 1000 --leaves 20 -o err.rankinite

      rankinite train market.txt --base web.rankinite --rate 0.1 --out market.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --preset paper --trees 1000 --leaves 10 --out paper.rankinite

      rankinite train big.parquet --checkpoint big.checkpoint --every 100 --out big.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --learner lambdarank --hidden 20,10 --restarts 3 --out net.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --learner ranknet --hidden none --out linear.rankinite

      rankinite train market.txt -v more.txt --learner lambdaboost --base web.rankinite --out market.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --seeds 5 --out mean.rankinite

      rankinite train --config web.toml --seed 1 --out other.rankinite

      rankinite train train.bins -v valid.bins --out big.rankinite

      rankinite train shards/*.bins -v valid.bins --cluster tcp://head:8786 --out big.rankinite

      mpiexec -n 8 rankinite train shards/*.bins -v valid.bins --out big.rankinite
    """
    _check_options(learner, preferences, checkpoint, every, seeds)
    for path in (out, checkpoint) if speaks() else ():
        check_writeable(path)
    report_files.check()
    maker = learners.make(learner, settings, preset)
    if seeds is not None:
        maker.reseeded(1)  # refuses, before anything is read, where nothing is random
    material = TrainingData.read(data, valid, test, base, preferences, reading)
    material.check_apart(allow_overlap=allow_overlap)
    check_measures([] if material.test is None else [material.test], [maker.watched()])
    if not material.is_coded:
        options.say_odd_features(material.train)
        options.say_odd_clicks(material.train, maker.settings().get("debias"))
    start = monotonic()
    with joint_training(placing, material, several=seeds is not None) as traffic:
        model = _fitted(maker, seeds, material, checkpoint, every or EVERY, quiet)
        say_traffic(traffic(), model)
    if not speaks():
        return  # another process of the group writes the model
    with options.busy(f"writing {out}"):
        model.save(out)
        record.write_beside(out, learners.spelled(learner, maker))
    seconds = monotonic() - start
    trained = trained_part(model)
    interrupted = trained.history is not None and trained.history.stopped == "interrupted"
    if checkpoint is not None and not interrupted:
        checkpoint.unlink(missing_ok=True)
    if not quiet:
        say(summary_line(out, trained, seconds, checkpoint if interrupted else None, seeds or 1))
    tested = _tested(maker, model, material.test)
    say_all(() if tested is None else tested.warnings)
    print_results(out, trained, seconds, tested, seeds or 1, json=json)
    if report_files:
        report_files.write(training_report(maker, model, material))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_options(
    learner: learners.LearnerName, preferences: Path | None, checkpoint: Path | None, every: int | None, seeds: int | None
) -> None:
    """Refuse options that the learner has no use for."""
    if seeds is not None and checkpoint is not None:
        raise ArgumentError(
            "keeps one training, but there are several seeds",
            setting="checkpoint",
            value=str(checkpoint),
            remedy="Leave it out, or train with `rankinite ensemble --recipe seeds`, which keeps each model",
        )
    if every is not None and checkpoint is None:
        remedy = "Name a file for them with `checkpoint` too"
        raise ArgumentError("is for checkpoints, but none are kept", setting="every", value=every, remedy=remedy)
    if checkpoint is not None and learner not in learners.TREES:
        raise ArgumentError(
            f"is not for {learner}, which keeps no checkpoints, as it trains in minutes",
            setting="checkpoint",
            value=str(checkpoint),
            remedy="Leave it out; Ctrl-C keeps what is trained so far",
        )
    if preferences is not None and learner not in learners.PREFERRING:
        raise ArgumentError(
            f"is not for {learner}, which learns from grades",
            setting="preferences",
            value=str(preferences),
            remedy=f"Leave it out, or choose --learner {' or '.join(learners.PREFERRING)}",
        )


def _fitted(
    learner: Learner, seeds: int | None, material: TrainingData, checkpoint: Path | None, every: int, quiet: bool
) -> Ranker:
    from rankinite.cli.progress import watching
    from rankinite.ensembles.fits import check_whole
    from rankinite.ensembles.trainers import Seeds
    from rankinite.learners.checkpoint import Checkpoint

    settings = learner.settings()
    unit = "epoch" if "epochs" in settings else "round"
    rounds = next(settings[name] for name in ("trees", "epochs", "rounds") if name in settings)
    keeping = [] if checkpoint is None else [Checkpoint(checkpoint, every=every)]
    trainer = learner if seeds is None else Seeds(learner, seeds)
    try:
        with watching(seeds or rounds, unit if seeds is None else "seed", quiet=quiet) as shown:
            model: Any = trainer.fit(
                material.train,
                material.valid,
                base=material.base,
                callbacks=[*keeping, *shown],
                allow_overlap=True,  # it was checked when they were read
            )
            if seeds is not None:
                check_whole(model)
            return model
    except KeyboardInterrupt:
        first = f"the first {'tree' if 'trees' in settings else unit}" if seeds is None else "all seeds were trained"
        say(f"interrupted before {first}: there is nothing to save")
        raise typer.Exit(INTERRUPTED) from None


def _tested(learner: Learner, model: Ranker, test: Dataset | None) -> Evaluation | None:
    from rankinite.evaluation.evaluate import evaluate

    if test is None:
        return None
    with options.busy("evaluating"):
        return evaluate(model, test, [learner.watched()])
