"""Work on names grows with their number, not with its square: counted in comparisons of two names, not in seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import rankinite as rk
from rankinite.data.dataset import Dataset
from rankinite.data.io.columns import ColumnSettings, assign_roles
from rankinite.data.io.table_files import open_csv
from rankinite.data.io.tables import check_columns
from rankinite.data.io.writing import write
from rankinite.errors import DataError
from rankinite.models.files.matching import match_features
from rankinite.models.inputs import columns_of
from rankinite.trees.settings import TreeSettings

COUNT = 1500


class Name(str):
    """A text that counts how often it is compared; its hash spares most comparisons."""

    __slots__ = ()
    compared: ClassVar[int] = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other) is True

    def __hash__(self) -> int:
        return str.__hash__(self)


def names(first: int = 0) -> tuple[Name, ...]:
    return tuple(Name(f"feature {number}") for number in range(first, first + COUNT))


def data_of(features: tuple[str, ...]) -> Dataset:
    return Dataset(np.zeros((2, len(features))), np.zeros(2), np.asarray([0, 2]), np.asarray(["a"]), features)


def expect_refusal(call: Callable[[], object]) -> None:
    with pytest.raises(DataError):
        call()


def generic_forest() -> rk.Forest:
    values = np.random.default_rng(0).random((8, COUNT))
    data = rk.read(values, grades=np.arange(8) % 2, group=[8])
    return (
        rk.LambdaMART.plain(trees=1, leaves=2, min_rows=1)
        .fit(data)
        .renamed([Name(f"Column_{place}") for place in range(COUNT)])
    )


WORK: dict[str, Callable[[Path], object]] = {
    "select": lambda _: data_of(names()).select_features(names()[::-1]),
    "rename": lambda _: data_of(names()).rename_features({name: f"{name}!" for name in names()}),
    "write": lambda folder: write(data_of(names()), folder / "t.arrow"),
    "write twice the same": lambda folder: expect_refusal(lambda: write(data_of(names() + names()), folder / "t.arrow")),
    "columns": lambda _: check_columns(names(), names()[::-1], "a", "b"),
    "columns twice the same": lambda _: expect_refusal(lambda: check_columns(names(), names() + names(), "a", "b")),
    "ignore": lambda _: assign_roles(
        dict.fromkeys(("qid", "grade", *names()), pa.float32()), "t", ColumnSettings(ignore=names()[::-1])
    ),
    "features of a matrix": lambda _: rk.read(
        np.zeros((2, COUNT)), grades=[0, 1], group=[2], ignore=[Name(number) for number in range(1, COUNT)]
    ),
    "find": lambda _: columns_of(names(), names()[::-1], "data"),
    "find nothing": lambda _: expect_refusal(lambda: columns_of(names(), names(COUNT), "data")),
    "match": lambda _: expect_refusal(lambda: match_features(generic_forest(), names()[:-5], "data")),
    "monotone": lambda _: TreeSettings(monotone=tuple(Name(f"+{name}") for name in names())).signs(names()[::-1]),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_names_are_not_compared_with_all_others(tmp_path: Path, work: Callable[[Path], object]) -> None:
    Name.compared = 0
    work(tmp_path)
    assert Name.compared <= 40 * COUNT


def test_columns_are_known_behind_very_many_others(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    columns = [f"a feature with a very long name, {number}" for number in range(2_500)]
    header = ",".join([*(f'"{column}"' for column in columns), "qid", "grade"])
    rows = [",".join(["0.5"] * len(columns) + [qid, "1"]) for qid in ("007", "7")]
    path.write_text("\n".join([header, *rows]))
    assert rk.read(path).qids.tolist() == ["007", "7"]


def test_wide_rows_are_read_several_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    columns = [f"{number:0700}" for number in range(600)]
    rows = [",".join(["0.5"] * len(columns) + ["7", "1"])] * 900
    path.write_text("\n".join([",".join([*columns, "qid", "grade"]), *rows]))
    chunks = next(iter(open_csv([path], ",", header=True, names={}).pieces)).load(["qid"])
    assert next(iter(chunks)).column("qid").num_chunks == 1
