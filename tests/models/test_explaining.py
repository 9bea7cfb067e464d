"""Why one document is above another, what ranks a query, and what ranks all: answers checked by scoring again."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.contributions import swapping_values
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from refusals import refused

DATA = random_dataset(3, queries=6, features=3, most=6)


def judged(seed: int = 0, features: int = 4, queries: int = 8, rows: int = 12) -> rk.Dataset:
    random = np.random.default_rng(seed)
    matrix = np.round(random.normal(size=(queries * rows, features)), 1).astype(np.float32)
    return rk.Dataset(
        features=matrix,
        grades=random.integers(0, 4, queries * rows),
        offsets=np.arange(queries + 1) * rows,
        qids=[f"q{number}" for number in range(queries)],
        doc_ids=[f"d{row % rows}" for row in range(queries * rows)],
        feature_names=tuple(f"f{number}" for number in range(features)),
    )


def ranked(ranker, data: rk.Dataset, qid: str) -> list[str]:
    """Document ids of a query, best first."""
    query = data.select_queries([qid])
    return query.doc_ids[np.argsort(-ranker.score(query), kind="stable")].tolist()


def with_value(query: rk.Dataset, row: int, feature: str, value: float) -> rk.Dataset:
    matrix = query.features.copy()
    matrix[row, query.feature_index(feature)] = value
    return replace(query, features=matrix)


def test_differences_add_up_and_the_largest_comes_first():
    data, forest = judged(), random_forest(0, trees=8, features=4)
    found = forest.explain(data, "q2", above="d3", below="d7")
    query = data.select_queries(["q2"])
    scores, parts = forest.score(query), forest.contributions(query)
    assert (found.above.score, found.below.score) == (scores[3], scores[7])
    assert sum(one.difference for one in found.features) == pytest.approx(found.difference, abs=1e-9)
    sizes = [abs(one.difference) for one in found.features]
    assert sizes == sorted(sizes, reverse=True)
    for one in found.features:
        column = query.feature_index(one.feature)
        assert (one.above, one.below) == (parts.values[3, column], parts.values[7, column])
        assert (one.above_value, one.below_value) == (query.features[3, column], query.features[7, column])
    assert found.above.rank == np.count_nonzero(scores > scores[3])


def size_of(data: rk.Dataset, feature: int, old: float, new: float) -> tuple[float, float]:
    """The share of documents passed, and standard deviations: by counting."""
    column = data.features[:, feature]
    passed = sum(old < x <= new if new >= old else new <= x < old for x in column.tolist()) / len(column)
    return passed, abs(new - old) / float(np.sort(column).std(dtype=np.float64))


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_smallest_change_swaps_and_nothing_smaller_does(seed):
    data, forest = judged(seed, features=3), random_forest(seed, trees=4, features=3)
    query = data.select_queries(["q1"])
    scores = forest.score(query)
    high, low = int(np.argmax(scores)), int(np.argsort(scores)[len(scores) // 2])
    if scores[high] == scores[low]:
        return
    found = forest.explain(data, "q1", above=high, below=low)
    possible = {
        (*size_of(data, feature, float(query.features[low, feature]), value), feature, value)
        for feature in range(3)
        for value in swapping_values(forest, query, low, feature, float(scores[high]))
    }
    if found.change is None:
        assert not possible
        return
    change = found.change
    changed = with_value(query, low, change.feature, change.new)
    assert forest.score(changed)[low] == change.score > scores[high]
    smallest = min(possible)
    assert (change.passed, change.spreads) == pytest.approx(smallest[:2], abs=1e-12)


def with_a_category(seed: int, vocabulary: str = "abcde", *, holes: bool = True) -> rk.Dataset:
    """Two numbers and a category that decides much; ``seed`` also says which categories are frequent."""
    random = np.random.default_rng(seed)
    code = random.choice(len(vocabulary), 96, p=random.dirichlet(np.ones(len(vocabulary)))).astype(np.float32)
    worth = np.asarray([float(ord(name) * 7 % 5) for name in vocabulary])
    numbers = np.round(random.normal(size=(96, 2)), 1)
    grades = np.clip(np.round(worth[code.astype(int)] + 0.3 * numbers[:, 0]), 0, 4)
    if holes:
        code[random.random(96) < 0.1] = np.nan
    return rk.Dataset(
        features=np.column_stack((numbers[:, 0], code, numbers[:, 1])).astype(np.float32),
        grades=grades,
        offsets=np.arange(9) * 12,
        qids=[f"q{number}" for number in range(8)],
        feature_names=("f0", "c", "f1"),
        categories={"c": rk.data.categories.Vocabulary(tuple(vocabulary))},
    )


@pytest.mark.parametrize("vocabulary", ["abcde", "acxyz"])  # the second: others at the same codes, and some that are not known
@pytest.mark.parametrize("parts", [("abcde",), ("abcde", "bcfg")])
@pytest.mark.parametrize("seed", range(12))
def test_categories_are_tried_where_no_number_swaps_two_documents(seed, parts, vocabulary):
    """Against every value and every category by scoring; a blend knows the categories of both its parts."""
    learner = rk.LambdaMART.plain(trees=6, leaves=4, min_rows=2, category_rows=1)
    forests = [learner.fit(with_a_category(seed + place, known)) for place, known in enumerate(parts)]
    ranker = forests[0] if len(forests) == 1 else 0.5 * forests[0] + 0.5 * forests[1]
    data = with_a_category(seed + 100, vocabulary)
    query = data.select_queries(["q3"])
    scores = ranker.score(query)
    high, low = np.argsort(scores)[[-1, -2 - seed % 6]].tolist()
    if scores[high] == scores[low]:
        return
    found = ranker.explain(data, "q3", above=high, below=low)

    def lifts(feature: str, code: float, names: tuple[str, ...]) -> bool:
        renamed = rk.data.categories.recode(query, {"c": rk.data.categories.Vocabulary(names)})
        return bool(ranker.score(with_value(renamed, low, feature, code))[low] > scores[high])

    cuts = np.concatenate([one.trees.threshold[one.trees.set_sizes == 0] for one in forests]).astype(np.float32)
    ends = np.asarray([-1e30, 1e30], np.float32)
    values = np.concatenate((cuts, np.nextafter(cuts, ends[0]), np.nextafter(cuts, ends[1]), ends))
    every = tuple(sorted({*vocabulary}.union(*parts)))
    numbers = {name for name in ("f0", "f1") if any(lifts(name, value, every) for value in values)}
    held = data.features[:, 1]
    counts = {name: np.count_nonzero(held == code) for code, name in enumerate(vocabulary)}
    counts["missing"] = np.count_nonzero(np.isnan(held))
    categories = {name: counts.get(name, 0) for code, name in enumerate(every) if lifts("c", code, every)}
    if lifts("c", np.nan, every):
        categories["missing"] = counts["missing"]
    change = found.change
    if change is None:
        assert not numbers
        assert not categories
        assert "every category" in found.note
    elif numbers:
        assert change.feature in numbers
        assert not change.category
        assert ranker.score(with_value(query, low, change.feature, change.new))[low] == change.score
    else:
        new = change.new if isinstance(change.new, str) else "missing"
        assert (change.feature, categories[new]) == ("c", max(categories.values()))
        code = float(every.index(new)) if new in every else np.nan
        renamed = rk.data.categories.recode(query, {"c": rk.data.categories.Vocabulary(every)})
        assert ranker.score(with_value(renamed, low, "c", code))[low] == change.score
        assert new in str(found)
        assert json.loads(found.to_json())["change"]["category"] is True


def test_categories_may_be_plain_numbers():
    """Codes of the model, where the data name no categories."""
    forest = rk.LambdaMART.plain(trees=6, leaves=4, min_rows=2, category_rows=1).fit(with_a_category(0).select_features(["c"]))
    named = with_a_category(100).select_features(["c"])
    plain = replace(named, categories={})
    query = plain.select_queries(["q3"])
    scores = forest.score(query)
    high, low = np.argsort(scores)[[-4, 0]].tolist()
    change = forest.explain(plain, "q3", above=high, below=low).change
    by_name = forest.explain(named, "q3", above=high, below=low).change
    assert named.categories["c"].names[int(change.new)] == by_name.new
    assert forest.score(with_value(query, low, "c", change.new))[low] == change.score


def test_a_missing_value_is_changed_from_the_median():
    data = judged(1)
    matrix = data.features.copy()
    matrix[:12, 0] = np.nan
    data, ranker = replace(data, features=matrix), rk.Feature("f0")
    matrix[0, 0] = 0.3
    data = replace(data, features=matrix)
    found = ranker.explain(data, "q0", above=0, below=1)
    assert found.change is not None
    assert found.change.old != found.change.old
    changed = with_value(data.select_queries(["q0"]), 1, "f0", found.change.new)
    scores = ranker.score(changed)
    assert scores[1] > scores[0]
    assert "missing" in str(found)
    json.loads(found.to_json())


@pytest.mark.parametrize("ascending", [False, True])
def test_lines_are_followed_to_the_next_float(ascending):
    data = judged(2)
    linear = rk.Linear(data.feature_names, [0.5, -0.25, 0.0, 0.125] if ascending else [-0.5, 0.25, 0.0, 0.1], 0.3)
    query = data.select_queries(["q4"])
    scores = linear.score(query)
    high, low = int(np.argmax(scores)), int(np.argmin(scores))
    change = linear.explain(data, "q4", above=high, below=low).change
    assert linear.score(with_value(query, low, change.feature, change.new))[low] > scores[high]
    before = float(np.nextafter(np.float32(change.new), np.float32(change.old)))
    assert linear.score(with_value(query, low, change.feature, before))[low] <= scores[high]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("gap", [1e-3, 1e-13, 1e-15])
def test_documents_that_nearly_tie_are_swapped_by_the_first_float_that_does(sign, gap):
    """A line's value is lost in the rounding of a score for very many floats around 0."""
    ranker = rk.Linear(("f0",), [sign], 3.0)
    matrix = np.asarray([[sign * gap], [0.0]], np.float32)
    data = rk.Dataset(features=matrix, grades=[1, 0], offsets=[0, 2], qids=["q"], feature_names=("f0",))
    goal = ranker.score(data)[0]
    change = ranker.explain(data, "q", above=0, below=1).change
    assert change.score == ranker.score(np.asarray([[change.new]], np.float32))[0] > goal
    before = np.nextafter(np.float32(change.new), np.float32(0))
    assert ranker.score(np.asarray([[before]]))[0] <= goal


