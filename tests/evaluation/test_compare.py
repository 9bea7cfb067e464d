"""Comparison: every number of the table from the per-query values, and letters that follow from the tests."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from rankinite.data.dataset import Dataset
from rankinite.engine.parallel import threads
from rankinite.errors import ArgumentError, DataError, MeasureError
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.pair_tests import TESTS
from rankinite.evaluation.significance import bootstrap, holm, randomisation
from rankinite.measures import ERR, NDCG, PairwiseErrors, Ranking
from refusals import refused

MEASURES = (NDCG(5), ERR(), PairwiseErrors())
NAMES = ("noise", "weak", "strong", "strong again")


def judged(queries: int = 60) -> tuple[Dataset, np.ndarray]:
    rng = np.random.default_rng(11)
    grades = rng.integers(0, 5, queries * 8)
    grades[:16] = 1  # two queries of one grade
    qids = np.repeat([f"q{i}" for i in range(queries)], 8)
    noise = rng.normal(size=(len(grades), 3))
    weak, strong = grades + 3 * noise[:, 1], grades + 0.7 * noise[:, 2]
    scores = np.column_stack((noise[:, 0], weak, strong, np.exp(strong)))
    return Dataset.from_rows(scores, grades, qids, NAMES, source="toy"), scores


DATA, SCORES = judged()
SYSTEMS = dict(zip(NAMES, SCORES.T, strict=True))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(SYSTEMS, DATA, MEASURES, resamples=2000, seed=4)


def test_every_pair_follows_from_the_per_query_values(comparison: Comparison) -> None:
    assert len(comparison.pairs) == 6 * len(MEASURES)
    for measure, (first, second) in itertools.product(MEASURES, itertools.combinations(NAMES, 2)):
        a, b = (comparison[name][measure].per_query[2:] for name in (first, second))
        pair = comparison.pair(first, second, measure)
        sign = 1 if measure.higher_is_better else -1
        assert pair.difference == pytest.approx(a.mean() - b.mean(), abs=1e-12)
        assert (pair.wins, pair.ties, pair.losses) == tuple(int(np.sum(np.sign(a - b) * sign == s)) for s in (1, 0, -1))
        assert pair.randomisation.raw == randomisation(a - b, 2000, 4)
        assert (pair.bootstrap.raw, pair.bootstrap_interval) == (
            bootstrap(a - b, 2000, 4).p,
            bootstrap(a - b, 2000, 4).interval,
        )
        if second != "strong again" or first != "strong":
            expected = stats.ttest_rel(a, b)
            assert pair.t.raw == pytest.approx(expected.pvalue, rel=1e-9)
            ends = expected.confidence_interval(0.95)
            assert pair.interval == pytest.approx((ends.low, ends.high))


def test_p_values_are_corrected_over_the_pairs_of_a_measure(comparison: Comparison) -> None:
    for measure, test in itertools.product(MEASURES, TESTS):
        pairs = [pair for pair in comparison.pairs if pair.measure == measure]
        assert [pair.p(test).holm for pair in pairs] == holm([pair.p(test).raw for pair in pairs]).tolist()


def test_equal_rankings_are_equal(comparison: Comparison) -> None:
    for measure in MEASURES:
        pair = comparison.pair("strong", "strong again", measure)
        assert (pair.difference, pair.wins, pair.losses, pair.ties) == (0.0, 0, 0, 58)
        assert [pair.p(test).raw for test in TESTS] == [1.0, 1.0, 1.0]
        assert pair.better is None
        assert comparison.best(measure) == ("strong", "strong again")


def test_letters_name_the_systems_beaten(comparison: Comparison) -> None:
    for measure in MEASURES:  # an error is better when lower
        assert comparison.better_than("strong", measure) == ("noise", "weak")
        assert comparison.better_than("weak", measure) == ("noise",)
        assert comparison.better_than("noise", measure) == ()
    rows = comparison.grid().rows
    assert [row[:2] for row in rows] == [("a", "noise"), ("b", "weak"), ("c", "strong"), ("d", "strong again")]
    assert [cell.split(" ")[2:] for cell in rows[2][2:]] == [[">ab"]] * 3
    assert [cell.split(" ")[2:] for cell in rows[0][2:]] == [[]] * 3
    assert comparison.grid().strong == {(row, column) for row in (2, 3) for column in (2, 3, 4)}


@pytest.mark.parametrize("test", TESTS)
def test_the_chosen_test_decides(test: str) -> None:
    rng = np.random.default_rng(0)
    systems = {name: DATA.grades + rng.normal(0, spread, DATA.rows) for name, spread in [("a", 2.2), ("b", 2.0), ("c", 1.7)]}
    for alpha in (0.001, 0.05, 0.6):
        found = compare(systems, DATA, NDCG(5), test=test, alpha=alpha, resamples=500)
        for one, other in itertools.permutations(systems, 2):
            pair = found.pair(one, other, NDCG(5))
            assert (other in found.better_than(one, NDCG(5))) == (pair.difference > 0 and pair.p(test).holm <= alpha)


def test_changing_places_mirrors_every_pair(comparison: Comparison) -> None:
    backwards = compare(dict(reversed(SYSTEMS.items())), DATA, MEASURES, resamples=2000, seed=4)
    for pair in comparison.pairs:
        assert backwards.pair(pair.first, pair.second, pair.measure) == pair
        assert backwards.pair(pair.second, pair.first, pair.measure) == pair.mirrored()


def test_row_order_and_threads_do_not_matter(comparison: Comparison) -> None:
    order = np.random.default_rng(1).permutation(DATA.rows)
    shuffled = Dataset.from_rows(SCORES[order], DATA.grades[order], DATA.qids[DATA.query_of_row()][order], NAMES)
    systems = {name: shuffled.from_input_order(scores[order]) for name, scores in SYSTEMS.items()}
    with threads(1):
        again = compare(systems, shuffled, MEASURES, resamples=2000, seed=4)
    assert again.pairs == comparison.pairs


# ---- output -------------------------------------------------------------------------------------------------------


def test_printed_table() -> None:
    data = Dataset.from_rows(np.zeros((8, 1)), np.asarray([0, 1] * 4), np.repeat(list("wxyz"), 2), ("f",), source="toy")
    up, down = [0, 1] * 4, [1, 0] * 3 + [0, 1]
    found = compare({"up": up, "a|b": down}, data, "rr", alpha=0.5, test="t", resamples=100)
    tested = "t test, paired by query; Holm-corrected over 1 pair; alpha 0.5"
    half = "±: half the 95% confidence interval of the mean, or both its ends where the measure's range cuts it"
    assert str(found).splitlines() == [
        "toy",
        "   system  rr",
        "─  ──────  ─────────────────────────",
        "a  up      1.0000 ±0.0000 >b *",
        "b  a|b     0.6250 (0.2272 to 1.0000)",
        f"{half}. * or bold: best mean.",
        f">: significantly better than the systems of these letters ({tested}).",
        "rr: 4 queries, 0 skipped.",
        "Convention rankinite, ties expected; 100 resamples, seed 0.",
    ]
    assert r"| b | a\|b | 0.6250 (0.2272 to 1.0000) |" in found.to_markdown()
    assert r"\textbf{1.0000 $\pm$0.0000 \textgreater{}b}" in found.to_latex()
    assert "<strong>1.0000 ±0.0000 &gt;b</strong>" in found._repr_html_()


def test_pairs_are_shown_when_asked(comparison: Comparison) -> None:
    grid = comparison.pairs_grid()
    assert len(grid.rows) == len(comparison.pairs)
    for render in (comparison.to_text, comparison.to_markdown, comparison.to_latex):
        assert "wins/ties/losses" not in render()
        assert "wins/ties/losses" in render(pairs=True)
        assert render(pairs=True).startswith(render())


def test_skipped_queries_are_always_printed(comparison: Comparison) -> None:
    assert "ndcg@5, err, pairwise-errors: 58 queries, 2 skipped." in str(comparison)


def test_csv_and_json_carry_all_digits(comparison: Comparison) -> None:
    content = json.loads(comparison.to_json())
    assert (content["test"], content["correction"], content["alpha"]) == ("randomisation", "holm", 0.05)
    for line in csv.DictReader(io.StringIO(comparison.to_csv())):
        result, stored = comparison[line["system"]][line["measure"]], content["systems"][line["system"]]
        assert float(line["mean"]) == result.mean == stored["measures"][line["measure"]]["mean"]
        beaten = stored["better_than"][line["measure"]]
        assert line["better than"] == "; ".join(beaten)
    pairs = list(csv.DictReader(io.StringIO(comparison.pairs_to_csv())))
    for line, stored, pair in zip(pairs, content["pairs"], comparison.pairs, strict=True):
        assert (line["first"], line["second"], line["measure"]) == (pair.first, pair.second, str(pair.measure))
        assert float(line["difference"]) == stored["difference"] == pair.difference
        assert float(line["p_t_holm"]) == stored["p_t_holm"] == pair.t.holm


def test_letters_go_on_after_z() -> None:
    systems = {f"s{i}": SCORES[:, 0] for i in range(29)}
    systems["s28"] = SCORES[:, 2]
    found = compare(systems, DATA, "rr:relevant=4", resamples=50, test="t")
    assert list(found.letters.values())[24:] == ["y", "z", "aa", "ab", "ac"]
    assert found.grid().rows[28][2].endswith(",z,aa,ab")


# ---- bad input ----------------------------------------------------------------------------------------------------


def test_bad_input_is_explained(comparison: Comparison) -> None:
    with refused(ArgumentError, owner="compare", value=1):
        compare({"a": SCORES[:, 0]}, DATA, "ndcg")
    with refused(ArgumentError, owner="compare", setting="test", value="fisher"):
        compare(SYSTEMS, DATA, "ndcg", test="fisher")
    with refused(ArgumentError, owner="compare", setting="alpha", value=5):
        compare(SYSTEMS, DATA, "ndcg", alpha=5)
    with refused(ArgumentError, setting="resamples", value=0):
        compare(SYSTEMS, DATA, "ndcg", resamples=0)
    with refused(DataError, place="short", value=(3,)):
        compare({"short": [1, 2, 3], "a": SCORES[:, 0]}, DATA, "ndcg")
    with refused(ArgumentError, value="x"):
        comparison.pair("noise", "x", NDCG(5))
    with refused(ArgumentError, value="noise"):
        comparison.pair("noise", "noise", NDCG(5))
    with refused(ArgumentError, owner="compare", value="list"):
        compare([SCORES[:, 0], SCORES[:, 1]], DATA, "ndcg")
    with refused(ArgumentError, owner="compare", value="1"):
        compare({1: SCORES[:, 0], "1": SCORES[:, 1]}, DATA, "ndcg")


@dataclass(frozen=True)
class OnlyWhenPositive:
    """Undefined on query 7 for rankings whose best score there is negative: not what a measure may do."""

    higher_is_better: bool = True
    pooled: bool = False

    def __str__(self) -> str:
        return "odd"

    def per_query(self, ranking: Ranking) -> np.ndarray:
        values = np.ones(ranking.queries)
        values[7] = math.nan if ranking.row_scores[ranking.offsets[7]] < 0 else 1.0
        return values


def test_a_measure_undefined_for_one_system_only_is_refused() -> None:
    ones = np.ones(DATA.rows)
    with refused(MeasureError, place="odd: query 'q7'", value=("plus", "minus")):
        compare({"plus": ones, "minus": -ones}, DATA, OnlyWhenPositive())


def test_against_baselines_only_their_pairs_are_tested_and_corrected_for(comparison: Comparison) -> None:
    """Raw values stay what they are; Holm's correction counts fewer pairs."""
    few = compare(SYSTEMS, DATA, MEASURES, resamples=2000, seed=4, against=["weak", "noise"])
    for measure in MEASURES:
        pairs = [pair for pair in few.pairs if pair.measure == measure]
        named = [(pair.first, pair.second) for pair in pairs]
        assert named == [pair for pair in itertools.combinations(NAMES, 2) if {"weak", "noise"} & set(pair)]
        for test in TESTS:
            assert [pair.p(test).holm for pair in pairs] == holm([pair.p(test).raw for pair in pairs]).tolist()
            for pair in pairs:
                whole = comparison.pair(pair.first, pair.second, measure)
                assert (pair.difference, pair.interval) == (whole.difference, whole.interval)
                assert pair.p(test).raw == whole.p(test).raw
                assert pair.p(test).holm <= whole.p(test).holm
    assert {few[name][MEASURES[0]].mean for name in NAMES} == {comparison[name][MEASURES[0]].mean for name in NAMES}
    assert "Holm-corrected over 5 pairs" in str(few)
    assert len(json.loads(few.to_json())["pairs"]) == 15
    assert len(list(csv.DictReader(io.StringIO(few.pairs_to_csv())))) == 15


