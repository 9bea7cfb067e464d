"""Query ids in any order: NumPy's default sort of variable-width text ends the process on some, such as two sorted runs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from rankinite.data.grouping import TEXT, distinct

PROGRAMS = {
    "joined": """
first = rk.read(np.ones((400, 1)), grades=np.zeros(400), qid=[str(10000 + 3 * i) for i in range(400)])
second = rk.read(np.ones((400, 1)), grades=np.zeros(400), qid=[f"{10000 + 3 * i}~1" for i in range(400)])
print(rk.concat([first, second]).queries)
""",
    "read": """
names = [str(10000 + 3 * i) for i in range(400)] + [f"{10000 + 3 * i}~1" for i in range(400)]
print(rk.read(np.ones((800, 1)), grades=np.zeros(800), qid=names).queries)
""",
    "scored": """
from rankinite.models.normalised import Normalised
names = [str(10000 + 3 * i) for i in range(400)]
names = np.asarray([*names, *(f"{name}~1" for name in names)], np.dtypes.StringDType())
print(len(Normalised(rk.Feature(0), "rank").score(np.ones((800, 1)), qid=names)))
""",
    "batches": """
from dataclasses import replace
names = [str(10000 + 3 * i) for i in range(400)]
data = rk.read(np.ones((800, 1)), grades=np.zeros(800), qid=range(800))
data = replace(data, batches=np.asarray([*names, *(f"{name}~1" for name in names)], np.dtypes.StringDType()))
print(sum(fold.test.queries for fold in rk.batch_folds(data)))
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_two_sorted_runs_of_ids(program):
    """In a process of its own: joining, reading and scoring ended it before."""
    code = f"import numpy as np, rankinite as rk{PROGRAMS[program]}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "800"), done.stderr


def test_distinct_texts_are_sorted_and_counted():
    random = np.random.default_rng(0)
    texts = [f"{number}" for number in random.integers(0, 50, 300)]
    names, counts = distinct(np.asarray(texts, TEXT))
    assert names.tolist() == sorted(set(texts))
    assert counts.tolist() == [texts.count(name) for name in names.tolist()]
