"""``read``: judged data from a file, several files, a table or arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args

import numpy.typing as npt

from rankinite.checks import check_choice
from rankinite.choices import Infinite, Missing, Unjudged
from rankinite.data.categories import before_one_hot, categories_of, category_columns, drop_unused_categories
from rankinite.data.categories import one_hot as make_one_hot
from rankinite.data.dataset import Dataset
from rankinite.data.grades import grade_map_of
from rankinite.data.io.read_settings import Column, ReadSettings, several
from rankinite.data.io.renaming import Names, renaming_of
from rankinite.data.io.sources import ArrowStream, from_files, from_memory
from rankinite.data.io.streams import spooled
from rankinite.data.io.text_files import AnyPath
from rankinite.data.odd_features import like_ids, nearly_one_per_row
from rankinite.data.value_rules import clean, without_empty_grades
from rankinite.engine.memory import within_memory
from rankinite.errors import DataError, respelled, warn

Source: TypeAlias = AnyPath | Iterable[AnyPath] | ArrowStream | npt.ArrayLike


def read(
    source: Source,
    *,
    grades: Column = None,
    qid: Column = None,
    group: npt.ArrayLike | AnyPath | None = None,
    doc_id: Column = None,
    weight: Column = None,
    batch: Column = None,
    features: Sequence[int | str] | str | None = None,
    ignore: Sequence[str] | str = (),
    categories: Sequence[int | str] | str = (),
    one_hot: Sequence[str] | str = (),
    rename: Names | None = None,
    map_grades: Mapping[Any, float] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    missing: Missing = "zero",
    infinite: Infinite = "error",
    unjudged: Unjudged = "error",
    zero_based: bool = False,
    like: Dataset | None = None,
    positions: Column | PathLike[str] = None,
) -> Dataset:
    """Read judged data.

    >>> train = read("train.txt.gz")                                          # doctest: +SKIP
    >>> valid = read("valid.txt.gz", like=train)                              # doctest: +SKIP
    >>> clicks = read(frame, qid="session", grades="clicked", ignore=["url"])  # doctest: +SKIP
    >>> small = read(X, grades=y, qid=q)                                      # doctest: +SKIP

    ``source`` is one of

    - a path, or several paths of one format that are read as one stream: LETOR / SVMlight text (``2 qid:7 1:0.5 … # doc``),
      Parquet, Arrow IPC or Feather, CSV or TSV, TREC qrels (judgements alone, without features). Text may be compressed
      (.gz, .zst, .xz). The suffix tells the format, else how the file begins; ``format`` ("letor", "parquet",
      "arrow", "csv", "tsv", "qrels") overrides that. A pipe is kept in a temporary file while it is read.
    - a table: pandas, polars, PyArrow, or anything else with ``__arrow_c_stream__``.
    - a matrix of rows × features: a NumPy array, or a SciPy sparse matrix, which is made dense.

    **What is copied.** An array of 32-bit floats, row by row (C-contiguous), whose queries are adjacent is not copied, nor is a
    pandas frame that holds its features so: the Dataset shows their memory, read-only. Grades of 32-bit floats and weights of
    64-bit floats are not copied either. **Such arrays must not change as long as the Dataset is used**, as what is computed of
    it is kept; pass ``X.copy()`` of one that will. All else is copied once: other types and layouts, queries whose rows are not
    adjacent, tables of columns (Arrow, polars, most pandas frames) and files, some rows at a time.

    Rows of a query need not be adjacent: they are brought together in the order in which they come. The order of the source
    is remembered: ``data.from_input_order(values)`` takes one value per source row, ``data.to_input_order(scores)`` gives
    scores in that order. A warning says so where an array or a frame was regrouped.

    **Which column is what.** ``grades``, ``qid``, ``doc_id``, ``weight`` and ``batch`` name columns of a table, or give the
    values, one per row. Columns that are not named are found by their usual names, such as ``qid`` or ``query_id`` and
    ``grade``, ``label`` or ``relevance``. All other columns are features: numbers, booleans or categories; ``features``
    chooses some of them, ``ignore`` leaves some out: names, patterns such as "bm25_*", or several with commas between them.
    The unnamed index that pandas writes is left out too, with a warning. Empty cells are missing values (NaN). Qids are
    text: 7 becomes "7"; in text files they stay as they are written.

    **Other names, other grades.** ``rename`` gives columns and features other names, ``{"BM25 score": "bm25"}`` or ``{"1":
    "bm25"}`` for LETOR files, or is the path of a file of such names; all other settings go by the new ones. ``map_grades``
    says which grades words stand for, ``{"Good": 2, "Fair": 1, "Bad": 0}``, or numbers, ``{0: 0, 1: 0, 2: 1}``. Empty cells
    have no grade.

    **Categories.** Columns of text, and categorical (dictionary) columns of pandas, polars and Arrow, are categorical features
    (``Dataset.categories``). ``categories`` names further ones, which hold whole numbers or booleans: columns of a table, or
    features of LETOR files and matrices by name or position. A category with a value of its own in more than half of at least
    100 rows is warned of, as nothing can be learnt from it. ``one_hot`` names features, by name, that are categories and become
    columns of 0 and 1 (``Dataset.one_hot``), for nets and linear rankers; with ``like`` they become the columns that it has.

    ``group``: the number of rows of each query in turn, as numbers or as a file with one per line, where there is no query
    column. A file ``<path>.query`` or ``<path>.group`` beside the data is found without being named. A CSV or TSV file
    whose first line is all numbers has no header: its first column is the grade, the others are features "1", "2", ….
    ``delimiter``: what stands between the cells of CSV and TSV files, a character or "comma", "semicolon", "tab" or "pipe"; if
    left out, the first line tells.

    ``positions``: where each document was shown when the grades, which are clicks then, were collected: 1 for the first. They
    are the name of a table's column or values, one per row; for LETOR files the path of a file with one per line, and a file
    ``<path>.position`` beside the data, LightGBM's, is found without being named. No column is taken for positions by its name.

    **What to do with odd values.**
    ``missing``: a feature that a LETOR line leaves out is "zero" or "nan".
    ``infinite``: ±inf and numbers beyond 32-bit floats, such as 1.79e308, are an "error", "missing" (NaN), "clip" (made
    ± the largest float) or "keep".
    ``unjudged``: rows that nobody judged, which have a negative grade or none, are an "error", "drop" (left out) or "keep"
    (empty grades become −1). With "keep" a table may also have no grade column, a matrix no grades, and every line of a
    LETOR file may begin with ``qid:`` or its first feature instead of a grade: the Dataset is then not ``judged``.
    ``zero_based``: LETOR indices start at 0 instead of 1.

    ``like``: data whose features these must have. LETOR files are padded to as many, tables are read by its feature names, and
    the same features are categories; which categories each has may differ. ``features`` must not leave out any of them.

    A :class:`~rankinite.errors.DataError` gives the place, the value, the rule and the remedy of what is wrong.
    """
    columns: dict[str, Column | PathLike[str]] = {"grades": grades, "qid": qid, "doc_id": doc_id, "weight": weight}
    columns |= {"batch": batch, "positions": positions}
    chosen = None if features is None else several(features)
    settings = ReadSettings(
        columns, group, chosen, several(ignore), missing, unjudged, zero_based, like, categories=several(categories),
        one_hot=several(one_hot), delimiter=delimiter, grade_map=grade_map_of(map_grades),
        renaming=renaming_of(rename, zero_based=zero_based), note=_warn,
    )  # fmt: skip
    data = read_with(source, settings, format=format, infinite=infinite)
    _warn_of_ids(data)
    return data


def read_with(source: Source, settings: ReadSettings, *, format: str | None = None, infinite: Infinite = "error") -> Dataset:
    """What :func:`read` does once its settings are put together; only these can allow data that do not tell their queries."""
    check_choice("read", "missing", settings.missing, get_args(Missing))
    if settings.one_hot:
        return _read_one_hot(source, settings, format, infinite)
    for entry in source if isinstance(source, list | tuple) else [source]:
        if hasattr(entry, "read") and not isinstance(entry, ArrowStream):
            kind, name = type(entry).__name__, getattr(entry, "name", None)
            path = f"its path, {name!r}" if isinstance(name, str) else "the path of a file that has its content"
            raise DataError(f"a {kind} cannot be read", value=kind, remedy=f"Give {path}")
    source = settled(source)
    paths = paths_of(source)
    place = " + ".join(map(str, paths)) if paths else type(source).__name__
    with within_memory(place, "Choose fewer features or rows"), ExitStack() as pipes:
        files = [pipes.enter_context(spooled(path)) for path in paths]
        loaded = from_files(files, settings, format) if files else from_memory(source, settings, format)
        rows = without_empty_grades(loaded.data) if settings.unjudged == "keep" else loaded.data
        data = drop_unused_categories(clean(rows, infinite=infinite, unjudged=settings.unjudged, place=loaded.place))
    if data.regrouped and not files and settings.note is not None:
        settings.note(
            f"{data.source}: the rows of a query are not adjacent, so rows were regrouped. Pass scores of your rows as "
            "data.from_input_order(scores), and put a ranker's scores in the order of your rows with "
            "data.to_input_order(ranker.score(data)). Or sort the rows by query first."
        )
    return _named_after(paths, files, data)


def _read_one_hot(source: Source, settings: ReadSettings, format: str | None, infinite: Infinite) -> Dataset:
    """The same where categories become columns of 0 and 1: those of ``like`` or of known features, if they have any."""
    names, like = tuple(settings.one_hot), settings.like
    single = replace(
        settings,
        one_hot=(),
        like=None if like is None else before_one_hot(like, names),
        categories=(*settings.categories, *(name for name in names if name not in settings.categories)),
    )
    data = read_with(source, single, format=format, infinite=infinite)
    wanted = settings.known_features if like is None else like.feature_names
    coded = make_one_hot(data, categories_of(data, names), wanted)
    if like is None or set(like.feature_names) != set(coded.feature_names):
        return coded
    return coded.select_features(like.feature_names)


def _warn(text: str) -> None:
    warn(respelled(text, str))


def _warn_of_ids(data: Dataset) -> None:
    found = {name: many for name, codes in category_columns(data) if (many := nearly_one_per_row(codes))}
    if found:
        _warn(like_ids(data.source, found, data.rows))


def settled(source: Source) -> Source:
    """The same source, as a list if it can be gone through only once."""
    return list(source) if isinstance(source, Iterator) and not isinstance(source, ArrowStream) else source


def paths_of(source: Source) -> list[Path]:
    """The files to read; none where the source is data in memory."""
    if isinstance(source, str | PathLike):
        return [Path(source)]
    if isinstance(source, list | tuple):
        entries = cast("Sequence[object]", source)
        if not entries:
            raise DataError("contains no file", owner="read", setting="source", value=[], remedy="Give at least one path")
        if all(isinstance(entry, str | PathLike) for entry in entries):
            return [Path(cast(AnyPath, entry)) for entry in entries]
    return []


def _named_after(paths: Sequence[Path], files: Sequence[Path], data: Dataset) -> Dataset:
    """The data with the names of pipes in their source, instead of those of the files that these were copied to."""
    for path, file in zip(paths, files, strict=True):
        if file is not path:
            data = replace(data, source=data.source.replace(str(file), str(path)))
    return data
