"""Room: about how much memory coding and training take, so that what does not fit is refused before it begins."""

from __future__ import annotations

from rankinite.binned.data import Binned
from rankinite.binned.folder import block_count
from rankinite.data.io.pieces import ROWS
from rankinite.engine.memory import memory_left, too_large
from rankinite.trees._state import WIDTH

BYTES_A_ROW = 95
"""Bytes of scores, pushes, cells and the like that training keeps for each row, rounded up."""
BESIDES = 200 << 20
"""Bytes of the program itself, of histograms and of room between."""


def memory_for_coding(features: int, sample: int) -> int:
    """About what the two passes take at most: the sample, as it grows and is cut down, and a few pieces."""
    return 4 * features * (4 * sample + 6 * ROWS) + BESIDES


def memory_for_training(rows: int, features: int) -> int:
    """About what training from a folder takes: the codes, which are mapped, and what is kept for each row."""
    return rows * (WIDTH * block_count(features) + BYTES_A_ROW) + BESIDES


def check_room(train: Binned) -> None:
    """Refuse data whose training would not fit: leaves are grown best-first, so that mapped codes are read in no order, and
    would be read from the disk again and again.
    """
    needed, allowed = memory_for_training(train.rows, len(train.feature_names)), memory_left()
    if needed > allowed.left + BESIDES:  # the program itself is there already
        what = f"training on {train.rows:,} rows × {len(train.feature_names)} features"
        remedy = "Train on more machines (`rankinite bin … --shards`), or on fewer queries"
        raise too_large(train.source, what, needed, allowed, remedy)