def test_a_blend_of_trees_and_lines_is_swapped_too():
    data = judged(5)
    blend = 0.5 * random_forest(1, trees=6, features=4) + rk.Linear(data.feature_names, [0.2, 0.0, -0.3, 0.1])
    names = ranked(blend, data, "q3")
    found = blend.explain(data, "q3", above=names[0], below=names[5])
    query, change = data.select_queries(["q3"]), found.change
    row = query.doc_ids.tolist().index(names[5])
    swapped = blend.score(with_value(query, row, change.feature, change.new))
    assert swapped[row] == change.score > found.above.score
    step = np.nextafter(np.float32(change.new), np.float32(change.old))
    assert blend.score(with_value(query, row, change.feature, float(step)))[row] <= found.above.score


def test_what_cannot_be_swapped_or_is_swapped_already_has_a_note():
    data, forest = judged(), random_forest(0, trees=8, features=4)
    names = ranked(forest, data, "q2")
    turned = forest.explain(data, "q2", above=names[4], below=names[0])
    assert turned.difference < 0
    assert names[0] in turned.note
    constant = rk.Linear(data.feature_names, np.zeros(4))
    assert constant.explain(data, "q2", above=0, below=1).note
    tower = forest + rk.Linear(data.feature_names, np.zeros(4), 1.0)
    assert tower.explain(data, "q2", above=names[0], below=names[1]).above.name == names[0]
    net = rk.Net(data.feature_names, (2,), np.linspace(-1, 1, 13), np.zeros(4), np.ones(4))
    found = net.explain(data, "q2", above=0, below=1)
    assert found.change is None
    assert "not known" in found.note


