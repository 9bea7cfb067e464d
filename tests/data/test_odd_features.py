"""Features that look like ids, positions or clicks are named, and real ones are not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import rankinite as rk
from rankinite.cli.error_text import in_shell
from rankinite.data.odd_features import advice, find_odd_features
from rankinite.errors import respelled

ROW, POSITION, QUERY, NUMBER = (
    "rises from row to row",
    "counts the documents of each query",
    "has one value in each query and another in every other",
    "has another whole number in every row",
)


def laid_out(seed: int = 0, queries: int = 40, most: int = 12) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """The query of each row, its place in the query, and more chance."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, most + 1, queries)
    return np.repeat(np.arange(queries), sizes), np.concatenate([np.arange(size) for size in sizes]), rng


def reasons(columns: dict[str, np.ndarray], query: np.ndarray) -> dict[str, str]:
    """What is odd about columns without telling names."""
    matrix = np.column_stack(list(columns.values())).astype(float)
    data = rk.read(matrix, grades=np.arange(len(query)) % 3, qid=query)
    named = dict(zip(data.feature_names, columns, strict=True))
    return {named[odd.name]: odd.reason for odd in find_odd_features(data)}


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("queries", [12, 40, 1000])
def test_values_of_what_is_no_feature(shuffled, queries):
    query, place, rng = laid_out(queries=queries)
    rows = len(query)
    columns = {
        "first": np.arange(rows),
        "later": 7_000 + 3 * np.arange(rows),
        "position": place + 1,
        "place": place,
        "query": query,
        "any query": np.sort(rng.permutation(100 * queries)[:queries])[query]
        if queries < 30
        else rng.permutation(queries)[query],
        "numbering": rng.permutation(rows) + 50,
    }
    if shuffled:  # rows of a query apart; the positions are then those of the documents in their query still
        order = np.argsort(rng.random(rows) + place, kind="stable")
        query = query[order]
        columns = {name: values[order] for name, values in columns.items()}
        columns |= {"first": np.arange(rows), "later": 7_000 + 3 * np.arange(rows)}
        if queries < 30:  # the order of so few queries tells
            del columns["query"], columns["any query"]
    found = reasons(columns, query)
    signs = {"first": ROW, "later": ROW, "position": POSITION, "place": POSITION, "query": QUERY, "any query": QUERY}
    signs = {**signs, "numbering": NUMBER}
    assert set(found) == set(columns)
    assert all(reason.startswith(signs[name]) for name, reason in found.items())


@pytest.mark.parametrize("queries", [2, 8, 12, 40, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_values_of_features_are_not_odd(queries, seed):
    query, place, rng = laid_out(seed, queries)
    rows = len(query)
    columns = {
        "flag": rng.integers(0, 2, rows),
        "length": rng.integers(50, 20_000, rows),
        "count": rng.poisson(3, rows),
        "bytes": rng.integers(1, 10**7, rows),
        "rank of another ranker": np.concatenate([rng.permutation(n) for n in np.bincount(query)]) + 1,
        "length of the query": rng.integers(1, 60, queries)[query],
        "weight of the query": rng.random(queries)[query],
        "score": np.sort(rng.random(rows)),
        "constant": np.ones(rows),
        "nothing": np.full(rows, np.nan),
        "nearly a row number": np.where(np.arange(rows) == rows - 1, 0, np.arange(rows)),
        "nearly a position": np.where(np.arange(rows) == rows - 1, 0, place + 1),
        "half a row number": np.arange(rows) / 2,
    }
    assert reasons(columns, query) == {}


def test_a_sign_that_fails_only_at_the_end_is_none():
    query, place, _ = laid_out(queries=2000)
    last = np.arange(len(query)) == len(query) - 1
    columns = {"row": np.arange(len(query)), "position": place + 1, "query": query, "name": np.arange(len(query))}
    columns = {name: np.where(last, 2, values) for name, values in columns.items()} | {
        "name": np.where(last, 0.5, columns["name"])
    }
    assert reasons(columns, query) == {}


def named(columns: dict[str, object]) -> rk.Dataset:
    query, _, _ = laid_out(queries=30)
    return rk.read(pa.table({"qid": query, "grade": np.arange(len(query)) % 3, **columns}))


def test_names_count_where_values_may():
    query, place, rng = laid_out(queries=30)
    rows = len(query)
    ids, few = rng.integers(10**6, 10**7, rows), rng.integers(0, 9, rows)
    odd = {"product_id": ids, "user_id": query // 3, "session_id": query // 2, "rank": rng.permutation(place), "clicks": few}
    odd |= {"seller_id": ids, "clicked": few > 4, "topic": query // 2}
    fine = {"brand_id": few, "group": few, "position": rng.random(rows), "user_index": np.zeros(rows), "pagerank": ids}
    found = {feature.name: feature.reason for feature in find_odd_features(named({**odd, **fine}))}
    assert set(found) == set(odd)
    assert found["product_id"] == "named like the id of a document"
    assert found["rank"] == "named like the position at which a document was shown"


def test_the_advice_lists_all_with_the_remedy():
    query, place, rng = laid_out(queries=30)
    ids = rng.integers(10**6, 10**7, len(query))
    data = named({"product_id": ids, "item key": ids, "rank": place + 1, "bm25": rng.random(len(query))})
    odd = rk.describe(data).odd_features
    (text,) = [text for text in rk.describe(data).oddities() if "may not be meant" in text]
    assert text == respelled(advice(odd, named_documents=False), str)
    assert text.startswith(
        "3 features may not be meant as such: product_id, item key (named like the id of a document); rank ("
    )
    assert "Leave out what is not a feature with ignore=['product_id', 'item key', 'rank']." in text
    assert text.endswith("If product_id names the documents, give doc_id='product_id'.")
    assert "--ignore product_id --ignore 'item key' --ignore rank. If product_id" in in_shell(
        advice(odd, named_documents=False)
    )
    assert "doc_id" not in advice(odd, named_documents=True)
    assert advice((), named_documents=True) == ""
    assert text in str(rk.describe(data))
    assert rk.describe(data).to_dict()["odd_features"][2] == {"name": "rank", "reason": odd[2].reason}


@pytest.mark.parametrize("queries", [3, 12, 60])
def test_artificial_data_have_no_odd_features(queries):
    for world in (rk.World(documents=10, features=5), rk.World(documents=4, features=46, noise=0.3)):
        assert find_odd_features(rk.synthesise(queries, world=world, doc_ids=True)) == ()
