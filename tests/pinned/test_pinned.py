"""Nothing that users rely on changes unnoticed; the changelog explains each change of what is pinned here on purpose."""

from __future__ import annotations

import json

import pytest

from determinism.everything import results
from pinned.surface import PINNED, public_names, verbs


def pinned(name: str) -> dict:
    return json.loads((PINNED / f"{name}.json").read_text())


def test_public_names_and_what_they_take():
    """Names and attributes may be added; what a name takes, and which there are, may not change."""
    found = public_names()
    for name, lines in pinned("names").items():
        assert set(lines) <= set(found[name]), name
        assert [line for line in lines if line[0] != "."] == [line for line in found[name] if line[0] != "."]


def test_verbs_and_their_options():
    assert verbs() == pinned("verbs")


@pytest.mark.filterwarnings("ignore")
def test_bytes_of_a_model_of_each_learner_its_scores_and_the_measures():
    assert dict(results()) == pinned("bytes")
