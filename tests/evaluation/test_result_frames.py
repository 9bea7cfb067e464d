"""Results as frames: every number of a frame is that of the result, one row per system and measure, or per query."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import rankinite as rk
from oracles.adapting import target
from oracles.choices import choice_of, noisy
from rankinite.evaluation.compare import Comparison
from rankinite.frames import arrow_of

MEASURES = ("ndcg@5", "err")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    data = rk.synthesise(30, world=rk.World(features=3, documents=6))
    return rk.compare({"a": rk.Feature(0), "b_%": rk.Feature(1), "c": rk.Feature(2)}, data, MEASURES)


def test_a_comparison_has_the_numbers_of_its_csv(comparison: Comparison) -> None:
    frame = comparison.to_pandas()
    lines = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    assert [column.replace("_", " ") for column in frame] == list(lines[0])
    for (_, row), line in zip(frame.iterrows(), lines, strict=True):
        assert {name.replace("_", " "): str(value) for name, value in row.items()} == line


def test_queries_are_those_of_the_results(comparison: Comparison) -> None:
    frame = comparison.to_pandas(per_query=True)
    for (system, measure), rows in frame.groupby(["system", "measure"]):
        result = comparison[system][measure]
        assert rows["qid"].tolist() == comparison[system].qids.tolist()
        np.testing.assert_array_equal(rows["value"], result.per_query)  # NaN where it was skipped
        assert rows["value"].mean() == pytest.approx(result.mean)
    assert len(frame) == 3 * 2 * 30
    skipped = comparison.to_polars(per_query=True)["value"].null_count()
    assert skipped == sum(result.skipped for name in comparison.systems for result in comparison[name].results)


def test_an_evaluation_is_that_of_its_system(comparison: Comparison) -> None:
    for per_query in (False, True):
        whole = comparison.to_pandas(per_query=per_query)
        mine = whole[whole["system"] == "c"].drop(columns=["system", "better_than"], errors="ignore").reset_index(drop=True)
        assert comparison["c"].to_pandas(per_query=per_query).equals(mine)


def test_pairs_have_their_records(comparison: Comparison) -> None:
    assert comparison.pairs_to_pandas().to_dict("records") == [pair.record() for pair in comparison.pairs]
    assert comparison.pairs_to_polars().to_dicts() == [pair.record() for pair in comparison.pairs]


def test_all_three_kinds_of_frame_agree(comparison: Comparison) -> None:
    for per_query in (False, True):
        arrow = comparison.to_arrow(per_query=per_query)
        assert comparison.to_polars(per_query=per_query).to_dicts() == arrow.to_pylist()
        assert comparison.to_pandas(per_query=per_query).equals(arrow.to_pandas())


def test_a_choice_has_every_method_on_all_its_data() -> None:
    noises = {"background": 3.0, "smart": 0.1, "target": 5.0}
    choice = choice_of(noisy(noises, target()), target(), test=(target(30), noisy(noises, target(30))))
    frame = choice.to_pandas()
    assert [*dict.fromkeys(zip(frame["data"], frame["method"], strict=True))] == [
        (data, method) for data in ("target", "test") for method in noises
    ]
    assert set(frame[frame["chosen"]]["method"]) == {choice.name}
    for (where, method, measure), rows in frame.groupby(["data", "method", "measure"]):
        seen = choice.unseen if where == "target" else choice.test
        assert rows["mean"].tolist() == [seen[method][measure].mean]
    values = choice.to_pandas(per_query=True).set_index(["data", "method", "qid"])["value"]
    gains = choice.gains(choice.test)
    for qid, before, after in gains:
        assert (values["test", "background", qid], values["test", choice.name, qid]) == (before, after)
    assert r"\label{tab:methods}" in choice.to_latex(caption="Methods", label="tab:methods")


def test_records_of_any_settings_become_columns() -> None:
    rows = [{"a": 1, "b": None, "c": [4, 2], "d": 1}, {"a": 0.5, "b": "x", "c": None, "d": "two"}]
    found = arrow_of(rows)
    assert found.to_pylist() == [{"a": 1.0, "b": None, "c": "[4, 2]", "d": "1"}, {"a": 0.5, "b": "x", "c": None, "d": "two"}]
    assert arrow_of([]) == pa.table({})


def test_captions_and_labels_are_written_as_given(comparison: Comparison) -> None:
    text = comparison.to_latex(pairs=True, caption=r"At $\alpha = 0.05$", label="tab:all")
    first, second = text.split("\n\n")
    assert first.splitlines()[2:4] == [r"\caption{At $\alpha = 0.05$}", r"\label{tab:all}"]
    assert r"\label{tab:all-pairs}" in second
    assert r"\caption{synthetic train 0: pairs}" in second
    for table in (first, second):
        assert table.count(r"\begin{table}") == table.count(r"\end{table}") == table.count(r"\bottomrule") == 1
        body = table[table.index(r"\midrule") : table.index(r"\bottomrule")].splitlines()[1:]
        columns = len(table[table.index("{tabular}{") + 10 :].split("}")[0])
        assert all(row.count(" & ") == columns - 1 and row.endswith(r"\\") for row in body)
        assert r"b\_\%" in table  # a system's name is no LaTeX
    assert r"\caption" not in comparison.to_latex(caption="")
    assert r"\caption{synthetic train 0}" in comparison.to_latex()
    assert r"\label" not in comparison.to_latex()


def test_titles_show_no_folders(tmp_path) -> None:
    data = replace(rk.synthesise(20), source=str(tmp_path / "a" / "judged.txt"))
    found = rk.compare({"a": rk.Feature(0), "b": rk.Feature(1)}, data, "ndcg")
    assert found.grid().title == "judged.txt"
    assert found["a"].grid().title == "judged.txt: 20 queries"
    assert found.plot_means().get_title() == f"judged.txt: {found['a']['ndcg'].queries} queries"
    assert str(tmp_path) in found.to_json()
