"""``rankinite demo``: the main job on generated data, step by step, each with the command that does it."""

from __future__ import annotations

import shlex
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from rankinite.cli.files import Output, OverwriteOption
from rankinite.cli.output import echo
from rankinite.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKET = ("--documents", "20", "--features", "25", "--noise", "0.3", "--shift", "0.5")
"""The options of both markets; the second differs from the first by the shift."""
QUERIES = {"big": "600", "valid": "200", "new": "60", "test": "300"}
TREES = "200"
FILES = ("big-market.txt", "big-market-valid.txt", "new-market.txt", "new-market-test.txt", "big-market.rankinite")
RUN = "demo.txt"
"""The file that tells which run made the others."""


def demo(
    out: Annotated[
        Path,
        Output(is_folder=lambda _path: True),
        typer.Option("--out", "-o", help="A folder for everything that is made."),
    ] = Path("demo"),
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Another seed is another pair of markets.")] = 0,
    overwrite: OverwriteOption = False,
    quiet: bool = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the evidence of the adaptation as JSON, and nothing else.")
    ] = False,
) -> None:
    """See the main job on generated data: a ranker of a big market, adapted to a small new one. Takes a minute or two.

    It generates a background market and a small target market whose users want something else, trains LambdaMART on
    the first, adapts it to the second by every method, compares all of them on queries held out, and saves the one
    chosen with a report. Every step shows the command that does it, so that you can do the same with files of yours.

    Examples:

      rankinite demo

      rankinite demo --out elsewhere --seed 1
    """
    start = monotonic()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise DataError(f"this folder cannot be made ({problem})", place=out, remedy="Give another with `out`") from problem
    _check_free(out, seed, overwrite=overwrite)
    steps = _steps(out, seed, ("--quiet",) * quiet, ("--overwrite",) * overwrite)
    for words, command in steps:
        if json:
            with nullcontext() if command is steps[-1][1] else redirect_stdout(StringIO()):
                _run([*command, "--json"])
        else:
            echo(f"\n{words}\n$ rankinite {shlex.join(command)}\n")
            _run(command)
    if not json:
        echo(_closing_words(out, monotonic() - start))


def _check_free(out: Path, seed: int, *, overwrite: bool) -> None:
    """Refuse a folder with files of another run, and note in it which run this is."""
    from rankinite.data.io.output_files import write_atomically

    note, run = out / RUN, f"# rankinite demo --seed {seed}\n".encode()
    held = [name for name in (*FILES, "adapted") if (out / name).exists()]
    if held and not overwrite and (not note.is_file() or note.read_bytes() != run):
        raise ArgumentError(
            f"holds files of another run ({', '.join(held)})",
            setting="out",
            value=str(out),
            remedy="Write elsewhere, or give `overwrite` to replace them",
        )
    with write_atomically(note) as handle:
        handle.write(run)


def _steps(out: Path, seed: int, quiet: tuple[str, ...], overwrite: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    """The steps in words, each with its command."""
    big, valid, new, test = (str(out / name) for name in FILES[:4])
    model, adapted = str(out / FILES[4]), str(out / "adapted")
    seeded = ["--seed", str(seed), *quiet]
    world = [*MARKET, "--doc-ids", *seeded]
    other = ["--domain", "1", *world]
    steps = {
        "A big market with many judged queries,": ["synth", *world, "--queries", QUERIES["big"], "--out", big],
        "other queries of it, to tell when to stop training,": [
            *("synth", *world, "--part", "valid", "--queries", QUERIES["valid"], "--out", valid)
        ],
        "a new one with few, whose users want something else,": ["synth", *other, "--queries", QUERIES["new"], "--out", new],
        "and other queries of the new one, to judge by.": [
            *("synth", *other, "--part", "test", "--queries", QUERIES["test"], "--out", test)
        ],
        "The ranker of the big market.": [
            *("train", big, "--valid", valid, "--preset", "plain", "--trees", TREES, "--leaves", "12", *seeded, "--out", model)
        ],
        "Adapted to the new market by every method; its own queries choose, the test queries only judge.": [
            *("adapt", model, "--train", new, "--background-data", big, "--test", test, *seeded, *overwrite, "--out", adapted)
        ],
    }
    return list(steps.items())


def _run(command: Sequence[str]) -> None:
    """Run a verb as if it were typed."""
    from rankinite.cli.app import app

    code = app([*command], standalone_mode=False)
    if code:  # the verb has printed why
        raise typer.Exit(code)


def _closing_words(out: Path, seconds: float) -> str:
    adapted = out / "adapted"
    return f"""
That took {seconds:.0f} s.
  the report      {adapted / "report.html"} (open it in a browser)
  the model       {adapted / "model.rankinite"}

Try it on your own files (LETOR, CSV, Parquet, …):
  rankinite describe YOUR.txt
  rankinite train YOUR.txt --valid YOUR-VALID.txt --out yours.rankinite
  rankinite adapt yours.rankinite --train NEW-MARKET.txt --background-data YOUR.txt --out new-market
A LightGBM or XGBoost model will do as well: rankinite adapt lightgbm.txt --train NEW-MARKET.txt --out new-market"""
