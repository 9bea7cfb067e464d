"""Running: cases are kept and found again, damaged or outdated ones are made again, and a cluster gives the same."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

import papers
import rankinite as rk
from papers import item as catalogue
from papers.claims import Compared
from papers.experiment import Case, Experiment, Outcome, Outcomes, RunContext
from papers.figure import Panel, PaperFigure
from papers.item import Item
from papers.results import KeptResults
from papers.running import run
from refusals import refused


def cases(context: RunContext) -> list[Case]:
    draws = range(context.size(3, 2))
    return [
        *(Case(f"draw {draw}", "world", queries="q", settings={"draw": draw}) for draw in draws),
        Case("real", "mq2008", "mq2008"),
    ]


def outcome(seed: int) -> Outcome:
    random = np.random.default_rng(seed)
    values = {name: {"ndcg@10": np.round(random.random(20), 5)} for name in ("a", "b")}
    values["a"]["ndcg@10"][3] = np.nan
    return Outcome({"test": values}, {"line": {"a": ([1, 2, 3], [0.1, 0.2, 0.3])}}, {"note": "kept – λ", "number": 3})


@pytest.fixture
def made(monkeypatch):
    """A catalogue of one item whose runs are counted, and ended at the case that is named."""
    runs, ended = [], []

    def carry_out(case: Case, _context: RunContext) -> Outcome:
        if case.name in ended:
            raise KeyboardInterrupt
        runs.append(case.name)
        return outcome(case.settings.get("draw", 9))

    experiment = Experiment("000-runs", cases, carry_out)

    def layout(results: Outcomes):
        panel = Panel("all", "trees", "NDCG", next(iter(results))[1].curves["line"])
        return [PaperFigure("x", "Lines", [panel]), "A sentence."]

    item = Item("000", "table-9", "Numbers", [Compared("a is better than b", "a", "b")], [experiment], layout, "Some settings.")
    monkeypatch.setattr(catalogue, "items", lambda: (item,))
    monkeypatch.setattr("papers.running.items", lambda: (item,))
    return runs, ended, experiment


def text(folder, name) -> str:
    return (folder / name).read_text(encoding="utf-8")


def same(one: Outcome, other: Outcome) -> None:
    np.testing.assert_equal(one.tests, other.tests)
    assert {n: {s: [*map(list, p)] for s, p in c.items()} for n, c in one.curves.items()} == {
        n: {s: [*map(list, p)] for s, p in c.items()} for n, c in other.curves.items()
    }
    assert one.facts == other.facts


def test_an_outcome_comes_back_as_it_was():
    same(Outcome.from_record(json.loads(json.dumps(outcome(1).record()))), outcome(1))


def test_of_worlds_that_are_the_sample_means_are_kept_and_of_real_data_every_query():
    experiment = Experiment("000-runs", cases, lambda _case, _context: outcome(1), world_means=True)
    world, real = (experiment.record(case, RunContext()) for case in cases(RunContext())[-2:])
    kept = Outcome.from_record(world).tests["test"]["a"]["ndcg@10"]
    np.testing.assert_allclose(kept, [np.nanmean(outcome(1).tests["test"]["a"]["ndcg@10"])], atol=1e-10)
    same(Outcome.from_record(real), outcome(1))


def test_a_second_run_makes_nothing_and_says_the_same(made, tmp_path):
    runs, _, _ = made
    first = run("000", out=tmp_path)
    assert runs == ["draw 0", "draw 1", "draw 2"]
    assert first.left_out == ["000-runs: real"]
    second = run("000", "table-9", out=tmp_path)
    assert len(runs) == 3
    assert str(first) == str(second)
    run("000", out=tmp_path, redo=True)
    assert len(runs) == 6


def test_an_ended_run_goes_on_with_the_case_it_was_at(made, tmp_path):
    runs, ended, _ = made
    ended.append("draw 1")
    with pytest.raises(KeyboardInterrupt):
        run("000", out=tmp_path)
    ended.clear()
    run("000", out=tmp_path)
    assert runs == ["draw 0", "draw 1", "draw 2"]


def test_damaged_and_outdated_outcomes_are_made_again_and_no_other(made, tmp_path):
    runs, _, experiment = made
    run("000", out=tmp_path)
    file = tmp_path / "reproduction" / "results" / "000.jsonl"
    before = file.read_bytes()
    first, second, third, _ = cases(RunContext())
    same(KeptResults(file.parent).get(experiment, third)[0], outcome(2))
    lines = before.splitlines(keepends=True)
    file.write_bytes(lines[0][:-20] + b"\n" + lines[1].replace(b'"values":{', b'"values":3,"v":{') + lines[2])
    kept = KeptResults(file.parent)
    assert kept.get(experiment, first) is None
    assert kept.get(experiment, second) is None
    assert kept.get(replace(experiment, version=2), third) is None
    assert kept.get(experiment, replace(third, settings={"draw": 7})) is None
    run("000", out=tmp_path)
    assert runs[3:] == ["draw 0", "draw 1"]
    assert file.read_bytes().splitlines(keepends=True)[2] == lines[2]


def test_quick_outcomes_are_kept_apart(made, tmp_path):
    runs, _, _ = made
    run("000", out=tmp_path, quick=True)
    assert runs == ["draw 0", "draw 1"]
    run("000", out=tmp_path)
    assert len(runs) == 5
    assert "quick versions" in text(tmp_path, "quick/reproduction.md")
    assert "quick versions" not in text(tmp_path, "reproduction.md")


def test_pages_have_every_claim_and_figures_in_words(made, tmp_path):
    found = run("000", out=tmp_path)
    page = text(tmp_path, "reproduction/000.md")
    assert "| [000 table-9](reproduction/000.md#table-9) (provisional) | a is better than b |" in text(
        tmp_path, "reproduction.md"
    )
    assert "![Lines. all: NDCG over trees for a.](figures/x.png)" in page
    assert "| 2 | 0.2000 |" in page
    assert "A sentence." in page
    assert (tmp_path / "reproduction" / "figures" / "x.png").read_bytes().startswith(b"\x89PNG")
    assert all(path.exists() for path in found.pages)


def test_what_is_found_is_provisional_while_cases_are_missing(made, tmp_path):
    _, _, experiment = made
    run("000", out=tmp_path)
    assert "3 of 4 cases, so provisional" in text(tmp_path, "reproduction/000.md")
    KeptResults(tmp_path / "reproduction" / "results").put(experiment, cases(RunContext())[-1], outcome(9).record(), 1.0)
    run("000", out=tmp_path)
    assert "provisional" not in text(tmp_path, "reproduction.md") + text(tmp_path, "reproduction/000.md")


@pytest.mark.slow
def test_workers_give_the_same():
    here = papers.run("002", "figure-1", quick=True)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = papers.run("002", "figure-1", quick=True, cluster=pool)
    assert str(here) == str(there)


def test_what_is_not_there_is_refused(tmp_path):
    with refused(rk.ArgumentError, value="005"):
        run("005")
    with refused(rk.ArgumentError, place="paper 002", value="table-99"):
        run("002", "table-99")
    with refused(rk.ArgumentError, setting="data", value=str(tmp_path / "none")):
        run("002", data=tmp_path / "none")
    with refused(rk.ArgumentError, setting="data", value=str(tmp_path)):
        run("000", "table-1", data=tmp_path, quick=True)
