"""``rankinite train``: a ranker from judged data."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import learner_options as learners
from rankinite.cli import report_option as reporting
from rankinite.cli.interrupts import INTERRUPTED
from rankinite.cli.messages import say, say_all
from rankinite.cli.settings_file import RANKER, Record
from rankinite.cli.verbs.adapt_inputs import check_measures
from rankinite.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.evaluate import Evaluation
    from rankinite.learners.base import Learner
    from rankinite.models.base import Ranker
    from rankinite.models.forest import Forest
    from rankinite.models.history import History
    from rankinite.models.linear import Linear
    from rankinite.models.net import Net
    from rankinite.report.document import Report

WHY = {
    "finished": "all {unit}s done",
    "early": "stopped early, as it got no better",
    "exhausted": "stopped, as no {step} gains anything any more",
    "interrupted": "interrupted",
}
EVERY = 50


@options.with_options(settings=learners.Settings(), reading=options.Reading())
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
        learners.Learner,
        typer.Option(
            "--learner",
            "-l",
            help="With trees: lambdamart climbs a measure, ranknet-trees orders pairs, mart fits the grades, mcrank tells them "
            "apart. With a net, or a linear ranker: lambdarank climbs a measure, ranknet orders pairs. Linear, a feature a "
            "round: lambdaboost climbs a measure.",
        ),
    ] = learners.Learner.lambdamart,
    preset: Annotated[
        learners.Preset | None,
        typer.Option(
            help="What the settings of trees are that are not given: plain, our defaults, or paper, as in the papers "
            "(least-squares splits; for lambdamart also λ-gradients that are not scaled by query and pair).",
            show_default="plain",
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
    allow_overlap: options.OverlapOption = False,
    quiet: bool = False,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
    report: reporting.ReportOption = None,
    *,
    settings: Any,
    reading: options.Reading,
    record: Record,
) -> None:
    """Train boosted trees, a net or a linear ranker and write it to a model file.

    With --valid the model has the number of trees, or the weights of the epoch, with which the watched measure is best on the
    validation data. With --base training goes on from another ranker, which becomes part of the model. Ctrl-C ends training
    and keeps what there is (exit code 130). The settings are written beside the model, as web.toml for web.rankinite:
    --config web.toml trains the same model again, to the last byte.

    Examples:

      rankinite train train.txt.gz --valid valid.txt.gz --out web.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --test test.txt.gz --report report.html --out web.rankinite

      rankinite train train.parquet -v valid.parquet -m err --trees 1000 --rate 0.05 --leaves 20 -o err.rankinite

      rankinite train market.txt --base web.rankinite --rate 0.1 --out market.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --preset paper --trees 1000 --leaves 10 --out paper.rankinite

      rankinite train big.parquet --checkpoint big.checkpoint --every 100 --out big.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --learner lambdarank --hidden 20,10 --restarts 3 --out net.rankinite

      rankinite train train.txt.gz -v valid.txt.gz --learner ranknet --hidden none --out linear.rankinite

      rankinite train market.txt -v more.txt --learner lambdaboost --base web.rankinite --out market.rankinite

      rankinite train --config web.toml --seed 1 --out other.rankinite
    """
    if every is not None and checkpoint is None:
        raise ArgumentError(f"--every {every} says when to write checkpoints, but not where. Give --checkpoint FILE too.")
    if checkpoint is not None and learner not in learners.TREES:
        raise ArgumentError(
            f"--checkpoint {checkpoint}: {learner} keeps no checkpoints, as it trains in minutes. Leave it out; Ctrl-C keeps "
            "what there is."
        )
    if preferences is not None and learner not in learners.PREFERRING:
        known = " or ".join(learners.PREFERRING)
        raise ArgumentError(f"--preferences {preferences} is for --learner {known}; {learner} learns from grades.")
    for path in (out, checkpoint):
        check_writeable(path)
    reporting.check_report(report)
    maker = learners.make(learner, settings, preset)
    material = _Material.read(data, valid, test, base, preferences, reading)
    material.check_apart(allow_overlap=allow_overlap)
    check_measures([] if material.test is None else [material.test], [maker.watched()])
    options.say_odd_features(material.train)
    start = monotonic()
    model = _fitted(maker, material, checkpoint, every or EVERY, quiet)
    with options.busy(f"writing {out}"):
        model.save(out)
        record.write_beside(out, learners.spelled(learner, maker))
    seconds = monotonic() - start
    trained = trained_part(model)
    interrupted = trained.history is not None and trained.history.stopped == "interrupted"
    if checkpoint is not None and not interrupted:
        checkpoint.unlink(missing_ok=True)
    if not quiet:
        say(_told(out, trained, seconds, checkpoint if interrupted else None))
    tested = _tested(maker, model, material.test)
    say_all(() if tested is None else tested.warnings)
    _print(out, trained, seconds, tested, json=json)
    if report is not None:
        reporting.write_report(_report(maker, model, material), report)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@dataclass(frozen=True)
class _Material:
    """What a model is made from and tested on."""

    train: Dataset
    valid: Dataset | None
    test: Dataset | None
    base: Ranker | None

    @classmethod
    def read(
        cls,
        data: list[Path],
        valid: list[Path] | None,
        test: list[Path] | None,
        base: str | None,
        preferences: Path | None,
        reading: options.Reading,
    ) -> _Material:
        """All of it; validation and test data have the features of the training data."""
        from rankinite.cli.ranker_arguments import ranker, read_for

        train, bases = read_for({} if base is None else {base: ranker(base)}, data, reading)
        if preferences is not None:
            from rankinite.data.io.preference_files import read_preferences

            train = train.with_preferences(read_preferences(preferences, train))
        return cls(
            train=train,
            valid=reading.read(valid, like=train) if valid else None,
            test=reading.read(test, like=train) if test else None,
            base=None if base is None else bases[base],
        )

    def check_apart(self, *, allow_overlap: bool) -> None:
        """Refuse queries that would be learnt from and judged by; print a note where the base knows those of --valid."""
        from rankinite.data.overlap import check_apart
        from rankinite.evaluation.training_overlap import TrainingOverlaps, overlap_warnings

        learnt = {"the training data": self.train, "--valid": self.valid}
        check_apart(learnt, {"--valid": self.valid, "--test": self.test}, allow_overlap=allow_overlap)
        if self.base is not None and self.valid is not None:
            overlap = TrainingOverlaps(self.valid).of(self.base)
            say_all(overlap_warnings({"the base": overlap} if overlap and overlap.queries else {}, self.valid.source))


def check_writeable(path: Path | None) -> None:
    """Refuse a file that could not be written, before hours of training are spent on it."""
    if path is None:
        return
    try:
        target = path.resolve()
        if target.is_dir():
            raise DataError(f"{path}: this is a folder. Give the name of a file to write.")
        if not target.parent.is_dir():
            raise DataError(f"{path}: there is no folder {target.parent}. Make it first, or write elsewhere.")
        if target.is_file() or not target.exists():  # devices and pipes are not replaced but written to
            with tempfile.TemporaryFile(dir=target.parent):  # what permissions say is not all: the disk may be read-only
                pass
    except (OSError, ValueError, RuntimeError) as problem:
        raise DataError(f"{path}: cannot be written ({problem}). Check the permissions, or write elsewhere.") from problem


def trained_part(model: Ranker) -> Forest | Net | Linear:
    """What training has made: the model, or the last part of a blend with a base."""
    whole: Any = model
    return whole.last_trained()


def _fitted(learner: Learner, material: _Material, checkpoint: Path | None, every: int, quiet: bool) -> Ranker:
    from rankinite.cli.progress import watching
    from rankinite.learners.checkpoint import Checkpoint

    settings = learner.settings()
    unit = "epoch" if "epochs" in settings else "round"
    rounds = next(settings[name] for name in ("trees", "epochs", "rounds") if name in settings)
    keeping = [] if checkpoint is None else [Checkpoint(checkpoint, every=every)]
    try:
        with watching(rounds, unit, quiet=quiet) as shown:
            model: Any = learner.fit(
                material.train,
                material.valid,
                base=material.base,
                callbacks=[*keeping, *shown],
                allow_overlap=True,  # it was checked when they were read
            )
            return model
    except KeyboardInterrupt:
        say(f"interrupted before the first {'tree' if 'trees' in settings else unit}: there is nothing to save")
        raise typer.Exit(INTERRUPTED) from None


def _tested(learner: Learner, model: Ranker, test: Dataset | None) -> Evaluation | None:
    from rankinite.evaluation.evaluate import evaluate

    if test is None:
        return None
    with options.busy("evaluating"):
        return evaluate(model, test, [learner.watched()])


def _report(learner: Learner, model: Ranker, material: _Material) -> Report:
    from rankinite.report.builders import of_training

    valid_only = material.test is None and material.valid is not None
    chosen = "The validation data have chosen what was kept, so they flatter it: give test data for an honest figure."
    with options.busy("making the report"):
        return of_training(
            model,
            material.valid if material.test is None else material.test,
            [learner.watched()],
            base=material.base,
            note=chosen if valid_only else "",
            trained_on={"train": material.train, "valid": None if valid_only else material.valid},
            facts=reporting.run_facts(),
        )


def _values(history: History) -> dict[str, float | None]:
    """The watched measure of the rounds kept, on the training and the validation data."""
    told = history.to_dict()
    return {name: told[name][history.best] if history.best < len(told[name]) else None for name in ("train", "valid")}


def _kept(trained: Forest | Net | Linear, history: History) -> str:
    """What of all that was trained is in the model."""
    from rankinite.models.forest import Forest

    if not isinstance(trained, Forest):
        base = "" if history.best else ", which is the base as it was"
        return f"{trained.unit} {history.best} of {history.rounds} kept{base}"
    kept = history.best * trained.outputs
    return f"{kept} trees kept" + (f", {len(trained)} with those of the base" if len(trained) > kept else "")


def _told(out: Path, trained: Forest | Net | Linear, seconds: float, checkpoint: Path | None) -> str:
    """One line on what came out."""
    from rankinite.models.forest import Forest

    history = trained.history
    assert history is not None  # whatever was trained has one
    values = [f"{name} {value:.4f}" for name, value in _values(history).items() if value is not None]
    watched = f", {history.measure} {', '.join(values)}" if values else ""
    again = f"; run the same again to go on from {checkpoint}" if checkpoint is not None and checkpoint.exists() else ""
    unit, step = ("round", "split") if isinstance(trained, Forest) else (trained.unit, "feature")
    why = WHY.get(history.stopped, history.stopped).format(unit=unit, step=step)
    return f"{out}: {_kept(trained, history)} ({why}){watched}, {seconds:.1f} s{again}"


def _print(out: Path, trained: Forest | Net | Linear, seconds: float, tested: Evaluation | None, *, json: bool) -> None:
    from rankinite.cli.output import echo

    if not json:
        if tested is not None:
            echo(str(tested))
        return
    import json as writer

    from rankinite.models.forest import Forest

    history = trained.history
    assert history is not None  # whatever was trained has one
    if isinstance(trained, Forest):
        size = {"trees": history.best * trained.outputs, "rounds": history.best}
    else:
        size = {f"{trained.unit}s": history.rounds, "kept": history.best}
    summary = {
        "model": str(out),
        "learner": trained.settings.get("learner"),
        **size,
        "stopped": history.stopped,
        "measure": history.measure,
        **_values(history),
        "seconds": round(seconds, 3),
        "settings": dict(trained.settings),
        "test": None if tested is None else {str(result.measure): result.mean for result in tested.results},
        "warnings": [] if tested is None else list(tested.warnings),
    }
    echo(writer.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False))
