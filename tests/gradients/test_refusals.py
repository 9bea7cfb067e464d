"""What objectives refuse, and that they survive without the compiler."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.preferences import Preferences
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.pointwise import Differences, Logistic, Multiclass, SquaredLoss
from rankinite.gradients.ranknet import PreferencePairs, RankNetPairs
from rankinite.measures.base import trainable_measures
from refusals import refused

DATA = random_dataset(0)


def graded(grades, group=None):
    return rk.read(np.arange(len(grades), dtype=float)[:, None], grades=grades, group=group or [len(grades)])


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize(
    "make",
    [
        lambda s: Lambdas(DATA, rk.NDCG(), s),
        lambda s: RankNetPairs(DATA, s),
        lambda s: PreferencePairs(DATA, s),
        lambda s: Logistic(DATA, sigma=s),
    ],
)
def test_sigma_must_be_positive(make, sigma):
    with refused(rk.ArgumentError, setting="sigma") as caught:
        make(sigma)
    assert caught.value.value is sigma


@pytest.mark.parametrize("measure", [rk.Precision(5), rk.AveNDCG(), rk.PairwiseErrors(), "ndcg@10", None], ids=str)
def test_measures_that_cannot_be_trained_for(measure):
    with refused(rk.MeasureError, value=str(measure)) as caught:
        Lambdas(DATA, measure)
    assert ", ".join(trainable_measures()) in caught.value.rule


@pytest.mark.parametrize("truncation", [0, -3, 2.5, True, "all"])
def test_truncation_is_a_number_of_ranks(truncation):
    with refused(rk.ArgumentError, setting="truncation", value=truncation):
        Lambdas(DATA, rk.NDCG(), truncation=truncation)


@pytest.mark.parametrize("make", [lambda d: Lambdas(d, rk.NDCG()), RankNetPairs, Differences])
def test_queries_of_one_grade_give_no_pairs(make):
    with refused(rk.DataError, place="array", value=2):
        make(graded([1, 1, 2], [2, 1]))


@pytest.mark.parametrize("measure", [rk.AP(relevant=3), rk.AP(relevant=0), rk.RR(relevant=5), rk.DCG(gains=(1, 1, 1))], ids=str)
def test_a_measure_that_sees_no_difference(measure):
    with refused(rk.DataError, place="array", value=str(measure)):
        Lambdas(graded([0, 1, 2]), measure)


def test_weights_of_zero_leave_nothing():
    data = graded([0, 1, 1, 1], [2, 2])
    for make in (SquaredLoss, Logistic, Multiclass, RankNetPairs, Differences, lambda d: Lambdas(d, rk.NDCG())):
        with refused(rk.DataError, place="array"):
            make(data.with_weights([0.0, 0.0]))
    for make in (RankNetPairs, Differences, lambda d: Lambdas(d, rk.NDCG())):
        with refused(rk.DataError, place="array"):
            make(data.with_weights([0.0, 1.0]))
    with refused(rk.DataError, place="array", value=0.0):
        Multiclass(data.with_weights([0.0, 1.0]))
    with refused(rk.DataError, place="array", value=1.0):
        Logistic(data.with_weights([0.0, 1.0]), "binary")


def test_preferences_must_be_there():
    data = graded([0, 1])
    with refused(rk.DataError, place="array", value=0):
        PreferencePairs(data)
    itself = Preferences(np.asarray([1]), np.asarray([1]), np.asarray([1.0]))
    with refused(rk.DataError, place="array", value=1):
        PreferencePairs(data.with_preferences(itself))


@pytest.mark.parametrize(
    ("grades", "options", "error", "fields"),
    [
        ([0, 5], {}, rk.DataError, {"value": 5.0}),
        ([-1, 2], {}, rk.DataError, {"value": -1.0}),
        ([2, 2], {}, rk.DataError, {"value": 2.0}),
        ([0, 1], {"max_grade": 0}, rk.ArgumentError, {"setting": "max_grade", "value": 0}),
        ([0, 1], {"targets": "binary", "relevant": 2.0}, rk.DataError, {"value": 2.0, "rule": "Grades run from 0 to 1"}),
        ([1, 2], {"targets": "binary"}, rk.DataError, {"value": 1.0}),
        ([0, 1], {"targets": "soft"}, rk.ArgumentError, {"setting": "targets", "value": "soft"}),
        ([0, 1], {"balanced": True}, rk.ArgumentError, {"setting": "balanced", "value": True}),
    ],
)
def test_logistic_targets_must_make_sense(grades, options, error, fields):
    data = graded([0, 1]).map_grades(lambda _: grades)
    with refused(error, **fields):
        Logistic(data, **options)


def test_classes_are_from_two_to_fifty():
    with refused(rk.DataError, place="array", value=3.0):
        Multiclass(graded([3, 3]))
    assert Multiclass(graded(list(range(50)))).outputs == 50
    with refused(rk.DataError, place="array", value=51):
        Multiclass(graded(list(range(51))))


@pytest.mark.parametrize(
    "make", [SquaredLoss, Logistic, Multiclass, RankNetPairs, PreferencePairs, Differences, lambda d: Lambdas(d, rk.RR())]
)
def test_arrays_of_another_shape_are_refused(make):
    objective = make(DATA)
    right = np.zeros((objective.outputs, DATA.rows))
    wrong = [right[0], right[:, :-1], np.asfortranarray(np.zeros((2, DATA.rows))), right.astype(np.float32)]
    for array in wrong:
        for place in range(3):
            arrays = [right.copy(), right.copy(), right.copy()]
            arrays[place] = array
            with refused(rk.ArgumentError, place=("scores", "out_push", "out_curvature")[place], value=array.shape):
                objective.gradients(*arrays)


def test_objectives_say_what_they_are():
    assert str(Lambdas(DATA, rk.NDCG(10))) == "lambdas of ndcg@10"
    assert str(SquaredLoss(DATA)) == "squared loss"
    assert str(Differences(DATA)) == "squared loss of differences"
    assert str(Logistic(DATA, "binary", balanced=True)) == "logistic loss on binary balanced targets"
    assert str(Multiclass(DATA)) == "multiclass loss on 5 grades"
    assert "grades" in str(RankNetPairs(DATA))
    assert "preferences" in str(PreferencePairs(DATA))


SMALL = """
import numpy as np, rankinite as rk
from oracles.datasets import random_dataset
from rankinite.gradients.pointwise import Differences
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.pointwise import Logistic
from rankinite.gradients.pointwise import Multiclass
from rankinite.gradients.ranknet import PreferencePairs
from rankinite.gradients.ranknet import RankNetPairs
from rankinite.gradients.pointwise import SquaredLoss
data = random_dataset(5)
made = [Lambdas(data, m, normalise=n) for m in (rk.NDCG(3), rk.ERR(), rk.AP(), rk.RR()) for n in (False, True)]
made += [RankNetPairs(data), PreferencePairs(data), SquaredLoss(data), Logistic(data), Multiclass(data), Differences(data)]
for objective in made:
    for spread in (0.0, 1.0, 900.0):
        scores = spread * np.random.default_rng(0).normal(size=(objective.outputs, data.rows))
        push, curvature = np.empty_like(scores), np.empty_like(scores)
        objective.gradients(scores, push, curvature)
        print(*np.round(push.ravel(), 10).tolist(), *np.round(curvature.ravel(), 10).tolist())
"""


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(Path(__file__).parent.parent), *sys.path)), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return np.asarray(done.stdout.split(), float)


def test_the_kernels_mean_the_same_without_the_compiler():
    np.testing.assert_allclose(run(SMALL, NUMBA_DISABLE_JIT="1"), run(SMALL), atol=1e-9)


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    """Measures reach the pair loop by address: the disk cache must find it again."""
    code = SMALL.replace("for objective in made", "for objective in made[:4]")
    assert code != SMALL
    cached = []
    for _ in range(2):
        run(code, NUMBA_CACHE_DIR=str(tmp_path))
        cached.append(sorted((path.name, path.stat().st_mtime_ns) for path in tmp_path.rglob("*.kernel")))
    assert len(cached[0]) > 10
    assert cached[1] == cached[0]
