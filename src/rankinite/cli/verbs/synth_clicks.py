"""Click logs of ``rankinite synth --clicks``: options, and the writing of the log and of the true examination."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.choices import ClickModel
from rankinite.cli import completion as completing
from rankinite.cli.messages import busy, say
from rankinite.cli.options import Reading
from rankinite.cli.settings_file import RANKER
from rankinite.errors import ArgumentError
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.models.base import Ranker

EXAMINATION = ".examination.csv"
"""What is added to the name of a log for that of the true examination."""
_CLICKS = "Click logs"
_FEW = 20
"""Judged queries that the ranker learns from that shows documents, if none is given."""


@dataclass(frozen=True)
class ClickOptions:
    """What a click log is made of."""

    clicks: Annotated[
        bool,
        typer.Option(
            "--clicks",
            help="Write what simulated users click of judged data: sessions with grades 0 and 1, and positions. The true "
            "examination goes to OUT.examination.csv.",
            rich_help_panel=_CLICKS,
        ),
    ] = False
    judged: Annotated[
        list[Path] | None,
        typer.Option(
            help="Judged data whose grades say what users like; if left out, generated ones. May be repeated.",
            rich_help_panel=_CLICKS,
        ),
    ] = None
    shown_by: Annotated[
        str | None,
        RANKER,
        typer.Option(
            help="The ranker that shows documents: a model file, feature:NAME or column:0. If left out, a weak one, trained on "
            f"{_FEW} of the queries.",
            autocompletion=completing.rankers,
            rich_help_panel=_CLICKS,
        ),
    ] = None
    sessions: Annotated[int, typer.Option(min=1, help="How often users search.", rich_help_panel=_CLICKS)] = 100_000
    click_model: Annotated[
        ClickModel,
        typer.Option(
            help="Where users look: by position alone, from the top down until satisfied (cascade), or by position, clicking "
            "more readily what is shown first (trust).",
            rich_help_panel=_CLICKS,
        ),
    ] = "position"
    eta: Annotated[
        float, typer.Option(min=0, help="Position k is looked at with chance (1/k)^eta.", rich_help_panel=_CLICKS)
    ] = 1.0
    click_noise: Annotated[
        float,
        typer.Option(min=0, max=1, help="The chance that a useless document is clicked when seen.", rich_help_panel=_CLICKS),
    ] = 0.1
    shown: Annotated[int, typer.Option(min=1, help="Documents of a session, at most.", rich_help_panel=_CLICKS)] = 10

    def check(self) -> None:
        """Refuse what is for click logs alone where none is asked for."""
        for name in ("judged", "shown_by"):
            value = getattr(self, name)
            if value is not None and not self.clicks:
                texts = list(map(str, value)) if isinstance(value, list) else value
                raise ArgumentError("is for click logs", setting=name, value=texts, remedy="Give `clicks` too, or leave it out")


def further_files(log: Path) -> list[Path]:
    """The files that are written beside a log: positions, where its format has no room for them, and the true examination."""
    return [Path(f"{log}.position"), Path(f"{log}{EXAMINATION}")]


def write_log(options: ClickOptions, generated: Any, reading: Reading, seed: int, out: Path) -> dict[str, Any]:
    """Simulate a log and write it; ``generated`` makes judged data where none are given. Returns a summary."""
    from rankinite.cli.output import summary
    from rankinite.data.clicks import ClickSettings, simulate_clicks
    from rankinite.data.io.writing import write

    settings = ClickSettings(
        model=options.click_model, eta=options.eta, noise=options.click_noise, shown=options.shown, seed=seed
    )
    data, ranker = _material(options, generated, reading)
    with busy(f"simulating {out}"):
        log = simulate_clicks(data, ranker.score(data), options.sessions, settings)
        log.write_examination(f"{out}{EXAMINATION}")
        write(log.data, out)
    clicks = int(log.data.grades.sum())
    sessions, rows = counted(log.data.queries, "session"), counted(log.data.rows, "row")
    say(f"{out}: {sessions} of {counted(data.queries, 'query')}, {rows}, {counted(clicks, 'click')}")
    say(f"{out}{EXAMINATION}: how likely users were to look at each position")
    return {**summary(out, log.data), "clicks": clicks, "examination": log.examination.tolist()}


def _material(options: ClickOptions, generated: Any, reading: Reading) -> tuple[Dataset, Ranker]:
    """The judged data, and the ranker that shows them."""
    from rankinite.cli.ranker_arguments import ranker, read_for

    if options.judged and options.shown_by is not None:
        data, models = read_for({options.shown_by: ranker(options.shown_by)}, options.judged, reading)
        return data, models[options.shown_by]
    data = reading.read(options.judged) if options.judged else generated()
    return data, _weak_ranker(data) if options.shown_by is None else ranker(options.shown_by)


def _weak_ranker(data: Dataset) -> Any:
    import numpy as np

    from rankinite.learners.lambdamart import LambdaMART

    with busy("training a weak ranker"):
        few = data.select_queries(np.arange(min(_FEW, data.queries)))
        return LambdaMART.plain(trees=10, leaves=4, min_rows=5, train_history=False).fit(few)
