"""The guide to installing and pyproject.toml name the same extras and packages; every version there is the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

import rankinite as rk
from rankinite.installed import versions
from rankinite.version import VERSION

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GUIDE = (ROOT / "docs" / "guide" / "installing.md").read_text()


def named(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


def test_the_guide_lists_the_extras_with_their_packages():
    extras = PROJECT["project"]["optional-dependencies"]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| ([\w, -]+) \| ([\d]+) \|$", GUIDE, flags=re.MULTILINE)
    assert {name: set(packages.split(", ")) for name, _, packages, _ in rows} == {n: named(r) for n, r in extras.items()}
    assert all(int(size) > 0 for *_, size in rows)


def test_the_guide_names_what_every_installation_has():
    text = re.search(r"installed with the package: (.*?) with what", GUIDE, flags=re.DOTALL)[1]
    words = set(re.findall(r"\w+", text.lower())) - {"and"}
    assert words == named(PROJECT["project"]["dependencies"])


def test_the_build_tools_are_pinned():
    pins = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    assert named(PROJECT["build-system"]["requires"]) | {"build"} <= pins
    assert named(PROJECT["build-system"]["requires"]) | {"build"} <= named(PROJECT["project"]["optional-dependencies"]["dev"])


def test_the_version_is_written_once():
    assert rk.__version__ == versions()["rankinite"] == VERSION
    assert "version" not in PROJECT["project"]
    assert "version" in PROJECT["project"]["dynamic"]
    assert (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).read_text().count(f'VERSION = "{VERSION}"') == 1


def test_the_workflow_runs_the_whole_on_linux_and_a_portable_part_elsewhere():
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    jobs = {name: [step.get("run", step.get("uses")) for step in job["steps"]] for name, job in flow["jobs"].items()}
    assert ".ci/run" in jobs["linux"]
    assert any("-m pytest" in run and "not tools" in run for run in jobs["portable"])
    pythons = flow["jobs"]["portable"]["strategy"]["matrix"]["python"]
    assert pythons[0] == PROJECT["project"]["requires-python"].removeprefix(">=")
    used = [run for runs in jobs.values() for run in runs if run.startswith("actions/")]
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in used)


def test_the_changelog_dates_releases_and_begins_with_this_version():
    """0.3.0.dev0 is what becomes 0.3.0; the guide installs the last version that has a date."""
    heads = re.findall(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert heads[0][0] == VERSION.removesuffix(".dev0")
    assert (heads[0][1] == "unreleased") == VERSION.endswith(".dev0")
    released = [number for number, date in heads if re.fullmatch(r"\d{4}-\d{2}-\d{2}", date)]
    assert len(released) == len(heads) - VERSION.endswith(".dev0")
    assert f"rankinite-{released[0]}-py3-none-any.whl" in GUIDE
