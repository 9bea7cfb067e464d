"""Progress on standard error: a live bar on a terminal, else lines.

Training prints a line every tenth of the way; trying methods of adaptation prints one per method.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from rankinite.cli.messages import say
from rankinite.engine.compile_notices import when_compiling
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.engine.work import ProgressCallback, WorkProgress
    from rankinite.learners.base import Callback, FoldProgress, Progress

COMPILING = "compiling (first run only) …"


@contextmanager
def watching(rounds: int | None, unit: str, *, quiet: bool) -> Generator[list[Callback]]:
    """The callbacks that show how training goes; ``unit``: the name of a round; ``quiet``: none."""
    if quiet:
        yield []
        return
    from rich.console import Console

    console = Console(stderr=True)
    with _bar(console, rounds) if console.is_terminal else _lines(unit) as show:
        yield [show]


@dataclass(frozen=True)
class _Shown:
    """A callback that shows the training and, where there is one, the choice of the number of trees before it."""

    training: Callable[[Progress], None]
    choice: Callable[[FoldProgress], None]

    def __call__(self, progress: Progress) -> None:
        self.training(progress)

    def folds(self, progress: FoldProgress) -> None:
        """Show how the choice goes."""
        self.choice(progress)


def _choice_summary(progress: FoldProgress) -> str:
    """``ndcg@10 0.6533 on 5 held-out parts (best at 41)``."""
    parts = counted(progress.parts, "held-out part")
    return f"{progress.measure} {progress.value:.4f} on {parts} (best at {progress.best})"


class _Best:
    """The validation values so far, so that the best one can be shown with its round."""

    def __init__(self) -> None:
        self.values: dict[int, float] = {}

    def summary(self, progress: Progress) -> str:
        """The values of a round: ``ndcg@10 train 0.7012 valid 0.6533 (best 0.6540 at 41)``."""
        words = [progress.measure]
        if progress.train is not None:
            words.append(f"train {progress.train:.4f}")
        if progress.valid is not None:
            self.values[progress.round] = progress.valid
            words.append(f"valid {progress.valid:.4f}")
            known = self.values.get(progress.best)  # not known if it was before a checkpoint
            words.append(f"(best {'' if known is None else f'{known:.4f} '}at {progress.best})")
        return " ".join(words) if len(words) > 1 else ""


@contextmanager
def _bar(console: Any, rounds: int | None) -> Generator[Callback]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[values]}"),
        TimeRemainingColumn(),
    )
    best = _Best()
    with Bars(*columns, console=console) as bars:
        task = bars.add_task("preparing", total=rounds, values="")
        begun = False

        def show(progress: Progress) -> None:
            nonlocal begun
            if not begun:
                bars.reset(task, total=progress.rounds, completed=progress.round - 1)  # a checkpoint's rounds took no time here
                begun = True
            bars.update(task, completed=progress.round, description="training", values=best.summary(progress))

        def show_choice(progress: FoldProgress) -> None:
            values, what = _choice_summary(progress), "choosing the number of trees"
            bars.update(task, total=progress.rounds, completed=progress.round, description=what, values=values)

        with when_compiling(lambda: bars.update(task, description=COMPILING)):
            yield _Shown(show, show_choice)


@contextmanager
def _lines(unit: str) -> Generator[Callback]:
    best, start = _Best(), monotonic()
    begun = False

    def show(progress: Progress) -> None:
        nonlocal begun
        if not begun and progress.round > 1:
            say(f"going on from {unit} {progress.round - 1} of the checkpoint")
        begun = True
        values = best.summary(progress)
        if progress.round % max(1, progress.rounds // 10) == 0 or progress.round == progress.rounds:
            say(f"{unit} {progress.round} of {progress.rounds}{': ' * bool(values)}{values}, {monotonic() - start:.1f} s")

    def show_choice(progress: FoldProgress) -> None:
        if progress.round == 1:
            say(f"no validation data: held-out training queries choose the number of trees, {progress.rounds} at most")
        if progress.round % max(1, progress.rounds // 10) == 0:
            say(f"{unit} {progress.round}: {_choice_summary(progress)}, {monotonic() - start:.1f} s")

    yield _Shown(show, show_choice)


@contextmanager
def trying(*, quiet: bool) -> Generator[ProgressCallback | None]:
    """A callback that shows how methods are tried, one after the other; None if ``quiet``."""
    if quiet:
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with _methods_bar(console) if console.is_terminal else _method_lines() as show:
        yield show


class _Pace:
    """The time that the rest takes, in proportion to the work so far; results kept from an earlier run took no time."""

    def __init__(self) -> None:
        self.start = monotonic()
        self.done = self.kept = 0.0

    def left(self, step: WorkProgress) -> str:
        """The time left after a step: ``about 40 s left``, or nothing where it cannot be known."""
        if step.resumed:
            self.kept += step.done - self.done
        self.done = max(self.done, step.done)
        worked = self.done - self.kept
        if worked < 0.01 or self.done >= 1.0:
            return ""
        return f"about {_duration((monotonic() - self.start) * (1.0 - self.done) / worked)} left"


def _duration(seconds: float) -> str:
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


@contextmanager
def _methods_bar(console: Any) -> Generator[ProgressCallback]:
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(24), TaskProgressColumn(), TextColumn("{task.fields[left]}"))
    pace = _Pace()
    with Bars(*columns, console=console) as bars:
        task = bars.add_task("preparing", total=1.0, left="")

        def show(step: WorkProgress) -> None:
            bars.update(task, completed=step.done, description=step.what, left=pace.left(step))

        with when_compiling(lambda: bars.update(task, left=COMPILING)):
            yield show


@contextmanager
def _method_lines() -> Generator[ProgressCallback]:
    pace, before = _Pace(), monotonic()

    def show(step: WorkProgress) -> None:
        nonlocal before
        left = pace.left(step)
        if step.finished:
            now = monotonic()
            seconds = now - before if step.seconds is None else step.seconds
            took = "kept from an earlier run" if step.resumed else f"{seconds:.1f} s"
            before = now
            say(f"{step.what}: {took}{'; ' * bool(left)}{left}")

    yield show