def test_a_query_is_explained_by_what_the_measure_loses():
    data, forest = judged(), random_forest(0, trees=8, features=3)
    found = forest.explain(data, "q5", measure="ndcg@5", repeats=6)
    query = data.select_queries(["q5"])
    scores, parts = forest.score(query), forest.contributions(query).values
    value = rk.evaluate(scores, query, "ndcg@5")["ndcg@5"].mean
    assert found.value == pytest.approx(value, abs=1e-12)
    by_name = {one.feature: one for one in found.features}
    for f in range(3):
        without = rk.evaluate(scores - parts[:, f], query, "ndcg@5")["ndcg@5"].mean
        assert by_name[f"f{f}"].taken_out == pytest.approx(value - without, abs=1e-12)
        within = np.abs(parts[:, f] - parts[:, f].mean()).mean()
        assert by_name[f"f{f}"].within == pytest.approx(within, abs=1e-12)
    losses = [one.taken_out for one in found.features]
    assert losses == sorted(losses, reverse=True)


def test_shuffling_the_only_feature_costs_what_random_orders_do():
    random = np.random.default_rng(0)
    grades = np.arange(6)
    data = rk.Dataset(
        features=np.column_stack((grades, random.normal(size=6))),
        grades=grades,
        offsets=[0, 6],
        qids=["q"],
        feature_names=("good", "noise"),
    )
    found = rk.Linear(("good", "noise"), [1.0, 0.0]).explain(data, "q", measure="ndcg", repeats=400)
    good, noise = found.features
    tied = rk.evaluate(np.zeros(6), data, "ndcg")["ndcg"].mean  # the expected value of random orders
    assert found.value == 1.0
    assert abs(good.shuffled - (1.0 - tied)) < 4 * good.error
    assert good.taken_out == pytest.approx(1.0 - tied, abs=1e-12)
    assert (noise.taken_out, noise.shuffled, noise.within) == (0.0, 0.0, 0.0)


