"""What notebooks show: every result has an HTML form, and names in it stay text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.adapt.forest_diff import Moved, Shift
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.models.forest import Forest
from rankinite.models.history import History

HOSTILE = "<script>alert('1')</script>"


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def read(shown):
    page = Page()
    page.feed(shown._repr_html_())
    page.close()
    assert set(page.tags) <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "strong"}
    return page


@pytest.fixture(scope="module")
def data():
    drawn = rk.synthesise(12, world=rk.World(documents=6, features=3))
    return replace(drawn.rename_features([HOSTILE, "b", "c"]), source=HOSTILE)


def rankers():
    names = (HOSTILE, "b", "c")
    history = History(HOSTILE, np.asarray([0.1, 0.4, 0.5]), np.asarray([0.1, 0.3, 0.2]), 1, "early")
    settings = {"learner": HOSTILE, "mark": HOSTILE, "rate": 0.1, "base": {}}
    forest = Forest(random_forest(1, trees=4, features=3).trees, names, settings=settings, history=history)
    linear = rk.Linear(names, np.asarray([1.0, 0.0, 2.0]), settings=settings)
    net = rk.Net(names, (2,), np.zeros(11), np.zeros(3), np.ones(3), settings=settings, history=history)
    column = rk.Feature(HOSTILE)
    top = rk.Linear(("1", "2"), np.ones(2))
    return [forest, linear, net, column, 0.5 * forest + 0.25 * column, rk.Normalised(column), rk.Stack((forest, column), top)]


@pytest.mark.parametrize("ranker", rankers(), ids=lambda ranker: type(ranker).__name__)
def test_rankers_are_shown_as_a_card(ranker):
    page = read(ranker)
    assert HOSTILE in page.text
    assert type(ranker).__name__ in page.text


def test_the_card_tells_size_features_settings_and_training():
    forest, linear, net, *_, blend, _, stack = rankers()
    assert "trees4" in read(forest).text
    assert f"settingsrate 0.1, mark {HOSTILE}" in read(forest).text
    assert "trainingearly after 2 rounds, round 1 kept" in read(forest).text
    assert f"{HOSTILE} on valid0.1000 before, 0.3000 kept, 0.2000 last" in read(forest).text
    assert "features3 (2 used)" in read(linear).text
    assert "hidden units2" in read(net).text
    assert "early after 2 epochs, epoch 1 kept" in read(net).text
    assert "0.5 ×Forest by" in read(blend).text
    assert "part 1feature:" in read(stack).text
    many = Forest(random_forest(1, features=30).trees, tuple(f"f{k}" for k in range(30)))
    assert "30: f0, f1, f2, f3, f4, f5, f6, f7 and 22 more" in read(many).text


def test_data_are_shown_with_their_counts(data):
    page = read(data)
    assert HOSTILE in page.text
    assert "queries12" in page.text
    assert "documents72" in page.text
    assert all(f"{grade:g}: {(data.grades == grade).sum()}" in page.text for grade in np.unique(data.grades))


def test_descriptions_are_shown_as_they_are_printed(data):
    described = rk.describe(data)
    page = read(described)
    assert page.tags.count("table") == 3
    assert all(sentence in page.text for sentence in described.oddities())
    assert HOSTILE in page.text
    wide = rk.describe(rk.read(np.ones((2, 20)), grades=[0, 1], group=[2]))
    assert "8 more (feature_grid() has all)" in str(wide)
    assert len(wide.feature_grid().rows) == 20
    assert wide.oddities()[0] in str(wide)


def test_results_are_shown_with_their_names_as_text(data):
    good = rk.Feature(HOSTILE)
    for shown in (
        rk.evaluate(good, data, "ndcg@5"),
        rk.compare({HOSTILE: good, "b": rk.Feature("b")}, data, "ndcg@5"),
        rk.combine.exact(good, rk.Feature("b"), data, "ndcg@5"),
        rk.combine.greedy({HOSTILE: good, "b": rk.Feature("b")}, data, "ndcg@5"),
    ):
        assert read(shown).tags[0] == "table"
    assert HOSTILE in read(rk.compare({HOSTILE: good, "b": rk.Feature("b")}, data, "ndcg@5")).text


def test_what_adaptation_gives_is_shown():
    values = {name: np.asarray([[0.1, 0.2], [0.3, 0.5]]) for name in ("background", HOSTILE)}
    curve = LearningCurve(rk.NDCG(10), (5, 10), values)
    assert HOSTILE in read(curve).text
    assert str(curve) == curve.grid().text()
    ones = np.ones(1, np.int64)
    moved = Moved(*[ones] * 5, *[np.ones(1)] * 2, shifts={HOSTILE: Shift(1, 1, 0.5)}, added=0)
    assert "1 of 1" in read(moved).text


def test_a_test_for_an_optimum_is_shown_with_its_verdict(data):
    found = rk.local_optimum(rk.Linear(data.feature_names, np.ones(3)), data, "ndcg@5", directions=3)
    page = read(found)
    assert found.verdict() in page.text
    assert all(said in page.text for said in found.warnings)
