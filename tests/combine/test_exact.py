"""Exact combination of rankers: never below what else could be chosen, and complete as a ranker."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import rankinite as rk
from rankinite.sweep.sweep import Sweep
from refusals import refused

WORLD = rk.World(features=5, documents=8, terms=3, noise=0.5, seed=2)
DATA, OTHER = (rk.synthesise(60, part=part, world=WORLD) for part in ("train", "test"))
FIRST, SECOND, THIRD = rk.Feature(0), rk.Feature(1), rk.Feature(2)
MEASURES = ["ndcg@10", "ndcg@3", "err", "ap:relevant=2", "rr:relevant=2"]


def value(scores, measure="ndcg@10", data=DATA) -> float:
    return rk.evaluate(scores, data, measure)[measure].mean


@pytest.mark.parametrize("form", ["sum", "convex"])
@pytest.mark.parametrize("measure", MEASURES)
def test_two_rankers_are_never_below_any_weight_of_a_grid(measure, form):
    low, high = (-1.0, 3.0) if form == "sum" else (0.0, 1.0)
    found = rk.combine.exact(FIRST, SECOND, data=DATA, measure=measure, form=form, range=(low, high))
    a, b = FIRST.score(DATA), SECOND.score(DATA)
    for alpha in np.linspace(low, high, 401) + 1e-7:
        assert value(a + alpha * b if form == "sum" else (1 - alpha) * a + alpha * b, measure) <= found.value + 1e-12
    assert low <= found.alpha <= high
    joined = a + found.alpha * b if form == "sum" else (1 - found.alpha) * a + found.alpha * b
    assert found.value == pytest.approx(value(joined, measure), abs=1e-12)
    assert found.value == value(found.ranker, measure)
    assert found.curve.value_at(found.alpha) == pytest.approx(found.value, abs=1e-12)
    assert found.alone == (value(FIRST, measure), value(SECOND, measure))


def test_the_combination_is_a_ranker_like_any_other(tmp_path):
    found = rk.combine.exact(FIRST, SECOND, DATA)
    found.ranker.save(tmp_path / "both.rankinite")
    assert (rk.load(tmp_path / "both.rankinite").score(OTHER) == found.ranker.score(OTHER)).all()
    bounded = rk.combine.exact(FIRST, SECOND, DATA, range=(0.1, 5.0))
    assert bounded.weights == (1.0, bounded.alpha)
    assert bounded.ranker.score(OTHER) == pytest.approx(FIRST.score(OTHER) + bounded.alpha * SECOND.score(OTHER))


def test_a_scale_of_scores_does_not_matter_when_they_are_normalised():
    plain = rk.combine.exact(FIRST, SECOND, DATA, range=(-1.0, 5.0), normalise=True)
    scaled = rk.combine.exact(1000.0 * FIRST, 0.001 * SECOND, DATA, range=(-1.0, 5.0), normalise=True)
    assert scaled.alpha == pytest.approx(plain.alpha, rel=1e-9)
    assert scaled.value == pytest.approx(plain.value)


@pytest.mark.parametrize("range_", [(0.0, 5.0), None], ids=["range", "every ratio"])
def test_nested_pairs_are_combined_from_the_inside(range_):
    inner = rk.combine.exact(FIRST, SECOND, DATA, range=range_)
    outer = rk.combine.exact(inner.ranker, THIRD, DATA, range=range_)
    nested = rk.combine.exact((FIRST, SECOND), THIRD, DATA, range=range_)
    assert nested.weights == pytest.approx((*(outer.weights[0] * weight for weight in inner.weights), outer.weights[1]))
    assert nested.value == outer.value
    assert [step.alpha for step in nested.steps] == pytest.approx([inner.alpha, outer.alpha])
    assert nested.curve is None
    convex = rk.combine.exact((FIRST, SECOND), THIRD, DATA, form="convex", range=(0.0, 1.0))
    assert sum(convex.weights) == pytest.approx(1.0)


def test_numbers_stand_for_rankers():
    rankers = [FIRST, SECOND, THIRD]
    nested = rk.combine.nested_by_number(rankers, ((1, 3), 2))
    assert nested == ((FIRST, THIRD), SECOND)
    named = rk.combine.exact(*nested, DATA, names=["a", "c", "b"])
    assert named.names == ("a", "c", "b")
    assert named.steps[0].what == "(a) with (c)"
    with refused(rk.ArgumentError, owner="exact", setting="names", value=["a"]):
        rk.combine.exact(*nested, DATA, names=["a"])
    with refused(rk.ArgumentError, value=4):
        rk.combine.nested_by_number(rankers, (1, 4))


def test_greedy_is_never_below_any_ranker_nor_any_pair():
    rankers = [FIRST, SECOND, THIRD, rk.Feature(3)]
    found = rk.combine.greedy(rankers, DATA)
    pairs = [rk.combine.exact(a, b, DATA).value for i, a in enumerate(rankers) for b in rankers[i + 1 :]]
    assert found.value >= max(*found.alone, *pairs) - 1e-12
    assert found.steps[0].value == pytest.approx(max(pairs), abs=1.0)
    assert found.value == value(found.ranker)


def test_greedy_leaves_out_what_does_not_help():
    useless = rk.combine.greedy({"good": FIRST, "same": 2.0 * FIRST}, DATA)
    assert useless.value == pytest.approx(value(FIRST))
    assert useless.steps == ()


@pytest.mark.parametrize("measure", ["ndcg@10", "err"])
def test_cyclic_never_falls(measure):
    rankers = [FIRST, SECOND, THIRD, rk.Feature(3)]
    start = rk.combine.average(rankers, DATA, measure)
    raw = [1.0 / np.std(ranker.score(DATA)) for ranker in rankers]
    found = rk.combine.cyclic(rankers, DATA, measure, weights=raw, normalise=True)
    values = [start.value, *(step.value for step in found.steps)]
    assert all(later >= earlier for earlier, later in itertools.pairwise(values))
    assert found.value == pytest.approx(values[-1], abs=1e-12)
    again = rk.combine.cyclic(rankers, DATA, measure, weights=found.weights, normalise=True)
    assert again.value >= found.value - 1e-12


def test_smoothing_takes_the_best_of_the_smoothed_curve():
    found = rk.combine.exact(FIRST, SECOND, DATA, smooth=0.5)
    assert found.alpha == found.curve.smoothed(0.5).best()[0]
    assert found.value <= rk.combine.exact(FIRST, SECOND, DATA).value


@pytest.mark.parametrize("every", [0, 3], ids=["all returned", "a third not returned"])
@pytest.mark.parametrize("range_", [(0.0, 5.0), None], ids=["range", "every ratio"])
def test_folds_choose_a_width_that_does_best_on_other_queries(range_, every):
    """Against the choice made once more, slowly; documents that nobody returns are not returned on held-out queries either."""
    returned = np.ones(DATA.rows, bool) if every == 0 else np.arange(DATA.rows) % every > 0
    rankers = [one if every == 0 else np.where(returned, one.score(DATA), -np.inf) for one in (FIRST, SECOND)]
    found = rk.combine.exact(*rankers, DATA, folds=4, seed=3, range=range_, normalise=False)
    a, b = (one.score(DATA) for one in found.rankers)
    whole = 1.0 if range_ is None else 5.0
    parts = np.array_split(np.random.default_rng(3).permutation(DATA.queries), 4)
    totals = []
    for share in (0.0, 0.01, 0.03, 0.1, 0.3):
        total = 0.0
        for part in parts:
            inside = np.isin(DATA.query_of_row(), part)
            rest = DATA.select_queries(np.setdiff1d(np.arange(DATA.queries), part))
            sweep = Sweep(rest, "ndcg@10")
            if range_ is None:
                curve = sweep.ratio_curve(a[~inside], b[~inside], (a.std(), b.std()), divided=False)
            else:
                curve = sweep.curve(a[~inside], b[~inside], *range_)
            alpha = (curve.smoothed(share * whole) if share else curve).best()[0]
            held_out = DATA.select_queries(np.sort(part))
            scores = np.where(returned, b if math.isinf(alpha) else a + alpha * b, -np.inf)
            total += value(scores[inside], data=held_out) * held_out.queries
        totals.append(total)
    width = (0.0, 0.01, 0.03, 0.1, 0.3)[int(np.argmax(totals))] * whole
    curve = found.curve
    assert found.alpha == (curve.smoothed(width) if width else curve).best()[0]


def test_threads_agree():
    with rk.threads(1):
        one = rk.combine.greedy([FIRST, SECOND, THIRD], DATA)
    two = rk.combine.greedy([FIRST, SECOND, THIRD], DATA)
    assert one.weights == two.weights


class Constant:
    def score(self, data):
        return np.ones(data.rows)


def other_features():
    return rk.LambdaRank(hidden=(), epochs=1).fit(DATA.rename_features({"1": "other"}))


def test_an_unknown_feature_is_found_with_the_ranker_that_needs_it():
    with refused(rk.DataError, value="other") as caught:
        rk.combine.exact(FIRST, other_features(), DATA)
    assert caught.value.place.startswith(f"ranker 2 on {DATA.source}")


def exact(**settings):
    return rk.combine.exact(FIRST, SECOND, DATA, **settings)


SETTINGS = [
    ({"range": 1.0}, "range", 1.0),
    ({"form": "product"}, "form", "product"),
    ({"smooth": 0.0}, "smooth", 0.0),
    ({"folds": 1}, "folds", 1),
    ({"folds": 61}, "folds", 61),
    ({"folds": 2, "smooth": 0.1}, "smooth", 0.1),
]


@pytest.mark.parametrize(("settings", "setting", "value"), SETTINGS, ids=str)
def test_settings_that_make_no_search_are_refused(settings, setting, value):
    with refused(rk.ArgumentError, setting=setting, value=value):
        exact(**settings)


REFUSED = {
    "measure": (lambda: exact(measure="balanced-error"), rk.MeasureError, {"value": "balanced-error"}),
    "empty range": (lambda: exact(range=(1.0, 1.0)), rk.ArgumentError, {"value": (1.0, 1.0)}),
    "turned range": (lambda: exact(range=(2.0, 1.0)), rk.ArgumentError, {"value": (2.0, 1.0)}),
    "constant": (
        lambda: rk.combine.exact(Constant(), Constant(), DATA),
        rk.DataError,
        {"place": DATA.source, "value": DATA.rows},
    ),
    "three": (lambda: rk.combine.exact((FIRST, SECOND, THIRD), FIRST, DATA), rk.ArgumentError, {"value": 3}),
    "no ranker": (lambda: rk.combine.exact(FIRST, 3, DATA), rk.ArgumentError, {"place": "ranker 2", "value": 3}),
    "one": (lambda: rk.combine.greedy([FIRST], DATA), rk.ArgumentError, {"value": 1}),
    "no list": (lambda: rk.combine.greedy(FIRST, DATA), rk.ArgumentError, {"value": type(FIRST).__name__}),
    "weights": (
        lambda: rk.combine.cyclic([FIRST, SECOND], DATA, weights=[1.0]),
        rk.ArgumentError,
        {"owner": "cyclic", "setting": "weights", "value": [1.0]},
    ),
    "an array": (lambda: rk.combine.exact(FIRST, SECOND, np.zeros((2, 5))), rk.DataError, {"value": "ndarray"}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_combined_is_refused(case):
    call, kind, fields = REFUSED[case]
    with refused(kind, **fields):
        call()
