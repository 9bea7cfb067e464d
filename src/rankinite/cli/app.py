"""The command ``rankinite``: its help, the options of all verbs, and the verbs by task."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import rankinite
from rankinite.cli import commands as verbs
from rankinite.cli import settings_file as config
from rankinite.cli.foreign_options import answered
from rankinite.errors import ArgumentError
from rankinite.version import REMOVED

EXAMPLES = """[bold]Three examples[/bold]

Train on judged data and measure the ranker on other queries:

  rankinite train train.txt.gz --valid valid.txt.gz --out web.rankinite

  rankinite evaluate web.rankinite test.txt.gz -m ndcg@10 -m err

Adapt it to a new market with few judged queries, by the method that does best there:

  rankinite adapt web.rankinite --train market.txt --out market

See whether that is better, and how surely:

  rankinite compare web.rankinite market/model.rankinite --data test.txt

Each verb has more: rankinite train --help."""
EXIT_CODES = (
    "Exit codes: 0 all went well; 1 a fault of the program; 2 bad input (the message says what, where and what to do); "
    "130 ended by Ctrl-C; 141 the reader of the output has gone, as head goes; 143 ended by SIGTERM."
)


class Verbs(TyperGroup):
    """The verbs; in errors, long names of unknown ones are cut."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the arguments after the options before the verb."""
        with answered(list(args), self.params):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that the first argument names; those that 0.2 had are answered with what there is instead."""
        if args[0] in REMOVED:
            raise ArgumentError(f"there is no verb {args[0]} any more", value=args[0], remedy=REMOVED[args[0]])
        with config.shortened_values():
            return super().resolve_command(ctx, args)


app = typer.Typer(
    name="rankinite",
    cls=Verbs,
    help="Learning to rank: train, adapt, combine and compare rankers on judged queries.",
    epilog=f"{EXAMPLES}\n\n{EXIT_CODES}",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rankinite {rankinite.__version__}")
        raise typer.Exit


@app.callback()
def options(
    threads: Annotated[int | None, typer.Option("--threads", min=1, help=verbs.THREADS)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors, nothing else.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Also print what is read, sizes, versions and times.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Settings shared by all verbs: :class:`rankinite.cli.commands.Common` reads them."""


FIRST, DATA, TRAIN, JUDGE, USE = "First steps", "Data", "Train and adapt", "Judge", "Use"
VERBS = {
    "demo": (FIRST, "See the main job on generated data: a ranker adapted to a new market, with a report."),
    "warm-up": (FIRST, "Compile everything ahead, for images and continuous integration."),
    "synth": (DATA, "Make artificial judged data, of one domain or several that differ."),
    "describe": (DATA, "Show queries, grades and features of judged data, and what is odd."),
    "convert": (DATA, "Rewrite judged data, cleaned, in another format."),
    "bin": (DATA, "Code data of any size into folders that trees are trained from, on one machine or many."),
    "train": (TRAIN, "Train boosted trees, a net or a linear ranker."),
    "tune": (TRAIN, "Search the settings of a learner by cross-validation, on one machine or a cluster."),
    "adapt": (TRAIN, "Adapt a ranker to a new domain with few judged queries, by the best of all methods."),
    "combine": (TRAIN, "Combine rankers to one that is best for a measure."),
    "ensemble": (TRAIN, "Train an ensemble: many fits averaged into one model, such as the twelve of the challenge."),
    "distil": (TRAIN, "Distil a large ranker into one small forest that ranks alike."),
    "evaluate": (JUDGE, "Measure a ranker, with confidence intervals."),
    "compare": (JUDGE, "Compare rankers on the same queries: which is better, and how surely."),
    "cross-validate": (JUDGE, "Compare learners on queries that they did not see, fold by fold."),
    "explain": (JUDGE, "Say why one document is above another, and which features rank a query."),
    "optimum": (JUDGE, "Test whether a model's weights are a local optimum of a measure."),
    "score": (USE, "Score the rows of data, or write a TREC run."),
    "export": (USE, "Write a ranker for the engine or library that will serve it, exactly."),
    "check": (USE, "Compare the scores that an engine returned with those of the exported ranker."),
    "inspect": (USE, "Show what a model is made of, and which features it uses."),
}
"""The verbs by task, each in a module of its name, with their summaries in the help."""

for _verb, (_panel, _summary) in VERBS.items():
    app.command(_verb, cls=verbs.listed(_verb), help=_summary, rich_help_panel=_panel)(lambda: None)
