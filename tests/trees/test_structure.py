"""Arrays that are not trees are refused before any kernel sees them; those at the edge of what is allowed are taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankinite.data.categories import MOST
from rankinite.errors import DataError
from rankinite.trees.structure import LEAF, Trees, join, no_trees, sets_of
from refusals import refused

FEATURES = 3


def stump(feature: int = 0, chosen: tuple[int, ...] = ()) -> Trees:
    return Trees(
        feature=np.asarray([feature, LEAF, LEAF]),
        threshold=np.asarray([0.5, 0, 0]),
        missing_left=np.zeros(3, bool),
        left=np.asarray([1, 0, 0]),
        right=np.asarray([2, 0, 0]),
        value=np.asarray([0.0, -1.0, 1.0]),
        rows=np.asarray([4, 2, 2]),
        curvature=np.asarray([4.0, 2.0, 2.0]),
        gain=np.asarray([1.0, 0.0, 0.0]),
        offsets=np.asarray([0, 3]),
        **sets_of([chosen, (), ()]),
    )


SOUND = {
    "the last feature": stump(FEATURES - 1),
    "the first and the last category there may be": stump(chosen=(0, MOST - 1)),
    "several trees, some with sets": join([stump(), stump(1, (2, 7)), stump(2)]),
    "no trees": no_trees(),
    "an infinite threshold": replace(stump(), threshold=np.asarray([np.inf, 0, 0])),
}
UNSOUND = {
    "an unknown feature": stump(FEATURES),
    "a feature below that of leaves": replace(stump(), feature=np.asarray([LEAF - 1, LEAF, LEAF])),
    "a category code of MOST": stump(chosen=(0, MOST)),
    "a negative category code": stump(chosen=(-1, 2)),
    "codes twice": replace(stump(), set_starts=np.asarray([0, 2, 2, 2]), set_codes=np.asarray([3, 3])),
    "falling codes": replace(stump(), set_starts=np.asarray([0, 2, 2, 2]), set_codes=np.asarray([3, 2])),
    "a set at a leaf": replace(stump(), set_starts=np.asarray([0, 1, 2, 2]), set_codes=np.asarray([3, 3])),
    "a set with no end": replace(stump(), set_starts=np.asarray([0, 1, 1]), set_codes=np.asarray([3])),
    "sets that end too early": replace(stump(), set_starts=np.asarray([0, 1, 1, 1]), set_codes=np.asarray([3, 4])),
    "sets that begin too late": replace(stump(), set_starts=np.asarray([1, 2, 2, 2]), set_codes=np.asarray([3, 4])),
    "a child beyond the tree": replace(stump(), right=np.asarray([3, 0, 0])),
    "a child that is its parent": replace(stump(), left=np.asarray([0, 0, 0])),
    "a node beside the tree that is its own child": replace(
        stump(), feature=np.asarray([LEAF, 0, LEAF]), left=np.asarray([0, 1, 0]), right=np.asarray([0, 2, 0])
    ),
    "a child twice": replace(stump(), right=np.asarray([1, 0, 0])),
    "a value that is no number": replace(stump(), value=np.asarray([0.0, np.nan, 1.0])),
    "an infinite value": replace(stump(), value=np.asarray([0.0, 1.0, np.inf])),
    "a threshold that is no number": replace(stump(), threshold=np.asarray([np.nan, 0, 0])),
    "an array that is too short": replace(stump(), gain=np.zeros(2)),
    "an empty tree": replace(stump(), offsets=np.asarray([0, 0, 3])),
    "trees that end too early": replace(stump(), offsets=np.asarray([0, 2])),
    "trees that begin too late": replace(stump(), offsets=np.asarray([1, 3])),
    "no offsets": replace(stump(), offsets=np.zeros(0)),
}


@pytest.mark.parametrize("kind", SOUND)
def test_what_is_at_the_edge_is_taken(kind):
    SOUND[kind].check(FEATURES, "m.rankinite")


@pytest.mark.parametrize("kind", UNSOUND)
def test_what_is_beyond_is_refused(kind):
    with refused(DataError, place="m.rankinite"):
        UNSOUND[kind].check(FEATURES, "m.rankinite")


def test_nodes_and_trees_taken_out_keep_their_sets():
    parts = [stump(), stump(1, (2, 7)), stump(2), stump(0, (1,))]
    trees = join(parts)
    for number, part in enumerate(parts):
        one = trees.take(number, number + 1)
        assert one.feature.tolist() == part.feature.tolist()
        assert [one.set_of(node) for node in range(3)] == [part.set_of(node) for node in range(3)]
    assert trees.take_nodes(np.asarray([3, 9, 0])).set_sizes.tolist() == [2, 1, 0]


def test_trees_tell_rows_apart_only_where_leaves_differ():
    assert stump().tell_rows_apart()
    assert not replace(stump(), value=np.asarray([5.0, 1.0, 1.0])).tell_rows_apart()
    assert not no_trees().tell_rows_apart()


def test_the_largest_sum_is_that_of_leaves_alone():
    trees = join([stump(), replace(stump(), value=np.asarray([9.0, -3.0, 2.0]))])
    assert trees.largest_sum() == 4.0
    assert no_trees().largest_sum() == 0.0
