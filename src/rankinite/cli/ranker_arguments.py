"""Rankers as the command line names them: ``feature:NAME``, ``column:0``, a model file, a file of scores, or a TREC run."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankinite.cli.messages import busy, detail, say
from rankinite.cli.options import Reading
from rankinite.errors import ArgumentError, DataError, listed, quoted
from rankinite.plurals import agreeing

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.engine.kernel import Floats
    from rankinite.models.base import Ranker

FEATURE = "feature:NAME or column:0, the first feature (ascending:NAME, ascending-column:0: small values rank high)"
MODEL = f"a model file (all-trees:FILE also takes XGBoost's trees behind its best iteration), or {FEATURE}"
ALL_TREES = "all-trees:"
"""Before the file of a model: with all its trees, not only those up to the best round of early stopping."""
HELP = f"a file with one score per row (or .npy), a TREC run, {MODEL}"

COLUMN = ("feature:", "ascending:", "column:", "ascending-column:")
"""Prefixes of rankers that are one feature: by name, or by position, counted from 0."""
PREFIXES = (*COLUMN, ALL_TREES)
"""All prefixes of rankers that are no part of a file's name."""


def named(spec: str) -> tuple[str, str]:
    """A ranker's name in tables and what it is: ``bm25=feature:25`` → ("bm25", "feature:25")."""
    name, equals, rest = spec.partition("=")
    if equals and name and not spec.startswith(PREFIXES) and not Path(spec).exists():
        return name, rest
    return spec, spec


def path_of(text: str, folder: Path) -> tuple[str, Path | None]:
    """The text before a ranker's path, such as its name with an equals sign, and the path unless it is a feature."""
    name, equals, rest = text.partition("=")
    if not (equals and name) or text.startswith(PREFIXES) or (folder / text).exists():
        name, equals, rest = "", "", text
    if rest.startswith(COLUMN):
        return name + equals, None
    path = rest.removeprefix(ALL_TREES)
    return text.removesuffix(path), Path(path)


def load(specs: Sequence[str], paths: Sequence[Path], reading: Reading) -> tuple[Dataset, dict[str, Ranker | Floats]]:
    """The data and the rankers by name: models and features, or scores where there is nothing else."""
    from rankinite.data.io.format_detection import format_of
    from rankinite.data.io.streams import spooled

    pairs = [named(spec) for spec in specs]
    names = [name for name, _ in pairs]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise _named_twice(repeated[0], pairs[0][1])
    with ExitStack() as pipes:  # a pipe can be read only once, but its format must be known first
        files = [pipes.enter_context(spooled(path)) for path in paths]
        opened = {what: _opened(what, pipes) for _, what in pairs}
        if format_of(files, reading.input_format, grouped=reading.group is not None) == "qrels":
            judged, scores = _load_trec([(name, what, opened[what]) for name, what in pairs], files)
            return reading.mapped(judged), scores
        data, models = read_for({what: one for what, one in opened.items() if not isinstance(one, Path)}, files, reading)
        found = opened | models
        return data, {name: _scores(one, data) if isinstance(one := found[what], Path) else one for name, what in pairs}


@contextmanager
def kept_open(specs: Sequence[str]) -> Generator[dict[str, Ranker | Path]]:
    """Rankers by name, and the files of those that are scores or runs, which may be pipes; refuses equal names."""
    with ExitStack() as pipes:
        found: dict[str, Ranker | Path] = {}
        for spec in specs:
            name, what = named(spec)
            if name in found:
                raise _named_twice(name, what)
            found[name] = _opened(what, pipes)
        yield found


def read_for(
    models: Mapping[str, Ranker], paths: Sequence[Path], reading: Reading, *, needs_queries: bool = True
) -> tuple[Dataset, dict[str, Ranker]]:
    """The data to be scored by these rankers, and the rankers with features that are in it, under the same names.

    A LETOR file does not mention features behind its last one whose values are all 0; they are added if a ranker needs them.
    Models of other makers may not know the names of their features; see :mod:`rankinite.models.files.matching`.
    ``needs_queries``: whether data that do not tell their queries are refused.
    """
    from rankinite.data.io.streams import spooled
    from rankinite.models.files.matching import match_features

    with ExitStack() as pipes:  # they may have to be read twice
        files = [pipes.enter_context(spooled(path)) for path in paths]
        known = dict.fromkeys(name for model in models.values() for name in model.feature_names)
        data = reading.read(files, known_features=known, needs_queries=needs_queries)
        names, count = data.feature_names, len(data.feature_names)
        longest = max(
            (model.feature_names for model in models.values() if model.feature_names[:count] == names), key=len, default=names
        )
        if 0 < count < len(longest) and reading.features is None:
            data = reading.read(files, like=_without_rows(longest), needs_queries=needs_queries)
            absent = listed(longest[count:], 5)
            many = len(longest) - count
            say(
                f"{data.source}: the model's {agreeing(many, 'feature')} {absent} {agreeing(many, 'is')} not in it and "
                f"{agreeing(many, 'counts')} as {reading.missing}"
            )
    matched: dict[str, Ranker] = {}
    for name, model in models.items():
        try:
            matched[name], note = match_features(model, data.feature_names, data.source)
        except DataError as problem:
            raise problem.at(f"ranker {name}") from problem
        if note is not None:
            say(f"{name}: {note}")
    return data, matched


