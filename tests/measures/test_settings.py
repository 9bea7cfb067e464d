"""Settings of measures that are no numbers or beyond all measure, and cutoffs that cost no more than the longest query."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import rankinite as rk
from rankinite.measures import gains
from refusals import refused

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        (f"ndcg@{DIGITS}", "", DIGITS),
        (f"p@{'0' * 5000}1", "", f"{'0' * 5000}1"),
        (f"err:max_grade={DIGITS}", "", DIGITS),
        (f"ap:relevant={DIGITS}", "ap", math.inf),
        (f"dcg:gains=0/{DIGITS}", "dcg", (0.0, math.inf)),
        (f"ndcg:gains={DIGITS}", "ndcg", DIGITS),
        (f"ndcg:{DIGITS}", "", DIGITS),
        (DIGITS, "", DIGITS),
        ("x" * 100_000, "", "x" * 100_000),
        ("p@5:relevant=inf", "p", math.inf),
        ("recall:relevant=-inf", "recall", -math.inf),
        ("balanced-error:relevant=inf", "balanced-error", math.inf),
        ("balanced-error:threshold=-inf", "balanced-error", -math.inf),
    ],
    ids=lambda part: str(part)[:20],
)
def test_texts_that_name_no_number(text: str, place: str, value: object) -> None:
    with refused(rk.MeasureError, place=place, value=value) as caught:
        rk.parse_measure(text)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "text", ["ap:relevant=nan", "rr:relevant=nan", "balanced-error:relevant=nan", "balanced-error:threshold=nan"]
)
def test_thresholds_that_nothing_can_be_compared_with(text: str) -> None:
    with refused(rk.MeasureError, place=text.partition(":")[0]) as caught:
        rk.parse_measure(text)
    assert math.isnan(caught.value.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: rk.NDCG(10**5000),
        lambda: rk.NDCG(10**15),
        lambda: rk.ERR(max_grade=10**5000),
        lambda: rk.DCG(gains=(0, 10**5000)),
        lambda: rk.AP(relevant=10**5000),
        lambda: rk.RR(relevant="2"),
        lambda: rk.Precision(5, relevant=True),
        lambda: rk.NDCG(True),
        lambda: rk.NDCG(2.0),
        lambda: rk.Success(None),
        lambda: rk.AveNDCG(None),
        lambda: rk.ERR(max_grade=21),
        lambda: rk.AP(relevant=math.nextafter(sys.float_info.max, math.inf)),
    ],
)
def test_values_that_no_measure_can_have(make) -> None:
    with pytest.raises(rk.MeasureError) as caught:
        make()
    assert len(str(caught.value)) < 300


def test_the_largest_values_are_taken() -> None:
    largest = rk.NDCG(10**15 - 1)
    assert rk.parse_measure(str(largest)) == largest
    assert rk.LambdaMART(measure=largest).trained_measure(3) == largest
    for relevant in (-sys.float_info.max, sys.float_info.max):
        assert rk.RR(relevant=relevant).relevant == relevant
    assert rk.parse_measure("err:max_grade=20").max_grade == 20


def judged() -> rk.Ranking:
    random = np.random.default_rng(0)
    sizes = [1, 4, 7, 12]
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return rk.rank(random.normal(size=offsets[-1]).round(1), random.integers(0, 4, offsets[-1]).astype(np.float32), offsets)


@pytest.mark.parametrize("short", ["counted", "zero"])
@pytest.mark.parametrize("cutoff", [1, 3, 12, 13, 40])
def test_the_mean_over_cutoffs_is_the_mean_of_each(cutoff: int, short: str) -> None:
    each = [rk.NDCG(k, short=short).per_query(judged()) for k in range(1, cutoff + 1)]
    value = rk.AveNDCG(cutoff, short=short).per_query(judged())
    if cutoff <= 12:  # to the bit
        assert np.array_equal(value, np.mean(each, axis=0), equal_nan=True)
    assert value == pytest.approx(np.mean(each, axis=0), rel=1e-14, nan_ok=True)


def test_a_cutoff_beyond_the_longest_query_costs_no_more_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Counted(rk.NDCG):
        def per_query(self, ranking):
            asked.append(self.cutoff)
            return rk.NDCG(self.cutoff, self.gains, self.discount, self.short).per_query(ranking)

    monkeypatch.setattr(gains, "NDCG", Counted)
    value = rk.parse_measure("avendcg@1000000").per_query(judged())
    assert asked == list(range(1, 14))
    monkeypatch.undo()
    assert value == pytest.approx(rk.NDCG(12).per_query(judged()), rel=1e-4, nan_ok=True)
    assert not math.isnan(float(np.nanmean(value)))
