"""``bin``: data of any size coded on disk, in two passes over the source.

The first pass counts rows and queries and keeps the rows that edges are made from: those with the lowest content keys, as
training in memory takes them, so that the edges are the same. The second codes piece after piece. Neither holds more of the
features than one piece and that sample.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.binned.base_scores import BaseScores
from rankinite.binned.data import Binned
from rankinite.binned.folder import Manifest
from rankinite.binned.room import memory_for_coding, memory_for_training
from rankinite.binned.sampling import LowestRows, check_piece
from rankinite.binned.writing import FolderWriter, check_disk, folder_bytes, new_folder, write_manifest
from rankinite.checks import check_count
from rankinite.choices import Missing
from rankinite.data.cleaning import Infinite, Unjudged
from rankinite.data.dataset import Dataset
from rankinite.data.io.pieces import Pieces, open_pieces
from rankinite.data.io.read_settings import Column, ReadSettings
from rankinite.data.io.reading import Source
from rankinite.data.io.text_files import AnyPath
from rankinite.data.row_keys import row_keys
from rankinite.engine.kernel import Flags
from rankinite.engine.memory import memory_left, spelled_size, too_large
from rankinite.errors import ArgumentError, DataError
from rankinite.trees.bins import Bins, fit_bins, missing_features

Told = Callable[[str, int], None]
"""Is told what is being done, and how many rows are done."""


@dataclass
class Counted:
    """What the first pass finds out."""

    sizes: list[npt.NDArray[Any]] = field(default_factory=list[npt.NDArray[Any]])
    """Rows of each query, piece by piece."""
    missing: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))
    weighted: bool = False
    judged: bool = True

    def take(self, piece: Dataset) -> None:
        """Look at a piece."""
        self.sizes.append(np.diff(piece.offsets))
        found = missing_features(piece.features)
        found[: len(self.missing)] |= self.missing
        self.missing, self.weighted, self.judged = found, piece.weights is not None, piece.judged
        check_piece(piece)


def bin(  # noqa: A001 - what it does, and what the command line calls it
    source: Source | Dataset,
    out: str | PathLike[str],
    *,
    shards: int | None = None,
    like: Binned | str | PathLike[str] | None = None,
    bins: int = 255,
    bin_sample: int = 100_000,
    base: Any = None,
    grades: Column = None,
    qid: Column = None,
    group: npt.ArrayLike | AnyPath | None = None,
    weight: Column = None,
    features: Sequence[int | str] | str | None = None,
    ignore: Sequence[str] | str = (),
    format: str | None = None,
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
    more. ``like`` takes the edges of other bins: for validation data, and to append a shard. ``bins`` and ``bin_sample`` are
    those of the learner. ``base``: a ranker that training is to go on from; its scores are kept, as the features are not.
    ``tell`` is called with what is being done and the rows done.
    """
    features = [features] if isinstance(features, str) else features
    ignore = [ignore] if isinstance(ignore, str) else ignore
    columns = {"grades": grades, "qid": qid, "doc_id": None, "weight": weight, "batch": None, "positions": None}
    settings = ReadSettings(columns, group, features, ignore, missing, unjudged, zero_based, None)
    return bin_files(
        source, out, shards=shards, like=like, bins=bins, bin_sample=bin_sample, base=base,
        settings=settings, format=format, infinite=infinite, tell=tell or _silent, say=_mute,
    )  # fmt: skip


