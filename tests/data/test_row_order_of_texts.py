"""Query ids in any order: NumPy's default sort of variable-width text ends the process on some, such as two sorted runs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from rankinite.data.grouping import TEXT, distinct

PROGRAM = """
import numpy as np, rankinite as rk
from rankinite.data.grouping import distinct
from rankinite.models.normalised import Normalised

first, second = [str(10000 + 3 * i) for i in range(400)], [f"{10000 + 3 * i}~1" for i in range(400)]
parts = [rk.read(np.ones((400, 1)), grades=np.zeros(400), qid=ids) for ids in (first, second)]
print("joined", rk.concat(parts).queries, flush=True)
print("read", rk.read(np.ones((800, 1)), grades=np.zeros(800), qid=first + second).queries, flush=True)
names = np.asarray(first + second, np.dtypes.StringDType())
print("scored", len(Normalised(rk.Feature(0), "rank").score(np.ones((800, 1)), qid=names)), flush=True)
print("told apart, as batches are", len(distinct(names)[0]))
"""


def test_two_sorted_runs_of_ids():
    """In a process of its own, which each of these ended before."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout == "joined 800\nread 800\nscored 800\ntold apart, as batches are 800\n", done.stderr
    assert done.returncode == 0


def test_distinct_texts_are_sorted_and_counted():
    random = np.random.default_rng(0)
    texts = [f"{number}" for number in random.integers(0, 50, 300)]
    names, counts = distinct(np.asarray(texts, TEXT))
    assert names.tolist() == sorted(set(texts))
    assert counts.tolist() == [texts.count(name) for name in names.tolist()]
