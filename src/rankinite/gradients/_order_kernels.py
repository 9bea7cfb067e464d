"""Putting the documents of a query in rank order, round after round, on plain arrays.

Scores come in the order of the documents' content. The order is total: falling score, ties by rising place.
"""

from __future__ import annotations

from rankinite.engine.kernel import Floats, Indices, kernel
from rankinite.measures._ranking_kernels import COUNT, count_ranks, sort_descending

__all__ = ["BLOCK", "COUNT", "order_by_counting", "rank_again", "whole_blocks"]

BLOCK = 4
"""The documents in a wide register."""
_MOVES = 8  # moves per document that insertion may take before sorting afresh is quicker


@kernel
def whole_blocks(n: int) -> int:
    """n, rounded up."""
    return (n + BLOCK - 1) // BLOCK * BLOCK


@kernel
def order_by_counting(scores: Floats, n: int, ranks: Indices, sizes: Indices, out_order: Indices, out_keys: Floats) -> None:
    """Sort n documents by falling score, ties by rising place; fills order and keys, both of shape (n,).

    ``scores`` are filled up with −inf to whole blocks; ``ranks`` and ``sizes`` are workspace of the same shape.
    """
    count_ranks(scores, n, ranks, sizes)
    for i in range(n):
        out_order[ranks[i]], out_keys[ranks[i]] = i, scores[i]


@kernel
def rank_again(scores: Floats, order: Indices, keys: Floats, spare_keys: Floats, spare_order: Indices) -> None:
    """The same for long queries, from the ``order`` of the last time. All have shape (n,).

    Whatever ``order`` was, it comes out the same; when it was nearly right already, as it is from one round of boosting to
    the next, little has to move.
    """
    n = len(scores)
    for rank in range(n):
        keys[rank] = scores[order[rank]]
    moves = 0
    for rank in range(1, n):
        key, place = keys[rank], order[rank]
        k = rank
        while k > 0 and (keys[k - 1] < key or (keys[k - 1] == key and order[k - 1] > place)):
            keys[k], order[k] = keys[k - 1], order[k - 1]
            k -= 1
        keys[k], order[k] = key, place
        moves += rank - k
        if moves > _MOVES * n:
            break
    if moves > _MOVES * n:
        for rank in range(n):
            keys[rank], order[rank] = scores[rank], rank
        sort_descending(keys, order, spare_keys, spare_order)
