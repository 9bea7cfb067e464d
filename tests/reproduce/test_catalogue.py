"""The catalogue has every table and figure of the papers that reports a result, once, and items run end to end."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rankinite as rk
from rankinite.cli.app import app
from rankinite.reproduce.experiment import Lab

REPORTED = {
    "000": {"table-1", "figure-2", "table-2", "table-3", "table-4", "figure-3", "figure-4"},
    "001": {*(f"table-{number}" for number in range(3, 13)), "figure-4"},
    "002": {"figure-1"},
    "003": {"table-3", *(f"figure-{number}" for number in range(6, 13))},
    "004": {"figure-1", "table-1", "table-2", "table-3", "table-4"},
}
"""Tables and figures of results. Left out: data sets and notation (001 Tables 1 and 2, 003 Tables 1 and 2), algorithms and
sketches (000 PaperFigure 1, 001 Figures 1 to 3, 003 Figures 1 to 5)."""
QUICK = (("002", "figure-1"), ("003", "figure-6"), ("004", "figure-1"))


def test_every_table_and_figure_of_results_is_there_once():
    known = Counter((item.paper, item.name) for item in rk.reproduce.items())
    assert set(known.values()) == {1}
    for paper, names in REPORTED.items():
        own = {name for number, name in known if number == paper and name.startswith(("table", "figure"))}
        assert own == names


def test_items_say_what_they_are_about():
    for item in rk.reproduce.items():
        assert item.title
        assert item.claims, item
        assert item.setting or not item.experiments, item
        for claim in item.claims:
            assert "\n" not in claim.text, item


@pytest.mark.parametrize("lab", [Lab(), Lab(quick=True)])
def test_the_cases_of_an_experiment_differ_in_name(lab):
    experiments = {own.name: own for item in rk.reproduce.items() for own in item.experiments}
    for experiment in experiments.values():
        names = [case.name for case in experiment.cases(lab)]
        assert names, experiment.name
        assert len(set(names)) == len(names), experiment.name


def test_experiments_differ_in_name():
    found = {id(own): own.name for item in rk.reproduce.items() for own in item.experiments}
    assert len(set(found.values())) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "name"), QUICK)
def test_quick_versions_run_from_the_shell_to_the_page(paper, name, tmp_path):
    data = ["--data", os.environ["RANKINITE_DATA"]] if os.environ.get("RANKINITE_DATA") else []
    found = CliRunner().invoke(app, ["reproduce", paper, name, "--quick", "--quiet", "--out", str(tmp_path), *data])
    assert found.exit_code == 0, found.output
    item = next(item for item in rk.reproduce.items() if (item.paper, item.name) == (paper, name))
    assert item.title in found.output
    assert "not run" not in found.output
    page = Path(tmp_path, "quick", "reproduction", f"{paper}.md").read_text(encoding="utf-8")
    own = page[page.index(f"## {item.heading}\n") :].split("\n## ")[0]
    assert all(claim.text[:20] in own for claim in item.claims)
    assert f"`rankinite reproduce {item}`" in own
    assert all(path.stat().st_size > 1000 for path in Path(tmp_path, "quick", "reproduction", "figures").iterdir())


def test_the_list_names_all_items():
    found = CliRunner().invoke(app, ["reproduce", "--list"])
    assert found.exit_code == 0
    assert all(item.name in found.output for item in rk.reproduce.items())
