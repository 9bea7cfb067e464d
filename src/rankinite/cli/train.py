"""``rankinite train``: a ranker from judged data."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import learners, options
from rankinite.cli.options import say
from rankinite.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.evaluate import Evaluation
    from rankinite.rankers.base import Ranker
    from rankinite.rankers.blend import Blend
    from rankinite.rankers.boosting import Boosting
    from rankinite.rankers.forest import Forest

INTERRUPTED = 130
"""The exit code of what Ctrl-C has ended, as shells have it."""
WHY = {
    "finished": "all rounds done",
    "early": "stopped early, as it got no better",
    "exhausted": "stopped, as no split gains anything any more",
    "interrupted": "interrupted",
}
EVERY = 50


@options.with_options(settings=learners.Settings(), reading=options.Reading())
def train(
    data: options.DataArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the model.", show_default=False)],
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
            help="lambdamart climbs a measure, ranknet-trees orders pairs, mart fits the grades, mcrank tells them apart.",
        ),
    ] = learners.Learner.lambdamart,
    base: Annotated[
        str | None, typer.Option("--base", "-b", help="Go on from this ranker: a model file, or feature:NAME.")
    ] = None,
    preferences: Annotated[
        Path | None, typer.Option(help="Judged pairs for ranknet-trees: qid, better, worse and probability, tab-separated.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keep what is trained in this file; with the file there, go on from it.")
    ] = None,
    every: Annotated[int | None, typer.Option(min=1, help=f"Rounds between two checkpoints; {EVERY} if left out.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no last word.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
    *,
    settings: Any,
    reading: options.Reading,
) -> None:
    """Train a ranker with boosted trees and write it to a model file.

    With --valid the model is cut where the watched measure is best on the validation data. With --base training goes on
    from another ranker, which becomes part of the model. Ctrl-C ends training and keeps what there is (exit code 130).

    Examples:

      rankinite train train.txt.gz --valid valid.txt.gz --out web.rankinite

      rankinite train train.parquet -v valid.parquet -m err --trees 1000 --rate 0.05 --leaves 20 -o err.rankinite

      rankinite train market.txt --base web.rankinite --rate 0.1 --out market.rankinite

      rankinite train big.parquet --checkpoint big.checkpoint --every 100 --out big.rankinite
    """
    if every is not None and checkpoint is None:
        raise ArgumentError(f"--every {every} says when to write checkpoints, but not where. Give --checkpoint FILE too.")
    if preferences is not None and learner is not learners.Learner.ranknet_trees:
        raise ArgumentError(f"--preferences {preferences} is for --learner ranknet-trees; {learner} learns from grades.")
    for path in (out, checkpoint):
        check_writeable(path)
    if checkpoint is not None and checkpoint.resolve() in {out.resolve(), Path(base or "").resolve()}:
        raise ArgumentError(
            f"--checkpoint {checkpoint} is also the model's file. A checkpoint is removed in the end: name another."
        )
    maker = learners.make(learner, settings)
    material = _Material.read(data, valid, test, base, preferences, reading)
    start = monotonic()
    model = _fitted(maker, material, checkpoint, every or EVERY, quiet)
    with options.busy(f"writing {out}"):
        model.save(out)
    seconds = monotonic() - start
    forest = trained_part(model)
    interrupted = forest.history is not None and forest.history.stopped == "interrupted"
    if checkpoint is not None and not interrupted:
        checkpoint.unlink(missing_ok=True)
    if not quiet:
        say(_told(out, forest, seconds, checkpoint if interrupted else None))
    _print(out, forest, seconds, _tested(maker, model, material.test), json=json)
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
        from rankinite.cli.rankers import ranker, read_for

        start = None if base is None else ranker(base)
        train = read_for([] if start is None else [start], data, reading)
        if preferences is not None:
            from rankinite.data.preference_files import read_preferences

            train = train.with_preferences(read_preferences(preferences, train))
        return cls(
            train=train,
            valid=reading.read(valid, like=train) if valid else None,
            test=reading.read(test, like=train) if test else None,
            base=start,
        )


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


def trained_part(model: Forest | Blend) -> Forest:
    """The forest that training has made: the model, or the last part of a blend with a base."""
    from rankinite.rankers.blend import Blend

    forest: Any = model.parts[-1][1] if isinstance(model, Blend) else model
    return forest


def _fitted(learner: Boosting, material: _Material, checkpoint: Path | None, every: int, quiet: bool) -> Forest | Blend:
    from rankinite.cli.progress import watching
    from rankinite.rankers.checkpoint import Checkpoint

    keeping = [] if checkpoint is None else [Checkpoint(checkpoint, every=every)]
    try:
        with watching(learner.trees, quiet=quiet) as shown:
            return learner.fit(material.train, material.valid, base=material.base, callbacks=[*keeping, *shown])
    except KeyboardInterrupt:
        say("interrupted before the first tree: there is nothing to save")
        raise typer.Exit(INTERRUPTED) from None


def _tested(learner: Boosting, model: Forest | Blend, test: Dataset | None) -> Evaluation | None:
    from rankinite.evaluation.evaluate import evaluate

    if test is None:
        return None
    with options.busy("evaluating"):
        return evaluate(model, test, [learner.watched()])


def _values(forest: Forest) -> dict[str, float | None]:
    """The watched measure of the rounds kept, on the training and the validation data."""
    if forest.history is None:
        return {}
    best, told = forest.history.best, forest.history.to_dict()
    return {name: told[name][best] if best < len(told[name]) else None for name in ("train", "valid")}


def _told(out: Path, forest: Forest, seconds: float, checkpoint: Path | None) -> str:
    """One line on what came out."""
    history = forest.history
    if history is None:
        return f"{out}: {len(forest)} trees, {seconds:.1f} s"
    values = [f"{name} {value:.4f}" for name, value in _values(forest).items() if value is not None]
    watched = f", {history.measure} {', '.join(values)}" if values else ""
    again = f"; run the same again to go on from {checkpoint}" if checkpoint is not None and checkpoint.exists() else ""
    why = WHY.get(history.stopped, history.stopped)
    kept = history.best * forest.outputs
    whole = f", {len(forest)} with those of the base" if len(forest) > kept else ""
    return f"{out}: {kept} trees kept{whole} ({why}){watched}, {seconds:.1f} s{again}"


def _print(out: Path, forest: Forest, seconds: float, tested: Evaluation | None, *, json: bool) -> None:
    from rankinite.cli.printing import echo

    if not json:
        if tested is not None:
            echo(str(tested))
        return
    import json as writer

    history = forest.history
    summary = {
        "model": str(out),
        "learner": forest.settings.get("learner"),
        "trees": 0 if history is None else history.best * forest.outputs,
        "rounds": None if history is None else history.best,
        "stopped": None if history is None else history.stopped,
        "measure": None if history is None else history.measure,
        **_values(forest),
        "seconds": round(seconds, 3),
        "settings": dict(forest.settings),
        "test": None if tested is None else {str(result.measure): result.mean for result in tested.results},
    }
    echo(writer.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False))