def test_neither_threads_nor_the_order_of_rows_change_a_digit():
    data, forest = judged(), random_forest(0, trees=8, features=4)
    turned = data.select_queries(np.arange(data.queries)[::-1])
    order = np.concatenate(
        [np.arange(start, end)[::-1] for start, end in zip(turned.offsets[:-1], turned.offsets[1:], strict=True)]
    )
    turned = replace(turned, features=turned.features[order], grades=turned.grades[order], doc_ids=turned.doc_ids[order])
    for ask in (
        lambda rows: forest.explain(rows, "q3").to_dict(),
        lambda rows: forest.explain(rows).to_dict(),
        lambda rows: forest.explain(rows, "q3", above="d1", below="d2").to_dict()["features"],
        lambda rows: forest.explain(rows, "q3", above="d1", below="d2").to_dict()["change"],
    ):
        with rk.threads(1):
            found = ask(data)
        assert ask(data) == found
        assert ask(turned) == found


def test_all_queries_are_summed_up_within_queries(monkeypatch):
    data, forest = judged(), random_forest(0, trees=8, features=4)
    matrix = data.features.copy()
    matrix[:, 2] = np.repeat(np.arange(8), 12)  # the same for all documents of a query
    data = replace(data, features=matrix)
    alone = rk.Linear(data.feature_names, [0.0, 1.0, 2.0, 0.0])
    found = alone.explain(data)
    by_name = {one.feature: one for one in found.features}
    assert found.features[0].feature == "f1"
    assert by_name["f2"].within == 0.0
    assert by_name["f2"].overall == pytest.approx(7.0, abs=1e-12)
    parts = forest.contributions(data).values.reshape(8, 12, 4)
    within = np.abs(parts - parts.mean(axis=1, keepdims=True)).mean(axis=(0, 1))
    monkeypatch.setattr("rankinite.models.explanations.summary.ROWS", 20)
    for one in forest.explain(data).features:
        place = data.feature_index(one.feature)
        assert one.within == pytest.approx(within[place], abs=1e-12)
        assert one.overall == pytest.approx(np.abs(parts).mean(axis=(0, 1))[place], abs=1e-12)


