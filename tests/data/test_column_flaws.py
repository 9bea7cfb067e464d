"""What is wrong with the columns of a table is told at once, and following the advice leaves nothing to be told."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pandas as pd
import pytest

import rankinite as rk
from rankinite.cli.error_text import shell_text
from rankinite.data.io.column_names import grade_columns
from rankinite.errors import DataError
from refusals import refused

ROWS = 6
EXPORT = pd.DataFrame(
    {
        "search_uuid": [f"{row // 2:032x}" for row in range(ROWS)],
        "judgement": ["Good", "Bad", None, "Good", "Fair", "Bad"],
        "url": [f"https://example.org/{row}" for row in range(ROWS)],
        "user_id": range(100, 100 + ROWS),
        "clicks": [0, 1] * 3,
        "seen_on": pd.to_datetime(["2024-05-01"] * ROWS),
        "changed": pd.to_datetime(["2024-05-02"] * ROWS),
        "tags": [["a"]] * ROWS,
        "weight": ["high"] * ROWS,
        "brand": ["Zen", "Acme", "Zen"] * 2,
        "price": [1.5, 2.5, 3.5] * 2,
    }
)


def settings_in(text: str) -> dict[str, object]:
    """The settings of the line that can be copied, by their names."""
    (line,) = re.findall(r"(?:Most|All) is settled by (.*):\n", text)
    call = ast.parse(f"read({line})", mode="eval").body
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


def test_all_columns_are_named_at_once_each_with_what_it_could_be() -> None:
    with refused(DataError, value=["weight", "qid", "grades", "judgement", "seen_on", "changed", "tags"]) as caught:
        rk.read(EXPORT)
    lines = str(caught.value).splitlines()
    for column, words in {
        "'search_uuid'": "qid='search_uuid'",
        "grade column:": "grades='judgement'",
        "'judgement' holds": "map_grades={'Bad': …, 'Fair': …, 'Good': …}",
        "'seen_on', 'changed'": "ignore=['seen_on', 'changed']",
        "'tags'": "ignore=['tags']",
        "'url'": "doc_id='url'",
        "'user_id'": "ignore=['user_id']",
        "'clicks'": "ignore=['clicks']",
        "'weight'": "ignore=['weight']",
    }.items():
        assert any(line.startswith("- ") and column in line and words in line for line in lines), column
    assert not any("'brand'" in line or "'price'" in line for line in lines)


def test_following_the_advice_leaves_nothing_to_be_told() -> None:
    with pytest.raises(DataError) as caught:
        rk.read(EXPORT)
    answers = settings_in(str(caught.value))
    data = rk.read(EXPORT, **answers, map_grades={"Good": 2, "Fair": 1, "Bad": 0}, unjudged="drop")
    assert (data.feature_names, data.queries, data.rows) == (("brand", "price"), 3, 5)
    assert data.doc_ids[0] == "https://example.org/0"


def test_the_shell_reads_the_same_in_its_own_words() -> None:
    with pytest.raises(DataError) as caught:
        rk.read(EXPORT)
    python, shell = str(caught.value), shell_text(caught.value)
    assert len(python.splitlines()) == len(shell.splitlines())
    first = shell.splitlines()[0]
    assert first.endswith(":")
    for words in ("--qid search_uuid", "--grades judgement", "--doc-id url", "--ignore seen_on --ignore changed"):
        assert words in first
    assert "=[" not in shell
    assert "='" not in shell


def test_one_flaw_alone_is_one_paragraph() -> None:
    with refused(DataError, value=["qid"]) as caught:
        rk.read(EXPORT[["search_uuid", "price"]], unjudged="keep")
    assert "\n" not in str(caught.value)


def test_slips_among_numbers_are_listed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    numbers = [f"{row}" for row in range(40)]
    frame = pd.DataFrame({"qid": 1, "label": 1, "a": [*numbers, "none yet"], "b": ["?", *numbers], "c": [*numbers, "41"]})
    frame.to_csv(path, index=False)
    with refused(DataError, value="none yet") as caught:
        rk.read(path)
    assert "'a' holds 'none yet'" in caught.value.problem
    assert "'b' holds '?'" in caught.value.problem
    assert "categories=['a', 'b']" in str(caught.value)
    assert set(rk.read(path, categories=["a", "b"]).categories) == {"a", "b"}


def test_ids_among_the_categories_are_warned_of_at_once() -> None:
    rows = 120
    ids = pd.DataFrame(
        {"qid": 1, "label": 1, "url": map(str, range(rows)), "sku": [f"s{row}" for row in range(rows)], "x": 1.0}
    )
    with pytest.warns(UserWarning, match="look like ids") as caught:
        rk.read(ids)
    (warning,) = caught
    assert "ignore=['url', 'sku']" in str(warning.message)
    assert "doc_id='url'" in str(warning.message)


def test_a_left_out_index_is_noted_where_it_is_a_column(tmp_path: Path) -> None:
    frame = EXPORT[["price"]].assign(qid=1, label=1)
    frame.to_csv(tmp_path / "t.csv")
    with pytest.warns(UserWarning, match=r"t\.csv: its first column, which has no name, is left out"):
        assert rk.read(tmp_path / "t.csv").feature_names == ("price",)
    pd.read_csv(tmp_path / "t.csv").to_csv(tmp_path / "again.csv", index=False)
    with pytest.warns(UserWarning, match="'Unnamed: 0'"):
        assert rk.read(tmp_path / "again.csv").feature_names == ("price",)
    assert rk.read(tmp_path / "again.csv", rename={"Unnamed: 0": "row"}).feature_names == ("row", "price")
    assert rk.read(frame[frame.price > 2]).feature_names == ("price",)  # warnings are errors here
    assert rk.read(tmp_path / "again.csv", ignore="Unnamed: 0").feature_names == ("price",)


@pytest.mark.parametrize("name", ["judgement", "Judgment", "relevanceGrade", "human_label", "is_relevance", "rating", "gain"])
def test_names_of_grades(name: str) -> None:
    assert grade_columns([name]) == [name]


@pytest.mark.parametrize(
    "name", ["avg_rating", "product_rating", "relevance_score", "price", "query", "gain_ratio", "label_count"]
)
def test_names_of_features_that_are_no_grades(name: str) -> None:
    assert grade_columns([name]) == []
