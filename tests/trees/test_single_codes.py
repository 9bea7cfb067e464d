"""Rows are parted by the same codes, whether these are read from the blocks or from a copy feature by feature."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numba
import numpy as np
import pytest

from oracles.members import Group, parts_of
from rankinite.engine.memory import Allowance
from rankinite.engine.parallel import Team, threads
from rankinite.trees import _growth_kernels, growth
from rankinite.trees._row_kernels import codes_from
from rankinite.trees._state import WIDTH, WIDTH_SHIFT, Coded
from rankinite.trees.bins import Codes, fit_bins
from rankinite.trees.growth import Grower
from rankinite.trees.settings import TreeSettings
from rankinite.trees.structure import Trees

ROWS, FEATURES, ROUNDS = 800, 2 * WIDTH + 8, 2  # features of three blocks, the last padded
KINDS = {
    "newton": TreeSettings(leaves=15),
    "mse": TreeSettings(leaves=15, criterion="mse"),
    "limits of the third sum": TreeSettings(leaves=20, min_rows=30, min_curvature=25.0),
    "rows of trees": TreeSettings(leaves=10, row_share=0.6, seed=3),
    "queries of trees": TreeSettings(leaves=10, query_share=0.6, seed=3),
    "rows of nodes": TreeSettings(leaves=10, node_row_share=0.7, min_rows=5, seed=3),
    "symmetric": TreeSettings(shape="symmetric", depth=4),
    "symmetric, rows of trees": TreeSettings(shape="symmetric", depth=4, row_share=0.6, seed=3),
}


class Rows:
    """Rows with missing values, and gradients that follow a feature of each block."""

    def __init__(self, rows: int) -> None:
        random = np.random.default_rng(8)
        features = random.normal(size=(rows, FEATURES)).round(1).astype(np.float32)
        features[random.random(features.shape) < 0.1] = np.nan
        signals = np.nan_to_num(features[:, [3, WIDTH, FEATURES - 1]], nan=2.0)
        self.push = random.normal(size=(ROUNDS, rows)) + signals.sum(axis=1)
        self.curvature = random.uniform(0.0, 1.0, (ROUNDS, rows))
        self.keys = random.integers(1 << 62, size=rows).astype(np.uint64)
        self.query_keys = np.repeat(random.integers(1 << 62, size=rows // 10).astype(np.uint64), 10)
        self.bins = fit_bins(features)
        self.codes = self.bins.code(features)


DATA = Rows(ROWS)


def grower_of(settings: TreeSettings, data: Rows, team: Team, part: slice, members=None, *, copies: bool | None) -> Grower:
    codes = Codes(np.ascontiguousarray(data.codes.blocks[:, part]), FEATURES)
    signs = settings.signs([str(number) for number in range(FEATURES)])
    keys, query_keys = data.keys[part], data.query_keys[part]
    return Grower(settings, data.bins, codes, signs, team, keys, query_keys, None, members, copies=copies)


def forest(kind: str, part: slice = slice(None), members=None, *, copies: bool, workers: int = 1, data: Rows = DATA):
    """The trees of all rounds from some of the rows, and what they add to the scores of these."""
    found, scores = [], np.zeros(data.push[0, part].shape)
    with threads(workers), Team() as team:
        grower = grower_of(KINDS[kind], data, team, part, members, copies=copies)
        for number in range(ROUNDS):
            grown = grower.grow(data.push[number, part].copy(), data.curvature[number, part].copy(), number)
            found.append(grower.trees_of(grown, grown.values()))
            grower.add(grown, grown.values(), scores)
    return found, scores


def bytes_of(trees: list[Trees]) -> list[bytes]:
    return [np.asarray(getattr(tree, field.name)).tobytes() for tree in trees for field in fields(Trees)]


def asks_every_block(trees: list[Trees]) -> bool:
    return {feature // WIDTH for tree in trees for feature in tree.feature[tree.feature >= 0].tolist()} == {0, 1, 2}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_are_the_same_with_and_without_the_copy(kind, workers):
    (copied, copied_scores), (read, read_scores) = (forest(kind, copies=copies, workers=workers) for copies in (True, False))
    assert asks_every_block(copied)
    assert bytes_of(read) == bytes_of(copied)
    assert read_scores.tobytes() == copied_scores.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_members_with_and_without_the_copy_grow_the_same_trees(kind):
    alone, _ = forest(kind, copies=True)
    parts = parts_of(ROWS, (0.5, 0.0, 0.5))
    for copying in ((False, False, False), (True, False, False)):  # each decides by its own memory
        group = Group(len(parts))
        for found, _ in group.run(
            lambda one, copying=copying: forest(kind, parts[one.number], one, copies=copying[one.number])
        ):
            assert bytes_of(found) == bytes_of(alone)


@pytest.mark.parametrize("feature", [0, 1, WIDTH - 1, WIDTH, 2 * WIDTH, FEATURES - 1])
@pytest.mark.parametrize("copies", [True, False])
def test_the_codes_of_a_feature_are_those_in_the_blocks(feature, copies):
    blocks = DATA.codes.blocks
    columns = blocks.transpose(0, 2, 1).reshape(-1, ROWS)[:FEATURES].ravel()
    numbers, flags, keys = np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0, np.uint64)
    nothing = numbers, flags, numbers, flags, flags, keys
    singles = columns if copies else blocks.reshape(-1)
    coded = Coded(DATA.codes.words, singles, 0 if copies else WIDTH_SHIFT, *nothing)
    found = singles[codes_from(coded, feature) :: 1 << coded.shift][:ROWS]
    assert found.tolist() == blocks[feature // WIDTH, :, feature % WIDTH].tolist()
    assert 1 << WIDTH_SHIFT == WIDTH


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("kind", ["newton", "symmetric"])
def test_one_compiled_kernel_serves_both(kind):
    kernel = _growth_kernels.grow_symmetric_tree if kind == "symmetric" else _growth_kernels.grow_best_first_tree
    forest(kind, copies=True)
    before = list(kernel.signatures)
    forest(kind, copies=False)
    assert kernel.signatures == before


def test_the_copy_is_small_and_takes_at_most_a_quarter_of_the_memory_left(monkeypatch):
    size = ROWS * FEATURES
    with Team() as team:
        assert grower_of(KINDS["newton"], DATA, team, slice(None), copies=None).copies  # small: memory is not asked for
        monkeypatch.setattr(growth, "_SMALL_COPY", 0)
        for left, copies in ((4 * size, True), (4 * size - 1, False), (0, False)):
            monkeypatch.setattr(growth, "memory_left", lambda left=left: Allowance(left, "a test"))
            assert grower_of(KINDS["newton"], DATA, team, slice(None), copies=None).copies is copies
        monkeypatch.setattr(growth, "memory_left", lambda: Allowance(1 << 40, "a test"))
        for largest, copies in ((size, True), (size - 1, False)):
            monkeypatch.setattr(growth, "_LARGEST_COPY", largest)
            assert grower_of(KINDS["newton"], DATA, team, slice(None), copies=None).copies is copies
        assert grower_of(KINDS["newton"], DATA, team, slice(None), copies=True).copies


@pytest.mark.slow
def test_trees_are_the_same_without_the_compiler():
    script = (
        "import test_single_codes as own\n"
        "data = own.Rows(200)\n"
        "for kind in ('newton', 'symmetric'):\n"
        "    copied, read = (own.forest(kind, copies=copies, data=data)[0] for copies in (True, False))\n"
        "    assert len(read[0].feature) > 3 and own.bytes_of(read) == own.bytes_of(copied), kind\n"
    )
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-c", script], env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}, check=True)
