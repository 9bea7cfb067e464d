"""A selection of a selection is a selection of the whole, and nothing is kept alive by remembering it."""

from __future__ import annotations

import gc

import numpy as np

import rankinite as rk
from rankinite.data.dataset import origin_of
from rankinite.data.identity import fingerprint
from rankinite.data.joining import rejoin

WORLD = rk.World(features=3, documents=5)


def test_selections_of_selections_lead_back_to_the_whole():
    whole = rk.synthesise(12, world=WORLD)
    chosen = whole.select_queries([9, 3, 4, 7]).select_queries([3, 1])
    root, queries = origin_of(chosen)
    assert root is whole
    assert queries.tolist() == [7, 3]
    again = root.select_queries(queries)
    assert fingerprint(again) == fingerprint(chosen)
    np.testing.assert_array_equal(again.input_row, chosen.input_row)


def test_a_whole_that_is_gone_has_no_selections_and_is_not_kept():
    whole = rk.synthesise(4, world=WORLD)
    chosen = whole.select_queries([1])
    del whole
    gc.collect()
    assert origin_of(chosen) is None


def test_parts_of_one_whole_are_reunited_as_a_selection_and_others_are_joined():
    whole, other = rk.synthesise(8, world=WORLD), rk.synthesise(3, part="test", world=WORLD)
    first, second = whole.select_queries([5, 1]), whole.select_queries([2])
    together = rejoin(first, second)
    assert origin_of(together)[1].tolist() == [5, 1, 2]
    assert fingerprint(together) == fingerprint(rk.concat([first, second]))
    joined = rejoin(first, other)
    assert origin_of(joined) is None
    assert fingerprint(joined) == fingerprint(rk.concat([first, other]))
    assert joined.source == first.source
