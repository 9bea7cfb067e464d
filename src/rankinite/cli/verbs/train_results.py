"""Results of ``rankinite train``: the line on standard error, the summary as JSON, and the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankinite.cli import options
from rankinite.cli import report_option as reporting
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.cli.verbs.train_inputs import TrainingData
    from rankinite.evaluation.evaluate import Evaluation
    from rankinite.learners.base import Learner
    from rankinite.models.base import Ranker
    from rankinite.models.forest import Forest
    from rankinite.models.history import History
    from rankinite.models.linear import Linear
    from rankinite.models.net import Net
    from rankinite.report.document import Report

REASONS = {
    "finished": "all {unit}s done",
    "early": "stopped early, as it got no better",
    "exhausted": "stopped, as no {step} gains anything any more",
    "interrupted": "interrupted",
}
"""Why training stopped: what the history calls it → how it is printed."""


def trained_part(model: Ranker) -> Forest | Net | Linear:
    """The part that training has made: the model, or the last part of a blend with a base; of several seeds, the last one's."""
    whole: Any = model
    last = whole.last_trained()
    return last if last is whole else trained_part(last)


def summary_line(out: Path, trained: Forest | Net | Linear, seconds: float, checkpoint: Path | None, seeds: int) -> str:
    """One line on the model: its size, why training stopped, the measures, the time."""
    from rankinite.models.forest import Forest

    history = trained.history
    assert history is not None  # whatever was trained has one
    values = [f"{name.replace('_', ' ')} {value:.4f}" for name, value in _values(history).items() if value is not None]
    watched = f", {history.measure} {', '.join(values)}" if values else ""
    again = f"; run the same again to go on from {checkpoint}" if checkpoint is not None and checkpoint.exists() else ""
    unit, step = ("round", "split") if isinstance(trained, Forest) else (trained.unit, "feature")
    why = REASONS.get(history.stopped, history.stopped).format(unit=unit, step=step)
    several = f"the mean of {seeds} seeds; of the last one, " if seeds > 1 else ""
    return f"{out}: {several}{_kept(trained, history)} ({why}){watched}, {seconds:.1f} s{again}"


def _kept(trained: Forest | Net | Linear, history: History) -> str:
    """How much of what was trained is in the model."""
    from rankinite.models.forest import Forest

    if not isinstance(trained, Forest):
        base = "" if history.best else ", which is the base as it was"
        return f"{trained.unit} {history.best} of {history.rounds} kept{base}"
    kept = history.best * trained.outputs
    return f"{counted(kept, 'tree')} kept" + (f", {len(trained)} with those of the base" if len(trained) > kept else "")


def _values(history: History) -> dict[str, float | None]:
    """The watched measure of the rounds kept, on the training and the validation data, or where held-out queries chose them."""
    recorded = history.to_dict()
    known = {name: recorded.get(name, []) for name in ("train", "valid", "held_out")}
    return {name: values[history.best] if history.best < len(values) else None for name, values in known.items()}


def print_results(
    out: Path, trained: Forest | Net | Linear, seconds: float, tested: Evaluation | None, seeds: int, *, json: bool
) -> None:
    """Print the evaluation on test data, or a summary as JSON: of several seeds, the training of the last one."""
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
        "seeds": seeds,
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


def training_report(learner: Learner, model: Ranker, material: TrainingData) -> Report:
    """The report of a training, judged by the test data or else the validation data, unless these are codes alone."""
    from rankinite.binned.data import Binned
    from rankinite.report.builders import of_training
    from rankinite.report.verdicts import FLATTERED

    valid = None if isinstance(material.valid, Binned) else material.valid
    valid_only = material.test is None and valid is not None
    with options.busy("making the report"):
        return of_training(
            model,
            valid if material.test is None else material.test,
            [learner.watched()],
            base=material.base,
            note=FLATTERED if valid_only else "",
            trained_on={"train": material.train, "valid": None if valid_only else material.valid},
            facts=reporting.run_facts(),
        )