def bin_files(
    source: Source | Dataset,
    out: str | PathLike[str],
    *,
    shards: int | None,
    like: Binned | str | PathLike[str] | None,
    bins: int,
    bin_sample: int,
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
    if shards is not None:
        check_count("bin", "shards", shards)
    _refuse_positions(settings)
    model = Binned(like) if isinstance(like, str | PathLike) else like
    with open_pieces(source, replace(settings, like=model), format=format, infinite=infinite) as pieces:
        return _Coding(pieces, Path(out), shards, model, bins, bin_sample, base, tell, say).done()


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
        self, pieces: Pieces, out: Path, shards: int | None, like: Binned | None, most: int, sample: int, base: Any,
        tell: Told, say: Callable[[str], None],
    ) -> None:  # fmt: skip
        digits = max(2, len(str((shards or 1) - 1)))
        self.folders = [out] if shards is None else [out / f"{number:0{digits}d}.bins" for number in range(shards)]
        self.pieces, self.out, self.like, self.base, self.tell, self.say = pieces, out, like, base, tell, say
        made = None if like is None else like.manifests[0]
        self.most, self.sample = (most, sample) if made is None else (made.most, made.sample)

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
                raise DataError(problem, place=self.pieces.source, value=0, remedy="Give at least one judged document")
            needed = folder_bytes(int(sizes.sum()), len(sizes), len(names))
            check_disk(self.out, needed)
            self.say(
                f"{len(sizes):,} queries, {int(sizes.sum()):,} rows, {len(names)} features: {spelled_size(needed)} on disk; "
                f"training takes about {spelled_size(memory_for_training(int(sizes.sum()), len(names)))} of memory"
            )
            self._second_pass(counted, sizes, names, self._bins(drawn, counted, len(names)))
        return Binned(self.folders)

    def _first_pass(self) -> tuple[Counted, LowestRows]:
        counted, drawn = Counted(), LowestRows(self.sample)
        names = self.pieces.feature_names
        if names is not None:
            self._check_memory(len(names))
        with _one_ahead(self.pieces) as pieces:
            for piece in _with_progress(pieces, "counting", self.tell):
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
            what = f"coding {features} features with a sample of {self.sample} rows"
            raise too_large(self.pieces.source, what, needed, allowed, "Lower `bin_sample`, or choose fewer features")
        self.say(f"coding takes at most about {spelled_size(needed)} of memory, however many rows there are")

    def _bins(self, drawn: LowestRows, counted: Counted, width: int) -> Bins:
        missing = np.zeros(width, np.bool_)
        missing[: len(counted.missing)] = counted.missing
        if self.like is not None:
            return replace(self.like.bins, has_missing=missing)
        rows = drawn.rows(width)
        return replace(fit_bins(rows, most=self.most, sample=max(1, len(rows))), has_missing=missing)

    def _second_pass(self, counted: Counted, sizes: npt.NDArray[Any], names: tuple[str, ...], edges: Bins) -> None:
        scorer = None if self.base is None else BaseScores(self.base, names, self.pieces.source)
        ends = _cuts(sizes, len(self.folders))
        made: list[Manifest] = []
        with _one_ahead(self.pieces) as pieces:
            parts = _parted(_with_progress(pieces, "coding", self.tell), ends)
            for folder, (first, last) in zip(self.folders, pairwise(ends), strict=True):
                rows, key = int(sizes[first:last].sum()), None if scorer is None else scorer.key
                writer = FolderWriter(folder, edges, rows, last - first, weighted=counted.weighted, base=key)
                for piece in next(parts):
                    writer.add(piece, None if scorer is None else scorer.of(piece))
                made.append(writer.finish(names, self.pieces.source, self.most, self.sample, judged=counted.judged))
        for manifest in made:
            write_manifest(manifest)


def _cuts(sizes: npt.NDArray[Any], parts: int) -> list[int]:
    """Where to cut queries into parts of about equal rows, none of them empty."""
    if len(sizes) < parts:
        raise ArgumentError(
            f"is more than there are queries, {len(sizes)}", owner="bin", setting="shards", value=parts, remedy="Give fewer"
        )
    ends = np.cumsum(sizes)
    wanted = [int(np.searchsorted(ends, ends[-1] * part / parts)) + 1 for part in range(1, parts)]
    found = [0]
    for part, cut in enumerate(wanted, start=1):
        found.append(min(max(cut, found[-1] + 1), len(sizes) - (parts - part)))
    return [*found, len(sizes)]


def _parted(pieces: Iterable[Dataset], ends: Sequence[int]) -> Iterator[Iterator[Dataset]]:
    """For each part the pieces of its queries; the parts must be used one after the other."""
    stream, left = iter(pieces), list[Dataset]()

    def part(count: int) -> Iterator[Dataset]:
        while count > 0:
            piece = left.pop() if left else next(stream, None)
            if piece is None:
                return
            if piece.queries > count:
                left.append(piece.select_queries(range(count, piece.queries)))
                piece = piece.select_queries(range(count))
            count -= piece.queries
            yield piece

    for first, last in pairwise(ends):
        yield part(last - first)


@contextmanager
def _one_ahead(pieces: Pieces) -> Generator[Iterator[Dataset]]:
    """The pieces, each of which is read while the one before it is made use of.

    A context, so that the thread that reads has ended behind it: left to the garbage collector, it could be waited for by
    whatever thread collects, for ever.
    """
    context = copy_context()
    with closing(iter(pieces)) as stream, ThreadPoolExecutor(1) as pool:

        def ahead() -> Iterator[Dataset]:
            coming = pool.submit(context.run, next, stream, None)
            while (piece := coming.result()) is not None:
                coming = pool.submit(context.run, next, stream, None)
                yield piece

        yield ahead()


def _with_progress(pieces: Iterator[Dataset], what: str, tell: Told) -> Iterator[Dataset]:
    rows = 0
    for piece in pieces:
        yield piece
        rows += piece.rows
        tell(what, rows)


def _silent(_what: str, _rows: int) -> None:
    """Tell nothing."""


def _mute(_what: str) -> None:
    """Say nothing."""
