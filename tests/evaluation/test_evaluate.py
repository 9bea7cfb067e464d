"""Evaluation: means, intervals, what is skipped, and that the order of rows never matters."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankinite.combine.inexact_weights import average
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, DataError, MeasureError
from rankinite.evaluation.compare import compare
from rankinite.evaluation.evaluate import Evaluation, evaluate
from rankinite.measures import (
    AP,
    DCG,
    ERR,
    NDCG,
    RR,
    BalancedError,
    Convention,
    FunctionMeasure,
    PairwiseErrors,
    Precision,
    Ranking,
)
from rankinite.models.blend import Blend
from rankinite.models.feature import Feature
from refusals import refused

ALL = (NDCG(3), DCG(), ERR(), AP(), RR(), Precision(2), PairwiseErrors())
TOP_GRADE = FunctionMeasure("top-grade", lambda grades: float(grades[0]))


def dataset(queries: dict[str, list[float]], **settings: object) -> Dataset:
    grades = np.concatenate([np.asarray(g, np.float32) for g in queries.values()])
    qids = np.repeat(list(queries), [len(g) for g in queries.values()])
    return Dataset.from_rows(np.zeros((len(grades), 1)), grades, qids, ("f",), source="toy", **settings)


SMALL = dataset({"mixed": [2, 0, 1], "zeros": [0, 0], "ones": [1, 1], "last": [0, 3]})
SCORES = np.asarray([0.1, 0.3, 0.2, 1, 2, 1, 2, 5, 4])

judged = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=40).filter(
    lambda rows: any(a[0] == b[0] and a[1] != b[1] for a in rows for b in rows)
)


def by_qid(evaluation: Evaluation, measure: object) -> dict[str, float | None]:
    return json.loads(evaluation.to_json())["measures"][str(measure)]["per_query"]


def test_mean_interval_and_skips() -> None:
    result = evaluate(SCORES, SMALL, TOP_GRADE)[TOP_GRADE]
    np.testing.assert_array_equal(result.per_query, [0.0, math.nan, math.nan, 0.0])
    result = evaluate(-SCORES, SMALL, TOP_GRADE)[TOP_GRADE]
    np.testing.assert_array_equal(result.per_query, [2.0, math.nan, math.nan, 3.0])
    assert (result.mean, result.queries, result.skipped) == (2.5, 2, 2)
    expected = stats.t.interval(0.95, 1, loc=2.5, scale=stats.sem([2.0, 3.0]))
    assert result.interval == pytest.approx(expected)


@settings(max_examples=50, deadline=None)
@given(judged, st.randoms(use_true_random=False))
def test_row_order_never_changes_a_result(rows: list[tuple[int, int, int]], random) -> None:
    """Scores are drawn from few values, so that most documents tie."""

    def run(order: list[tuple[int, int, int]]) -> Evaluation:
        qids, grades, scores = (np.asarray(column) for column in zip(*order, strict=True))
        data = Dataset.from_rows(scores[:, None], grades, qids, ("score",))
        return evaluate(data.from_input_order(scores), data, ALL)

    shuffled = rows.copy()
    random.shuffle(shuffled)
    one, other = run(rows), run(shuffled)
    for measure in ALL:
        assert one[measure].mean == other[measure].mean
        assert one[measure].interval == other[measure].interval
        assert by_qid(one, measure) == by_qid(other, measure)


def test_each_query_counts_as_if_it_were_alone() -> None:
    rng = np.random.default_rng(2)
    data = dataset({f"q{i}": [0, *rng.integers(1, 5, rng.integers(1, 9))] for i in range(30)})
    scores = rng.integers(0, 5, data.rows).astype(float)
    together = evaluate(scores, data, ALL)
    for query in range(data.queries):
        alone = data.select_queries([query])
        single = evaluate(scores[data.offsets[query] : data.offsets[query + 1]], alone, ALL)
        for measure in ALL:
            assert single[measure].mean == together[measure].per_query[query]
    for measure in ALL:
        assert together[measure].mean == pytest.approx(np.mean(together[measure].per_query), rel=1e-14)


def test_a_ranker_is_asked_for_scores() -> None:
    @dataclass
    class Backwards:
        def score(self, data: Dataset) -> list[float]:
            return list(range(data.rows, 0, -1))

    direct = evaluate(np.arange(9, 0, -1), SMALL, "ndcg")
    assert evaluate(Backwards(), SMALL, "ndcg")["ndcg"].mean == direct["ndcg"].mean


def test_lookup_by_value_text_and_alias() -> None:
    evaluation = evaluate(SCORES, SMALL, ["ndcg@10", AP(), "ndcg@10", TOP_GRADE])
    assert evaluation.measures == (NDCG(10), AP(), TOP_GRADE)
    assert evaluation[NDCG(10)] is evaluation["ndcg@10"] is evaluation["NDCG@10"]
    assert evaluation["map"] is evaluation[AP()]
    assert evaluation["top-grade"] is evaluation[TOP_GRADE]
    with refused(MeasureError, value="err"):
        evaluation["err"]
    with refused(MeasureError, value="nonsense"):
        evaluation["nonsense"]


# ---- conventions and ties -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "zeros"), [("lightgbm", 1.0), ("ranklib", 0.0)])
def test_conventions_count_empty_queries(name: str, zeros: float) -> None:
    result = evaluate(SCORES, SMALL, NDCG(), convention=name)[NDCG()]
    assert result.skipped == 0
    assert result.per_query[1] == zeros
    assert result.per_query[2] == 1.0


def test_undefined_queries_are_skipped_unless_they_have_a_value() -> None:
    keep = Convention("mine", skip_one_grade=False)
    result = evaluate(SCORES, SMALL, NDCG(), convention=keep)[NDCG()]
    np.testing.assert_array_equal(np.isnan(result.per_query), [False, True, False, False])
    half = Convention("mine", skip_one_grade=False, empty=0.5)
    assert evaluate(SCORES, SMALL, NDCG(), convention=half)[NDCG()].per_query[1] == 0.5
    skip = Convention("mine", skip_one_grade=True, empty=0.5)
    assert evaluate(SCORES, SMALL, NDCG(), convention=skip)[NDCG()].skipped == 2


def test_pooled_measures_skip_nothing() -> None:
    evaluation = evaluate(SCORES, SMALL, [BalancedError(threshold=1.5), NDCG()])
    assert evaluation["ndcg"].skipped == 2
    pooled = evaluation[BalancedError(threshold=1.5)]
    assert pooled.skipped == 0
    called, positive = SCORES > 1.5, SMALL.grades >= 1
    assert pooled.mean == pytest.approx(0.5 * called[~positive].mean() + 0.5 * (~called[positive]).mean())


def test_ties_override_the_convention() -> None:
    flat = np.zeros(SMALL.rows)
    low, expected, high = (evaluate(flat, SMALL, NDCG(), ties=rule)[NDCG()].mean for rule in ("lowest", "expected", "highest"))
    assert low < expected < high == 1.0
    assert evaluate(flat, SMALL, NDCG())[NDCG()].mean == expected
    assert evaluate(flat, SMALL, NDCG(), convention="lightgbm").ties == "order"
    assert evaluate(flat, SMALL, NDCG(), convention="lightgbm", ties="highest")[NDCG()].mean == 1.0


def test_documents_not_returned_earn_nothing() -> None:
    scores = np.where(SMALL.grades > 0, -np.inf, 1.0)
    assert evaluate(scores, SMALL, [RR()])[RR()].mean == 0.0


# ---- output -------------------------------------------------------------------------------------------------------


def test_printed_table() -> None:
    assert str(evaluate(-SCORES, SMALL, [TOP_GRADE, "balanced-error"], ties="order")).splitlines() == [
        "toy: 4 queries",
        "measure           mean       95% interval  queries  skipped",
        "──────────────  ──────  ─────────────────  ───────  ───────",
        "top-grade       2.5000  -3.8531 to 8.8531        2        2",
        "balanced-error  0.5000   0.0000 to 1.0000        4        0",
        "Convention rankinite, ties order. Intervals: Student's t over queries.",
    ]


def test_csv_and_json_carry_all_digits() -> None:
    evaluation = evaluate(SCORES, SMALL, ["ndcg@3", "err"], confidence=0.9)
    lines = list(csv.DictReader(io.StringIO(evaluation.to_csv())))
    content = json.loads(evaluation.to_json())
    assert content["confidence"] == 0.9
    assert list(content["measures"]) == [line["measure"] for line in lines] == ["ndcg@3", "err"]
    for line in lines:
        result, stored = evaluation[line["measure"]], content["measures"][line["measure"]]
        assert float(line["mean"]) == result.mean == stored["mean"]
        assert (float(line["low"]), float(line["high"])) == result.interval == tuple(stored["interval"])
        assert int(line["skipped"]) == result.skipped == stored["skipped"] == 2
        assert int(line["queries"]) == result.queries == stored["queries"] == 2
        assert stored["per_query"] == {
            "mixed": result.per_query[0],
            "zeros": None,
            "ones": None,
            "last": result.per_query[3],
        }


def test_markdown_latex_and_html_show_the_same_numbers() -> None:
    evaluation = evaluate(SCORES, SMALL, "ndcg@3")
    mean = f"{evaluation['ndcg@3'].mean:.4f}"
    assert f"| ndcg@3 | {mean} |" in evaluation.to_markdown()
    assert f"ndcg@3 & {mean} &" in evaluation.to_latex()
    assert f">{mean}</td>" in evaluation._repr_html_()


def test_the_interval_of_one_query_is_all_that_the_measure_can_be() -> None:
    data = dataset({"only": [0, 1]})
    evaluation = evaluate([0.0, 1.0], data, ["ndcg", "dcg", TOP_GRADE])
    assert [result.interval for result in evaluation.results] == [(0.0, 1.0), (0.0, math.inf), (-math.inf, math.inf)]
    stored = json.loads(evaluation.to_json())["measures"]
    assert [result["interval"] for result in stored.values()] == [[0.0, 1.0], [0.0, None], [None, None]]
    assert "-inf to inf" in str(evaluation)


def test_results_cannot_be_overwritten() -> None:
    with pytest.raises(ValueError, match="read-only"):
        evaluate(SCORES, SMALL, "ndcg")["ndcg"].per_query[0] = 1.0


# ---- bad input ----------------------------------------------------------------------------------------------------


def test_bad_scores_are_explained() -> None:
    with refused(DataError, value=(8,)):
        evaluate(SCORES[:-1], SMALL, "ndcg")
    with refused(DataError, value=(9, 1)):
        evaluate(SCORES[:, None], SMALL, "ndcg")
    broken = SCORES.copy()
    broken[[4, 6]] = math.nan
    with refused(DataError, place="toy, row 4 (query 'zeros')", value=2):
        evaluate(broken, SMALL, "ndcg")
    with refused(DataError, place="scores.txt", value="scores.txt"):
        evaluate("scores.txt", SMALL, "ndcg")
    with refused(DataError, value="list"):
        evaluate([[1.0], [1.0, 2.0]], SMALL, "ndcg")


def test_nothing_left_to_evaluate_is_explained() -> None:
    data = dataset({"a": [1, 1], "b": [0]})
    with refused(DataError, place=data.source, value=2):
        evaluate([1, 2, 3], data, "ndcg")
    empty = data.select_queries(np.zeros(0, np.int64))
    with refused(DataError, place=empty.source, value=0):
        evaluate([], empty, "ndcg")


def test_bad_settings_are_explained() -> None:
    with refused(ArgumentError, value=[]):
        evaluate(SCORES, SMALL, [])
    with refused(ArgumentError, value=NDCG):
        evaluate(SCORES, SMALL, [NDCG])  # the class, not a value
    with refused(ArgumentError, value=10):
        evaluate(SCORES, SMALL, 10)
    with refused(ArgumentError, setting="convention", value="lihgtgbm"):
        evaluate(SCORES, SMALL, "ndcg", convention="lihgtgbm")
    with refused(ArgumentError, setting="ties", value="random"):
        evaluate(SCORES, SMALL, "ndcg", ties="random")
    with refused(ArgumentError, setting="confidence", value=95):
        evaluate(SCORES, SMALL, "ndcg", confidence=95)


@dataclass(frozen=True)
class Broken:
    """A measure of someone else's that gives what it should not."""

    values: tuple[float, ...]
    higher_is_better: bool = True
    pooled: bool = False

    def per_query(self, ranking: Ranking) -> np.ndarray:
        return np.asarray(self.values)


