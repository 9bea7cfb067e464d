"""Whatever offsets, sizes and row numbers say: kernels, which do not check, never see one that leads out of the arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.dataset import Dataset
from rankinite.data.preferences import Preferences
from rankinite.errors import DataError
from refusals import refused

HUGE = 999_999_999_999_999
"""The largest size that a line of a group file may give."""


def sizes_that_wrap(rows: int) -> list[int]:
    """Sizes whose sum modulo 2^64 is the number of rows."""
    many, left = divmod(2**64 + rows, HUGE)
    return [HUGE] * many + [left]


def test_group_files_whose_sum_wraps_round_are_refused(tmp_path: Path) -> None:
    sizes = sizes_that_wrap(2)
    with np.errstate(over="ignore"):
        assert np.asarray(sizes).sum() == 2
    for name, text in (("plain.txt", "1 1:0.5\n0 1:0.1\n"), ("plain.csv", "1,0.5\n0,0.1\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / f"{name}.query").write_text("".join(f"{size}\n" for size in sizes))
        with refused(DataError, place="group 0", value=HUGE):
            rk.read(tmp_path / name)


@pytest.mark.parametrize(
    "sizes",
    [[2**63 - 1, 2**63 - 1, 5], [-1, 4], [4, -1], np.asarray([2**64 - 1, 4], np.uint64), [1e30, 3.0]],
    ids=["wrapping", "negative first", "negative last", "beyond int64", "beyond int64 as a float"],
)
def test_group_sizes_are_bounded_by_the_rows(sizes: object) -> None:
    with pytest.raises(DataError) as caught:
        rk.read(np.zeros((3, 1)), grades=[0, 1, 2], group=sizes)
    assert caught.value.value in np.asarray(sizes).tolist()


@pytest.mark.parametrize(
    "offsets",
    [[0, 2**63 - 1, -2, 4], [0, 9, 4], [0, -3, 4], [0, 2, 2, 4], [1, 2, 4], [0, 2, 3]],
    ids=["differences wrap", "beyond the rows", "before the first", "empty query", "starts late", "ends early"],
)
def test_offsets_rise_from_none_to_all_rows(offsets: list[int]) -> None:
    qids = [str(number) for number in range(len(offsets) - 1)]
    with refused(DataError, place="offsets", value=offsets):
        Dataset(np.zeros((4, 1)), np.zeros(4), np.asarray(offsets), np.asarray(qids), ("f",))


def test_grades_and_qids_have_one_dimension() -> None:
    with refused(DataError, place="grades", value=(2, 2)):
        Dataset(np.zeros((4, 1)), np.zeros((2, 2)), np.asarray([0, 4]), np.asarray(["a"]), ("f",))
    with refused(DataError, place="qids", value=(1, 1)):
        Dataset(np.zeros((4, 1)), np.zeros(4), np.asarray([0, 4]), np.asarray([["a"]]), ("f",))


@pytest.mark.parametrize("row", [-1, -(2**63), np.uint64(2**64 - 1), np.uint64(2**63)])
def test_preferences_name_rows_from_0_on(row: int) -> None:
    for pair in (([row], [0]), ([0], [row])):
        with refused(DataError, place="preference 0", value=int(row)):
            Preferences(*map(np.asarray, pair), np.ones(1))


def test_preferences_name_rows_of_the_data() -> None:
    data = random_dataset(1)
    with refused(DataError, place="preference 0", value=(2**63 - 1, 0)):
        data.with_preferences(Preferences(np.asarray([2**63 - 1]), np.zeros(1, np.int64), np.ones(1)))