def test_documents_are_found_by_id_or_row():
    data, forest = judged(), random_forest(0, features=4)
    by_id = forest.explain(data, "q1", above="d4", below="d6").to_dict()
    assert forest.explain(data, "q1", above=4, below=6).to_dict() == by_id
    bare = replace(data, doc_ids=None)
    named = forest.explain(bare, "q1", above="4", below=6)
    assert (named.above.name, named.above.row, named.below.row) == ("4", 4, 6)


@pytest.mark.parametrize(
    ("asked", "setting", "listed"),
    [
        ({"above": "d4", "below": "zzz"}, "below", "'d0'"),
        ({"above": "zzz", "below": "d1"}, "above", "'d11'"),
        ({"above": 12, "below": 0}, "above", "0 to 11"),
        ({"above": "d1", "below": "d1"}, "above", "same"),
        ({"above": "d1"}, "above", "both"),
        ({"below": "d1"}, "below", "both"),
        ({"repeats": 0}, "repeats", "1"),
        ({"seed": -1}, "seed", "0"),
        ({"measure": ["ndcg@10", "err"]}, "measure", "one measure"),
    ],
)
def test_bad_questions_are_refused(asked, setting, listed):
    with refused(rk.ArgumentError, setting=setting) as caught:
        random_forest(0, features=4).explain(judged(), "q1", **asked)
    assert listed in str(caught.value)


def test_unknown_queries_are_refused_with_the_known_ones():
    with refused(rk.ArgumentError, setting="qid", value="q99") as caught:
        random_forest(0, features=4).explain(judged(), "q99")
    assert "'q0', 'q1'" in str(caught.value)
    with refused(rk.ArgumentError, setting="above"):
        random_forest(0, features=4).explain(judged(), above=1, below=2)


def test_ids_that_are_not_unique_and_queries_without_a_value_are_refused():
    data, forest = judged(), random_forest(0, features=4)
    twice = replace(data, doc_ids=np.asarray(["same"] * data.rows))
    with refused(rk.ArgumentError, setting="above", value="same"):
        forest.explain(twice, "q1", above="same", below=2)
    with refused(rk.DataError, value="q1"):
        forest.explain(replace(data, grades=np.zeros(data.rows)), "q1")
    with refused(rk.DataError):
        forest.explain(data.without_grades(), "q1")
    assert forest.explain(data.without_grades(), "q1", above=0, below=1).above.grade is None


def test_results_are_shown_as_tables_json_and_pictures():
    from matplotlib import pyplot as plt

    data, forest = judged(), random_forest(0, trees=8, features=4)
    for found in (forest.explain(data, "q1", above=0, below=5), forest.explain(data, "q1"), forest.explain(data)):
        assert json.loads(found.to_json()) == json.loads(json.dumps(found.to_dict()))
        assert str(found) == found.grid().text()
        assert "<table>" in found._repr_html_()
        assert len(found.grid(None).rows) >= len(found.grid(1).rows)
        axes = found.plot(top=2)
        assert axes.get_title()
        plt.close(axes.figure)
        with refused(rk.ArgumentError, setting="top", value=0):
            found.plot(top=0)
