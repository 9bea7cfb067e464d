"""Every table and figure of the papers that reports a result is there once; quick versions run from the shell to the page."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import papers
import rankinite as rk
from papers.__main__ import main
from papers.experiment import RunContext
from papers.paper_002.section_2_1 import EPOCHS, NetAtWork
from rankinite import World, synthesise
from rankinite.cli.app import app
from refusals import refused

REPORTED = {
    "000": {"table-1", "figure-2", "table-2", "table-3", "table-4", "figure-3", "figure-4"},
    "001": {*(f"table-{number}" for number in range(3, 13)), "figure-4"},
    "002": {"figure-1"},
    "003": {"table-3", *(f"figure-{number}" for number in range(6, 13))},
    "004": {"figure-1", "table-1", "table-2", "table-3", "table-4"},
}
"""Tables and figures of results. Left out: data sets and notation (001 Tables 1 and 2, 003 Tables 1 and 2), algorithms and
sketches (000 Figure 1, 001 Figures 1 to 3, 003 Figures 1 to 5)."""


def test_every_table_and_figure_of_results_is_there_once():
    known = Counter((item.paper, item.name) for item in papers.items())
    assert set(known.values()) == {1}
    for paper, names in REPORTED.items():
        assert {name for number, name in known if number == paper and name.startswith(("table", "figure"))} == names


def test_items_say_what_they_are_about():
    for item in papers.items():
        assert item.title
        assert item.claims, item
        assert item.setting or not item.experiments, item
        for claim in item.claims:
            assert "\n" not in claim.text, item


def test_experiments_and_their_cases_are_found_by_their_names():
    experiments = {id(one): one for item in papers.items() for one in item.experiments}.values()
    assert len({one.name for one in experiments}) == len(experiments)
    for item in papers.items():
        assert all(one.name.startswith(f"{item.paper}-") for one in item.experiments), item
    for experiment in experiments:
        for context in (RunContext(), RunContext(quick=True)):
            names = [case.name for case in experiment.cases(context)]
            assert names, experiment.name
            assert len(set(names)) == len(names), experiment.name


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "name"), [("002", "figure-1"), ("003", "figure-6"), ("004", "figure-1")])
def test_quick_versions_run_from_the_shell_to_the_page(paper, name, tmp_path, capsys):
    data = ["--data", os.environ["RANKINITE_DATA"]] if os.environ.get("RANKINITE_DATA") else []
    assert ended([paper, name, "--quick", "--quiet", "--out", str(tmp_path), *data]) == 0
    item = next(item for item in papers.items() if (item.paper, item.name) == (paper, name))
    printed = capsys.readouterr()
    assert item.title in printed.out
    assert "not run" not in printed.out
    assert not printed.err
    page = Path(tmp_path, "quick", "reproduction", f"{paper}.md").read_text(encoding="utf-8")
    section = page[page.index(f"## {item.heading}\n") :].split("\n## ")[0]
    assert all(claim.text[:20] in section for claim in item.claims)
    assert f"`python -m papers {item}`" in section
    assert all(path.stat().st_size > 1000 for path in Path(tmp_path, "quick", "reproduction", "figures").iterdir())


def ended(arguments) -> int:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code


def test_the_list_names_all_items(capsys):
    assert ended(["--list"]) == 0
    printed = capsys.readouterr().out
    assert all(item.name in printed for item in papers.items())


def test_the_list_is_json_too(capsys):
    assert ended(["002", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["item"] for row in listed] == [item.name for item in papers.items() if item.paper == "002"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["005"], "005"),
        (["002", "table-99"], "table-99"),
        (["002", "--workers", "1", "--cluster", "x"], "--cluster"),
        (["002", "--share", "x"], "--share"),
        (["002", "--cluster", "x"], "--share"),
        (["--no"], "--no"),
    ],
)
def test_bad_input_ends_with_a_message(arguments, named, tmp_path, capsys):
    assert ended([*arguments, "--out", str(tmp_path)]) == 2
    assert named in re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().err)
    assert not list(tmp_path.iterdir())


def test_the_verb_of_0_2_is_answered_with_the_command():
    with refused(rk.ArgumentError, value="reproduce") as caught:
        app(["reproduce", "000"], standalone_mode=False)
    assert 'make reproduce ARGS="000 table-1"' in caught.value.remedy
    with pytest.raises(AttributeError, match="python -m papers"):
        _ = rk.reproduce


@pytest.mark.slow  # compiles nets
def test_tiny_steps_pair_by_pair_add_up_to_the_factored_one():
    """Steps too small to change the scores: their sum is the one step of the query, but for the scores' change (002 §2.1)."""
    data = synthesise(5, world=World(features=8, documents=12, noise=0.3))
    moves = {}
    for name, epoch in EPOCHS.items():
        net = NetAtWork(data, rate=1e-8)
        before = net.weights.copy()
        net.climb(np.arange(1), epoch)
        moves[name] = net.weights - before
    assert np.abs(moves["factored"]).max() > 0.0
    np.testing.assert_allclose(moves["pair by pair"], moves["factored"], atol=1e-4 * np.abs(moves["factored"]).max())
