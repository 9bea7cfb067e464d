"""A function as a measure: its values under ties against all orders, its swap changes against the measures it repeats."""

from __future__ import annotations

import sys
from itertools import permutations, product

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.function_measures import PAIRS, ndcg
from rankinite.engine.function_names import code_of
from refusals import refused

QUERIES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=6)
EACH = pytest.mark.parametrize(("measure", "peer"), PAIRS, ids=str)


def ranked(scores, grades):
    return rk.rank(np.asarray(scores, float), np.asarray(grades, np.float32), np.asarray([0, len(grades)]))


def mean_over_orders(function, scores, grades):
    """By trying every order of the documents of each score."""
    levels = [[g for s, g in zip(scores, grades, strict=True) if s == level] for level in sorted(set(scores), reverse=True)]
    orders = product(*(permutations(level) for level in levels))
    return np.mean([function(np.asarray(sum(order, ()), float)) for order in orders])


@pytest.mark.parametrize("function", ["Python", "Numba"])
@settings(max_examples=30, deadline=None)
@given(query=QUERIES)
def test_a_value_under_ties_is_the_mean_over_all_orders(function, query):
    grades, scores = zip(*query, strict=True)
    measure = rk.FunctionMeasure("steep", STEEP if function == "Numba" else steep)
    assert measure.per_query(ranked(scores, grades))[0] == pytest.approx(mean_over_orders(steep, scores, grades), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(query=QUERIES)
def test_ties_below_the_cutoff_need_no_orders(query):
    grades, scores = zip(*query, strict=True)
    top_two = rk.FunctionMeasure("top-two", lambda grades: float(grades[:2].sum()), cutoff=2)
    expected = mean_over_orders(top_two.function, scores, grades)
    assert top_two.per_query(ranked(scores, grades))[0] == pytest.approx(expected, abs=1e-12)
    calls = []
    counted = rk.FunctionMeasure("counted", lambda grades: calls.append(0) or grades[0], cutoff=1)
    counted.per_query(ranked([1.0, *np.zeros(8)], np.arange(9)))
    assert len(calls) == 1


def steep(grades):
    return grades[0] * grades[-1] + grades[len(grades) // 2]


STEEP = numba.njit(steep)


def test_orders_that_look_alike_count_once():
    """Of 40 tied documents three are relevant: 9,880 orders, all tried."""
    grades = np.zeros(40)
    grades[[3, 11, 30]] = 1
    precision = rk.FunctionMeasure("p@5", lambda grades: float(grades[:5].mean()), orders=10_000)
    assert precision.per_query(ranked(np.zeros(40), grades))[0] == pytest.approx(3 / 40, abs=1e-12)


@pytest.mark.parametrize(("orders", "tried"), [(59, 59), (60, 60), (61, 60)])
def test_as_many_orders_are_tried_as_there_are_at_most(orders, tried):
    """Five tied documents, two of them alike, have 60 orders."""
    calls = []

    def counted(grades):
        calls.append(grades.tolist())
        return steep(grades)

    value = rk.FunctionMeasure("counted", counted, orders=orders).per_query(ranked(np.zeros(5), [0, 1, 3, 3, 7]))[0]
    assert len(calls) == tried
    every = mean_over_orders(steep, np.zeros(5), [0, 1, 3, 3, 7])
    assert (abs(value - every) < 1e-12) == (tried == 60)
    assert (len(set(map(tuple, calls))) == 60) == (tried == 60)


def test_values_do_not_depend_on_the_order_of_rows():
    grades = np.arange(40.0)
    first = rk.FunctionMeasure("first", lambda grades: float(grades[0]), orders=50)
    values = {first.per_query(ranked(np.zeros(40), order))[0] for order in (grades, grades[::-1], np.roll(grades, 7))}
    assert len(values) == 1
    assert values.pop() == pytest.approx(19.5, abs=6.0)


@EACH
def test_a_function_equals_the_measure_it_repeats(measure, peer):
    data = rk.synthesise(8, world=rk.World(documents=12))
    scores = data.features[:, 0].astype(float).round(1)
    values = [rk.evaluate(scores, data, one)[one].per_query for one in (measure, peer)]
    np.testing.assert_allclose(*values, atol=5e-2)  # ties: random orders against the exact expectation
    untied = data.features[:, 0].astype(float)
    np.testing.assert_allclose(*(rk.evaluate(untied, data, one)[one].per_query for one in (measure, peer)), atol=1e-12)


@EACH
@settings(max_examples=40, deadline=None)
@given(grades=st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_swap_changes_are_those_of_the_measure_it_repeats(measure, peer, grades):
    ranked_grades = np.asarray(grades, float)
    np.testing.assert_allclose(rk.swap_changes(measure, ranked_grades), rk.swap_changes(peer, ranked_grades), atol=1e-14)


def test_nothing_is_tried_below_the_cutoff():
    calls = []
    measure = rk.FunctionMeasure("counted", lambda grades: calls.append(0) or float(grades[0]), cutoff=2)
    grades = np.asarray([0.0, 1.0, 2.0, 0.0, 3.0])
    changes = rk.swap_changes(measure, grades)
    assert not changes[2:, 2:].any()
    offsets = np.asarray([0, 5])
    tried = sum(grades[i] != grades[j] for i in range(2) for j in range(i + 1, 5))
    assert len(calls) == 1 + 1 + tried  # the scale, the ranking as it stands, the swaps
    assert measure.calls(grades, offsets) >= 1 + tried
    assert measure.calls(grades, offsets) == 1 + 7  # ranks 0 and 1 with all below
    assert rk.FunctionMeasure("all", ndcg).calls(grades, offsets) == 1 + 9  # ten pairs, one of them of equal grades
    assert measure.calls(grades, offsets, depth=1) == 1 + 4


def test_a_function_that_uses_up_its_grades_changes_nothing():
    def greedy(grades):
        top = grades[0]
        grades[:] = -1.0
        return top

    used = rk.FunctionMeasure("used", greedy)
    top = rk.FunctionMeasure("top", lambda grades: grades[0])
    grades = np.asarray([1.0, 3.0, 0.0, 2.0])
    np.testing.assert_array_equal(rk.swap_changes(used, grades), rk.swap_changes(top, grades))
    assert used.per_query(ranked(np.zeros(4), grades))[0] == 1.5
    np.testing.assert_array_equal(grades, [1.0, 3.0, 0.0, 2.0])


def test_what_is_no_measure_is_refused():
    with refused(rk.MeasureError, place="x", value=3):
        rk.FunctionMeasure("x", 3)
    with refused(rk.MeasureError, place="x", value=0):
        rk.FunctionMeasure("x", ndcg, cutoff=0)
    with refused(rk.MeasureError, place="x", value="x"):
        rk.swap_changes(rk.FunctionMeasure("x", numba.njit(lambda grades: grades.nothing)), np.asarray([1.0, 0.0]))
    with refused(rk.MeasureError, place="x", value=None):
        rk.swap_changes(rk.FunctionMeasure("x", lambda grades: None), np.asarray([1.0, 0.0]))


def test_errors_of_a_function_pass_through_the_kernels():
    def broken(grades):
        if grades[0] < grades[1]:
            raise KeyError("mine")
        return 1.0

    for function in (broken, numba.njit(broken)):
        with pytest.raises(KeyError, match="mine"):
            rk.swap_changes(rk.FunctionMeasure("broken", function), np.asarray([1.0, 0.0]))


def test_a_registered_function_is_known_by_name():
    measure = rk.register_measure(PAIRS[0][0])
    assert rk.parse_measure(str(measure)) is measure
    assert rk.LambdaMART(measure=str(measure)).measure is measure
    for text in (f"{measure}@5", f"{measure}:orders=3"):
        with refused(rk.MeasureError, place=repr(text)):
            rk.parse_measure(text)


def test_a_package_announces_its_functions(tmp_path, monkeypatch):
    (tmp_path / "our_measures.py").write_text(
        "import rankinite as rk\nfirst = rk.FunctionMeasure('our-first', lambda grades: float(grades[0]))\n"
    )
    about = tmp_path / "our_measures-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: our-measures\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rankinite.measures]\nour-first = our_measures:first\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "our_measures", raising=False)
    assert str(rk.parse_measure("our-first")) == "our-first"
    data = rk.read(np.eye(2), grades=[0, 1], group=[2])
    assert rk.evaluate([1.0, 2.0], data, "our-first")["our-first"].mean == 1.0


def test_code_is_told_apart_by_its_source():
    def first(grades):
        return grades[0]

    one, same = eval("lambda grades: grades[0]"), eval("lambda grades: grades[0]")
    assert code_of(one) == code_of(same) != code_of(eval("lambda grades: grades[1]"))  # no source: by what is compiled
    assert code_of(first) == code_of(numba.njit(first)) != code_of(steep)
    assert len({code_of(max), code_of(min), code_of(first)}) == 3
