"""Data sets of the experiments: LETOR's folds, the classic collections as domains, artificial worlds at the papers' sizes."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.folds import Fold, rotating_folds
from rankinite.data.io.reading import read
from rankinite.data.joining import concat
from rankinite.reproduce.experiment import Case, Lab

PARTS = 5
RECOVERED = "Of the 69,623 rows of mq2007, 10,488 are not as published but recovered from published models."


def letor_folds(lab: Lab, name: str) -> list[Fold]:
    """LETOR's five folds of mq2007 or mq2008; in the quick version each part has few queries."""
    return rotating_folds([_part(lab, name, number) for number in range(1, PARTS + 1)])


def letor(lab: Lab, name: str) -> Dataset:
    """All parts of mq2007 or mq2008 together."""
    return concat([_part(lab, name, number) for number in range(1, PARTS + 1)])


def fold_cases(name: str, lab: Lab, seconds: float) -> list[Case]:
    """A case per fold of mq2007 or mq2008; the quick version has one."""
    return [
        Case(f"{name}, fold {fold}", name, name, f"{name}, fold {fold}", {"fold": fold}, seconds)
        for fold in range(1, lab.size(PARTS, 1) + 1)
    ]


def terms_of_queries(lab: Lab, name: str) -> dict[str, int]:
    """How many terms each query has."""
    with lab.path(name, "queries.tsv").open(encoding="utf-8") as lines:
        return {row["qid"]: int(row["terms"]) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}


def collection(lab: Lab, name: str) -> Dataset:
    """A classic collection with grades 0 and 1, as all but one have; cran's go up to 4."""
    found = _read(lab.path("classic", f"{name}.txt.gz"))
    return _fewer(found.map_grades(lambda grades: (grades > 0).astype(grades.dtype)), lab)


def _part(lab: Lab, name: str, number: int) -> Dataset:
    return _fewer(_read(lab.path(name, f"S{number}.txt.gz")), lab)


@cache
def _read(path: Path) -> Dataset:
    return read(path)


def _fewer(data: Dataset, lab: Lab) -> Dataset:
    """The first queries alone, in the quick version."""
    return data.select_queries(np.arange(min(data.queries, 40))) if lab.quick else data