def ranker(spec: str) -> Ranker:
    """The ranker that a model file holds, or one feature."""
    from rankinite.data.io.streams import spooled

    if spec.startswith(COLUMN):
        return _feature(spec)
    file = spec.removeprefix(ALL_TREES)
    with spooled(Path(file)) as path:
        return _model(path, file, all_trees=file != spec)


def _model(path: Path, name: str, *, all_trees: bool) -> Ranker:
    """The ranker of a model file, and a note on trees that were left out; ``name``: what the user calls the file."""
    from rankinite.models.files.loading import load as load_model

    found: Any = load_model(path, all_trees=all_trees)
    if maker_of_file(path) != "rankinite":
        from rankinite.models.files.xgboost import left_out

        note = left_out(found)
        if note is not None:
            say(f"{name}: {note}; {ALL_TREES}{name} takes all")
    return found


def _feature(spec: str) -> Ranker:
    """One feature: a text after the colon is a name, a number after ``column:`` a position."""
    from rankinite.models.feature import Feature

    kind, _, which = spec.partition(":")
    if kind.endswith("column") and not (which.isascii() and which.isdecimal()):
        by_name = f"{'ascending' if kind.startswith('ascending') else 'feature'}:{which}"
        raise ArgumentError(
            f"{quoted(which)} is no position",
            place=spec,
            value=which,
            rule=f"A position is a whole number from 0 on, as in {kind}:0",
            remedy=f"For the feature of this name write {by_name}",
        )
    feature: Any = Feature(int(which) if kind.endswith("column") else which, ascending=kind.startswith("ascending"))
    return feature


def by_name(specs: Sequence[str]) -> dict[str, Ranker]:
    """The rankers of model files and features, by name; refuses equal names."""
    found: dict[str, Ranker] = {}
    for spec in specs:
        name, what = named(spec)
        if name in found:
            raise _named_twice(name, what)
        found[name] = ranker(what)
    return found


def _named_twice(name: str, spec: str) -> ArgumentError:
    remedy = f"Name them apart, as in old={spec}"
    return ArgumentError(f"two rankers are called {quoted(name)}", value=name, remedy=remedy)


def maker_of_file(path: Path) -> str | None:
    """The maker of a model file, by its first bytes, such as rankinite or LightGBM; None: it is no model file."""
    from rankinite.data.io.streams import open_bytes
    from rankinite.models.files.loading import BEGINNING, maker_of

    with open_bytes(path) as handle:
        return maker_of(handle.read(BEGINNING))


def _opened(what: str, pipes: ExitStack) -> Ranker | Path:
    """A ranker, or the file of its scores or run."""
    from rankinite.data.io.streams import spooled

    if what.startswith(COLUMN):
        return ranker(what)
    file = what.removeprefix(ALL_TREES)
    if not Path(file).exists():
        raise DataError("there is no such file", place=file, value=file, rule=f"A ranker is {HELP}", remedy="Check the name")
    path = pipes.enter_context(spooled(Path(file)))
    return _model(path, file, all_trees=file != what) if maker_of_file(path) or file != what else path


def _load_trec(
    opened: Sequence[tuple[str, str, Ranker | Path]], paths: Sequence[Path]
) -> tuple[Dataset, dict[str, Ranker | Floats]]:
    from rankinite.data.io.trec import read_trec

    if len(paths) != 1:
        remedy = "Give one; join several with cat"
        raise ArgumentError(f"{len(paths)} qrels files were given", place=paths[0], value=len(paths), remedy=remedy)
    runs: list[Path] = []
    for _, what, run in opened:
        if not isinstance(run, Path):
            raise ArgumentError(
                f"this ranker needs features, and the qrels {paths[0]} have none",
                place=what,
                value=what,
                remedy="Give TREC runs",
            )
        runs.append(run)
    with busy(f"reading {paths[0]} and {len(opened)} run(s)"):
        data, scores = read_trec(paths[0], runs)
    for (_, what, _), run in zip(opened, scores, strict=True):
        detail(f"{what}: no judgement of {run.unjudged_documents:,} of {run.documents:,} documents of judged queries: grade 0")
    return data, {name: values for (name, _, _), values in zip(opened, scores, strict=True)}


def _scores(path: Path, data: Dataset) -> Floats:
    from rankinite.data.io.given_scores import given_scores

    return given_scores(path, data)


def _without_rows(names: tuple[str, ...]) -> Dataset:
    """Data with these features and no rows."""
    import numpy as np

    from rankinite.data.dataset import Dataset
    from rankinite.engine.kernel import INDEX

    return Dataset(
        features=np.zeros((0, len(names)), np.float32),
        grades=np.zeros(0, np.float32),
        offsets=np.zeros(1, INDEX),
        qids=np.zeros(0, "U1"),
        feature_names=names,
        source="the model's data",
    )
