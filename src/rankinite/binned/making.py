"""``bin``: data of any size coded on disk, in two passes over the source.

The first pass counts rows, queries and categories and keeps the rows that edges are made from: those with the lowest content
keys, as training in memory takes them, so that the edges are the same. The second codes piece after piece. Neither holds more
of the features than one piece and that sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.binned.base_scores import BaseScores
from rankinite.binned.counting import Counted
from rankinite.binned.data import Binned
from rankinite.binned.folder import Manifest
from rankinite.binned.room import memory_for_coding, memory_for_training
from rankinite.binned.sampling import LowestRows
from rankinite.binned.streaming import Told, cuts, one_ahead, parted, with_progress
from rankinite.binned.tally import CategoryTally
from rankinite.binned.writing import FolderWriter, check_disk, folder_bytes, new_folder, write_manifest
from rankinite.checks import check_count
from rankinite.choices import Infinite, Missing, Unjudged
from rankinite.data.categories import Vocabulary, recode
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.grades import grade_map_of
from rankinite.data.identity import row_keys
from rankinite.data.io.pieces import Pieces, open_pieces
from rankinite.data.io.read_settings import Column, ReadSettings, several
from rankinite.data.io.reading import Source
from rankinite.data.io.renaming import Names, renaming_of
from rankinite.data.io.text_files import AnyPath
from rankinite.data.odd_features import is_id_like, like_ids
from rankinite.engine.memory import memory_left, spelled_size, too_large
from rankinite.errors import ArgumentError, DataError, respelled
from rankinite.plurals import counted, data_size
from rankinite.trees.bins import Bins, fit_bins, with_category_codes


def bin(  # noqa: A001 - what it does, and what the command line calls it
    source: Source | Dataset,
    out: str | PathLike[str],
    *,
    shards: int | None = None,
    like: Binned | str | PathLike[str] | None = None,
    bins: int = 255,
    bin_sample: int = 100_000,
    category_rows: int = 5,
    base: Any = None,
    grades: Column = None,
    qid: Column = None,
    group: npt.ArrayLike | AnyPath | None = None,
    weight: Column = None,
    features: Sequence[int | str] | str | None = None,
    ignore: Sequence[str] | str = (),
    categories: Sequence[int | str] | str = (),
    rename: Names | None = None,
    map_grades: Mapping[Any, float] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    missing: Missing = "zero",
    infinite: Infinite = "error",
    unjudged: Unjudged = "error",
    zero_based: bool = False,
    tell: Told | None = None,
) -> Binned:
    """Code data of any size into a folder that trees are grown from, without ever holding the features.

    >>> train = bin("train.letor.gz", "train.bins")                                            # doctest: +SKIP
    >>> valid = bin("valid.letor.gz", "valid.bins", like=train)                                # doctest: +SKIP
    >>> LambdaMART().fit(train, valid)                                                         # doctest: +SKIP

    ``source`` and how it is read are as for :func:`rankinite.read`, or a data set; the rows of a query must be adjacent.
    ``shards`` writes that many folders of about equal rows, ``out/00.bins``, ``out/01.bins``, …, one for each machine or
    more. ``like`` takes the edges and the categories of other bins: for validation data, and to append a shard; a category
    that those do not have counts as missing. Without ``like``, queries of weight 0 are left out: nothing is learnt from them.
    ``bins``, ``bin_sample`` and ``category_rows`` are those of the learner. ``base``: a ranker that training is to go on
    from; its scores are kept, as the features are not. ``tell`` is called with what is being done and the rows done.
    """
    columns = {"grades": grades, "qid": qid, "doc_id": None, "weight": weight, "batch": None, "positions": None}
    settings = ReadSettings(
        columns, group, features and several(features), several(ignore), missing, unjudged, zero_based, None,
        categories=several(categories), delimiter=delimiter, grade_map=grade_map_of(map_grades),
        renaming=renaming_of(rename, zero_based=zero_based),
    )  # fmt: skip
    found = bin_files(
        source, out, shards=shards, like=like, bins=bins, bin_sample=bin_sample, category_rows=category_rows, base=base,
        settings=settings, format=format, infinite=infinite, tell=tell or _silent, say=_mute,
    )  # fmt: skip
    if like is None and (warning := id_warning(found)):
        warnings.warn(respelled(warning, str), stacklevel=2)
    return found


def bin_files(
    source: Source | Dataset,
    out: str | PathLike[str],
    *,
    shards: int | None,
    like: Binned | str | PathLike[str] | None,
    bins: int,
    bin_sample: int,
    category_rows: int,
    base: Any,
    settings: ReadSettings,
    format: str | None,
    infinite: Infinite,
    tell: Told,
    say: Callable[[str], None],
) -> Binned:
    """What :func:`bin` does once its settings are put together; ``say`` is given what is known beforehand."""
    check_count("bin", "bins", bins)
    check_count("bin", "bin_sample", bin_sample)
    check_count("bin", "category_rows", category_rows)
    if shards is not None:
        check_count("bin", "shards", shards)
    _refuse_positions(settings)
    model = Binned(like) if isinstance(like, str | PathLike) else like
    with open_pieces(source, replace(settings, like=model), format=format, infinite=infinite) as pieces:
        return _Coding(pieces, Path(out), shards, model, (bins, bin_sample, category_rows), base, tell, say).done()


def id_warning(found: Binned) -> str:
    """A warning of categories with nearly as many values as rows; not for data coded like others, whose categories they have.

    Settings are between backticks; empty where there are no such categories.
    """
    sizes = {name: len(vocabulary) for name, vocabulary in found.categories.items()}
    odd = {name: size for name, size in sizes.items() if is_id_like(size, found.rows)}
    return like_ids(found.source, odd, found.rows) if odd else ""


def _refuse_positions(settings: ReadSettings) -> None:
    """Refuse to lose positions: bins have no room for them, and without them clicks cannot be debiased."""
    positions = settings.columns.get("positions")
    if positions is not None:
        raise ArgumentError(
            "is not kept in bins, so that clicks could not be debiased",
            owner="bin",
            setting="positions",
            value=positions,
            remedy="Leave it out, or train on the data themselves",
        )


class _Coding:
    """The two passes."""

    def __init__(
        self, pieces: Pieces, out: Path, shards: int | None, like: Binned | None, settings: tuple[int, int, int], base: Any,
        tell: Told, say: Callable[[str], None],
    ) -> None:  # fmt: skip
        digits = max(2, len(str((shards or 1) - 1)))
        self.folders = [out] if shards is None else [out / f"{number:0{digits}d}.bins" for number in range(shards)]
        self.pieces, self.out, self.like, self.base, self.tell, self.say = pieces, out, like, base, tell, say
        made = None if like is None else like.manifests[0]
        most, sample, least = settings
        self.most, self.sample = (most, sample) if made is None else (made.most, made.sample)
        self.category_rows = least if made is None or made.category_rows is None else made.category_rows

    def done(self) -> Binned:
        """The folders, all of them finished."""
        with ExitStack() as locks:
            for folder in self.folders:
                locks.enter_context(new_folder(folder))
            counted, drawn = self._first_pass()
            names = self.pieces.feature_names
            assert names is not None  # they are known after a pass
            sizes = np.concatenate([np.zeros(0, np.int64), *counted.sizes])
            if not len(sizes):
                problem = "there are no rows"
                remedy = "Give at least one judged document, in a query with a weight above 0"
                raise DataError(problem, place=self.pieces.source, value=0, remedy=remedy)
            needed = folder_bytes(int(sizes.sum()), len(sizes), len(names))
            check_disk(self.out, needed)
            self.say(
                f"{data_size(len(sizes), int(sizes.sum()), len(names))}: {spelled_size(needed)} on disk; "
                f"training takes about {spelled_size(memory_for_training(int(sizes.sum()), len(names)))} of memory"
            )
            categories = counted.categories(self.pieces.source)
            self._second_pass(counted, sizes, names, categories, self._bins(drawn, counted, names, categories))
        return Binned(self.folders)

    @contextmanager
    def _stream(self, what: str) -> Generator[Iterator[Dataset]]:
        """The pieces; without queries of weight 0, unless these may be validation data, where every query counts once."""
        with one_ahead(self.pieces) as pieces:
            done = with_progress(pieces, what, self.tell)
            weighed = (without_weightless(piece) for piece in done if piece.weights is None or piece.weights.any())
            yield done if self.like is not None else weighed

    def _first_pass(self) -> tuple[Counted, LowestRows]:
        counted, drawn = Counted(self.like), LowestRows(self.sample)
        names = self.pieces.feature_names
        if names is not None:
            self._check_memory(len(names))
        with self._stream("counting") as pieces:
            for piece in pieces:
                if names is None:
                    names = piece.feature_names
                    self._check_memory(len(names))
                counted.take(piece)
                if self.like is None:
                    drawn.show(row_keys(piece), piece.features)
        return counted, drawn

    def _check_memory(self, features: int) -> None:
        needed, allowed = memory_for_coding(features, self.sample), memory_left()
        if needed > allowed.left:
            what = f"coding {counted(features, 'feature')} with a sample of {counted(self.sample, 'row')}"
            raise too_large(self.pieces.source, what, needed, allowed, "Lower `bin_sample`, or choose fewer features")
        self.say(f"coding takes at most about {spelled_size(needed)} of memory, however many rows there are")

    def _bins(self, drawn: LowestRows, counted: Counted, names: tuple[str, ...], categories: Mapping[str, Vocabulary]) -> Bins:
        missing = np.zeros(len(names), np.bool_)
        missing[: len(counted.missing)] = counted.missing
        if self.like is not None:
            return replace(self.like.bins, has_missing=missing)
        rows = drawn.rows(len(names))
        bins = replace(fit_bins(rows, most=self.most, sample=max(1, len(rows))), has_missing=missing)
        if not categories:
            return bins
        counts = self._tally(counted.tally).counts(categories)
        return with_category_codes(bins, {names.index(name): one for name, one in counts.items()}, self.category_rows)

    def _tally(self, tally: CategoryTally) -> CategoryTally:
        """The counts of categories; made anew where a later piece brought a larger grade, and worth is asked for."""
        if tally.counts_do(self.category_rows):
            return tally
        again = CategoryTally(tally.largest)
        with self._stream("counting categories") as pieces:
            for piece in pieces:
                again.take(piece)
        return again

    def _second_pass(
        self,
        counted: Counted,
        sizes: npt.NDArray[Any],
        names: tuple[str, ...],
        categories: Mapping[str, Vocabulary],
        edges: Bins,
    ) -> None:
        scorer = None if self.base is None else BaseScores(self.base, names, self.pieces.source)
        ends = cuts(sizes, len(self.folders))
        made: list[Manifest] = []
        with self._stream("coding") as pieces:
            parts = parted(pieces, ends)
            for folder, (first, last) in zip(self.folders, pairwise(ends), strict=True):
                rows, key = int(sizes[first:last].sum()), None if scorer is None else scorer.key
                writer = FolderWriter(folder, edges, categories, rows, last - first, weighted=counted.weighted, base=key)
                for piece in next(parts):
                    writer.add(piece, recode(piece, categories), None if scorer is None else scorer.of(piece))
                settings = (self.most, self.sample, self.category_rows)
                made.append(writer.finish(names, self.pieces.source, settings, judged=counted.judged))
        for manifest in made:
            write_manifest(manifest)


def _silent(_what: str, _rows: int) -> None:
    """Tell nothing."""


def _mute(_what: str) -> None:
    """Say nothing."""
