"""Rankers as the command line names them: ``feature:NAME``, a file of scores, or a TREC run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rankinite.cli.options import Reading, busy
from rankinite.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.kernel import Floats

HELP = "feature:NAME (ascending:NAME ranks small values high), a file with one score a row (or .npy), or a TREC run"

COLUMN = ("feature:", "ascending:")


def named(spec: str) -> tuple[str, str]:
    """A ranker's name in tables and what it is: ``bm25=feature:25`` → ("bm25", "feature:25")."""
    name, equals, rest = spec.partition("=")
    if equals and name and not spec.startswith(COLUMN) and not Path(spec).exists():
        return name, rest
    return spec, spec


def load(specs: Sequence[str], paths: Sequence[Path], reading: Reading) -> tuple[Dataset, dict[str, Floats]]:
    """The data and every ranker's scores on it, by name."""
    from rankinite.data.formats import format_of
    from rankinite.data.streams import spooled

    listed = [named(spec) for spec in specs]
    names = [name for name, _ in listed]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ArgumentError(f"two rankers are called {repeated[0]!r}. Name them apart, as in old={listed[0][1]}.")
    with ExitStack() as pipes:  # a pipe can be read once only, but its format must be told first
        files = [pipes.enter_context(spooled(path)) for path in paths]
        if format_of(files, reading.input_format, grouped=reading.group is not None) == "qrels":
            return _load_trec(listed, files)
        data = reading.read(files)
        return data, {name: _scores(what, data) for name, what in listed}


def _load_trec(listed: Sequence[tuple[str, str]], paths: Sequence[Path]) -> tuple[Dataset, dict[str, Floats]]:
    from rankinite.data.trec import read_trec

    if len(paths) != 1:
        raise ArgumentError(f"{len(paths)} qrels files were given. Give one; join several with cat.")
    for _, what in listed:
        if what.startswith(COLUMN):
            raise ArgumentError(f"{what}: qrels have no features. Give TREC runs to judge by {paths[0]}.")
    with busy(f"reading {paths[0]} and {len(listed)} run(s)"):
        data, scores = read_trec(paths[0], [Path(what) for _, what in listed])
    return data, {name: values for (name, _), values in zip(listed, scores, strict=True)}


def _scores(what: str, data: Dataset) -> Floats:
    from rankinite.data.formats import first_line
    from rankinite.data.streams import spooled
    from rankinite.data.trec import read_run, read_scores
    from rankinite.rankers.feature import Feature

    if what.startswith(COLUMN):
        kind, _, name = what.partition(":")
        return Feature(name, ascending=kind == "ascending").score(data)
    if not Path(what).exists():
        raise DataError(f"{what}: there is no such file. A ranker is {HELP}.")
    with spooled(Path(what)) as path:
        if path.suffix != ".npy" and len(first_line(path).split()) == 6:
            return read_run(path, data)
        return read_scores(path, data)
