"""Nothing that users rely on changes unnoticed; the changelog explains each change of what is pinned here on purpose."""

from __future__ import annotations

import json

import pytest

from pinned.surface import PINNED, SUBJECTS, made, public_names

LONG = {"adaptation", "exports", "search"}
"""What takes ten seconds to make anew."""


def pinned(name: str) -> dict:
    return json.loads((PINNED / f"{name}.json").read_text())


def test_public_names_and_what_they_take():
    """Names and attributes may be added; what a name takes, and which there are, may not change."""
    found = public_names()
    for name, lines in pinned("names").items():
        assert set(lines) <= set(found[name]), name
        assert [line for line in lines if line[0] != "."] == [line for line in found[name] if line[0] != "."]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "subject", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in SUBJECTS if name != "names"]
)
def test_what_is_pinned_is_what_is_made(subject):
    found, expected = made(subject), pinned(subject)
    changed = {name: (value, found.get(name)) for name, value in expected.items() if found.get(name) != value}
    assert not changed
    assert list(found) == list(expected)