def test_broken_measures_are_explained() -> None:
    with refused(MeasureError, value=(2,)):
        evaluate(SCORES, SMALL, Broken((1.0, 2.0)))
    with refused(MeasureError, value=str(SMALL.qids[3])):
        evaluate(SCORES, SMALL, Broken((1.0, 2.0, 3.0, math.inf)))


class Estimator:
    """Predicts, and scores itself, as estimators of scikit-learn do."""

    def predict(self, matrix: np.ndarray) -> np.ndarray:
        return matrix[:, 0]

    def score(self, X: np.ndarray, y: np.ndarray | None = None) -> float:
        raise AssertionError


class Predictor:
    """Predicts and nothing else, as LightGBM's models do."""

    predict = Estimator.predict


@pytest.mark.parametrize("model", [Estimator(), Predictor()])
def test_models_of_other_libraries_are_answered_with_their_predictions(model: object) -> None:
    kind, bm25 = type(model).__name__, Feature(0)
    consumers = (
        lambda data: evaluate(model, data, "ndcg"),
        lambda data: compare({"model": model, "bm25": bm25}, data, "ndcg"),
        lambda data: average([bm25, model], data, "ndcg"),
    )
    for consumer in consumers:
        with refused(DataError, value=kind) as caught:
            consumer(SMALL)
        assert "model.predict(X)" in caught.value.remedy
        with refused(DataError, value=kind) as caught:
            consumer(SMALL.select_queries([3, 0]))
        assert "data.from_input_order(model.predict(X))" in caught.value.remedy
    with refused(ArgumentError, value=model):
        Blend(((1.0, model),))


def test_a_scorer_may_have_further_settings() -> None:
    class Own:
        def score(self, data: Dataset, *, doubled: bool = False) -> np.ndarray:
            return data.features[:, 0] * (1 + doubled)

    assert evaluate(Own(), SMALL, "dcg")["dcg"].mean == evaluate(Feature(0), SMALL, "dcg")["dcg"].mean


@pytest.mark.parametrize("text", ["tree\nversion=v4\n" + "leaf_value=0.5 1.5\n" * 500, '{"learner":' + "1" * 5000, "a\0b"])
def test_the_text_of_a_model_is_not_taken_for_a_path(text: str) -> None:
    with refused(DataError, value=text) as caught:
        evaluate(text, SMALL, "ndcg")
    assert len(str(caught.value)) < 500
    assert "rankinite.load" in caught.value.remedy or text == "a\0b"
