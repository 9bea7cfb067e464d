"""Drawings of comparisons show what the tables say."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.drawings import bars, close_figures, plt, rendered  # noqa: F401 - a fixture is used by its name
from rankinite.drawing import BLUE, ORANGE
from refusals import refused

pytestmark = pytest.mark.usefixtures("close_figures")


@pytest.fixture(scope="module")
def compared():
    data = rk.synthesise(40, world=rk.World(documents=8, features=3))
    random = np.random.default_rng(1)
    scores = {
        name: data.grades + noise * random.normal(size=data.rows) for name, noise in (("a$b^", 0.5), ("b", 2.0), ("c", 9.0))
    }
    return rk.compare(scores, data, ["ndcg@5", "pairwise-errors"])


@pytest.mark.parametrize("measure", [None, "ndcg@5", rk.PairwiseErrors()])
def test_means_are_drawn_with_their_intervals(compared, measure):
    axes = compared.plot_means(measure)
    asked = measure or "ndcg@5"
    expected = [(compared[name][asked].mean, compared[name][asked].interval) for name in compared.systems]
    assert list(bars(axes).values()) == expected
    assert [label.get_text() for label in axes.get_yticklabels()] == [r"a\$b^", "b", "c"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1], "the first on top"
    dots = [line.get_color() for line in axes.get_lines() if line.get_marker() == "o"]
    assert dots == [ORANGE if name in compared.best(asked) else BLUE for name in compared.systems]
    assert str(asked) in axes.get_xlabel()
    assert rendered(axes).startswith(b"\x89PNG")


@pytest.mark.parametrize(("measure", "interval"), [("ndcg", (0.0, 1.0)), ("dcg", None)])
def test_of_a_single_query_the_measures_whole_range_is_drawn_if_it_has_ends(measure, interval):
    data = rk.read(np.zeros((2, 1)), grades=[0, 1], group=[2])
    axes = rk.compare({"a": [0.0, 1.0], "b": [1.0, 0.0]}, data, measure).plot_means()
    assert [drawn for _, drawn in bars(axes).values()] == [interval, interval]
    assert rendered(axes).startswith(b"\x89PNG")


@pytest.mark.parametrize("measure", ["ndcg@5", "pairwise-errors"])
def test_gains_are_sorted_and_positive_where_the_first_is_better(compared, measure):
    axes = compared.plot_gains("b", "c", measure)
    first, second = (compared[name][measure].per_query for name in ("b", "c"))
    change = first - second if measure == "ndcg@5" else second - first
    above, below = (patch.get_data().values for patch in axes.patches)
    expected = sorted(change[~np.isnan(change)].tolist(), reverse=True)
    assert (above + below).tolist() == expected
    assert above.min() >= 0.0 >= below.max()
    assert (below < 0).any(), "some query loses"
    pair = compared.pair("b", "c", measure)
    assert axes.get_xlabel() == f"queries, sorted: {pair.wins} gain, {pair.ties} stay, {pair.losses} lose"
    assert (above > 0).sum() == pair.wins
    assert axes.get_lines()[-1].get_ydata()[0] == pytest.approx(abs(pair.difference))
    assert rendered(axes).startswith(b"\x89PNG")


def test_unknown_systems_and_measures_are_refused(compared):
    with refused(rk.ArgumentError, value="d"):
        compared.plot_gains("b", "d")
    with refused(rk.ArgumentError, value="b"):
        compared.plot_gains("b", "b")
    with refused(rk.MeasureError, value="err"):
        compared.plot_means("err")


def test_axes_given_are_drawn_on(compared):
    _, (left, right) = plt.subplots(1, 2)
    assert compared.plot_means(axes=left) is left
    assert compared.plot_gains("b", "c", axes=right) is right
