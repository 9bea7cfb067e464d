"""Pieces on their way to the folders: read ahead, with word of how far it is, and dealt out to the shards."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.io.pieces import Pieces
from rankinite.errors import ArgumentError

Told = Callable[[str, int], None]
"""Is told what is being done, and how many rows are done."""


def cuts(sizes: npt.NDArray[Any], parts: int) -> list[int]:
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


def parted(pieces: Iterable[Dataset], ends: Sequence[int]) -> Iterator[Iterator[Dataset]]:
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
def one_ahead(pieces: Pieces) -> Generator[Iterator[Dataset]]:
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


def with_progress(pieces: Iterator[Dataset], what: str, tell: Told) -> Iterator[Dataset]:
    """The same pieces; calls ``tell`` when one is done."""
    rows = 0
    for piece in pieces:
        yield piece
        rows += piece.rows
        tell(what, rows)