def test_pairs_left_out_are_not_significant_and_say_so() -> None:
    few = compare(SYSTEMS, DATA, MEASURES[0], resamples=500, against=["noise"])
    assert set(few.better_than("strong", MEASURES[0])) <= {"noise"}
    assert few.pair("noise", "weak", MEASURES[0]).difference == -few.pair("weak", "noise", MEASURES[0]).difference
    with refused(ArgumentError, value=("strong", "weak")):
        few.pair("strong", "weak", MEASURES[0])
    with refused(ArgumentError, value="nobody"):
        few.pair("strong", "nobody", MEASURES[0])


def test_one_baseline_is_named_alone_or_in_a_list() -> None:
    one, listed = (compare(SYSTEMS, DATA, MEASURES[0], resamples=500, against=names) for names in ("noise", ["noise"]))
    assert one.to_json() == listed.to_json()
    with refused(ArgumentError, owner="compare", setting="against", value="nois"):
        compare(SYSTEMS, DATA, MEASURES, against="nois")


def test_all_pairs_are_those_against_everybody(comparison: Comparison) -> None:
    assert compare(SYSTEMS, DATA, MEASURES, resamples=2000, seed=4, against=NAMES).to_json() == comparison.to_json()


def test_unknown_baselines_are_refused() -> None:
    with refused(ArgumentError, owner="compare", setting="against", value="nobody"):
        compare(SYSTEMS, DATA, MEASURES, against=["noise", "nobody"])
    with refused(ArgumentError, owner="compare", setting="against", value=[]):
        compare(SYSTEMS, DATA, MEASURES, against=[])


def test_a_corrected_p_is_at_its_floor_where_more_resamples_could_lower_it() -> None:
    """Oracle: Holm's correction with all that no resample reached set to 0."""
    rng = np.random.default_rng(3)
    systems = {f"s{i}": DATA.grades + rng.normal(0, 0.6 + 0.25 * i, DATA.rows) for i in range(7)}
    found = compare(systems, DATA, NDCG(5), resamples=99)
    tested = [pair.randomisation for pair in found.pairs]
    lowest = holm([0.0 if p.raw == p.floor else p.raw for p in tested])
    limited = [p.holm > low + 1e-12 for p, low in zip(tested, lowest, strict=True)]
    assert 0 < sum(limited) < len(limited)
    assert [p.holm_text.startswith("<") for p in tested] == limited
