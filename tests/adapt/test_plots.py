"""Drawings of adaptation show the numbers of the tables."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import target
from oracles.drawings import bars, close_figures, plt  # noqa: F401 - a fixture is used by its name
from rankinite.adapt.choice import Choice
from rankinite.adapt.decision import BASELINES, decide
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.methods.catalogue import METHODS
from rankinite.adapt.trials import MethodTrial
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
    trials = tuple(MethodTrial(KNOWN[name], rk.Feature(0), array, np.ones(6), 1.0) for name, array in scores.items())
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
    assert axes.get_title() == f"{target(20).source}: 20 queries; chosen: smart"
    assert axes.get_xlabel() == f"gain in {measure} over the background, and its 95% interval"
    [zero] = [line for line in axes.get_lines() if list(line.get_xdata()) == [0.0, 0.0]]
    assert list(zero.get_ydata()) == [0.0, 1.0]  # from the bottom to the top of the axes
    axes.figure.canvas.draw()  # nothing fails when it is rendered


def test_another_comparison_is_drawn_on_the_axes_given():
    choice = chosen(rk.NDCG(10))
    fewer = rk.compare(
        {name: trial.unseen for name, trial in zip(choice.models, choice.trials, strict=True)}, target(20), rk.NDCG(10)
    )
    _, axes = plt.subplots()
    assert choice.plot_methods(fewer, axes) is axes
    assert {name: drawn[0] for name, drawn in bars(axes).items()} == {
        name: fewer.pair(name, "background", rk.NDCG(10)).difference for name in ("interpolate", "smart", "target")
    }


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
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("target queries trained on", "mean dcg@10")
    assert "95% interval of the gain over the background" in axes.get_title()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["background", "smart", "target"]
    assert axes.get_xscale() == "log"
    axes.figure.canvas.draw()  # nothing fails when it is rendered
