"""Running: cases are kept and found again, damaged or outdated ones are made again, and a cluster gives the same."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

import rankinite as rk
from rankinite.reproduce import catalogue
from rankinite.reproduce.claims import Compared
from rankinite.reproduce.experiment import Case, Experiment, Lab, Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.item import Item
from rankinite.reproduce.kept_outcomes import KeptOutcomes
from rankinite.reproduce.outcome import Outcome
from rankinite.reproduce.running import run
from refusals import refused


def cases(lab: Lab) -> list[Case]:
    return [Case(f"draw {draw}", "world", queries="q", settings={"draw": draw}) for draw in range(lab.size(3, 2))] + [
        Case("real", "mq2008", "mq2008")
    ]


def outcome(seed: int) -> Outcome:
    random = np.random.default_rng(seed)
    values = {name: {"ndcg@10": np.round(random.random(20), 5)} for name in ("a", "b")}
    values["a"]["ndcg@10"][3] = np.nan
    return Outcome({"test": values}, {"line": {"a": ([1, 2, 3], [0.1, 0.2, 0.3])}}, {"note": "kept", "number": 3})


@pytest.fixture
def made(monkeypatch):
    """A catalogue of one item whose runs are counted."""
    runs: list[str] = []

    def carry_out(case: Case, _lab: Lab) -> Outcome:
        runs.append(case.name)
        return outcome(case.settings.get("draw", 9))

    experiment = Experiment("x-runs", cases, carry_out)

    def layout(results: Outcomes):
        return [
            PaperFigure("x", "Lines", [Panel("all", "trees", "NDCG", next(iter(results))[1].curves["line"])]),
            "A sentence.",
        ]

    item = Item("000", "table-9", "Numbers", [Compared("a is better than b", "a", "b")], [experiment], layout, "Some settings.")
    monkeypatch.setattr(catalogue, "items", lambda: (item,))
    monkeypatch.setattr("rankinite.reproduce.running.items", lambda: (item,))
    return runs, experiment


def same(one: Outcome, other: Outcome) -> None:
    np.testing.assert_equal(one.tests, other.tests)
    assert {n: {s: [*map(list, p)] for s, p in c.items()} for n, c in one.curves.items()} == {
        n: {s: [*map(list, p)] for s, p in c.items()} for n, c in other.curves.items()
    }
    assert one.facts == other.facts


def test_an_outcome_comes_back_as_it_was():
    same(Outcome.from_bytes(outcome(1).to_bytes()), outcome(1))


def test_a_second_run_makes_nothing_and_says_the_same(made, tmp_path):
    runs, _ = made
    first = run("000", out=tmp_path)
    assert runs == ["draw 0", "draw 1", "draw 2"]
    assert first.left_out == ["x-runs: real"]
    second = run("000", "table-9", out=tmp_path)
    assert len(runs) == 3
    assert str(first) == str(second)
    run("000", out=tmp_path, redo=True)
    assert len(runs) == 6


def test_an_ended_run_goes_on_with_the_case_it_was_at(made, tmp_path, monkeypatch):
    runs, experiment = made

    def ended(case: Case, lab: Lab) -> Outcome:
        if case.name == "draw 1":
            raise KeyboardInterrupt
        return experiment.run(case, lab)

    item = replace(catalogue.items()[0], experiments=[replace(experiment, run=ended)])
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "items", lambda: (item,))
        patch.setattr("rankinite.reproduce.running.items", lambda: (item,))
        with pytest.raises(KeyboardInterrupt):
            run("000", out=tmp_path)
    run("000", out=tmp_path)
    assert runs == ["draw 0", "draw 1", "draw 2"]


def test_damaged_and_outdated_outcomes_are_made_again(made, tmp_path):
    runs, experiment = made
    run("000", out=tmp_path)
    kept = KeptOutcomes(tmp_path / "reproduction" / "results")
    first, second, _, _ = cases(Lab())
    same(kept.get(experiment, first)[0], outcome(0))
    files = sorted((tmp_path / "reproduction" / "results" / "x-runs").iterdir())
    files[0].write_bytes(files[0].read_bytes()[:-20])
    assert kept.get(experiment, first) is None
    assert kept.get(replace(experiment, version=2), second) is None
    assert kept.get(experiment, replace(second, settings={"draw": 7})) is None
    run("000", out=tmp_path)
    assert runs[3:] == ["draw 0"]


def test_quick_outcomes_are_kept_apart(made, tmp_path):
    runs, _ = made
    run("000", out=tmp_path, quick=True)
    assert runs == ["draw 0", "draw 1"]
    run("000", out=tmp_path)
    assert len(runs) == 5
    assert "quick versions" in (tmp_path / "quick" / "reproduction.md").read_text(encoding="utf-8")
    assert "quick versions" not in (tmp_path / "reproduction.md").read_text(encoding="utf-8")


def test_pages_have_every_claim_and_figures_in_words(made, tmp_path):
    found = run("000", out=tmp_path)
    overview = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    page = (tmp_path / "reproduction" / "000.md").read_text(encoding="utf-8")
    assert "| [000 table-9](reproduction/000.md#table-9) (provisional) | a is better than b |" in overview
    assert "![Lines. all: NDCG over trees for a.](figures/x.png)" in page
    assert "| 2 | 0.2000 |" in page
    assert "A sentence." in page
    assert (tmp_path / "reproduction" / "figures" / "x.png").read_bytes().startswith(b"\x89PNG")
    assert all(path.exists() for path in found.pages)


def test_what_is_found_is_provisional_while_cases_are_missing(made, tmp_path):
    _, experiment = made
    run("000", out=tmp_path)
    kept = KeptOutcomes(tmp_path / "reproduction" / "results")
    assert "[000 table-9](reproduction/000.md#table-9) (provisional)" in written(tmp_path, "reproduction.md")
    assert "3 of 4 cases, so provisional" in written(tmp_path, "reproduction/000.md")
    kept.put(experiment, cases(Lab())[-1], outcome(9), 1.0)
    run("000", out=tmp_path)
    assert "provisional" not in written(tmp_path, "reproduction.md") + written(tmp_path, "reproduction/000.md")


def written(folder, name) -> str:
    return (folder / name).read_text(encoding="utf-8")


def test_a_picture_is_the_same_bytes_for_the_same_numbers():
    figure = PaperFigure("x", "Lines", [Panel("all", "trees", "NDCG", {"a": ([1, 2], [0.1, 0.2]), "b": ([1, 2], [0.3, 0.2])})])
    assert figure.png() == figure.png()


@pytest.mark.slow
def test_workers_give_the_same():
    here = rk.reproduce.run("002", "figure-1", quick=True)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = rk.reproduce.run("002", "figure-1", quick=True, cluster=pool)
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
