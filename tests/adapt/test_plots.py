"""Drawings of adaptation show what the tables say."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import target
from oracles.drawings import bars, close_figures, plt, rendered  # noqa: F401 - a fixture is used by its name
from rankinite.adapt.decision import BASELINES, decide
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.methods.catalogue import METHODS
from rankinite.adapt.result import Choice
from rankinite.adapt.trial import Trial
from rankinite.drawing import BLUE, GREY, ORANGE

pytestmark = pytest.mark.usefixtures("close_figures")
KNOWN = {method.name: method for method in METHODS}


def chosen(measure):
    data = target(20)
    random = np.random.default_rng(2)
    noises = {"background": 2.0, "interpolate": 1.0, "smart": 0.1, "target": 3.0}
    scores = {name: data.grades + noise * random.normal(size=data.rows) for name, noise in noises.items()}
    unseen = rk.compare(scores, data, [rk.ERR(), measure], against=BASELINES)
    sign = 1.0 if measure.higher_is_better else -1.0
    verdict = decide({name: sign * unseen[name][measure].per_query for name in scores})
    trials = tuple(Trial(KNOWN[name], rk.Feature(0), own, np.ones(6), 1.0) for name, own in scores.items())
    return Choice(verdict, rk.Feature(0), measure, trials, {}, unseen, test=unseen)


@pytest.mark.parametrize("measure", [rk.NDCG(10), rk.PairwiseErrors()])
def test_methods_are_drawn_by_their_gain_over_the_background(measure):
    choice = chosen(measure)
    axes = choice.plot_methods()
    drawn = bars(axes)
    assert list(drawn) == ["interpolate", "smart", "target"]
    for name, (gain, (low, high)) in drawn.items():
        pair = choice.unseen.pair(name, "background", measure)
        expected = (pair.difference, *pair.interval)
        if not measure.higher_is_better:
            expected = (-pair.difference, *(-end for end in reversed(pair.interval)))
        assert (gain, low, high) == expected
    assert drawn["smart"][0] > 0
    colours = [line.get_color() for line in axes.get_lines() if line.get_marker() == "o"]
    assert colours == [BLUE, ORANGE, GREY]
    assert "chosen: smart" in axes.get_title()
    assert rendered(axes).startswith(b"\x89PNG")
    _, other = plt.subplots()
    assert choice.plot_methods(choice.test, other) is other


@pytest.mark.parametrize("queries", [1, 12])
def test_the_curve_is_drawn_as_means_with_bands_of_the_gain(queries):
    random = np.random.default_rng(3)
    values = {name: random.random((3, queries)) for name in ("background", "target", "smart")}
    values["background"][:] = values["background"][0]
    curve = LearningCurve(rk.DCG(10), (5, 10, 20), values)
    axes = curve.plot()
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines) == ["background", "smart", "target"]
    for name, line in lines.items():
        assert line.get_xdata().tolist() == [5, 10, 20]
        assert np.allclose(line.get_ydata(), values[name].mean(axis=1))
    assert lines["smart"].get_color() == ORANGE
    assert [label.get_text() for label in axes.get_xticklabels()] == ["5", "10", "20"]
    bands = axes.collections
    assert len(bands) == (2 if queries > 1 else 0)  # the interval of one query has no ends
    for name, band in zip(("smart", "target"), bands, strict=False):
        ends = np.asarray([interval for _, _, interval in curve.gains(name)]) + values["background"].mean(axis=1)[:, None]
        edge = band.get_paths()[0].vertices
        assert np.isclose(edge[:, 1].min(), ends.min())
        assert np.isclose(edge[:, 1].max(), ends.max())
    assert rendered(axes).startswith(b"\x89PNG")
